//! What lifecycle rules do to records, whatever their order and number.

use proptest::prelude::*;
use records::contract::{Finding, Outcome};
use records::s3::Commands;
use records::s3::contract::{Expiry, Prefixes, Rule, judge_lifecycle};

fn judge(rules: &[Rule], prefixes: &Prefixes) -> Finding {
    let commands = Commands { bucket: "records".to_owned(), ..Commands::default() };
    judge_lifecycle(rules, prefixes, &commands)
}

fn records(prefixes: &[&str]) -> Prefixes {
    Prefixes::new(prefixes.iter().copied(), Vec::<String>::new())
}

fn rule(prefix: &str) -> Rule {
    Rule {
        id: format!("rule for {prefix:?}"),
        enabled: true,
        prefix: prefix.to_owned(),
        narrowed: false,
        noncurrent_days: None,
        expires: None,
        cleans_delete_markers: false,
    }
}

fn keeps_versions_for(prefix: &str, days: i32) -> Rule {
    Rule { noncurrent_days: Some(days), ..rule(prefix) }
}

fn expires_after(prefix: &str, days: i32) -> Rule {
    Rule { expires: Some(Expiry::Days(days)), ..rule(prefix) }
}

#[track_caller]
fn assert_passes(rules: &[Rule], prefixes: &Prefixes) {
    let finding = judge(rules, prefixes);
    assert_eq!(finding.outcome, Outcome::Passed, "{finding:#?}");
}

#[track_caller]
fn assert_fails(rules: &[Rule], prefixes: &Prefixes, waivable: bool) -> Finding {
    let finding = judge(rules, prefixes);
    assert_eq!((finding.outcome, finding.waivable), (Outcome::Failed, waivable), "{finding:#?}");
    finding
}

#[test]
fn one_rule_for_the_bucket_covers_everything() {
    assert_passes(&[keeps_versions_for("", 30)], &records(&["a/", "b/"]));
    assert_passes(&[keeps_versions_for("", 30)], &records(&[""]));
}

#[test]
fn several_rules_may_cover_the_prefixes_together() {
    let rules = [keeps_versions_for("a/", 30), keeps_versions_for("b/", 7)];
    assert_passes(&rules, &records(&["a/", "b/"]));
    let finding = assert_fails(&rules[..1], &records(&["a/", "b/"]), true);
    assert!(finding.found.contains("\"b/\""), "{}", finding.found);
}

#[test]
fn without_prefixes_only_a_rule_for_the_bucket_counts() {
    let rules = [keeps_versions_for("a/", 30), keeps_versions_for("b/", 30)];
    assert_fails(&rules, &records(&[""]), true);
}

#[test]
fn zero_days_and_narrowed_and_disabled_rules_cover_nothing() {
    assert_fails(&[], &records(&["a/"]), true);
    assert_fails(&[keeps_versions_for("a/", 0)], &records(&["a/"]), true);
    let narrowed = Rule { narrowed: true, ..keeps_versions_for("a/", 30) };
    assert_fails(&[narrowed], &records(&["a/"]), true);
    let disabled = Rule { enabled: false, ..keeps_versions_for("a/", 30) };
    assert_fails(&[disabled], &records(&["a/"]), true);
}

#[test]
fn an_expiry_that_reaches_records_is_never_waived() {
    let cover = keeps_versions_for("", 30);
    for prefix in ["", "a", "a/", "a/network/"] {
        for narrowed in [false, true] {
            let by_days = Rule { narrowed, ..expires_after(prefix, 90) };
            assert_fails(&[cover.clone(), by_days.clone()], &records(&["a/"]), false);
            let by_date = Rule { expires: Some(Expiry::Date("2030-01-01".to_owned())), ..by_days };
            assert_fails(&[cover.clone(), by_date], &records(&["a/"]), false);
        }
    }
    assert_passes(&[cover.clone(), expires_after("logs/", 90)], &records(&["a/"]));
    let disabled = Rule { enabled: false, ..expires_after("a/", 90) };
    assert_passes(&[cover, disabled], &records(&["a/"]));
}

#[test]
fn artifacts_have_to_expire_after_days() {
    let prefixes = Prefixes::new(["records/"], ["artifacts/"]);
    let cover = keeps_versions_for("records/", 30);
    assert_passes(&[cover.clone(), expires_after("artifacts/", 7)], &prefixes);
    let finding = assert_fails(std::slice::from_ref(&cover), &prefixes, true);
    assert!(finding.found.contains("artifacts"), "{}", finding.found);
    let narrowed = Rule { narrowed: true, ..expires_after("artifacts/", 7) };
    assert_fails(&[cover.clone(), narrowed], &prefixes, true);
    let by_date =
        Rule { expires: Some(Expiry::Date("2030-01-01".to_owned())), ..rule("artifacts/") };
    assert_fails(&[cover.clone(), by_date], &prefixes, true);
    // One that takes records with it is no expiry of artifacts.
    assert_fails(&[cover, expires_after("", 7)], &prefixes, false);
}

#[test]
fn a_bucket_of_artifacts_alone_needs_their_expiry_alone() {
    let prefixes = Prefixes::new(Vec::<String>::new(), [""]);
    assert_passes(&[expires_after("", 7)], &prefixes);
    assert_fails(&[], &prefixes, true);
}

