//! What a bucket's policy refuses.

use serde_json::{Value, json};

use super::Prefixes;
use crate::contract::{Finding, Remedy, Setting};
use crate::s3::commands::{Commands, quote};

/// A bucket's policy. Only its shape is read: what it does to identities is AWS's to decide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BucketPolicy {
    document: Value,
}

impl BucketPolicy {
    /// No policy.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads a policy document; `None` where it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let document: Value = serde_json::from_str(text).ok()?;
        document.is_object().then_some(Self { document })
    }

    fn statements(&self) -> &[Value] {
        list(&self.document["Statement"])
    }

    /// Whether it refuses, to everybody, requests on the bucket and its objects that come without TLS.
    fn refuses_plain_http(&self, commands: &Commands, prefixes: &Prefixes) -> bool {
        let arn = commands.bucket_arn();
        self.statements().iter().any(|statement| {
            denies_everybody(statement)
                && names(&statement["Action"], "s3:*")
                && conditions(statement) == [("bool", "aws:securetransport", "false".to_owned())]
                && resources_cover(statement, &arn)
                && prefixes
                    .all()
                    .all(|prefix| resources_cover(statement, &format!("{arn}/{prefix}*")))
        })
    }

    /// Whether it refuses, to everybody, writes of records that carry neither of the two conditions.
    fn refuses_unconditional_writes(&self, commands: &Commands, prefixes: &Prefixes) -> bool {
        let arn = commands.bucket_arn();
        let has_both = |statement: &Value| {
            // A multipart upload carries its condition at its end alone, so a policy may leave its beginning out.
            let conditions: Vec<_> = conditions(statement)
                .into_iter()
                .filter(|condition| {
                    *condition != ("bool", "s3:objectcreationoperation", "true".to_owned())
                })
                .collect();
            conditions
                == [
                    ("null", "s3:if-match", "true".to_owned()),
                    ("null", "s3:if-none-match", "true".to_owned()),
                ]
        };
        prefixes.records().iter().all(|prefix| {
            self.statements().iter().any(|statement| {
                denies_everybody(statement)
                    && names(&statement["Action"], "s3:PutObject")
                    && has_both(statement)
                    && resources_cover(statement, &format!("{arn}/{prefix}*"))
            })
        })
    }

    /// The statements that are missing here. Both remedies add all of them: the service only knows to replace a
    /// policy, so that of two commands that are pasted the second would undo the first.
    fn missing(&self, commands: &Commands, prefixes: &Prefixes) -> Vec<Value> {
        let arn = commands.bucket_arn();
        let mut missing = Vec::new();
        if !self.refuses_plain_http(commands, prefixes) {
            missing.push(json!({
                "Sid": "PlumbTlsOnly",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:*",
                "Resource": [arn, format!("{arn}/*")],
                "Condition": { "Bool": { "aws:SecureTransport": "false" } },
            }));
        }
        // Snapshots are written without a condition, so a statement for the whole bucket would stop them.
        if !prefixes.artifacts_among_records()
            && !self.refuses_unconditional_writes(commands, prefixes)
        {
            let resources: Vec<String> =
                prefixes.records().iter().map(|prefix| format!("{arn}/{prefix}*")).collect();
            missing.push(json!({
                "Sid": "PlumbConditionalWrites",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "s3:PutObject",
                "Resource": resources,
                "Condition": {
                    "Null": { "s3:if-match": "true", "s3:if-none-match": "true" },
                },
            }));
        }
        missing
    }

    /// The command that adds what is missing and keeps what is there.
    fn completed(&self, commands: &Commands, prefixes: &Prefixes) -> String {
        let mut document = match self.document.as_object() {
            Some(document) => document.clone(),
            None => {
                let mut document = serde_json::Map::new();
                document.insert("Version".to_owned(), json!("2012-10-17"));
                document
            }
        };
        let missing = self.missing(commands, prefixes);
        let is_replaced = |present: &Value| {
            !present["Sid"].is_null() && missing.iter().any(|new| new["Sid"] == present["Sid"])
        };
        let mut statements: Vec<Value> =
            self.statements().iter().filter(|present| !is_replaced(present)).cloned().collect();
        statements.extend(missing);
        document.insert("Statement".to_owned(), Value::from(statements));
        let document = Value::from(document).to_string();
        commands.s3api("put-bucket-policy", &format!("--policy {}", quote(&document)))
    }
}

/// The finding for requests without TLS.
#[must_use]
pub fn judge_tls_only(policy: &BucketPolicy, prefixes: &Prefixes, commands: &Commands) -> Finding {
    let bucket = &commands.bucket;
    if policy.refuses_plain_http(commands, prefixes) {
        return Finding::passed(
            Setting::TlsOnly,
            format!("The policy of the bucket {bucket} refuses requests without TLS."),
        );
    }
    Finding::warned(
        Setting::TlsOnly,
        format!("The policy of the bucket {bucket} does not refuse requests without TLS."),
        Remedy::command(
            "Add a statement that refuses them; this command adds every statement that is missing, and keeps the \
             others.",
            policy.completed(commands, prefixes),
        ),
    )
}

