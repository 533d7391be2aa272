//! What users of Terraform and OpenTofu have reported in the course of years, each as a small case of our own.

use crate::estate::{Estate, eventually};
use serde_json::json;
use std::collections::BTreeSet;

fn changes<const N: usize>(all: [(&str, &str); N]) -> BTreeSet<(String, String)> {
    all.map(|(address, action)| (address.to_owned(), action.to_owned())).into()
}

/// Id of a thing that is there and that no record knows.
fn found(estate: &Estate, name: &str) -> String {
    let id = format!("id-{name}");
    let file = estate.world().file(crate::estate::THING, &id);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let thing = json!({"id": id, "name": name, "revision": 1, "zone": "zone-a"});
    std::fs::write(file, thing.to_string()).unwrap();
    id
}

/// The first import into an empty state knew only the first of several keys.
#[test]
fn every_key_of_a_for_each_is_imported_first() {
    let estate = Estate::new(
        r#"
locals {
  names = { a = "a", b = "b", c = "c" }
}
import {
  for_each = local.names
  to       = test_thing.all[each.key]
  id       = "id-${each.value}"
}
resource "test_thing" "all" {
  for_each = local.names
  name     = each.value
}
"#,
    );
    for name in ["a", "b", "c"] {
        found(&estate, name);
    }
    let applied = estate.succeed(&["apply", "-auto-approve"]);
    assert!(applied.stdout.contains("Resources: 3 imported, 0 added"), "{}", applied.said());
    assert_eq!(estate.names(), ["a", "b", "c"]);
    estate.assert_settled();
}

/// `import` of one key evaluated the others, whose objects nobody knew yet.
#[test]
fn one_key_of_a_for_each_is_imported_where_another_resource_gives_the_keys() {
    let estate = Estate::new(
        r#"
resource "test_thing" "first" {
  for_each = toset(["a", "b"])
  name     = "first-${each.key}"
}
resource "test_thing" "second" {
  for_each = test_thing.first
  name     = "second-${each.key}"
}
"#,
    );
    let id = found(&estate, "first-a");
    estate.succeed(&["import", "test_thing.first[\"a\"]", &id]);
    let planned = [
        ("test_thing.first[\"b\"]", "create"),
        ("test_thing.second[\"a\"]", "create"),
        ("test_thing.second[\"b\"]", "create"),
    ];
    assert_eq!(estate.planned(), changes(planned));
}

fn network(label: &str, kind: &str, server: &str) -> String {
    format!(
        r#"
resource "test_thing" "{label}" {{
  name = "network"
  kind = "{kind}"
  lifecycle {{
    create_before_destroy = true
  }}
}}
resource "test_thing" "server" {{
  name = "server"
  tags = {{ network = test_thing.{label}.id }}
{server}
  lifecycle {{
    create_before_destroy = true
  }}
}}
"#
    )
}

/// A dependency under another name, while what needs it is replaced, was a cycle.
#[test]
fn a_renamed_dependency_of_what_is_created_before_it_is_destroyed() {
    let estate = Estate::new(&network("network", "old", "  kind = \"old\""));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&network("renamed", "new", "  kind = \"new\""));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.names(), ["network", "server"]);
    assert_eq!(estate.thing("server")["tags"]["network"], estate.thing("network")["id"]);
    estate.assert_settled();
}

/// A deposed object was destroyed while something that could not be updated still used it.
#[test]
fn a_deposed_object_goes_after_what_still_uses_it() {
    let estate = Estate::new(&network("network", "old", ""));
    estate.succeed(&["apply", "-auto-approve"]);
    let old = estate.thing("network")["id"].clone();
    estate.configure(&network("network", "new", "  fail_on = \"update\""));
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["The world refuses to update it"]);
    let is_there = |estate: &Estate| estate.things().iter().any(|thing| thing["id"] == old);
    assert_eq!(estate.thing("server")["tags"]["network"], old);
    assert!(is_there(&estate), "the server still uses it");

    estate.drift("server", "fail_on", json!(null));
    estate.configure(&network("network", "new", ""));
    estate.succeed(&["apply", "-auto-approve"]);
    assert!(!is_there(&estate));
    let updated = estate.position("update", "server", "finished").unwrap();
    let calls = estate.calls();
    let deleted = calls.iter().rposition(|call| call.call == "delete" && call.phase == "started");
    assert!(deleted.unwrap() > updated, "{calls:#?}");
    assert_eq!(estate.thing("server")["tags"]["network"], estate.thing("network")["id"]);
    estate.assert_settled();
}

