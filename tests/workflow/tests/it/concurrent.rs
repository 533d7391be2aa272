//! Several applies of one estate at once.

use crate::estate::{Estate, Ran, eventually, two_things};
use serde_json::json;

const BUSY: i32 = 6;

/// Two things that know nothing of each other, and an output of both.
fn two(first: u32, second: u32, slow_ms: u32) -> String {
    two_things(first, second, slow_ms)
        + r#"
output "sizes" {
  value = "${test_thing.first.size} and ${test_thing.second.size}"
}
"#
}

/// An estate with both, and for each a plan that changes it alone.
fn with_two_plans(slow_ms: u32) -> Estate {
    let estate = Estate::new(&two(1, 1, 0));
    estate.succeed(&["apply", "-auto-approve"]);
    for name in ["first", "second"] {
        estate.drift(name, "slow_ms", json!(slow_ms));
    }
    estate.configure(&two(2, 1, slow_ms));
    estate.succeed(&["apply", "-refresh-only", "-auto-approve"]);
    estate.succeed(&["plan", "-out=first.bin"]);
    estate.configure(&two(1, 2, slow_ms));
    estate.succeed(&["plan", "-out=second.bin"]);
    estate
}

fn sizes(estate: &Estate) -> (serde_json::Value, serde_json::Value) {
    (estate.thing("first")["size"].clone(), estate.thing("second")["size"].clone())
}

/// That the output is what both have made of it, whoever wrote it last.
#[track_caller]
fn assert_seen(estate: &Estate) {
    let sizes = estate.succeed(&["output", "-raw", "sizes"]).stdout;
    assert_eq!(sizes, "2 and 2");
}

#[test]
fn plans_that_do_not_touch_apply_at_once() {
    let estate = with_two_plans(3000);
    let first = estate.start(&["apply", "first.bin"]);
    eventually("the first is at work", || estate.position("update", "first", "started").is_some());
    let second = Ran::of(estate.start(&["apply", "second.bin"]));
    assert!(second.status.success(), "{}", second.said());
    let first = Ran::of(first);
    assert!(first.status.success(), "{}", first.said());
    assert_eq!(sizes(&estate), (json!(2), json!(2)));
    assert_seen(&estate);
    estate.configure(&two(2, 2, 3000));
    estate.assert_settled();
}

#[test]
fn plans_that_do_not_touch_apply_in_either_order() {
    for order in [["first.bin", "second.bin"], ["second.bin", "first.bin"]] {
        let estate = with_two_plans(0);
        for plan in order {
            estate.succeed(&["apply", plan]);
        }
        assert_eq!(sizes(&estate), (json!(2), json!(2)));
        assert_seen(&estate);
        Ran::of(estate.start(&["apply", order[0]])).assert_failed(&["was used already", "done"]);
    }
}

#[test]
fn who_meets_an_apply_at_work_is_told_so_and_changes_nothing() {
    let estate = Estate::new(
        r#"
resource "test_thing" "slow" {
  count   = 3
  name    = "slow-${count.index}"
  slow_ms = 15000
}
"#,
    );
    estate.succeed(&["plan", "-out=first.bin"]);
    estate.succeed(&["plan", "-out=second.bin"]);
    let first = estate.start(&["apply", "first.bin"]);
    eventually("the first is at work", || estate.names().len() == 3);
    // The same plan, another one, and one that is made now.
    let again = Ran::of(estate.start(&["apply", "first.bin"]));
    again.assert_failed(&["is being applied by the run", "nothing was changed here"]);
    for arguments in [&["apply", "second.bin"][..], &["apply", "-auto-approve"]] {
        let ran = Ran::of(estate.start(arguments));
        ran.assert_failed(&[
            "test_thing.slow[0]",
            "the run",
            "is changing it",
            "wait for that run",
        ]);
    }
    // Programs know both by one code: the same plan may be tried again.
    for arguments in [&["validate", "-plan=second.bin"][..], &["apply", "second.bin"]] {
        let (command, rest) = arguments.split_first().unwrap();
        let ran = estate.run(&[&[*command, "-verdict-exitcode", "-json"], rest].concat());
        assert_eq!(ran.status.code(), Some(BUSY), "{}", ran.said());
        assert!(ran.stdout.contains("\"code\":\"busy\""), "{}", ran.said());
    }
    let again = estate.run(&["apply", "-verdict-exitcode", "first.bin"]);
    assert_eq!(again.status.code(), Some(BUSY), "{}", again.said());
    let first = Ran::of(first);
    assert!(first.status.success(), "{}", first.said());
    // What was planned before the first ended rests on records that have moved, and says who moved them.
    let second = Ran::of(estate.start(&["apply", "second.bin"]));
    second.assert_failed(&["did not exist when the plan was made, and does now", "wrote it"]);
    assert_eq!(estate.names().len(), 3);
    estate.assert_settled();
}

/// One thing rests on the other.
fn skewed(changed: &str, read: &str, sizes: [u32; 2]) -> String {
    let [first, second] = sizes;
    let size = |name| if name == "first" { first } else { second };
    format!(
        r#"
resource "test_thing" "{read}" {{
  name = "{read}"
  size = {}
}}

resource "test_thing" "{changed}" {{
  name = "{changed}"
  size = {}
  tags = {{
    other = test_thing.{read}.size
  }}
}}
"#,
        size(read),
        size(changed),
    )
}

#[test]
fn of_two_plans_that_read_what_the_other_changes_at_most_one_applies() {
    let estate = Estate::new(&two(1, 1, 0));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&skewed("first", "second", [2, 1]));
    estate.succeed(&["plan", "-out=first.bin"]);
    estate.configure(&skewed("second", "first", [1, 2]));
    estate.succeed(&["plan", "-out=second.bin"]);
    let both = ["first.bin", "second.bin"].map(|plan| estate.start(&["apply", plan]));
    let both = both.map(Ran::of);
    let applied = both.iter().filter(|ran| ran.status.success()).count();
    assert!(applied <= 1, "{}\n{}", both[0].said(), both[1].said());
    let (first, second) = sizes(&estate);
    let changed = [first, second].iter().filter(|size| **size == json!(2)).count();
    assert_eq!(changed, applied);
}
