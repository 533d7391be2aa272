//! Plan, look, validate, apply, and what happens when the world or the records moved meanwhile.

use crate::estate::{Estate, THING};
use crate::programs;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const SERVICE: &str = r#"
variable "size" {
  type    = number
  default = 1
}

resource "test_thing" "network" {
  name = "network"
}

resource "test_thing" "server" {
  name = "server"
  size = var.size
  tags = {
    network = test_thing.network.id
  }
}

output "zone" {
  value = test_thing.server.zone
}
"#;

fn applied() -> Estate {
    let estate = Estate::new(SERVICE);
    estate.succeed(&["apply", "-auto-approve"]);
    estate
}

/// Installed from a mirror and locked, as users have it.
#[test]
fn from_an_empty_directory_to_applied_infrastructure() {
    let estate = Estate::new(SERVICE);
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let package = format!(
        "mirror/registry.terraform.io/plumbline/test/1.0.0/{}_{architecture}",
        std::env::consts::OS
    );
    let package = estate.path().join(package);
    std::fs::create_dir_all(&package).unwrap();
    std::fs::copy(programs::provider(), package.join("terraform-provider-test_v1.0.0")).unwrap();
    let mirror = estate.path().join("mirror");
    estate.write(
        "cli.tfrc",
        &format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
        ),
    );
    estate.run(&["plan"]).assert_failed(&["plumb init"]);
    estate.succeed(&["init"]);
    let lock = std::fs::read_to_string(estate.path().join(".terraform.lock.hcl")).unwrap();
    assert!(lock.contains("registry.terraform.io/plumbline/test"), "{lock}");

    let planned = estate.run(&["plan", "-out=plan.bin", "-detailed-exitcode"]);
    assert_eq!(planned.status.code(), Some(2), "{}", planned.said());
    assert!(planned.stdout.contains("Plan: 2 to add, 0 to change, 0 to destroy."));
    let shown = estate.succeed(&["show", "-json", "plan.bin"]).json();
    let changes = shown["resource_changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2);
    assert!(changes.iter().all(|change| change["change"]["actions"] == json!(["create"])));
    let validated = estate.succeed(&["validate", "-json", "-plan=plan.bin"]).json();
    assert_eq!(validated["result"], "pass", "{validated}");
    assert!(estate.things().is_empty(), "nothing is changed before apply");

    let applied = estate.succeed(&["apply", "plan.bin"]);
    assert!(applied.stdout.contains("Apply complete! Resources: 2 added, 0 changed, 0 destroyed."));
    assert_eq!(estate.thing("server")["tags"]["network"], estate.thing("network")["id"]);
    estate.assert_settled();
    assert_eq!(estate.succeed(&["output", "-raw", "zone"]).stdout, "zone-a");
    estate.assert_no_process_is_left();
}

#[test]
fn a_provider_of_protocol_5_does_the_same() {
    let estate = Estate::new(SERVICE);
    let protocol = [("TEST_PROVIDER_PROTOCOL", "5")];
    for (arguments, code) in [
        (&["apply", "-auto-approve"][..], 0),
        (&["plan", "-detailed-exitcode"], 0),
        (&["plan", "-var=size=2", "-out=plan.bin", "-detailed-exitcode"], 2),
        (&["apply", "plan.bin"], 0),
    ] {
        let ran = estate.run_with(arguments, &protocol);
        assert_eq!(ran.status.code(), Some(code), "{arguments:?}\n{}", ran.said());
    }
    assert_eq!(estate.thing("server")["size"], json!(2));
    let destroyed = estate.run_with(&["destroy", "-auto-approve"], &protocol);
    assert!(destroyed.status.success(), "{}", destroyed.said());
    assert!(estate.things().is_empty());
}