/// A map that is null became an empty one where changes of one of its keys are ignored.
#[test]
fn ignoring_a_key_of_a_map_that_is_not_there() {
    let ignoring = |name: &str| {
        format!(
            r#"
resource "test_thing" "one" {{
  name = "{name}"
  lifecycle {{
    ignore_changes = [tags["owner"]]
  }}
}}
"#
        )
    };
    let estate = Estate::new(&ignoring("one"));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.assert_settled();
    estate.configure(&ignoring("two"));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.thing("two")["tags"], json!(null));
    estate.assert_settled();
}

/// As in Terraform, an element of a map is named by its key alone: `.k` names attributes, of which a map has none.
#[test]
fn an_element_of_a_map_is_ignored_by_its_key() {
    let ignoring = |ignored: &str, value: &str| {
        format!(
            r#"
resource "test_thing" "one" {{
  name = "one"
  tags = {{ k = "{value}", l = "l" }}
  lifecycle {{
    ignore_changes = [{ignored}]
  }}
}}
"#
        )
    };
    let estate = Estate::new(&ignoring("tags.k", "1"));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&ignoring("tags[\"k\"]", "2"));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.thing("one")["tags"]["k"], "1");
    estate.configure(&ignoring("tags.k", "2"));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.thing("one")["tags"], json!({"k": "2", "l": "l"}));
    estate.assert_settled();
}

/// What was imported and then moved was replaced as a whole.
#[test]
fn a_move_after_an_import() {
    let thing = |label: &str, more: &str| {
        format!("resource \"test_thing\" \"{label}\" {{\n  name = \"kept\"\n}}\n{more}")
    };
    let import = "import {\n  to = test_thing.first\n  id = \"id-kept\"\n}\n";
    let estate = Estate::new(&thing("first", import));
    found(&estate, "kept");
    estate.succeed(&["apply", "-auto-approve"]);
    let moved = "moved {\n  from = test_thing.first\n  to   = test_thing.second\n}\n";
    estate.configure(&thing("second", moved));
    let planned = estate.succeed(&["plan"]);
    assert!(
        planned.flat().contains("Plan: 0 to add, 0 to change, 0 to destroy"),
        "{}",
        planned.said()
    );
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.thing("kept")["id"], "id-kept");
    // Both at once: the import names the address that the object ends at.
    let import = "import {\n  to = test_thing.third\n  id = \"id-kept\"\n}\n";
    let moved = "moved {\n  from = test_thing.second\n  to   = test_thing.third\n}\n";
    estate.configure(&thing("third", &format!("{import}{moved}")));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.recorded(), ["test_thing.third".to_owned()].into());
    assert_eq!(estate.names(), ["kept"]);
    estate.assert_settled();
}

/// The protection of an object went with its block.
#[test]
fn prevent_destroy_outlives_its_block() {
    let protected = |prevent: bool| {
        format!(
            "resource \"test_thing\" \"database\" {{\n  name = \"database\"\n  lifecycle {{\n    prevent_destroy = {prevent}\n  }}\n}}\n"
        )
    };
    let estate = Estate::new(&protected(true));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure("");
    estate
        .run(&["apply", "-auto-approve"])
        .assert_failed(&["test_thing.database", "prevent_destroy"]);
    estate.run(&["destroy", "-auto-approve"]).assert_failed(&["test_thing.database"]);
    assert_eq!(estate.names(), ["database"]);
    estate.configure(&protected(false));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure("");
    estate.succeed(&["apply", "-auto-approve"]);
    assert!(estate.names().is_empty());
}

