//! Plans that Terraform 1.11.4 made, with what it printed of them.

use crate::hooks::{Sink, Time};
use crate::reader::read_plan;
use engine::changes::ResourceInstanceChange;
use engine::plan::Plan;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use views::plan_json::PlanDocument;
use views::plan_text::TextOptions;
use views::stream::Stream;
use views::{Colour, Import, PlanView};

fn cases() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let mut cases: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    cases
}

fn read(case: &Path, file: &str) -> String {
    std::fs::read_to_string(case.join(file)).unwrap()
}

fn json(case: &Path, file: &str) -> Json {
    serde_json::from_str(&read(case, file)).unwrap()
}

/// Prose without its line breaks, since they move with the product's name.
fn unwrapped(text: &str) -> String {
    let mut out = String::new();
    let mut prose = false;
    let text = text.replace("Plumbline", "Terraform").replace("plumb apply", "terraform apply");
    for line in text.lines() {
        let begins = line.starts_with(|c: char| c.is_alphabetic() || c == '"');
        out.push(if prose && begins { ' ' } else { '\n' });
        out.push_str(line);
        prose = begins;
    }
    out
}

fn view<'a>(plan: &'a Plan, recorded: &Json) -> PlanView<'a> {
    let targeted = recorded["complete"] == false && recorded["errored"] == false;
    let mut view = PlanView { targeted, ..PlanView::new(plan) };
    let changes = recorded["resource_changes"].as_array().into_iter().flatten();
    for (change, recorded) in changes.flat_map(|c| {
        let address = c["address"].as_str();
        let of = move |r: &&ResourceInstanceChange| Some(r.address.to_string().as_str()) == address;
        plan.changes.resources.iter().find(of).map(|r| (r, c))
    }) {
        if let Some(id) = recorded["change"]["importing"]["id"].as_str() {
            let import = Import { id: Some(id.to_owned()), ..Import::default() };
            view.imports.insert(change.address.clone(), import);
        }
    }
    view
}

/// Fails with the first line that differs.
fn assert_same_lines(case: &Path, got: &str, expected: &str) {
    for (i, (got, expected)) in got.lines().zip(expected.lines()).enumerate() {
        assert_eq!(got, expected, "{} line {i}", case.display());
    }
    assert_eq!(got.lines().count(), expected.lines().count(), "{}", case.display());
}

fn text(case: &Path, colour: Colour) -> String {
    let recorded = json(case, "plan.json");
    let plan = read_plan(&recorded, &json(case, "schema.json"));
    let mut out = Vec::new();
    let options = TextOptions { colour, ..TextOptions::default() };
    views::plan_text::write_plan(&view(&plan, &recorded), options, &mut out).unwrap();
    unwrapped(&String::from_utf8(out).unwrap())
}

#[test]
fn text_is_that_of_terraform() {
    for case in cases() {
        let expected = unwrapped(&read(&case, "plan.txt"));
        let got = text(&case, Colour::Plain);
        assert_same_lines(&case, &got, &expected);
    }
}

#[test]
fn colours_are_those_of_terraform() {
    for case in cases() {
        let expected = unwrapped(&read(&case, "colour.txt"));
        let got = text(&case, Colour::Ansi);
        assert_same_lines(&case, &got, &expected);
    }
}

#[test]
fn json_of_changes_is_that_of_terraform() {
    for case in cases() {
        let recorded = json(&case, "plan.json");
        let plan = read_plan(&recorded, &json(&case, "schema.json"));
        let mut out = Vec::new();
        views::plan_json::write_plan(&view(&plan, &recorded), &PlanDocument::default(), &mut out)
            .unwrap();
        let (got, expected) = (String::from_utf8(out).unwrap(), read(&case, "plan.json"));
        let (got, expected) = (parts(&got), parts(&expected));
        for key in [
            "format_version",
            "variables",
            "planned_values",
            "resource_drift",
            "resource_changes",
            "output_changes",
            "timestamp",
            "applyable",
            "complete",
            "errored",
        ] {
            assert_eq!(got.get(key), expected.get(key), "{}: {key}", case.display());
        }
    }
}

#[test]
fn messages_of_a_plan_are_those_of_terraform() {
    for case in cases().into_iter().filter(|c| c.join("stream.jsonl").exists()) {
        let recorded = json(&case, "plan.json");
        let plan = read_plan(&recorded, &json(&case, "schema.json"));
        let sink = Sink::default();
        let stream = Stream::new(sink.shared(), Time::default().clock());
        stream.plan(&view(&plan, &recorded));
        assert_eq!(messages(&sink.text()), messages(&read(&case, "stream.jsonl")));
    }
}

/// Messages without their time, in an order of their own: Terraform's is that of its walk.
fn messages(lines: &str) -> Vec<String> {
    let timeless = |line: &str| {
        let (head, rest) = line.split_once(",\"@timestamp\":\"").unwrap();
        let (_, tail) = rest.split_once('"').unwrap();
        format!("{head}{tail}")
    };
    let mut messages: Vec<_> = lines.lines().map(timeless).collect();
    messages.sort();
    messages
}

/// The text of each part of a document, to compare the order of keys and the digits of numbers too.
fn parts(document: &str) -> BTreeMap<String, String> {
    let parts: BTreeMap<String, Box<RawValue>> = serde_json::from_str(document).unwrap();
    let escapes = [("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")];
    let plain = |text: &str| {
        escapes.iter().fold(text.to_owned(), |text, (escape, c)| text.replace(escape, c))
    };
    parts.into_iter().map(|(key, part)| (key, plain(part.get()))).collect()
}
