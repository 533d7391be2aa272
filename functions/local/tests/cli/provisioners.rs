//! Commands of `local-exec`, run for real.

use crate::scene::{Ran, Scene, flat};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Waiting for what another process had in flight takes seconds by default.
const PATIENCE: (&str, &str) = ("plumb.toml", "[transactions]\nmargin = \"0s\"\n");

fn scene(configuration: &str) -> Scene {
    Scene::new(&[("main.tf", configuration), PATIENCE])
}

#[track_caller]
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn lines(scene: &Scene, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(scene.path().join(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_said(ran: &Ran, expected: &str) {
    let said = flat(&format!("{}\n{}", ran.stdout, ran.stderr));
    assert!(said.contains(expected), "{expected}\n{}\n{}", ran.stdout, ran.stderr);
}

/// `terraform_data` instances as they are recorded: ready or tainted, by id.
fn recorded(scene: &Scene) -> Vec<(String, bool)> {
    let state = scene.succeed(&["state", "pull"]).json();
    let resources = state["resources"].as_array().cloned().unwrap_or_default();
    let instances = resources.iter().flat_map(|r| r["instances"].as_array().cloned().unwrap());
    let of = |instance: serde_json::Value| {
        let id = instance["attributes"]["id"].as_str().unwrap().to_owned();
        (id, instance["status"] == "tainted")
    };
    instances.map(of).collect()
}

const OUTPUT: &str = r#"
variable "secret" {
  default   = "hunter2"
  sensitive = true
}
variable "token" {
  default   = "t0ken"
  ephemeral = true
}
resource "terraform_data" "a" {
  input = "x"
  provisioner "local-exec" {
    command     = "echo hello ${self.input} $GIVEN; echo err >&2; printf 'a\\rb\\n\\n  no newline'"
    environment = { GIVEN = "given" }
  }
  provisioner "local-exec" {
    command = "echo ${var.secret}"
  }
  provisioner "local-exec" {
    command     = "echo $TOKEN"
    environment = { TOKEN = var.token }
  }
  provisioner "local-exec" {
    command = "echo quiet"
    quiet   = true
  }
  provisioner "local-exec" {
    interpreter = ["/bin/sh", "-e", "-c"]
    command     = "pwd; cat"
    working_dir = "/"
  }
  provisioner "local-exec" {
    command    = "exit 3"
    on_failure = continue
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.input}"
  }
}
"#;

#[test]
fn commands_run_in_order_and_their_output_is_shown_as_it_comes() {
    let scene = scene(OUTPUT);
    let applied = scene.succeed(&["apply", "-auto-approve", "-no-color"]);
    let from = applied.stdout.find("terraform_data.a: Creating...").unwrap();
    let shown: Vec<&str> =
        applied.stdout[from..].lines().take_while(|l| !l.contains("complete")).collect();
    assert_eq!(
        shown,
        [
            "terraform_data.a: Creating...",
            "terraform_data.a: Provisioning with 'local-exec'...",
            r#"terraform_data.a (local-exec): Executing: ["/bin/sh" "-c" "echo hello x $GIVEN; echo err >&2; printf 'a\\rb\\n\\n  no newline'"]"#,
            "terraform_data.a (local-exec): hello x given",
            "terraform_data.a (local-exec): err",
            "terraform_data.a (local-exec): a",
            "terraform_data.a (local-exec): b",
            "",
            "terraform_data.a (local-exec):   no newline",
            "terraform_data.a: Provisioning with 'local-exec'...",
            "terraform_data.a (local-exec): (output suppressed due to sensitive value in config)",
            "terraform_data.a (local-exec): (output suppressed due to sensitive value in config)",
            "terraform_data.a: Provisioning with 'local-exec'...",
            "terraform_data.a (local-exec): (output suppressed due to ephemeral value in config)",
            "terraform_data.a (local-exec): (output suppressed due to ephemeral value in config)",
            "terraform_data.a: Provisioning with 'local-exec'...",
            "terraform_data.a (local-exec): local-exec: Executing: Suppressed by quiet=true",
            "terraform_data.a (local-exec): quiet",
            "terraform_data.a: Provisioning with 'local-exec'...",
            r#"terraform_data.a (local-exec): Executing: ["/bin/sh" "-e" "-c" "pwd; cat"]"#,
            "terraform_data.a (local-exec): /",
            "terraform_data.a: Provisioning with 'local-exec'...",
            r#"terraform_data.a (local-exec): Executing: ["/bin/sh" "-c" "exit 3"]"#,
        ]
    );
    assert!(applied.stdout.contains("Apply complete! Resources: 1 added, 0 changed, 0 destroyed."));
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0, "they run at a create alone");

    let destroyed = scene.succeed(&["destroy", "-auto-approve", "-json"]);
    let messages = destroyed.messages();
    let provisioning: Vec<(&str, &str)> = messages
        .iter()
        .filter_map(|m| Some((m["type"].as_str()?, m["@message"].as_str()?)))
        .filter(|(kind, _)| kind.starts_with("provision_"))
        .collect();
    assert_eq!(
        provisioning,
        [
            ("provision_start", "terraform_data.a: Provisioning with 'local-exec'..."),
            (
                "provision_progress",
                r#"terraform_data.a: (local-exec): Executing: ["/bin/sh" "-c" "echo bye x"]"#
            ),
            ("provision_progress", "terraform_data.a: (local-exec): bye x"),
            ("provision_complete", "terraform_data.a: (local-exec) Provisioning complete"),
        ]
    );
}

#[test]
fn a_failure_taints_what_was_made_and_leaves_what_depends_on_it() {
    let scene = scene(
        r#"
variable "fails" { default = 1 }
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo out; exit ${var.fails}"
  }
  provisioner "local-exec" {
    command = "echo ran >> second"
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
"#,
    );
    let failed = scene.run(&["apply", "-auto-approve"]);
    assert_eq!(failed.code, 1);
    assert_said(&failed, "Error: local-exec provisioner error");
    assert_said(
        &failed,
        "with terraform_data.a, on main.tf line 4, in resource \"terraform_data\" \"a\":",
    );
    assert_said(&failed, "Error running command 'echo out; exit 1': exit status 1. Output: out");
    assert!(lines(&scene, "second").is_empty());
    assert!(matches!(recorded(&scene)[..], [(_, true)]));

    let again = scene.succeed(&["apply", "-auto-approve", "-var=fails=0"]);
    assert_said(&again, "terraform_data.a is tainted, so must be replaced");
    assert_eq!(lines(&scene, "second"), ["ran"]);
    assert_eq!(recorded(&scene).iter().filter(|(_, tainted)| !tainted).count(), 2);
}

#[test]
fn what_cannot_be_run_says_why() {
    for (arguments, says) in [
        ("command = \"\"", "The command must be a non-empty string."),
        (
            "command = \"x\"\ninterpreter = [\"no-such-program\"]",
            "Error running command 'x': exec: \"no-such-program\": executable file not found in $PATH. Output:",
        ),
        (
            "command = \"x\"\nworking_dir = \"/no/such\"",
            "Error running command 'x': chdir /no/such: no such file or directory. Output:",
        ),
        ("command = \"kill -9 $$\"", "Error running command 'kill -9 $$': signal: killed. Output:"),
        (
            "command = self.input[3]",
            "The given key does not identify an element in this collection value.",
        ),
    ] {
        let scene = scene(&format!(
            "resource \"terraform_data\" \"a\" {{\n  input = [1]\n  provisioner \"local-exec\" {{\n{arguments}\n}}\n}}\n"
        ));
        let failed = scene.run(&["apply", "-auto-approve"]);
        assert_eq!(failed.code, 1, "{arguments}");
        assert_said(&failed, says);
        assert!(matches!(recorded(&scene)[..], [(_, true)]), "{arguments}");
    }
}

#[test]
fn an_error_repeats_no_sensitive_value() {
    let scene = scene(
        r#"
variable "secret" {
  default   = "hunter2"
  sensitive = true
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo ${var.secret}; exit 1"
  }
}
"#,
    );
    let failed = scene.run(&["apply", "-auto-approve"]);
    assert_said(&failed, "exit status 1");
    assert!(!format!("{}{}", failed.stdout, failed.stderr).contains("hunter2"));
}

