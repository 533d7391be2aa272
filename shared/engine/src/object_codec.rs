//! Stored objects to values and back, by the provider's schema.

use crate::object::{Object, StoredIdentity, StoredObject};
use language::diagnostics::Diagnostic;
use providers::{Provider, ProviderSchema, TypedSchema, UpgradeResourceStateRequest};
use std::sync::Arc;
use values::address::{ProviderConfigAddress, ResourceInstance, ResourceMode};
use values::{Marks, Path, Value};

/// The schema of a resource's type.
pub(crate) fn resource_schema<'s>(
    schema: &'s ProviderSchema,
    mode: ResourceMode,
    ty: &str,
) -> Option<&'s TypedSchema> {
    match mode {
        ResourceMode::Managed => schema.resources.get(ty),
        ResourceMode::Data => schema.data_sources.get(ty),
        ResourceMode::Ephemeral => schema.ephemeral.get(ty),
    }
}

/// A value with the marks that its schema gives to sensitive attributes.
pub(crate) fn mark_by_schema(schema: &TypedSchema, value: &Value) -> Value {
    let paths = schema.block.sensitive_paths(value);
    value.mark_paths(paths.iter().map(|path| (path, Marks::SENSITIVE)))
}

/// A value with the sensitive marks of the configuration that it came from, and its schema's.
pub(crate) fn mark_by_configuration(schema: &TypedSchema, config: &Value, value: &Value) -> Value {
    let paths = config.marked_paths();
    let sensitive = paths.iter().map(|(path, marks)| (path, marks.intersection(Marks::SENSITIVE)));
    mark_by_schema(schema, &value.mark_paths(sensitive))
}

/// The paths of a value that are marked sensitive, but not by its schema.
fn paths_beyond_schema(schema: &TypedSchema, value: &Value) -> Vec<Path> {
    if value.deep_marks().is_empty() {
        return Vec::new();
    }
    let by_schema = schema.block.sensitive_paths(&value.unmark_deep());
    value
        .marked_paths()
        .into_iter()
        .filter(|(path, marks)| marks.is_sensitive() && !by_schema.contains(path))
        .map(|(path, _)| path)
        .collect()
}

/// Decodes a stored object; an older one is upgraded by its provider first.
pub(crate) async fn decode(
    provider: &dyn Provider,
    schema: &TypedSchema,
    address: &ResourceInstance,
    stored: &StoredObject,
) -> Result<(Object, Vec<Diagnostic>), Vec<Diagnostic>> {
    let shown = address.to_string();
    let mut warnings = Vec::new();
    let current = (stored.schema_version == schema.version)
        .then(|| values::json::from_json(stored.attributes.as_bytes(), schema.ty()).ok())
        .flatten();
    let value = match current {
        Some(value) => value,
        None if address.resource.mode == ResourceMode::Data => {
            // A data source is read again anyway: what an older schema left is of no use.
            schema.null()
        }
        None if stored.schema_version > schema.version => {
            return Err(vec![Diagnostic::error(
                "Resource instance managed by newer provider version",
                format!("The current state of {shown} was created by a newer provider version than is currently selected. Upgrade the {} provider to work with this state.", provider.address().ty),
            ).for_address(shown)]);
        }
        None => {
            let request = UpgradeResourceStateRequest {
                ty: address.resource.ty.clone(),
                version: stored.schema_version,
                json: Arc::from(stored.attributes.as_bytes()),
            };
            let response = provider
                .upgrade_resource_state(request)
                .await
                .map_err(|e| vec![crate::provider_diagnostics::failed_call(&e, None, &shown)])?;
            let place = |d| crate::provider_diagnostics::in_body(d, None, None, &shown);
            match response.into_result() {
                Ok((value, diagnostics)) => {
                    warnings = place(diagnostics);
                    value
                }
                Err(diagnostics) => return Err(place(diagnostics)),
            }
        }
    };
    Ok((stored.decoded(&value, &schema.block), warnings))
}

/// Encodes an object for its record.
pub(crate) fn encode(
    provider: &ProviderConfigAddress,
    schema: &TypedSchema,
    object: &Object,
) -> Result<StoredObject, values::json::JsonError> {
    let attributes = values::json::to_json(&object.value.unmark_deep(), schema.ty())?;
    let identity = match &object.identity {
        Some(identity) => Some(StoredIdentity {
            schema_version: 0,
            attributes: values::json::to_json(identity, &identity.ty())?.into(),
        }),
        None => None,
    };
    Ok(StoredObject {
        provider: provider.clone(),
        schema_version: schema.version,
        attributes: attributes.into(),
        sensitive_paths: paths_beyond_schema(schema, &object.value),
        identity,
        private: object.private.clone(),
        dependencies: object.dependencies.clone(),
        create_before_destroy: object.create_before_destroy,
        prevent_destroy: object.prevent_destroy,
        status: object.status,
    })
}
