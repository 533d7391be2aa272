//! Moving an estate to another store.

use crate::scene::Scene;

const MAIN: &str = r#"
resource "terraform_data" "a" {
  input = "kept"
}
output "a" {
  value = terraform_data.a.output
}
"#;

const TEAM: &str = r#"
[store.dir]
path = "records"

[estates.production]
directory = "."
"#;

#[test]
fn an_estate_moves_and_nothing_is_planned_in_the_old_place() {
    let scene = Scene::new(&[("main.tf", MAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.succeed(&["plan", "-destroy", "-out=plan.bin"]);
    scene.write("plumb.toml", TEAM.as_bytes());
    let moved = scene.succeed(&["migrate-store", "-from=.plumb"]);
    assert!(moved.stdout.contains("verified 4 records"), "{}", moved.stdout);

    let planned = scene.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(planned.code, 0, "{}\n{}", planned.stdout, planned.stderr);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "kept");
    // Twice is once.
    let again = scene.succeed(&["migrate-store", "-from=.plumb"]);
    assert!(again.stdout.contains("already"), "{}", again.stdout);

    std::fs::remove_file(scene.path().join("plumb.toml")).unwrap();
    scene.run(&["plan"]).assert_refused("sealed");
    scene.run(&["apply", "plan.bin"]).assert_refused("records were moved to");
}

#[test]
fn a_store_can_be_named_by_the_file_that_named_it() {
    let scene = Scene::new(&[("main.tf", MAIN), ("plumb.toml", TEAM)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("old.toml", TEAM.as_bytes());
    scene.write("plumb.toml", TEAM.replace("records", "elsewhere").as_bytes());
    scene.succeed(&["migrate-store", "-from=old.toml"]);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "kept");
    scene.run(&["migrate-store", "-from=plumb.toml"]).assert_refused("where plumb.toml says");
}

#[test]
fn what_is_not_there_or_occupied_is_refused() {
    let scene = Scene::new(&[("main.tf", MAIN), ("plumb.toml", TEAM)]);
    scene.run(&["migrate-store"]).assert_refused("-from=.plumb");
    scene.run(&["migrate-store", "-from=.plumb"]).assert_refused("none at .plumb");
    scene.succeed(&["apply", "-auto-approve"]);
    let other = Scene::new(&[("main.tf", MAIN)]);
    other.succeed(&["apply", "-auto-approve"]);
    let from = format!("-from={}", other.path().join(".plumb").display());
    scene.run(&["migrate-store", &from]).assert_refused("holds an estate");
    assert_eq!(other.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn a_store_is_not_copied_onto_itself_however_it_is_written() {
    let scene = Scene::new(&[("main.tf", MAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    std::os::unix::fs::symlink(".plumb", scene.path().join("link")).unwrap();
    for from in ["-from=.plumb", "-from=link"] {
        scene.run(&["migrate-store", from]).assert_refused("where plumb.toml says");
        scene.run(&["migrate-store", "-abandon", from]).assert_refused("where plumb.toml says");
    }
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn the_records_of_the_selected_workspace_are_copied_and_no_others() {
    let scene = Scene::new(&[("main.tf", MAIN)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.succeed(&["workspace", "new", "dev"]);
    scene.write("main.tf", MAIN.replace("kept", "developed").as_bytes());
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("plumb.toml", TEAM.as_bytes());

    scene.succeed(&["migrate-store", "-from=.plumb"]);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "developed");
    scene.succeed(&["workspace", "select", "default"]);
    scene.succeed(&["migrate-store", "-from=.plumb"]);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "kept");
    let workspaces = scene.succeed(&["workspace", "list"]).stdout;
    assert!(workspaces.contains("dev"), "{workspaces}");
}
