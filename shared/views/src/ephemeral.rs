//! Steps of ephemeral resources under way, and what they are called.

use crate::activity::{HEARTBEAT, rounded};
use engine::hooks::EphemeralStep;
use jiff::Timestamp;
use std::collections::HashMap;
use values::address::ResourceInstance;

/// What a step is called.
pub(crate) struct Words {
    /// In messages for programs.
    pub(crate) action: &'static str,
    pub(crate) start: &'static str,
    pub(crate) progress: &'static str,
    pub(crate) noun: &'static str,
}

pub(crate) fn words(step: EphemeralStep) -> Words {
    let (action, start, progress, noun) = match step {
        EphemeralStep::Open => ("open", "Opening", "opening", "Opening"),
        EphemeralStep::Renew => ("renew", "Renewing", "renewing", "Renewal"),
        EphemeralStep::Close => ("close", "Closing", "closing", "Closing"),
    };
    Words { action, start, progress, noun }
}

#[derive(Debug)]
struct Running {
    step: EphemeralStep,
    start: i64,
    beats: i64,
}

/// The steps under way: one at a time for each instance.
#[derive(Debug, Default)]
pub(crate) struct EphemeralSteps(HashMap<ResourceInstance, Running>);

/// A step that has gone on for another while.
pub(crate) struct Due {
    pub(crate) address: ResourceInstance,
    pub(crate) step: EphemeralStep,
    /// Whole seconds since it began.
    pub(crate) elapsed: i64,
}

impl EphemeralSteps {
    pub(crate) fn begin(
        &mut self,
        address: &ResourceInstance,
        step: EphemeralStep,
        now: Timestamp,
    ) {
        self.0.insert(address.clone(), Running { step, start: rounded(now), beats: 0 });
    }

    /// Takes a step out; whole seconds since it began.
    pub(crate) fn end(&mut self, address: &ResourceInstance, now: Timestamp) -> i64 {
        let running = self.0.remove(address);
        running.map_or(0, |running| (rounded(now) - running.start).max(0))
    }

    /// Steps that have gone on for another ten seconds since this was last asked, in the order of their addresses.
    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<Due> {
        let mut due = Vec::new();
        for (address, running) in &mut self.0 {
            let elapsed = (rounded(now) - running.start).max(0);
            if elapsed / HEARTBEAT > running.beats {
                running.beats = elapsed / HEARTBEAT;
                due.push(Due { address: address.clone(), step: running.step, elapsed });
            }
        }
        due.sort_by(|a, b| crate::order::by_address(&a.address, &b.address));
        due
    }
}
