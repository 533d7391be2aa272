//! A plan and its configuration, arranged for looking things up.

use super::view;
use crate::plan_view::PlanView;
use engine::changes::ResourceInstanceChange;
use engine::saved_plan::SavedPlan;
use language::module::{Configuration, Module, ResourceBlock};
use language::source::Span;
use language::variables::ValueSource;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use values::address::{ConfigResource, ModulePath, ResourceInstance};

/// Where root variables have their values from.
pub type GivenVariables = BTreeMap<Arc<str>, ValueSource>;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: Arc<str>,
    pub(super) line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

pub(super) struct Scene<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) saved: &'a SavedPlan,
    pub(super) view: PlanView<'a>,
    pub(super) given: &'a GivenVariables,
    /// Changes of current objects.
    by_resource: HashMap<ConfigResource, Vec<&'a ResourceInstanceChange>>,
    drift: HashMap<&'a ResourceInstance, &'a ResourceInstanceChange>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        configuration: &'a Configuration,
        saved: &'a SavedPlan,
        given: &'a GivenVariables,
    ) -> Scene<'a> {
        let mut by_resource = HashMap::<_, Vec<_>>::new();
        for change in saved.plan.changes.resources.iter().filter(|c| c.deposed.is_none()) {
            by_resource.entry(change.address.config()).or_default().push(change);
        }
        let drift = saved.plan.drift.iter().filter(|change| change.deposed.is_none());
        let drift = drift.map(|change| (&change.address, change)).collect();
        Scene { configuration, saved, view: view(saved), given, by_resource, drift }
    }

    /// The planned changes of current objects, by resource.
    pub(super) fn changes_of(&self, resource: &ConfigResource) -> &[&'a ResourceInstanceChange] {
        self.by_resource.get(resource).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn resources(&self) -> impl Iterator<Item = &ConfigResource> {
        self.by_resource.keys()
    }

    pub(super) fn change(&self, address: &ResourceInstance) -> Option<&'a ResourceInstanceChange> {
        let mut changes = self.changes_of(&address.config()).iter();
        changes.find(|change| change.address == *address).copied()
    }

    /// What was changed behind the records.
    pub(super) fn drift(&self, address: &ResourceInstance) -> Option<&'a ResourceInstanceChange> {
        self.drift.get(address).copied()
    }

    pub(super) fn module(&self, path: &ModulePath) -> Option<&'a Module> {
        Some(&self.configuration.get(path)?.module)
    }

    pub(super) fn block(&self, resource: &ConfigResource) -> Option<&'a ResourceBlock> {
        self.module(&resource.module)?.resources.get(&resource.resource)
    }

    pub(super) fn place(&self, span: Span) -> Place {
        let range = self.configuration.sources.range(span);
        Place { file: range.filename, line: range.start.line }
    }
}
