//! The definition that is deployed, worked off in this process: every state, whoever dies meanwhile.

mod interruptions;

use crate::surroundings::{Counter, SetClock};
use async_trait::async_trait;
use engine::clock::Clock;
use jiff::Timestamp;
use records::{MemoryStore, RecordStore, StoreError};
use runs::executions::{ExecutionError, Executions};
use runs::state_machine::{
    Definition, ExecutionObserver, LocalExecutions, Resources, TaskError, TaskRequest,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// More than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// When everything begins.
const BEGIN: i64 = 1_767_225_600;
/// A minute later, as functions answer it.
const LATER: &str = "2026-01-01T00:01:00Z";
const ENDS: [&str; 3] = ["Done", "NotDone", "NotTold"];

fn definition() -> Definition {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../functions/run.asl.json");
    Definition::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Time that passes as fast as somebody sleeps.
struct Flying(AtomicI64);

impl Clock for Flying {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap()
    }
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst).unsigned_abs())
    }
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.fetch_add(i64::try_from(duration.as_secs()).unwrap().max(1), Ordering::SeqCst);
        Box::pin(tokio::task::yield_now())
    }
}

/// What a function does when it is invoked.
#[derive(Clone, Debug)]
enum Does {
    /// Answers so, with the run that it was given.
    Answers(Value),
    Fails(&'static str),
    /// Fails once somebody says so.
    FailsThen(Arc<Notify>),
    Panics,
    /// Does not come to an end.
    Hangs,
}

fn answers(answer: &str) -> Does {
    Does::Answers(json!({"answer": answer}))
}

/// Functions that do one thing after the other; the last again and again.
#[derive(Default)]
struct Script {
    does: Mutex<BTreeMap<&'static str, VecDeque<Does>>>,
    invoked: Mutex<Vec<(String, Value)>>,
    announced: Mutex<Vec<Value>>,
    /// Told at each invocation.
    at_work: Notify,
}

impl Script {
    fn new(does: &[(&'static str, &[Does])]) -> Arc<Script> {
        let script = Script::default();
        let does = does.iter().map(|(name, does)| (*name, does.iter().cloned().collect()));
        *script.does.lock().unwrap() = does.collect();
        Arc::new(script)
    }

    fn times(&self, function: &str) -> usize {
        self.invoked.lock().unwrap().iter().filter(|(name, _)| name == function).count()
    }

    /// What a function was last invoked with.
    fn last(&self, function: &str) -> Value {
        let invoked = self.invoked.lock().unwrap();
        let mut of = invoked.iter().filter(|(name, _)| name == function);
        of.next_back().unwrap().1.clone()
    }
}

#[async_trait]
impl Resources for Script {
    async fn perform(&self, request: TaskRequest, _time: Duration) -> Result<Value, TaskError> {
        let (function, payload) = match request {
            TaskRequest::Announce { entries } => {
                self.announced.lock().unwrap().push(entries);
                return Ok(json!({}));
            }
            TaskRequest::Invoke { function, payload } => (function, payload),
        };
        self.invoked.lock().unwrap().push((function.clone(), payload.clone()));
        let does = {
            let mut does = self.does.lock().unwrap();
            let does = does.get_mut(function.as_str()).unwrap_or_else(|| panic!("{function}"));
            if does.len() > 1 { does.pop_front() } else { does.front().cloned() }
        };
        self.at_work.notify_one();
        match does.unwrap() {
            Does::Answers(mut answer) => {
                answer["run"] = payload["run"].clone();
                Ok(answer)
            }
            Does::Fails(name) => Err(TaskError(name.to_owned())),
            Does::FailsThen(told) => {
                told.notified().await;
                Err(TaskError("Unavailable".to_owned()))
            }
            Does::Panics => panic!("as it is meant to"),
            Does::Hangs => std::future::pending().await,
        }
    }

    fn may_be_left(&self, request: &TaskRequest) -> bool {
        !matches!(request, TaskRequest::Invoke { function, .. } if function == "ApplyFunction")
    }
}

#[derive(Default)]
struct Visited {
    states: Mutex<Vec<String>>,
    changed: Notify,
}

impl ExecutionObserver for Visited {
    fn entered(&self, _execution: &str, state: &str) {
        self.states.lock().unwrap().push(state.to_owned());
        self.changed.notify_one();
    }
    fn troubled(&self, execution: &str, error: &StoreError) {
        panic!("{execution}: {error}");
    }
}

impl Visited {
    fn all(&self) -> Vec<String> {
        self.states.lock().unwrap().clone()
    }

    /// Waits until one of these states was entered.
    async fn reached(&self, states: &[&str]) {
        let reached = async {
            while !self.all().iter().any(|state| states.contains(&state.as_str())) {
                self.changed.notified().await;
            }
        };
        let reached = tokio::time::timeout(PATIENCE, reached).await;
        reached.unwrap_or_else(|_| panic!("not {states:?}: {:?}", self.all()));
    }
}

struct Process {
    executions: LocalExecutions,
    visited: Arc<Visited>,
}

fn process(store: &Arc<dyn RecordStore>, script: &Arc<Script>, clock: Arc<dyn Clock>) -> Process {
    static RANDOM: AtomicI64 = AtomicI64::new(1);
    let random = Counter::from(RANDOM.fetch_add(1 << 20, Ordering::SeqCst).unsigned_abs());
    let visited = Arc::new(Visited::default());
    let (script, observer) = (script.clone(), visited.clone());
    let random = Arc::new(random);
    let executions =
        LocalExecutions::new(definition(), store.clone(), script, observer, clock, random);
    Process { executions, visited }
}

fn store() -> Arc<dyn RecordStore> {
    Arc::new(MemoryStore::new())
}

fn standing() -> Arc<dyn Clock> {
    Arc::new(SetClock::at(BEGIN))
}

fn flying() -> Arc<dyn Clock> {
    Arc::new(Flying(AtomicI64::new(BEGIN)))
}

fn input(mode: &str) -> Value {
    json!({"run": {"run": "r1", "estate": "network", "mode": mode}})
}

/// The token that `report` was given when the run began to wait.
fn token(script: &Script) -> String {
    script.last("ReportFunction")["task_token"].as_str().unwrap().to_owned()
}

/// What people do about a run that waits.
#[derive(Clone, Copy)]
enum Person {
    IsNotAsked,
    Agrees,
    Ends(&'static str),
    IsAway,
}

/// Works a run off; the states that were entered, and what it came to.
async fn worked_off(mode: &str, script: &Arc<Script>, person: Person) -> (Vec<String>, Value) {
    let store = store();
    let clock = match person {
        // What waits for a person does so while time stands still.
        Person::Agrees | Person::Ends(_) => standing(),
        Person::IsNotAsked | Person::IsAway => flying(),
    };
    let process = process(&store, script, clock);
    process.executions.start("r1", &input(mode)).await.unwrap();
    if let Person::Agrees | Person::Ends(_) = person {
        process.visited.reached(&["WaitForApproval"]).await;
        script.at_work.notified().await;
        while script.times("ReportFunction") == 0 {
            script.at_work.notified().await;
        }
        let token = token(script);
        match person {
            Person::Ends(error) => process.executions.fail(&token, error).await.unwrap(),
            _ => process.executions.succeed(&token).await.unwrap(),
        }
        let again = process.executions.succeed(&token).await;
        assert!(matches!(again, Err(ExecutionError::NotWaiting)), "{again:?}");
    }
    process.visited.reached(&ENDS).await;
    process.executions.stop().await;
    (process.visited.all(), script.last("ReportFunction"))
}

#[tokio::test]
async fn every_state_is_visited_and_every_end_is_reported() {
    let fine = || answers("success");
    let busy = || Does::Answers(json!({"answer": "busy", "until": LATER}));
    let code = |answer: &str, code: &str| Does::Answers(json!({"answer": answer, "code": code}));
    let waits = || answers("approval_required");
    let past = || Does::Answers(json!({"answer": "busy", "until": "2025-12-31T00:00:00Z"}));
    type Case =
        (&'static str, Vec<(&'static str, Vec<Does>)>, Person, &'static str, Option<&'static str>);
    let cases: Vec<Case> = vec![
        (
            "deploy",
            vec![
                ("FetchFunction", vec![Does::Fails("Unavailable"), fine()]),
                ("PlanFunction", vec![fine()]),
                ("ValidateFunction", vec![busy(), fine()]),
                ("ApplyFunction", vec![answers("continue"), busy(), Does::Panics, fine()]),
                ("ReportFunction", vec![fine()]),
            ],
            Person::IsNotAsked,
            "applied",
            None,
        ),
        (
            "deploy",
            vec![
                ("FetchFunction", vec![fine()]),
                ("PlanFunction", vec![waits()]),
                ("ValidateFunction", vec![past(), code("rejected", "stale")]),
                ("ReportFunction", vec![fine(), code("failed", "stale")]),
            ],
            Person::Agrees,
            "rejected",
            Some("stale"),
        ),
        (
            "deploy",
            vec![
                ("FetchFunction", vec![fine()]),
                ("PlanFunction", vec![answers("nothing_to_do")]),
                ("ReportFunction", vec![fine()]),
            ],
            Person::IsNotAsked,
            "planned",
            None,
        ),
        (
            "apply",
            vec![
                ("ValidateFunction", vec![fine()]),
                ("ApplyFunction", vec![code("failed", "apply")]),
                ("ReportFunction", vec![code("failed", "apply")]),
            ],
            Person::IsNotAsked,
            "failed",
            Some("apply"),
        ),
        (
            "drift",
            vec![
                ("FetchFunction", vec![answers("continue")]),
                ("ReportFunction", vec![code("failed", "unexpected_answer")]),
            ],
            Person::IsNotAsked,
            "failed",
            Some("unexpected_answer"),
        ),
        (
            "plan",
            vec![
                ("FetchFunction", vec![Does::Panics]),
                ("ReportFunction", vec![Does::Fails("Unavailable")]),
            ],
            Person::IsNotAsked,
            "failed",
            Some("Panicked"),
        ),
        (
            "deploy",
            vec![
                ("FetchFunction", vec![fine()]),
                ("PlanFunction", vec![waits()]),
                ("ReportFunction", vec![Does::Fails("Cancelled"), code("failed", "cancelled")]),
            ],
            Person::IsNotAsked,
            "cancelled",
            None,
        ),
        (
            "deploy",
            vec![
                ("FetchFunction", vec![fine()]),
                ("PlanFunction", vec![waits()]),
                ("ReportFunction", vec![fine(), code("failed", "timed_out")]),
            ],
            Person::IsAway,
            "timed_out",
            None,
        ),
    ];
    let decided =
        [("Declined", "declined"), ("Superseded", "superseded"), ("Cancelled", "cancelled")];
    let decided = decided.into_iter().map(|(error, outcome)| {
        let does = vec![
            ("FetchFunction", vec![fine()]),
            ("PlanFunction", vec![waits()]),
            ("ReportFunction", vec![fine(), code("failed", "decided")]),
        ];
        ("deploy", does, Person::Ends(error), outcome, None)
    });
    let mut visited = BTreeSet::new();
    for (mode, does, person, outcome, code) in cases.into_iter().chain(decided) {
        let does: Vec<_> = does.iter().map(|(name, does)| (*name, does.as_slice())).collect();
        let script = Script::new(&does);
        let (states, told) = worked_off(mode, &script, person).await;
        assert_eq!(told["outcome"], outcome, "{states:?}");
        assert_eq!(told["code"].as_str(), code, "{states:?}");
        assert_eq!(script.announced.lock().unwrap().len(), 1, "{states:?}");
        assert!(ENDS.contains(&states.last().unwrap().as_str()), "{states:?}");
        visited.extend(states);
    }
    let definition = definition();
    let all: BTreeSet<String> = definition.states().map(str::to_owned).collect();
    assert_eq!(visited, all);
}

/// A process that is killed while its runtime lives on in no thread.
struct Mortal(Option<Runtime>);

impl Mortal {
    fn new() -> Mortal {
        let runtime = tokio::runtime::Builder::new_multi_thread();
        Mortal(Some({ runtime }.worker_threads(1).enable_all().build().unwrap()))
    }
    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.0.as_ref().unwrap().block_on(work)
    }
    /// When this returns, nothing of the process is at work any more.
    fn kill(mut self) {
        self.0.take().unwrap().shutdown_timeout(PATIENCE);
    }
}

#[test]
fn a_run_that_waits_waits_for_the_next_process_too() {
    let store = store();
    let script = Script::new(&[
        ("FetchFunction", &[answers("success")]),
        ("PlanFunction", &[answers("approval_required")]),
        ("ValidateFunction", &[answers("success")]),
        ("ApplyFunction", &[answers("success")]),
        ("ReportFunction", &[answers("success")]),
    ]);
    let first = Mortal::new();
    first.run(async {
        let process = process(&store, &script, standing());
        process.executions.start("r1", &input("deploy")).await.unwrap();
        process.visited.reached(&["WaitForApproval"]).await;
        while script.times("ReportFunction") == 0 {
            script.at_work.notified().await;
        }
        // What the function answered is written down a moment later.
        let waits = async {
            let written = || async {
                let all = store.get_all("").await.unwrap();
                String::from_utf8_lossy(&all[0].1.body).contains("\"returned\":true")
            };
            while !written().await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waits).await.unwrap();
    });
    first.kill();
    let second = Mortal::new();
    second.run(async {
        let process = process(&store, &script, standing());
        assert_eq!(process.executions.resume().await.unwrap(), 1);
        // A name that was used starts nothing.
        process.executions.start("r1", &input("deploy")).await.unwrap();
        process.executions.succeed(&token(&script)).await.unwrap();
        process.visited.reached(&["Done"]).await;
        assert_eq!(script.times("FetchFunction"), 1);
        assert_eq!(script.times("ReportFunction"), 2, "it did not begin to wait again");
        process.executions.stop().await;
    });
    let third = Mortal::new();
    third.run(async {
        let process = process(&store, &script, standing());
        assert_eq!(process.executions.resume().await.unwrap(), 0, "it is over");
    });
}

#[test]
fn a_process_that_dies_at_work_counts_as_a_function_that_does() {
    let store = store();
    let script = Script::new(&[
        ("ValidateFunction", &[answers("success")]),
        ("ApplyFunction", &[Does::Hangs]),
        ("ReportFunction", &[answers("failed")]),
    ]);
    // It is tried three times more, and then given up with a report.
    for attempt in 1..=5 {
        let mortal = Mortal::new();
        mortal.run(async {
            let process = process(&store, &script, standing());
            match attempt {
                1 => process.executions.start("r1", &input("apply")).await.unwrap(),
                _ => drop(process.executions.resume().await.unwrap()),
            }
            match attempt {
                5 => process.visited.reached(&["NotDone"]).await,
                attempt => {
                    while script.times("ApplyFunction") < attempt {
                        let _ = tokio::time::timeout(PATIENCE, script.at_work.notified()).await;
                    }
                }
            }
        });
        mortal.kill();
    }
    assert_eq!(script.times("ApplyFunction"), 4);
    assert_eq!(script.last("ReportFunction")["code"], "Runtime.ExitError");
}

#[tokio::test]
async fn a_process_that_stops_leaves_what_changes_nothing_and_waits_for_the_rest() {
    let store = store();
    let script = Script::new(&[
        ("FetchFunction", &[Does::Hangs, answers("success")]),
        ("PlanFunction", &[answers("nothing_to_do")]),
        ("ReportFunction", &[answers("success")]),
    ]);
    let first = process(&store, &script, standing());
    first.executions.start("r1", &input("plan")).await.unwrap();
    script.at_work.notified().await;
    tokio::time::timeout(PATIENCE, first.executions.stop()).await.unwrap();
    // What is started meanwhile is for the next process as well.
    let other = json!({"run": {"run": "r2", "estate": "network", "mode": "plan"}});
    first.executions.start("r2", &other).await.unwrap();
    let second = process(&store, &script, standing());
    assert_eq!(second.executions.resume().await.unwrap(), 2);
    let both = async {
        while second.visited.all().iter().filter(|state| *state == "Done").count() < 2 {
            second.visited.changed.notified().await;
        }
    };
    tokio::time::timeout(PATIENCE, both).await.unwrap();
    // Stopping is no death.
    assert_eq!(script.times("FetchFunction"), 3);
}

#[test]
fn what_the_interpreter_does_not_know_is_refused_when_it_is_read() {
    let with = |state: Value| json!({"StartAt": "A", "States": {"A": state}}).to_string();
    for (text, says) in [
        (with(json!({"Type": "Map"})), "its type \"Map\" is not known"),
        (with(json!({"Type": "Succeed", "Output": {}})), "unknown field `Output`"),
        (with(json!({"Type": "Pass", "Parameters": {}, "Next": "B"})), "has no such state"),
        (with(json!({"Type": "Pass", "Parameters": {"a.$": "$.b[0]"}, "Next": "A"})), "is no path"),
        (
            with(json!({
                "Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {},
                "TimeoutSeconds": 1, "Next": "A",
            })),
            "is not known here",
        ),
        (json!({"StartAt": "A", "States": {}, "TimeoutSeconds": 1}).to_string(), "unknown field"),
    ] {
        let error = Definition::parse(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
