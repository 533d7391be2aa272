//! Progress as programs follow it: one JSON object a line, version 1.2 of Terraform's UI messages.

mod hook;
mod message;
mod module_tests;
mod resource;

use crate::activity::{Activity, Clock};
use crate::json::{Escape, Fields, Json};
use crate::plan_view::{PlanView, is_moved};
use crate::product::{NAME, TERRAFORM_VERSION};
use crate::progress::{SharedWriter, completion};
use crate::value_json::{known, type_json};
use crate::verdicts::{self, PlanVerdicts};
use engine::changes::{Action, ResourceInstanceChange, Summary};
use engine::verdict::{Outcome, RejectCode};
use language::diagnostics::{Diagnostic, Severity};
use language::source::Sources;
use message::{Level, Message};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::Value;

pub use module_tests::{RunProgress, TestPlace};

/// Version of the messages.
pub const UI_VERSION: &str = "1.2";

/// Writes events, as methods are called and as a hook. A writer that fails is not an error: work
/// goes on where nobody can follow it.
pub struct Stream {
    out: SharedWriter,
    clock: Clock,
    activity: Mutex<Activity>,
}

/// Which operation a summary speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A plan was made.
    Plan,
    /// A plan was applied.
    Apply,
    /// Everything was destroyed.
    Destroy,
}

impl Stream {
    /// Writes to `out`.
    pub fn new(out: SharedWriter, clock: Clock) -> Stream {
        Stream { out, clock, activity: Mutex::new(Activity::default()) }
    }

    /// The first message: which program, and which version of the messages.
    pub fn version(&self, own_version: &str) {
        let message = Message::new(format!("{NAME} {own_version}"), "version")
            .with("plumbline", Json::string(own_version))
            .with("terraform", Json::string(TERRAFORM_VERSION))
            .with("ui", Json::string(UI_VERSION));
        self.write(message);
    }

    /// A sentence.
    pub fn log(&self, text: &str) {
        self.write(Message::new(text, "log"));
    }

    /// A step of an initialization, with the code that programs know it by.
    pub fn initialization(&self, code: &str, text: &str) {
        self.write(Message::new(text, "init_output").with("message_code", Json::string(code)));
    }

