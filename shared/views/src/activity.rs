//! What is being done at the moment, for how long, and how much was done.

use crate::ephemeral::EphemeralSteps;
use crate::object_label::Label;
use engine::changes::{Action, Summary};
use engine::hooks::HookObject;
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use values::address::ResourceInstance;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Seconds between two signs of life of one operation.
pub(crate) const HEARTBEAT: i64 = 10;

/// One operation under way.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) address: ResourceInstance,
    pub(crate) action: Action,
    pub(crate) label: Option<Label>,
    start: i64,
    beats: i64,
}

/// All operations under way.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    running: HashMap<(ResourceInstance, Option<String>), Operation>,
    pub(crate) ephemeral: EphemeralSteps,
    pub(crate) done: Summary,
}

fn key(object: &HookObject<'_>) -> (ResourceInstance, Option<String>) {
    (object.address.clone(), object.deposed.map(ToString::to_string))
}

impl Operation {
    /// Whole seconds since it began.
    pub(crate) fn elapsed(&self, now: Timestamp) -> i64 {
        (rounded(now) - self.start).max(0)
    }
}

impl Activity {
    pub(crate) fn begin(
        &mut self,
        object: &HookObject<'_>,
        action: Action,
        label: Option<Label>,
        now: Timestamp,
    ) {
        let address = object.address.clone();
        let operation = Operation { address, action, label, start: rounded(now), beats: 0 };
        self.running.insert(key(object), operation);
    }

    /// Takes an operation out; counts it if it succeeded.
    pub(crate) fn end(&mut self, object: &HookObject<'_>, succeeded: bool) -> Option<Operation> {
        let operation = self.running.remove(&key(object))?;
        if succeeded {
            match operation.action {
                Action::Create => self.done.add += 1,
                Action::Update => self.done.change += 1,
                Action::Delete => self.done.destroy += 1,
                Action::Forget => self.done.forget += 1,
                _ => {}
            }
        }
        Some(operation)
    }

    /// Operations that have run for another ten seconds since this was last asked, in the order of
    /// their addresses.
    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<Operation> {
        let mut due = Vec::new();
        for operation in self.running.values_mut() {
            let beats = operation.elapsed(now) / HEARTBEAT;
            if beats > operation.beats {
                operation.beats = beats;
                due.push(operation.clone());
            }
        }
        due.sort_by(|a, b| crate::order::by_address(&a.address, &b.address));
        due
    }
}

pub(crate) fn rounded(time: Timestamp) -> i64 {
    (time.as_millisecond() + 500).div_euclid(1000)
}

/// Seconds as `1h2m3s`.
pub(crate) fn duration(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}
