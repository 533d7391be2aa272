//! What became of a provider call whose answer is not recorded: the world is read, or the provider asked
//! for what it may have made.

use super::request_token;
use crate::environment::Environment;
use crate::hooks::HookObject;
use crate::object::{Object, ObjectStatus, StoredObject};
use crate::object_codec::{decode, mark_by_schema};
use crate::object_read::read_object;
use crate::provider_diagnostics::{CallFailure, in_body};
use crate::record::body::{Claim, ClaimedAction};
use language::diagnostics::Diagnostic;
use providers::{
    IdentitySchema, ImportResourceRequest, Provider, ProviderDiagnostic, ProviderSchema,
    TypedSchema,
};
use std::sync::Arc;
use values::Value;
use values::address::{ProviderConfigAddress, ResourceInstance};

/// What became of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There is this object: one that was updated or not, or not deleted, or was made.
    There(Box<Object>),
    /// There is none: it was deleted, is gone, or was never made.
    NotThere,
    /// An object may have been made, and nothing tells which.
    InDoubt(Vec<Diagnostic>),
    /// The provider could not be asked.
    NotNow(Vec<Diagnostic>),
}

/// Who is asked about a call.
pub(crate) struct Settling<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) provider: &'a dyn Provider,
    pub(crate) schemas: &'a ProviderSchema,
    pub(crate) schema: &'a TypedSchema,
    /// The provider configuration.
    pub(crate) configured: &'a ProviderConfigAddress,
    pub(crate) address: &'a ResourceInstance,
}

impl Settling<'_> {
    /// Finds out what became of a claim's call. `recorded` is the object that was changed or deleted.
    pub(crate) async fn settle(&self, claim: &Claim, recorded: Option<&StoredObject>) -> Outcome {
        match (claim.action, recorded) {
            (ClaimedAction::Create, _) => self.created(claim).await,
            (_, None) => Outcome::NotThere,
            (_, Some(recorded)) => self.changed(recorded).await,
        }
    }

    async fn changed(&self, recorded: &StoredObject) -> Outcome {
        match decode(self.provider, self.schema, self.address, recorded).await {
            Ok((object, _)) => self.read(&object).await,
            Err(errors) => Outcome::NotNow(errors),
        }
    }

    async fn read(&self, known: &Object) -> Outcome {
        let object = HookObject { address: self.address, deposed: None };
        let read = read_object(self.environment, self.provider, self.schema, &object, known);
        match read.await {
            Ok((Some(now), _)) => Outcome::There(Box::new(now)),
            Ok((None, _)) => Outcome::NotThere,
            Err(failure) => Outcome::NotNow(self.diagnostics(failure)),
        }
    }

    async fn created(&self, claim: &Claim) -> Outcome {
        if self.configured.provider.is_builtin() {
            // It makes nothing outside the record.
            return Outcome::NotThere;
        }
        if let Some(token) = &claim.token {
            return match self.import(&request_token::import_id(token), None).await {
                Ok(Some(object)) => self.read(&object).await,
                Ok(None) => Outcome::NotThere,
                Err(failure) => Outcome::NotNow(self.diagnostics(failure)),
            };
        }
        let identity = claim.import_identity.as_ref().and_then(|json| {
            let schema = self.schemas.identities.get(&self.address.resource.ty)?;
            values::json::from_json(json.to_string().as_bytes(), &schema.ty).ok()
        });
        let Some(identity) = identity else { return Outcome::InDoubt(Vec::new()) };
        match self.import("", Some(identity)).await {
            Ok(Some(object)) => self.read(&object).await,
            Ok(None) => Outcome::NotThere,
            // An import cannot say "there is none" but by failing, and fails for other reasons too.
            Err(failure) => Outcome::InDoubt(self.diagnostics(failure)),
        }
    }

    async fn import(
        &self,
        id: &str,
        identity: Option<Value>,
    ) -> Result<Option<Object>, CallFailure> {
        let request = ImportResourceRequest {
            ty: self.address.resource.ty.clone(),
            id: id.into(),
            identity,
            deferral_allowed: false,
        };
        let response = self.provider.import_resource(request).await.map_err(CallFailure::Call)?;
        let (answer, _) = response.into_result().map_err(CallFailure::Refused)?;
        match <[_; 1]>::try_from(answer.imported) {
            Ok([imported]) if imported.ty == self.address.resource.ty => {
                Ok((!imported.state.is_null()).then(|| Object {
                    value: mark_by_schema(self.schema, &imported.state),
                    identity: imported.identity,
                    private: imported.private,
                    dependencies: Arc::default(),
                    create_before_destroy: false,
                    prevent_destroy: false,
                    status: ObjectStatus::Ready,
                }))
            }
            Err(none) if none.is_empty() => Ok(None),
            Ok(_) | Err(_) => Err(CallFailure::Refused(vec![ProviderDiagnostic::error(
                "Import returned something else",
                "The provider was asked for the object that it may have made, and answered with objects of other types or with several.",
            )])),
        }
    }

    fn diagnostics(&self, failure: CallFailure) -> Vec<Diagnostic> {
        let shown = self.address.to_string();
        match failure {
            CallFailure::Refused(said) => in_body(said, None, None, &shown),
            failure => failure.into_diagnostics(None, None, &shown),
        }
    }
}

/// The identity by which an object can be imported before anybody has seen it: where the configuration
/// says every attribute that an import needs, and the provider chooses none of them.
pub(super) fn import_identity(
    identity: Option<&IdentitySchema>,
    schema: &TypedSchema,
    config: &Value,
) -> Option<serde_json::Value> {
    let identity = identity.filter(|i| i.attributes.values().any(|a| a.required_for_import))?;
    let mut attributes = serde_json::Map::new();
    for (name, attribute) in &identity.attributes {
        let configured = config.attribute(name).filter(|_| {
            let own = schema.block.attributes.get(name);
            own.is_some_and(|own| own.implied_type() == attribute.ty && !own.sensitive)
        });
        let configured = configured.filter(|value| {
            value.is_wholly_known() && !value.is_null() && !value.deep_marks().is_sensitive()
        });
        match configured {
            Some(value) => {
                let json = values::json::to_json(&value.unmark_deep(), &attribute.ty).ok()?;
                attributes.insert(name.to_string(), serde_json::from_str(&json).ok()?);
            }
            None if attribute.required_for_import => return None,
            None => {
                attributes.insert(name.to_string(), serde_json::Value::Null);
            }
        }
    }
    Some(serde_json::Value::Object(attributes))
}