    /// Errors and warnings.
    pub fn diagnostics<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        sources: &Sources,
    ) {
        for diagnostic in diagnostics {
            self.write(diagnostic_message(diagnostic, sources));
        }
    }

    /// What stages of a plan came to; where it is refused, with the code of the refusal.
    pub fn verdicts(&self, verdicts: &PlanVerdicts<'_>) {
        let mut text = String::new();
        verdicts.push_json(&mut text);
        let message = match verdicts.result() {
            Outcome::Reject => {
                Message::new("The plan is rejected", "plan_verdicts").level(Level::Error)
            }
            _ => Message::new("The plan was checked", "plan_verdicts"),
        };
        let message = match verdicts.code() {
            Some(code) => message.with_text("code", verdicts::json(&code)),
            None => message,
        };
        self.write(message.with_text("verdicts", text));
    }

    /// That a plan is refused before its stages could say why.
    pub fn refused(&self, code: RejectCode) {
        let message = Message::new("The plan is rejected", "plan_verdicts").level(Level::Error);
        self.write(message.with_text("code", verdicts::json(&code)));
    }

    /// What a plan proposes: drift, changes, summary, outputs.
    pub fn plan(&self, view: &PlanView<'_>) {
        for change in view.drift() {
            let (action, json) = change_json(view, change);
            let text = format!("{}: Drift detected ({action})", change.address);
            self.write(Message::new(text, "resource_drift").with_text("change", json));
        }
        let mut summary = Summary { import: view.imports.len(), ..Summary::default() };
        for change in view.changes() {
            match change.action {
                Action::Create => summary.add += 1,
                Action::Update => summary.change += 1,
                Action::Delete => summary.destroy += 1,
                Action::DeleteThenCreate | Action::CreateThenDelete => {
                    summary.add += 1;
                    summary.destroy += 1;
                }
                Action::Forget => summary.forget += 1,
                Action::NoOp | Action::Read => {}
            }
            let imported = view.import(change).is_some();
            if change.action != Action::NoOp || is_moved(change) || imported {
                let (action, json) = change_json(view, change);
                let text = format!("{}: Plan to {action}", change.address);
                self.write(Message::new(text, "planned_change").with_text("change", json));
            }
        }
        self.change_summary(summary, Operation::Plan);
        let outputs = &view.plan.changes.outputs;
        if outputs.is_empty() {
            return;
        }
        let text = object(|fields| {
            for (name, output) in outputs {
                let mut one = Fields::begin(fields.key(name), Escape::Minimal);
                one.bool("sensitive", output.sensitive);
                one.string("action", action_word(output.action));
                one.end();
            }
        });
        self.write(
            Message::new(format!("Outputs: {}", outputs.len()), "outputs")
                .with_text("outputs", text),
        );
    }

    /// How much is to be done, or was done.
    pub fn change_summary(&self, summary: Summary, operation: Operation) {
        let (word, text) = match operation {
            Operation::Plan => {
                let imports = match summary.import {
                    0 => String::new(),
                    n => format!("{n} to import, "),
                };
                let Summary { add, change, destroy, .. } = summary;
                let text = format!(
                    "Plan: {imports}{add} to add, {change} to change, {destroy} to destroy."
                );
                ("plan", text)
            }
            Operation::Apply => ("apply", completion(summary, false)),
            Operation::Destroy => ("destroy", completion(summary, true)),
        };
        let changes = object(|fields| {
            fields.raw("add", summary.add);
            fields.raw("change", summary.change);
            fields.raw("import", summary.import);
            fields.raw("remove", summary.destroy);
            fields.string("operation", word);
        });
        self.write(Message::new(text, "change_summary").with_text("changes", changes));
    }

    /// The outputs after an apply; sensitive ones without their values.
    pub fn outputs(&self, outputs: &BTreeMap<Arc<str>, Value>) {
        let text = object(|fields| {
            for (name, value) in outputs {
                let sensitive = value.marks().is_sensitive();
                let mut one = Fields::begin(fields.key(name), Escape::Minimal);
                one.bool("sensitive", sensitive);
                one.json("type", &type_json(&value.ty()));
                if !sensitive {
                    one.json("value", &known(value));
                }
                one.end();
            }
        });
        self.write(
            Message::new(format!("Outputs: {}", outputs.len()), "outputs")
                .with_text("outputs", text),
        );
    }

    /// How much was done so far.
    pub fn done(&self) -> Summary {
        self.activity().done
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, message: Message) {
        let line = message.line((self.clock)());
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

fn diagnostic_message(diagnostic: &Diagnostic, sources: &Sources) -> Message {
    let (level, word) = match diagnostic.severity {
        Severity::Error => (Level::Error, "Error"),
        Severity::Warning => (Level::Warn, "Warning"),
    };
    let view = language::rendering::view(diagnostic, sources);
    // Serializing plain data cannot fail.
    let text = serde_json::to_string(&view).unwrap_or_else(|_| "null".to_owned());
    let summary = format!("{word}: {}", diagnostic.summary);
    Message::new(summary, "diagnostic").level(level).with_text("diagnostic", text)
}

/// An object's text, field by field.
fn object(write: impl FnOnce(&mut Fields<'_>)) -> String {
    let mut out = String::new();
    let mut fields = Fields::begin(&mut out, Escape::Minimal);
    write(&mut fields);
    fields.end();
    out
}

/// A planned change, and the word for its action.
fn change_json(view: &PlanView<'_>, change: &ResourceInstanceChange) -> (&'static str, String) {
    let import = view.import(change);
    let action = match change.action {
        Action::NoOp if is_moved(change) => "move",
        Action::NoOp if import.is_some() => "import",
        action => action_word(action),
    };
    let json = object(|fields| {
        resource::push(&change.address, fields.key("resource"));
        if let Some(previous) = change.previous_address.as_ref().filter(|_| is_moved(change)) {
            resource::push(previous, fields.key("previous_resource"));
        }
        fields.string("action", action);
        if let Some(reason) = change.reason {
            fields.string("reason", resource::reason_word(reason));
        }
        if let Some(import) = import {
            let mut importing = Fields::begin(fields.key("importing"), Escape::Minimal);
            if let Some(id) = &import.id {
                importing.string("id", id);
            }
            importing.end();
            if let Some(config) = &import.generated_config {
                fields.string("generated_config", config);
            }
        }
    });
    (action, json)
}

fn action_word(action: Action) -> &'static str {
    match action {
        Action::NoOp => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Delete => "delete",
        Action::Forget => "remove",
    }
}