#[test]
fn before_an_object_is_destroyed_its_provisioners_have_to_succeed() {
    let configuration = |code: u32| {
        format!(
            r#"
resource "terraform_data" "a" {{
  count = 2
  provisioner "local-exec" {{
    when    = destroy
    command = "echo ${{count.index}} ${{self.id}} >> destroyed; exit {code}"
  }}
}}
"#
        )
    };
    let scene = scene(&configuration(1));
    scene.succeed(&["apply", "-auto-approve"]);
    let before = recorded(&scene);
    let failed = scene.run(&["destroy", "-auto-approve"]);
    assert_eq!(failed.code, 1);
    assert_said(&failed, "exit status 1");
    assert_eq!(recorded(&scene), before, "they stay as they were");
    assert_eq!(lines(&scene, "destroyed").len(), 2);

    scene.write("main.tf", configuration(0).replace("count = 2", "count = 1").as_bytes());
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(lines(&scene, "destroyed")[2], format!("1 {}", before[1].0));

    // What nothing declares any more is destroyed as its `removed` block says.
    let removed = r#"
removed {
  from = terraform_data.a
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${path.module} ${count.index} ${self.id} >> destroyed"
  }
}
"#;
    scene.write("main.tf", removed.as_bytes());
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(lines(&scene, "destroyed")[3], format!(". 0 {}", before[0].0));
    assert!(recorded(&scene).is_empty());
}

