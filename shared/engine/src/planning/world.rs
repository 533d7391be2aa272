//! Reading instances again, to compare the world with what a plan rests on.

use super::graph;
use super::refresh::{read_object, refresh};
use super::{Forgotten, Outcome, PlanOptions, PlanWalk, Rehearsed, data, named_value};
use crate::ephemeral;
use crate::evaluation::{EvalContext, blocking, named_values};
use crate::graph::{Walked, walk};
use crate::hashing::HashMap;
use crate::moving::Moves;
use crate::object::Object;
use crate::object_codec::resource_schema;
use crate::plan::{Plan, PlanMode, RefreshedInstance, Seen};
use crate::provider_meta::running_at;
use crate::vertex::Vertex;
use futures::stream::{self, StreamExt};
use language::diagnostics::Diagnostics;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use values::address::{
    AbsoluteResource, ConfigResource, ProviderConfigAddress, ResourceInstance, ResourceMode,
};

/// What was read so far; `None` where it could not be.
type Found = BTreeMap<ResourceInstance, Option<RefreshedInstance>>;

/// One reading of the world.
pub(crate) struct Reading {
    pub(crate) walk: PlanWalk,
    /// Data sources that providers may be configured with, by their resources.
    configuring: HashMap<ConfigResource, Vec<(ResourceInstance, RefreshedInstance)>>,
    found: Mutex<Found>,
}

/// Reads the recorded objects of these instances as planning did.
///
/// Providers are configured with what the plan knew of managed resources. Data sources that flow into their
/// configurations, which may be tokens that are valid for minutes, are read again, and ephemeral resources opened.
pub(crate) async fn read_world(
    context: EvalContext,
    plan: &Plan,
    addresses: &BTreeSet<ResourceInstance>,
) -> (BTreeMap<ResourceInstance, RefreshedInstance>, Diagnostics) {
    let providers: BTreeSet<&ProviderConfigAddress> = addresses
        .iter()
        .filter_map(|address| plan.refreshed.get(address))
        .map(|instance| &instance.provider)
        .collect();
    let reading = with_providers(context, plan, providers).await;
    let parallelism = reading.walk.context.environment.parallelism.max(1);
    let left: Vec<_> =
        addresses.iter().filter(|address| !reading.found().contains_key(*address)).collect();
    let read = stream::iter(left).map(|address| {
        let reading = &reading;
        async move { (address.clone(), reading.read(plan, address).await) }
    });
    let found: Found = read.buffer_unordered(parallelism).collect().await;
    ephemeral::close_all(&reading.walk.context).await;
    let before = std::mem::take(&mut *reading.found());
    let all = before.into_iter().chain(found);
    let wanted = all.filter(|(address, _)| addresses.contains(address));
    let found = wanted.filter_map(|(address, instance)| Some((address, instance?))).collect();
    let diagnostics = reading.walk.context.take_diagnostics();
    (found, diagnostics)
}

/// Starts and configures providers with what a plan knew: values of resources come from it. What was opened for their
/// configurations stays open; the caller closes it.
pub(crate) async fn with_providers(
    context: EvalContext,
    plan: &Plan,
    providers: BTreeSet<&ProviderConfigAddress>,
) -> Arc<Reading> {
    let options = PlanOptions { mode: PlanMode::RefreshOnly, ..PlanOptions::default() };
    let (plan_graph, graph) = graph::build(&context, options.mode, &[], &plan.prior);
    let wanted: Vec<_> =
        providers.iter().filter_map(|p| graph.id(&Vertex::Provider((*p).clone()))).collect();
    let keep = graph.reachable(wanted);
    let graph = graph.retain(&keep);
    let walk_state = PlanWalk {
        context: Arc::new(context),
        options,
        prior: plan.prior.clone(),
        moves: Moves::default(),
        forgotten: Forgotten::default(),
        plan_graph,
        outcome: Outcome::default(),
        rehearsed: Rehearsed::default(),
    };
    // What a provider's configuration refers to is as it was planned.
    let needed: Vec<_> = plan
        .refreshed
        .iter()
        .filter(|(address, _)| graph.id(&Vertex::Resource(address.config())).is_some())
        .filter_map(|(address, instance)| Some((address, instance, instance.current.as_ref()?)))
        .collect();
    let mut configuring = HashMap::<_, Vec<_>>::default();
    for (address, instance, object) in &needed {
        walk_state.context.working.set_instance(address, object.value.clone());
        if address.resource.mode == ResourceMode::Data {
            let instance = ((*address).clone(), (*instance).clone());
            configuring.entry(address.config()).or_default().push(instance);
        }
    }
    walk_state.context.working.finish_instances(needed.iter().map(|(address, ..)| *address));
    let reading = Arc::new(Reading { walk: walk_state, configuring, found: Mutex::default() });
    walk(&graph, &reading, reading.walk.context.environment.parallelism, Reading::visit, |_| false)
        .await;
    reading
}

