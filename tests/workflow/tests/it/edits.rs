//! Records edited by hand, beside applies and providers.

use crate::estate::{Estate, Ran, eventually, two_things};

#[test]
fn what_an_apply_works_on_is_edited_once_it_has_ended() {
    let estate = Estate::new(&two_things(1, 1, 3000));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&two_things(2, 1, 3000));
    let apply = estate.start(&["apply", "-auto-approve"]);
    eventually("it is at work", || estate.position("update", "first", "started").is_some());
    for edit in [
        &["state", "mv", "test_thing.first", "test_thing.other"][..],
        &["state", "rm", "test_thing.first"],
        &["taint", "test_thing.first"],
    ] {
        estate.run(edit).assert_failed(&["The records are in use", "is changing it"]);
    }
    // What it has nothing to do with is free.
    estate.succeed(&["state", "mv", "test_thing.second", "test_thing.third"]);
    let applied = Ran::of(apply);
    assert!(applied.status.success(), "{}", applied.said());
    estate.succeed(&["state", "mv", "test_thing.first", "test_thing.other"]);
    let moved = two_things(2, 1, 3000)
        .replace("\"first\" {", "\"other\" {")
        .replace("\"second\" {", "\"third\" {");
    estate.configure(&moved);
    estate.assert_settled();
    let mut names = estate.names();
    names.sort();
    assert_eq!(names, ["first", "second"]);
}

#[test]
fn a_thing_that_exists_is_imported_before_its_block_is_written() {
    let whole = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n}\n";
    let estate = Estate::new(whole);
    estate.succeed(&["apply", "-auto-approve"]);
    let id = estate.thing("a")["id"].as_str().unwrap().to_owned();
    estate.succeed(&["state", "rm", "test_thing.a"]);
    estate.configure("resource \"test_thing\" \"a\" {}\n");
    let imported = estate.succeed(&["import", "test_thing.a", &id]);
    let told = format!(
        "test_thing.a: Importing from ID \"{id}\"...\ntest_thing.a: Import prepared!\n  Prepared test_thing for import\ntest_thing.a: Refreshing state..."
    );
    assert!(imported.stdout.starts_with(&told), "{}", imported.stdout);
    estate.configure(whole);
    estate.assert_settled();
    estate.succeed(&["state", "rm", "test_thing.a"]);
    estate
        .run(&["import", "test_thing.a", "no-such-thing"])
        .assert_failed(&["There is no test_thing with id \"no-such-thing\""]);
    assert!(estate.recorded().is_empty());
}

#[test]
fn what_a_killed_apply_had_in_flight_is_left_to_an_apply() {
    let estate = Estate::new(&two_things(1, 1, 0));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.configure(&two_things(2, 1, 0));
    let calls = estate.calls().iter().filter(|call| call.phase != "started").count();
    let number = (calls + 1).to_string();
    let mut killed = false;
    for more in 0..20 {
        let number = (number.parse::<usize>().unwrap() + more).to_string();
        let copy = estate.copy();
        let ran = copy
            .run_with(&["apply", "-auto-approve"], &[("TEST_PROVIDER_KILL_PARENT_AFTER", &number)]);
        let in_flight = copy.position("update", "first", "started").is_some();
        if !ran.was_killed() || !in_flight {
            continue;
        }
        killed = true;
        copy.run(&["taint", "test_thing.first"]).assert_failed(&["plumb apply"]);
        copy.succeed(&["apply", "-auto-approve"]);
        copy.succeed(&["taint", "test_thing.first"]);
        break;
    }
    assert!(killed);
}
