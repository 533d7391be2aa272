//! An apply that is killed at one of its points, and a new plan afterwards.

use crate::deaths::{Death, die_everywhere};
use crate::estate::{Estate, Ran};
use serde_json::json;
use std::collections::BTreeSet;

/// Goes on after a death: plans anew and applies, and nothing is left to do. A create that was in flight is in
/// doubt, and nothing is made or changed until a person has looked at it.
fn go_on(death: Death, estate: &Estate) -> Ran {
    let in_flight = estate.creates_in_flight();
    if !in_flight.is_empty() {
        let before = estate.things();
        let refused = estate.run(&["apply", "-auto-approve"]);
        refused.assert_failed(&["may have created an object that no record describes"]);
        for address in &in_flight {
            assert!(refused.flat().contains(address), "{death:?}: {address} {}", refused.said());
        }
        assert_eq!(estate.things(), before, "{death:?}");
        assert_eq!(estate.in_doubt(), in_flight, "{death:?}");
        in_flight.iter().for_each(|address| estate.dismiss(address));
    }
    let ran = estate.run(&["apply", "-auto-approve", "-json"]);
    assert_eq!(ran.status.code(), Some(0), "{death:?} {}", ran.said());
    let plan = estate.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(plan.status.code(), Some(0), "{death:?} {}", plan.said());
    ran
}

fn set(changes: impl IntoIterator<Item = (String, &'static str)>) -> BTreeSet<(String, String)> {
    changes.into_iter().map(|(address, action)| (address, action.to_owned())).collect()
}

/// Twenty things: four, and sixteen that need them.
const CREATES: &str = r#"
resource "test_thing" "base" {
  count = 4
  name  = "test_thing.base[${count.index}]"
}

resource "test_thing" "leaf" {
  count = 16
  name  = "test_thing.leaf[${count.index}]"
  tags = {
    base = test_thing.base[count.index % 4].id
  }
}

output "ids" {
  value = test_thing.leaf[*].id
}
"#;

/// Addresses, which are the names too.
fn twenty() -> BTreeSet<String> {
    let base = (0..4).map(|n| format!("test_thing.base[{n}]"));
    base.chain((0..16).map(|n| format!("test_thing.leaf[{n}]"))).collect()
}

/// The next plan creates what no record has, and nothing else. A thing that was created and not recorded is
/// named in doubt, and stays in the world beside its second once that is dismissed: `in_flight` of them at most.
fn check_creates(death: Death, estate: &Estate, in_flight: usize) {
    let recorded = estate.recorded();
    let there: BTreeSet<String> = estate.names().into_iter().collect();
    assert!(recorded.is_subset(&there), "{death:?}: recorded and not there");
    let orphans: Vec<String> = there.difference(&recorded).cloned().collect();
    assert!(orphans.len() <= in_flight, "{death:?}: {orphans:?}");
    let told = estate.creates_in_flight();
    assert!(orphans.iter().all(|orphan| told.contains(orphan)), "{death:?}: {orphans:?} {told:?}");
    if let ([orphan], 1) = (&*orphans, in_flight) {
        let creates = estate.calls().into_iter().rfind(|call| call.call == "create");
        assert_eq!(creates.unwrap().object.as_ref(), Some(orphan), "{death:?}");
    }
    let planned = go_on(death, estate).planned();
    let missing = twenty().into_iter().filter(|address| !recorded.contains(address));
    assert_eq!(planned, set(missing.map(|address| (address, "create"))), "{death:?}");
    let mut expected: Vec<String> = twenty().into_iter().chain(orphans).collect();
    expected.sort();
    assert_eq!(estate.names(), expected, "{death:?}");
}

fn to_create() -> Estate {
    let estate = Estate::new(CREATES);
    estate.succeed(&["plan", "-out=plan.bin"]);
    estate
}

#[test]
fn creates_killed_after_any_write() {
    let check = |death, estate: &Estate| check_creates(death, estate, 1);
    let writes = die_everywhere(&to_create(), 1, &[], Death::Write, check);
    assert!((20..=20 + 2 * 20 + 1 + 10).contains(&writes), "{writes} writes");
}

#[test]
fn creates_killed_after_any_call() {
    let check = |death, estate: &Estate| check_creates(death, estate, 1);
    let calls = die_everywhere(&to_create(), 1, &[], Death::Call, check);
    assert!(calls > 20 + 18, "{calls} calls");
}

#[test]
fn creates_beside_each_other_killed_after_any_write() {
    let check = |death, estate: &Estate| check_creates(death, estate, 10);
    die_everywhere(&to_create(), 10, &[], Death::Write, check);
}

/// Ten of twenty things are changed, ten removed.
fn to_change() -> Estate {
    let configuration = |size: u32, of: u32| {
        format!(
            r#"
resource "test_thing" "base" {{
  count = {of}
  name  = "test_thing.base[${{count.index}}]"
  size  = {size}
}}

resource "test_thing" "leaf" {{
  count = {of}
  name  = "test_thing.leaf[${{count.index}}]"
  size  = {size}
  tags = {{
    base = test_thing.base[count.index].id
  }}
}}
"#
        )
    };
    let estate = Estate::new(&configuration(1, 10));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&configuration(2, 5));
    estate.succeed(&["plan", "-out=plan.bin"]);
    estate
}

