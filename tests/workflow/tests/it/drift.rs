//! The stage that compares the world with what a plan saw of it.

use crate::estate::{Estate, Ran, THING};
use serde_json::{Value, json};

const SERVICE: &str = r#"
variable "size" {
  type    = number
  default = 1
}

variable "secret" {
  default = "first"
}

resource "test_thing" "network" {
  name   = "network"
  size   = 1
  secret = "hidden"
  tags = {
    team = "a"
    env  = "b"
  }
}

resource "test_thing" "server" {
  name     = "server"
  size     = var.size
  secret   = var.secret
  password = "never kept"
  tags = {
    network = test_thing.network.id
    team    = test_thing.network.tags.team
  }

  lifecycle {
    ignore_changes = [kind]
  }
}
"#;

fn planned() -> Estate {
    let estate = Estate::new(SERVICE);
    estate.succeed(&["apply", "-auto-approve"]);
    estate.succeed(&["plan", "-var=size=2", "-out=plan.bin"]);
    estate
}

fn validate(estate: &Estate, more: &[&str]) -> Ran {
    let command = ["validate", "-json", "-verdict-exitcode", "-plan=plan.bin"];
    estate.run(&[&command, more].concat())
}

fn resources(ran: &Ran) -> Vec<Value> {
    let verdicts = ran.json()["verdicts"].as_array().unwrap().clone();
    verdicts.into_iter().filter(|verdict| verdict["stage"] == "resources").collect()
}

#[track_caller]
fn assert_drifted(ran: &Ran, address: &str, path: &str) -> Value {
    assert_eq!(ran.status.code(), Some(4), "{}", ran.said());
    assert_eq!(ran.json()["code"], "drifted");
    let verdicts = resources(ran);
    let found = verdicts.iter().find(|v| v["outcome"] == "reject").unwrap().clone();
    assert_eq!(found["address"], address, "{found:#}");
    assert_eq!(found["path"].as_str().unwrap_or_default(), path, "{found:#}");
    found
}

#[track_caller]
fn assert_holds(ran: &Ran) {
    assert_eq!(ran.status.code(), Some(0), "{}", ran.said());
}

#[test]
fn a_world_that_holds_still_never_drifts() {
    let estate = planned();
    for _ in 0..5 {
        assert_holds(&validate(&estate, &[]));
    }
}

#[test]
fn of_what_is_changed_all_is_compared_and_of_what_is_read_what_was_looked_at() {
    let estate = planned();
    estate.drift("network", "size", json!(9));
    assert_holds(&validate(&estate, &[]));
    estate.drift("network", "tags", json!({"team": "a", "env": "other"}));
    assert_holds(&validate(&estate, &[]));
    estate.drift("network", "tags", json!({"team": "other", "env": "b"}));
    let found = assert_drifted(&validate(&estate, &[]), "test_thing.network", ".tags[\"team\"]");
    assert_eq!((&found["planned"], &found["actual"]), (&json!("\"a\""), &json!("\"other\"")));
    estate.drift("network", "tags", json!({"team": "a", "env": "b"}));
    estate.drift("server", "zone", json!("zone-z"));
    assert_drifted(&validate(&estate, &[]), "test_thing.server", ".zone");
}

#[test]
fn ignored_attributes_are_left_out_and_sensitive_ones_masked() {
    let estate = planned();
    estate.drift("server", "kind", json!("other"));
    assert_holds(&validate(&estate, &[]));
    estate.drift("server", "secret", json!("s3cret"));
    let ran = validate(&estate, &[]);
    let found = assert_drifted(&ran, "test_thing.server", ".secret");
    assert_eq!(found["actual"], "(sensitive value)");
    assert!(!ran.said().contains("s3cret") && !ran.said().contains("first"), "{}", ran.said());
    let refused = estate.run(&["apply", "plan.bin"]);
    refused.assert_failed(&["test_thing.server", ".secret"]);
    assert!(!refused.said().contains("s3cret"), "{}", refused.said());
}

#[test]
fn a_computed_attribute_that_is_filled_in_is_reported() {
    let estate = Estate::new(SERVICE);
    estate.succeed(&["apply", "-auto-approve"]);
    estate.drift("server", "zone", json!(null));
    estate.drift("network", "zone", json!(null));
    estate.succeed(&["apply", "-auto-approve"]);
    estate.succeed(&["plan", "-var=size=2", "-out=plan.bin"]);
    estate.drift("server", "zone", json!("zone-late"));
    let ran = validate(&estate, &[]);
    assert_holds(&ran);
    let found = resources(&ran);
    assert_eq!((&found[0]["outcome"], &found[0]["path"]), (&json!("warn"), &json!(".zone")));
}

