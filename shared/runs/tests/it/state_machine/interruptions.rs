//! Answers that come early or are given to a process that dies, and writes of which nobody hears that they were done.

use super::{BEGIN, Does, Mortal, PATIENCE, Process, Script, Visited};
use super::{answers, definition, input, process, standing, store, token};
use crate::surroundings::Counter;
use async_trait::async_trait;
use engine::clock::Clock;
use jiff::Timestamp;
use records::testing::{Answer, ObservedStore, Write};
use records::{Key, MemoryStore, RecordStore, StoreError};
use runs::executions::{ExecutionError, Executions};
use runs::state_machine::{
    Definition, ExecutionObserver, LocalExecutions, Resources, TaskError, TaskRequest,
};
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// The writes of a run that is approved and applied: it is started, seven tasks begin and end, and an answer comes and is taken.
const WRITES: u64 = 17;

/// Time that stands still, however long somebody sleeps.
struct Restless;

impl Clock for Restless {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(BEGIN).unwrap()
    }
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
    fn sleep(&self, _duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::task::yield_now())
    }
}

/// Whom no trouble troubles.
struct Patient;

impl ExecutionObserver for Patient {
    fn entered(&self, _execution: &str, _state: &str) {}
    fn troubled(&self, _execution: &str, _error: &StoreError) {}
}

fn executions(store: &Arc<dyn RecordStore>, script: &Arc<Script>, first: u64) -> LocalExecutions {
    let (random, clock) = (Arc::new(Counter::from(first)), Arc::new(Restless));
    let (store, script, observer) = (store.clone(), script.clone(), Arc::new(Patient));
    LocalExecutions::new(definition(), store, script, observer, clock, random)
}

/// Waits until the only execution of a store is over.
async fn over(store: &Arc<dyn RecordStore>) {
    let ended = || async {
        let all = store.get_all("").await.unwrap();
        String::from_utf8_lossy(&all[0].1.body).contains("\"ended\"")
    };
    let ends = async {
        while !ended().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, ends).await.unwrap();
}

/// The token that the first question names, once it is asked.
async fn asked(script: &Script) -> String {
    loop {
        let first = {
            let invoked = script.invoked.lock().unwrap();
            let mut of = invoked.iter().filter(|(name, _)| name == "ReportFunction");
            of.next().map(|(_, payload)| payload["task_token"].as_str().unwrap().to_owned())
        };
        match first {
            Some(token) => return token,
            None => script.at_work.notified().await,
        }
    }
}

/// Nothing was left out, and nothing done twice.
fn done_once(script: &Script, lost: u64) {
    for (function, times) in [
        ("FetchFunction", 1),
        ("PlanFunction", 1),
        ("ValidateFunction", 1),
        ("ApplyFunction", 1),
        ("ReportFunction", 2),
    ] {
        assert_eq!(script.times(function), times, "{function}, at the write {lost}");
    }
    assert_eq!(script.last("ReportFunction")["outcome"], "applied", "at the write {lost}");
    assert_eq!(script.announced.lock().unwrap().len(), 1, "at the write {lost}");
}

/// Answers the first question; again, as somebody does who was not told that the answer was taken.
async fn answered(executions: &LocalExecutions, script: &Script) {
    let token = asked(script).await;
    for _ in 0..2 {
        match executions.succeed(&token).await {
            Ok(()) | Err(ExecutionError::NotWaiting) => return,
            Err(_) => {}
        }
    }
    panic!("no answer is taken");
}

#[tokio::test]
async fn a_write_of_which_nobody_hears_is_neither_lost_nor_repeated() {
    for lost in 1..=WRITES {
        let answer = move |write: &Write| match write.number == lost {
            true => Answer::Lose,
            false => Answer::Deliver,
        };
        let store: Arc<dyn RecordStore> = Arc::new(ObservedStore::new(MemoryStore::new(), answer));
        let script = asking(answers("success"));
        let executions = executions(&store, &script, 1);
        if executions.start("r1", &input("deploy")).await.is_err() {
            // As a host delivers again what was not answered.
            executions.start("r1", &input("deploy")).await.unwrap();
        }
        answered(&executions, &script).await;
        over(&store).await;
        executions.stop().await;
        done_once(&script, lost);
    }
}

