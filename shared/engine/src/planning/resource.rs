//! Planning one resource: its expansion, each of its instances, and what is recorded but not wanted
//! any more.

use super::import::{self, ImportedObjects};
use super::{PlanWalk, data, deletion, ignored, managed, refresh, replace_triggers};
use crate::changes::ActionReason;
use crate::declared::Declared;
use crate::ephemeral;
use crate::evaluation::{Expansion, Reader, RepetitionData, blocking};
use crate::graph::Walked;
use crate::object_codec::{decode, mark_by_schema};
use crate::plan::{PlanMode, RefreshedInstance, Seen};
use crate::provider_meta;
use crate::provisioning;
use futures::stream::{FuturesUnordered, StreamExt};
use language::diagnostics::Diagnostic;
use std::collections::BTreeSet;
use std::sync::Arc;
use values::address::{
    AbsoluteResource, ConfigResource, InstanceKey, ResourceInstance, ResourceMode,
};
use values::{PathStep, Value};

pub(crate) async fn visit(walk: Arc<PlanWalk>, resource: ConfigResource) -> Walked {
    let targeting = &walk.plan_graph.targeting;
    let recorded = walk.plan_graph.recorded.get(&resource).cloned().unwrap_or_default();
    let (recorded, left_alone): (Vec<_>, Vec<_>) =
        recorded.into_iter().partition(|address| targeting.includes(address));
    let Some(declared) = walk.context.configuration.resource(&resource) else {
        return delete_all(&walk, recorded, None).await;
    };
    if walk.options.mode == PlanMode::Destroy && declared.address.mode == ResourceMode::Managed {
        let mut walked = delete_all(&walk, recorded.clone(), None).await;
        if !left_alone.is_empty() {
            let Some(declared) = declared_resource(&walk, &resource) else { return Walked::Failed };
            if !keep_recorded(&walk, &declared, &left_alone).await {
                walked = Walked::Failed;
            }
        }
        // Providers may be configured with what is about to go, and with what stays.
        walk.context.working.finish_instances(recorded.iter().chain(&left_alone));
        return walked;
    }
    if resource.resource.mode == ResourceMode::Ephemeral && !walk.validating() {
        return ephemeral::open(&walk.context, &resource).await;
    }
    let Some(declared) = declared_resource(&walk, &resource) else { return Walked::Failed };
    let declared = Arc::new(declared);
    let mut ok = ignored::check(&walk.context, &declared);
    ok &= replace_triggers::check(&walk.context, &declared);
    let mut wanted = Vec::new();
    for module in walk.modules(&resource.module).iter() {
        let Some(expansion) = declared.expand(&walk.context, module).await else {
            ok = false;
            continue;
        };
        let absolute = resource.resource.absolute(module);
        for key in expansion.keys() {
            wanted.push((absolute.instance(key.clone()), expansion.data(&key)));
        }
        walk.context.working.set_expansion(absolute, expansion);
    }
    for module in walk.modules(&resource.module).iter() {
        warn_of_incomplete_requests(&walk, &resource.resource.absolute(module), &wanted);
    }
    let Some(imports) = import::targets(&walk, &resource).await else { return Walked::Failed };
    let undeclared: Vec<ResourceInstance> =
        imports.keys().filter(|address| ok && !is_wanted(&walk, address)).cloned().collect();
    import::report_undeclared(&walk, &undeclared);
    ok &= undeclared.is_empty();
    wanted.retain(|(address, _)| targeting.includes(address));
    if ok {
        if walk.validating() {
            ok = validate_instances(&walk, &declared, wanted).await;
        } else {
            ok = plan_instances(&walk, &declared, wanted, imports).await;
            let gone = recorded.into_iter().filter(|a| !is_wanted(&walk, a)).collect();
            ok &= delete_all(&walk, gone, Some(&declared)).await == Walked::Done;
            ok &= keep_recorded(&walk, &declared, &left_alone).await;
        }
    }
    if !ok {
        return Walked::Failed;
    }
    for module in walk.modules(&resource.module).iter() {
        walk.context.working.finish_resource(&resource.resource.absolute(module));
    }
    Walked::Done
}