#[test]
fn what_is_gone_and_what_cannot_be_read() {
    let estate = planned();
    let id = estate.thing("network")["id"].as_str().unwrap().to_owned();
    let file = estate.world().file(THING, &id);
    let content = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let gone = assert_drifted(&validate(&estate, &[]), "test_thing.network", "");
    assert!(gone["message"].as_str().unwrap().contains("is gone"));
    std::fs::write(&file, content).unwrap();
    let id = estate.thing("server")["id"].as_str().unwrap().to_owned();
    std::fs::write(estate.world().file(THING, &id), "nonsense").unwrap();
    let unread = assert_drifted(&validate(&estate, &[]), "test_thing.server", "");
    assert!(unread["message"].as_str().unwrap().contains("could not be read again"));
    // What nobody saw is not for anybody to accept.
    let waived = validate(&estate, &["-accept-drift=test_thing.server"]);
    assert_drifted(&waived, "test_thing.server", "");
}

#[test]
fn a_person_may_accept_one_finding_and_is_named() {
    let estate = planned();
    estate.drift("server", "zone", json!("zone-z"));
    estate.drift("server", "size", json!(7));
    let one = validate(&estate, &["-accept-drift=test_thing.server.zone"]);
    assert_drifted(&one, "test_thing.server", ".size");
    let both = ["-accept-drift=test_thing.server.zone", "-accept-drift=test_thing.server.size"];
    let accepted = validate(&estate, &both);
    assert_holds(&accepted);
    let named = resources(&accepted);
    let named = named.iter().filter(|verdict| verdict["waived_by"].is_string());
    assert_eq!(named.count(), 2);
    let apply = ["apply", both[0], both[1], "plan.bin"];
    estate.succeed(&apply);
    assert_eq!(estate.thing("server")["size"], json!(2));
}

#[test]
fn an_object_that_nobody_saw_is_never_deleted() {
    let estate = Estate::new(SERVICE);
    estate.succeed(&["apply", "-auto-approve"]);
    let id = estate.thing("server")["id"].as_str().unwrap().to_owned();
    let file = estate.world().file(THING, &id);
    let content = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    estate.succeed(&["plan", "-destroy", "-out=plan.bin"]);
    std::fs::write(&file, content).unwrap();
    let waiver = "-accept-drift=test_thing.server";
    let validated = validate(&estate, &[waiver]);
    let code = validated.status.code();
    let applied = estate.run(&["apply", waiver, "plan.bin"]);
    // Its record goes with the plan where nothing was seen; the object itself is left alone.
    assert!(estate.names().contains(&"server".to_owned()), "{code:?} {}", applied.said());
}

#[test]
fn values_that_were_recorded_are_not_compared_with_values_that_were_read() {
    let estate = Estate::new(SERVICE);
    estate.succeed(&["apply", "-auto-approve"]);
    estate.drift("server", "zone", json!("zone-z"));
    estate.succeed(&["plan", "-refresh=false", "-var=size=2", "-out=plan.bin"]);
    let ran = validate(&estate, &[]);
    assert_holds(&ran);
    assert!(ran.said().contains("without a look at the world"), "{}", ran.said());
}

#[test]
fn a_token_for_a_provider_is_read_again_and_not_compared() {
    let estate = Estate::new(
        r#"
variable "size" {
  default = 1
}

data "test_thing" "token" {
  name = test_thing.token.name
}

resource "test_thing" "token" {
  name = "token"
  size = 1
}

provider "test" {
  alias = "tokened"
  world = data.test_thing.token.size > 0 ? "world" : "elsewhere"
}

resource "test_thing" "server" {
  provider = test.tokened
  name     = "server"
  size     = var.size
}
"#,
    );
    estate.succeed(&["apply", "-auto-approve", "-target=test_thing.token"]);
    estate.succeed(&["apply", "-auto-approve"]);
    estate.succeed(&["plan", "-var=size=2", "-out=plan.bin"]);
    let reads = estate.succeed(&["show", "-reads", "plan.bin"]).stdout;
    assert!(reads.contains("evaluated again"), "{reads}");
    estate.drift("token", "size", json!(5));
    assert_holds(&validate(&estate, &[]));
}
