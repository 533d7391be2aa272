//! What a bucket's lifecycle does to records and artifacts.

use aws_sdk_s3::types::{
    ExpirationStatus, LifecycleExpiration, LifecycleRule, LifecycleRuleFilter,
};
use serde_json::{Value, json};

use super::Prefixes;
use crate::contract::{Finding, Remedy, Setting};
use crate::s3::commands::{Commands, quote};

/// Days that old versions and artifacts are kept where a remedy has to name some.
const DAYS_OF_OLD_VERSIONS: u32 = 30;
const DAYS_OF_ARTIFACTS: u32 = 7;

/// One rule, as far as it matters to records and artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub id: String,
    /// Whether it is carried out.
    pub enabled: bool,
    /// The prefix of the keys that it is for; empty for all.
    pub prefix: String,
    /// Whether tags or sizes narrow it further.
    pub narrowed: bool,
    /// How long a version is kept after it was replaced, in days.
    pub noncurrent_days: Option<i32>,
    /// When it removes current objects.
    pub expires: Option<Expiry>,
    /// Whether it removes delete markers that hide nothing any more.
    pub cleans_delete_markers: bool,
}

/// When a rule removes current objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// That many days after they were written.
    Days(i32),
    /// All of them from a date on.
    Date(String),
}

impl Rule {
    /// Reads a rule in any of the forms that S3 knows: a filter with a prefix, a filter that combines, a prefix
    /// without a filter, or none.
    #[must_use]
    pub fn read(rule: &LifecycleRule) -> Self {
        let (prefix, narrowed) = match &rule.filter {
            Some(filter) => filtered(filter),
            None => (legacy_prefix(rule), false),
        };
        let noncurrent = rule.noncurrent_version_expiration.as_ref();
        let expiration = rule.expiration.as_ref();
        Self {
            id: rule.id.clone().unwrap_or_default(),
            enabled: rule.status == ExpirationStatus::Enabled,
            prefix: prefix.unwrap_or_default(),
            narrowed,
            noncurrent_days: noncurrent.and_then(|expiration| expiration.noncurrent_days),
            expires: expiration.and_then(expiry),
            cleans_delete_markers: expiration
                .and_then(|expiration| expiration.expired_object_delete_marker)
                .unwrap_or(false),
        }
    }

    /// Whether it removes old versions of everything under the prefix.
    fn removes_old_versions_under(&self, prefix: &str) -> bool {
        self.enabled
            && !self.narrowed
            && self.noncurrent_days.is_some_and(|days| days > 0)
            && prefix.starts_with(&self.prefix)
    }

    /// Whether it may remove a current object under the prefix. Tags and sizes say nothing: both can change
    /// without anyone thinking of records.
    fn may_expire_under(&self, prefix: &str) -> bool {
        self.enabled
            && self.expires.is_some()
            && (prefix.starts_with(&self.prefix) || self.prefix.starts_with(prefix))
    }

    /// Whether it removes every artifact under the prefix some days after it was written. A date does not:
    /// once it has come, a plan would be removed the day it is made.
    fn expires_artifacts_under(&self, prefix: &str) -> bool {
        self.enabled
            && !self.narrowed
            && matches!(self.expires, Some(Expiry::Days(days)) if days > 0)
            && prefix.starts_with(&self.prefix)
    }
}

#[expect(deprecated, reason = "buckets that were set up long ago still answer it")]
fn legacy_prefix(rule: &LifecycleRule) -> Option<String> {
    rule.prefix.clone()
}

fn filtered(filter: &LifecycleRuleFilter) -> (Option<String>, bool) {
    let sizes = filter.object_size_greater_than.is_some() || filter.object_size_less_than.is_some();
    let Some(and) = &filter.and else {
        return (filter.prefix.clone(), sizes || filter.tag.is_some());
    };
    let narrowed = sizes
        || and.tags.as_ref().is_some_and(|tags| !tags.is_empty())
        || and.object_size_greater_than.is_some()
        || and.object_size_less_than.is_some();
    (and.prefix.clone().or_else(|| filter.prefix.clone()), narrowed)
}