#[test]
fn what_is_tainted_or_replaced_beforehand_is_destroyed_without() {
    let configuration = |first: bool, input: &str| {
        format!(
            r#"
resource "terraform_data" "a" {{
  triggers_replace = "{input}"
  lifecycle {{
    create_before_destroy = {first}
  }}
  provisioner "local-exec" {{
    command = "echo made {input} >> log; test {input} != fails"
  }}
  provisioner "local-exec" {{
    when    = destroy
    command = "echo destroyed >> log"
  }}
}}
"#
        )
    };
    let scene = scene(&configuration(false, "one"));
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("main.tf", configuration(false, "fails").as_bytes());
    assert_eq!(scene.run(&["apply", "-auto-approve"]).code, 1);
    scene.write("main.tf", configuration(false, "two").as_bytes());
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write("main.tf", configuration(true, "three").as_bytes());
    scene.succeed(&["apply", "-auto-approve"]);
    let log = ["made one", "destroyed", "made fails", "made two", "made three"];
    assert_eq!(lines(&scene, "log"), log);
}

#[test]
fn provisioners_that_cannot_be_run_are_refused_by_name() {
    let resource = |kind: &str, arguments: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  provisioner \"{kind}\" {{\n    {arguments}\n  }}\n}}\n"
        )
    };
    let copying = scene(&resource("file", "content = \"a\"\n    destination = \"/b\""));
    copying.succeed(&["validate"]);
    copying.run(&["plan"]).assert_refused("Not supported: the \"file\" provisioner");
    // There is nothing of which it would be left out.
    copying.succeed(&["plan", "-refresh-only"]);
    copying.succeed(&["destroy", "-auto-approve"]);

    let unknown = scene(&resource("chef-solo", "command = \"x\""));
    unknown.run(&["validate"]).assert_refused("Missing required provisioner plugin");
    let missing = scene(&resource("local-exec", "quiet = true"));
    missing.run(&["validate"]).assert_refused("The argument \"command\" is required");
    let both = scene(&resource("remote-exec", "inline = [\"a\"]\n    script = \"b\""));
    both.run(&["validate"])
        .assert_refused("Only one of \"inline\", \"script\", or \"scripts\" must be set");
    let own = scene(&resource("local-exec", "command = terraform_data.a.id"));
    own.succeed(&["validate"]);
    own.run(&["plan"]).assert_refused("Self-referential block");
    let connection =
        "command = \"x\"\n    connection {\n      port = \"x\"\n    host = \"h\"\n    }";
    scene(&resource("local-exec", connection))
        .run(&["validate"])
        .assert_refused("a number is required");
}

/// Makes something that says so, and waits to be killed. What it has started says which process it is.
const ENDLESS: &str = r#"
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo ${self.id} >> made; sleep 600 & echo $! > child; wait"
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
"#;

fn child(scene: &Scene) -> Option<Pid> {
    let text = lines(scene, "child").pop()?;
    Pid::from_raw(text.parse().ok()?)
}

