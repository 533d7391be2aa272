//! A provider that computes nothing, and touches nothing.

use super::DoubleValues;
use super::composition::{Composition, Missing};
use crate::object_codec::resource_schema;
use async_trait::async_trait;
use providers::{
    ApplyResourceRequest, ApplyResourceResponse, ConfigureRequest, EphemeralHandle,
    ImportResourceRequest, ImportResourceResponse, ImportedResource, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanResourceRequest, PlanResourceResponse, Provider, ProviderDiagnostic,
    ProviderError, ProviderSchema, ReadDataSourceRequest, ReadDataSourceResponse,
    ReadResourceRequest, ReadResourceResponse, RenewEphemeralResponse, Response,
};
use std::sync::Arc;
use values::Value;
use values::address::{ProviderAddress, ResourceInstance, ResourceMode};

/// What stands in for a provider, or for it at one instance.
pub(super) struct Double {
    /// Who knows the schema, validates, and calls functions.
    pub(super) real: Arc<dyn Provider>,
    pub(super) schemas: Arc<ProviderSchema>,
    pub(super) seed: [u8; 16],
    /// The instance; `None` for the provider as a whole.
    pub(super) instance: Option<ResourceInstance>,
    /// What the test gives.
    pub(super) own: Option<DoubleValues>,
    /// Whether it gives that for this very instance.
    pub(super) overrides: bool,
}

impl Double {
    /// An object in which what is missing becomes known, or unknown.
    fn composed(
        &self,
        mode: ResourceMode,
        ty: &Arc<str>,
        object: &Value,
        missing: Missing,
        known: bool,
    ) -> Response<Value> {
        let Some(schema) = resource_schema(&self.schemas, mode, ty) else {
            let error = ProviderDiagnostic::error(
                "No such type",
                format!("The provider {} has no type {ty:?}.", self.real.address()),
            );
            return Response::failed(error);
        };
        let instance = self.instance.as_ref().map(ToString::to_string).unwrap_or_default();
        let origin = format!("{}\n{instance}\n{}\n{ty}", hex::encode(self.seed), mode.as_str());
        let mut composition = Composition::new(self.own.as_ref(), missing, known, origin);
        let object = composition.object(&schema.block, object);
        match composition.problems.is_empty() {
            true => Response::ok(object),
            false => Response { value: None, diagnostics: composition.problems },
        }
    }

    /// What is found where a test says what there is.
    fn imported(&self, ty: &Arc<str>) -> Response<Value> {
        let schema = resource_schema(&self.schemas, ResourceMode::Managed, ty);
        let empty = schema.map(|schema| schema.block.empty_value());
        let empty = empty.unwrap_or_else(Value::dynamic_null);
        self.composed(ResourceMode::Managed, ty, &empty, Missing::Null, true)
    }
}

#[async_trait]
impl Provider for Double {
    fn address(&self) -> &ProviderAddress {
        self.real.address()
    }

    /// It checks, upgrades and calls functions, which reaches no world; whatever would is answered here.
    fn beneath(&self) -> Option<&dyn Provider> {
        Some(&*self.real)
    }

    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        self.real.schema().await
    }

    /// A mock is not configured.
    async fn validate_provider_config(
        &self,
        config: &Value,
    ) -> Result<Response<Value>, ProviderError> {
        Ok(Response::ok(config.clone()))
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Response<()>, ProviderError> {
        let _ = request;
        Ok(Response::ok(()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<Response<ReadResourceResponse>, ProviderError> {
        Ok(Response::ok(ReadResourceResponse {
            state: request.current,
            private: request.private,
            deferred: None,
            identity: request.identity,
        }))
    }

    /// What is computed appears when an object is made, and stays.
    async fn plan_resource(
        &self,
        request: PlanResourceRequest,
    ) -> Result<Response<PlanResourceResponse>, ProviderError> {
        let proposed = request.proposed_new_state;
        let planned = if request.prior_state.is_null() && !proposed.is_null() {
            let known = self.own.as_ref().is_some_and(|own| own.known_in_plan);
            self.composed(ResourceMode::Managed, &request.ty, &proposed, Missing::Null, known)
        } else {
            Response::ok(proposed)
        };
        Ok(planned.map(|planned_state| PlanResourceResponse {
            planned_state,
            requires_replace: Vec::new(),
            planned_private: Arc::default(),
            legacy_type_system: false,
            deferred: None,
            planned_identity: None,
        }))
    }

    async fn apply_resource(
        &self,
        request: ApplyResourceRequest,
    ) -> Result<Response<ApplyResourceResponse>, ProviderError> {
        let planned = request.planned_state;
        let made = if request.prior_state.is_null() && !planned.is_null() {
            self.composed(ResourceMode::Managed, &request.ty, &planned, Missing::Unknown, true)
        } else {
            Response::ok(planned)
        };
        Ok(made.map(|state| ApplyResourceResponse {
            new_state: Some(state),
            private: Arc::default(),
            legacy_type_system: false,
            identity: None,
        }))
    }

    async fn import_resource(
        &self,
        request: ImportResourceRequest,
    ) -> Result<Response<ImportResourceResponse>, ProviderError> {
        if self.overrides {
            let object = self.imported(&request.ty);
            return Ok(object.map(|state| ImportResourceResponse {
                imported: vec![ImportedResource {
                    ty: request.ty,
                    state,
                    private: Arc::default(),
                    identity: None,
                }],
                deferred: None,
            }));
        }
        Ok(Response::failed(ProviderDiagnostic::error(
            "Invalid import request",
            "Cannot import resources from mock providers. Use an `override_resource` block to targeting the specific resource being imported instead.",
        )))
    }

    async fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> Result<Response<ReadDataSourceResponse>, ProviderError> {
        let read =
            self.composed(ResourceMode::Data, &request.ty, &request.config, Missing::Null, true);
        Ok(read.map(|state| ReadDataSourceResponse { state, deferred: None }))
    }

    async fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> Result<Response<OpenEphemeralResponse>, ProviderError> {
        let _ = request;
        Ok(Response::failed(ProviderDiagnostic::error(
            "No ephemeral resource types in mock providers",
            "The provider mocking mechanism does not yet support ephemeral resource types.",
        )))
    }

    async fn renew_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<RenewEphemeralResponse>, ProviderError> {
        Ok(Response::ok(RenewEphemeralResponse { private: handle.private, renew_at: None }))
    }

    async fn close_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<()>, ProviderError> {
        let _ = handle;
        Ok(Response::ok(()))
    }

    async fn stop(&self) -> Result<(), ProviderError> {
        self.real.stop().await
    }

    async fn close(&self) {
        self.real.close().await;
    }
}