impl Reading {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn visit(self: Arc<Self>, vertex: Vertex) -> Walked {
        match vertex {
            Vertex::Provider(address) => named_values::provider(&self.walk.context, &address).await,
            Vertex::Resource(resource) if resource.resource.mode == ResourceMode::Ephemeral => {
                ephemeral::open(&self.walk.context, &resource).await
            }
            Vertex::Resource(resource) => self.evaluate_again(&resource).await,
            vertex => blocking(move || named_value(&self.walk.context, &vertex)).await,
        }
    }

    /// Reads the data sources of one resource for a provider's configuration.
    async fn evaluate_again(&self, resource: &ConfigResource) -> Walked {
        let mut walked = Walked::Done;
        let mut resources = BTreeSet::<AbsoluteResource>::new();
        for (address, planned) in self.configuring.get(resource).into_iter().flatten() {
            let instance = self.read_data(address, planned).await;
            match instance.as_ref().and_then(|instance| instance.current.as_ref()) {
                Some(object) => {
                    self.walk.context.working.set_instance(address, object.value.clone());
                    resources.insert(address.containing());
                }
                None => walked = Walked::Failed,
            }
            self.found().insert(address.clone(), instance);
        }
        for resource in &resources {
            self.walk.context.working.finish_resource(resource);
        }
        walked
    }

    async fn read_data(
        &self,
        address: &ResourceInstance,
        planned: &RefreshedInstance,
    ) -> Option<RefreshedInstance> {
        let context = &self.walk.context;
        let provider = running_at(context, &planned.provider, address)?;
        let schemas = context.pool.schema(&planned.provider.provider)?;
        let schema = resource_schema(&schemas, address.resource.mode, &address.resource.ty)?;
        let (object, config) = (planned.current.as_ref()?, planned.configuration.as_ref()?);
        match data::read(&*provider, schema, address, config).await {
            Ok((value, _)) => {
                let current = Some(Object { value, ..object.clone() });
                Some(RefreshedInstance { current, ..planned.clone() })
            }
            Err(failure) => {
                context.report(failure.into_diagnostics(None, None, address));
                None
            }
        }
    }

    async fn read(&self, plan: &Plan, address: &ResourceInstance) -> Option<RefreshedInstance> {
        let planned = plan.refreshed.get(address)?;
        if address.resource.mode == ResourceMode::Data {
            return self.read_data(address, planned).await;
        }
        let walk = &self.walk;
        let provider = running_at(&walk.context, &planned.provider, address)?;
        let schemas = walk.context.pool.schema(&planned.provider.provider)?;
        let schema = resource_schema(&schemas, address.resource.mode, &address.resource.ty)?;
        let mut instance = RefreshedInstance {
            provider: planned.provider.clone(),
            seen: Seen::InTheWorld,
            configuration: None,
            current: None,
            deposed: BTreeMap::new(),
        };
        let origin = plan.moves.get(address);
        let converted = origin.is_some_and(|origin| origin.resource.ty != address.resource.ty);
        if converted || plan.imports.contains_key(address) {
            // No record has the object in this form: what planning found is read again.
            if let Some(object) = &planned.current {
                let object = object.clone();
                let found =
                    read_object(walk, None, &*provider, schema, address, None, object).await?;
                instance.current = found.now;
            }
            return Some(instance);
        }
        let recorded = plan.prior.instances.get(address)?;
        if let Some(stored) = &recorded.current {
            let found = refresh(walk, None, &*provider, schema, address, None, stored).await?;
            instance.current = found.now;
        }
        for (key, stored) in &recorded.deposed {
            let found = refresh(walk, None, &*provider, schema, address, Some(key), stored).await?;
            if let Some(object) = found.now {
                instance.deposed.insert(key.clone(), object);
            }
        }
        Some(instance)
    }
}
