//! Planning one instance of a data source: read now, or while applying.

use super::PlanWalk;
use super::refresh::report;
use super::resource::{configuration, validate_configuration};
use crate::changes::{Action, ActionReason, ResourceInstanceChange};
use crate::declared::Declared;
use crate::evaluation::{
    CheckedObject, Reader, RepetitionData, blocking, check_rules_for, report_unread_data,
};
use crate::object::{Object, ObjectStatus};
use crate::object_change::{planned_unknown, without_unknowns};
use crate::object_codec::mark_by_configuration;
use crate::plan::{PlanMode, RefreshedInstance, Seen};
use crate::provider_diagnostics::{failed_call, in_body};
use language::diagnostics::Diagnostic;
use language::source::Span;
use language::syntax::ast::Body;
use providers::{Provider, ReadDataSourceRequest, TypedSchema};
use std::sync::Arc;
use values::Value;
use values::address::ResourceInstance;

pub(crate) async fn plan(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    address: &ResourceInstance,
    data: &RepetitionData,
) -> bool {
    let config = {
        let (walk, declared, address, data) =
            (walk.clone(), declared.clone(), address.clone(), data.clone());
        blocking(move || {
            let rules = &declared.block()?.lifecycle.preconditions;
            let object = CheckedObject::ResourcePrecondition(&address);
            let (reader, context) = (Reader::Instance(address.clone()), &walk.context);
            if !check_rules_for(&reader, context, &address.module, &data, None, object, rules) {
                return None;
            }
            configuration(&walk, &declared, &address, &data)
        })
        .await
    };
    let Some(config) = config else { return false };
    if !validate_configuration(walk, declared, address, &config).await {
        return false;
    }
    let pending = dependency_pending(walk, declared, address);
    let known = config.is_wholly_known();
    if known && !pending {
        return read_now(walk, declared, address, data, &config).await;
    }
    let reason = match known {
        false => ActionReason::ReadBecauseConfigUnknown,
        true => ActionReason::ReadBecauseDependencyPending,
    };
    let planned = planned_unknown(&declared.schema.block, &config.unmark_deep());
    let after = mark_by_configuration(&declared.schema, &config, &planned);
    walk.context.working.set_instance(address, after.clone());
    plan_read(walk, declared, address, after, reason);
    true
}

/// Plans to read while applying.
fn plan_read(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    after: Value,
    reason: ActionReason,
) {
    if walk.options.mode == PlanMode::RefreshOnly {
        return;
    }
    let change = ResourceInstanceChange {
        address: address.clone(),
        previous_address: None,
        deposed: None,
        provider: declared.provider_address.clone(),
        action: Action::Read,
        reason: Some(reason),
        before: declared.schema.null(),
        after,
        requires_replace: Vec::new(),
        private: Arc::default(),
        dependencies: dependencies(walk, declared),
        create_before_destroy: false,
    };
    walk.context.environment.hook(|h| h.post_diff(&change));
    walk.outcome.change(change);
}

/// Notes what a read gave.
fn keep_read(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    value: Value,
    config: &Value,
) {
    let object = Object {
        value,
        identity: None,
        private: Arc::default(),
        dependencies: dependencies(walk, declared),
        create_before_destroy: false,
        prevent_destroy: false,
        status: ObjectStatus::Ready,
    };
    walk.outcome.refreshed(
        address.clone(),
        RefreshedInstance {
            provider: declared.provider_address.clone(),
            seen: Seen::InTheWorld,
            configuration: Some(config.clone()),
            current: Some(object),
            deposed: Default::default(),
        },
    );
}

/// What stands for a data source that could not be read: its arguments alone.
pub(crate) fn unread(schema: &TypedSchema, config: &Value) -> Value {
    let planned = planned_unknown(&schema.block, &config.unmark_deep());
    without_unknowns(&mark_by_configuration(schema, config, &planned))
}

fn dependencies(walk: &PlanWalk, declared: &Declared) -> Arc<[values::address::ConfigResource]> {
    walk.plan_graph.dependencies.get(&declared.resource).cloned().unwrap_or_default()
}

/// Whether something that it names or depends on is about to change: then what would be read now may
/// not be what is there afterwards.
fn dependency_pending(walk: &PlanWalk, declared: &Declared, address: &ResourceInstance) -> bool {
    if walk.options.mode == PlanMode::Destroy {
        // It is read for providers, while what it names is still there.
        return false;
    }
    let Some(depended) = walk.plan_graph.data_depends_on.get(&declared.resource) else {
        return false;
    };
    walk.outcome.any_change_of(depended, &address.module)
}

