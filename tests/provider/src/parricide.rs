//! `kill -9` for whoever started the provider, at a call of a test's choice.

use crate::world::World;
use rustix::process::{Signal, getppid, kill_process};
use std::io;

/// Kills the parent once the log of calls has so many ends, of this process and of others.
pub(crate) struct Parricide {
    after: usize,
}

impl Parricide {
    /// What `TEST_PROVIDER_KILL_PARENT_AFTER` asks for.
    pub(crate) fn from_environment() -> Option<Parricide> {
        let after = std::env::var("TEST_PROVIDER_KILL_PARENT_AFTER").ok()?.parse().ok()?;
        Some(Parricide { after })
    }

    /// Called when a call has ended and is not answered. Does not return from the deed, so that no
    /// answer arrives; whoever watches over plugins has to end this process.
    pub(crate) fn consider(&self, world: &World) -> io::Result<()> {
        let ended = world.calls()?.iter().filter(|call| call.phase != "started").count();
        if ended < self.after {
            return Ok(());
        }
        if let Some(parent) = getppid() {
            kill_process(parent, Signal::KILL)?;
        }
        loop {
            std::thread::park();
        }
    }
}
