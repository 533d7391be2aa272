//! `import` blocks: which objects are taken over by which instances, and reading them.

use super::PlanWalk;
use super::refresh::{self, Refreshed, answered};
use crate::declared::Declared;
use crate::evaluation::{Expansion, Reader, RepetitionData, blocking, evaluate_expansion_in_parts};
use crate::object::{Object, ObjectStatus};
use crate::object_codec::mark_by_schema;
use crate::plan::PlanMode;
use language::diagnostics::{Cause, Diagnostic, Diagnostics};
use language::evaluate::Evaluation;
use language::module::{Configuration, Import, Repetition};
use language::reads::PartReads;
use language::syntax::ast::{Expression, ExpressionKind, IndexKey, TraversalStep};
use providers::{ImportResourceRequest, ImportedResource};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{
    ConfigResource, InstanceKey, ModuleInstance, ModuleStep, Resource, ResourceInstance,
    ResourceMode,
};
use values::{Kind, Type, Value};

/// By the instance that takes an object, the object's identifier.
pub(crate) type ImportedObjects = BTreeMap<ResourceInstance, Arc<str>>;

/// The objects that a resource's instances take over, without those that are managed already.
/// `None` after an error.
pub(super) async fn targets(
    walk: &Arc<PlanWalk>,
    resource: &ConfigResource,
) -> Option<ImportedObjects> {
    if walk.validating() {
        return Some(ImportedObjects::new());
    }
    let asked = walk.options.imports.iter().filter(|(address, _)| {
        address.config() == *resource && !walk.prior.instances.contains_key(address)
    });
    let asked: ImportedObjects = asked.map(|(a, id)| (a.clone(), id.clone())).collect();
    // Blocks are for plans that change something; what a person asks for is only found and read in others, too.
    if walk.options.mode != PlanMode::Normal {
        return Some(asked);
    }
    let imports = &walk.context.configuration.root.module.imports;
    if !imports.iter().any(|import| import.target == *resource) {
        return Some(asked);
    }
    let (walk, resource) = (walk.clone(), resource.clone());
    blocking(move || {
        let mut found = asked.clone();
        let imports = &walk.context.configuration.root.module.imports;
        for import in imports.iter().filter(|import| import.target == resource) {
            let (repetitions, all) = repetitions(&walk, import)?;
            for data in repetitions {
                let (address, id, reads) =
                    walk.context.evaluate(&ModuleInstance::root(), &data, None, |evaluation| {
                        let (address, id) = target(evaluation, import)?;
                        Some((address, id, std::mem::take(&mut evaluation.reads)))
                    })??;
                let reader = Reader::Import(address.clone());
                walk.context.keep_reads(reader.clone(), all.clone());
                walk.context.logs.add(&reader, reads);
                if walk.prior.instances.contains_key(&address) || asked.contains_key(&address) {
                    continue;
                }
                if found.insert(address.clone(), id).is_some() {
                    let detail = format!(
                        "An import block for the resource {address:?} was already declared. A resource can have only one import block."
                    );
                    let summary = format!("Duplicate import configuration for {address:?}");
                    walk.context.report([Diagnostic::error(summary, detail).at(import.span)]);
                    return None;
                }
            }
        }
        Some(found)
    })
    .await
}

/// The repetitions of an import block, and what they were made of.
fn repetitions(walk: &PlanWalk, import: &Import) -> Option<(Vec<RepetitionData>, PartReads)> {
    let Some(for_each) = &import.for_each else {
        return Some((vec![RepetitionData::default()], PartReads::default()));
    };
    let repetition = Repetition::ForEach(for_each.clone());
    let data = RepetitionData::default();
    let (expansion, reads) =
        walk.context.evaluate(&ModuleInstance::root(), &data, None, |evaluation| {
            evaluate_expansion_in_parts(evaluation, &repetition, false)
        })?;
    let expansion: Expansion = expansion?;
    let repetitions = expansion.keys().iter().map(|key| expansion.data(key)).collect();
    Some((repetitions, reads.merged()))
}

/// The instance that takes an object over, and the object's identifier.
pub(super) fn target(
    evaluation: &mut Evaluation<'_>,
    import: &Import,
) -> Option<(ResourceInstance, Arc<str>)> {
    let address = address(evaluation, &import.to)?;
    Some((address, identifier(evaluation, import)?))
}

