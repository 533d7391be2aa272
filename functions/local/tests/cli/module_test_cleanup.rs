//! What `plumb test` has made is deleted, also at an interrupt; what cannot be is named.

use crate::scene::{Scene, flat};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

#[test]
fn what_cannot_be_deleted_is_named() {
    let main = r#"
        resource "terraform_data" "a" {
          provisioner "local-exec" {
            when    = destroy
            command = "exit 3"
          }
        }
        resource "terraform_data" "b" {}
    "#;
    let scene = Scene::new(&[("main.tf", main), ("a.tftest.hcl", "run \"first\" {}\n")]);
    let ran = scene.run(&["test", "-no-color"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stdout,
        r#"a.tftest.hcl... in progress
  run "first"... pass
a.tftest.hcl... tearing down
a.tftest.hcl... fail

Failure! 1 passed, 0 failed.
"#
    );
    let said = flat(&ran.stderr);
    assert!(said.starts_with("Plumbline encountered an error destroying resources created while executing a.tftest.hcl/first. Error: local-exec provisioner error"), "{said}");
    assert!(said.ends_with("Plumbline left the following resources in state after executing a.tftest.hcl/first, and they need to be cleaned up manually: - terraform_data.a"), "{said}");
}

#[test]
fn an_interrupt_lets_the_run_end_and_deletes_what_was_made() {
    let main = r#"
        resource "terraform_data" "a" {
          provisioner "local-exec" { command = "touch begun; while [ ! -e go ]; do sleep 0.05; done" }
          provisioner "local-exec" {
            when    = destroy
            command = "touch destroyed"
          }
        }
    "#;
    let tests = "run \"first\" {}\nrun \"second\" {}\n";
    let scene = Scene::new(&[("main.tf", main), ("a.tftest.hcl", tests), ("b.tftest.hcl", tests)]);
    let mut plumb = scene.command(&["test", "-no-color"]).spawn().unwrap();
    wait_for(&scene, "begun");
    kill_process(Pid::from_child(&plumb), Signal::INT).unwrap();
    let mut out = BufReader::new(plumb.stdout.take().unwrap());
    let mut stdout = String::new();
    while !stdout.contains("Interrupt received.") {
        assert_ne!(out.read_line(&mut stdout).unwrap(), 0, "{stdout}");
    }
    scene.write("go", b"");
    out.read_to_string(&mut stdout).unwrap();
    assert_eq!(plumb.wait().unwrap().code(), Some(0), "{stdout}");
    assert!(stdout.contains("  run \"first\"... pass\n  run \"second\"... skip\n"), "{stdout}");
    assert!(stdout.ends_with("\nSuccess! 1 passed, 0 failed, 3 skipped.\n"), "{stdout}");
    assert!(scene.path().join("destroyed").exists());
}

fn wait_for(scene: &Scene, file: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !scene.path().join(file).exists() {
        assert!(Instant::now() < deadline, "{file} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}