fn expiry(expiration: &LifecycleExpiration) -> Option<Expiry> {
    let days = expiration.days.filter(|days| *days > 0).map(Expiry::Days);
    days.or_else(|| expiration.date.as_ref().map(|date| Expiry::Date(date.to_string())))
}

/// The finding for the rules of a bucket.
#[must_use]
pub fn judge(rules: &[Rule], prefixes: &Prefixes, commands: &Commands) -> Finding {
    let bucket = &commands.bucket;
    let expiring: Vec<&Rule> =
        rules.iter().filter(|rule| expires_records(rule, prefixes)).collect();
    let uncovered = without_cover(prefixes, rules.iter());
    // An expiry that would take records with it does not count: it has to go.
    let kept: Vec<&str> = prefixes
        .artifacts()
        .iter()
        .filter(|prefix| {
            !rules.iter().any(|rule| {
                rule.expires_artifacts_under(prefix) && !expires_records(rule, prefixes)
            })
        })
        .map(String::as_str)
        .collect();

    let mut problems = Vec::new();
    for rule in &expiring {
        problems.push(format!(
            "The lifecycle rule {:?} of the bucket {bucket} {}, and it may reach records{}.",
            rule.id,
            match &rule.expires {
                Some(Expiry::Date(date)) => format!("deletes current objects from {date} on"),
                Some(Expiry::Days(1)) => "deletes current objects after 1 day".to_owned(),
                Some(Expiry::Days(days)) => format!("deletes current objects after {days} days"),
                None => "deletes current objects".to_owned(),
            },
            if rule.narrowed { ", whatever tags or sizes it names" } else { "" },
        ));
    }
    if !uncovered.is_empty() {
        problems.push(format!(
            "No enabled lifecycle rule of the bucket {bucket} removes old versions of {}.",
            places(&uncovered)
        ));
    }
    if !kept.is_empty() {
        problems.push(format!(
            "No enabled lifecycle rule of the bucket {bucket} removes the artifacts under {} after some days.",
            places(&kept)
        ));
    }

    let cleans = rules.iter().any(|rule| rule.enabled && rule.cleans_delete_markers);
    if problems.is_empty() {
        let passed = Finding::passed(
            Setting::Lifecycle,
            format!("The lifecycle of the bucket {bucket} removes {}.", removed(prefixes)),
        );
        return match cleans || prefixes.records().is_empty() {
            true => passed,
            false => passed.with_remedy(Remedy::command(
                "Advised: let a rule also remove delete markers that hide nothing any more, so that \
                 listings stay quick.",
                change(rules, &[], &[delete_marker_rule(prefixes)], commands),
            )),
        };
    }
    let mut advice = Vec::new();
    if !expiring.is_empty() {
        advice.push(
            "Remove the rule that deletes current objects, or narrow it to a prefix where no records are.",
        );
    }
    if !uncovered.is_empty() {
        advice.push("Add a rule that removes old versions, by prefix alone.");
    }
    if !kept.is_empty() {
        advice.push("Add a rule that removes artifacts some days after they were written.");
    }
    // A rule that is taken away may have removed old versions too.
    let left_bare = without_cover(prefixes, rules.iter().filter(|rule| !expiring.contains(rule)));
    let additions = additions(&left_bare, &kept);
    let finding = Finding::failed(
        Setting::Lifecycle,
        problems.join(" "),
        Remedy::command(advice.join(" "), change(rules, &expiring, &additions, commands)),
    );
    if expiring.is_empty() { finding } else { finding.never_waived() }
}

/// The prefixes of records that no rule removes old versions of.
fn without_cover<'a, 'r>(
    prefixes: &'a Prefixes,
    rules: impl Iterator<Item = &'r Rule> + Clone,
) -> Vec<&'a str> {
    let records = prefixes.records().iter().map(String::as_str);
    records
        .filter(|prefix| !rules.clone().any(|rule| rule.removes_old_versions_under(prefix)))
        .collect()
}

