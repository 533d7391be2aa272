//! Progress as people follow it: one line for each step.

use crate::activity::{Activity, Clock, Operation, duration};
use crate::colour::Colour;
use crate::ephemeral::words;
use crate::object_label::Label;
use crate::unanswered::waiting;
use engine::changes::{Action, Summary};
use engine::hooks::{EphemeralStep, Hook, HookAction, HookObject};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::Value;
use values::address::ResourceInstance;

/// A writer that several views may share.
pub type SharedWriter = Arc<Mutex<Box<dyn Write + Send>>>;

/// Longest id that is repeated while an operation runs.
const LONGEST_ID: usize = 80;

/// A hook that writes a line for each step. A writer that fails is not written to again.
pub struct Progress {
    out: SharedWriter,
    clock: Clock,
    colour: Colour,
    activity: Mutex<Activity>,
}

impl Progress {
    /// Writes to `out`.
    pub fn new(out: SharedWriter, clock: Clock, colour: Colour) -> Progress {
        Progress { out, clock, colour, activity: Mutex::new(Activity::default()) }
    }

    /// Writes a line for each operation that has run for another ten seconds. To be called about
    /// once a second.
    pub fn tick(&self) {
        let now = (self.clock)();
        for operation in self.activity().due(now) {
            let verb = match operation.action {
                Action::Update => "Still modifying...",
                Action::Delete => "Still destroying...",
                Action::Read => "Still reading...",
                _ => "Still creating...",
            };
            let id = match &operation.label {
                Some(label) => format!("{}={}, ", label.key, truncated(&label.value)),
                None => String::new(),
            };
            self.line(
                "[reset][bold]{}: {} [{}{} elapsed][reset]",
                &[&operation.address.to_string(), verb, &id, &duration(operation.elapsed(now))],
            );
        }
        for due in self.activity().ephemeral.due(now) {
            self.line(
                "[reset][bold]{}: Still {}... [{} elapsed][reset]",
                &[&due.address.to_string(), words(due.step).progress, &duration(due.elapsed)],
            );
        }
    }

    /// How much was done so far.
    pub fn done(&self) -> Summary {
        self.activity().done
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, template: &str, arguments: &[&str]) {
        self.write(self.colour.paint(template, arguments));
    }

    fn write(&self, mut line: String) {
        line.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // Work goes on where nobody can follow it.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }

    fn begin(&self, object: &HookObject<'_>, action: Action, verb: &str, label: Option<Label>) {
        let suffix = Label::suffix(label.as_ref());
        self.line("[reset][bold]{}: {}{}[reset]", &[&name(object), verb, &suffix]);
        self.activity().begin(object, action, label, (self.clock)());
    }

    fn end(&self, object: &HookObject<'_>, succeeded: bool, after: Option<&Value>) {
        let operation = self.activity().end(object, succeeded);
        // Failures are reported as diagnostics.
        let Some(operation) = operation.filter(|_| succeeded) else { return };
        let noun = match operation.action {
            Action::Create => "Creation complete",
            Action::Update => "Modifications complete",
            Action::Delete => "Destruction complete",
            Action::Read => "Read complete",
            _ => return,
        };
        let suffix = Label::suffix(after.and_then(Label::id).as_ref());
        let elapsed = self.elapsed(&operation);
        self.line("[reset][bold]{}: {} after {}{}", &[&name(object), noun, &elapsed, &suffix]);
    }

    fn elapsed(&self, operation: &Operation) -> String {
        duration(operation.elapsed((self.clock)()))
    }
}

impl Hook for Progress {
    fn pre_refresh(&self, object: &HookObject<'_>, before: &Value) -> HookAction {
        let suffix = Label::suffix(Label::id(before).as_ref());
        self.line("[reset][bold]{}: Refreshing state...{}", &[&name(object), &suffix]);
        HookAction::Continue
    }

    fn pre_import(&self, address: &ResourceInstance, id: &str) -> HookAction {
        let name = address.to_string();
        self.line("[reset][bold]{}: Preparing import... [id={}][reset]", &[&name, id]);
        HookAction::Continue
    }

    fn post_import(&self, address: &ResourceInstance, id: &str) -> HookAction {
        let name = address.to_string();
        self.line("[reset][bold]{}: Import complete [id={}][reset]", &[&name, id]);
        HookAction::Continue
    }

    fn pre_read(&self, address: &ResourceInstance) -> HookAction {
        let object = HookObject { address, deposed: None };
        self.begin(&object, Action::Read, "Reading...", None);
        HookAction::Continue
    }

    fn post_read(&self, address: &ResourceInstance, result: Result<&Value, &str>) -> HookAction {
        let object = HookObject { address, deposed: None };
        self.end(&object, result.is_ok(), result.ok());
        HookAction::Continue
    }