/// References that can trigger nothing were taken without a word.
#[test]
fn replace_triggered_by_means_something() {
    let triggered = |by: &str| {
        format!(
            "locals {{\n  x = 1\n}}\nresource \"test_thing\" \"one\" {{\n  name = \"one\"\n}}\nresource \"test_thing\" \"two\" {{\n  name = \"two\"\n  lifecycle {{\n    replace_triggered_by = [{by}]\n  }}\n}}\n"
        )
    };
    let estate = Estate::new("");
    for (nonsense, says) in [
        ("test_thing.one.nonsense", "Unsupported attribute"),
        ("test_thing.absent", "Reference to undeclared resource"),
        ("local.x", "Invalid reference in replace_triggered_by expression"),
        ("path.module", "Invalid reference in replace_triggered_by expression"),
        ("\"text\"", "Invalid replace_triggered_by expression"),
    ] {
        estate.configure(&triggered(nonsense));
        estate.run(&["validate"]).assert_failed(&[says]);
    }
    estate.configure(&triggered("test_thing.one.size"));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.assert_settled();
}

/// Destroying did not know the keys of what a provider is configured with.
#[test]
fn providers_that_are_configured_with_resources_destroy() {
    let estate = Estate::new(
        r#"
resource "test_thing" "worlds" {
  for_each = toset(["second"])
  name     = each.key
}
provider "test" {
  alias = "second"
  world = "world-${test_thing.worlds["second"].name}"
}
module "inner" {
  for_each  = toset(["x", "y"])
  source    = "./inner"
  name      = each.key
  providers = { test = test.second }
}
"#,
    );
    estate.write(
        "inner/main.tf",
        "terraform {\n  required_providers {\n    test = {\n      source = \"plumbline/test\"\n    }\n  }\n}\nvariable \"name\" {}\nresource \"test_thing\" \"one\" {\n  name = var.name\n}\n",
    );
    estate.succeed(&["get"]);
    estate.succeed(&["apply", "-auto-approve"]);
    estate.assert_settled();
    let destroyed = estate.succeed(&["destroy", "-auto-approve"]);
    assert!(destroyed.stdout.contains("3 destroyed"), "{}", destroyed.said());
    assert!(estate.recorded().is_empty());
    let second = test_provider::World::open(estate.path().join("world-second")).unwrap();
    assert!(second.ids(crate::estate::THING).unwrap().is_empty());
}

const QUIET: &str = r#"
variable "secret" {
  default   = "hush"
  sensitive = true
}
resource "test_thing" "one" {
  name   = "one"
  secret = var.secret
}
data "test_thing" "one" {
  name       = "one"
  depends_on = [test_thing.one]
}
output "secret" {
  value     = test_thing.one.secret
  sensitive = true
}
output "mixed" {
  value     = { a = var.secret, b = test_thing.one.id, c = null }
  sensitive = true
}
check "named" {
  assert {
    condition     = data.test_thing.one.name == "one"
    error_message = "It has another name."
  }
}
"#;

/// Sensitive outputs made a permanent difference, and plans without changes ended with exit code 2.
#[test]
fn what_does_not_change_is_no_change() {
    let estate = Estate::new(QUIET);
    estate.succeed(&["apply", "-auto-approve"]);
    for arguments in [
        &["plan", "-detailed-exitcode"][..],
        &["plan", "-detailed-exitcode", "-refresh=false"],
        &["plan", "-detailed-exitcode", "-refresh-only"],
        &["plan", "-detailed-exitcode", "-out=plan.bin"],
        &["plan", "-detailed-exitcode", "-target=test_thing.one"],
    ] {
        let planned = estate.run(arguments);
        assert_eq!(planned.status.code(), Some(0), "{arguments:?}\n{}", planned.said());
        assert!(planned.stdout.contains("No changes."), "{arguments:?}\n{}", planned.said());
    }
}

