//! Replacing in both orders, and when the second half fails.

use crate::estate::Estate;
use serde_json::json;

fn thing(kind: &str, create_first: bool, more: &str) -> String {
    format!(
        r#"
resource "test_thing" "one" {{
  name = "one"
  kind = "{kind}"
{more}
  lifecycle {{
    create_before_destroy = {create_first}
  }}
}}

resource "test_thing" "user" {{
  name = "user"
  tags = {{
    uses = test_thing.one.id
  }}
}}
"#
    )
}

fn applied(create_first: bool) -> Estate {
    let estate = Estate::new(&thing("old", create_first, ""));
    estate.succeed(&["apply", "-auto-approve"]);
    estate
}

/// Where in the log the last call of a kind for the thing began and ended.
fn last(estate: &Estate, call: &str, object: &str) -> (usize, usize) {
    let calls = estate.calls();
    let position = |phase: &str| {
        let found = calls.iter().rposition(|logged| {
            logged.call == call && logged.object.as_deref() == Some(object) && logged.phase == phase
        });
        found.unwrap_or_else(|| panic!("no {call} of {object} {phase}"))
    };
    (position("started"), position("finished"))
}

#[test]
fn the_old_object_goes_first() {
    let estate = applied(false);
    estate.configure(&thing("new", false, ""));
    let planned = estate.succeed(&["plan", "-out=plan.bin"]);
    assert!(planned.stdout.contains("must be replaced"), "{}", planned.stdout);
    assert!(planned.flat().contains("forces replacement"), "{}", planned.said());
    estate.succeed(&["apply", "plan.bin"]);
    assert_eq!(estate.thing("one")["kind"], "new");
    let (delete, create) = (last(&estate, "delete", "one"), last(&estate, "create", "one"));
    let update = last(&estate, "update", "user");
    assert!(delete.1 < create.0 && create.1 < update.0);
    assert_eq!(estate.thing("user")["tags"]["uses"], estate.thing("one")["id"]);
    estate.assert_settled();
}

#[test]
fn the_new_object_comes_first_where_the_configuration_says_so() {
    let estate = applied(true);
    estate.configure(&thing("new", true, ""));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.thing("one")["kind"], "new");
    let (delete, create) = (last(&estate, "delete", "one"), last(&estate, "create", "one"));
    let update = last(&estate, "update", "user");
    assert!(create.1 < update.0 && update.1 < delete.0, "users move before the old object goes");
    estate.assert_settled();
}

#[test]
fn a_failed_replacement_that_creates_first_keeps_the_old_object() {
    let estate = applied(true);
    let old = estate.thing("one")["id"].clone();
    estate.configure(&thing("new", true, "  fail_on = \"create\""));
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["The world refuses to create it"]);
    assert_eq!(estate.thing("one")["id"], old);
    let shown = estate.shown();
    let one = shown.iter().find(|resource| resource["name"] == "one").unwrap();
    assert_eq!((&one["values"]["id"], one.get("deposed_key")), (&old, None), "{one}");
    assert_eq!(estate.thing("user")["tags"]["uses"], old);
    // Who no longer wants the change has nothing to do.
    estate.configure(&thing("old", true, ""));
    estate.assert_settled();
}

#[test]
fn an_old_object_that_could_not_be_deleted_is_deposed_and_deleted_next_time() {
    let estate = applied(true);
    estate.drift("one", "fail_on", json!("delete"));
    let old = estate.thing("one")["id"].clone();
    estate.configure(&thing("new", true, ""));
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["The world refuses to delete it"]);
    assert_eq!(estate.names(), ["one", "one", "user"]);
    let deposed: Vec<_> =
        estate.shown().into_iter().filter(|r| r.get("deposed_key").is_some()).collect();
    assert_eq!(deposed.len(), 1);
    assert_eq!(deposed[0]["values"]["id"], old);
    let planned = estate.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(planned.status.code(), Some(2), "{}", planned.said());
    assert!(planned.stdout.contains("0 to add, 0 to change, 1 to destroy"), "{}", planned.stdout);

    let file = estate.world().file(crate::estate::THING, old.as_str().unwrap());
    let mut thing: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    thing["fail_on"] = json!(null);
    std::fs::write(file, thing.to_string()).unwrap();
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.names(), ["one", "user"]);
    assert_eq!(estate.thing("one")["kind"], "new");
    estate.assert_settled();
}

#[test]
fn a_failed_replacement_that_deletes_first_creates_next_time() {
    let estate = applied(false);
    estate.configure(&thing("new", false, "  fail_on = \"create\""));
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["The world refuses to create it"]);
    assert_eq!(estate.names(), ["user"]);
    assert_eq!(estate.recorded(), ["test_thing.user".to_owned()].into());
    estate.configure(&thing("new", false, ""));
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.names(), ["one", "user"]);
    estate.assert_settled();
}
