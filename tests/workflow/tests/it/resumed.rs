//! `kill -9` at the points of an apply, and the same plan applied again: it goes on from what is recorded, whatever
//! was in flight. The provider knows request tokens, so that nothing is left in doubt.

use crate::estate::Estate;
use crate::soak;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs at the same time; most of a run is waiting for processes.
const THREADS: usize = 4;

const TOKENS: (&str, &str) = ("TEST_PROVIDER_REQUEST_TOKENS", "1");

/// After so many writes to the store, or so many provider calls before the last is answered.
#[derive(Clone, Copy, Debug)]
enum Death {
    Write(usize),
    Call(usize),
}

/// Dies at points from the first to one that is never reached, goes on each time, and checks what came of it: every
/// point in a soak, and else every third. Answers the last that was reached.
fn die_and_go_on(settled: &Estate, point: fn(usize) -> Death, check: fn(Death, &Estate)) -> usize {
    let before = settled.calls().iter().filter(|call| call.phase != "started").count();
    let (next, over, last) = (AtomicUsize::new(1), AtomicBool::new(false), AtomicUsize::new(0));
    let work = || {
        while !over.load(Ordering::SeqCst) {
            let number = next.fetch_add(soak::or(1, 3), Ordering::SeqCst);
            let death = point(number);
            let estate = settled.copy();
            let (variable, number) = match death {
                Death::Write(number) => ("PLUMB_TEST_KILL_AFTER_WRITE", number),
                Death::Call(number) => ("TEST_PROVIDER_KILL_PARENT_AFTER", before + number),
            };
            let environment = [TOKENS, (variable, &*number.to_string())];
            let apply = ["apply", "-parallelism=2", "plan.bin"];
            let ran = estate.run_with(&apply, &environment);
            if !ran.was_killed() {
                assert_eq!(ran.status.code(), Some(0), "{death:?} {}", ran.said());
                over.store(true, Ordering::SeqCst);
                continue;
            }
            estate.assert_no_process_is_left();
            let ran = estate.run_with(&apply, &[TOKENS]);
            // All was done, and only saying so was left.
            let over = ran.flat().contains("was used already");
            assert!(over || ran.status.success(), "{death:?} {}", ran.said());
            check(death, &estate);
            let plan = estate.run_with(&["plan", "-detailed-exitcode"], &[TOKENS]);
            assert_eq!(plan.status.code(), Some(0), "{death:?} {}", plan.said());
            last.fetch_max(number, Ordering::SeqCst);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    last.into_inner()
}

fn planned(before: &str, after: &str) -> Estate {
    let estate = Estate::new(before);
    if !before.is_empty() {
        estate.succeed(&["apply", "-auto-approve"]);
    }
    estate.configure(after);
    let ran = estate.run_with(&["plan", "-out=plan.bin"], &[TOKENS]);
    assert!(ran.status.success(), "{}", ran.said());
    estate
}

/// Creates, updates, deletes, and replacements in both orders, which depend on each other.
fn everything() -> Estate {
    let configuration = |kind: &str, size: u32, first: &str| {
        format!(
            r#"
resource "test_thing" "delete_first" {{
  name = "delete_first"
  kind = "{kind}"
}}

resource "test_thing" "create_first" {{
  name = "create_first"
  kind = "{kind}"
  tags = {{
    needs = test_thing.delete_first.id
  }}
  lifecycle {{
    create_before_destroy = true
  }}
}}

resource "test_thing" "updated" {{
  name = "updated"
  size = {size}
  tags = {{
    needs = test_thing.create_first.id
  }}
}}

resource "test_thing" "{first}" {{
  name = "{first}"
}}

resource "test_thing" "dependent_of_{first}" {{
  name = "dependent_of_{first}"
  tags = {{
    needs = test_thing.{first}.id
  }}
}}
"#
        )
    };
    planned(&configuration("old", 1, "gone"), &configuration("new", 2, "made"))
}

fn check_everything(death: Death, estate: &Estate) {
    let expected = ["create_first", "delete_first", "dependent_of_made", "made", "updated"];
    assert_eq!(estate.names(), expected, "{death:?}");
    for name in ["create_first", "delete_first"] {
        assert_eq!(estate.thing(name)["kind"], json!("new"), "{death:?}");
    }
    // One call, never a second.
    assert_eq!(estate.thing("updated")["revision"], json!(2), "{death:?}");
    let recorded: BTreeSet<String> =
        expected.iter().map(|name| format!("test_thing.{name}")).collect();
    assert_eq!(estate.recorded(), recorded, "{death:?}");
}

#[test]
fn killed_after_any_write_the_same_plan_goes_on() {
    let writes = die_and_go_on(&everything(), Death::Write, check_everything);
    assert!(writes > 20, "{writes} writes");
}

#[test]
fn killed_after_any_call_the_same_plan_goes_on() {
    let calls = die_and_go_on(&everything(), Death::Call, check_everything);
    assert!(calls > 10, "{calls} calls");
}