/// Whether a rule may remove a current record. What is confined to the artifacts' own prefix may not, although
/// that prefix may lie in a bucket that is otherwise full of records.
fn expires_records(rule: &Rule, prefixes: &Prefixes) -> bool {
    let confined = prefixes.artifacts().iter().any(|artifacts| {
        !artifacts.is_empty()
            && rule.prefix.starts_with(artifacts.as_str())
            && !prefixes.records().iter().any(|records| records.starts_with(artifacts.as_str()))
    });
    !confined && prefixes.records().iter().any(|records| rule.may_expire_under(records))
}

fn places(prefixes: &[&str]) -> String {
    let named = |prefix: &&str| match prefix.is_empty() {
        true => "the whole bucket".to_owned(),
        false => format!("{prefix:?}"),
    };
    prefixes.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn removed(prefixes: &Prefixes) -> &'static str {
    match (prefixes.records().is_empty(), prefixes.artifacts().is_empty()) {
        (false, false) => "old versions of records, and artifacts, and no records",
        (true, false) => "artifacts",
        _ => "old versions of records, and no records",
    }
}

fn additions(uncovered: &[&str], kept: &[&str]) -> Vec<Value> {
    let records = uncovered.iter().map(|prefix| {
        json!({
            "ID": rule_id("plumb-records", prefix),
            "Status": "Enabled",
            "Filter": { "Prefix": prefix },
            "NoncurrentVersionExpiration": { "NoncurrentDays": DAYS_OF_OLD_VERSIONS },
            "Expiration": { "ExpiredObjectDeleteMarker": true },
        })
    });
    let artifacts = kept.iter().map(|prefix| {
        json!({
            "ID": rule_id("plumb-artifacts", prefix),
            "Status": "Enabled",
            "Filter": { "Prefix": prefix },
            "Expiration": { "Days": DAYS_OF_ARTIFACTS },
            "NoncurrentVersionExpiration": { "NoncurrentDays": 1 },
        })
    });
    records.chain(artifacts).collect()
}

fn delete_marker_rule(prefixes: &Prefixes) -> Value {
    let prefix = match prefixes.records() {
        [only] => only.as_str(),
        _ => "",
    };
    json!({
        "ID": rule_id("plumb-delete-markers", prefix),
        "Status": "Enabled",
        "Filter": { "Prefix": prefix },
        "Expiration": { "ExpiredObjectDeleteMarker": true },
    })
}

/// Names are unique in a bucket.
fn rule_id(purpose: &str, prefix: &str) -> String {
    match prefix.trim_end_matches('/') {
        "" => purpose.to_owned(),
        // The service takes 255 characters.
        name => format!("{purpose}-{name}").chars().take(200).collect(),
    }
}

/// One command that takes rules away and adds others. Since the service only knows to replace all of them, the
/// command keeps the rest as it is at that moment.
fn change(rules: &[Rule], remove: &[&Rule], add: &[Value], commands: &Commands) -> String {
    let added_ids: Vec<&str> = add.iter().filter_map(|rule| rule["ID"].as_str()).collect();
    let stays = |rule: &&Rule| !remove.contains(rule) && !added_ids.contains(&rule.id.as_str());
    if !rules.iter().any(|rule| stays(&rule)) {
        return match add.is_empty() {
            true => commands.s3api("delete-bucket-lifecycle", ""),
            false => put(commands, &quote(&json!({ "Rules": add }).to_string())),
        };
    }
    // JMESPath: raw strings in single quotes, JSON in backticks.
    let gone = remove.iter().map(|rule| rule.id.as_str()).chain(added_ids.iter().copied());
    let kept: Vec<String> = gone.map(|id| format!("ID!='{}'", raw_string(id))).collect();
    let kept = match kept.is_empty() {
        true => "Rules".to_owned(),
        false => format!("Rules[?{}]", kept.join(" && ")),
    };
    let literal = Value::from(add.to_vec()).to_string().replace('`', "\\`");
    let query = format!("{{Rules: [{kept}, `{literal}`][]}}");
    let read = commands.s3api(
        "get-bucket-lifecycle-configuration",
        &format!("--output json --query {}", quote(&query)),
    );
    put(commands, &format!("\"$({read})\""))
}

fn put(commands: &Commands, configuration: &str) -> String {
    commands.s3api(
        "put-bucket-lifecycle-configuration",
        &format!("--lifecycle-configuration {configuration}"),
    )
}

fn raw_string(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'")
}