/// "Objects have changed outside" stood above nothing.
#[test]
fn drift_is_shown_with_what_has_drifted_or_not_at_all() {
    const HEADING: &str = "changed outside";
    let estate = Estate::new(QUIET);
    estate.succeed(&["apply", "-auto-approve"]);
    // Computed, and read by nothing.
    estate.drift("one", "zone", json!("zone-q"));
    let planned = estate.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(planned.status.code(), Some(0), "{}", planned.said());
    assert!(!planned.flat().contains(HEADING), "{}", planned.said());
    let refreshed = estate.run(&["plan", "-detailed-exitcode", "-refresh-only"]);
    assert_eq!(refreshed.status.code(), Some(2), "{}", refreshed.said());
    assert!(refreshed.flat().contains(HEADING), "{}", refreshed.said());
    assert!(refreshed.flat().contains("\"zone-a\" -> \"zone-q\""), "{}", refreshed.said());
}

/// A saved plan was applied twice where there was no state before.
#[test]
fn a_plan_of_nothing_is_applied_once() {
    let estate = Estate::new("resource \"test_thing\" \"one\" {\n  name = \"one\"\n}\n");
    estate.succeed(&["plan", "-out=first.bin"]);
    estate.succeed(&["plan", "-out=second.bin"]);
    let copy = std::fs::read(estate.path().join("first.bin")).unwrap();
    std::fs::write(estate.path().join("copy.bin"), copy).unwrap();
    estate.succeed(&["apply", "first.bin"]);
    for again in ["first.bin", "copy.bin", "second.bin"] {
        let refused = estate.run(&["apply", again]);
        refused.assert_failed(&["Nothing was changed"]);
        assert_eq!(estate.names(), ["one"], "{again}");
    }
    estate.succeed(&["destroy", "-auto-approve"]);
    estate.run(&["apply", "first.bin"]).assert_failed(&["Nothing was changed"]);
    assert!(estate.names().is_empty());
}

/// A plan that was refused left a lock behind.
#[test]
fn a_refusal_leaves_nothing_in_the_way() {
    let sized = |size: u32| {
        format!("resource \"test_thing\" \"one\" {{\n  name = \"one\"\n  size = {size}\n}}\n")
    };
    let estate = Estate::new(&sized(1));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&sized(2));
    estate.succeed(&["plan", "-out=stale.bin"]);
    estate.configure(&sized(3));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.run(&["apply", "stale.bin"]).assert_failed(&["Nothing was changed"]);
    estate.configure(&sized(4));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.thing("one")["size"], json!(4));
}

/// Where results could not be saved and resources failed too, one of the two was not told, and the results were lost.
#[test]
fn results_that_cannot_be_recorded_are_kept_and_told_beside_other_failures() {
    let estate = Estate::new(
        r#"
resource "test_thing" "slow" {
  name    = "slow"
  slow_ms = 2000
}
resource "test_thing" "failing" {
  name    = "failing"
  slow_ms = 1000
  fail_on = "create"
}
"#,
    );
    let apply = estate.start(&["apply", "-auto-approve"]);
    for name in ["slow", "failing"] {
        eventually("both creates begin", || estate.position("create", name, "started").is_some());
    }
    let records = estate.path().join(".plumb/records/default/r/i");
    let aside = estate.path().join("aside");
    std::fs::rename(&records, &aside).unwrap();
    std::fs::write(&records, "no folder any more").unwrap();
    let failed = crate::estate::Ran::of(apply);
    failed.assert_failed(&["The world refuses to create it", "plumb-unrecorded"]);
    let id = estate.thing("slow")["id"].as_str().unwrap().to_owned();
    let kept: Vec<String> = std::fs::read_dir(estate.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("plumb-unrecorded"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    assert!(kept.iter().any(|body| body.contains(&id)), "{kept:?}");

    // Once the store is back, the object is found again, and nothing is made twice.
    std::fs::remove_file(&records).unwrap();
    std::fs::rename(&aside, &records).unwrap();
    estate.run(&["apply", "-auto-approve"]);
    assert!(estate.names().iter().filter(|name| *name == "slow").count() == 1);
    estate.succeed(&["adopt", "test_thing.slow", &id]);
    assert!(estate.recorded().contains("test_thing.slow"));
}
