//! Where apply puts what it learns, the moment it learns it.

use crate::checks::CheckResults;
use crate::object::DeposedKey;
use crate::record::body::{ClaimedAction, ClaimedObject, ProvisionersStanding};
use crate::state::{InstanceState, OutputState, State};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::ResourceInstance;

/// A result could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{summary}")]
pub struct RecordError {
    /// One line.
    pub summary: String,
    /// What happened, what it endangers, and what mends it.
    pub detail: String,
}

/// A provider call that is about to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The object that is in flight from now on.
    pub object: ClaimedObject,
    /// What happens to it: [`ClaimedAction::Create`], `Update` or `Delete`; a replacement has two calls.
    pub action: ClaimedAction,
    /// Before a create: the current object is put aside under this key, in the same write.
    pub put_aside: Option<DeposedKey>,
    /// A request token by which the provider finds what it was asked to create.
    pub token: Option<String>,
    /// An identity, fixed by the configuration, by which what is created can be imported.
    pub import_identity: Option<serde_json::Value>,
    /// How far the provisioners are that run once the object is made, where it has any.
    pub provisioners: Option<ProvisionersStanding>,
    /// Whether it may change anything outside the record, itself or by what runs with it.
    pub reaches_outside: bool,
}

impl Call {
    /// A call that reaches outside and leaves nothing by which its outcome could be found out later.
    pub fn new(object: ClaimedObject, action: ClaimedAction) -> Call {
        Call {
            object,
            action,
            put_aside: None,
            token: None,
            import_identity: None,
            provisioners: None,
            reaches_outside: true,
        }
    }

    /// Whether the record has to tell of it before it is made. Of a call that stays within the record nothing is left
    /// where its end is not recorded, and whoever goes on makes it again.
    pub fn needs_announcement(&self) -> bool {
        self.reaches_outside || self.put_aside.is_some() || self.provisioners.is_some()
    }
}

/// A provider must not be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallRefused {
    /// No failure: nothing more is begun in this invocation, and another may go on.
    #[error(transparent)]
    NothingMore(#[from] NothingMore),
    /// The call could not be written down before it is made: this instance and its dependents fail.
    #[error(transparent)]
    Unrecorded(#[from] RecordError),
}

/// Why this invocation begins no further provider call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingMore {
    /// Less time is left before the deadline than a call may need.
    #[error("too little time is left to begin anything more; the next invocation goes on")]
    TimeIsUp,
    /// The lease could not be renewed in time, or this process was suspended beyond its end.
    #[error(
        "the lease has ended, so another invocation may be at work; nothing more is begun here"
    )]
    LeaseEnded,
    /// Another invocation has the transaction, or has fenced it.
    #[error("another invocation has taken the transaction over; nothing more is begun here")]
    TakenOver,
}

/// How far an instance is once its result is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More is to be done to it by this plan: between the two calls of a replacement, after a move or an
    /// import that an update follows, after one of several objects.
    Between,
    /// Nothing more is done to it.
    Done,
    /// Nothing more is done to it, since something failed; its dependents are skipped by every later
    /// invocation too.
    Failed,
    /// We stopped the provider while it worked: the next invocation waits for its read to settle.
    Unfinished,
    /// The object is made, and its provisioners are left to the next invocation.
    BeforeProvisioners,
    /// The object is made and its provisioners are run from now on. This is no end: another write follows, and where
    /// none does, nobody knows how far they came.
    Provisioning,
}

/// What the records say by now, for what is derived from all of them.
#[derive(Clone, Debug, Default)]
pub struct RecordsNow {
    /// All instances, the last results of this invocation perhaps excepted.
    pub state: Arc<State>,
    /// Whether nobody else has written since this invocation looked at them.
    pub alone: bool,
}

/// What came of writing outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputsWritten {
    /// All were recorded so already.
    Unchanged,
    /// Some were written.
    Written,
    /// Somebody else has written one since it was read: all are to be derived again, from the records as they are
    /// by now.
    OthersWereFirst,
}

/// Records of one estate, as apply writes them. Implementations write by compare-and-swap and are
/// called from many tasks at once, for different instances; calls to the provider for one instance are
/// made one after the other, since a record tells of one call in flight.
#[async_trait]
pub trait Recorder: Send + Sync {
    /// A provider is about to be asked to change an object: when this returns, the record says so durably, where the
    /// call [needs it](Call::needs_announcement).
    /// Whatever the call comes to, [`Recorder::write`] or [`Recorder::doubt`] follows. Provisioners that an earlier
    /// invocation has left are announced in the same way.
    async fn begin(&self, address: &ResourceInstance, call: &Call) -> Result<(), CallRefused> {
        let _ = (address, call);
        Ok(())
    }

    /// Whether provider calls may still be begun: the same answer as [`Recorder::begin`] would give, without
    /// a write. Asked before work that only a call would justify.
    fn may_begin(&self) -> Result<(), NothingMore> {
        Ok(())
    }

    /// An object is recorded at `address` from now on, and at `from` no more. Killed half way, it
    /// leaves records in which the object is recorded once.
    async fn write_moved(
        &self,
        from: &ResourceInstance,
        address: &ResourceInstance,
        state: &InstanceState,
        step: Step,
    ) -> Result<(), RecordError>;

    /// What the instance consists of from now on; neither current nor deposed objects: it is gone.
    /// When this returns, the record is durable. `state.version` and `state.revision` are ignored:
    /// the recorder knows which version it wrote or read last.
    async fn write(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
        step: Step,
    ) -> Result<(), RecordError>;

    /// What became of a create cannot be found out: the record says from now on that the object may exist,
    /// and nothing more is done to the instance. Other objects stay as they are recorded.
    async fn doubt(
        &self,
        address: &ResourceInstance,
        object: &ClaimedObject,
        token: Option<&str>,
    ) -> Result<(), RecordError> {
        let _ = (address, object, token);
        Ok(())
    }

    /// What a read of the world, or the configuration alone, says of an instance that no action
    /// changes: written from `state.version`, the version that the plan read (where there is none, from what
    /// is known), keeping the revision. A conflict is ignored, since whoever wrote meanwhile knows better.
    async fn refresh(
        &self,
        address: &ResourceInstance,
        state: &InstanceState,
    ) -> Result<(), RecordError>;

    /// Reads the outputs first, and all instances after them: whoever writes an instance later than that writes the
    /// outputs later too, so that of several runs the last to write an output has seen all records.
    async fn records_now(&self) -> Result<RecordsNow, RecordError>;

    /// The values of all root outputs from now on; those of `planned` that are not named are gone.
    /// What is as in `planned` stays as it is: another run may have changed it since. Each is written from what was
    /// read of it before the instances from which it is derived.
    async fn write_outputs(
        &self,
        planned: &BTreeMap<Arc<str>, OutputState>,
        outputs: &BTreeMap<Arc<str>, Value>,
    ) -> Result<OutputsWritten, RecordError>;

    /// What all conditions of the configuration came to. A conflict is ignored: another run has found out since.
    async fn write_checks(&self, checks: &CheckResults) -> Result<(), RecordError> {
        let _ = checks;
        Ok(())
    }
}