/// A process that is gone, or only waits to be reaped by whoever adopted it.
fn is_gone(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    test_kill_process(process).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn an_interrupt_ends_the_command_and_all_that_it_started() {
    let scene = scene(ENDLESS);
    let plumb = scene.command(&["apply", "-auto-approve"]).spawn().unwrap();
    eventually("the command runs", || child(&scene).is_some());
    kill_process(Pid::from_child(&plumb), Signal::INT).unwrap();
    let ran = plumb.wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let said = flat(&String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("local-exec provisioner error"), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert!(is_gone(child(&scene).unwrap()));
    assert!(matches!(recorded(&scene)[..], [(_, true)]));
}

#[test]
fn a_command_that_runs_when_its_time_is_up_is_stopped() {
    let scene = scene(ENDLESS);
    scene.succeed(&["plan", "-out=plan.bin"]);
    let ran = scene.run(&["apply", "-deadline=3s", "plan.bin"]);
    assert_eq!(ran.code, 1, "{}\n{}", ran.stdout, ran.stderr);
    assert_said(&ran, "The time of this part of the apply was up, so the provisioner was stopped");
    assert!(is_gone(child(&scene).unwrap()));
    assert!(matches!(recorded(&scene)[..], [(_, true)]));
    assert_said(&scene.succeed(&["plan"]), "terraform_data.a is tainted, so must be replaced");
}

#[test]
fn a_command_does_not_outlive_a_killed_apply_and_is_not_run_again_for_the_same_object() {
    let scene = scene(ENDLESS);
    scene.succeed(&["plan", "-out=plan.bin"]);
    let mut plumb = scene.command(&["apply", "plan.bin"]).spawn().unwrap();
    eventually("the command runs", || child(&scene).is_some());
    plumb.kill().unwrap();
    plumb.wait().unwrap();
    eventually("the command ends", || is_gone(child(&scene).unwrap()));
    let left = recorded(&scene);
    let [(id, true)] = &left[..] else { panic!("it is not recorded as tainted") };

    let warned = scene.succeed(&["plan"]);
    assert_said(&warned, "Provisioners were cut off");
    let resumed = scene.run(&["apply", "plan.bin"]);
    assert_eq!(resumed.code, 1, "{}", resumed.stdout);
    assert_said(&resumed, "Provisioners were cut off");
    assert_eq!(lines(&scene, "made"), std::slice::from_ref(id));
    assert_eq!(recorded(&scene), [(id.clone(), true)]);

    scene.write("main.tf", ENDLESS.replace("sleep 600", "true").as_bytes());
    assert_said(&scene.succeed(&["apply", "-auto-approve"]), "is tainted, so must be replaced");
    assert_eq!(lines(&scene, "made").len(), 2);
}

/// Killed after each write: no provisioner runs twice for one object, and none is ready without.
#[test]
fn killed_after_any_write_no_command_runs_twice_and_nothing_is_ready_without() {
    let configuration = |version: u32| {
        format!(
            r#"
resource "terraform_data" "a" {{
  triggers_replace = {version}
  provisioner "local-exec" {{
    command = "echo ${{self.id}} >> made"
  }}
  provisioner "local-exec" {{
    when    = destroy
    command = "echo ${{self.id}} >> destroyed"
  }}
}}
resource "terraform_data" "b" {{
  triggers_replace = {version}
  lifecycle {{
    create_before_destroy = true
  }}
  provisioner "local-exec" {{
    command = "echo ${{self.id}} >> made"
  }}
}}
"#
        )
    };
    for last in 1.. {
        let scene = scene(&configuration(1));
        scene.succeed(&["apply", "-auto-approve"]);
        scene.write("main.tf", configuration(2).as_bytes());
        scene.succeed(&["plan", "-out=plan.bin"]);
        let kill = [("PLUMB_TEST_KILL_AFTER_WRITE", &*last.to_string())];
        let killed = scene.run_with(&["apply", "-parallelism=1", "plan.bin"], &kill, "");
        if killed.code != -1 {
            assert_eq!(killed.code, 0, "{}\n{}", killed.stdout, killed.stderr);
            assert!(last > 12, "{last}");
            return;
        }
        assert_provisioned(&scene, last);
        let resumed = scene.run(&["apply", "plan.bin"]);
        let cut_off = flat(&resumed.stderr).contains("Provisioners were cut off");
        let over = flat(&resumed.stderr).contains("was used already");
        assert_eq!(resumed.code, i32::from(cut_off || over), "{last}: {}", resumed.stderr);
        assert_provisioned(&scene, last);
        scene.succeed(&["apply", "-auto-approve"]);
        assert_provisioned(&scene, last);
        let recorded = recorded(&scene);
        assert_eq!(recorded.iter().filter(|(_, tainted)| !tainted).count(), 2, "{last}");
        assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0, "{last}");
    }
}

#[track_caller]
fn assert_provisioned(scene: &Scene, last: i32) {
    let made = lines(scene, "made");
    let distinct: BTreeSet<&String> = made.iter().collect();
    assert_eq!(made.len(), distinct.len(), "{last}: a command ran twice: {made:?}");
    for (id, tainted) in recorded(scene) {
        assert!(tainted || distinct.contains(&id), "{last}: {id} is ready without its provisioner");
    }
}
