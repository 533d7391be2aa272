//! Reading an object from the world.

use crate::environment::Environment;
use crate::hooks::HookObject;
use crate::object::Object;
use crate::object_codec::mark_by_schema;
use crate::provider_diagnostics::CallFailure;
use providers::{Provider, ProviderDiagnostic, ReadResourceRequest, TypedSchema};
use values::Marks;

/// What the world has where `known` was; `None` where that is gone. Warnings beside it.
pub(crate) async fn read_object(
    environment: &Environment,
    provider: &dyn Provider,
    schema: &TypedSchema,
    object: &HookObject<'_>,
    known: &Object,
) -> Result<(Option<Object>, Vec<ProviderDiagnostic>), CallFailure> {
    environment.hook(|h| h.pre_refresh(object, &known.value));
    let request = ReadResourceRequest {
        ty: object.address.resource.ty.clone(),
        current: known.value.unmark_deep(),
        private: known.private.clone(),
        provider_meta: None,
        identity: known.identity.clone(),
        deferral_allowed: false,
    };
    let response = provider.read_resource(request).await.map_err(CallFailure::Call)?;
    let (answer, warnings) = response.into_result().map_err(CallFailure::Refused)?;
    let sensitive = known.value.marked_paths();
    let sensitive = sensitive.iter().filter(|(_, marks)| marks.is_sensitive());
    let after = answer.state.mark_paths(sensitive.map(|(path, _)| (path, Marks::SENSITIVE)));
    let after = mark_by_schema(schema, &after);
    environment.hook(|h| h.post_refresh(object, &known.value, &after));
    let now = (!after.is_null()).then(|| Object {
        value: after,
        private: answer.private,
        identity: answer.identity.or_else(|| known.identity.clone()),
        ..known.clone()
    });
    Ok((now, warnings))
}
