//! Reading instances again, to compare the world with what a plan rests on.

use super::graph;
use super::refresh::{read_object, refresh};
use super::{Forgotten, Outcome, PlanOptions, PlanWalk, data, named_value};
use crate::evaluation::{EvalContext, named_values};
use crate::graph::{Walked, walk};
use crate::moving::Moves;
use crate::object_codec::resource_schema;
use crate::plan::{Plan, PlanMode, RefreshedInstance};
use crate::vertex::Vertex;
use language::diagnostics::Diagnostics;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{ProviderConfigAddress, ResourceInstance, ResourceMode};

/// Reads the recorded objects of these instances as planning did.
///
/// Providers are configured with what the plan knew: values of resources come from it.
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
    let (shared, mut diagnostics) = with_providers(context, plan, providers).await;
    let mut found = BTreeMap::new();
    for address in addresses {
        if let Some(instance) = read(&shared, plan, address).await {
            found.insert(address.clone(), instance);
        }
    }
    diagnostics.extend(shared.context.take_diagnostics());
    (found, diagnostics)
}

/// Starts and configures providers with what a plan knew: values of resources come from it.
pub(crate) async fn with_providers(
    context: EvalContext,
    plan: &Plan,
    providers: BTreeSet<&ProviderConfigAddress>,
) -> (Arc<PlanWalk>, Diagnostics) {
    let options = PlanOptions { mode: PlanMode::RefreshOnly, ..PlanOptions::default() };
    let (plan_graph, graph) = graph::build(&context, options.mode, &[], &plan.prior);
    let wanted: Vec<_> =
        providers.iter().filter_map(|p| graph.id(&Vertex::Provider((*p).clone()))).collect();
    let keep = graph.reachable(wanted);
    let graph = graph.retain(&keep);
    let shared = Arc::new(PlanWalk {
        context,
        options,
        prior: plan.prior.clone(),
        moves: Moves::default(),
        forgotten: Forgotten::default(),
        plan_graph,
        outcome: Outcome::default(),
    });
    // What a provider's configuration refers to is as it was planned.
    let needed: Vec<_> = plan
        .refreshed
        .iter()
        .filter(|(address, _)| graph.id(&Vertex::Resource(address.config())).is_some())
        .filter_map(|(address, instance)| Some((address, instance.current.as_ref()?)))
        .collect();
    for (address, object) in &needed {
        shared.context.working.set_instance(address, object.value.clone());
    }
    shared.context.working.finish_instances(needed.iter().map(|(address, _)| *address));
    walk(
        &graph,
        |vertex| {
            let (shared, vertex) = (shared.clone(), vertex.clone());
            async move { visit(shared, vertex).await }
        },
        |_| {},
    )
    .await;
    let diagnostics = shared.context.take_diagnostics();
    (shared, diagnostics)
}

async fn visit(shared: Arc<PlanWalk>, vertex: Vertex) -> Walked {
    match vertex {
        Vertex::Provider(address) => named_values::provider(&shared.context, &address).await,
        Vertex::Resource(_) => Walked::Done,
        vertex => super::blocking(move || named_value(&shared.context, &vertex)).await,
    }
}

async fn read(
    shared: &PlanWalk,
    plan: &Plan,
    address: &ResourceInstance,
) -> Option<RefreshedInstance> {
    let planned = plan.refreshed.get(address)?;
    let provider = shared.context.pool.running(&planned.provider)?;
    let schemas = shared.context.pool.schema(&planned.provider.provider)?;
    let schema = resource_schema(&schemas, address.resource.mode, &address.resource.ty)?;
    let mut instance = RefreshedInstance {
        provider: planned.provider.clone(),
        configuration: planned.configuration.clone(),
        current: None,
        deposed: BTreeMap::new(),
    };
    if address.resource.mode == ResourceMode::Data {
        let (object, config) = (planned.current.as_ref()?, planned.configuration.as_ref()?);
        let value = match data::read(&*provider, schema, address, config).await {
            Ok((value, _)) => value,
            Err(failure) => {
                shared.context.report(failure.into_diagnostics(None, None, address));
                return None;
            }
        };
        instance.current = Some(crate::object::Object { value, ..object.clone() });
        return Some(instance);
    }
    let origin = plan.moves.get(address);
    let converted = origin.is_some_and(|origin| origin.resource.ty != address.resource.ty);
    if converted || plan.imports.contains_key(address) {
        // No record has the object in this form: what planning found is read again.
        if let Some(object) = &planned.current {
            let object = object.clone();
            let found =
                read_object(shared, None, &*provider, schema, address, None, object).await?;
            instance.current = found.now;
        }
        return Some(instance);
    }
    let recorded = plan.prior.instances.get(address)?;
    if let Some(stored) = &recorded.current {
        let found = refresh(shared, None, &*provider, schema, address, None, stored).await?;
        instance.current = found.now;
    }
    for (key, stored) in &recorded.deposed {
        let found = refresh(shared, None, &*provider, schema, address, Some(key), stored).await?;
        if let Some(object) = found.now {
            instance.deposed.insert(key.clone(), object);
        }
    }
    Some(instance)
}
