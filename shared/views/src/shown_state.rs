//! A state as it is shown: objects decoded with their schemas.

use crate::order::by_address;
use engine::changes::Action;
use engine::checks::CheckResults;
use engine::object::{DeposedKey, Object, StoredObject};
use engine::plan::{Plan, PlanMode};
use engine::state::{InstanceState, State};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::Value;
use values::address::{ConfigResource, ProviderConfigAddress, ResourceInstance};
use values::schema::Schema;

/// All that a state shows.
#[derive(Clone, Debug, Default)]
pub struct ShownState {
    /// Instances, in any order.
    pub instances: Vec<ShownInstance>,
    /// Root outputs; those that are sensitive carry the mark.
    pub outputs: BTreeMap<Arc<str>, Value>,
    /// What conditions came to in the last apply.
    pub checks: CheckResults,
}

/// One instance and its objects.
#[derive(Clone, Debug)]
pub struct ShownInstance {
    /// The instance.
    pub address: ResourceInstance,
    /// The provider configuration that manages it.
    pub provider: ProviderConfigAddress,
    /// What its objects conform to.
    pub schema: Arc<Schema>,
    /// The current object.
    pub current: Option<Object>,
    /// Objects superseded and not deleted yet.
    pub deposed: BTreeMap<DeposedKey, Object>,
}

impl ShownInstance {
    /// The objects, the current one first.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (Option<&DeposedKey>, &Object)> {
        let deposed = self.deposed.iter().map(|(key, object)| (Some(key), object));
        self.current.iter().map(|object| (None, object)).chain(deposed)
    }
}

impl ShownState {
    /// The state that a plan starts from: the world as it was read. Instances whose schema the plan
    /// does not know are left out.
    pub fn before(plan: &Plan) -> ShownState {
        let instances = plan.refreshed.iter().filter_map(|(address, refreshed)| {
            let resource = &address.resource;
            let provider = &refreshed.provider.provider;
            let schema = plan.schemas.get(provider, resource.mode, &resource.ty)?;
            Some(ShownInstance {
                address: address.clone(),
                provider: refreshed.provider.clone(),
                schema: schema.clone(),
                current: refreshed.current.clone(),
                deposed: refreshed.deposed.clone(),
            })
        });
        // What a plan of some resources has not looked at is as it is recorded.
        let left = plan.prior.instances.iter();
        let left =
            left.filter(|(address, _)| plan.targeted && !plan.refreshed.contains_key(*address));
        let left = left.filter_map(|(address, instance)| recorded(address, instance, plan));
        let previous = plan.previous.outputs.iter().map(|(k, o)| (k.clone(), o.value.clone()));
        let mut outputs: BTreeMap<Arc<str>, Value> = previous.collect();
        if plan.mode == PlanMode::Destroy && !plan.targeted {
            // One that is null by now is not there to be destroyed.
            outputs.retain(|name, _| plan.changes.outputs.contains_key(name));
        }
        // Outputs that are known by now are part of what was read.
        for (name, change) in &plan.changes.outputs {
            let known = match change.action {
                Action::Delete => &change.before,
                _ => &change.after,
            };
            if known.is_null() {
                outputs.remove(name);
            } else if known.is_wholly_known() {
                outputs.insert(name.clone(), known.clone());
            }
        }
        let instances = instances.chain(left).collect();
        // As in Terraform, what was found before is no part of what a plan starts from.
        ShownState { instances, outputs, checks: CheckResults::new() }
    }

    /// A state that a plan of this process has made: its objects conform to the schemas that the plan knows.
    pub fn made(state: &State, plan: &Plan) -> ShownState {
        let instances = state
            .instances
            .iter()
            .filter_map(|(address, instance)| recorded(address, instance, plan));
        let outputs = state.outputs.iter().map(|(name, o)| (name.clone(), o.value.clone()));
        let (instances, outputs) = (instances.collect(), outputs.collect());
        ShownState { instances, outputs, checks: state.checks.results.clone() }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.instances.iter().all(|i| i.objects().next().is_none())
    }

    /// Instances in the order of their addresses.
    pub(crate) fn sorted(&self) -> Vec<&ShownInstance> {
        let mut instances: Vec<_> = self.instances.iter().collect();
        instances.sort_by(|a, b| by_address(&a.address, &b.address));
        instances
    }
}

/// A recorded instance whose objects conform to a schema that the plan knows.
fn recorded(
    address: &ResourceInstance,
    instance: &InstanceState,
    plan: &Plan,
) -> Option<ShownInstance> {
    let provider = &instance.current.iter().chain(instance.deposed.values()).next()?.provider;
    let resource = &address.resource;
    let schema = plan.schemas.get(&provider.provider, resource.mode, &resource.ty)?;
    let ty = schema.block.implied_type();
    let decoded = |stored: &StoredObject| {
        let value = values::json::from_json(stored.attributes.as_bytes(), &ty).ok()?;
        Some(stored.decoded(&value, &schema.block))
    };
    let deposed = instance.deposed.iter();
    Some(ShownInstance {
        address: address.clone(),
        provider: provider.clone(),
        schema: schema.clone(),
        current: instance.current.as_ref().and_then(decoded),
        deposed: deposed.filter_map(|(k, o)| Some((k.clone(), decoded(o)?))).collect(),
    })
}

/// For each resource, all that it depends on, directly or through others. Objects keep direct
/// dependencies only.
pub(crate) struct Dependencies {
    closure: BTreeMap<ConfigResource, Arc<BTreeSet<ConfigResource>>>,
}

impl Dependencies {
    pub(crate) fn of(state: &ShownState) -> Dependencies {
        let mut direct = BTreeMap::<ConfigResource, BTreeSet<ConfigResource>>::new();
        for instance in &state.instances {
            let of = direct.entry(instance.address.config()).or_default();
            for (_, object) in instance.objects() {
                of.extend(object.dependencies.iter().cloned());
            }
        }
        let mut closure = BTreeMap::new();
        for resource in direct.keys() {
            close(resource, &direct, &mut closure);
        }
        Dependencies { closure }
    }

    /// All dependencies of an object: its own, and theirs.
    pub(crate) fn all(&self, object: &Object, resource: &ConfigResource) -> BTreeSet<String> {
        let direct = object.dependencies.iter();
        let indirect = direct.clone().filter_map(|d| self.closure.get(d)).flat_map(|c| c.iter());
        direct.chain(indirect).filter(|d| *d != resource).map(ToString::to_string).collect()
    }
}

/// Depth first with a stack of our own: chains of resources may be long.
fn close(
    start: &ConfigResource,
    direct: &BTreeMap<ConfigResource, BTreeSet<ConfigResource>>,
    closure: &mut BTreeMap<ConfigResource, Arc<BTreeSet<ConfigResource>>>,
) {
    let none = &BTreeSet::new();
    let mut entered = BTreeSet::new();
    let mut stack = vec![start];
    while let Some(resource) = stack.last().copied() {
        if closure.contains_key(resource) {
            stack.pop();
            continue;
        }
        let own = direct.get(resource).unwrap_or(none);
        let open: Vec<_> = match entered.insert(resource) {
            true => {
                own.iter().filter(|d| !closure.contains_key(d) && !entered.contains(d)).collect()
            }
            false => Vec::new(),
        };
        if !open.is_empty() {
            stack.extend(open);
            continue;
        }
        stack.pop();
        let mut all = own.clone();
        for dependency in own {
            all.extend(closure.get(dependency).iter().flat_map(|c| c.iter()).cloned());
        }
        closure.insert(resource.clone(), Arc::new(all));
    }
}
