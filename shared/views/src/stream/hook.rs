//! The messages that the engine's steps give rise to.

use super::message::Message;
use super::{Stream, action_word, object, resource};
use crate::activity::{Operation, duration};
use crate::ephemeral::{Due, words as ephemeral_words};
use crate::json::Fields;
use crate::object_label::Label;
use crate::unanswered::waiting;
use engine::changes::Action;
use engine::hooks::{EphemeralStep, Hook, HookAction, HookObject};
use jiff::Timestamp;
use values::Value;
use values::address::ResourceInstance;

impl Stream {
    /// Writes a message for each operation that has run for another ten seconds. To be called about
    /// once a second.
    pub fn tick(&self) {
        let now = (self.clock)();
        for operation in self.activity().due(now) {
            let verb = words(operation.action).progress;
            let elapsed = operation.elapsed(now);
            let text =
                format!("{}: Still {verb}... [{} elapsed]", operation.address, duration(elapsed));
            self.hook(text, "apply_progress", &operation.address, |fields| {
                fields.string("action", action_word(operation.action));
                fields.raw("elapsed_seconds", elapsed);
            });
        }
        for Due { address, step, elapsed } in self.activity().ephemeral.due(now) {
            let words = ephemeral_words(step);
            let text =
                format!("{address}: Still {}... [{} elapsed]", words.progress, duration(elapsed));
            self.hook(text, "ephemeral_op_progress", &address, |fields| {
                fields.string("action", words.action);
                fields.raw("elapsed_seconds", elapsed);
            });
        }
    }

    fn hook(
        &self,
        text: String,
        kind: &str,
        address: &ResourceInstance,
        write: impl FnOnce(&mut Fields<'_>),
    ) {
        let json = object(|fields| {
            resource::push(address, fields.key("resource"));
            write(fields);
        });
        self.write(Message::new(text, kind).with_text("hook", json));
    }

    fn begin(&self, object: &HookObject<'_>, action: Action, label: Option<Label>) {
        let suffix = Label::suffix(label.as_ref());
        let text = format!("{}: {}...{suffix}", object.address, words(action).start);
        self.hook(text, "apply_start", object.address, |fields| {
            fields.string("action", action_word(action));
            push_label(label.as_ref(), fields);
        });
        self.activity().begin(object, action, label, (self.clock)());
    }

    fn end(&self, object: &HookObject<'_>, succeeded: bool, after: Option<&Value>) {
        let Some(operation) = self.activity().end(object, succeeded) else { return };
        if operation.action == Action::Forget {
            return;
        }
        let elapsed = operation.elapsed((self.clock)());
        let noun = words(operation.action).noun;
        let Operation { address, action, .. } = operation;
        match succeeded {
            true => {
                let label = after.and_then(Label::id);
                let suffix = Label::suffix(label.as_ref());
                let text =
                    format!("{address}: {noun} complete after {}{suffix}", duration(elapsed));
                self.hook(text, "apply_complete", &address, |fields| {
                    fields.string("action", action_word(action));
                    push_label(label.as_ref(), fields);
                    fields.raw("elapsed_seconds", elapsed);
                });
            }
            false => {
                let text = format!("{address}: {noun} errored after {}", duration(elapsed));
                self.hook(text, "apply_errored", &address, |fields| {
                    fields.string("action", action_word(action));
                    fields.raw("elapsed_seconds", elapsed);
                });
            }
        }
    }
}

impl Hook for Stream {
    fn pre_refresh(&self, object: &HookObject<'_>, before: &Value) -> HookAction {
        let label = Label::id(before);
        let suffix = Label::suffix(label.as_ref());
        let text = format!("{}: Refreshing state...{suffix}", object.address);
        self.hook(text, "refresh_start", object.address, |fields| {
            push_label(label.as_ref(), fields);
        });
        HookAction::Continue
    }

    fn post_refresh(&self, object: &HookObject<'_>, _before: &Value, after: &Value) -> HookAction {
        let label = Label::id(after);
        let suffix = Label::suffix(label.as_ref());
        let text = format!("{}: Refresh complete{suffix}", object.address);
        self.hook(text, "refresh_complete", object.address, |fields| {
            push_label(label.as_ref(), fields);
        });
        HookAction::Continue
    }