/// Instances that are not planned are for others what their records say, while applying too.
async fn keep_recorded(
    walk: &PlanWalk,
    declared: &Declared,
    addresses: &[ResourceInstance],
) -> bool {
    for address in addresses {
        let Some(recorded) = walk.prior.instances.get(address) else { continue };
        let mut kept = RefreshedInstance {
            provider: declared.provider_address.clone(),
            seen: Seen::Recorded,
            current: None,
            deposed: Default::default(),
            configuration: None,
        };
        let current = recorded.current.iter().map(|object| (None, object));
        let deposed = recorded.deposed.iter().map(|(key, object)| (Some(key), object));
        for (key, stored) in current.chain(deposed) {
            let decoded = decode(&*declared.provider, &declared.schema, address, stored).await;
            let object = match decoded {
                Ok((object, warnings)) => {
                    walk.context.report(warnings);
                    object
                }
                Err(errors) => {
                    walk.context.report(errors);
                    return false;
                }
            };
            match key {
                Some(key) => {
                    kept.deposed.insert(key.clone(), object);
                }
                None => {
                    walk.context.working.set_instance(address, object.value.clone());
                    kept.current = Some(object);
                }
            }
        }
        walk.outcome.refreshed(address.clone(), kept);
    }
    true
}

/// `-replace` names instances: an address without the key that the resource's instances have
/// matches none of them.
fn warn_of_incomplete_requests(
    walk: &PlanWalk,
    resource: &AbsoluteResource,
    wanted: &[(ResourceInstance, RepetitionData)],
) {
    let requests = walk.options.replace.iter();
    for request in requests.filter(|r| r.key == InstanceKey::None && r.containing() == *resource) {
        let instances: Vec<&ResourceInstance> =
            wanted.iter().map(|(a, _)| a).filter(|a| a.containing() == *resource).collect();
        if matches!(*instances, [only] if only.key == InstanceKey::None) {
            continue;
        }
        let options: String = instances
            .iter()
            .map(|address| format!("\n  -replace={:?}", address.to_string()))
            .collect();
        let why = match *instances {
            [] => "this resource doesn't have any instances.".to_owned(),
            [_] => format!(
                "it lacks an instance key.\n\nTo force replacement of the single declared instance, use the following option instead:{options}"
            ),
            _ => format!(
                "it lacks an instance key.\n\nTo force replacement of particular instances, use one or more of the following options instead:{options}"
            ),
        };
        walk.context.report([Diagnostic::warning(
            "Incompletely-matched force-replace resource instance",
            format!(
                "Your force-replace request for {request} doesn't match any resource instances because {why}"
            ),
        )]);
    }
}

fn is_wanted(walk: &PlanWalk, address: &ResourceInstance) -> bool {
    // A resource in a module instance that is gone has no expansion.
    let expansion = walk.context.working.expansion(&address.containing());
    expansion.is_some_and(|expansion| expansion.contains(&address.key))
}

fn declared_resource(walk: &PlanWalk, resource: &ConfigResource) -> Option<Declared> {
    let declared = Declared::of(&walk.context, resource)?;
    let provider = &declared.provider_address.provider;
    if !walk.validating()
        && let Some(unwanted) = provider_meta::unwanted(&walk.context, resource, provider)
    {
        walk.context.report([unwanted]);
        return None;
    }
    let resource = &resource.resource;
    walk.outcome.schema(provider, resource.mode, &resource.ty, &declared.schema);
    Some(declared)
}

async fn plan_instances(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    wanted: Vec<(ResourceInstance, RepetitionData)>,
    imports: ImportedObjects,
) -> bool {
    // Most resources have one.
    if let [(address, data)] = &*wanted {
        return Box::pin(plan_instance(walk, declared, &imports, address, data)).await;
    }
    let mut ok = true;
    let mut wanted = wanted.iter();
    let mut running = FuturesUnordered::new();
    let limit = walk.context.environment.parallelism.max(1);
    loop {
        while running.len() < limit {
            let Some((address, data)) = wanted.next() else { break };
            running.push(plan_instance(walk, declared, &imports, address, data));
        }
        match running.next().await {
            Some(done) => ok &= done,
            None => return ok,
        }
    }
}

async fn plan_instance(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    imports: &ImportedObjects,
    address: &ResourceInstance,
    data: &RepetitionData,
) -> bool {
    let Some(_permit) = walk.context.permit().await else { return false };
    if walk.context.stop.is_stopping() {
        return false;
    }
    match declared.resource.resource.mode {
        ResourceMode::Managed => managed::plan(walk, declared, address, data, imports).await,
        _ => data::plan(walk, declared, address, data).await,
    }
}

/// Plans the deletion of instances that nothing wants any more.
async fn delete_all(
    walk: &Arc<PlanWalk>,
    addresses: Vec<ResourceInstance>,
    declared: Option<&Arc<Declared>>,
) -> Walked {
    let mut ok = true;
    for address in addresses {
        let Some(_permit) = walk.context.permit().await else { return Walked::Failed };
        if walk.context.stop.is_stopping() {
            return Walked::Failed;
        }
        let reason = reason_for_deletion(walk, &address);
        ok &= deletion::plan(walk, declared.map(|d| &**d), &address, reason).await;
    }
    if ok { Walked::Done } else { Walked::Failed }
}

