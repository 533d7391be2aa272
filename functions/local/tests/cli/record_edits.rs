//! Records moved, forgotten, marked and imported by hand.

use crate::scene::{Ran, Scene};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const MAIN: &str = r#"
resource "terraform_data" "alone" {
  input = "one"
}
resource "terraform_data" "counted" {
  count = 2
  input = terraform_data.alone.output
}
module "child" {
  source = "./child"
}
"#;

const CHILD: &str = r#"
resource "terraform_data" "inner" {
  for_each = toset(["a", "b"])
  input    = each.key
}
resource "terraform_data" "outer" {
  input = [for inner in terraform_data.inner : inner.output]
}
"#;

fn applied() -> Scene {
    let scene = Scene::new(&[("main.tf", MAIN), ("child/main.tf", CHILD)]);
    scene.succeed(&["init"]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene
}

fn listed(scene: &Scene) -> BTreeSet<String> {
    scene.succeed(&["state", "list"]).stdout.lines().map(str::to_owned).collect()
}

/// Each object of the state, by its identifier.
fn objects(scene: &Scene) -> Vec<(String, Value)> {
    let state = scene.succeed(&["state", "pull"]).json();
    let mut objects = Vec::new();
    for resource in state["resources"].as_array().unwrap() {
        for instance in resource["instances"].as_array().unwrap() {
            let module = resource["module"].as_str().unwrap_or_default();
            let id = instance["attributes"]["id"].as_str().unwrap().to_owned();
            let name = resource["name"].as_str().unwrap();
            let key = &instance["index_key"];
            objects.push((id, json!([module, name, key])));
        }
    }
    objects.sort_by(|a, b| a.0.cmp(&b.0));
    objects
}

fn ids(scene: &Scene) -> Vec<String> {
    objects(scene).into_iter().map(|(id, _)| id).collect()
}

/// The same records in another place.
fn copy(scene: &Scene) -> Scene {
    let copied = Scene::new(&[]);
    let from = format!("{}/.", scene.path().display());
    let done = std::process::Command::new("cp").args(["-a", &from]).arg(copied.path()).status();
    assert!(done.unwrap().success());
    copied
}

fn plans_nothing(scene: &Scene) {
    let plan = scene.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(plan.code, 0, "{}\n{}", plan.stdout, plan.stderr);
}

/// That a plan from before is refused as stale, and names the record.
#[track_caller]
fn assert_stale(ran: &Ran, address: &str) {
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(address), "{}", ran.stderr);
}

#[test]
fn an_instance_moves_and_its_object_with_it() {
    let scene = applied();
    let before = objects(&scene);
    let dry =
        scene.succeed(&["state", "mv", "-dry-run", "terraform_data.alone", "terraform_data.other"]);
    assert_eq!(dry.stdout, "Would move \"terraform_data.alone\" to \"terraform_data.other\"\n");
    assert_eq!(objects(&scene), before);
    let moved = scene.succeed(&["state", "mv", "terraform_data.alone", "terraform_data.other"]);
    assert_eq!(
        moved.stdout,
        "Move \"terraform_data.alone\" to \"terraform_data.other\"\nSuccessfully moved 1 object(s).\n"
    );
    scene.write("main.tf", MAIN.replace("alone", "other").as_bytes());
    plans_nothing(&scene);
    assert_eq!(ids(&scene), before.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>());
    // What referred to it refers to it still, so that it is destroyed first.
    let state = scene.succeed(&["state", "pull"]).json();
    let resources = state["resources"].as_array().unwrap();
    let counted = resources.iter().find(|r| r["name"] == "counted").unwrap();
    assert_eq!(counted["instances"][0]["dependencies"], json!(["terraform_data.other"]));
    let runs = scene.succeed(&["runs", "list", "-json"]).json();
    let entries =
        |run: &Value| run["attempts"][0]["entries"].as_array().cloned().unwrap_or_default();
    let moves = |run: &&Value| entries(run).iter().any(|e| e["action"] == json!(["move"]));
    let moved: Vec<&Value> = runs["runs"].as_array().unwrap().iter().filter(moves).collect();
    assert_eq!((moved.len(), entries(moved[0]).len()), (1, 2), "{runs:#}");
}

