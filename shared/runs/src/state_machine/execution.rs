//! One execution: where it is, and how it goes on from there. Nothing here waits, and nothing is done.

use super::definition::{Definition, Resource, State, Task};
use super::retrying::covers;
use engine::identifiers::WriteId;
use engine::random::Random;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) const FORMAT: u32 = 1;
/// More states than this without a task or a wait between them are a circle.
const LONGEST_CHAIN: usize = 1_000;
/// The errors that the language itself has.
pub(super) const TIMEOUT: &str = "States.Timeout";
const RUNTIME: &str = "States.Runtime";
/// What Lambda says of a function whose process ended.
const EXIT: &str = "Runtime.ExitError";

/// The record of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Execution {
    pub(super) format: u32,
    pub(super) write_id: WriteId,
    pub(super) name: String,
    /// A task or a wait, or the last state of all.
    pub(super) state: String,
    /// What the state is given.
    data: Value,
    /// How often each retrier of the state was used.
    #[serde(default)]
    retries: Vec<u32>,
    pub(super) standing: Standing,
}

/// How far its state is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Standing {
    /// To be done, from this moment on; seconds since the epoch.
    Due { at: i64 },
    /// Its task is being done.
    Begun {
        /// Since when.
        at: i64,
        /// What an answer names, where the task waits for one.
        token: Option<String>,
        /// Whether what was begun has ended, and the answer alone is waited for.
        returned: bool,
        /// The answer.
        answer: Option<TokenAnswer>,
    },
    /// Over.
    Ended { at: i64, error: Option<String> },
}

/// What somebody answered to a task token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TokenAnswer {
    Succeeded,
    Failed { error: String },
}

/// What an execution needs next.
#[derive(Debug, PartialEq)]
pub(super) enum Need {
    /// That a moment comes, or an answer to its token before.
    Moment(i64),
    /// That its task is begun.
    Begin,
    /// That its task is done.
    Task {
        resource: Resource,
        parameters: Value,
        seconds: u32,
    },
    /// That its wait for an answer ends: it is there, or its time is over.
    EndOfWait,
    Nothing,
}

/// What its surroundings are.
pub(super) struct Step<'a> {
    pub(super) definition: &'a Definition,
    pub(super) now: i64,
    pub(super) random: &'a dyn Random,
    /// Is told the name of every state that is entered.
    pub(super) entered: &'a (dyn Fn(&str) + Sync),
}

impl Execution {
    pub(super) fn new(step: &Step<'_>, name: &str, input: Value) -> Execution {
        let mut execution = Execution {
            format: FORMAT,
            write_id: WriteId::new(step.random),
            name: name.to_owned(),
            state: String::new(),
            data: Value::Null,
            retries: Vec::new(),
            standing: Standing::Due { at: step.now },
        };
        execution.enter(step, &step.definition.start_at, input);
        execution
    }

    /// Enters a state, and those that follow from it, up to one that takes time.
    fn enter(&mut self, step: &Step<'_>, name: &str, data: Value) {
        let (mut name, mut data) = (name.to_owned(), data);
        for _ in 0..LONGEST_CHAIN {
            (step.entered)(&name);
            self.state.clone_from(&name);
            self.retries.clear();
            let next = match step.definition.states.get(&name) {
                Some(State::Choice(choice)) => {
                    let is = |path: &super::path::Path, text: &str| {
                        path.find(&data, &Value::Null).and_then(Value::as_str) == Some(text)
                    };
                    let mut rules = choice.choices.iter();
                    let rule = rules.find(|rule| is(&rule.variable, &rule.string_equals));
                    Ok(rule.map_or(&choice.default, |rule| &rule.next).clone())
                }
                Some(State::Pass(pass)) => {
                    let filled = pass.parameters.fill(&data, &Value::Null);
                    filled.map(|filled| {
                        data = filled;
                        pass.next.clone()
                    })
                }
                Some(State::Wait(wait)) => {
                    let moment = wait.timestamp_path.find(&data, &Value::Null);
                    let moment = moment.and_then(Value::as_str).and_then(|text| text.parse().ok());
                    moment.ok_or_else(|| wait.timestamp_path.text.clone()).map(|at: Timestamp| {
                        self.standing = Standing::Due { at: at.as_second() };
                        String::new()
                    })
                }
                Some(State::Task(_)) => {
                    self.standing = Standing::Due { at: step.now };
                    Ok(String::new())
                }
                Some(State::Succeed) => {
                    self.standing = Standing::Ended { at: step.now, error: None };
                    Ok(String::new())
                }
                Some(State::Fail(fail)) => {
                    let error = Some(fail.error.clone());
                    self.standing = Standing::Ended { at: step.now, error };
                    Ok(String::new())
                }
                None => Err(name.clone()),
            };
            match next {
                Ok(next) if next.is_empty() => return self.data = data,
                Ok(next) => name = next,
                Err(_) => break,
            }
        }
        self.data = data;
        self.standing = Standing::Ended { at: step.now, error: Some(RUNTIME.to_owned()) };
    }

