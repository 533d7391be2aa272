//! The state machine's definition: every state is reached, every way out leads through the report, and what is handed on are
//! references.

use engine::identifiers::{PlanId, RunId};
use engine::record::key::EstateName;
use runs::artifact::ArtifactReference;
use runs::run_reference::{
    Answer, EstateReference, Invocation, Mode, Outcome, PlanReference, ReportInvocation,
    RunReference,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What a payload may name: the run's references, how it ended, and what an approval answers to.
const SELECTORS: [&str; 10] = [
    "$.run",
    "$.run.run",
    "$.run.estate",
    "$.run.mode",
    "$.outcome",
    "$.code",
    "$.error.Error",
    "$.Payload.answer",
    "$$.Task.Token",
    "$.until",
];

fn states() -> Map<String, Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../functions/run.asl.json");
    let definition: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(definition["StartAt"], "Begin");
    assert!(definition.get("TimeoutSeconds").is_none(), "it would end a run without a report");
    definition["States"].as_object().unwrap().clone()
}

fn next(state: &Value) -> BTreeSet<String> {
    let branches = ["Choices", "Catch"].into_iter().filter_map(|key| state[key].as_array());
    let branches = branches.flatten().map(|branch| &branch["Next"]);
    let all = branches.chain([&state["Next"], &state["Default"]]);
    all.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// The states that are reached from one, without passing through another.
fn reached(states: &Map<String, Value>, from: &str, without: Option<&str>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        if Some(name.as_str()) == without || !found.insert(name.clone()) {
            continue;
        }
        let state = states.get(&name).unwrap_or_else(|| panic!("there is no state {name}"));
        open.extend(next(state));
    }
    found
}

fn is_end(state: &Value) -> bool {
    matches!(state["Type"].as_str(), Some("Succeed" | "Fail")) || state["End"] == json!(true)
}

fn run(mode: Mode) -> RunReference {
    let artifact = |key: &str| ArtifactReference { key: key.into(), digest: "d".repeat(64) };
    RunReference {
        run: RunId::from_stored("r".repeat(32)),
        estate: EstateReference(EstateName::new(&"e".repeat(100)).unwrap()),
        mode,
        bundle: Some(artifact("bundles/x")),
        plan: Some(PlanReference {
            id: PlanId::from_stored("p".repeat(32)),
            plan_digest: "d".repeat(64),
            artifact: artifact("network/plans/p"),
        }),
    }
}

#[test]
fn every_state_is_reached_and_every_way_out_leads_through_the_report() {
    let states = states();
    let all: BTreeSet<String> = states.keys().cloned().collect();
    assert_eq!(reached(&states, "Begin", None), all);
    for name in reached(&states, "Begin", Some("Report")) {
        assert!(!is_end(&states[&name]), "{name} ends without a report");
        let onwards = reached(&states, &name, None);
        assert!(onwards.contains("Report"), "{name} never comes to the report");
    }
    for name in &all {
        let ends = reached(&states, name, None).iter().any(|name| is_end(&states[name]));
        assert!(ends, "{name} never ends");
    }
}

#[test]
fn every_task_says_what_happens_when_it_fails_and_how_long_it_may_take() {
    for (name, state) in states() {
        if state["Type"] != "Task" {
            continue;
        }
        let catches = state["Catch"].as_array().unwrap_or_else(|| panic!("{name}"));
        let last = catches.last().unwrap();
        assert_eq!(last["ErrorEquals"], json!(["States.ALL"]), "{name}");
        assert!(state["TimeoutSeconds"].is_u64(), "{name}");
        assert!(state["Retry"].is_array(), "{name}");
        // Waiting for a person is not begun again when the time is up.
        if name == "WaitForApproval" {
            let retried = state["Retry"].to_string();
            assert!(!retried.contains("States."), "{retried}");
        }
    }
}

fn strings<'v>(value: &'v Value, found: &mut Vec<(&'v str, &'v str)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(text) => found.push((name, text)),
                    None => strings(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        _ => {}
    }
}

#[test]
fn payloads_carry_references_alone() {
    for (name, state) in states() {
        let mut found = Vec::new();
        for part in ["Parameters", "ResultSelector"] {
            strings(&state[part], &mut found);
        }
        if let Some(path) = state["TimestampPath"].as_str() {
            found.push(("TimestampPath", path));
        }
        for (field, text) in found {
            if field.ends_with(".$") || text.starts_with('$') && !text.starts_with("${") {
                assert!(SELECTORS.contains(&text), "{name} hands on {text}");
            }
        }
        // A whole answer takes the place of the state's input, and an error's text nowhere.
        for path in ["OutputPath", "ResultPath", "InputPath"] {
            let text = state[path].as_str();
            let known = [None, Some("$.Payload"), Some("$.told")];
            assert!(known.contains(&text), "{name}: {text:?}");
        }
    }
}

