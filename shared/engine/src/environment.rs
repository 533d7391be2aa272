//! What the engine is handed: it reads no clock, file, randomness or environment by itself.

use crate::clock::Clock;
use crate::hooks::{Hook, HookAction};
use crate::random::Random;
use language::files::FileSystem;
use providers::Providers;
use std::path::PathBuf;
use std::sync::Arc;

/// The surroundings of an operation.
#[derive(Clone)]
pub struct Environment {
    /// Where configuration and the files that it names are read.
    pub files: Arc<dyn FileSystem>,
    /// `path.cwd`, and what `abspath` starts from.
    pub working_directory: PathBuf,
    /// What `~` stands for.
    pub home_directory: Option<PathBuf>,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Randomness for ids and for functions.
    pub random: Arc<dyn Random>,
    /// Where providers come from.
    pub providers: Arc<dyn Providers>,
    /// Who observes.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// How many instances are worked on at once.
    pub parallelism: usize,
    /// `terraform.workspace`.
    pub workspace: Arc<str>,
}

impl Environment {
    /// Calls every hook; halts if any says so.
    pub(crate) fn hook(&self, call: impl Fn(&dyn Hook) -> HookAction) -> HookAction {
        self.hooks.iter().fold(HookAction::Continue, |action, hook| match call(&**hook) {
            HookAction::Halt => HookAction::Halt,
            HookAction::Continue => action,
        })
    }
}