fn reason_for_deletion(walk: &PlanWalk, address: &ResourceInstance) -> Option<ActionReason> {
    if walk.options.mode == PlanMode::Destroy {
        return None;
    }
    if walk.context.configuration.resource(&address.config()).is_none() {
        return Some(match walk.moves.origin(address) {
            Some(_) => ActionReason::DeleteBecauseNoMoveTarget,
            None => ActionReason::DeleteBecauseNoResourceConfig,
        });
    }
    if !walk.context.working.has_module(&address.module) {
        return Some(ActionReason::DeleteBecauseNoModule);
    }
    let Some(expansion) = walk.context.working.expansion(&address.containing()) else {
        return Some(ActionReason::DeleteBecauseNoResourceConfig);
    };
    Some(match (&*expansion, &address.key) {
        (Expansion::Count(_), InstanceKey::Int(_)) => ActionReason::DeleteBecauseCountIndex,
        (Expansion::ForEach(_), InstanceKey::String(_)) => ActionReason::DeleteBecauseEachKey,
        _ => ActionReason::DeleteBecauseWrongRepetition,
    })
}

/// Decodes and validates the configuration, as far as it is known without planning.
async fn validate_instances(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    wanted: Vec<(ResourceInstance, RepetitionData)>,
) -> bool {
    let mut ok = true;
    for (address, data) in wanted {
        let config = {
            let (walk, declared, address, data) =
                (walk.clone(), declared.clone(), address.clone(), data.clone());
            blocking(move || configuration(&walk, &declared, &address, &data)).await
        };
        let Some(config) = config else {
            ok = false;
            continue;
        };
        ok &= validate_configuration(walk, declared, &address, &config).await;
        let unknown = Value::unknown(declared.schema.ty().clone());
        let unknown = mark_by_schema(&declared.schema, &unknown);
        walk.context.working.set_instance(&address, unknown.clone());
        if declared.block().is_some_and(|block| !block.provisioners.is_empty()) {
            let (walk, declared) = (walk.clone(), declared.clone());
            ok &= blocking(move || {
                let (context, module) = (&walk.context, &address.module);
                declared.block().is_none_or(|block| {
                    provisioning::validate(context, module, &data, block, &unknown)
                })
            })
            .await;
        }
    }
    ok
}

/// The instance's configuration as an object of the schema's type, with marks.
pub(crate) fn configuration(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    data: &RepetitionData,
) -> Option<Value> {
    let block = declared.block()?;
    let reader = Reader::Instance(address.clone());
    let config = walk.context.evaluate_for(&reader, &address.module, data, None, |e| {
        e.body(&block.config, &declared.schema.block)
    })?;
    // What is ephemeral is not stored, and may be made of what is ephemeral too.
    let storable = address.resource.mode == ResourceMode::Ephemeral
        || walk.context.can_be_stored(&config, block.span)
            && stores_nothing_ephemeral(walk, declared, address, &config);
    storable.then_some(config)
}

/// Whether no ephemeral value would have to be stored; else it is reported.
fn stores_nothing_ephemeral(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    config: &Value,
) -> bool {
    if !config.deep_marks().is_ephemeral() {
        return true;
    }
    let Some(block) = declared.block() else { return false };
    let write_only = declared.schema.block.write_only_paths(&config.unmark_deep());
    let stored = config.marked_paths().into_iter().filter(|(path, marks)| {
        marks.is_ephemeral() && !write_only.iter().any(|allowed| path.starts_with(allowed))
    });
    let mut reported = BTreeSet::new();
    for (path, _) in stored {
        let Some(PathStep::Attribute(name)) = path.0.first() else { continue };
        if !reported.insert(name.clone()) {
            continue;
        }
        let place = crate::provider_diagnostics::locate(&block.config, &path);
        let detail = format!(
            "Ephemeral values are not valid for {:?}, because it is not a write-only attribute and must be persisted to state.",
            &**name
        );
        let error = Diagnostic::error("Invalid use of ephemeral value", detail);
        walk.fail(address, error.at(place.unwrap_or(block.span)));
    }
    reported.is_empty()
}

/// Has the provider validate a configuration.
pub(crate) async fn validate_configuration(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    config: &Value,
) -> bool {
    let ty = &*declared.resource.resource.ty;
    let config = config.unmark_deep();
    let response = match declared.resource.resource.mode {
        ResourceMode::Managed => {
            declared.provider.validate_resource_config(ty, &config, true).await
        }
        ResourceMode::Data => declared.provider.validate_data_config(ty, &config).await,
        ResourceMode::Ephemeral => declared.provider.validate_ephemeral_config(ty, &config).await,
    };
    match response {
        Ok(response) => !refresh::report(walk, declared, address, response.diagnostics),
        Err(e) => {
            refresh::report_failure(walk, Some(declared), address, &e);
            false
        }
    }
}