#[test]
fn what_is_handed_on_stays_small() {
    let failed = Answer::Failed { run: run(Mode::Deploy), code: "c".repeat(40) };
    assert!(serde_json::to_vec(&failed).unwrap().len() < 2_048);
}

/// Where a choice leads with an answer.
fn chosen(state: &Value, answer: &Answer) -> String {
    let answer = serde_json::to_value(answer).unwrap();
    let choices = state["Choices"].as_array().unwrap();
    let matching = choices.iter().find(|choice| {
        assert_eq!(choice["Variable"], "$.answer");
        choice["StringEquals"] == answer["answer"]
    });
    matching.map_or(&state["Default"], |choice| &choice["Next"]).as_str().unwrap().to_owned()
}

#[test]
fn each_answer_leads_on() {
    let states = states();
    let run = || run(Mode::Deploy);
    let code = || "stale".to_owned();
    let success = Answer::Success { run: run() };
    let failed = Answer::Failed { run: run(), code: code() };
    let rejected = Answer::Rejected { run: run(), code: code() };
    let busy = Answer::Busy { run: run(), until: "2026-01-01T00:00:00Z".into() };
    let approval_required = Answer::ApprovalRequired { run: run() };
    let nothing = Answer::NothingToDo { run: run() };
    let on = Answer::Continue { run: run() };
    for (choice, answer, leads_to) in [
        ("FetchAnswer", &success, "Plan"),
        ("FetchAnswer", &failed, "Failed"),
        ("PlanAnswer", &approval_required, "WaitForApproval"),
        ("PlanAnswer", &success, "Validate"),
        ("PlanAnswer", &nothing, "NothingToDo"),
        ("PlanAnswer", &rejected, "Rejected"),
        ("PlanAnswer", &failed, "Failed"),
        ("ValidateAnswer", &success, "Apply"),
        ("ValidateAnswer", &busy, "WaitToValidate"),
        ("ValidateAnswer", &rejected, "Rejected"),
        ("ValidateAnswer", &failed, "Failed"),
        ("ApplyAnswer", &success, "Applied"),
        ("ApplyAnswer", &on, "Apply"),
        ("ApplyAnswer", &busy, "WaitToApply"),
        ("ApplyAnswer", &rejected, "Rejected"),
        ("ApplyAnswer", &failed, "Failed"),
        // What a function never answers ends as a failure, not as an execution without a report.
        ("FetchAnswer", &on, "Unexpected"),
    ] {
        assert_eq!(chosen(&states[choice], answer), leads_to, "{choice}: {answer:?}");
    }
}

#[test]
fn functions_understand_what_they_are_invoked_with() {
    let states = states();
    for (name, state) in &states {
        let payload = &state["Parameters"]["Payload"];
        let reports = state["Parameters"]["FunctionName"] == "${ReportFunction}";
        if payload.is_null() {
            continue;
        }
        let mut filled = Map::new();
        for (field, value) in payload.as_object().unwrap() {
            let value = match value.as_str() {
                Some("$.run") => serde_json::to_value(run(Mode::Apply)).unwrap(),
                Some("$.outcome") => json!("timed_out"),
                Some("$.code") => Value::Null,
                _ => value.clone(),
            };
            filled.insert(field.trim_end_matches(".$").to_owned(), value);
        }
        let filled = Value::Object(filled);
        match reports {
            true => drop(serde_json::from_value::<ReportInvocation>(filled).unwrap()),
            false => drop(serde_json::from_value::<Invocation>(filled).unwrap()),
        }
        assert!(!name.is_empty());
    }
    // Every outcome that a state names is one.
    for state in states.values() {
        if state["Type"] == "Pass" {
            let outcome = state["Parameters"]["outcome"].clone();
            serde_json::from_value::<Outcome>(outcome).unwrap();
        }
    }
}

#[test]
fn waiting_ends_no_later_than_plans_expire() {
    let longest = states()["WaitForApproval"]["TimeoutSeconds"].as_i64().unwrap();
    assert!(longest <= engine::saved_plan::DEFAULT_EXPIRY);
}
