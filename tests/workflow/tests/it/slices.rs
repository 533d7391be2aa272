//! An apply in parts: each has a deadline, and the same command goes on where the last one stopped, whether that
//! ended by itself or was killed.

use crate::estate::{Estate, Ran, eventually};
use crate::soak;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Parts of an apply are no longer than this.
const SLICE: &str = "-deadline=2s";

/// No apply here takes more parts than this, on a busy machine either.
const MOST_SLICES: usize = 200;

const TO_BE_CONTINUED: i32 = 8;

/// How the test provider is started where it knows request tokens.
const TOKENS: &[(&str, &str)] = &[("TEST_PROVIDER_REQUEST_TOKENS", "1")];

/// Things that know nothing of each other, each of which takes its time.
fn things(count: usize, slow_ms: u32) -> String {
    format!(
        "resource \"test_thing\" \"one\" {{\n  count   = {count}\n  name    = \"test_thing.one[${{count.index}}]\"\n  slow_ms = {slow_ms}\n}}\n"
    )
}

fn names(count: usize) -> BTreeSet<String> {
    (0..count).map(|n| format!("test_thing.one[{n}]")).collect()
}

/// An estate with a plan in `plan.bin`.
fn planned(configuration: &str, environment: &[(&str, &str)]) -> Estate {
    let estate = Estate::new(configuration);
    let ran = estate.run_with(&["plan", "-out=plan.bin"], environment);
    assert!(ran.status.success(), "{}", ran.said());
    estate
}

/// Applies the plan part by part until one has nothing left; all of them.
fn in_slices(estate: &Estate, environment: &[(&str, &str)]) -> Vec<Ran> {
    let mut slices = Vec::new();
    while slices.len() < MOST_SLICES {
        let ran = estate.run_with(&["apply", SLICE, "plan.bin"], environment);
        estate.assert_no_process_is_left();
        let left = ran.status.code() == Some(TO_BE_CONTINUED);
        if left {
            let says = ran.stdout.contains("unfinished: run the same command again\n");
            assert!(says, "{}", ran.said());
        }
        slices.push(ran);
        if !left {
            return slices;
        }
    }
    panic!("not finished: {}", slices.pop().unwrap().said());
}

/// How often each thing was begun to be created.
fn creates(estate: &Estate) -> BTreeMap<String, usize> {
    let mut creates = BTreeMap::new();
    for call in estate.calls() {
        if call.call == "create" && call.phase == "started" {
            *creates.entry(call.object.unwrap()).or_default() += 1;
        }
    }
    creates
}

/// That every thing is there once.
#[track_caller]
fn assert_once(estate: &Estate, seed: u64) -> BTreeSet<String> {
    let there = estate.names();
    let distinct: BTreeSet<String> = there.iter().cloned().collect();
    assert_eq!(there.len(), distinct.len(), "seed {seed}: something was made twice: {there:?}");
    distinct
}

/// That all were made or are named in doubt, and none twice.
fn assert_nothing_is_lost(estate: &Estate, last: &Ran, count: usize, seed: u64) {
    let (there, doubt) = (assert_once(estate, seed), estate.in_doubt());
    let recorded = estate.recorded();
    assert!(there.is_superset(&recorded), "seed {seed}: {}", last.said());
    let accounted: BTreeSet<String> = recorded.union(&doubt).cloned().collect();
    assert_eq!(accounted, names(count), "seed {seed}: {}", last.said());
    // One that was killed once all was said and done leaves nothing to go on with.
    let over = last.flat().contains("was used already") && doubt.is_empty();
    let expected = if doubt.is_empty() && !over { 0 } else { 1 };
    assert_eq!(last.status.code(), Some(expected), "seed {seed}: {}", last.said());
}

/// Kills the processes of a part at a moment.
fn kill_in(
    estate: &Estate,
    arguments: &[&str],
    environment: &[(&str, &str)],
    after: Duration,
) -> Ran {
    let mut command = estate.command(arguments);
    let mut child = command.envs(environment.iter().copied()).spawn().unwrap();
    std::thread::sleep(after);
    // One that has ended is not killed any more.
    let _ = child.kill();
    let ran = Ran::of(child);
    estate.assert_no_process_is_left();
    ran
}

