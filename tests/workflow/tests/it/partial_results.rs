//! Changes that fail: what was done is recorded, what depends on it is left, the rest goes on.

use crate::estate::Estate;
use serde_json::json;

fn one(address: &str, action: &str) -> std::collections::BTreeSet<(String, String)> {
    [(address.to_owned(), action.to_owned())].into()
}

/// A thing that fails as asked, one that needs it, and one that does not.
fn configuration(failing: &str) -> String {
    format!(
        r#"
resource "test_thing" "failing" {{
  name = "failing"
{failing}
}}

resource "test_thing" "dependent" {{
  name = "dependent"
  tags = {{
    needs = test_thing.failing.id
  }}
}}

resource "test_thing" "other" {{
  name = "other"
}}
"#
    )
}

#[test]
fn a_create_that_made_nothing_is_tried_again() {
    let estate = Estate::new(&configuration("  fail_on = \"create\""));
    let failed = estate.run(&["apply", "-auto-approve"]);
    failed.assert_failed(&["The world refuses to create it", "test_thing.failing"]);
    assert_eq!(estate.names(), ["other"]);
    assert_eq!(estate.recorded(), ["test_thing.other".to_owned()].into());
    estate.configure(&configuration(""));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.names(), ["dependent", "failing", "other"]);
    estate.assert_settled();
}

#[test]
fn a_create_that_made_half_of_it_is_tainted_and_replaced() {
    let estate = Estate::new(&configuration("  fail_on = \"create\"\n  partial = true"));
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["not as it should be"]);
    assert_eq!(estate.names(), ["failing", "other"]);
    let shown = estate.shown();
    let failing = shown.iter().find(|resource| resource["name"] == "failing").unwrap();
    assert_eq!(failing["tainted"], json!(true));
    let half = estate.thing("failing")["id"].clone();
    assert_eq!(failing["values"]["id"], half);

    estate.configure(&configuration(""));
    let planned = estate.succeed(&["plan"]);
    assert!(planned.flat().contains("is tainted, so must be replaced"), "{}", planned.said());
    let applied = estate.succeed(&["apply", "-auto-approve", "-json"]);
    assert!(applied.planned().is_superset(&one("test_thing.failing", "replace")));
    assert_ne!(estate.thing("failing")["id"], half);
    assert_eq!(estate.names(), ["dependent", "failing", "other"]);
    estate.assert_settled();
}

#[test]
fn an_update_that_failed_half_way_is_recorded_as_far_as_it_came() {
    let estate = Estate::new(&configuration("  size = 1"));
    estate.succeed(&["apply", "-auto-approve"]);
    let failing = "  size = 2\n  fail_on = \"update\"\n  partial = true";
    estate.configure(&configuration(failing));
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["not as it should be"]);
    let shown = estate.shown();
    let recorded = shown.iter().find(|resource| resource["name"] == "failing").unwrap();
    assert_eq!(recorded["values"]["size"], json!(2));
    assert!(recorded.get("tainted").is_none(), "an update taints nothing: {recorded}");
    estate.assert_settled();
}

#[test]
fn a_delete_that_failed_leaves_its_record() {
    let keep =
        "resource \"test_thing\" \"kept\" {\n  name    = \"kept\"\n  fail_on = \"delete\"\n}\n";
    let estate = Estate::new(keep);
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure("");
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["The world refuses to delete it"]);
    assert_eq!(estate.recorded(), ["test_thing.kept".to_owned()].into());
    assert_eq!(estate.planned(), one("test_thing.kept", "delete"));
    estate.drift("kept", "fail_on", json!(null));
    estate.succeed(&["apply", "-auto-approve"]);
    assert!(estate.recorded().is_empty() && estate.names().is_empty());
}