#[test]
fn a_resource_and_a_module_move_as_a_whole() {
    let scene = applied();
    let before = ids(&scene);
    scene.succeed(&["state", "mv", "terraform_data.counted", "terraform_data.many"]);
    let moved = scene.succeed(&["state", "mv", "module.child", "module.kid"]);
    assert!(
        moved.stdout.starts_with("Move \"module.child\" to \"module.kid\"\n"),
        "{}",
        moved.stdout
    );
    scene.write(
        "main.tf",
        MAIN.replace("\"counted\"", "\"many\"").replace("\"child\" {", "\"kid\" {").as_bytes(),
    );
    scene.succeed(&["init"]);
    plans_nothing(&scene);
    assert_eq!(ids(&scene), before);
}

#[test]
fn what_cannot_be_moved_is_refused_and_nothing_is_changed() {
    let scene = applied();
    let before = objects(&scene);
    for (from, to, says) in [
        ("terraform_data.none", "terraform_data.x", "does not match anything in the current state"),
        ("terraform_data.alone[1]", "terraform_data.x", "does not contain terraform_data.alone[1]"),
        ("terraform_data.alone", "terraform_data.counted[0]", "already a resource instance"),
        ("terraform_data.counted", "terraform_data.alone", "already a resource at that address"),
        ("terraform_data.counted", "terraform_data.x[0]", "must also be a whole resource"),
        ("terraform_data.alone", "null_resource.x", "resource types don't match"),
        ("terraform_data.alone", "data.terraform_data.x", "only to another managed resource"),
        ("terraform_data.alone", "module.x", "must also be a resource instance"),
        ("module.child", "terraform_data.x", "must also be a module"),
        ("module.child", "module.child", "destination module already exists"),
        ("module.none", "module.x", "does not match anything"),
        ("terraform_data", "module.x", "Invalid address"),
    ] {
        scene.run(&["state", "mv", from, to]).assert_refused(says);
    }
    scene.run(&["state", "mv", "terraform_data.alone"]).assert_refused("Exactly two arguments");
    assert_eq!(objects(&scene), before);
}

#[test]
fn forgotten_records_leave_their_objects() {
    let scene = applied();
    let dry = scene.succeed(&["state", "rm", "-dry-run", "module.child"]);
    assert_eq!(dry.stdout.lines().count(), 3, "{}", dry.stdout);
    let removed = scene.succeed(&[
        "state",
        "rm",
        "-backup=kept.tfstate",
        "module.child",
        "terraform_data.counted[1]",
    ]);
    assert_eq!(
        removed.stdout,
        "Removed module.child.terraform_data.inner[\"a\"]\nRemoved module.child.terraform_data.inner[\"b\"]\nRemoved module.child.terraform_data.outer\nRemoved terraform_data.counted[1]\nSuccessfully removed 4 resource instance(s).\n"
    );
    let left =
        BTreeSet::from(["terraform_data.alone", "terraform_data.counted[0]"].map(str::to_owned));
    assert_eq!(listed(&scene), left);
    let kept: Value = serde_json::from_slice(&scene.read("kept.tfstate")).unwrap();
    assert_eq!(kept["resources"].as_array().unwrap().len(), 4);
    scene.run(&["state", "rm", "module.child"]).assert_refused("No matching objects found");
    let plan = scene.run(&["plan"]);
    assert!(plan.stdout.contains("Plan: 4 to add, 0 to change, 0 to destroy."), "{}", plan.stdout);
}

#[test]
fn a_tainted_instance_is_replaced_unless_that_is_taken_back() {
    let scene = applied();
    let tainted = scene.succeed(&["taint", "terraform_data.alone"]);
    assert_eq!(
        tainted.stdout,
        "Resource instance terraform_data.alone has been marked as tainted.\n"
    );
    scene.succeed(&["taint", "terraform_data.alone"]);
    let plan = scene.run(&["plan"]);
    assert!(plan.stdout.contains("terraform_data.alone is tainted"), "{}", plan.stdout);
    let untainted = scene.succeed(&["untaint", "terraform_data.alone"]);
    assert!(untainted.stdout.contains("has been successfully untainted"), "{}", untainted.stdout);
    plans_nothing(&scene);
    scene.run(&["untaint", "terraform_data.alone"]).assert_refused("not currently tainted");
    scene.run(&["taint", "terraform_data.none"]).assert_refused("No such resource instance");
    let missing = scene.succeed(&["taint", "-allow-missing", "terraform_data.none"]);
    assert!(missing.stdout.contains("-allow-missing was set"), "{}", missing.stdout);
    scene.run(&["taint", "data.terraform_data.x"]).assert_refused("cannot be tainted");
}