async fn read_now(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    address: &ResourceInstance,
    data: &RepetitionData,
    config: &Value,
) -> bool {
    let hooks = &walk.context.environment;
    hooks.hook(|h| h.pre_read(address));
    let place = declared.block().map(|b| b.span);
    let body = declared.block().map(|b| &*b.config);
    let provider = declared.provider_of(&walk.context, address);
    let answer = read(&*provider, &declared.schema, address, config).await;
    let value = match answer {
        Ok((value, warnings)) => {
            report(walk, declared, address, warnings);
            value
        }
        Err(failure) => {
            hooks.hook(|h| h.post_read(address, Err(failure.summary())));
            let diagnostics = failure.into_diagnostics(body, place, address);
            let Some(check) = declared.block().and_then(|b| b.check.as_ref()) else {
                walk.context.report(diagnostics);
                return false;
            };
            report_unread_data(&walk.context, &address.module, check, diagnostics);
            let planned = planned_unknown(&declared.schema.block, &config.unmark_deep());
            let after = mark_by_configuration(&declared.schema, config, &planned);
            walk.context.working.set_instance(address, after.clone());
            keep_read(walk, declared, address, unread(&declared.schema, config), config);
            plan_read(walk, declared, address, after, ActionReason::ReadBecauseCheckNested);
            return true;
        }
    };
    hooks.hook(|h| h.post_read(address, Ok(&value)));
    walk.context.working.set_instance(address, value.clone());
    keep_read(walk, declared, address, value.clone(), config);
    if declared.block().is_some_and(|b| b.check.is_some()) {
        // What a check looks at is read again once everything is applied.
        let reason = ActionReason::ReadBecauseCheckNested;
        plan_read(walk, declared, address, value.clone(), reason);
    }
    let (walk, declared, address, data) =
        (walk.clone(), declared.clone(), address.clone(), data.clone());
    blocking(move || {
        let Some(block) = declared.block() else { return false };
        let rules = &block.lifecycle.postconditions;
        let object = CheckedObject::ResourcePostcondition(&address);
        let (reader, context) = (Reader::Instance(address.clone()), &walk.context);
        check_rules_for(&reader, context, &address.module, &data, Some(&value), object, rules)
    })
    .await
}

/// Why a data source could not be read.
pub(crate) enum ReadFailure {
    Call(providers::ProviderError),
    Refused(Vec<providers::ProviderDiagnostic>),
    /// The answer breaks the protocol's rules: what is wrong with it.
    Invalid(String),
}

impl ReadFailure {
    /// One line for hooks.
    pub(crate) fn summary(&self) -> &str {
        match self {
            ReadFailure::Call(_) => "the provider could not be asked",
            ReadFailure::Refused(errors) => errors.first().map_or("", |e| e.summary.as_str()),
            ReadFailure::Invalid(_) => "the provider's answer is invalid",
        }
    }

    pub(crate) fn into_diagnostics(
        self,
        body: Option<&Body>,
        place: Option<Span>,
        address: &ResourceInstance,
    ) -> Vec<Diagnostic> {
        let shown = address.to_string();
        match self {
            ReadFailure::Call(e) => vec![failed_call(&e, place, &shown)],
            ReadFailure::Refused(errors) => in_body(errors, body, place, &shown),
            ReadFailure::Invalid(detail) => {
                let error = Diagnostic::error("Provider produced invalid object", detail);
                let error = error.for_address(shown);
                vec![match place {
                    Some(place) => error.at(place),
                    None => error,
                }]
            }
        }
    }
}

/// Reads a data source with a known configuration.
pub(crate) async fn read(
    provider: &dyn Provider,
    schema: &TypedSchema,
    address: &ResourceInstance,
    config: &Value,
) -> Result<(Value, Vec<providers::ProviderDiagnostic>), ReadFailure> {
    let request = ReadDataSourceRequest {
        ty: address.resource.ty.clone(),
        config: config.unmark_deep(),
        provider_meta: None,
        deferral_allowed: false,
    };
    let response = provider.read_data_source(request).await.map_err(ReadFailure::Call)?;
    let (answer, warnings) = response.into_result().map_err(ReadFailure::Refused)?;
    let complaint = match &answer.state {
        state if state.is_null() => Some("produced a null object"),
        state if !state.is_wholly_known() => Some("produced a value that is not wholly known"),
        _ => None,
    };
    if let Some(complaint) = complaint {
        return Err(ReadFailure::Invalid(format!(
            "Provider {:?} {complaint} for {address}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
            provider.address().to_string()
        )));
    }
    // What a provider answers carries no marks, whatever it was made of.
    Ok((mark_by_configuration(schema, config, &answer.state.unmark_deep()), warnings))
}