    fn pre_apply(
        &self,
        object: &HookObject<'_>,
        action: Action,
        before: &Value,
        _after: &Value,
    ) -> HookAction {
        let verb = match action {
            Action::Create => "Creating...",
            Action::Update => "Modifying...",
            Action::Delete => "Destroying...",
            Action::Read => "Reading...",
            // To forget an object is no work that could be followed.
            _ => {
                self.activity().begin(object, action, None, (self.clock)());
                return HookAction::Continue;
            }
        };
        self.begin(object, action, verb, Label::id_or_name(before));
        HookAction::Continue
    }

    fn post_apply(
        &self,
        object: &HookObject<'_>,
        _action: Action,
        after: &Value,
        error: Option<&str>,
    ) -> HookAction {
        self.end(object, error.is_none(), Some(after));
        HookAction::Continue
    }

    fn pre_provision(&self, address: &ResourceInstance, kind: &str) -> HookAction {
        let template = "[reset][bold]{}: Provisioning with '{}'...[reset]";
        self.line(template, &[&address.to_string(), kind]);
        HookAction::Continue
    }

    fn provision_output(&self, address: &ResourceInstance, kind: &str, line: &str) {
        let mut text = String::new();
        if !line.is_empty() {
            let prefix = "[reset][bold]{} ({}):[reset] ";
            text = self.colour.paint(prefix, &[&address.to_string(), kind]) + line;
        }
        self.write(text);
    }

    fn ephemeral_deferred(&self, address: &ResourceInstance) -> HookAction {
        let template = "[reset][bold]{}: Configuration unknown, deferring...[reset]";
        self.line(template, &[&address.to_string()]);
        HookAction::Continue
    }

    fn pre_ephemeral(&self, address: &ResourceInstance, step: EphemeralStep) -> HookAction {
        let start = words(step).start;
        self.line("[reset][bold]{}: {}...[reset]", &[&address.to_string(), start]);
        self.activity().ephemeral.begin(address, step, (self.clock)());
        HookAction::Continue
    }

    fn post_ephemeral(
        &self,
        address: &ResourceInstance,
        step: EphemeralStep,
        error: Option<&str>,
    ) -> HookAction {
        let elapsed = duration(self.activity().ephemeral.end(address, (self.clock)()));
        // Failures are reported as diagnostics.
        if error.is_none() {
            let arguments = [&address.to_string(), words(step).noun, &elapsed];
            self.line("[reset][bold]{}: {} complete after {}", &arguments);
        }
        HookAction::Continue
    }

    fn unanswered(&self, addresses: &[ResourceInstance], until: Timestamp) {
        self.line("[reset][bold]{}[reset]", &[&waiting(addresses, until)]);
    }

    fn stopping(&self) {
        self.line("Stopping operation...", &[]);
    }
}

fn name(object: &HookObject<'_>) -> String {
    match object.deposed {
        Some(key) => format!("{} (deposed object {key})", object.address),
        None => object.address.to_string(),
    }
}

/// The middle of a long id makes way for `...`.
fn truncated(id: &str) -> String {
    let chars: Vec<char> = id.chars().collect();
    if chars.len() <= LONGEST_ID {
        return id.to_owned();
    }
    let head = (LONGEST_ID - 3) / 2;
    let tail = LONGEST_ID - 3 - head;
    let start: String = chars[..head].iter().collect();
    let end: String = chars[chars.len() - tail..].iter().collect();
    format!("{start}...{end}")
}

/// The line that ends an apply: how much was done.
pub fn completion(done: Summary, destroying: bool) -> String {
    if destroying {
        return format!("Destroy complete! Resources: {} destroyed.", done.destroy);
    }
    let imported = match done.import {
        0 => String::new(),
        n => format!("{n} imported, "),
    };
    format!(
        "Apply complete! Resources: {imported}{} added, {} changed, {} destroyed.",
        done.add, done.change, done.destroy
    )
}

/// Writes how much was done, and the outputs.
///
/// # Errors
/// Those of the writer.
pub fn write_completion(
    done: Summary,
    destroying: bool,
    outputs: &BTreeMap<Arc<str>, Value>,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    let template = "[reset][bold][green]\n{}\n";
    write!(out, "{}", colour.paint(template, &[&completion(done, destroying)]))?;
    write_outputs(outputs, colour, out)
}

/// Writes root outputs under their heading; nothing where there are none.
///
/// # Errors
/// Those of the writer.
pub fn write_outputs(
    outputs: &BTreeMap<Arc<str>, Value>,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    if outputs.is_empty() {
        return Ok(());
    }
    write!(out, "{}", colour.paint("[reset][bold][green]\nOutputs:\n\n", &[]))?;
    crate::outputs::write_all(outputs, out)
}
