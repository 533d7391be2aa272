//! `kill -9` at the points of an apply, and the same plan applied again: it goes on from what is recorded, whatever
//! was in flight. The provider knows request tokens, so that nothing is left in doubt.

use crate::deaths::{Death, die_everywhere};
use crate::estate::Estate;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const IN_DOUBT: i32 = 7;

const TOKENS: (&str, &str) = ("TEST_PROVIDER_REQUEST_TOKENS", "1");

/// Dies at points of an apply, goes on each time, and checks what came of it. Answers the last that was reached.
fn die_and_go_on(settled: &Estate, point: fn(usize) -> Death, check: fn(Death, &Estate)) -> usize {
    die_everywhere(settled, 2, &[TOKENS], point, |death, estate| {
        let ran = estate.run_with(&["apply", "-parallelism=2", "plan.bin"], &[TOKENS]);
        // All was done, and only saying so was left.
        let over = ran.flat().contains("was used already");
        assert!(over || ran.status.success(), "{death:?} {}", ran.said());
        check(death, estate);
        let plan = estate.run_with(&["plan", "-detailed-exitcode"], &[TOKENS]);
        assert_eq!(plan.status.code(), Some(0), "{death:?} {}", plan.said());
    })
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

/// A thing that was made when its process died, before the answer was recorded.
fn died_after_the_create(environment: &[(&str, &str)]) -> Estate {
    let estate = Estate::new("resource \"test_thing\" \"one\" {\n  name = \"one\"\n}\n");
    let ran = estate.run_with(&["plan", "-out=plan.bin"], environment);
    assert!(ran.status.success(), "{}", ran.said());
    for point in 1.. {
        let estate = estate.copy();
        let number = point.to_string();
        let death = [("TEST_PROVIDER_KILL_PARENT_AFTER", &*number)];
        let ran = estate.run_with(&["apply", "plan.bin"], &[environment, &death].concat());
        assert!(ran.was_killed(), "no death after the create: {}", ran.said());
        estate.assert_no_process_is_left();
        if estate.position("create", "one", "finished").is_some() {
            assert_eq!(estate.creates_in_flight().len(), 1);
            return estate;
        }
    }
    unreachable!()
}

#[test]
fn what_was_in_flight_is_adopted_by_an_identity_that_the_configuration_determines() {
    let identity = [("TEST_PROVIDER_NAME_IDENTITY", "1")];
    let estate = died_after_the_create(&identity);
    let made = estate.thing("one")["id"].clone();
    let ran = estate.run_with(&["apply", "plan.bin"], &identity);
    assert!(ran.status.success(), "{}", ran.said());
    assert_eq!(estate.thing("one")["id"], made);
    assert_eq!(
        estate.calls().iter().filter(|c| c.call == "create" && c.phase == "started").count(),
        1
    );
    assert_eq!(estate.recorded().len(), 1);
    let plan = estate.run_with(&["plan", "-detailed-exitcode"], &identity);
    assert_eq!(plan.status.code(), Some(0), "{}", plan.said());
}

#[test]
fn another_run_settles_what_a_dead_one_had_in_flight_by_asking_the_provider() {
    let identity = [("TEST_PROVIDER_NAME_IDENTITY", "1")];
    let estate = died_after_the_create(&identity);
    let made = estate.thing("one")["id"].clone();
    // A plan of its own, made before the takeover: it meets the dead run's claim, and has to be made again.
    let ran = estate.run_with(&["apply", "-auto-approve"], &identity);
    assert!(ran.status.success(), "{}", ran.said());
    assert_eq!(estate.thing("one")["id"], made);
    assert_eq!(estate.recorded().len(), 1);
    let used = estate.run_with(&["apply", "-verdict-exitcode", "plan.bin"], &identity);
    assert_eq!(used.status.code(), Some(5), "{}", used.said());
}

#[test]
fn what_was_in_flight_is_not_settled_before_the_margin_is_over() {
    let estate = died_after_the_create(&[TOKENS]);
    let began = Instant::now();
    let ran =
        estate.run_with(&["apply", "plan.bin"], &[TOKENS, ("PLUMB__TRANSACTIONS__MARGIN", "4s")]);
    assert!(ran.status.success(), "{}", ran.said());
    // The store's times are whole seconds.
    assert!(began.elapsed() >= Duration::from_secs(3), "after {:?}", began.elapsed());
    assert_eq!(estate.names(), ["one"]);
}

#[test]
fn what_is_in_doubt_has_its_own_exit_code() {
    let estate = died_after_the_create(&[]);
    // The same plan cannot tell what became of its create.
    estate.run(&["apply", "plan.bin"]).assert_failed(&["test_thing.one", "may exist"]);
    assert_eq!(estate.in_doubt().len(), 1);
    // Nor can one that was made before: only a person can.
    let refused = estate.run(&["apply", "-auto-approve", "-verdict-exitcode"]);
    assert_eq!(refused.status.code(), Some(IN_DOUBT), "{}", refused.said());
    estate.dismiss("test_thing.one");
    estate.succeed(&["apply", "-auto-approve"]);
}

#[test]
fn an_apply_that_cannot_start_its_providers_any_more_is_not_over() {
    let estate = everything();
    let apply = ["apply", "-parallelism=2", "plan.bin"];
    let ran = estate.run_with(&apply, &[TOKENS, ("PLUMB_TEST_KILL_AFTER_WRITE", "20")]);
    assert!(ran.was_killed(), "{}", ran.said());
    let ran = estate.run_with(&apply, &[TOKENS, ("TF_CLI_CONFIG_FILE", "/dev/null")]);
    assert!(!ran.status.success(), "{}", ran.said());
    let ran = estate.run_with(&apply, &[TOKENS]);
    assert!(ran.status.success(), "{}", ran.said());
    let plan = estate.run_with(&["plan", "-detailed-exitcode"], &[TOKENS]);
    assert_eq!(plan.status.code(), Some(0), "{}", plan.said());
}

#[test]
fn a_plan_tells_of_what_was_cut_off_although_it_does_not_touch_it() {
    let estate = died_after_the_create(&[TOKENS]);
    estate.configure("resource \"test_thing\" \"other\" {\n  name = \"other\"\n}\n");
    let ran = estate.run_with(&["plan"], &[TOKENS]);
    assert!(ran.status.success(), "{}", ran.said());
    let said = ran.flat();
    assert!(said.contains("A change was cut off"), "{said}");
    assert!(said.contains("died while it changed test_thing.one"), "{said}");
}