#[test]
fn artifacts_in_a_bucket_full_of_records_expire_by_their_own_prefix() {
    let prefixes = Prefixes::new([""], ["artifacts/"]);
    assert_passes(&[keeps_versions_for("", 30), expires_after("artifacts/", 7)], &prefixes);
}

#[test]
fn delete_markers_may_be_cleaned_and_should_be() {
    let cleaning = Rule { cleans_delete_markers: true, ..keeps_versions_for("", 30) };
    assert!(judge(&[cleaning], &records(&["a/"])).remedy.is_none());
    let advised = judge(&[keeps_versions_for("", 30)], &records(&["a/"]));
    assert_eq!(advised.outcome, Outcome::Passed);
    assert!(advised.remedy.unwrap().advice.contains("delete markers"));
}

#[test]
fn the_remedy_keeps_the_rules_that_are_none_of_ours() {
    let rules = [expires_after("logs/", 90), expires_after("", 30)];
    let remedy = judge(&rules, &records(&["a/"])).remedy.unwrap();
    let [command] = remedy.commands.as_slice() else { panic!("{remedy:?}") };
    assert!(command.contains("get-bucket-lifecycle-configuration"), "{command}");
    assert!(command.contains("ID!="), "{command}");
    assert!(command.contains(r#""NoncurrentDays":30"#), "{command}");
}

fn any_prefix() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "/"]), 0..4)
        .prop_map(|parts| parts.concat())
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let expires = prop_oneof![
        3 => Just(None),
        1 => (1..100i32).prop_map(|days| Some(Expiry::Days(days))),
        1 => Just(Some(Expiry::Date("2030-01-01".to_owned()))),
    ];
    (any::<bool>(), any_prefix(), any::<bool>(), prop::option::of(0..60i32), expires, any::<bool>())
        .prop_map(|(enabled, prefix, narrowed, noncurrent_days, expires, cleans)| Rule {
            id: prefix.clone(),
            enabled,
            prefix,
            narrowed,
            noncurrent_days,
            expires,
            cleans_delete_markers: cleans,
        })
}

fn any_rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(any_rule(), 0..6)
}

fn any_records() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(any_prefix(), 1..4)
}

proptest! {
    /// What passes is true of every key that records can have.
    #[test]
    fn passing_holds_for_every_key(
        rules in any_rules(),
        prefixes in any_records(),
        rests in prop::collection::vec(any_prefix(), 1..8),
    ) {
        let finding = judge(&rules, &Prefixes::new(prefixes.clone(), Vec::<String>::new()));
        for key in prefixes.iter().flat_map(|prefix| rests.iter().map(move |rest| format!("{prefix}{rest}"))) {
            let enabled = || rules.iter().filter(|rule| rule.enabled && key.starts_with(&rule.prefix));
            let expires = enabled().any(|rule| rule.expires.is_some());
            let covered = enabled()
                .any(|rule| !rule.narrowed && rule.noncurrent_days.is_some_and(|days| days > 0));
            if expires {
                prop_assert_eq!(finding.outcome, Outcome::Failed, "{} may expire", &key);
                prop_assert!(!finding.waivable, "{} may expire", &key);
            }
            if finding.outcome == Outcome::Passed {
                prop_assert!(covered, "no rule removes old versions of {}", &key);
            }
        }
    }

    /// Nothing but enabled rules, in any order, decides.
    #[test]
    fn order_and_disabled_rules_do_not_matter(rules in any_rules(), prefixes in any_records(), turn in 0..6usize) {
        let prefixes = Prefixes::new(prefixes, Vec::<String>::new());
        let outcome = |rules: &[Rule]| {
            let finding = judge(rules, &prefixes);
            (finding.outcome, finding.waivable)
        };
        let expected = outcome(&rules);
        let mut turned = rules.clone();
        turned.rotate_left(turn.min(rules.len()));
        prop_assert_eq!(outcome(&turned), expected);
        let enabled: Vec<_> = rules.iter().filter(|rule| rule.enabled).cloned().collect();
        prop_assert_eq!(outcome(&enabled), expected);
    }

    /// A rule that removes old versions of everything, and nothing else, never makes it worse.
    #[test]
    fn cover_only_helps(rules in any_rules(), prefixes in any_records()) {
        let prefixes = Prefixes::new(prefixes, Vec::<String>::new());
        let before = judge(&rules, &prefixes);
        let mut more = rules;
        more.push(keeps_versions_for("", 1));
        let after = judge(&more, &prefixes);
        prop_assert!(after.outcome <= before.outcome);
        prop_assert_eq!(after.outcome == Outcome::Passed, before.waivable || before.outcome == Outcome::Passed);
    }

    /// Narrowing a rule by tags or sizes gives no reassurance.
    #[test]
    fn narrowing_never_helps(rules in any_rules(), prefixes in any_records(), at in 0..6usize) {
        let prefixes = Prefixes::new(prefixes, Vec::<String>::new());
        let before = judge(&rules, &prefixes);
        let mut narrowed = rules;
        if let Some(rule) = narrowed.get_mut(at) {
            rule.narrowed = true;
        }
        let after = judge(&narrowed, &prefixes);
        prop_assert!(after.outcome >= before.outcome);
        prop_assert!(before.waivable || !after.waivable);
    }
}