#[test]
fn plans_from_before_an_edit_of_what_they_change_or_read_are_stale() {
    let changed = MAIN.replace("\"one\"", "\"two\"");
    for (edit, address) in [
        (
            &["state", "mv", "terraform_data.alone", "terraform_data.other"][..],
            "terraform_data.alone",
        ),
        (&["state", "rm", "terraform_data.counted"], "terraform_data.counted[0]"),
        (&["taint", "terraform_data.alone"], "terraform_data.alone"),
    ] {
        let scene = applied();
        scene.write("main.tf", changed.as_bytes());
        scene.succeed(&["plan", "-out=plan.bin"]);
        scene.succeed(edit);
        let refused = scene.run(&["apply", "-verdict-exitcode", "plan.bin"]);
        assert_stale(&refused, address);
    }
    // What the plan has nothing to do with moves as it likes.
    let scene = applied();
    scene.write("main.tf", changed.as_bytes());
    scene.succeed(&["plan", "-out=plan.bin"]);
    scene.succeed(&["taint", "module.child.terraform_data.outer"]);
    scene.succeed(&["apply", "plan.bin"]);
}

#[test]
fn a_move_that_is_killed_anywhere_loses_nothing_and_goes_on() {
    let settled = applied();
    let before = ids(&settled);
    let moved = MAIN.replace("\"child\" {", "\"kid\" {");
    for last in 1.. {
        let scene = copy(&settled);
        let kill = [("PLUMB_TEST_KILL_AFTER_WRITE", &*last.to_string())];
        let ran = scene.run_with(&["state", "mv", "module.child", "module.kid"], &kill, "");
        // Every object is at one of its two addresses, once.
        assert_eq!(ids(&scene), before, "{last}");
        if ran.code == 0 {
            assert!(last > 10, "{last}");
            break;
        }
        assert_eq!(ran.code, -1, "{last}: {}\n{}", ran.stdout, ran.stderr);
        let again = scene.run(&["state", "mv", "module.child", "module.kid"]);
        let nothing_left = again.stderr.contains("does not match anything");
        assert!(again.code == 0 || nothing_left, "{last}: {}\n{}", again.stdout, again.stderr);
        scene.write("main.tf", moved.as_bytes());
        scene.succeed(&["init"]);
        plans_nothing(&scene);
        assert_eq!(ids(&scene), before, "{last}");
    }
}

#[test]
fn other_edits_that_are_killed_anywhere_can_be_made_again() {
    let settled = applied();
    for edit in [
        &["state", "rm", "module.child"][..],
        &["taint", "terraform_data.alone"],
        &[
            "state",
            "replace-provider",
            "-auto-approve",
            "terraform.io/builtin/terraform",
            "acme/data",
        ],
    ] {
        let whole = copy(&settled);
        whole.succeed(edit);
        for last in 1.. {
            let scene = copy(&settled);
            let kill = [("PLUMB_TEST_KILL_AFTER_WRITE", &*last.to_string())];
            let ran = scene.run_with(edit, &kill, "");
            if ran.code == 0 {
                break;
            }
            assert_eq!(ran.code, -1, "{edit:?} {last}: {}\n{}", ran.stdout, ran.stderr);
            let again = scene.run(edit);
            let done = again.stderr.contains("No matching objects found");
            assert!(again.code == 0 || done, "{edit:?} {last}: {}", again.stderr);
            let resources =
                |scene: &Scene| scene.succeed(&["state", "pull"]).json()["resources"].clone();
            assert_eq!(resources(&scene), resources(&whole), "{edit:?} {last}");
        }
    }
}

#[test]
fn a_provider_is_replaced_in_all_records() {
    let scene = applied();
    let replace = ["state", "replace-provider", "terraform.io/builtin/terraform", "acme/data"];
    let asked = scene.run_with(&replace, &[], "no\n");
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    assert!(asked.stdout.contains("Cancelled replacing providers."), "{}", asked.stdout);
    let replaced = scene.run_with(&replace, &[], "yes\n");
    assert!(
        replaced.stdout.contains("Successfully replaced provider for 4 resources."),
        "{}",
        replaced.stdout
    );
    let state = scene.succeed(&["state", "pull"]).json();
    for resource in state["resources"].as_array().unwrap() {
        let provider = resource["provider"].as_str().unwrap();
        assert!(provider.ends_with("provider[\"registry.terraform.io/acme/data\"]"), "{provider}");
    }
    assert_eq!(scene.succeed(&replace).stdout, "No matching resources found.\n");
    scene
        .run(&["state", "replace-provider", "a/b/c/d", "x"])
        .assert_refused("Invalid \"from\" provider");
}

