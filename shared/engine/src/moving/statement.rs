//! Moves: those that the configuration states, and those that follow from an added or removed
//! `count`.

use super::endpoint::{Endpoint, can_contain, selects_prefix};
use crate::state::State;
use language::module::{Configuration, Repetition};
use language::source::Span;
use std::collections::BTreeSet;
use values::address::{AbsoluteResource, InstanceKey, ModulePath, ResourceInstance, ResourceMode};

/// One move.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// The module that states it: both ends are relative to each of its instances.
    pub(super) module: ModulePath,
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    /// The block's header.
    pub(super) span: Span,
}

/// The `moved` blocks of all modules.
pub(super) fn stated(configuration: &Configuration) -> Vec<Statement> {
    let mut found = Vec::new();
    for node in configuration.modules() {
        for moved in &node.module.moved {
            let ends = Endpoint::unify(&moved.from.subject, &moved.to.subject);
            // Two ends of different kinds were refused when they were decoded.
            if let Some((from, to)) = ends {
                found.push(Statement { module: node.path.clone(), from, to, span: moved.span });
            }
        }
    }
    found
}

/// Instances without a key whose resource has `count` now, and instances with the key 0 whose
/// resource has no repetition any more, unless a block speaks of that resource.
pub(super) fn implied(
    configuration: &Configuration,
    previous: &State,
    stated: &[Statement],
) -> Vec<(ResourceInstance, ResourceInstance)> {
    let mut found = Vec::new();
    for address in previous.instances.keys() {
        let wanted = match address.key {
            InstanceKey::None => InstanceKey::Int(0),
            InstanceKey::Int(0) => InstanceKey::None,
            _ => continue,
        };
        if address.resource.mode != ResourceMode::Managed {
            continue;
        }
        let Some(block) = configuration.resource(&address.config()) else { continue };
        let fits = matches!(
            (&block.repetition, &wanted),
            (Repetition::Count(_), InstanceKey::Int(_)) | (Repetition::Single, InstanceKey::None)
        );
        let resource = address.containing();
        if fits && !stated.iter().any(|statement| statement.speaks_of(&resource)) {
            found.push((address.clone(), resource.instance(wanted)));
        }
    }
    found
}

impl Statement {
    fn speaks_of(&self, resource: &AbsoluteResource) -> bool {
        [&self.from, &self.to].into_iter().any(|end| {
            let steps = end.steps(&self.module);
            end.resource() == Some(&resource.resource)
                && steps.len() == resource.module.0.len()
                && selects_prefix(&steps, &resource.module.0)
        })
    }

    /// Whether this moves objects to an address.
    pub(super) fn leads_to(&self, address: &ResourceInstance) -> bool {
        let steps = self.to.steps(&self.module);
        let inside = selects_prefix(&steps, &address.module.0);
        match &self.to {
            Endpoint::Call(..) | Endpoint::Module(_) => inside,
            Endpoint::Resource(r) => inside && r.resource == address.resource,
            Endpoint::Instance(i) => {
                inside && i.resource == address.resource && i.key == address.key
            }
        }
    }

    /// Whether the other move must be made before this one: because this one goes on from where
    /// that one ends, or one lies inside what the other moves.
    pub(super) fn depends_on(&self, other: &Statement) -> bool {
        let ((from, to), (other_from, other_to)) = (self.ends(), other.ends());
        if from.continues(&other_to) {
            return true;
        }
        let nested = from.is_inside(&other_to)
            || to.is_inside(&other_to)
            || other_from.is_inside(&from)
            || other_to.is_inside(&from);
        if !nested {
            return false;
        }
        // A move inside a module whose key alone changes matches before and after: only the inner
        // one waits for the outer one.
        self.module.0.len() >= other.module.0.len() || !self.from.is_same_call(&self.to)
    }

    fn ends(&self) -> (End<'_>, End<'_>) {
        let end = |end| End { end, steps: Endpoint::steps(end, &self.module) };
        (end(&self.from), end(&self.to))
    }

    /// Both ends for the message about cycles, where `[*]` stands for any key.
    pub(super) fn pattern(&self) -> String {
        let one = |end: &Endpoint| {
            let modules: String = self.module.0.iter().map(|n| format!("module.{n}[*].")).collect();
            let any = matches!(end, Endpoint::Call(..) | Endpoint::Resource(_));
            format!("{modules}{end}{}", if any { "[*]" } else { "" })
        };
        format!("{} \u{2192} {}", one(&self.from), one(&self.to))
    }
}

/// An end together with its module steps from the root.
struct End<'a> {
    end: &'a Endpoint,
    steps: super::endpoint::Steps,
}

impl End<'_> {
    /// Whether what arrives at `other` leaves from here.
    fn continues(&self, other: &End<'_>) -> bool {
        if self.steps.len() != other.steps.len() || !can_contain(&other.steps, &self.steps) {
            return false;
        }
        match (self.end, other.end) {
            (Endpoint::Resource(a), Endpoint::Resource(b)) => a.resource == b.resource,
            (Endpoint::Instance(a), Endpoint::Instance(b)) => {
                a.resource == b.resource && a.key == b.key
            }
            (a, b) => a.is_module() && b.is_module(),
        }
    }

    fn is_inside(&self, other: &End<'_>) -> bool {
        if !can_contain(&other.steps, &self.steps) {
            return false;
        }
        let deeper = self.steps.len() > other.steps.len();
        match (other.end, self.end) {
            (Endpoint::Call(..), Endpoint::Call(..)) => deeper,
            (Endpoint::Call(..), _) => true,
            (Endpoint::Module(_), inner) => !inner.is_module() || deeper,
            (Endpoint::Resource(a), Endpoint::Instance(b)) => !deeper && a.resource == b.resource,
            _ => false,
        }
    }
}

/// The statements in an order in which each comes after those that it depends on, or the groups
/// that wait for each other.
pub(super) fn in_order(statements: &[Statement]) -> Result<Vec<&Statement>, Vec<BTreeSet<usize>>> {
    let mut graph = crate::graph::Graph::new();
    let ids: Vec<_> = (0..statements.len()).map(|index| graph.add(index)).collect();
    for (i, statement) in statements.iter().enumerate() {
        for (j, other) in statements.iter().enumerate() {
            if i != j && statement.depends_on(other) {
                graph.connect(ids[i], ids[j]);
            }
        }
    }
    let cycles = graph.cycles();
    if !cycles.is_empty() {
        let group = |ids: &Vec<_>| ids.iter().map(|id| *graph.vertex(*id)).collect();
        return Err(cycles.iter().map(group).collect());
    }
    let dependents = graph.dependents();
    let mut waiting: Vec<usize> = graph.ids().map(|id| graph.dependencies(id).count()).collect();
    let mut ready: std::collections::VecDeque<_> =
        graph.ids().filter(|id| waiting[id.index()] == 0).collect();
    let mut order = Vec::with_capacity(statements.len());
    while let Some(id) = ready.pop_front() {
        order.push(&statements[*graph.vertex(id)]);
        for dependent in &dependents[id.index()] {
            waiting[dependent.index()] -= 1;
            if waiting[dependent.index()] == 0 {
                ready.push_back(*dependent);
            }
        }
    }
    Ok(order)
}
