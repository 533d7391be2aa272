//! Reading the world: the object that a record speaks of, as it is now.

use super::PlanWalk;
use crate::changes::{Action, ResourceInstanceChange};
use crate::declared::Declared;
use crate::hooks::HookObject;
use crate::object::{DeposedKey, Object, ObjectStatus, StoredObject};
use crate::object_codec::decode;
use crate::object_read;
use crate::plan::PlanMode;
use crate::provider_diagnostics::{failed_call, in_body};
use providers::{Provider, ProviderDiagnostic, ProviderError, Response, TypedSchema};
use values::address::{ProviderConfigAddress, ResourceInstance};

/// An object as recorded, and as it is now (`None` where it is gone).
pub(crate) struct Refreshed {
    pub(crate) recorded: Object,
    pub(crate) now: Option<Object>,
}

/// Reports what a provider said; whether an error is among it.
pub(crate) fn report(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    diagnostics: Vec<ProviderDiagnostic>,
) -> bool {
    let block = declared.block();
    let body = block.map(|b| &*b.config);
    let placed = in_body(diagnostics, body, block.map(|b| b.span), &address.to_string());
    walk.context.report(placed)
}

pub(crate) fn report_failure(
    walk: &PlanWalk,
    declared: Option<&Declared>,
    address: &ResourceInstance,
    error: &ProviderError,
) {
    let place = declared.and_then(|d| d.block()).map(|b| b.span);
    walk.context.report([failed_call(error, place, &address.to_string())]);
}

/// What a provider answered, once what it says beside it is reported; `None` after an error.
pub(crate) fn answered<T>(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    answer: Result<Response<T>, ProviderError>,
) -> Option<T> {
    let response = match answer {
        Ok(response) => response,
        Err(error) => {
            report_failure(walk, Some(declared), address, &error);
            return None;
        }
    };
    let (answer, said) = match response.into_result() {
        Ok((answer, warnings)) => (Some(answer), warnings),
        Err(errors) => (None, errors),
    };
    report(walk, declared, address, said);
    answer
}

/// Decodes a recorded object and, where the plan refreshes, reads it from the world.
pub(crate) async fn refresh(
    walk: &PlanWalk,
    declared: Option<&Declared>,
    provider: &dyn Provider,
    schema: &TypedSchema,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
    stored: &StoredObject,
) -> Option<Refreshed> {
    let recorded = match decode(provider, schema, address, stored).await {
        Ok((object, warnings)) => {
            walk.context.report(warnings);
            object
        }
        Err(errors) => {
            walk.context.report(errors);
            return None;
        }
    };
    if !walk.options.refresh || recorded.status == ObjectStatus::Incomplete {
        return Some(Refreshed { now: Some(recorded.clone()), recorded });
    }
    if let Some(found) = walk.rehearsed.refreshed.get(address) {
        let now = match deposed {
            None => found.current.clone(),
            Some(key) => found.deposed.get(key).cloned(),
        };
        let (hooks, object) = (&walk.context.environment, HookObject { address, deposed });
        hooks.hook(|h| h.pre_refresh(&object, &recorded.value));
        let after = now.as_ref().map_or_else(|| schema.null(), |object| object.value.clone());
        hooks.hook(|h| h.post_refresh(&object, &recorded.value, &after));
        return Some(Refreshed { recorded, now });
    }
    read_object(walk, declared, provider, schema, address, deposed, recorded).await
}

/// Reads an object from the world.
pub(crate) async fn read_object(
    walk: &PlanWalk,
    declared: Option<&Declared>,
    provider: &dyn Provider,
    schema: &TypedSchema,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
    recorded: Object,
) -> Option<Refreshed> {
    let object = HookObject { address, deposed };
    let environment = &walk.context.environment;
    let read = object_read::read_object(environment, provider, schema, &object, &recorded).await;
    let block = declared.and_then(|d| d.block());
    let (body, place) = (block.map(|b| &*b.config), block.map(|b| b.span));
    let shown = address.to_string();
    let now = match read {
        Ok((now, warnings)) => {
            walk.context.report(in_body(warnings, body, place, &shown));
            now
        }
        Err(failure) => {
            walk.context.report(failure.into_diagnostics(body, place, &shown));
            return None;
        }
    };
    Some(Refreshed { recorded, now })
}

/// Notes that an object is not as recorded any more, if so.
pub(crate) fn note_drift(
    walk: &PlanWalk,
    provider: &ProviderConfigAddress,
    schema: &TypedSchema,
    address: &ResourceInstance,
    refreshed: &Refreshed,
) {
    if walk.options.mode == PlanMode::Destroy {
        // Nobody asks how what is about to go differs from its record.
        return;
    }
    let before = &refreshed.recorded.value;
    let (action, after) = match &refreshed.now {
        None => (Action::Delete, schema.null()),
        Some(now) if now.value.unmark_deep() == before.unmark_deep() => {
            if walk.origin(address).is_none() {
                return;
            }
            (Action::NoOp, now.value.clone())
        }
        Some(now) => (Action::Update, now.value.clone()),
    };
    walk.outcome.drifted(ResourceInstanceChange {
        address: address.clone(),
        previous_address: walk.origin(address),
        deposed: None,
        provider: provider.clone(),
        action,
        reason: None,
        before: before.clone(),
        after,
        requires_replace: Vec::new(),
        private: refreshed.recorded.private.clone(),
        dependencies: refreshed.recorded.dependencies.clone(),
        create_before_destroy: refreshed.recorded.create_before_destroy,
    });
}
