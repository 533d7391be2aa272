//! The provider that needs no program: `terraform.io/builtin/terraform`.

mod data;
mod functions;
mod remote_state;

use crate::{
    ApplyResourceRequest, ApplyResourceResponse, CallFunctionRequest, Capabilities,
    ConfigureRequest, FunctionError, ImportResourceRequest, ImportResourceResponse,
    MoveResourceRequest, MoveResourceResponse, PlanResourceRequest, PlanResourceResponse, Provider,
    ProviderDiagnostic, ProviderError, ProviderSchema, ReadDataSourceRequest,
    ReadDataSourceResponse, ReadResourceRequest, ReadResourceResponse, RemoteStateReader, Response,
    TypedSchema, UpgradeResourceStateRequest,
};
use async_trait::async_trait;
use language::functions::Random;
use std::sync::Arc;
use values::Value;
use values::address::ProviderAddress;

/// The builtin provider: `terraform_data`, `data "terraform_remote_state"`, and functions between values and their
/// text. It makes nothing outside the record.
pub struct BuiltinProvider {
    address: ProviderAddress,
    schema: Arc<ProviderSchema>,
    random: Arc<dyn Random>,
    remote_states: Option<Arc<dyn RemoteStateReader>>,
}

impl BuiltinProvider {
    /// With a source for the ids of `terraform_data`, and a reader for remote states, without which
    /// reading any is an error.
    pub fn new(
        random: Arc<dyn Random>,
        remote_states: Option<Arc<dyn RemoteStateReader>>,
    ) -> BuiltinProvider {
        let schema = ProviderSchema {
            resources: [(Arc::from(data::TYPE), TypedSchema::from(data::schema()))].into(),
            data_sources: [(
                Arc::from(remote_state::TYPE),
                TypedSchema::from(remote_state::schema()),
            )]
            .into(),
            functions: functions::signatures(),
            capabilities: Capabilities {
                plan_destroy: false,
                get_provider_schema_optional: true,
                move_resource_state: true,
            },
            ..ProviderSchema::default()
        };
        BuiltinProvider {
            address: ProviderAddress::builtin(),
            schema: Arc::new(schema),
            random,
            remote_states,
        }
    }

    fn resource(&self, ty: &str) -> Result<&TypedSchema, ProviderError> {
        self.schema.resources.get(ty).ok_or_else(|| self.unknown("resource type", ty))
    }

    fn unknown(&self, kind: &'static str, name: &str) -> ProviderError {
        ProviderError::UnknownName { provider: self.address.clone(), kind, name: name.into() }
    }
}

#[async_trait]
impl Provider for BuiltinProvider {
    fn address(&self) -> &ProviderAddress {
        &self.address
    }

    fn reaches_outside(&self) -> bool {
        false
    }

    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        Ok(Response::ok(self.schema.clone()))
    }

    async fn validate_provider_config(
        &self,
        config: &Value,
    ) -> Result<Response<Value>, ProviderError> {
        Ok(Response::ok(config.clone()))
    }

    async fn validate_resource_config(
        &self,
        ty: &str,
        config: &Value,
        _write_only_allowed: bool,
    ) -> Result<Response<()>, ProviderError> {
        self.resource(ty)?;
        Ok(Response::with((), data::validate(config)))
    }

    async fn validate_data_config(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Response<()>, ProviderError> {
        if !self.schema.data_sources.contains_key(ty) {
            return Err(self.unknown("data source", ty));
        }
        Ok(Response::with((), remote_state::validate(config)))
    }

    async fn configure(&self, _request: ConfigureRequest) -> Result<Response<()>, ProviderError> {
        Ok(Response::ok(()))
    }

    async fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> Result<Response<Value>, ProviderError> {
        let schema = self.resource(&request.ty)?;
        Ok(match values::json::from_json(&request.json, schema.ty()) {
            Ok(state) => Response::ok(state),
            Err(e) => Response::failed(ProviderDiagnostic::error(
                "Invalid stored object",
                format!("The stored object is not one of {}: {e}.", request.ty),
            )),
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<Response<ReadResourceResponse>, ProviderError> {
        self.resource(&request.ty)?;
        Ok(Response::ok(ReadResourceResponse {
            state: request.current,
            private: request.private,
            deferred: None,
            identity: None,
        }))
    }

    async fn plan_resource(
        &self,
        request: PlanResourceRequest,
    ) -> Result<Response<PlanResourceResponse>, ProviderError> {
        self.resource(&request.ty)?;
        Ok(Response::ok(data::plan(request)))
    }

    async fn apply_resource(
        &self,
        request: ApplyResourceRequest,
    ) -> Result<Response<ApplyResourceResponse>, ProviderError> {
        self.resource(&request.ty)?;
        Ok(data::apply(request, &*self.random))
    }

    async fn import_resource(
        &self,
        request: ImportResourceRequest,
    ) -> Result<Response<ImportResourceResponse>, ProviderError> {
        self.resource(&request.ty)?;
        Ok(Response::ok(data::import(&request)))
    }

    async fn move_resource(
        &self,
        request: MoveResourceRequest,
    ) -> Result<Response<MoveResourceResponse>, ProviderError> {
        self.resource(&request.target_type)?;
        Ok(data::take_over(&request))
    }

    async fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> Result<Response<ReadDataSourceResponse>, ProviderError> {
        if !self.schema.data_sources.contains_key(&request.ty) {
            return Err(self.unknown("data source", &request.ty));
        }
        let state = remote_state::read(&request.config, self.remote_states.as_deref()).await;
        Ok(state.map(|state| ReadDataSourceResponse { state, deferred: None }))
    }

    async fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> Result<Result<Value, FunctionError>, ProviderError> {
        functions::call(&request.name, &request.arguments)
            .ok_or_else(|| self.unknown("function", &request.name))
    }

    async fn stop(&self) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn close(&self) {}
}