fn identifier(evaluation: &mut Evaluation<'_>, import: &Import) -> Option<Arc<str>> {
    const SUMMARY: &str = "Invalid import id argument";
    let before = evaluation.diagnostics.len();
    let value = evaluation.expression(&import.id);
    if evaluation.diagnostics.iter().skip(before).any(Diagnostic::is_error) {
        return None;
    }
    let mut cause = None;
    let problem = match value.kind() {
        _ if value.marks().is_ephemeral() => {
            cause = Some(Cause::Ephemeral);
            "The import ID value is unsuitable: it is derived from an ephemeral value."
        }
        _ if value.is_null() => "The import ID cannot be null.",
        _ if !value.is_known() => {
            cause = Some(Cause::Unknown);
            "The import block \"id\" argument depends on resource attributes that cannot be determined until apply, so Terraform cannot plan to import this resource."
        }
        _ if value.marks().is_sensitive() => {
            cause = Some(Cause::Sensitive);
            "The import ID value is unsuitable: it is derived from a sensitive value, which would be shown."
        }
        Kind::String(id) if id.is_empty() => {
            "The import ID value evaluates to an empty string, please provide a non-empty value."
        }
        Kind::String(id) => return Some(id.clone()),
        // Numbers and bools have a text, which is what providers get.
        _ => match values::convert::convert(&value, &Type::String) {
            Ok(text) => return text.as_str().map(Arc::from),
            Err(_) => "The import ID value is unsuitable: not a string.",
        },
    };
    let mut error = Diagnostic::error(SUMMARY, problem).at(import.id.span);
    if let Some(cause) = cause {
        error = error.because(cause).with_values(evaluation.describe(&import.id, Some(cause)));
    }
    evaluation.diagnostics.push(error);
    None
}

/// One name or evaluated key of an address.
enum Step {
    Name(Arc<str>),
    Key(InstanceKey),
}

/// The address that `to` gives, with its keys evaluated.
fn address(evaluation: &mut Evaluation<'_>, to: &Expression) -> Option<ResourceInstance> {
    let mut steps = Vec::new();
    let parsed = collect(evaluation, to, &mut steps).and_then(|()| assemble(steps));
    if parsed.is_none() && !evaluation.diagnostics.iter().any(Diagnostic::is_error) {
        evaluation.diagnostics.push(
            Diagnostic::error(
                "Invalid import address expression",
                "The import block 'to' argument does not resolve to a single resource instance.",
            )
            .at(to.span),
        );
    }
    parsed
}

fn collect(evaluation: &mut Evaluation<'_>, at: &Expression, steps: &mut Vec<Step>) -> Option<()> {
    match &at.kind {
        ExpressionKind::ScopeTraversal(traversal) => {
            steps.push(Step::Name(traversal.root.clone()));
            append(&traversal.steps, steps)
        }
        ExpressionKind::RelativeTraversal(relative) => {
            collect(evaluation, &relative.source, steps)?;
            append(&relative.steps, steps)
        }
        ExpressionKind::Index(index) => {
            collect(evaluation, &index.collection, steps)?;
            let key = evaluation.expression(&index.key);
            steps.push(Step::Key(computed(&key)?));
            Some(())
        }
        _ => None,
    }
}

fn append(from: &[TraversalStep], steps: &mut Vec<Step>) -> Option<()> {
    for step in from {
        steps.push(written(step)?);
    }
    Some(())
}

fn written(step: &TraversalStep) -> Option<Step> {
    match step {
        TraversalStep::Attribute { name, .. } => Some(Step::Name(name.clone())),
        TraversalStep::Index { key: IndexKey::String(key), .. } => {
            Some(Step::Key(InstanceKey::String(key.clone())))
        }
        TraversalStep::Index { key: IndexKey::Number(digits), .. } => {
            Some(Step::Key(InstanceKey::Int(digits.parse().ok()?)))
        }
        TraversalStep::Index { .. } | TraversalStep::Splat { .. } => None,
    }
}

fn computed(key: &Value) -> Option<InstanceKey> {
    match key.unmark().kind() {
        Kind::String(key) => Some(InstanceKey::String(key.clone())),
        Kind::Number(n) => n.to_u64().map(InstanceKey::Int),
        _ => None,
    }
}

