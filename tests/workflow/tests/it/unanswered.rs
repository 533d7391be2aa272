//! Updates whose provider, or `plumb` itself, ends without an answer: what was asked may still come to pass.

use crate::estate::{Estate, Ran, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Child;
use std::time::{Duration, Instant};

const TO_BE_CONTINUED: i32 = 8;
const MARGIN: &str = "PLUMB__TRANSACTIONS__MARGIN";

fn thing(size: u32, slow_ms: u32) -> String {
    format!(
        r#"
resource "test_thing" "one" {{
  name     = "one"
  size     = {size}
  slow_ms  = {slow_ms}
  stubborn = true
}}
"#
    )
}

/// An estate with a saved plan that changes its thing, which its provider takes ages to answer.
fn estate() -> Estate {
    let estate = Estate::new(&thing(1, 0));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&thing(2, 600_000));
    estate.succeed(&["plan", "-out=plan.bin"]);
    estate
}

/// An apply whose update has reached the world and is not answered.
fn updating(estate: &Estate, arguments: &[&str], margin: &str) -> Child {
    let child = estate.command(arguments).env(MARGIN, margin).spawn().unwrap();
    eventually("the world is changed", || estate.thing("one")["size"] == json!(2));
    child
}

fn kill_provider(estate: &Estate) {
    let pid = estate.calls().into_iter().rfind(|call| call.call == "update").unwrap().pid;
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Interrupts it twice, the second time once the provider was told.
fn interrupt_twice(estate: &Estate, child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
    let asked_to_stop = || estate.calls().iter().any(|call| call.call == "stop");
    eventually("the provider is asked to stop", asked_to_stop);
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

fn one() -> BTreeSet<String> {
    ["test_thing.one".to_owned()].into()
}

#[test]
fn what_a_lost_provider_was_asked_is_waited_for_and_a_person_hears_of_it() {
    let estate = estate();
    let child = updating(&estate, &["apply", "plan.bin"], "2s");
    let began = Instant::now();
    kill_provider(&estate);
    let ran = Ran::of(child);
    assert!(began.elapsed() >= Duration::from_secs(2), "after {:?}", began.elapsed());
    ran.assert_failed(&["test_thing.one: Not answered by the provider", "Waiting until 20"]);
    assert_eq!(ran.stdout.matches("Waiting until").count(), 1, "{}", ran.stdout);
    assert_eq!(estate.in_flight(), BTreeSet::new());
    estate.run(&["apply", "plan.bin"]).assert_failed(&["was used already"]);
    estate.succeed(&["apply", "-auto-approve"]);
    estate.assert_settled();
}

#[test]
fn a_second_interrupt_does_not_wait_and_leaves_the_plan_to_be_gone_on_with() {
    let estate = estate();
    let child = updating(&estate, &["apply", "plan.bin"], "10m");
    interrupt_twice(&estate, &child);
    let ran = Ran::of(child);
    ran.assert_failed(&["A change may still come to pass", "- test_thing.one", "which goes on"]);
    assert!(!ran.stdout.contains("Waiting until"), "{}", ran.stdout);
    assert_eq!(estate.in_flight(), one());
    estate.succeed(&["apply", "plan.bin"]);
    assert_eq!(estate.in_flight(), BTreeSet::new());
    estate.assert_settled();
}

#[test]
fn what_an_apply_without_a_plan_file_left_is_settled_by_the_next_one() {
    let estate = estate();
    let child = updating(&estate, &["apply", "-auto-approve"], "10m");
    interrupt_twice(&estate, &child);
    let ran = Ran::of(child);
    ran.assert_failed(&["A change may still come to pass", "Apply again"]);
    assert_eq!(estate.in_flight(), one());
    // The world is as it is configured: there is nothing to do but to find that out.
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.in_flight(), BTreeSet::new());
    estate.assert_settled();
}

#[test]
fn where_no_time_is_left_to_wait_another_invocation_goes_on() {
    let estate = estate();
    let child = updating(&estate, &["apply", "-deadline=40s", "plan.bin"], "10m");
    kill_provider(&estate);
    let ran = Ran::of(child);
    assert_eq!(ran.status.code(), Some(TO_BE_CONTINUED), "{}", ran.said());
    assert_eq!(estate.in_flight(), one());
    estate.succeed(&["apply", "-deadline=10m", "plan.bin"]);
    estate.assert_settled();
}

#[test]
fn what_a_killed_apply_had_asked_is_looked_at_once_the_margin_has_passed() {
    let estate = estate();
    let mut child = updating(&estate, &["apply", "plan.bin"], "0s");
    child.kill().unwrap();
    child.wait().unwrap();
    estate.configure(&thing(3, 0));
    let began = Instant::now();
    let ran = estate.run_with(&["apply", "-auto-approve"], &[(MARGIN, "4s")]);
    assert!(ran.status.success(), "{}", ran.said());
    assert!(ran.stdout.contains("test_thing.one: Not answered by the provider"), "{}", ran.said());
    // The store's times are whole seconds.
    assert!(began.elapsed() >= Duration::from_secs(3), "after {:?}", began.elapsed());
    assert_eq!(estate.thing("one")["size"], json!(3));
    estate.assert_settled();
}

#[test]
fn a_takeover_waits_no_longer_than_its_deadline_lets_it() {
    let estate = estate();
    let mut child = updating(&estate, &["apply", "plan.bin"], "0s");
    child.kill().unwrap();
    child.wait().unwrap();
    estate.configure(&thing(3, 0));
    estate.succeed(&["plan", "-out=other.bin"]);
    let ran = estate.run_with(&["apply", "-deadline=1m", "other.bin"], &[(MARGIN, "10m")]);
    ran.assert_failed(&["may still come to pass until 20", "Nothing was changed here"]);
    assert_eq!(estate.in_flight(), one());
}