#[test]
fn many_slow_creates_are_made_in_slices_each_once() {
    let count = soak::or(500, 60);
    let estate = planned(&things(count, 400), &[]);
    let slices = in_slices(&estate, &[]);
    assert!(slices.len() > 1, "all was done at once");
    let last = slices.last().unwrap();
    assert_eq!(last.status.code(), Some(0), "{}", last.said());
    let total = format!("Resources: {count} added, 0 changed, 0 destroyed.");
    assert!(last.stdout.contains(&total), "{}", last.said());
    assert_eq!(creates(&estate), names(count).into_iter().map(|name| (name, 1)).collect());
    assert_eq!(estate.recorded(), names(count));
    estate.assert_settled();
    estate.run(&["apply", "plan.bin"]).assert_failed(&["was used already"]);
}

/// A part that is killed each time, at whatever moment it has reached, then one that is let alone.
fn killed_in_every_slice(environment: &[(&str, &str)]) -> (Estate, Ran, usize, u64) {
    let count = soak::or(500, 60);
    let estate = planned(&things(count, 400), environment);
    let mut random = soak::Random::new();
    for _ in 0..soak::or(60, 6) {
        let after = Duration::from_millis(300 + random.below(1500));
        let ran = kill_in(&estate, &["apply", SLICE, "plan.bin"], environment, after);
        if !ran.was_killed() && ran.status.code() != Some(TO_BE_CONTINUED) {
            return (estate, ran, count, random.seed);
        }
    }
    let last = in_slices(&estate, environment).pop().unwrap();
    (estate, last, count, random.seed)
}

#[test]
fn killed_in_every_slice_nothing_is_made_twice_or_lost() {
    let (estate, last, count, seed) = killed_in_every_slice(&[]);
    assert_nothing_is_lost(&estate, &last, count, seed);
    // The last part names all that is in doubt, whichever part found it.
    for address in &estate.in_doubt() {
        let says = [address.as_str(), "may exist", "plumb adopt", "plumb dismiss"];
        assert!(says.iter().all(|words| last.flat().contains(words)), "{}", last.said());
    }
}

#[test]
fn with_request_tokens_all_is_made_however_often_it_is_killed() {
    let (estate, last, count, seed) = killed_in_every_slice(TOKENS);
    assert_eq!(last.status.code(), Some(0), "seed {seed}: {}", last.said());
    assert_eq!(assert_once(&estate, seed), names(count), "seed {seed}");
    assert_eq!(estate.recorded(), names(count), "seed {seed}");
    estate.assert_settled();
}

#[test]
fn killed_at_random_moments_nothing_is_made_twice_or_lost() {
    let count = 50;
    let settled = planned(&things(count, 50), &[]);
    let mut random = soak::Random::new();
    for _ in 0..soak::or(200, 20) {
        let estate = settled.copy();
        let after = Duration::from_millis(random.below(3000));
        let ran = kill_in(&estate, &["apply", "plan.bin"], &[], after);
        let last = match ran.was_killed() {
            true => estate.run(&["apply", "plan.bin"]),
            false => ran,
        };
        assert_nothing_is_lost(&estate, &last, count, random.seed);
    }
}

/// A thing that the world takes long to make, and one that needs it.
fn long(ripe_ms: usize) -> String {
    format!(
        r#"
resource "test_thing" "long" {{
  name    = "long"
  ripe_ms = {ripe_ms}
  tags = {{
    is = "whole"
  }}
}}

resource "test_thing" "later" {{
  name = "later"
  tags = {{
    after = test_thing.long.id
  }}
}}
"#
    )
}

#[test]
fn a_call_longer_than_a_slice_is_finished_by_waiting() {
    let estate = planned(&long(soak::or(30_000, 7_000)), &[]);
    let slices = in_slices(&estate, &[]);
    assert!(slices.len() > 2, "{} slices", slices.len());
    let last = slices.last().unwrap();
    assert_eq!(last.status.code(), Some(0), "{}", last.said());
    let once = [("later".to_owned(), 1), ("long".to_owned(), 1)];
    assert_eq!(creates(&estate), once.into());
    let changed = ["update", "delete"];
    assert!(estate.calls().iter().all(|call| !changed.contains(&&*call.call)));
    assert!(estate.shown().iter().all(|shown| shown.get("tainted").is_none()));
    estate.assert_settled();
}