fn stays(name: &str) -> bool {
    name.trim_end_matches(']').chars().last().is_some_and(|digit| digit < '5')
}

/// What was changed or removed is seen by reading the world, whether it was recorded or not: the next plan
/// does what the world has not had yet, and nothing else.
fn check_changes(death: Death, estate: &Estate) {
    estate.recorded();
    let outstanding = estate.things().into_iter().filter_map(|thing| {
        let name = thing["name"].as_str()?.to_owned();
        match stays(&name) {
            false => Some((name, "delete")),
            true => (thing["size"] != json!(2)).then_some((name, "update")),
        }
    });
    let outstanding = set(outstanding);
    let planned = go_on(death, estate).planned();
    assert_eq!(planned, outstanding, "{death:?}");
    let things = estate.things();
    assert_eq!(things.len(), 10, "{death:?}");
    for thing in things {
        // One call each, never a second.
        assert_eq!((&thing["size"], &thing["revision"]), (&json!(2), &json!(2)), "{death:?}");
        assert!(stays(thing["name"].as_str().unwrap()), "{death:?}");
    }
    assert_eq!(estate.recorded().len(), 10, "{death:?}");
}

#[test]
fn updates_and_deletes_killed_after_any_write() {
    let writes = die_everywhere(&to_change(), 1, &[], Death::Write, check_changes);
    assert!((20..=20 + 2 * 20 + 10).contains(&writes), "{writes} writes");
}

#[test]
fn updates_and_deletes_killed_after_any_call() {
    let calls = die_everywhere(&to_change(), 1, &[], Death::Call, check_changes);
    assert!(calls > 20 + 18, "{calls} calls");
}

/// Three things replaced by deleting first, three by creating first.
fn to_replace() -> Estate {
    let configuration = |kind: &str| {
        format!(
            r#"
resource "test_thing" "delete_first" {{
  count = 3
  name  = "test_thing.delete_first[${{count.index}}]"
  kind  = "{kind}"
}}

resource "test_thing" "create_first" {{
  count = 3
  name  = "test_thing.create_first[${{count.index}}]"
  kind  = "{kind}"
  lifecycle {{
    create_before_destroy = true
  }}
}}
"#
        )
    };
    let estate = Estate::new(&configuration("old"));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&configuration("new"));
    estate.succeed(&["plan", "-out=plan.bin"]);
    estate
}

/// Every thing is new in the end, none is lost on the way, and at most the one in flight is there twice.
fn check_replacements(death: Death, estate: &Estate) {
    let recorded = |estate: &Estate| {
        let recorded = estate.recorded();
        let bare = |address: &String| address.split(" (").next().unwrap_or_default().to_owned();
        recorded.iter().map(bare).collect::<BTreeSet<String>>()
    };
    let before = recorded(estate);
    for name in estate.names() {
        // A thing that replaced a deleted one may be the one in flight.
        let in_flight = estate.calls().into_iter().rfind(|call| call.call == "create");
        let in_flight = in_flight.and_then(|call| call.object);
        assert!(before.contains(&name) || in_flight.as_ref() == Some(&name), "{death:?}: {name}");
    }
    go_on(death, estate);
    assert_eq!(recorded(estate).len(), 6, "{death:?}");
    let things = estate.things();
    assert!(things.iter().all(|thing| thing["kind"] == "new"), "{death:?}: {things:?}");
    let names: BTreeSet<String> = estate.names().into_iter().collect();
    assert_eq!(names, recorded(estate), "{death:?}");
    assert!(things.len() <= 7, "{death:?}: {:?}", estate.names());
}

#[test]
fn replacements_killed_after_any_write() {
    let writes = die_everywhere(&to_replace(), 1, &[], Death::Write, check_replacements);
    assert!((12 + 1..=6 + 2 * 12 + 10).contains(&writes), "{writes} writes");
}

#[test]
fn replacements_killed_after_any_call() {
    let calls = die_everywhere(&to_replace(), 1, &[], Death::Call, check_replacements);
    assert!(calls > 6 + 10, "{calls} calls");
}
