//! Recorded objects that have another address now: `moved` blocks, and what an added or removed
//! `count` implies.

mod endpoint;
mod execution;
mod statement;
mod validation;

use crate::evaluation::EvalContext;
use crate::hashing::HashMap;
use crate::state::State;
use execution::Addresses;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;
use language::source::Span;
use statement::Statement;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{ConfigResource, ResourceInstance};

/// By the new address of an instance, the one under which it is recorded.
pub type MovedInstances = BTreeMap<ResourceInstance, ResourceInstance>;

/// The moves of one plan.
#[derive(Default)]
pub(crate) struct Moves {
    pub(crate) instances: Arc<MovedInstances>,
    statements: Vec<Statement>,
    blocked: Vec<String>,
}

impl Moves {
    /// What the configuration moves. Mistakes are found later, by [`Moves::validate`].
    pub(crate) fn find(configuration: &Configuration, previous: &State) -> Moves {
        let statements = statement::stated(configuration);
        let implied = statement::implied(configuration, previous, &statements);
        if statements.is_empty() && implied.is_empty() {
            return Moves::default();
        }
        let mut moves = Moves::default();
        if let Ok(order) = statement::in_order(&statements) {
            let mut addresses = Addresses::of(previous);
            for statement in order {
                addresses.carry_out(statement);
            }
            for (from, to) in implied {
                addresses.move_instance(&from, to);
            }
            moves.blocked = addresses
                .blocked
                .iter()
                .map(|(actual, wanted)| format!("\n  - {actual} could not move to {wanted}"))
                .collect();
            moves.instances = Arc::new(addresses.moved());
        }
        moves.statements = statements;
        moves
    }

    /// The address under which an instance is recorded, where that is another one.
    pub(crate) fn origin(&self, address: &ResourceInstance) -> Option<&ResourceInstance> {
        self.instances.get(address)
    }

    /// The statement that leads to an address, or to what contains it.
    pub(crate) fn statement_of(&self, address: &ResourceInstance) -> Option<Span> {
        self.statements.iter().find(|s| s.leads_to(address)).map(|s| s.span)
    }

    /// What is wrong with the stated moves, once the configuration is expanded.
    pub(crate) fn validate(&self, context: &EvalContext) -> Diagnostics {
        validation::validate(context, &self.statements)
    }

    /// The warning about what could not move.
    pub(crate) fn blocked(&self) -> Option<Diagnostic> {
        (!self.blocked.is_empty()).then(|| {
            Diagnostic::warning(
                "Unresolved resource instance address changes",
                format!(
                    "Plumbline tried to adjust resource instance addresses in the records based on change information recorded in the configuration, but some adjustments did not succeed due to existing objects already at the intended addresses:{}\n\nPlumbline has planned to destroy these objects. If Plumbline's proposed changes aren't appropriate, you must first resolve the conflicts and then create a new plan.",
                    self.blocked.concat()
                ),
            )
        })
    }
}

/// The records as they are once the moves are made. What depended on a moved resource depends on
/// it under its new name.
pub(crate) fn moved_state(previous: &Arc<State>, moves: &MovedInstances) -> Arc<State> {
    if moves.is_empty() {
        return previous.clone();
    }
    let mut state = State::clone(previous);
    for origin in moves.values() {
        state.instances.remove(origin);
    }
    for (now, origin) in moves {
        if let Some(instance) = previous.instances.get(origin) {
            state.instances.insert(now.clone(), instance.clone());
        }
    }
    let renamed = renamed_resources(&state, moves);
    for instance in state.instances.values_mut() {
        let objects = instance.current.iter().chain(instance.deposed.values());
        let concerned =
            objects.flat_map(|o| o.dependencies.iter()).any(|d| renamed.contains_key(d));
        if !concerned {
            continue;
        }
        let instance = Arc::make_mut(instance);
        for object in instance.current.iter_mut().chain(instance.deposed.values_mut()) {
            let names: BTreeSet<ConfigResource> = object
                .dependencies
                .iter()
                .flat_map(|d| match renamed.get(d) {
                    Some(names) => names.iter().cloned().collect(),
                    None => vec![d.clone()],
                })
                .collect();
            object.dependencies = names.into_iter().collect();
        }
    }
    Arc::new(state)
}

/// By the old name of a resource, the names under which its instances are now.
fn renamed_resources(
    moved: &State,
    moves: &MovedInstances,
) -> HashMap<ConfigResource, BTreeSet<ConfigResource>> {
    let mut renamed = HashMap::<ConfigResource, BTreeSet<ConfigResource>>::default();
    for (now, origin) in moves {
        let (now, origin) = (now.config(), origin.config());
        if now != origin {
            renamed.entry(origin).or_default().insert(now);
        }
    }
    if !renamed.is_empty() {
        // Instances that stayed keep the name for those who depend on them.
        for address in moved.instances.keys().filter(|a| !moves.contains_key(*a)) {
            let name = address.config();
            if let Some(names) = renamed.get_mut(&name) {
                names.insert(name);
            }
        }
    }
    renamed
}