/// The finding for writes without a condition.
#[must_use]
pub fn judge_conditional_writes(
    policy: &BucketPolicy,
    prefixes: &Prefixes,
    commands: &Commands,
) -> Finding {
    let bucket = &commands.bucket;
    if prefixes.records().is_empty() {
        return Finding::passed(
            Setting::ConditionalWrites,
            format!("The bucket {bucket} holds no records, and artifacts need no condition."),
        );
    }
    if policy.refuses_unconditional_writes(commands, prefixes) {
        return Finding::passed(
            Setting::ConditionalWrites,
            format!(
                "The policy of the bucket {bucket} refuses writes of records without a condition."
            ),
        );
    }
    let remedy = match prefixes.artifacts_among_records() {
        true => Remedy::advice(
            "Keep records under a prefix of their own, so that a statement can refuse unconditional \
             writes there and not to artifacts.",
        ),
        false => Remedy::command(
            "Add a statement that refuses them; this command adds every statement that is missing, and keeps the \
             others.",
            policy.completed(commands, prefixes),
        ),
    };
    Finding::warned(
        Setting::ConditionalWrites,
        format!(
            "The policy of the bucket {bucket} does not refuse writes of records without a condition."
        ),
        remedy,
    )
}

/// One or several: policies write a list of one without brackets.
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(several) => several,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

fn denies_everybody(statement: &Value) -> bool {
    let everybody = |principal: &Value| list(principal).iter().any(|principal| principal == "*");
    let principal = &statement["Principal"];
    statement["Effect"] == "Deny" && (everybody(principal) || everybody(&principal["AWS"]))
}

/// Whether actions include this one, which may itself stand for many.
fn names(actions: &Value, action: &str) -> bool {
    let action = action.to_ascii_lowercase();
    list(actions)
        .iter()
        .filter_map(Value::as_str)
        .any(|pattern| covers(&pattern.to_ascii_lowercase(), &action))
}

fn resources_cover(statement: &Value, resource: &str) -> bool {
    list(&statement["Resource"])
        .iter()
        .filter_map(Value::as_str)
        .any(|pattern| covers(&any_partition(pattern), &any_partition(resource)))
}

/// The same bucket has the same name in every partition.
fn any_partition(arn: &str) -> String {
    let mut parts: Vec<&str> = arn.splitn(3, ':').collect();
    if let [first, partition, _] = parts.as_mut_slice()
        && *first == "arn"
    {
        *partition = "aws";
    }
    parts.join(":")
}

/// Every condition as (operator, key, value), sorted, in lower case: neither operators nor keys tell cases apart.
fn conditions(statement: &Value) -> Vec<(&'static str, &'static str, String)> {
    const OPERATORS: [&str; 2] = ["bool", "null"];
    const KEYS: [&str; 4] =
        ["aws:securetransport", "s3:if-match", "s3:if-none-match", "s3:objectcreationoperation"];
    let known = |names: &[&'static str], name: &str| {
        let name = name.to_ascii_lowercase();
        names.iter().copied().find(|known| *known == name).unwrap_or("other")
    };
    let mut found = Vec::new();
    let Some(operators) = statement["Condition"].as_object() else { return found };
    for (operator, keys) in operators {
        let Some(keys) = keys.as_object() else { continue };
        for (key, values) in keys {
            for value in list(values) {
                let value = match value {
                    Value::String(text) => text.to_ascii_lowercase(),
                    other => other.to_string(),
                };
                found.push((known(&OPERATORS, operator), known(&KEYS, key), value));
            }
        }
    }
    found.sort_unstable();
    found
}

/// Whether everything that matches the second pattern matches the first. `*` stands for any text and `?` for one
/// character; in the second, only a `*` at its end is understood as a pattern.
fn covers(pattern: &str, covered: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let covered: Vec<char> = covered.chars().collect();
    // The longest common greedy match: one position to come back to is enough.
    let (mut p, mut c) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while c < covered.len() {
        let ends_open = c + 1 == covered.len() && covered[c] == '*';
        match pattern.get(p) {
            Some('*') => {
                back = Some((p, c));
                p += 1;
            }
            // Any text is more than one character.
            Some('?') if !ends_open => (p, c) = (p + 1, c + 1),
            Some(letter) if *letter == covered[c] && !ends_open => (p, c) = (p + 1, c + 1),
            _ => match back {
                Some((star, at)) => {
                    back = Some((star, at + 1));
                    (p, c) = (star + 1, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
}
