use crate::scene::Scene;

const ONE: (&str, &str) = ("main.tf", "resource \"terraform_data\" \"a\" {}\n");

#[test]
fn state_elsewhere_is_not_planned_over() {
    let scene = Scene::new(&[ONE, ("terraform.tfstate", "{}")]);
    scene.run(&["plan"]).assert_refused("plumb migrate");
    scene.run(&["apply", "-auto-approve"]).assert_refused("plumb migrate");
    scene.succeed(&["apply", "-auto-approve", "-new-estate"]);
    // Now there are records, and nothing to be unsure of.
    scene.succeed(&["plan"]);
}

#[test]
fn remote_backends_are_read_and_not_used() {
    let scene = Scene::new(&[
        ONE,
        ("backend.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n  }\n}\n"),
    ]);
    let initialized = scene.succeed(&["init"]);
    assert!(initialized.stdout.contains("State may exist elsewhere"), "{}", initialized.stdout);
    scene.run(&["plan"]).assert_refused("plumb migrate");
    assert_eq!(scene.run(&["plan", "-new-estate", "-detailed-exitcode"]).code, 2);
}

#[test]
fn flags_that_are_not_supported_are_named() {
    let scene = Scene::new(&[ONE]);
    scene.run(&["plan", "-state=x"]).assert_refused("Not supported yet: -state");
    let ran = scene.succeed(&["plan", "-lock=false", "-lock-timeout=3s"]);
    assert!(ran.stderr.contains("-lock does nothing"), "{}", ran.stderr);
}

#[test]
fn nothing_is_planned_without_a_configuration() {
    let scene = Scene::new(&[]);
    scene.run(&["plan"]).assert_refused("No configuration files");
    assert!(!scene.path().join(".plumb").exists());
}

#[test]
fn variables_of_a_saved_plan_are_fixed() {
    let scene = Scene::new(&[(
        "main.tf",
        "variable \"a\" {\n  default = 1\n}\noutput \"a\" {\n  value = var.a\n}\n",
    )]);
    scene.succeed(&["plan", "-out=plan.bin"]);
    scene
        .run(&["apply", "-var=a=2", "plan.bin"])
        .assert_refused("Can't change variable when applying a saved plan");
    scene.succeed(&["plan", "-var=a=2", "-out=plan.bin"]);
    scene
        .run(&["apply", "-var=a=3", "plan.bin"])
        .assert_refused("Can't change variable when applying a saved plan");
    scene.succeed(&["apply", "-var=a=2", "plan.bin"]);
}

#[test]
fn an_ephemeral_variable_that_was_given_is_given_again() {
    let scene = Scene::new(&[(
        "main.tf",
        "variable \"e\" {\n  default   = 1\n  ephemeral = true\n}\noutput \"o\" {\n  value = ephemeralasnull(var.e) == null\n}\n",
    )]);
    scene.succeed(&["plan", "-var=e=2", "-out=plan.bin"]);
    scene.run(&["apply", "plan.bin"]).assert_refused("No value for required variable");
    scene.succeed(&["apply", "-var=e=3", "plan.bin"]);
}

#[test]
fn destroying_is_no_refreshing() {
    let scene = Scene::new(&[("main.tf", "output \"a\" {\n  value = 1\n}\n")]);
    scene.run(&["destroy", "-refresh-only", "-auto-approve"]).assert_refused("Invalid mode option");
}

#[test]
fn destroy_has_no_other_mode() {
    let scene = Scene::new(&[ONE]);
    scene.succeed(&["apply", "-auto-approve"]);
    for (flag, says) in [
        ("-destroy", "The -destroy option is not valid for \"plumb destroy\""),
        ("-refresh-only", "The -refresh-only option is not valid for \"plumb destroy\""),
        ("-replace=terraform_data.a", "Unsupported plan mode"),
        ("-deadline=90s", "A deadline without a plan file"),
    ] {
        scene.run(&["destroy", "-auto-approve", flag]).assert_refused(says);
    }
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "terraform_data.a\n");
    let help = scene.succeed(&["destroy", "-help"]).stdout;
    assert!(help.contains("-refresh=false") && !help.contains("-refresh-only"), "{help}");
}

#[test]
fn drift_is_accepted_of_saved_plans_alone() {
    let scene = Scene::new(&[ONE]);
    for command in ["apply", "destroy", "validate"] {
        let ran = scene.run(&[command, "-accept-drift=terraform_data.a"]);
        ran.assert_refused("Drift accepted without a saved plan");
    }
}

#[test]
fn flags_that_terraform_takes_everywhere_are_taken() {
    let scene = Scene::new(&[ONE]);
    scene.succeed(&["apply", "-auto-approve"]);
    for arguments in [
        &["version", "-no-color"][..],
        &["metadata", "functions", "-json", "-no-color"],
        &["state", "list", "-no-color"],
        &["show", "-compact-warnings"],
        &["output", "-compact-warnings"],
        &["validate", "-compact-warnings"],
        &["console", "-input=false"],
    ] {
        scene.succeed(arguments);
    }
}
