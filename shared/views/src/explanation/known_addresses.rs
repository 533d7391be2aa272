//! Which instance an address means, and which one may have been meant.

use super::scene::Scene;
use super::{Unexplained, is_whole};
use engine::changes::Action;
use language::syntax::suggest;
use std::collections::BTreeSet;
use values::address::ResourceInstance;

/// How many instances are named where one has to be chosen.
const NAMED: usize = 8;

/// The instance that an address means. An address without a key may mean a resource's only instance, or a
/// resource that is declared and has none.
pub(super) fn meant(
    scene: &Scene<'_>,
    address: &ResourceInstance,
) -> Result<ResourceInstance, Unexplained> {
    let known = instances(scene);
    if known.contains(address) {
        return Ok(address.clone());
    }
    let declared = scene.block(&address.config()).is_some();
    let siblings: Vec<_> =
        known.iter().filter(|known| known.containing() == address.containing()).collect();
    match siblings.as_slice() {
        [] if declared && is_whole(address) => Ok(address.clone()),
        [only] if is_whole(address) => Ok((*only).clone()),
        [_, ..] if is_whole(address) => {
            let changes = |address: &&&ResourceInstance| {
                scene.change(address).is_none_or(|change| change.action == Action::NoOp)
            };
            let mut sorted = siblings.clone();
            sorted.sort_by_key(|address| changes(&address));
            Err(Unexplained::Several {
                address: address.to_string(),
                count: sorted.len(),
                instances: sorted.iter().take(NAMED).map(ToString::to_string).collect(),
            })
        }
        _ => Err(match moved_to(scene, address) {
            Some(to) => Unexplained::Moved { address: address.to_string(), to: to.to_string() },
            None => Unexplained::Unknown {
                address: address.to_string(),
                suggestion: suggestion(scene, address, &known),
            },
        }),
    }
}

/// Where an object that is recorded at this address goes.
fn moved_to<'a>(scene: &Scene<'a>, address: &ResourceInstance) -> Option<&'a ResourceInstance> {
    let mut moves = scene.saved.plan.moves.iter();
    moves.find(|(_, from)| *from == address).map(|(to, _)| to)
}

/// Every instance that the plan or the records know.
fn instances(scene: &Scene<'_>) -> BTreeSet<ResourceInstance> {
    let plan = &scene.saved.plan;
    let planned = plan.changes.resources.iter().map(|change| &change.address);
    let drifted = plan.drift.iter().map(|change| &change.address);
    let recorded = plan.prior.instances.keys();
    planned.chain(drifted).chain(recorded).chain(plan.refreshed.keys()).cloned().collect()
}

fn suggestion(
    scene: &Scene<'_>,
    address: &ResourceInstance,
    known: &BTreeSet<ResourceInstance>,
) -> Option<String> {
    let declared = scene.configuration.modules().flat_map(|node| {
        node.module.resources.keys().map(|resource| resource.in_module(&node.path).to_string())
    });
    let names: Vec<String> = known.iter().map(ToString::to_string).chain(declared).collect();
    let given = address.to_string();
    // A key or a module may be missing, where type and name are right.
    let alike = known.iter().find(|known| known.resource == address.resource);
    let near = suggest(&given, names.iter().map(String::as_str)).map(str::to_owned);
    near.or_else(|| alike.map(ToString::to_string))
}
