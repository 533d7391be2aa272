//! The files of `tests/conformance`: whether they are valid, and what is wrong with them.

use crate::scene::Scene;
use serde_json::Value;
use std::path::Path;

#[test]
fn files_are_valid_or_refused_as_terraform_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/files.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = String::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        // Several errors there, and one of them here.
        let fewer = case["differs"] == "one error for one mistake";
        if case["differs"].is_string() && !fewer {
            continue;
        }
        let files = case["files"].as_object().unwrap();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (&**name, text.as_str().unwrap())).collect();
        let scene = Scene::new(&files);
        if files.len() > 1 {
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