#[test]
fn a_process_that_is_killed_at_any_write_is_gone_on_with() {
    for lost in 1..=WRITES {
        let (kept, dies) = (Arc::new(MemoryStore::new()), Arc::new(Notify::new()));
        let at = dies.clone();
        let answer = move |write: &Write| match write.number == lost {
            true => {
                at.notify_one();
                Answer::Withhold
            }
            false => Answer::Deliver,
        };
        let observed: Arc<dyn RecordStore> = Arc::new(ObservedStore::new(kept.clone(), answer));
        let kept: Arc<dyn RecordStore> = kept;
        let script = asking(answers("success"));
        let first = Mortal::new();
        first.run(async {
            let executions = executions(&observed, &script, 1);
            let work = async {
                executions.start("r1", &input("deploy")).await.unwrap();
                answered(&executions, &script).await;
                over(&observed).await;
            };
            tokio::select! {
                () = work => {}
                () = dies.notified() => {}
            }
        });
        first.kill();
        let second = Mortal::new();
        second.run(async {
            let executions = executions(&kept, &script, 1 << 20);
            executions.resume().await.unwrap();
            answered(&executions, &script).await;
            over(&kept).await;
            executions.stop().await;
        });
        done_once(&script, lost);
    }
}

#[test]
fn a_task_that_the_definition_no_longer_has_is_the_end() {
    let (store, script) = (store(), Script::new(&[("FetchFunction", &[Does::Hangs])]));
    let first = Mortal::new();
    first.run(async {
        let process = process(&store, &script, standing());
        process.executions.start("r1", &input("deploy")).await.unwrap();
        script.at_work.notified().await;
    });
    first.kill();
    let definition = json!({"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}});
    let definition = Definition::parse(&definition.to_string()).unwrap();
    let second = Mortal::new();
    second.run(async {
        let (observer, random) = (Arc::new(Patient), Arc::new(Counter::from(1 << 20)));
        let (kept, resources) = (store.clone(), script.clone());
        let executions =
            LocalExecutions::new(definition, kept, resources, observer, standing(), random);
        assert_eq!(executions.resume().await.unwrap(), 1);
        over(&store).await;
        executions.stop().await;
    });
    assert_eq!(script.times("FetchFunction"), 1);
}

/// A run that asks for an approval, and is answered before its question has been told to everybody.
async fn answered_early(store: &Arc<dyn RecordStore>, script: &Arc<Script>) -> Process {
    let process = process(store, script, standing());
    process.executions.start("r1", &input("deploy")).await.unwrap();
    while script.times("ReportFunction") == 0 {
        let _ = tokio::time::timeout(PATIENCE, script.at_work.notified()).await;
    }
    process.executions.succeed(&token(script)).await.unwrap();
    process
}

fn asking(asks: Does) -> Arc<Script> {
    Script::new(&[
        ("FetchFunction", &[answers("success")]),
        ("PlanFunction", &[answers("approval_required")]),
        ("ValidateFunction", &[answers("success")]),
        ("ApplyFunction", &[answers("success")]),
        ("ReportFunction", &[asks, answers("success")]),
    ])
}

#[tokio::test]
async fn an_answer_counts_where_not_everybody_could_be_asked() {
    let (store, told) = (store(), Arc::new(Notify::new()));
    let script = asking(Does::FailsThen(told.clone()));
    let process = answered_early(&store, &script).await;
    told.notify_one();
    process.visited.reached(&["Done"]).await;
    process.executions.stop().await;
    assert_eq!(script.times("ReportFunction"), 2, "nobody was asked again");
}

#[tokio::test]
async fn an_answer_counts_where_the_process_stops_while_it_asks() {
    let (store, script) = (store(), asking(Does::Hangs));
    let first = answered_early(&store, &script).await;
    tokio::time::timeout(PATIENCE, first.executions.stop()).await.unwrap();
    let second = process(&store, &script, standing());
    assert_eq!(second.executions.resume().await.unwrap(), 1);
    second.visited.reached(&["Done"]).await;
    second.executions.stop().await;
    assert_eq!(script.times("ReportFunction"), 2, "nobody was asked again");
}

/// A function that is behind others for longer than it may take itself.
struct Queued;

#[async_trait]
impl Resources for Queued {
    async fn perform(&self, _request: TaskRequest, time: Duration) -> Result<Value, TaskError> {
        tokio::time::sleep(time + Duration::from_millis(100)).await;
        Ok(json!({}))
    }

    fn may_be_left(&self, _request: &TaskRequest) -> bool {
        true
    }
}

/// One task that may take a second and is never repeated.
fn one_task() -> Definition {
    let definition = json!({"StartAt": "A", "States": {
        "A": {
            "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {},
            "TimeoutSeconds": 1, "Next": "Done",
        },
        "Done": {"Type": "Succeed"},
    }});
    Definition::parse(&definition.to_string()).unwrap()
}

/// Has no room for what is asked first, before the process stops.
#[derive(Default)]
struct Full {
    times: AtomicUsize,
    asked: Notify,
    stops: Notify,
}

#[async_trait]
impl Resources for Full {
    async fn perform(&self, _request: TaskRequest, _time: Duration) -> Result<Value, TaskError> {
        if self.times.fetch_add(1, Ordering::SeqCst) == 0 {
            self.asked.notify_one();
            self.stops.notified().await;
            return Err(TaskError::not_begun());
        }
        Ok(json!({}))
    }

    fn may_be_left(&self, _request: &TaskRequest) -> bool {
        false
    }
}

#[tokio::test]
async fn what_waits_for_room_when_the_process_stops_is_not_tried_in_vain() {
    let (store, full, visited) = (store(), Arc::new(Full::default()), Arc::new(Visited::default()));
    let process = |first: u64| {
        let (store, full, visited) = (store.clone(), full.clone(), visited.clone());
        let random = Arc::new(Counter::from(first));
        LocalExecutions::new(one_task(), store, full, visited, standing(), random)
    };
    let first = process(1);
    first.start("r1", &input("plan")).await.unwrap();
    full.asked.notified().await;
    tokio::join!(first.stop(), async { full.stops.notify_one() });
    let second = process(1 << 20);
    assert_eq!(second.resume().await.unwrap(), 1);
    visited.reached(&["Done"]).await;
    second.stop().await;
}

#[tokio::test]
async fn waiting_for_room_is_no_part_of_the_time_of_a_task() {
    let (visited, random) = (Arc::new(Visited::default()), Arc::new(Counter::default()));
    let (resources, observer) = (Arc::new(Queued), visited.clone());
    let executions =
        LocalExecutions::new(one_task(), store(), resources, observer, standing(), random);
    executions.start("r1", &input("plan")).await.unwrap();
    visited.reached(&["Done"]).await;
    executions.stop().await;
}

#[tokio::test]
async fn an_execution_that_cannot_be_read_keeps_all_from_being_begun() {
    let (store, script) = (store(), asking(answers("success")));
    let first = process(&store, &script, standing());
    first.executions.stop().await;
    first.executions.start("r1", &input("deploy")).await.unwrap();
    store.put_if_absent(&Key::new("r2").unwrap(), "{}".into()).await.unwrap();
    let second = process(&store, &script, standing());
    let error = second.executions.resume().await.unwrap_err().to_string();
    assert!(error.contains("the execution r2"), "{error}");
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    second.executions.stop().await;
    assert_eq!(script.times("FetchFunction"), 0);
}
