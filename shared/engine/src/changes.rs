//! What a plan proposes to change.

use crate::object::DeposedKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ConfigResource, ProviderConfigAddress, ResourceInstance};
use values::{Path, Value};

/// What is to be done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing.
    NoOp,
    /// Create it.
    Create,
    /// Read it while applying (data sources).
    Read,
    /// Update it in place.
    Update,
    /// Replace it: delete, then create.
    DeleteThenCreate,
    /// Replace it: create, then delete.
    CreateThenDelete,
    /// Delete it.
    Delete,
    /// Drop its record and leave the object alone.
    Forget,
}

impl Action {
    /// Whether this replaces the object.
    pub fn is_replace(self) -> bool {
        matches!(self, Action::DeleteThenCreate | Action::CreateThenDelete)
    }
    /// Whether this makes a new object.
    pub fn creates(self) -> bool {
        self == Action::Create || self.is_replace()
    }
    /// The `actions` array of Terraform's plan JSON.
    pub fn as_json(self) -> &'static [&'static str] {
        match self {
            Action::NoOp => &["no-op"],
            Action::Create => &["create"],
            Action::Read => &["read"],
            Action::Update => &["update"],
            Action::DeleteThenCreate => &["delete", "create"],
            Action::CreateThenDelete => &["create", "delete"],
            Action::Delete => &["delete"],
            Action::Forget => &["forget"],
        }
    }
}

/// Why an action was chosen, where it is not plain from the change itself. Names as in Terraform's
/// `action_reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionReason {
    /// The object is tainted.
    ReplaceBecauseTainted,
    /// A person asked for it.
    ReplaceByRequest,
    /// `replace_triggered_by` named something that changes.
    ReplaceByTriggers,
    /// The provider cannot update in place.
    ReplaceBecauseCannotUpdate,
    /// The resource is gone from the configuration.
    DeleteBecauseNoResourceConfig,
    /// `count` or `for_each` was added or taken away.
    DeleteBecauseWrongRepetition,
    /// The index is beyond `count`.
    DeleteBecauseCountIndex,
    /// The key is not in `for_each`.
    DeleteBecauseEachKey,
    /// The module is gone.
    DeleteBecauseNoModule,
    /// The target of a move is not declared.
    DeleteBecauseNoMoveTarget,
    /// The configuration of the data source is not known yet.
    ReadBecauseConfigUnknown,
    /// The data source depends on something that changes.
    ReadBecauseDependencyPending,
    /// A check block has it read again.
    ReadBecauseCheckNested,
}

impl ActionReason {
    /// The word in Terraform's plan JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ActionReason::ReplaceBecauseTainted => "replace_because_tainted",
            ActionReason::ReplaceByRequest => "replace_by_request",
            ActionReason::ReplaceByTriggers => "replace_by_triggers",
            ActionReason::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
            ActionReason::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
            ActionReason::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
            ActionReason::DeleteBecauseCountIndex => "delete_because_count_index",
            ActionReason::DeleteBecauseEachKey => "delete_because_each_key",
            ActionReason::DeleteBecauseNoModule => "delete_because_no_module",
            ActionReason::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
            ActionReason::ReadBecauseConfigUnknown => "read_because_config_unknown",
            ActionReason::ReadBecauseDependencyPending => "read_because_dependency_pending",
            ActionReason::ReadBecauseCheckNested => "read_because_check_nested",
        }
    }
}

/// The planned change of one object of a resource instance.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceInstanceChange {
    /// The instance.
    pub address: ResourceInstance,
    /// Where its object is recorded now, if the object is moved.
    pub previous_address: Option<ResourceInstance>,
    /// Which deposed object, if not the current one.
    pub deposed: Option<DeposedKey>,
    /// The provider configuration that carries it out.
    pub provider: ProviderConfigAddress,
    /// What is to be done.
    pub action: Action,
    /// Why, where not plain.
    pub reason: Option<ActionReason>,
    /// The object now, with marks; null where there is none.
    pub before: Value,
    /// The object afterwards, with marks and unknowns; null where there is none.
    pub after: Value,
    /// The paths for which the provider cannot update in place.
    pub requires_replace: Vec<Path>,
    /// What the provider wants back when the change is applied.
    pub private: Arc<[u8]>,
    /// Resources that the object's configuration refers to (for a deletion: referred to when it was
    /// written).
    pub dependencies: Arc<[ConfigResource]>,
    /// Whether a replacement is created first.
    pub create_before_destroy: bool,
}

/// The planned change of an output value.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputChange {
    /// What is to be done: no-op, create, update or delete.
    pub action: Action,
    /// The value now; null where there is none.
    pub before: Value,
    /// The value afterwards; null where there is none.
    pub after: Value,
    /// Whether it is, or was, sensitive.
    pub sensitive: bool,
}

/// All planned changes, of instances in the order of their addresses.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Changes of resource instances, no-ops included.
    pub resources: Vec<ResourceInstanceChange>,
    /// Changes of root outputs, no-ops included.
    pub outputs: BTreeMap<Arc<str>, OutputChange>,
}

/// How many objects are added, changed and destroyed: Terraform's summary line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Created, replacements included.
    pub add: usize,
    /// Updated in place.
    pub change: usize,
    /// Deleted, replacements included.
    pub destroy: usize,
    /// Imported.
    pub import: usize,
    /// Forgotten.
    pub forget: usize,
}

impl Changes {
    /// The numbers of the summary line.
    pub fn summary(&self) -> Summary {
        let mut s = Summary::default();
        for change in &self.resources {
            match change.action {
                Action::Create => s.add += 1,
                Action::Update => s.change += 1,
                Action::Delete => s.destroy += 1,
                Action::DeleteThenCreate | Action::CreateThenDelete => {
                    s.add += 1;
                    s.destroy += 1;
                }
                Action::Forget => s.forget += 1,
                Action::NoOp | Action::Read => {}
            }
        }
        s
    }
    /// Whether applying would do nothing at all: no instance and no output changes.
    pub fn is_empty(&self) -> bool {
        self.resources.iter().all(|c| c.action == Action::NoOp && c.previous_address.is_none())
            && self.outputs.values().all(|o| o.action == Action::NoOp)
    }
}
