//! The files of `tests/conformance`: whether they are valid, and what is wrong with them; and what tests come to.

use crate::scene::Scene;
use serde_json::Value;
use std::path::Path;

fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn scene(case: &Value) -> Scene {
    let files = case["files"].as_object().unwrap();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (&**name, text.as_str().unwrap())).collect();
    Scene::new(&files)
}

#[test]
fn files_are_valid_or_refused_as_terraform_does() {
    let mut wrong = String::new();
    for case in cases("files.jsonl") {
        // Several errors there, and one of them here.
        let fewer = case["differs"] == "one error for one mistake";
        if case["differs"].is_string() && !fewer {
            continue;
        }
        let scene = scene(&case);
        if case["files"].as_object().unwrap().len() > 1 {
            scene.run(&["get"]);
        }
        let found = scene.run(&["validate", "-json"]).json();
        let mut found: Vec<String> = found["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|diagnostic| diagnostic["severity"] == "error")
            .map(|diagnostic| diagnostic["summary"].as_str().unwrap().to_owned())
            .collect();
        let mut expected: Vec<String> = serde_json::from_value(case["errors"].clone()).unwrap();
        found.sort();
        expected.sort();
        let agree = match fewer {
            true => !found.is_empty() && found.iter().all(|summary| expected.contains(summary)),
            false => found == expected,
        };
        if !agree {
            let name = &case["name"];
            wrong.push_str(&format!("{name}\n  {expected:?}\n  {found:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What a stream of messages tells of each run: what it came to, then the summaries of what is said, sorted.
fn told(messages: &[Value]) -> Vec<String> {
    let (mut lines, mut said) = (Vec::new(), Vec::new());
    for message in messages {
        let kind = message["type"].as_str().unwrap();
        let place = [&message["@testfile"], &message["@testrun"]];
        let place: Vec<&str> = place.iter().filter_map(|part| part.as_str()).collect();
        let (place, text) = (place.join(" "), message["@message"].as_str().unwrap());
        if kind == "diagnostic" {
            said.push(format!("{place}: {text}"));
            continue;
        }
        said.sort();
        lines.append(&mut said);
        match kind {
            "test_run" | "test_file" if message[kind]["progress"] == "complete" => {
                lines.push(format!("{place} {}", message[kind]["status"].as_str().unwrap()));
            }
            "test_summary" => lines.push(text.to_owned()),
            _ => {}
        }
    }
    said.sort();
    lines.append(&mut said);
    lines
}

#[test]
fn tests_come_to_what_they_come_to_in_terraform() {
    let mut wrong = String::new();
    for case in cases("tests.jsonl") {
        if case["differs"].is_string() {
            continue;
        }
        let scene = scene(&case);
        scene.run(&["get"]);
        let given: Vec<String> =
            serde_json::from_value(case["arguments"].clone()).unwrap_or_default();
        let mut arguments = vec!["test", "-json"];
        arguments.extend(given.iter().map(String::as_str));
        let found = told(&scene.run(&arguments).messages());
        let expected: Vec<String> = serde_json::from_value(case["told"].clone()).unwrap();
        if found != expected {
            let name = &case["name"];
            wrong.push_str(&format!("{name}\n  {expected:#?}\n  {found:#?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
