//! Workspaces: estates of one configuration.

use crate::scene::Scene;

const MAIN: &str = r#"
resource "terraform_data" "a" {
  input = terraform.workspace
}
output "a" {
  value = terraform_data.a.output
}
"#;

fn scene() -> Scene {
    Scene::new(&[("main.tf", MAIN)])
}

fn output(scene: &Scene) -> String {
    scene.succeed(&["output", "-raw", "a"]).stdout
}

#[test]
fn each_workspace_has_records_of_its_own() {
    let scene = scene();
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.succeed(&["workspace", "show"]).stdout, "default\n");
    let created = scene.succeed(&["workspace", "new", "dev"]);
    assert!(created.stdout.starts_with("Created and switched to workspace \"dev\"!\n"));
    assert_eq!(scene.succeed(&["workspace", "show"]).stdout, "dev\n");
    assert_eq!(scene.succeed(&["workspace", "list"]).stdout, "  default\n* dev\n\n");
    scene.run(&["state", "list"]).assert_refused("No state file was found!");
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(output(&scene), "dev");
    assert!(scene.path().join(".plumb/records/default..dev/estate.record").is_file());
    let selected = scene.succeed(&["workspace", "select", "default"]);
    assert_eq!(selected.stdout, "Switched to workspace \"default\".\n");
    assert_eq!(output(&scene), "default");
    scene.run(&["workspace", "new", "dev"]).assert_refused("Workspace \"dev\" already exists");
    scene.run(&["workspace", "select", "none"]).assert_refused("Workspace \"none\" doesn't exist.");
    scene.succeed(&["workspace", "select", "-or-create", "more"]);
    assert_eq!(scene.succeed(&["workspace", "list"]).stdout, "  default\n  dev\n* more\n\n");
}

#[test]
fn a_plan_belongs_to_its_workspace() {
    let scene = scene();
    scene.succeed(&["apply", "-auto-approve"]);
    scene.succeed(&["workspace", "new", "dev"]);
    scene.succeed(&["plan", "-out=plan.bin"]);
    scene.succeed(&["workspace", "select", "default"]);
    let refused = scene.run(&["apply", "plan.bin"]);
    assert_eq!(refused.code, 1, "{}", refused.stdout);
    let verdicts = scene.run(&["validate", "-plan=plan.bin"]);
    assert!(verdicts.stdout.contains("default..dev"), "{}", verdicts.stdout);
    scene.succeed(&["workspace", "select", "dev"]);
    scene.succeed(&["apply", "plan.bin"]);
    assert_eq!(output(&scene), "dev");
}

#[test]
fn the_environment_names_a_workspace_whatever_is_selected() {
    let scene = scene();
    let dev = [("TF_WORKSPACE", "dev")];
    let applied = scene.run_with(&["apply", "-auto-approve"], &dev, "");
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    let listed = scene.run_with(&["workspace", "list"], &dev, "");
    assert!(listed.stdout.starts_with("  default\n* dev\n"), "{}", listed.stdout);
    assert!(listed.stdout.contains("overridden"), "{}", listed.stdout);
    scene.run_with(&["workspace", "select", "default"], &dev, "").assert_refused("overridden");
    scene.run_with(&["workspace", "new", "x"], &dev, "").assert_refused("TF_WORKSPACE");
    assert_eq!(scene.succeed(&["workspace", "show"]).stdout, "default\n");
    scene.run_with(&["plan"], &[("TF_WORKSPACE", "a/b")], "").assert_refused("not allowed");
}