/// As whoever writes a provider has it in a debugger.
#[test]
fn a_provider_that_runs_already_needs_no_installation() {
    let estate = Estate::new(SERVICE);
    let mut provider = Command::new(programs::provider())
        .current_dir(estate.path())
        .env(
            "TF_PLUGIN_MAGIC_COOKIE",
            "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        )
        .env_remove("PLUGIN_CLIENT_CERT")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(provider.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let fields: Vec<&str> = line.trim().split('|').collect();
    let said = json!({"plumbline/test": {
        "Protocol": "grpc", "ProtocolVersion": 6, "Pid": provider.id(), "Test": true,
        "Addr": {"Network": fields[2], "String": fields[3]},
    }});
    let said = said.to_string();
    let environment = [("TF_REATTACH_PROVIDERS", &*said), ("TF_CLI_CONFIG_FILE", "/dev/null")];
    let initialised = estate.run_with(&["init"], &environment);
    assert!(initialised.stdout.contains("plumbline/test runs already"), "{}", initialised.said());
    assert!(!estate.path().join(".terraform/providers").exists());
    // It configures itself once, so that it makes one plan.
    for arguments in [&["validate"][..], &["plan"]] {
        let ran = estate.run_with(arguments, &environment);
        assert!(ran.status.success(), "{arguments:?}\n{}", ran.said());
    }
    assert!(provider.try_wait().unwrap().is_none(), "it is its starter's to end");
    provider.kill().unwrap();
    provider.wait().unwrap();
    let refused = estate.run_with(&["plan"], &[("TF_REATTACH_PROVIDERS", "nonsense")]);
    refused.assert_failed(&["TF_REATTACH_PROVIDERS", "Unset it"]);
}

#[test]
fn a_plan_of_a_world_that_moved_is_refused_and_names_the_attribute() {
    let estate = applied();
    estate.succeed(&["plan", "-var=size=2", "-out=plan.bin"]);
    estate.drift("server", "size", json!(64));
    let calls = estate.calls().len();
    estate.run(&["validate", "-plan=plan.bin"]).assert_failed(&["test_thing.server", "size", "64"]);
    let refused = estate.run(&["apply", "plan.bin"]);
    refused.assert_failed(&["test_thing.server", "size", "64", "Nothing was changed"]);
    let since = &estate.calls()[calls..];
    assert!(since.iter().all(|call| call.call != "update"), "{since:?}");
    assert_eq!(estate.thing("server")["size"], json!(64));
    // It is not accepted later either, when the world is as it was.
    estate.drift("server", "size", json!(1));
    estate.run(&["apply", "plan.bin"]).assert_failed(&["was used already"]);
}

#[test]
fn drift_is_planned_away() {
    let estate = applied();
    estate.drift("server", "size", json!(64));
    let planned = estate.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(planned.status.code(), Some(2), "{}", planned.said());
    assert!(planned.flat().contains("size = 64 -> 1"), "{}", planned.said());
    estate.succeed(&["apply", "-auto-approve"]);
    assert_eq!(estate.thing("server")["size"], json!(1));
    estate.assert_settled();
}

#[test]
fn a_refresh_only_plan_shows_drift_and_takes_it_over() {
    let estate = applied();
    estate.drift("server", "zone", json!("zone-b"));
    let planned = estate.run(&["plan", "-refresh-only", "-detailed-exitcode", "-out=plan.bin"]);
    assert_eq!(planned.status.code(), Some(2), "{}", planned.said());
    assert!(planned.flat().contains("\"zone-a\" -> \"zone-b\""), "{}", planned.said());
    estate.succeed(&["apply", "plan.bin"]);
    assert!(estate.calls().iter().all(|call| call.call != "update"));
    assert_eq!(estate.succeed(&["output", "-raw", "zone"]).stdout, "zone-b");
    let shown = estate.shown();
    let server = shown.iter().find(|resource| resource["name"] == "server").unwrap();
    assert_eq!(server["values"]["zone"], "zone-b");
    let again = estate.run(&["plan", "-refresh-only", "-detailed-exitcode"]);
    assert_eq!(again.status.code(), Some(0), "{}", again.said());
}

#[test]
fn what_was_deleted_behind_our_back_is_created_again() {
    let estate = applied();
    let id = estate.thing("server")["id"].as_str().unwrap().to_owned();
    std::fs::remove_file(estate.world().file(THING, &id)).unwrap();
    assert_eq!(estate.planned(), [("test_thing.server".to_owned(), "create".to_owned())].into());
    estate.succeed(&["apply", "-auto-approve"]);
    assert_ne!(estate.thing("server")["id"], json!(id));
    estate.assert_settled();
}

#[test]
fn dependents_are_destroyed_before_what_they_need() {
    let estate = Estate::new(
        r#"
resource "test_thing" "first" {
  name = "first"
}

resource "test_thing" "second" {
  count = 3
  name  = "second-${count.index}"
  tags = {
    after = test_thing.first.id
  }
}

resource "test_thing" "third" {
  name       = "third"
  depends_on = [test_thing.second]
}
"#,
    );
    estate.succeed(&["apply", "-auto-approve"]);
    // The order is the one that was recorded: no configuration says it any more.
    estate.configure("");
    estate.succeed(&["apply", "-auto-approve"]);
    assert!(estate.names().is_empty());
    let at = |name: &str, phase| estate.position("delete", name, phase).unwrap();
    for second in ["second-0", "second-1", "second-2"] {
        assert!(at("third", "finished") < at(second, "started"));
        assert!(at(second, "finished") < at("first", "started"));
    }
}

#[test]
fn destroy_leaves_nothing() {
    let estate = applied();
    let destroyed = estate.succeed(&["destroy", "-auto-approve"]);
    assert!(destroyed.stdout.contains("Destroy complete! Resources: 2 destroyed."));
    assert!(estate.things().is_empty());
    assert!(estate.recorded().is_empty());
    let at = |name: &str, phase| estate.position("delete", name, phase).unwrap();
    assert!(at("server", "finished") < at("network", "started"));
    let planned = estate.run(&["plan", "-destroy", "-detailed-exitcode"]);
    assert_eq!(planned.status.code(), Some(0), "{}", planned.said());
}