#[test]
fn what_moves_between_two_slices_is_left_alone_with_its_dependents() {
    let configuration = |size: u32| {
        format!(
            r#"
resource "test_thing" "first" {{
  name    = "first"
  size    = {size}
  slow_ms = 60000
}}

resource "test_thing" "second" {{
  name = "second"
  size = {size}
  tags = {{
    after = test_thing.first.size
  }}
}}

resource "test_thing" "third" {{
  name = "third"
  size = {size}
  tags = {{
    after = test_thing.first.size
  }}
}}

resource "test_thing" "fourth" {{
  name = "fourth"
  tags = {{
    after = test_thing.third.size
  }}
}}
"#
        )
    };
    let estate = Estate::new(&configuration(1).replace("60000", "0"));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&configuration(2));
    estate.succeed(&["plan", "-out=plan.bin"]);
    // The first takes longer than the part, which begins nothing else.
    let begun = estate.run(&["apply", SLICE, "plan.bin"]);
    assert_eq!(begun.status.code(), Some(TO_BE_CONTINUED), "{}", begun.said());
    estate.drift("third", "size", json!(7));
    let last = in_slices(&estate, &[]).pop().unwrap();
    last.assert_failed(&["The world moved under the plan", "test_thing.third.size", "found 7"]);
    let size = |name: &str| estate.thing(name)["size"].clone();
    assert_eq!((size("first"), size("second"), size("third")), (json!(2), json!(2), json!(7)));
    assert_eq!(estate.thing("fourth")["tags"], json!({ "after": "1" }));
}

#[test]
fn what_failed_in_one_slice_is_not_tried_in_the_next() {
    let estate = planned(
        r#"
resource "test_thing" "failing" {
  name    = "failing"
  fail_on = "create"
}

resource "test_thing" "dependent" {
  name = "dependent"
  tags = {
    needs = test_thing.failing.id
  }
}

resource "test_thing" "slow" {
  name    = "slow"
  slow_ms = 60000
}
"#,
        &[],
    );
    let slices = in_slices(&estate, &[]);
    assert!(slices.len() > 1);
    assert!(slices[0].flat().contains("The world refuses to create it"), "{}", slices[0].said());
    let last = slices.last().unwrap();
    last.assert_failed(&["An earlier part of this apply failed", "test_thing.failing"]);
    assert_eq!(creates(&estate).get("failing"), Some(&1));
    assert_eq!(estate.names(), ["slow"]);
}

#[test]
fn an_interrupted_replacement_goes_on_from_its_middle() {
    let configuration = |kind: &str, slow: &str| {
        format!(
            r#"
resource "test_thing" "delete_first" {{
  name    = "delete_first"
  kind    = "{kind}"
  slow_ms = {slow}
}}

resource "test_thing" "create_first" {{
  name    = "create_first"
  kind    = "{kind}"
  slow_ms = {slow}
  lifecycle {{
    create_before_destroy = true
  }}
}}
"#
        )
    };
    let estate = Estate::new(&configuration("old", "0"));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&configuration("new", "60000"));
    estate.succeed(&["plan", "-out=plan.bin"]);
    let slices = in_slices(&estate, &[]);
    assert!(slices.len() > 1);
    assert_eq!(slices.last().unwrap().status.code(), Some(0), "{}", slices.last().unwrap().said());
    assert_eq!(estate.names(), ["create_first", "delete_first"]);
    assert!(estate.things().iter().all(|thing| thing["kind"] == "new"), "{:?}", estate.things());
    assert_eq!(estate.recorded().len(), 2);
}

#[test]
fn two_parts_at_once_do_not_both_work() {
    let estate = planned(&things(1, 20_000), &[]);
    let first = estate.start(&["apply", "-deadline=20s", "plan.bin"]);
    eventually("the first is at work", || !estate.names().is_empty());
    let second = estate.run(&["apply", "-deadline=20s", "plan.bin"]);
    second.assert_failed(&["is being applied by the run"]);
    let first = Ran::of(first);
    assert_eq!(first.status.code(), Some(TO_BE_CONTINUED), "{}", first.said());
    assert_eq!(in_slices(&estate, &[]).pop().unwrap().status.code(), Some(0));
    assert_eq!(creates(&estate).values().sum::<usize>(), 1);
}

#[test]
fn a_deadline_needs_a_plan_file() {
    let estate = Estate::new(&things(1, 0));
    let ran = estate.run(&["apply", "-auto-approve", "-deadline=1m"]);
    ran.assert_failed(&["A deadline without a plan file", "plumb plan -out=FILE"]);
    let ran = estate.run(&["apply", "-deadline=soon", "plan.bin"]);
    ran.assert_failed(&["Invalid deadline \"soon\""]);
    assert!(estate.names().is_empty());
}
