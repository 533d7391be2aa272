//! SIGINT while things are created slowly.

use crate::estate::{Estate, Ran, THING, eventually};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::process::Child;

/// A thing that is done at once, a slow one, and one that needs the slow one.
fn estate(stubborn: bool) -> Estate {
    let estate = Estate::new(&format!(
        r#"
resource "test_thing" "quick" {{
  name = "quick"
}}

resource "test_thing" "slow" {{
  name     = "slow"
  slow_ms  = 600000
  stubborn = {stubborn}
  tags = {{
    after = test_thing.quick.id
  }}
}}

resource "test_thing" "later" {{
  name = "later"
  tags = {{
    after = test_thing.slow.id
  }}
}}
"#
    ));
    estate.succeed(&["plan", "-out=plan.bin"]);
    estate
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

/// An apply that is in the middle of creating the slow thing.
fn under_way(estate: &Estate) -> Child {
    let child = estate.start(&["apply", "plan.bin"]);
    eventually("the slow thing is there", || estate.names().contains(&"slow".to_owned()));
    child
}

fn addresses<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.into_iter().map(|name| format!("{THING}.{name}")).collect()
}

#[test]
fn the_first_interrupt_ends_what_is_in_flight_and_begins_nothing() {
    let estate = estate(false);
    let child = under_way(&estate);
    interrupt(&child);
    let ran = Ran::of(child);
    ran.assert_failed(&["Interrupt received", "Gracefully shutting down", "nothing new begins"]);
    estate.assert_no_process_is_left();
    assert!(asked_to_stop(&estate));
    assert_eq!(estate.position("create", "later", "started"), None);
    // The provider gave up on the slow thing, which is there: it is recorded as what it is.
    assert!(estate.position("create", "slow", "failed").is_some());
    assert_eq!(estate.recorded(), addresses(["quick", "slow"]));

    // Deletes take as long.
    estate.drift("slow", "slow_ms", serde_json::json!(0));
    estate.configure("");
    estate.succeed(&["apply", "-auto-approve"]);
    assert!(estate.names().is_empty(), "nothing is lost: {:?}", estate.names());
}

fn asked_to_stop(estate: &Estate) -> bool {
    estate.calls().iter().any(|call| call.call == "stop")
}

#[test]
fn a_second_interrupt_waits_for_nothing() {
    let estate = estate(true);
    let child = under_way(&estate);
    interrupt(&child);
    // The provider was told, and goes on all the same.
    eventually("the provider is asked to stop", || asked_to_stop(&estate));
    interrupt(&child);
    let ran = Ran::of(child);
    ran.assert_failed(&["Two interrupts received"]);
    estate.assert_no_process_is_left();
    assert_eq!(estate.position("create", "later", "started"), None);
    assert_eq!(estate.recorded(), addresses(["quick"]));
    let planned = estate.planned();
    let creates = addresses(["slow", "later"]).into_iter().map(|a| (a, "create".to_owned()));
    assert_eq!(planned, creates.collect());
}

#[test]
fn an_interrupted_plan_changes_nothing_and_leaves_no_process() {
    let estate = Estate::new("resource \"test_thing\" \"one\" {\n  name = \"one\"\n}\n");
    // Interrupted at whatever moment it has reached, which no outcome may depend on.
    let child = estate.start(&["plan", "-out=plan.bin"]);
    eventually("the plugin is configured", || !estate.calls().is_empty());
    interrupt(&child);
    let ran = Ran::of(child);
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{}", ran.said());
    estate.assert_no_process_is_left();
    assert_eq!(estate.recorded(), BTreeSet::new());
    assert!(estate.names().is_empty());
}