fn assemble(steps: Vec<Step>) -> Option<ResourceInstance> {
    let mut steps = steps.into_iter().peekable();
    let mut modules = Vec::new();
    let name = |step: Option<Step>| match step {
        Some(Step::Name(name)) => Some(name),
        _ => None,
    };
    let mut first = name(steps.next())?;
    while &*first == "module" {
        let call = name(steps.next())?;
        let key = match steps.next_if(|step| matches!(step, Step::Key(_))) {
            Some(Step::Key(key)) => key,
            _ => InstanceKey::None,
        };
        modules.push(ModuleStep { name: call, key });
        first = name(steps.next())?;
    }
    let ty = if &*first == "resource" { name(steps.next())? } else { first };
    let resource = Resource { mode: ResourceMode::Managed, ty, name: name(steps.next())? };
    let key = match steps.next() {
        None => InstanceKey::None,
        Some(Step::Key(key)) => key,
        Some(Step::Name(_)) => return None,
    };
    let module = ModuleInstance(modules.into());
    steps.next().is_none().then_some(ResourceInstance { module, resource, key })
}

/// Blocks whose resource nothing declares.
pub(crate) fn without_configuration(configuration: &Configuration) -> Diagnostics {
    let imports = configuration.root.module.imports.iter();
    let missing = imports.filter(|import| configuration.resource(&import.target).is_none());
    missing
        .map(|import| {
            let target = &import.target;
            let detail = match target.module.is_root() && import.for_each.is_none() {
                true => format!(
                    "The configuration for the given import target {target} does not exist. If you wish to automatically generate config for this resource, use the -generate-config-out option within plumb plan. Otherwise, make sure the target resource exists within your configuration. For example:\n\n  plumb plan -generate-config-out=generated.tf"
                ),
                false => format!(
                    "The configuration for the given import target {target} does not exist. All target instances must have an associated configuration to be imported."
                ),
            };
            Diagnostic::error("Configuration for import target does not exist", detail)
                .at(import.to.span)
        })
        .collect()
}

/// Reports targets that the resource does not expand to.
pub(super) fn report_undeclared(walk: &PlanWalk, addresses: &[ResourceInstance]) {
    walk.context.report(addresses.iter().map(|address| {
        Diagnostic::error(
            "Configuration for import target does not exist",
            format!(
                "The configuration for the given import {address} does not exist. All target instances must have an associated configuration to be imported."
            ),
        )
    }));
}

/// Has the provider find an object, and reads it. `None` after an error.
pub(super) async fn read(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    id: &Arc<str>,
) -> Option<Refreshed> {
    let request = ImportResourceRequest {
        ty: address.resource.ty.clone(),
        id: id.clone(),
        identity: None,
        deferral_allowed: false,
    };
    walk.context.environment.hook(|h| h.pre_import(address, id));
    let provider = declared.provider_of(&walk.context, address);
    let answer = provider.import_resource(request).await;
    let answer = answered(walk, declared, address, answer)?;
    let attempt = format!("While attempting to import with ID {id:?}, the provider returned");
    let fail = |summary: &str, detail: String| {
        walk.fail(address, Diagnostic::error(summary, detail));
        None
    };
    let imported: ImportedResource = match <[_; 1]>::try_from(answer.imported) {
        Ok([imported]) => imported,
        Err(none) if none.is_empty() => {
            return fail("Import returned no resources", format!("{attempt} no instance states."));
        }
        Err(_) => {
            return fail(
                "Multiple import states not supported",
                format!(
                    "{attempt} multiple resource instance states. This is not currently supported."
                ),
            );
        }
    };
    if imported.state.is_null() || imported.ty != address.resource.ty {
        return fail(
            "Import returned null resource",
            format!("{attempt} an instance with no state."),
        );
    }
    let object = Object {
        value: mark_by_schema(&declared.schema, &imported.state),
        identity: imported.identity,
        private: imported.private,
        dependencies: Arc::default(),
        create_before_destroy: false,
        prevent_destroy: false,
        status: ObjectStatus::Ready,
    };
    let schema = &declared.schema;
    let found =
        refresh::read_object(walk, Some(declared), &*provider, schema, address, None, object)
            .await?;
    let Some(now) = found.now else {
        return fail(
            "Cannot import non-existent remote object",
            format!(
                "While attempting to import an existing object to \"{address}\", the provider detected that no object exists with the given id. Only pre-existing objects can be imported; check that the id is correct and that it is associated with the provider's configured region or endpoint, or use \"plumb apply\" to create a new remote object for this resource."
            ),
        );
    };
    // Nothing was recorded before: whatever the read added is no drift.
    Some(Refreshed { recorded: now.clone(), now: Some(now) })
}
