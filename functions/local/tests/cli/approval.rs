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

#[test]
fn an_interrupt_is_an_answer() {
    use std::io::Read;
    let scene = Scene::new(&[ONE]);
    let mut child = scene.command(&["apply"]).spawn().unwrap();
    // Held open: nobody answers.
    let _stdin = child.stdin.take();
    let (mut stdout, mut seen) = (child.stdout.take().unwrap(), Vec::new());
    while !seen.ends_with(b"Enter a value: ") {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(errors.contains("Error asking for approval"), "{errors}");
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "");
}
