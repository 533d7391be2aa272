//! A plan with what is to be shown beside its changes.

use crate::diff::{Change, Paths};
use crate::order::by_address;
use crate::value_json::{Shape, known, sensitive, unknown};
use engine::changes::{Action, OutputChange, ResourceInstanceChange};
use engine::plan::{Plan, PlanMode};
use std::collections::BTreeMap;
use values::address::{ResourceInstance, ResourceMode};
use values::schema::Block;
use values::{Path, Value};

/// A plan as it is shown. Text and JSON are made from the same view.
#[derive(Clone, Debug)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Attributes that the plan's expressions looked at. Drift elsewhere is not shown; `None` where
    /// that is not known, and all drift is shown.
    pub relevant: Option<Vec<RelevantAttribute>>,
    /// Objects that are imported, by the instance that takes them.
    pub imports: BTreeMap<ResourceInstance, Import>,
    /// Whether only some resources were planned.
    pub targeted: bool,
}

/// An attribute of an instance that the plan's expressions looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct RelevantAttribute {
    /// The instance.
    pub resource: ResourceInstance,
    /// The attribute.
    pub path: Path,
}

/// How an imported object is found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// Its id, if it is found by one.
    pub id: Option<String>,
    /// Its identity, if it is found by that.
    pub identity: Option<Value>,
    /// Configuration written for it.
    pub generated_config: Option<String>,
}

impl<'a> PlanView<'a> {
    /// A plan with nothing more to be said of it.
    pub fn new(plan: &'a Plan) -> PlanView<'a> {
        PlanView { plan, relevant: None, imports: BTreeMap::new(), targeted: false }
    }

    /// Whether applying would change anything.
    pub fn is_applyable(&self) -> bool {
        let drifted = self.plan.mode == PlanMode::RefreshOnly && !self.plan.drift.is_empty();
        let imports = !self.imports.is_empty();
        self.plan.complete && (drifted || imports || !self.plan.changes.is_empty())
    }

    /// The changes that a reader may know of, in the order of their addresses. Data sources that
    /// leave the records, and ephemeral resources, are the engine's own business.
    pub(crate) fn changes(&self) -> Vec<&'a ResourceInstanceChange> {
        let shown = |c: &&ResourceInstanceChange| match c.address.resource.mode {
            ResourceMode::Managed => true,
            ResourceMode::Data => c.action != Action::Delete,
            ResourceMode::Ephemeral => false,
        };
        sorted(self.plan.changes.resources.iter().filter(shown).collect())
    }

    /// What changed in the world; moves only where nothing else tells of them.
    pub(crate) fn drift(&self) -> Vec<&'a ResourceInstanceChange> {
        let all = self.plan.mode == PlanMode::RefreshOnly;
        let shown = |c: &&ResourceInstanceChange| all || c.action != Action::NoOp;
        sorted(self.plan.drift.iter().filter(shown).collect())
    }

    pub(crate) fn import(&self, change: &ResourceInstanceChange) -> Option<&Import> {
        match change.deposed {
            None => self.imports.get(&change.address),
            Some(_) => None,
        }
    }

    /// The block that a change's values follow.
    pub(crate) fn block(&self, change: &ResourceInstanceChange) -> Option<&'a Block> {
        let resource = &change.address.resource;
        let schema =
            self.plan.schemas.get(&change.provider.provider, resource.mode, &resource.ty)?;
        Some(&schema.block)
    }

    /// Of a drifted instance, the paths that matter for the plan.
    pub(crate) fn relevant_paths(&self, address: &ResourceInstance) -> Paths {
        match &self.relevant {
            Some(relevant) if self.plan.mode != PlanMode::RefreshOnly => {
                let here = relevant.iter().filter(|r| r.resource == *address);
                Paths::new(here.map(|r| &r.path), true)
            }
            _ => Paths::All,
        }
    }

    pub(crate) fn difference(&self, change: &ResourceInstanceChange, relevant: Paths) -> Change {
        let shape = self.block(change).map_or(Shape::Plain, Shape::Block);
        let difference = Change {
            before: known(&change.before),
            after: known(&change.after),
            before_explicit: false,
            after_explicit: false,
            unknown: unknown(&change.after),
            before_sensitive: sensitive(&change.before, shape),
            after_sensitive: sensitive(&change.after, shape),
            replace: Paths::new(&change.requires_replace, false),
            relevant,
            legacy: true,
        };
        match change.action {
            // The object is left as it is.
            Action::Forget => difference.as_no_op(),
            _ => difference,
        }
    }
}

/// The difference of an output. It is sensitive as a whole, before and after, or not at all.
pub(crate) fn output_difference(output: &OutputChange) -> Change {
    let sensitive = crate::json::Json::Bool(output.sensitive);
    Change {
        before: known(&output.before),
        after: known(&output.after),
        before_explicit: false,
        after_explicit: false,
        unknown: unknown(&output.after),
        before_sensitive: sensitive.clone(),
        after_sensitive: sensitive,
        replace: Paths::none(),
        relevant: Paths::All,
        legacy: false,
    }
}

/// Whether the object is recorded under another address now.
pub(crate) fn is_moved(change: &ResourceInstanceChange) -> bool {
    change.previous_address.as_ref().is_some_and(|previous| *previous != change.address)
}

fn sorted(mut changes: Vec<&ResourceInstanceChange>) -> Vec<&ResourceInstanceChange> {
    changes
        .sort_by(|a, b| by_address(&a.address, &b.address).then_with(|| a.deposed.cmp(&b.deposed)));
    changes
}
