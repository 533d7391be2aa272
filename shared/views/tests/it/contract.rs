//! The contract of a store as people and programs are told of it.

use records::contract::{
    Decision, Finding, Note, NoteKind, Refusal, Remedy, Report, Setting, StoreKind, Waivers,
};
use views::{Colour, contract};

fn report(waived: &[&str]) -> Report {
    let settings = StoreKind::S3.settings();
    let mend = || Remedy::command("Mend it.", "aws s3api mend --bucket records");
    let findings = vec![
        Finding::failed(Setting::Versioning, "Versioning is suspended.", mend()),
        Finding::failed(Setting::Lifecycle, "A rule deletes records.", mend()).never_waived(),
        Finding::passed(Setting::PublicAccessBlock, "All four are on."),
        Finding::not_checked(Setting::EncryptionKey, "There is no telling."),
        Finding::warned(Setting::TlsOnly, "Plain HTTP is let in.", mend()),
        Finding::passed(Setting::ConditionalWrites, "They are refused."),
    ];
    let waivers = Waivers::parse(waived, &settings).unwrap();
    Report::new("s3://records/team-a".to_owned(), &settings, findings, &waivers)
}

fn written(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_report_shows_every_finding_and_what_runs_do() {
    let text = written(|out| contract::write_text(&report(&["versioning"]), Colour::Plain, out));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "s3://records/team-a");
    assert_eq!(lines[1], "  ✗ versioning           failed, waived Versioning is suspended.");
    assert_eq!(lines[2], format!("      {}", Setting::Versioning.protects()));
    assert_eq!(lines[3], "      Mend it.");
    assert_eq!(lines[4], "        aws s3api mend --bucket records");
    assert!(text.contains("  ✓ public_access_block  passed       All four are on.\n"), "{text}");
    assert!(
        text.contains("  - encryption_key       not checked  There is no telling.\n"),
        "{text}"
    );
    assert!(text.ends_with("\nRuns refuse this store.\n"), "{text}");
    let coloured = written(|out| contract::write_text(&report(&[]), Colour::Ansi, out));
    assert!(coloured.contains("\x1b[31m✗\x1b[0m"), "{coloured:?}");
}

#[test]
fn programs_get_every_finding_in_order() {
    let json = written(|out| contract::write_json(&report(&["versioning"]), out));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["format_version"], "1.0");
    assert_eq!((&json["clean"], &json["refused"]), (&false.into(), &true.into()));
    assert_eq!(json["location"], "s3://records/team-a");
    assert_eq!(json["allow_insecure"], serde_json::json!(["versioning"]));
    let findings = json["findings"].as_array().unwrap();
    let names: Vec<_> = findings.iter().map(|f| f["setting"].as_str().unwrap()).collect();
    let expected: Vec<_> = StoreKind::S3.settings().iter().map(|s| s.name()).collect();
    assert_eq!(names, expected);
    assert_eq!(findings[0]["outcome"], "failed");
    assert_eq!((&findings[0]["waived"], &findings[0]["waivable"]), (&true.into(), &true.into()));
    assert_eq!((&findings[1]["waived"], &findings[1]["waivable"]), (&false.into(), &false.into()));
    assert_eq!(findings[0]["remedy"]["commands"][0], "aws s3api mend --bucket records");
    assert_eq!(findings[3]["outcome"], "not_checked");
}

fn refusal(waived: &[&str]) -> Refusal {
    match report(waived).decide() {
        Decision::Refuse(refusal) => *refusal,
        Decision::Proceed(notes) => panic!("it proceeds with {notes:?}"),
    }
}

#[test]
fn a_refusal_has_a_headline_remedies_and_one_closing_line() {
    let two = written(|out| contract::write_refusal(&refusal(&[]), Colour::Plain, out));
    assert!(
        two.starts_with(
            "Error: The store s3://records/team-a is refused for 2 settings\n\nversioning: "
        ),
        "{two}"
    );
    assert!(two.contains("\nMend it.\n  aws s3api mend --bucket records\n"), "{two}");
    assert!(
        two.ends_with("accepted by name instead: allow_insecure = [\"versioning\"].\n"),
        "{two}"
    );
    let one = refusal(&["versioning", "lifecycle"]);
    let one = written(|out| contract::write_refusal(&one, Colour::Plain, out));
    assert!(
        one.starts_with("Error: The store s3://records/team-a is refused for its lifecycle\n"),
        "{one}"
    );
    assert!(one.ends_with("allow_insecure names it, and this cannot be waived.\n"), "{one}");
}

#[test]
fn a_run_that_proceeds_says_what_it_has_to() {
    let note = |kind, setting: Setting, text: &str| Note { kind, setting, text: text.to_owned() };
    let notes = [
        note(NoteKind::Warned, Setting::TlsOnly, "Plain HTTP is let in."),
        note(NoteKind::NotChecked, Setting::EncryptionKey, "There is no telling."),
    ];
    let text = written(|out| contract::write_notes(&notes, Colour::Plain, out));
    assert_eq!(
        text,
        "Warning: tls_only: Plain HTTP is let in.\nNot checked: encryption_key: There is no telling.\n"
    );
}
