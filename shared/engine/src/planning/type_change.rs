//! Moves across resource types: the target's provider makes an object of its own type from what is
//! recorded.

use super::PlanWalk;
use super::refresh::answered;
use crate::declared::Declared;
use crate::object::{Object, ObjectStatus, StoredObject};
use crate::object_codec::{encode, mark_by_schema};
use crate::state::InstanceState;
use language::diagnostics::Diagnostic;
use providers::MoveResourceRequest;
use std::sync::Arc;
use values::address::ResourceInstance;

/// The record of an instance, with objects of its type; `None` after an error.
pub(super) async fn of_own_type(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    recorded: InstanceState,
) -> Option<InstanceState> {
    let Some(origin) = walk.moves.origin(address) else { return Some(recorded) };
    if origin.resource.ty == address.resource.ty {
        return Some(recorded);
    }
    let mut state = InstanceState { current: None, deposed: Default::default(), ..recorded };
    if let Some(object) = &recorded.current {
        state.current = Some(converted(walk, declared, origin, address, object).await?);
    }
    for (key, object) in &recorded.deposed {
        let object = converted(walk, declared, origin, address, object).await?;
        state.deposed.insert(key.clone(), object);
    }
    Some(state)
}

/// The refusal of a move that no provider can carry out.
pub(super) fn refuse(
    walk: &PlanWalk,
    address: &ResourceInstance,
    provider: &dyn std::fmt::Display,
) {
    let provider = provider.to_string();
    let error = Diagnostic::error(
        "Unsupported `moved` across resource types",
        format!(
            "The provider {provider:?} does not support moved operations across resource types and providers."
        ),
    );
    walk.fail(
        address,
        match walk.moves.statement_of(address) {
            Some(span) => error.at(span),
            None => error,
        },
    );
}

async fn converted(
    walk: &PlanWalk,
    declared: &Declared,
    origin: &ResourceInstance,
    address: &ResourceInstance,
    object: &StoredObject,
) -> Option<StoredObject> {
    let provider = &declared.provider_address.provider;
    let schemas = walk.context.pool.schema(provider)?;
    if !schemas.capabilities.move_resource_state {
        refuse(walk, address, provider);
        return None;
    }
    let request = MoveResourceRequest {
        source_provider: object.provider.provider.clone(),
        source_type: origin.resource.ty.clone(),
        source_schema_version: object.schema_version,
        source_json: Arc::from(object.attributes.as_bytes()),
        source_private: object.private.clone(),
        source_identity_json: object.identity.as_ref().map(|i| Arc::from(i.attributes.as_bytes())),
        source_identity_version: object.identity.as_ref().map_or(0, |i| i.schema_version),
        target_type: address.resource.ty.clone(),
    };
    let answer = declared.provider.move_resource(request).await;
    let answer = answered(walk, declared, address, answer)?;
    if answer.state.is_null() {
        walk.fail(address, Diagnostic::error(
            "Provider returned invalid value",
            format!("The provider {:?} returned a null value for the object that moves from {origin} to {address}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", provider.to_string()),
        ));
        return None;
    }
    let object = Object {
        value: mark_by_schema(&declared.schema, &answer.state),
        identity: answer.identity,
        private: answer.private,
        dependencies: object.dependencies.clone(),
        create_before_destroy: object.create_before_destroy,
        prevent_destroy: object.prevent_destroy,
        status: match object.status {
            ObjectStatus::Tainted => ObjectStatus::Tainted,
            _ => ObjectStatus::Ready,
        },
    };
    match encode(&declared.provider_address, &declared.schema, &object) {
        Ok(object) => Some(object),
        Err(e) => {
            let detail = format!(
                "The object that the provider returned for the move from {origin} cannot be encoded: {e}."
            );
            walk.fail(address, Diagnostic::error("Object cannot be recorded", detail));
            None
        }
    }
}
