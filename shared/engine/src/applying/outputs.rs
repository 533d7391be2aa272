//! Root outputs at the end of an apply: derived from all records, whoever wrote them.
//!
//! Other runs may have changed instances that this one's plan knew otherwise. What the records say by then counts,
//! and the outputs are derived again as long as somebody else has been at work: of several runs, the last to write
//! an output has seen what all of them did.

use super::graph::add_resources;
use super::resource::{planned_expansion, value_of};
use super::{ApplyWalk, Ending};
use crate::evaluation::{EvalContext, Expansion, Named, Operation, Working, blocking};
use crate::graph::{Graph, Walked, walk};
use crate::hashing::HashMap;
use crate::object_change::without_unknowns;
use crate::object_codec::{mark_by_schema, resource_schema};
use crate::plan::PlanMode;
use crate::planning::named_value;
use crate::recorder::{OutputsWritten, RecordError};
use crate::state::{InstanceState, OutputState, State};
use crate::vertex::{ConfigurationEdges, Vertex};
use language::diagnostics::Diagnostic;
use providers::TypedSchema;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{
    AbsoluteResource, ConfigResource, ModuleInstance, ResourceInstance, ResourceMode,
};
use values::{Marks, Value};

type Outputs = BTreeMap<Arc<str>, Value>;

/// How often they are derived while others are at work, before we give up.
const ROUNDS: u32 = 16;

/// Writes the outputs; what they are, where they could be evaluated.
pub(super) async fn write(walk: &Arc<ApplyWalk>, ending: Ending) -> Option<Outputs> {
    let own = collect(walk, &walk.context.working, ending)?;
    match derive_and_write(walk, &own, ending).await {
        Ok(outputs) => Some(outputs),
        Err(e) => {
            walk.context.report([Diagnostic::error(e.summary, e.detail)]);
            Some(own)
        }
    }
}

async fn derive_and_write(
    walk: &Arc<ApplyWalk>,
    own: &Outputs,
    ending: Ending,
) -> Result<Outputs, RecordError> {
    for _ in 0..ROUNDS {
        let now = walk.recorder.records_now().await?;
        let moved = moved(walk, &now.state);
        let outputs = match moved.is_empty() || walk.plan.mode == PlanMode::Destroy {
            true => own.clone(),
            false => {
                let working = evaluate(walk, moved).await;
                collect(walk, &working, ending).unwrap_or_else(|| own.clone())
            }
        };
        let left = left_alone(&walk.plan.previous.outputs, own, &outputs);
        match walk.recorder.write_outputs(&left, &outputs).await? {
            OutputsWritten::OthersWereFirst => {}
            // Somebody may have written an instance while this was written.
            OutputsWritten::Written if !now.alone => {}
            OutputsWritten::Written | OutputsWritten::Unchanged => return Ok(outputs),
        }
    }
    Err(RecordError {
        summary: "The outputs could not be recorded".into(),
        detail:
            "Other runs wrote them each time. The instances are recorded; run `plumb apply` again."
                .into(),
    })
}

/// Outputs that stay as they are recorded if they are as this run planned from: what it did and what others did has
/// not changed them, so that whoever changed their expression since is right. And those that are gone.
fn left_alone(
    previous: &BTreeMap<Arc<str>, OutputState>,
    own: &Outputs,
    outputs: &Outputs,
) -> BTreeMap<Arc<str>, OutputState> {
    let unmoved = |name: &Arc<str>| outputs.get(name) == own.get(name);
    previous.iter().filter(|(name, _)| unmoved(name)).map(|(n, o)| (n.clone(), o.clone())).collect()
}