    fn task<'d>(&self, definition: &'d Definition) -> Option<&'d Task> {
        match definition.states.get(&self.state) {
            Some(State::Task(task)) => Some(task),
            _ => None,
        }
    }

    /// What it needs next.
    pub(super) fn need(&self, step: &Step<'_>) -> Need {
        let task = self.task(step.definition);
        match (&self.standing, task) {
            (Standing::Due { at }, _) if *at > step.now => Need::Moment(*at),
            (Standing::Due { .. }, _) => Need::Begin,
            // It may have come before anybody waited for it, or while it was being asked for.
            (Standing::Begun { answer: Some(_), .. }, Some(_)) => Need::EndOfWait,
            (Standing::Begun { at, returned: true, .. }, Some(task)) => {
                match at.saturating_add(i64::from(task.timeout_seconds)) {
                    until if until > step.now => Need::Moment(until),
                    _ => Need::EndOfWait,
                }
            }
            (Standing::Begun { token, .. }, Some(task)) => {
                let context = json!({"Task": {"Token": token}});
                // What cannot be filled was found out before it was begun.
                let parameters = task.parameters.fill(&self.data, &context).unwrap_or_default();
                let (resource, seconds) = (task.resource, task.timeout_seconds);
                Need::Task { resource, parameters, seconds }
            }
            // The definition knows its state no longer.
            (Standing::Begun { .. }, None) => Need::Begin,
            (Standing::Ended { .. }, _) => Need::Nothing,
        }
    }

    /// Begins what is due: goes on from a wait, or marks a task as begun, so that a later process knows that it may have been.
    pub(super) fn begin(&mut self, step: &Step<'_>) {
        let Some(task) = self.task(step.definition) else {
            let next = match step.definition.states.get(&self.state) {
                Some(State::Wait(wait)) => Some(&wait.next),
                _ => None,
            };
            let data = std::mem::take(&mut self.data);
            // A state that the definition no longer has ends as one that is none.
            return self.enter(step, next.map_or("", String::as_str), data);
        };
        let token = (task.resource == Resource::InvokeAndWait)
            .then(|| format!("{}.{}", self.name, WriteId::new(step.random)));
        let context = json!({"Task": {"Token": token}});
        match task.parameters.fill(&self.data, &context) {
            Ok(_) => {
                self.standing =
                    Standing::Begun { at: step.now, token, returned: false, answer: None };
            }
            Err(_) => self.fail(step, RUNTIME),
        }
    }

    /// Takes back that a task was begun: it was stopped by us before it did anything that counts. An answer that is there ends it
    /// all the same.
    pub(super) fn put_back(&mut self, step: &Step<'_>) {
        if let Standing::Begun { returned: false, answer: None, .. } = &self.standing {
            self.standing = Standing::Due { at: step.now };
        }
    }

    /// What a task came to.
    pub(super) fn done(&mut self, step: &Step<'_>, result: Result<Value, &str>) {
        let Some(task) = self.task(step.definition) else { return };
        let Standing::Begun { returned: returned @ false, answer, .. } = &mut self.standing else {
            // It is noted already, by a write of which it was not known that it was done.
            return;
        };
        if answer.is_some() {
            // Whoever answered was asked, whatever became of the asking.
            return self.end_wait(step);
        }
        match (result, task.resource) {
            (Err(error), _) => self.fail(step, error),
            (Ok(_), Resource::InvokeAndWait) => *returned = true,
            (Ok(answer), Resource::Invoke) => self.succeed(step, json!({"Payload": answer})),
            (Ok(answer), Resource::PutEvents) => self.succeed(step, answer),
        }
    }

    /// Notes an answer to its token. Whether the token is waited for.
    pub(super) fn answer(&mut self, named: &str, given: TokenAnswer) -> bool {
        match &mut self.standing {
            Standing::Begun { token: Some(token), answer: answer @ None, .. } if token == named => {
                *answer = Some(given);
                true
            }
            _ => false,
        }
    }

    /// Goes on with the answer to its token, or without one where its time is over.
    pub(super) fn end_wait(&mut self, step: &Step<'_>) {
        if self.need(step) != Need::EndOfWait {
            return;
        }
        let answer = match &self.standing {
            Standing::Begun { answer, .. } => answer.clone(),
            _ => None,
        };
        match answer {
            Some(TokenAnswer::Succeeded) => self.succeed(step, json!({})),
            Some(TokenAnswer::Failed { error }) => self.fail(step, &error),
            None => self.fail(step, TIMEOUT),
        }
    }

    /// The process that was at work is gone, as a function's may be. Where the answer to its token is there, nothing is lost.
    pub(super) fn resume(&mut self, step: &Step<'_>) {
        let Standing::Begun { token, returned: false, answer: None, .. } = &mut self.standing
        else {
            return;
        };
        let token = token.take();
        match self.repeats(step, EXIT) {
            // At once, since the restart was pause enough; and with the same token, which somebody may be about to answer.
            Some(_) => {
                self.standing =
                    Standing::Begun { at: step.now, token, returned: false, answer: None };
            }
            None => self.fail(step, EXIT),
        }
    }

    fn succeed(&mut self, step: &Step<'_>, result: Value) {
        let Some(task) = self.task(step.definition) else { return };
        let selected = match &task.result_selector {
            None => Ok(result),
            Some(selector) => selector.fill(&result, &Value::Null),
        };
        let output = selected.and_then(|selected| {
            let placed = task.result_path.place(&self.data, selected);
            match &task.output_path {
                None => Ok(placed),
                Some(path) => {
                    path.find(&placed, &Value::Null).cloned().ok_or_else(|| path.text.clone())
                }
            }
        });
        match output {
            Ok(output) => self.enter(step, &task.next, output),
            Err(_) => self.fail(step, RUNTIME),
        }
    }

    /// Whether the task is repeated after an error, which then counts; the seconds to wait before.
    fn repeats(&mut self, step: &Step<'_>, error: &str) -> Option<i64> {
        let task = self.task(step.definition)?;
        self.retries.resize(task.retry.len(), 0);
        let mut retriers = task.retry.iter().zip(&mut self.retries);
        let (retrier, used) = retriers.find(|(retrier, _)| retrier.covers(error))?;
        if *used >= retrier.max_attempts {
            return None;
        }
        let pause = retrier.pause(*used, step.random);
        *used += 1;
        Some(pause)
    }

    /// An error: tried again, caught, or the end.
    fn fail(&mut self, step: &Step<'_>, error: &str) {
        let Some(task) = self.task(step.definition) else { return };
        if error == RUNTIME {
            // A fault of the definition, which it cannot catch.
            self.standing = Standing::Ended { at: step.now, error: Some(error.to_owned()) };
            return;
        }
        if let Some(pause) = self.repeats(step, error) {
            self.standing = Standing::Due { at: step.now.saturating_add(pause) };
            return;
        }
        let caught = task.catch.iter().find(|catcher| covers(&catcher.error_equals, error));
        match caught {
            Some(catcher) => {
                let told = json!({"Error": error, "Cause": ""});
                let data = catcher.result_path.place(&self.data, told);
                self.enter(step, &catcher.next, data);
            }
            None => {
                self.standing = Standing::Ended { at: step.now, error: Some(error.to_owned()) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Execution, Standing, Step};
    use crate::state_machine::Definition;
    use engine::random::Random;
    use serde_json::json;

    struct Zeros;

    impl Random for Zeros {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    #[test]
    fn what_a_task_came_to_counts_once() {
        let definition = include_str!("../../../../functions/run.asl.json");
        let definition = Definition::parse(definition).unwrap();
        let step = Step { definition: &definition, now: 0, random: &Zeros, entered: &|_| {} };
        let run = json!({"mode": "apply"});
        let mut execution = Execution::new(&step, "r1", json!({"run": run}));
        assert_eq!(execution.state, "Validate");
        execution.begin(&step);
        // It is noted again where the store did not say that it was.
        for _ in 0..2 {
            execution.done(&step, Ok(json!({"answer": "success", "run": run})));
            assert_eq!(execution.state, "Apply");
            assert_eq!(execution.standing, Standing::Due { at: 0 });
        }
    }
}
