//! Planning deletions: of instances that are not wanted any more, and of deposed objects.

use super::managed::DeposedObjects;
use super::refresh::{self, note_drift, refresh};
use super::{PlanWalk, removal, type_change};
use crate::changes::{Action, ActionReason, ResourceInstanceChange};
use crate::declared::{Declared, provider_is_configured};
use crate::hooks::HookObject;
use crate::object::{DeposedKey, Object, StoredObject};
use crate::object_codec::resource_schema;
use crate::plan::{PlanMode, RefreshedInstance};
use crate::provider_meta::running_for;
use crate::state::InstanceState;
use language::diagnostics::Diagnostic;
use language::source::Span;
use providers::{PlanResourceRequest, Provider, TypedSchema};
use std::sync::Arc;
use values::Value;
use values::address::{ProviderConfigAddress, ResourceInstance, ResourceMode};

/// Plans the deletion of a recorded instance, deposed objects included; whether that worked.
pub(crate) async fn plan(
    walk: &PlanWalk,
    declared: Option<&Declared>,
    address: &ResourceInstance,
    reason: Option<ActionReason>,
) -> bool {
    let Some(stored) = walk.prior.instances.get(address).cloned() else { return true };
    if address.resource.mode == ResourceMode::Data {
        // There is nothing to delete in the world: the record goes with the commit.
        return true;
    }
    let origin = walk.moves.origin(address);
    if let Some(origin) = origin.filter(|origin| origin.resource.ty != address.resource.ty) {
        // Nothing declares the target, so that no provider is known that could convert the object.
        type_change::refuse(walk, address, &address.resource.implied_provider());
        tracing::debug!(%origin, %address, "moved to another type that nothing declares");
        return false;
    }
    let Some(deposed) = plan_deposed(walk, declared, address, &stored).await else { return false };
    let mut now = None;
    let mut provider = None;
    if let Some(object) = &stored.current {
        let Some(target) = Target::of(walk, object, address) else { return false };
        let found =
            refresh(walk, declared, &*target.provider, &target.schema, address, None, object).await;
        let Some(found) = found else { return false };
        note_drift(walk, &object.provider, &target.schema, address, &found);
        now = found.now;
        provider = Some(object.provider.clone());
        if walk.options.mode == PlanMode::RefreshOnly {
            if let Some(object) = &now {
                walk.context.working.set_instance(address, object.value.clone());
            }
        } else if let Some(object) = &now
            && !target.plan(walk, declared, address, None, object, reason).await
        {
            return false;
        }
    }
    let provider = provider.or_else(|| stored.deposed.values().next().map(|o| o.provider.clone()));
    if let Some(provider) = provider {
        if let (PlanMode::Destroy, Some(object)) = (walk.options.mode, &now) {
            walk.context.working.set_instance(address, object.value.clone());
        }
        let instance = RefreshedInstance {
            provider,
            seen: walk.seen(),
            configuration: None,
            current: now,
            deposed,
        };
        walk.outcome.refreshed(address.clone(), instance);
    }
    true
}

/// Plans the deletion of the deposed objects of an instance. Those found in the world; `None` after
/// an error.
pub(crate) async fn plan_deposed(
    walk: &PlanWalk,
    declared: Option<&Declared>,
    address: &ResourceInstance,
    stored: &InstanceState,
) -> Option<DeposedObjects> {
    let mut found = DeposedObjects::new();
    for (key, object) in &stored.deposed {
        let target = Target::of(walk, object, address)?;
        let refreshed =
            refresh(walk, declared, &*target.provider, &target.schema, address, Some(key), object)
                .await?;
        let Some(now) = refreshed.now else { continue };
        if walk.options.mode != PlanMode::RefreshOnly
            && !target.plan(walk, declared, address, Some(key), &now, None).await
        {
            return None;
        }
        found.insert(key.clone(), now);
    }
    Some(found)
}

/// The provider and schema of a recorded object, whether or not its resource is still declared.
struct Target {
    address: ProviderConfigAddress,
    provider: Arc<dyn Provider>,
    schema: TypedSchema,
    plan_destroy: bool,
}

