//! Deleting the current or a deposed object of an instance.

use super::ApplyWalk;
use super::instance_records::{put, stored};
use crate::changes::{Action, ResourceInstanceChange};
use crate::graph::Walked;
use crate::hooks::HookObject;
use crate::object::{DeposedKey, Object, StoredObject};
use crate::object_codec::{decode, resource_schema};
use crate::provider_diagnostics::{failed_call, in_body};
use crate::record::body::ClaimedAction;
use crate::recorder::{Call, CallRefused, Step};
use language::diagnostics::Diagnostic;
use providers::{ApplyResourceRequest, Provider, TypedSchema};
use std::sync::Arc;
use values::address::ResourceInstance;

pub(crate) async fn visit(
    walk: Arc<ApplyWalk>,
    address: ResourceInstance,
    deposed: Option<DeposedKey>,
) -> Walked {
    let Some(_permit) = walk.context.permit().await else { return Walked::Failed };
    if !walk.may_begin() {
        return Walked::Failed;
    }
    match delete(&walk, &address, deposed.as_ref()).await {
        true => Walked::Done,
        false => Walked::Failed,
    }
}

async fn delete(
    walk: &ApplyWalk,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
) -> bool {
    let state = walk.records.get(address);
    let recorded = match deposed {
        Some(key) => state.deposed.get(key),
        None => state.current.as_ref(),
    };
    // A create that failed has put the object back: then there is nothing to delete.
    let Some(recorded) = recorded else { return true };
    let Some(change) = planned_change(walk, address, deposed) else { return true };
    let shown = address.to_string();
    let context = &walk.context;
    let place = context.configuration.resource(&address.config()).map(|b| b.span);
    let fail = |summary: &str, detail: String| {
        let diagnostic = Diagnostic::error(summary, detail).for_address(shown.clone());
        context.report([match place {
            Some(place) => diagnostic.at(place),
            None => diagnostic,
        }]);
    };
    if change.action == Action::Forget {
        let forgotten = record(walk, address, deposed, None, Step::Done, &fail).await;
        if forgotten {
            walk.count(|s| s.forget += 1);
        }
        return forgotten;
    }
    let provider = context.pool.running(&change.provider);
    let schemas = context.pool.schema(&change.provider.provider);
    let schema = schemas
        .as_ref()
        .and_then(|s| resource_schema(s, address.resource.mode, &address.resource.ty));
    let (Some(provider), Some(schema)) = (provider, schema) else {
        fail(
            "Provider not available",
            format!("The provider {} of {address} is not running.", change.provider),
        );
        return false;
    };
    let object = match current_object(walk, &*provider, schema, address, deposed, recorded).await {
        Ok(object) => object,
        Err(errors) => {
            context.report(errors);
            return false;
        }
    };
    let hook_object = HookObject { address, deposed };
    let null = schema.null();
    context.environment.hook(|h| h.pre_apply(&hook_object, Action::Delete, &object.value, &null));
    let call = Call::new(deposed.into(), ClaimedAction::Delete);
    match walk.recorder.begin(address, &call).await {
        Ok(()) => {}
        Err(CallRefused::Unrecorded(e)) => {
            fail(&e.summary, e.detail);
            return false;
        }
        Err(CallRefused::NothingMore(_)) => return false,
    }
    let request = ApplyResourceRequest {
        ty: address.resource.ty.clone(),
        prior_state: object.value.unmark_deep(),
        planned_state: null.clone(),
        config: null.clone(),
        planned_private: match change.action {
            Action::Delete => change.private.clone(),
            _ => object.private.clone(),
        },
        provider_meta: None,
        planned_identity: object.identity.clone(),
    };
    let mut error = None;
    let mut left: Option<Object> = Some(object.clone());
    match provider.apply_resource(request).await {
        Err(e) => {
            context.report([failed_call(&e, place, &shown)]);
            error = Some(e.to_string());
        }
        Ok(response) => {
            error = response
                .diagnostics
                .iter()
                .find(|d| d.is_error())
                .map(|d| d.summary.clone())
                .or(error);
            context.report(in_body(response.diagnostics, None, place, &shown));
            if let Some(answer) = response.value {
                left = match answer.new_state {
                    Some(state) if !state.is_null() => {
                        Some(Object { value: state, private: answer.private, ..object.clone() })
                    }
                    Some(_) => None,
                    // An answer without a state: gone if it is no error, else as it was.
                    None => error.is_some().then(|| object.clone()),
                };
            }
            if error.is_none() && left.is_some() {
                let name = provider.address().to_string();
                fail(
                    "Provider returned invalid result object after apply",
                    format!(
                        "After applying a delete, provider {name:?} returned an object for {address} instead of null. This is always a bug in the provider and should be reported in the provider's own repository. The object stays recorded."
                    ),
                );
                error = Some("an object was returned after a delete".into());
            }
        }
    }
    let kept = match &left {
        None => Ok(None),
        Some(object) => stored(&recorded.provider, schema, object).map(Some),
    };
    let mut ok = error.is_none();
    match kept {
        Ok(object) => {
            let step = match (ok, change.action) {
                (false, _) => Step::Failed,
                (true, Action::DeleteThenCreate) if deposed.is_none() => Step::Between,
                (true, _) => Step::Done,
            };
            ok &= record(walk, address, deposed, object, step, &fail).await;
        }
        Err(e) => {
            fail(&e.summary, e.detail);
            ok = false;
        }
    }
    let after = left.map_or(null, |object| object.value);
    context
        .environment
        .hook(|h| h.post_apply(&hook_object, Action::Delete, &after, error.as_deref()));
    if ok {
        walk.count(|s| s.destroy += 1);
    }
    ok
}

/// The change that this deletion is, or is a part of.
fn planned_change<'w>(
    walk: &'w ApplyWalk,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
) -> Option<&'w ResourceInstanceChange> {
    match deposed {
        Some(key) if walk.deposed_key(address) != Some(key) => walk.change_of(address, Some(key)),
        _ => walk.change(address),
    }
}

/// The object to delete, as it was read from the world while planning where it was.
async fn current_object(
    walk: &ApplyWalk,
    provider: &dyn Provider,
    schema: &TypedSchema,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
    recorded: &StoredObject,
) -> Result<Object, Vec<Diagnostic>> {
    let refreshed = walk.plan.refreshed.get(address);
    let planned = refreshed.and_then(|r| match deposed {
        Some(key) if walk.deposed_key(address) != Some(key) => r.deposed.get(key),
        _ => r.current.as_ref(),
    });
    match planned {
        Some(object) => Ok(object.clone()),
        None => decode(provider, schema, address, recorded).await.map(|(object, _)| object),
    }
}

async fn record(
    walk: &ApplyWalk,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
    object: Option<StoredObject>,
    step: Step,
    fail: &(dyn Fn(&str, String) + Sync),
) -> bool {
    let put = |state: &mut _| put(state, deposed, object);
    match walk.records.write(&*walk.recorder, address, step, put).await {
        Ok(()) => true,
        Err(e) => {
            fail(&e.summary, e.detail);
            false
        }
    }
}
