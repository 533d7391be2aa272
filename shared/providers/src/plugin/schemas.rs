use super::provider::PluginProvider;
use crate::protocol::codec::diagnostics;
use crate::protocol::methods::{self, Method};
use crate::protocol::{Version, schema, tfplugin5, tfplugin6 as wire};
use crate::{
    IdentitySchema, Provider, ProviderDiagnostic, ProviderError, ProviderSchema, Response,
    TypedSchema,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a plugin says of itself, and what calls need to know of that.
impl PluginProvider {
    pub(super) async fn fetch_schema(
        &self,
    ) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        let kept = self.shared.get();
        if let Some(kept) = &kept
            && kept.capabilities.get_provider_schema_optional
        {
            return Ok(Response::ok(kept.clone()));
        }
        let answer = self.ask_schema().await?;
        if let Some(kept) = kept {
            // This instance had to be asked; what it said is known.
            return Ok(Response::ok(kept));
        }
        let mut found = diagnostics(answer.diagnostics.clone());
        if found.iter().any(ProviderDiagnostic::is_error) {
            return Ok(Response { value: None, diagnostics: found });
        }
        let identities = self.ask_identities().await?;
        found.extend(diagnostics(identities.diagnostics));
        let schema = schema::provider_schema(answer, identities.identity_schemas)
            .map_err(|e| self.violation(&methods::GET_SCHEMA, e))?;
        Ok(Response::with(self.shared.set(Arc::new(schema)), found))
    }

    async fn ask_schema(&self) -> Result<wire::get_provider_schema::Response, ProviderError> {
        let request = wire::get_provider_schema::Request {};
        match self.client.version {
            Version::V6 => self.client.call(&methods::GET_SCHEMA, request).await,
            Version::V5 => {
                let answer: tfplugin5::get_provider_schema::Response =
                    self.client.call(&methods::GET_SCHEMA, request).await?;
                Ok(schema::from_protocol_5(answer))
            }
        }
    }

    async fn ask_identities(
        &self,
    ) -> Result<wire::get_resource_identity_schemas::Response, ProviderError> {
        let request = wire::get_resource_identity_schemas::Request {};
        match self.client.call(&methods::GET_IDENTITY_SCHEMAS, request).await {
            // Most providers are older than identities.
            Err(ProviderError::Unsupported { .. }) => Ok(Default::default()),
            answer => answer,
        }
    }

    /// The schema, for a call that cannot go on without.
    pub(super) async fn known_schema(
        &self,
        call: &Method,
    ) -> Result<Arc<ProviderSchema>, ProviderError> {
        let response = self.schema().await?;
        response.value.ok_or_else(|| {
            let errors: Vec<_> = response.diagnostics.into_iter().map(|d| d.summary).collect();
            self.violation(call, format!("it has no schema: {}", errors.join("; ")))
        })
    }

    pub(super) fn lookup<'s>(
        &self,
        kind: &'static str,
        of: &'s BTreeMap<Arc<str>, TypedSchema>,
        name: &str,
    ) -> Result<&'s TypedSchema, ProviderError> {
        of.get(name).ok_or_else(|| ProviderError::UnknownName {
            provider: self.client.address.clone(),
            kind,
            name: name.into(),
        })
    }

    pub(super) async fn resource(
        &self,
        call: &Method,
        ty: &str,
    ) -> Result<(TypedSchema, Option<IdentitySchema>, Option<TypedSchema>), ProviderError> {
        let schema = self.known_schema(call).await?;
        let resource = self.lookup("resource type", &schema.resources, ty)?;
        Ok((resource.clone(), schema.identities.get(ty).cloned(), schema.provider_meta.clone()))
    }
}
