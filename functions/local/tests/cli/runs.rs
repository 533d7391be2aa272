//! Who changed an estate, and when.

use crate::scene::Scene;

const ONE: &str = "resource \"terraform_data\" \"one\" {\n  input = \"hello\"\n}\n";

#[test]
fn runs_say_who_did_what_and_what_came_of_it() {
    let scene = Scene::new(&[("main.tf", ONE)]);
    scene.run(&["runs", "list"]).assert_refused("no records yet");
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("main.tf", b"");
    scene.succeed(&["apply", "-auto-approve"]);
    let runs = scene.succeed(&["runs", "list", "-json"]).json()["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs.iter().all(|run| run["state"] == "done"), "{runs:?}");
    let actions: Vec<_> =
        runs.iter().map(|run| &run["attempts"][0]["entries"][0]["action"][0]).collect();
    assert!(actions.contains(&&"create".into()) && actions.contains(&&"delete".into()), "{runs:?}");
    let listed = scene.succeed(&["runs", "list"]).stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.contains("1 recorded"), "{listed}");
}

#[test]
fn a_run_is_found_by_its_beginning_or_its_plan() {
    let scene = Scene::new(&[("main.tf", ONE)]);
    scene.succeed(&["apply", "-auto-approve"]);
    let run = scene.succeed(&["runs", "list", "-json"]).json()["runs"][0].clone();
    let (name, plan) = (run["run"].as_str().unwrap(), run["plan"].as_str().unwrap());
    assert_eq!(scene.succeed(&["runs", "show", "-json", &name[..12]]).json()["run"], *name);
    let shown = scene.succeed(&["runs", "show", &plan[..12]]).stdout;
    assert!(shown.contains("create") && shown.contains("terraform_data.one: recorded"), "{shown}");
    scene.run(&["runs", "show", "zzz"]).assert_refused("begins with \"zzz\"");
}
