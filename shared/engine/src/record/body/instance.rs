use super::{Body, ObjectBody, UnknownFields, WrittenBy};
use crate::changes::Action;
use crate::identifiers::{PlanId, WriteId};
use crate::object::DeposedKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The record of one resource instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstanceBody {
    /// Format of this body.
    pub format: u32,
    /// The instance.
    pub address: String,
    /// Whether there is an instance.
    pub kind: RecordKind,
    /// Changes only when a run changes the instance; empty for a shell and a tombstone.
    #[serde(default)]
    pub revision: String,
    /// Fresh at each write.
    pub write_id: WriteId,
    /// When it was written, seconds since the epoch.
    pub written_at: i64,
    /// Who wrote it.
    pub written_by: WrittenBy,
    /// The current object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectBody>,
    /// Objects superseded and not deleted yet, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deposed: BTreeMap<String, ObjectBody>,
    /// Where the object was before it was moved here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<MovedFrom>,
    /// The transaction that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// An object that may exist beside what is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

/// Whether a record stands for an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// It does.
    Live,
    /// It only carries a claim or a doubt; counts as absent.
    Shell,
    /// It says that the instance was deleted; counts as absent.
    Tombstone,
}

/// Where an object was before it was moved: that record is void at that revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedFrom {
    /// The instance.
    pub address: String,
    /// The revision that was moved.
    pub revision: String,
}

/// A transaction's mark in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The transaction.
    pub transaction: PlanId,
    /// Which attempt of it.
    pub attempt: u32,
    /// Which object it works on.
    pub object: ClaimedObject,
    /// What it does with that.
    pub action: ClaimedAction,
    /// How far it is.
    pub state: ClaimState,
    /// Resources that the action depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// A request token by which the provider finds what it was asked to create.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// An import identity that the configuration determines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import_identity: Option<serde_json::Value>,
    /// When it began, seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<i64>,
    /// The deposed key under which a replacement that creates first has put what it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_aside: Option<String>,
    /// Where the object goes, at the record that it leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves_to: Option<String>,
    /// How far the provisioners are that run once the object is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioners: Option<ProvisionersStanding>,
    /// Whether anything was done under this claim: recorded state is no more what the plan saw.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begun: bool,
    /// Whether something failed, so that dependents are skipped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// How far the provisioners of an object are: until they have ended it is recorded as tainted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProvisionersStanding {
    /// None has begun.
    Pending,
    /// They may have run, wholly or in part: they are not run again by the same plan.
    Begun,
}

/// Which object of an instance is claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedObject {
    /// The current one.
    Current,
    /// The deposed one with this key.
    Deposed(String),
}

impl From<Option<&DeposedKey>> for ClaimedObject {
    fn from(deposed: Option<&DeposedKey>) -> ClaimedObject {
        deposed.map_or(ClaimedObject::Current, |key| ClaimedObject::Deposed(key.to_string()))
    }
}

/// What a claim is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedAction {
    /// Create.
    Create,
    /// Update in place.
    Update,
    /// Delete, then create.
    DeleteThenCreate,
    /// Create, then delete.
    CreateThenDelete,
    /// Delete.
    Delete,
    /// Drop the record.
    Forget,
    /// Record at another address.
    Move,
    /// Record what exists already.
    Import,
    /// Read (a data source).
    Read,
    /// Mark as one to be replaced.
    Taint,
    /// Take that mark back.
    Untaint,
    /// Record as another provider's.
    ReplaceProvider,
}

impl ClaimedAction {
    /// Words as in the `actions` array of Terraform's plan JSON, and ours where it has none.
    pub fn as_json(self) -> &'static [&'static str] {
        match self {
            ClaimedAction::Create => &["create"],
            ClaimedAction::Update => &["update"],
            ClaimedAction::DeleteThenCreate => &["delete", "create"],
            ClaimedAction::CreateThenDelete => &["create", "delete"],
            ClaimedAction::Delete => &["delete"],
            ClaimedAction::Forget => &["forget"],
            ClaimedAction::Move => &["move"],
            ClaimedAction::Import => &["import"],
            ClaimedAction::Read => &["read"],
            ClaimedAction::Taint => &["taint"],
            ClaimedAction::Untaint => &["untaint"],
            ClaimedAction::ReplaceProvider => &["replace-provider"],
        }
    }
}

impl From<Action> for ClaimedAction {
    /// An instance without an action is claimed since its record moves.
    fn from(action: Action) -> ClaimedAction {
        match action {
            Action::NoOp => ClaimedAction::Move,
            Action::Create => ClaimedAction::Create,
            Action::Read => ClaimedAction::Read,
            Action::Update => ClaimedAction::Update,
            Action::DeleteThenCreate => ClaimedAction::DeleteThenCreate,
            Action::CreateThenDelete => ClaimedAction::CreateThenDelete,
            Action::Delete => ClaimedAction::Delete,
            Action::Forget => ClaimedAction::Forget,
        }
    }
}

/// How far a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// To do.
    Claimed,
    /// The provider may have been asked.
    Applying,
    /// Its result is recorded.
    Done,
    /// We stopped the provider while it worked.
    Unfinished,
}

/// An object that may exist and that no record describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The transaction that may have made it.
    pub transaction: PlanId,
    /// Which object it would be.
    pub object: ClaimedObject,
    /// Since when, seconds since the epoch.
    pub since: i64,
    /// The request token, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Whether provisioners were to run on it, and did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unprovisioned: bool,
}

impl Body for InstanceBody {
    fn format(&self) -> u32 {
        self.format
    }
}

impl InstanceBody {
    /// The same with only identity and private data of its objects.
    #[must_use]
    pub fn minimal(&self) -> InstanceBody {
        InstanceBody {
            object: self.object.as_ref().map(ObjectBody::minimal),
            deposed: self.deposed.iter().map(|(k, o)| (k.clone(), o.minimal())).collect(),
            ..self.clone()
        }
    }
}