    fn pre_read(&self, address: &ResourceInstance) -> HookAction {
        self.begin(&HookObject { address, deposed: None }, Action::Read, None);
        HookAction::Continue
    }

    fn post_read(&self, address: &ResourceInstance, result: Result<&Value, &str>) -> HookAction {
        self.end(&HookObject { address, deposed: None }, result.is_ok(), result.ok());
        HookAction::Continue
    }

    fn pre_apply(
        &self,
        object: &HookObject<'_>,
        action: Action,
        before: &Value,
        _after: &Value,
    ) -> HookAction {
        match action {
            // To forget an object is no work that could be followed.
            Action::NoOp | Action::Forget => {
                self.activity().begin(object, action, None, (self.clock)());
            }
            _ => self.begin(object, action, Label::id_or_name(before)),
        }
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
        let text = format!("{address}: Provisioning with '{kind}'...");
        self.hook(text, "provision_start", address, |fields| fields.string("provisioner", kind));
        HookAction::Continue
    }

    fn provision_output(&self, address: &ResourceInstance, kind: &str, line: &str) {
        if line.is_empty() {
            return;
        }
        self.hook(
            format!("{address}: ({kind}): {line}"),
            "provision_progress",
            address,
            |fields| {
                fields.string("provisioner", kind);
                fields.string("output", line);
            },
        );
    }

    fn post_provision(
        &self,
        address: &ResourceInstance,
        kind: &str,
        succeeded: bool,
    ) -> HookAction {
        let (noun, message) = match succeeded {
            true => ("complete", "provision_complete"),
            false => ("errored", "provision_errored"),
        };
        let text = format!("{address}: ({kind}) Provisioning {noun}");
        self.hook(text, message, address, |fields| fields.string("provisioner", kind));
        HookAction::Continue
    }

    fn pre_ephemeral(&self, address: &ResourceInstance, step: EphemeralStep) -> HookAction {
        let words = ephemeral_words(step);
        let text = format!("{address}: {}...", words.start);
        self.hook(text, "ephemeral_op_start", address, |fields| {
            fields.string("action", words.action);
        });
        self.activity().ephemeral.begin(address, step, (self.clock)());
        HookAction::Continue
    }

    fn post_ephemeral(
        &self,
        address: &ResourceInstance,
        step: EphemeralStep,
        error: Option<&str>,
    ) -> HookAction {
        let words = ephemeral_words(step);
        let elapsed = self.activity().ephemeral.end(address, (self.clock)());
        let (end, kind) = match error {
            None => ("complete", "ephemeral_op_complete"),
            Some(_) => ("errored", "ephemeral_op_errored"),
        };
        let text = format!("{address}: {} {end} after {}", words.noun, duration(elapsed));
        self.hook(text, kind, address, |fields| {
            fields.string("action", words.action);
            fields.raw("elapsed_seconds", elapsed);
        });
        HookAction::Continue
    }

    fn unanswered(&self, addresses: &[ResourceInstance], until: Timestamp) {
        self.log(&waiting(addresses, until));
    }

    fn stopping(&self) {
        self.log("Stopping operation...");
    }
}

fn push_label(label: Option<&Label>, fields: &mut Fields<'_>) {
    if let Some(label) = label {
        fields.string("id_key", label.key);
        fields.string("id_value", &label.value);
    }
}

struct Words {
    start: &'static str,
    progress: &'static str,
    noun: &'static str,
}

fn words(action: Action) -> Words {
    let (start, progress, noun) = match action {
        Action::Create => ("Creating", "creating", "Creation"),
        Action::Update => ("Modifying", "modifying", "Modifications"),
        Action::Delete => ("Destroying", "destroying", "Destruction"),
        Action::Read => ("Refreshing", "refreshing", "Refresh"),
        _ => ("Applying", "applying", "Apply"),
    };
    Words { start, progress, noun }
}
