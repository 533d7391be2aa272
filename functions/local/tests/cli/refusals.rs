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
        .assert_refused("Can't set variables when applying a saved plan");
}
