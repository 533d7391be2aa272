//! Hooks: what the engine tells while it works. Views are hooks.

use crate::changes::{Action, OutputChange, ResourceInstanceChange};
use crate::object::DeposedKey;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::ResourceInstance;

/// Whether the engine goes on after a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HookAction {
    /// Go on.
    #[default]
    Continue,
    /// Begin nothing new.
    Halt,
}

/// Which object of an instance a hook speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookObject<'a> {
    /// The instance.
    pub address: &'a ResourceInstance,
    /// The deposed object, if it is one.
    pub deposed: Option<&'a DeposedKey>,
}

/// What is done with an ephemeral resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EphemeralStep {
    /// It is opened, before the first use.
    Open,
    /// It is renewed, before its time is up.
    Renew,
    /// It is closed, after the last use.
    Close,
}

/// Observer of an operation. Every method has a default that does nothing. Methods are called from
/// several threads and must return quickly.
#[allow(unused_variables)]
pub trait Hook: Send + Sync {
    /// An object is about to be read from the world.
    fn pre_refresh(&self, object: &HookObject<'_>, before: &Value) -> HookAction {
        HookAction::Continue
    }
    /// An object was read; `after` is null where it is gone.
    fn post_refresh(&self, object: &HookObject<'_>, before: &Value, after: &Value) -> HookAction {
        HookAction::Continue
    }
    /// A provider is about to find an object that an instance takes over.
    fn pre_import(&self, address: &ResourceInstance, id: &str) -> HookAction {
        HookAction::Continue
    }
    /// An object that an instance takes over was recorded.
    fn post_import(&self, address: &ResourceInstance, id: &str) -> HookAction {
        HookAction::Continue
    }
    /// A change is about to be planned.
    fn pre_diff(&self, object: &HookObject<'_>) -> HookAction {
        HookAction::Continue
    }
    /// A change was planned.
    fn post_diff(&self, change: &ResourceInstanceChange) -> HookAction {
        HookAction::Continue
    }
    /// A data source is about to be read.
    fn pre_read(&self, address: &ResourceInstance) -> HookAction {
        HookAction::Continue
    }
    /// A data source was read.
    fn post_read(&self, address: &ResourceInstance, result: Result<&Value, &str>) -> HookAction {
        HookAction::Continue
    }
    /// A provider is about to be asked to make a change. `action` is create, update, delete or
    /// forget: a replacement is two calls.
    fn pre_apply(
        &self,
        object: &HookObject<'_>,
        action: Action,
        before: &Value,
        after: &Value,
    ) -> HookAction {
        HookAction::Continue
    }
    /// The provider answered and the result is recorded; `error` is a message without sensitive
    /// values.
    fn post_apply(
        &self,
        object: &HookObject<'_>,
        action: Action,
        after: &Value,
        error: Option<&str>,
    ) -> HookAction {
        HookAction::Continue
    }
    /// A provisioner of this kind is about to run.
    fn pre_provision(&self, address: &ResourceInstance, kind: &str) -> HookAction {
        HookAction::Continue
    }
    /// A line that a provisioner writes, or what stands for one that may not be shown.
    fn provision_output(&self, address: &ResourceInstance, kind: &str, line: &str) {}
    /// A provisioner has ended.
    fn post_provision(
        &self,
        address: &ResourceInstance,
        kind: &str,
        succeeded: bool,
    ) -> HookAction {
        HookAction::Continue
    }
    /// An ephemeral resource is not opened in this operation, since its configuration is not known yet.
    fn ephemeral_deferred(&self, address: &ResourceInstance) -> HookAction {
        HookAction::Continue
    }
    /// A provider is about to do something with an ephemeral resource.
    fn pre_ephemeral(&self, address: &ResourceInstance, step: EphemeralStep) -> HookAction {
        HookAction::Continue
    }
    /// It has done that; `error` is a message without the values in question.
    fn post_ephemeral(
        &self,
        address: &ResourceInstance,
        step: EphemeralStep,
        error: Option<&str>,
    ) -> HookAction {
        HookAction::Continue
    }
    /// Root outputs have their final values.
    fn outputs(&self, outputs: &BTreeMap<Arc<str>, OutputChange>) -> HookAction {
        HookAction::Continue
    }
    /// Providers were asked to change these instances and have not answered. What they were asked may still come to pass,
    /// and nothing is concluded before `until`.
    fn unanswered(&self, addresses: &[ResourceInstance], until: Timestamp) {}
    /// A person, or a signal, asked to stop.
    fn stopping(&self) {}
}
