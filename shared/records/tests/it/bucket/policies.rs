//! What a bucket's policy must refuse, in the forms in which policies are written.

use records::contract::Outcome;
use records::s3::Commands;
use records::s3::contract::{BucketPolicy, Prefixes, judge_conditional_writes, judge_tls_only};
use serde_json::{Value, json};

fn commands() -> Commands {
    Commands { bucket: "records".to_owned(), ..Commands::default() }
}

fn policy(statement: Value) -> BucketPolicy {
    let document = json!({ "Version": "2012-10-17", "Statement": [statement] });
    BucketPolicy::parse(&document.to_string()).unwrap()
}

fn tls(statement: Value) -> Outcome {
    let prefixes = Prefixes::new(["team-a/"], ["artifacts/"]);
    judge_tls_only(&policy(statement), &prefixes, &commands()).outcome
}

fn conditional(statement: Value) -> Outcome {
    let prefixes = Prefixes::new(["team-a/"], ["artifacts/"]);
    judge_conditional_writes(&policy(statement), &prefixes, &commands()).outcome
}

fn tls_statement() -> Value {
    json!({
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": ["arn:aws:s3:::records", "arn:aws:s3:::records/*"],
        "Condition": { "Bool": { "aws:SecureTransport": "false" } },
    })
}

fn conditional_statement() -> Value {
    json!({
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:PutObject",
        "Resource": "arn:aws:s3:::records/team-a/*",
        "Condition": { "Null": { "s3:if-match": "true", "s3:if-none-match": "true" } },
    })
}

fn changed(mut statement: Value, at: &str, to: Value) -> Value {
    statement[at] = to;
    statement
}

#[test]
fn a_statement_against_plain_http_is_known_in_its_forms() {
    assert_eq!(tls(tls_statement()), Outcome::Passed);
    for (at, to) in [
        ("Principal", json!({ "AWS": "*" })),
        ("Principal", json!({ "AWS": ["*"] })),
        ("Action", json!(["s3:*"])),
        ("Action", json!("*")),
        ("Resource", json!("*")),
        ("Resource", json!("arn:aws-cn:s3:::records*")),
        ("Condition", json!({ "Bool": { "AWS:securetransport": [false] } })),
    ] {
        assert_eq!(tls(changed(tls_statement(), at, to.clone())), Outcome::Passed, "{at}: {to}");
    }
}

#[test]
fn a_statement_that_leaves_something_open_is_none() {
    for (at, to) in [
        ("Effect", json!("Allow")),
        ("Principal", json!({ "AWS": "arn:aws:iam::111122223333:role/ci" })),
        ("Action", json!("s3:GetObject")),
        ("Resource", json!("arn:aws:s3:::records/*")),
        ("Resource", json!(["arn:aws:s3:::records", "arn:aws:s3:::records/team-a/*"])),
        ("Resource", json!(["arn:aws:s3:::other", "arn:aws:s3:::other/*"])),
        ("Condition", json!({ "Bool": { "aws:SecureTransport": "true" } })),
        (
            "Condition",
            json!({
                "Bool": { "aws:SecureTransport": "false" },
                "IpAddress": { "aws:SourceIp": "10.0.0.0/8" },
            }),
        ),
    ] {
        assert_eq!(tls(changed(tls_statement(), at, to.clone())), Outcome::Warned, "{at}: {to}");
    }
}

#[test]
fn a_statement_against_unconditional_writes_is_known_in_its_forms() {
    assert_eq!(conditional(conditional_statement()), Outcome::Passed);
    for (at, to) in [
        ("Action", json!(["s3:DeleteObject", "s3:Put*"])),
        ("Resource", json!(["arn:aws:s3:::records/*"])),
        (
            "Condition",
            json!({
                "Null": { "s3:If-Match": true, "s3:If-None-Match": true },
                "Bool": { "s3:ObjectCreationOperation": "true" },
            }),
        ),
    ] {
        assert_eq!(
            conditional(changed(conditional_statement(), at, to.clone())),
            Outcome::Passed,
            "{at}: {to}"
        );
    }
    for (at, to) in [
        ("Action", json!("s3:GetObject")),
        ("Resource", json!("arn:aws:s3:::records/team-b/*")),
        ("Condition", json!({ "Null": { "s3:if-none-match": "true" } })),
        ("Condition", json!({ "Null": { "s3:if-match": "false", "s3:if-none-match": "true" } })),
        ("Condition", Value::Null),
    ] {
        assert_eq!(
            conditional(changed(conditional_statement(), at, to.clone())),
            Outcome::Warned,
            "{at}: {to}"
        );
    }
}

#[test]
fn what_the_remedy_writes_passes_and_keeps_the_other_statements() {
    let other = json!({
        "Sid": "Team's own",
        "Effect": "Allow",
        "Principal": { "AWS": "arn:aws:iam::111122223333:role/ci" },
        "Action": "s3:GetObject",
        "Resource": "arn:aws:s3:::records/*",
    });
    let prefixes = Prefixes::new(["team-a/"], ["artifacts/"]);
    let before = policy(other.clone());
    for judge in [judge_tls_only, judge_conditional_writes] {
        let finding = judge(&before, &prefixes, &commands());
        let remedy = finding.remedy.unwrap();
        let words = shell_words(&remedy.commands[0]);
        assert_eq!(words[..4], ["aws", "s3api", "put-bucket-policy", "--bucket"]);
        let document = words.last().unwrap();
        let written: Value = serde_json::from_str(document).unwrap();
        assert_eq!(written["Statement"][0], other);
        // Whichever of the two is pasted, and in whatever order, nothing is missing afterwards.
        let after = BucketPolicy::parse(document).unwrap();
        for judge in [judge_tls_only, judge_conditional_writes] {
            assert_eq!(judge(&after, &prefixes, &commands()).outcome, Outcome::Passed);
        }
    }
}

#[test]
fn artifacts_among_records_are_not_stopped_by_the_remedy() {
    let prefixes = Prefixes::new([""], ["artifacts/"]);
    let finding = judge_conditional_writes(&BucketPolicy::none(), &prefixes, &commands());
    assert_eq!(finding.outcome, Outcome::Warned);
    assert!(finding.remedy.unwrap().commands.is_empty());
}

/// As a POSIX shell splits a line of plain and single-quoted words.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for letter in line.chars() {
        match (quoted, letter) {
            (false, _) if escaped => escaped = false,
            (false, '\\') => {
                escaped = true;
                continue;
            }
            (_, '\'') => {
                quoted = !quoted;
                continue;
            }
            (false, ' ') => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words
}