#[test]
fn what_manages_something_is_deleted_by_force_alone() {
    let scene = scene();
    scene.succeed(&["workspace", "new", "dev"]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.run(&["workspace", "delete", "dev"]).assert_refused("is your active workspace");
    scene.succeed(&["workspace", "select", "default"]);
    scene.run(&["workspace", "delete", "dev"]).assert_refused("- terraform_data.a");
    scene.run(&["workspace", "delete", "default"]).assert_refused("cannot be deleted");
    scene.run(&["workspace", "delete", "none"]).assert_refused("doesn't exist");
    let deleted = scene.succeed(&["workspace", "delete", "-force", "dev"]);
    assert!(
        deleted.stdout.starts_with("Deleted workspace \"dev\"!\nWARNING"),
        "{}",
        deleted.stdout
    );
    assert_eq!(scene.succeed(&["workspace", "list"]).stdout, "* default\n\n");
    assert!(!scene.path().join(".plumb/records/default..dev/estate.record").exists());
    // A new one of the same name has nothing to do with it.
    scene.succeed(&["workspace", "new", "dev"]);
    let plan = scene.run(&["plan"]);
    assert!(plan.stdout.contains("Plan: 1 to add"), "{}", plan.stdout);
}

#[test]
fn a_deletion_that_is_killed_anywhere_goes_on() {
    for last in 1.. {
        let scene = scene();
        scene.succeed(&["workspace", "new", "dev"]);
        scene.succeed(&["apply", "-auto-approve"]);
        scene.succeed(&["workspace", "select", "default"]);
        let kill = [("PLUMB_TEST_KILL_AFTER_WRITE", &*last.to_string())];
        let ran = scene.run_with(&["workspace", "delete", "-force", "dev"], &kill, "");
        if ran.code == 0 {
            assert!(last > 3, "{last}");
            break;
        }
        assert_eq!(ran.code, -1, "{last}: {}\n{}", ran.stdout, ran.stderr);
        let again = scene.run(&["workspace", "delete", "-force", "dev"]);
        let gone = again.stderr.contains("doesn't exist");
        assert!(again.code == 0 || gone, "{last}: {}", again.stderr);
        assert_eq!(scene.succeed(&["workspace", "list"]).stdout, "* default\n\n", "{last}");
    }
}

#[test]
fn states_that_terraform_keeps_of_workspaces_are_taken_over() {
    let state = r#"{"version":4,"serial":3,"lineage":"l"}"#;
    let scene =
        Scene::new(&[("main.tf", MAIN), ("terraform.tfstate.d/dev/terraform.tfstate", state)]);
    assert_eq!(scene.succeed(&["workspace", "list"]).stdout, "* default\n  dev\n\n");
    scene.succeed(&["workspace", "select", "dev"]);
    scene.run(&["plan"]).assert_refused("terraform.tfstate.d/dev exists");
    let taken = scene.succeed(&["migrate"]);
    assert!(taken.stdout.contains("terraform.tfstate.d/dev/terraform.tfstate"), "{}", taken.stdout);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(output(&scene), "dev");
    // Other workspaces have no state anywhere.
    scene.succeed(&["workspace", "new", "other"]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.run(&["workspace", "delete", "dev"]).assert_refused("has a state file");
}

#[test]
fn a_workspace_may_begin_with_a_state_file() {
    let scene = scene();
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("kept.tfstate", scene.succeed(&["state", "pull"]).stdout.as_bytes());
    scene.succeed(&["workspace", "new", "-state=kept.tfstate", "copy"]);
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "terraform_data.a\n");
}

#[test]
fn outputs_of_a_workspace_are_read_by_others() {
    let reader = r#"
data "terraform_remote_state" "other" {
  backend   = "local"
  workspace = "dev"
  config = {
    path = "../other/terraform.tfstate"
  }
}
output "a" {
  value = data.terraform_remote_state.other.outputs.a
}
"#;
    let scene = Scene::new(&[("other/main.tf", MAIN), ("reader/main.tf", reader)]);
    scene.succeed(&["-chdir=other", "workspace", "new", "dev"]);
    scene.succeed(&["-chdir=other", "apply", "-auto-approve"]);
    scene.succeed(&["-chdir=reader", "apply", "-auto-approve"]);
    assert_eq!(scene.succeed(&["-chdir=reader", "output", "-raw", "a"]).stdout, "dev");
}
