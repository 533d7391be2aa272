use crate::files::FileSystem;
use jiff::Timestamp;
use std::path::Path;

/// What functions may look at beside their arguments.
pub struct FunctionContext<'a> {
    /// Where `file` and its relatives read.
    pub files: &'a dyn FileSystem,
    /// The directory of the module, against which relative paths are taken; itself relative to
    /// where `files` resolves relative paths.
    pub base_directory: &'a Path,
    /// The directory that `abspath` takes relative paths against.
    pub working_directory: &'a Path,
    /// What `~` stands for, where it is known.
    pub home_directory: Option<&'a Path>,
    /// Whether functions that answer differently each time give unknown results, as in a plan.
    pub pure_only: bool,
    /// The wall clock, for `timestamp`.
    pub now: Timestamp,
    /// When the plan was made, for `plantimestamp`; unknown to validation, which has no plan.
    pub plan_timestamp: Option<Timestamp>,
    /// Randomness, for `uuid` and the salt of `bcrypt`.
    pub random: &'a dyn Random,
}

/// A source of bytes that cannot be guessed.
pub trait Random: Send + Sync {
    /// Fills the buffer. Called where nothing can be reported, so an implementation that may fail
    /// must not hand out predictable bytes instead.
    fn fill(&self, buffer: &mut [u8]);
}
