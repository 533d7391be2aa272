//! The stage of planning itself: what it says where the records move meanwhile.

use crate::scene::{Ran, Scene, flat};
use serde_json::Value;
use std::io::Write;
use std::process::Command;

/// Planning waits where it reads another state, until somebody writes into the pipe.
const CONFIGURATION: &str = r#"
data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "other/pipe"
  }
}
resource "terraform_data" "a" {
  input = data.terraform_remote_state.other.outputs
}
"#;

const STATE: &[u8] = b"{\"version\":4,\"outputs\":{}}";

/// Plans, with something happening between the first and the second look at the records.
fn plan_while(happens: impl FnOnce(&Scene)) -> (Scene, Ran) {
    let scene = Scene::new(&[("main.tf", CONFIGURATION), ("other/pipe", "")]);
    std::fs::write(scene.path().join("other/pipe"), STATE).unwrap();
    scene.succeed(&["apply", "-auto-approve"]);
    let pipe = scene.path().join("other/pipe");
    std::fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let planning = scene.command(&["plan", "-out=plan.bin"]).spawn().unwrap();
    // Opening waits for the reader.
    let mut end = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    happens(&scene);
    end.write_all(STATE).unwrap();
    drop(end);
    let planned = planning.wait_with_output().unwrap();
    let ran = Ran {
        code: planned.status.code().unwrap(),
        stdout: String::from_utf8(planned.stdout).unwrap(),
        stderr: String::from_utf8(planned.stderr).unwrap(),
    };
    (scene, ran)
}

fn patch(scene: &Scene, record: &str, change: impl FnOnce(&mut Value)) {
    let name = format!(".plumb/records/default/{record}.record");
    let mut body: Value = serde_json::from_slice(&scene.read(&name)).unwrap();
    change(&mut body);
    scene.write(&name, body.to_string().as_bytes());
}

fn raise_serial(scene: &Scene) {
    patch(scene, "estate", |body| body["serial"] = (body["serial"].as_u64().unwrap() + 2).into());
}

/// The plan is made all the same, with a warning, which the saved plan keeps.
#[track_caller]
fn assert_warned(scene: &Scene, ran: &Ran, words: &str) {
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let said = flat(&format!("{}{}", ran.stdout, ran.stderr));
    assert!(said.contains("The records moved while planning") && said.contains(words), "{said}");
    // Nobody waits for a pipe that nobody writes into.
    std::fs::remove_file(scene.path().join("other/pipe")).unwrap();
    let verdicts = scene.run(&["validate", "-json", "-plan=plan.bin"]).json();
    let snapshot =
        verdicts["verdicts"].as_array().unwrap().iter().find(|v| v["stage"] == "snapshot");
    assert_eq!(snapshot.unwrap()["outcome"], "warn", "{verdicts:#}");
}

#[test]
fn records_that_hold_still_pass() {
    let (scene, ran) = plan_while(|_| ());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("moved") && !ran.stdout.contains("moved"), "{}", ran.stderr);
    std::fs::remove_file(scene.path().join("other/pipe")).unwrap();
    let verdicts = scene.run(&["validate", "-json", "-plan=plan.bin"]).json();
    assert_eq!(verdicts["verdicts"][0]["outcome"], "pass", "{verdicts:#}");
}

#[test]
fn a_record_that_moved_is_named() {
    let (scene, ran) = plan_while(|scene| {
        patch(scene, "r/i/terraform_5fdata.a", |body| body["revision"] = "another".into());
        raise_serial(scene);
    });
    assert_warned(
        &scene,
        &ran,
        "terraform_data.a: the record was changed while planning, by the run",
    );
}

#[test]
fn records_that_were_removed_are_reported() {
    let (scene, ran) = plan_while(|scene| {
        std::fs::remove_dir_all(scene.path().join(".plumb/records/default")).unwrap();
    });
    assert_warned(&scene, &ran, "records were removed while planning");
}

#[test]
fn records_of_another_estate_are_reported() {
    let (scene, ran) =
        plan_while(|scene| patch(scene, "estate", |body| body["lineage"] = "another".into()));
    assert_warned(&scene, &ran, "were replaced by those of another");
}

#[test]
fn records_that_cannot_be_read_again_are_not_checked() {
    let (scene, ran) = plan_while(|scene| {
        patch(scene, "r/i/terraform_5fdata.a", |body| body["format"] = 99.into());
        raise_serial(scene);
    });
    assert_warned(&scene, &ran, "could not be read again after planning");
}