/// The values as a walk has found them. What failed to evaluate, as its dependencies failed, has its planned value if
/// that is known, as in Terraform, and else keeps its recorded value.
fn collect(walk: &ApplyWalk, working: &Working, ending: Ending) -> Option<Outputs> {
    let root = &walk.context.configuration.root.module;
    let mut outputs = Outputs::new();
    if walk.plan.targeted {
        // Outputs that were not planned are as they were.
        let recorded = walk.plan.previous.outputs.iter();
        outputs.extend(recorded.map(|(name, output)| (name.clone(), output.value.clone())));
    }
    if walk.plan.mode == PlanMode::Destroy {
        // What could not be deleted may still be looked up by its outputs.
        return (ending == Ending::Done).then_some(outputs);
    }
    for name in root.outputs.keys() {
        let change = walk.plan.changes.outputs.get(name);
        let left = walk.plan.mode == PlanMode::RefreshOnly && change.is_none();
        let now = match left {
            true => None,
            false => working.named(&ModuleInstance::root(), Named::Output(name.clone())),
        };
        let planned = || {
            let after = &change?.after;
            after.is_wholly_known().then(|| after.clone())
        };
        let recorded = || walk.plan.previous.outputs.get(name).map(|o| o.value.clone());
        match now.or_else(planned).or_else(recorded) {
            // What is made of objects that are not there is null.
            Some(value) if !value.is_wholly_known() => {
                outputs.insert(name.clone(), without_unknowns(&value));
            }
            Some(value) if !value.is_null() => {
                outputs.insert(name.clone(), value);
            }
            _ => {
                outputs.remove(name);
            }
        }
    }
    Some(outputs)
}

/// Instances of the configuration that others have changed since the plan was made, by resource; `None` where they
/// are gone.
type Moved = HashMap<ConfigResource, Vec<(ResourceInstance, Option<Value>)>>;

fn moved(walk: &ApplyWalk, now: &State) -> Moved {
    let planned = &walk.plan.previous.instances;
    let appeared_or_changed = now.instances.iter().filter(|(address, instance)| {
        let before = planned.get(*address);
        before.is_none_or(|b| b.version != instance.version && b.current != instance.current)
    });
    let vanished = planned.keys().filter(|address| !now.instances.contains_key(*address));
    let found = appeared_or_changed.map(|(address, instance)| (address, Some(&**instance)));
    let mut moved = Moved::default();
    for (address, instance) in found.chain(vanished.map(|address| (address, None))) {
        let resource = address.config();
        let counts = address.resource.mode == ResourceMode::Managed
            && walk.context.configuration.resource(&resource).is_some()
            && !walk.records.is_touched(address);
        if counts && let Some(value) = value(walk, address, instance) {
            moved.entry(resource).or_default().push((address.clone(), value));
        }
    }
    moved
}

/// The value that a record stands for; `Some(None)` where it stands for none, and `None` where it cannot be read
/// with the schema at hand: then what the plan knew has to do.
fn value(
    walk: &ApplyWalk,
    address: &ResourceInstance,
    instance: Option<&InstanceState>,
) -> Option<Option<Value>> {
    let Some(stored) = instance.and_then(|instance| instance.current.as_ref()) else {
        return Some(None);
    };
    let (provider, ty) = (&stored.provider.provider, &address.resource.ty);
    let running = walk.context.pool.schema(provider);
    let running = running
        .as_ref()
        .and_then(|schemas| resource_schema(schemas, address.resource.mode, ty).cloned());
    let schema = match running {
        Some(schema) => schema,
        None => {
            let schema = walk.plan.schemas.get(provider, address.resource.mode, ty)?;
            TypedSchema::from((**schema).clone())
        }
    };
    if stored.schema_version != schema.version {
        return None;
    }
    let value = values::json::from_json(stored.attributes.as_bytes(), schema.ty()).ok()?;
    let value = value.mark_paths(stored.sensitive_paths.iter().map(|p| (p, Marks::SENSITIVE)));
    Some(Some(mark_by_schema(&schema, &value)))
}

