use crate::scene::Scene;

const ONE: (&str, &str) = ("main.tf", "resource \"terraform_data\" \"a\" {}\n");

#[test]
fn only_yes_approves() {
    let scene = Scene::new(&[ONE]);
    let asked = scene.run_with(&["apply"], &[], "y\n");
    assert_eq!(asked.code, 1);
    assert!(asked.stdout.contains("Only 'yes' will be accepted to approve."), "{}", asked.stdout);
    assert!(asked.stdout.contains("Apply cancelled."));
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "");
    assert_eq!(scene.run_with(&["apply"], &[], "yes\n").code, 0);
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "terraform_data.a\n");
    assert!(scene.run_with(&["destroy"], &[], "no\n").stdout.contains("Destroy cancelled."));
    assert_eq!(scene.run_with(&["destroy"], &[], "yes\n").code, 0);
}

#[test]
fn without_anybody_to_ask_nothing_is_changed() {
    let scene = Scene::new(&[ONE]);
    scene.run(&["apply"]).assert_refused("Error asking for approval");
    scene.run(&["apply", "-input=false"]).assert_refused("Approval required");
    scene.run_with(&["apply"], &[("TF_INPUT", "0")], "yes\n").assert_refused("Approval required");
    let streamed = scene.run(&["apply", "-json"]);
    assert_eq!(streamed.code, 1);
    assert!(streamed.stdout.contains("Plan file or auto-approve required"));
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "");
}

#[test]
fn missing_variables_are_asked_for() {
    let scene = Scene::new(&[(
        "main.tf",
        "variable \"who\" {\n  description = \"Whom to greet\"\n}\noutput \"who\" {\n  value = var.who\n}\n",
    )]);
    let asked = scene.run_with(&["apply", "-auto-approve"], &[], "the world\n");
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    assert!(asked.stdout.contains("var.who\n  Whom to greet\n\n  Enter a value: "));
    assert_eq!(scene.succeed(&["output", "-raw", "who"]).stdout, "the world");
    scene.run(&["plan", "-input=false"]).assert_refused("No value for required variable");
    assert_eq!(scene.run_with(&["plan"], &[("TF_VAR_who", "me")], "").code, 0);
}
