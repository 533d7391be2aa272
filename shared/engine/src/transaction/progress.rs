//! How far a transaction is, as its records say.

use crate::record::body::Claim;
use crate::state::InstanceState;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ResourceInstance;

/// How far every member of a transaction's write set is. What is not in it is not claimed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Members by address.
    pub members: BTreeMap<ResourceInstance, MemberProgress>,
}

/// How far one member is.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberProgress {
    /// What its claim says.
    pub standing: Standing,
    /// What is recorded of it.
    pub state: Arc<InstanceState>,
}

/// What a claim says of its record.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// To do, wholly or from the middle on: `state` says what an earlier call has left, and
    /// [`Claim::put_aside`] where a replacement that creates first has put what it replaces.
    ToDo(Claim),
    /// A provider was asked, and its answer is not recorded.
    InFlight(Claim),
    /// We stopped the provider while it worked.
    Unfinished(Claim),
    /// Nothing more is to be done.
    Done {
        /// Whether something failed, so that dependents are skipped.
        failed: bool,
    },
}

impl MemberProgress {
    /// Whether anything was done to it: its record is no more what the plan saw.
    pub fn is_begun(&self) -> bool {
        match &self.standing {
            Standing::ToDo(claim) => claim.begun,
            Standing::InFlight(_) | Standing::Unfinished(_) | Standing::Done { .. } => true,
        }
    }
}

impl Progress {
    /// Whether no member was begun: nothing needs to be looked at before the plan is carried out.
    pub fn is_fresh(&self) -> bool {
        !self.members.values().any(MemberProgress::is_begun)
    }
}