/// Evaluates what outputs are made of once more, with what others have changed in place of what the plan knew. What
/// goes wrong has been reported before, or concerns what another run is about to do.
async fn evaluate(apply: &Arc<ApplyWalk>, moved: Moved) -> Working {
    let again = Arc::new(Again { context: again(&apply.context), moved, walk: apply.clone() });
    let graph = graph(apply);
    walk(&graph, &again, again.context.environment.parallelism, Again::visit, |_| false).await;
    match Arc::try_unwrap(again) {
        Ok(again) => again.context.working,
        // Every visit has ended.
        Err(_) => Working::new(),
    }
}

struct Again {
    context: EvalContext,
    moved: Moved,
    walk: Arc<ApplyWalk>,
}

fn again(context: &EvalContext) -> EvalContext {
    EvalContext::new(
        context.environment.clone(),
        context.configuration.clone(),
        Operation::Apply,
        context.variables.clone(),
        context.plan_timestamp,
        context.pool.clone(),
        context.stop.clone(),
    )
}

/// What the root outputs are made of.
fn graph(walk: &ApplyWalk) -> Graph<Vertex> {
    let configuration = &*walk.context.configuration;
    let mut graph = Graph::new();
    let mut edges = ConfigurationEdges { configuration, graph: &mut graph };
    edges.add_named_values();
    add_resources(&mut edges, &BTreeSet::new());
    let planned = &walk.plan.changes.outputs;
    let wanted: Vec<_> = graph
        .ids()
        .filter(|id| match graph.vertex(*id) {
            Vertex::Output(module, name) => {
                module.is_root() && (!walk.plan.targeted || planned.contains_key(name))
            }
            _ => false,
        })
        .collect();
    let keep = graph.reachable(wanted);
    graph.retain(&keep)
}

impl Again {
    async fn visit(self: Arc<Self>, vertex: Vertex) -> Walked {
        match vertex {
            Vertex::Expansion(_) | Vertex::Provider(_) => Walked::Done,
            Vertex::Resource(resource) => self.finish(&resource),
            vertex => blocking(move || named_value(&self.context, &vertex)).await,
        }
    }

    /// Puts a resource together from what this run has made of it, and what others have.
    fn finish(&self, resource: &ConfigResource) -> Walked {
        let (before, working) = (&self.walk.context.working, &self.context.working);
        if resource.resource.mode == ResourceMode::Ephemeral {
            // Nothing is opened once more for outputs, which keep nothing of it.
            for module in working.module_instances(&resource.module).iter() {
                let absolute = resource.resource.absolute(module);
                if let Some(value) = before.resource(&absolute) {
                    working.set_resource(absolute, value);
                }
            }
            return Walked::Done;
        }
        for address in self.walk.instances(resource) {
            let value = before.instance(address).or_else(|| value_of(&self.walk, address));
            if let Some(value) = value {
                working.set_instance(address, value);
            }
        }
        let mut keys = BTreeMap::<AbsoluteResource, BTreeSet<_>>::new();
        for module in working.module_instances(&resource.module).iter() {
            let absolute = resource.resource.absolute(module);
            let expansion = before
                .expansion(&absolute)
                .map(|expansion| (*expansion).clone())
                .unwrap_or_else(|| planned_expansion(&self.walk, resource, module));
            keys.insert(absolute.clone(), expansion.keys().into_iter().collect());
            working.set_expansion(absolute, expansion);
        }
        let mut expanded_anew = BTreeSet::new();
        for (address, value) in self.moved.get(resource).into_iter().flatten() {
            let absolute = address.containing();
            let Some(keys) = keys.get_mut(&absolute) else { continue };
            let changed = match value {
                Some(value) => {
                    working.set_instance(address, value.clone());
                    keys.insert(address.key.clone())
                }
                None => keys.remove(&address.key),
            };
            if changed {
                expanded_anew.insert(absolute);
            }
        }
        for (absolute, keys) in keys {
            if expanded_anew.contains(&absolute) {
                working.set_expansion(absolute.clone(), Expansion::of_keys(keys));
            }
            working.finish_resource(&absolute);
        }
        Walked::Done
    }
}