impl Target {
    fn of(walk: &PlanWalk, object: &StoredObject, address: &ResourceInstance) -> Option<Target> {
        let context = &walk.context;
        // The resource may have been given another configuration of its provider meanwhile.
        let declared = context.configuration.provider_for(&address.config());
        let provider_address = declared.unwrap_or_else(|| object.provider.clone());
        if !provider_is_configured(context, &provider_address, address) {
            return None;
        }
        let provider = running_for(context, &provider_address, &address.module.path())?;
        let schemas = context.pool.schema(&provider_address.provider)?;
        let ty = &address.resource.ty;
        let Some(schema) = resource_schema(&schemas, address.resource.mode, ty).cloned() else {
            walk.fail(
                address,
                Diagnostic::error(
                    "Missing resource schema from provider",
                    format!("The provider {provider_address} has no resource type {:?}, which the object recorded for {address} is of: it cannot be read or deleted. Use the version of the provider that made it.", &**ty),
                ),
            );
            return None;
        };
        walk.outcome.schema(&provider_address.provider, address.resource.mode, ty, &schema);
        Some(Target {
            address: provider_address,
            provider,
            schema,
            plan_destroy: schemas.capabilities.plan_destroy,
        })
    }

    async fn plan(
        &self,
        walk: &PlanWalk,
        declared: Option<&Declared>,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        object: &Object,
        reason: Option<ActionReason>,
    ) -> bool {
        let block = walk.context.configuration.resource(&address.config());
        let action = removal::action(walk, address);
        let prevented = object.prevent_destroy
            || block.is_some_and(|b| b.lifecycle.prevent_destroy == Some(true));
        if prevented && deposed.is_none() && action == Action::Delete {
            refuse_prevented(walk, address, block.map(|b| b.span));
            return false;
        }
        walk.context.environment.hook(|h| h.pre_diff(&HookObject { address, deposed }));
        let mut private = object.private.clone();
        if self.plan_destroy && action == Action::Delete {
            let null = self.schema.null();
            let request = PlanResourceRequest {
                ty: address.resource.ty.clone(),
                prior_state: object.value.unmark_deep(),
                proposed_new_state: null.clone(),
                config: null,
                prior_private: private.clone(),
                provider_meta: None,
                prior_identity: object.identity.clone(),
                deferral_allowed: false,
            };
            match self.provider.plan_resource(request).await {
                Err(e) => {
                    refresh::report_failure(walk, declared, address, &e);
                    return false;
                }
                Ok(response) => match response.into_result() {
                    Err(errors) => {
                        walk.context.report(crate::provider_diagnostics::in_body(
                            errors,
                            None,
                            block.map(|b| b.span),
                            &address.to_string(),
                        ));
                        return false;
                    }
                    Ok((answer, _)) if !answer.planned_state.is_null() => {
                        walk.fail(address, Diagnostic::error(
                            "Provider produced invalid plan",
                            format!("Provider {:?} planned a non-null destroy value for {address}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", self.address.provider.to_string()),
                        ));
                        return false;
                    }
                    Ok((answer, _)) => private = answer.planned_private,
                },
            }
        }
        let change = ResourceInstanceChange {
            address: address.clone(),
            previous_address: walk.origin(address),
            deposed: deposed.cloned(),
            provider: self.address.clone(),
            action,
            reason,
            before: object.value.clone(),
            after: Value::null(self.schema.ty().clone()),
            requires_replace: Vec::new(),
            private,
            dependencies: object.dependencies.clone(),
            create_before_destroy: object.create_before_destroy,
        };
        walk.context.environment.hook(|h| h.post_diff(&change));
        walk.outcome.change(change);
        true
    }
}

/// The refusal to destroy what is protected.
pub(crate) fn refuse_prevented(walk: &PlanWalk, address: &ResourceInstance, place: Option<Span>) {
    let mut diagnostic = Diagnostic::error(
        "Instance cannot be destroyed",
        format!(
            "Resource {address} has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid this error and continue with the plan, either disable lifecycle.prevent_destroy or reduce the scope of the plan using the -target option."
        ),
    );
    if let Some(place) = place {
        diagnostic = diagnostic.at(place);
    }
    walk.fail(address, diagnostic);
}
