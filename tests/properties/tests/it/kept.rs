//! The inputs in `fuzz/corpus`: one for each way through the code that was found, and each that ever failed.

use std::fs;
use std::path::Path;

fn holds_of_all(target: &str, property: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut inputs: Vec<_> =
        fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    for input in inputs {
        // Where it fails, this is the last line.
        println!("{}", input.display());
        property(&fs::read(input).unwrap());
    }
}

#[test]
fn native_syntax() {
    holds_of_all("native_syntax", properties::native_syntax);
}

#[test]
fn json_syntax() {
    holds_of_all("json_syntax", properties::json_syntax);
}

#[test]
fn template() {
    holds_of_all("template", properties::template);
}

#[test]
fn messagepack() {
    holds_of_all("messagepack", properties::messagepack);
}

#[test]
fn tfvars() {
    holds_of_all("tfvars", properties::tfvars);
}