#[test]
fn an_object_is_imported_and_a_plan_from_before_is_stale() {
    let scene = applied();
    let more = format!("{MAIN}\nresource \"terraform_data\" \"found\" {{}}\n");
    scene.write("main.tf", more.as_bytes());
    scene.succeed(&["plan", "-out=plan.bin"]);
    let imported = scene.succeed(&["import", "terraform_data.found", "an-id"]);
    assert!(imported.stdout.contains("terraform_data.found: Importing from ID \"an-id\"..."));
    assert!(imported.stdout.contains("Import successful!"), "{}", imported.stdout);
    plans_nothing(&scene);
    assert_stale(&scene.run(&["apply", "-verdict-exitcode", "plan.bin"]), "terraform_data.found");
    scene.run(&["import", "terraform_data.found", "x"]).assert_refused("already managing");
    scene
        .run(&["import", "terraform_data.none", "x"])
        .assert_refused("does not exist in the configuration");
    scene
        .run(&["import", "module.none.terraform_data.x", "x"])
        .assert_refused("non-existent module");
    scene
        .run(&["import", "data.terraform_data.x", "x"])
        .assert_refused("data resource is not allowed");
    scene.run(&["import", "terraform_data.x"]).assert_refused("expects two arguments");
}

#[test]
fn a_block_need_not_be_right_yet_for_an_import() {
    let scene = applied();
    let more = "resource \"terraform_data\" \"z\" {\n  input = nosuch.thing.at_all\n}\nresource \"terraform_data\" \"y\" {\n  bogus = 1\n}\n";
    scene.write("main.tf", format!("{MAIN}\n{more}").as_bytes());
    scene.succeed(&["import", "-backup=kept.tfstate", "terraform_data.z", "z"]);
    let kept: Value = serde_json::from_slice(&scene.read("kept.tfstate")).unwrap();
    assert!(!kept["resources"].as_array().unwrap().iter().any(|resource| resource["name"] == "z"));
    assert!(listed(&scene).contains("terraform_data.alone"));
    scene.succeed(&["import", "terraform_data.y", "y"]);
    scene.run(&["import", "terraform_data.counted[7]", "x"]).assert_refused(
        "The configuration for the given import terraform_data.counted[7] does not exist",
    );
    assert!(listed(&scene).contains("terraform_data.z"));
}

#[test]
fn addresses_are_listed_by_module_resource_and_identifier() {
    let scene = applied();
    let list = |arguments: &[&str]| {
        let all: Vec<&str> = ["state", "list"].iter().chain(arguments).copied().collect();
        scene.succeed(&all).stdout
    };
    assert_eq!(list(&["module.child"]).lines().count(), 3);
    assert_eq!(list(&["terraform_data.counted"]).lines().count(), 2);
    let (id, _) = objects(&scene).into_iter().find(|(_, at)| at[1] == "alone").unwrap();
    assert_eq!(list(&[&format!("-id={id}")]), "terraform_data.alone\n");
    scene.run(&["state", "list", "module.none"]).assert_refused("Unknown module");
    scene.run(&["state", "list", "terraform_data.none"]).assert_refused("Unknown resource");
}

#[test]
fn refreshing_shows_outputs_alone() {
    let scene = Scene::new(&[(
        "main.tf",
        "resource \"terraform_data\" \"a\" {\n  input = 1\n}\noutput \"o\" {\n  value = terraform_data.a.output\n}\n",
    )]);
    scene.succeed(&["apply", "-auto-approve"]);
    let refreshed = scene.succeed(&["refresh"]);
    assert!(refreshed.stdout.ends_with("\nOutputs:\n\no = 1\n"), "{}", refreshed.stdout);
    assert!(!refreshed.stdout.contains("Apply complete"), "{}", refreshed.stdout);
    scene.run(&["refresh", "x"]).assert_refused("takes no arguments");
}

#[test]
fn nothing_is_edited_where_nothing_is_recorded() {
    let scene = Scene::new(&[("main.tf", MAIN)]);
    for edit in [
        &["state", "mv", "terraform_data.a", "terraform_data.b"][..],
        &["state", "rm", "terraform_data.a"],
        &["state", "list"],
    ] {
        scene.run(edit).assert_refused("No state file was found!");
    }
    scene.run(&["taint", "terraform_data.a"]).assert_refused("no resource instances whatsoever");
    assert!(!scene.path().join(".plumb").exists());
}
