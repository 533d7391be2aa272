use super::client::Client;
use super::handshake::Address;
use crate::protocol::codec::{
    client_capabilities, deferred, diagnostics, from_dynamic_value, path, respond, timestamp,
    to_dynamic_value,
};
use crate::protocol::methods::{self, Method};
use crate::protocol::{Version, tfplugin5, tfplugin6 as wire};
use crate::schema_cache::SharedSchema;
use crate::{
    ApplyResourceRequest, ApplyResourceResponse, CallFunctionRequest, ConfigureRequest,
    EphemeralHandle, FunctionError, IdentitySchema, ImportResourceRequest, ImportResourceResponse,
    ImportedResource, MoveResourceRequest, MoveResourceResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanResourceRequest, PlanResourceResponse, Provider, ProviderDiagnostic,
    ProviderError, ProviderSchema, ReadDataSourceRequest, ReadDataSourceResponse,
    ReadResourceRequest, ReadResourceResponse, RenewEphemeralResponse, Response, TypedSchema,
    UpgradeIdentityRequest, UpgradeResourceStateRequest,
};
use async_trait::async_trait;
use std::collections::HashMap;
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use values::address::ProviderAddress;
use values::{Type, Value};

/// A provider that is a running plugin.
pub struct PluginProvider {
    pub(super) client: Client,
    pub(super) shared: Arc<SharedSchema>,
    schema: OnceCell<Response<Arc<ProviderSchema>>>,
    shutdown: Duration,
    listens_at: Address,
}

impl PluginProvider {
    pub(super) fn new(
        client: Client,
        shared: Arc<SharedSchema>,
        shutdown: Duration,
        listens_at: Address,
    ) -> PluginProvider {
        PluginProvider { client, shared, schema: OnceCell::new(), shutdown, listens_at }
    }

    /// The version of the plugin protocol that was negotiated.
    pub fn protocol(&self) -> Version {
        self.client.version
    }

    /// The id of the plugin's process, and of the process group that it leads; `None` where it is not ours.
    pub fn process_id(&self) -> Option<i32> {
        self.client.process.as_ref().map(|process| process.id())
    }

    pub(super) fn violation(&self, call: &Method, detail: impl Into<String>) -> ProviderError {
        ProviderError::Protocol {
            provider: self.client.address.clone(),
            call: call.name,
            detail: detail.into(),
        }
    }

    fn encode(
        &self,
        call: &Method,
        value: &Value,
        ty: &Type,
    ) -> Result<Option<wire::DynamicValue>, ProviderError> {
        to_dynamic_value(value, ty).map(Some).map_err(|detail| ProviderError::Encode {
            provider: self.client.address.clone(),
            call: call.name,
            detail,
        })
    }

    fn encode_meta(
        &self,
        call: &Method,
        value: Option<&Value>,
        schema: Option<&TypedSchema>,
    ) -> Result<Option<wire::DynamicValue>, ProviderError> {
        match (schema, value) {
            (None, _) => Ok(None),
            (Some(s), Some(v)) => self.encode(call, v, s.ty()),
            (Some(s), None) => self.encode(call, &s.null(), s.ty()),
        }
    }

    fn encode_identity(
        &self,
        call: &Method,
        value: Option<&Value>,
        schema: Option<&IdentitySchema>,
    ) -> Result<Option<wire::ResourceIdentityData>, ProviderError> {
        match (schema, value) {
            (Some(s), Some(v)) if !v.is_null() => {
                Ok(Some(wire::ResourceIdentityData { identity_data: self.encode(call, v, &s.ty)? }))
            }
            _ => Ok(None),
        }
    }

    fn decode(
        &self,
        call: &Method,
        value: Option<&wire::DynamicValue>,
        ty: &Type,
    ) -> Result<Option<Value>, ProviderError> {
        from_dynamic_value(value, ty).map_err(|e| self.violation(call, e))
    }

    fn decode_identity(
        &self,
        call: &Method,
        data: Option<&wire::ResourceIdentityData>,
        schema: Option<&IdentitySchema>,
    ) -> Result<Option<Value>, ProviderError> {
        match (data, schema) {
            (None, _) => Ok(None),
            (Some(d), Some(s)) => self.decode(call, d.identity_data.as_ref(), &s.ty),
            (Some(_), None) => {
                Err(self.violation(call, "an identity of a resource type that has none"))
            }
        }
    }
}

fn bytes(b: &Arc<[u8]>) -> Vec<u8> {
    b.to_vec()
}

#[async_trait]
impl Provider for PluginProvider {
    fn address(&self) -> &ProviderAddress {
        &self.client.address
    }

    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        self.schema.get_or_try_init(|| self.fetch_schema()).await.cloned()
    }

    async fn validate_provider_config(
        &self,
        config: &Value,
    ) -> Result<Response<Value>, ProviderError> {
        let call = &methods::VALIDATE_PROVIDER;
        let schema = self.known_schema(call).await?;
        let ty = schema.provider.ty();
        let request =
            wire::validate_provider_config::Request { config: self.encode(call, config, ty)? };
        // Only protocol 5 prepares; for the other the field stays empty.
        let answer: tfplugin5::prepare_provider_config::Response =
            self.client.call(call, request).await?;
        let prepared = self.decode(call, answer.prepared_config.as_ref(), ty)?;
        Ok(respond(prepared, diagnostics(answer.diagnostics), || config.clone()))
    }

    async fn validate_resource_config(
        &self,
        ty: &str,
        config: &Value,
        write_only_allowed: bool,
    ) -> Result<Response<()>, ProviderError> {
        let call = &methods::VALIDATE_RESOURCE;
        let (schema, ..) = self.resource(call, ty).await?;
        let request = wire::validate_resource_config::Request {
            type_name: ty.into(),
            config: self.encode(call, config, schema.ty())?,
            client_capabilities: client_capabilities(false, write_only_allowed),
        };
        let answer: wire::validate_resource_config::Response =
            self.client.call(call, request).await?;
        Ok(respond(None, diagnostics(answer.diagnostics), || ()))
    }

    async fn validate_data_config(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Response<()>, ProviderError> {
        let call = &methods::VALIDATE_DATA;
        let schema = self.known_schema(call).await?;
        let schema = self.lookup("data source", &schema.data_sources, ty)?;
        let request = wire::validate_data_resource_config::Request {
            type_name: ty.into(),
            config: self.encode(call, config, schema.ty())?,
        };
        let answer: wire::validate_data_resource_config::Response =
            self.client.call(call, request).await?;
        Ok(respond(None, diagnostics(answer.diagnostics), || ()))
    }

    async fn validate_ephemeral_config(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Response<()>, ProviderError> {
        let call = &methods::VALIDATE_EPHEMERAL;
        let schema = self.known_schema(call).await?;
        let schema = self.lookup("ephemeral resource type", &schema.ephemeral, ty)?;
        let request = wire::validate_ephemeral_resource_config::Request {
            type_name: ty.into(),
            config: self.encode(call, config, schema.ty())?,
        };
        let answer: wire::validate_ephemeral_resource_config::Response =
            self.client.call(call, request).await?;
        Ok(respond(None, diagnostics(answer.diagnostics), || ()))
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Response<()>, ProviderError> {
        let call = &methods::CONFIGURE;
        let schema = self.known_schema(call).await?;
        let request = wire::configure_provider::Request {
            terraform_version: request.terraform_version.to_string(),
            config: self.encode(call, &request.config, schema.provider.ty())?,
            client_capabilities: client_capabilities(
                request.deferral_allowed,
                request.write_only_allowed,
            ),
        };
        let answer: wire::configure_provider::Response = self.client.call(call, request).await?;
        Ok(respond(None, diagnostics(answer.diagnostics), || ()))
    }

    async fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> Result<Response<Value>, ProviderError> {
        let call = &methods::UPGRADE_STATE;
        let (schema, ..) = self.resource(call, &request.ty).await?;
        let request = wire::upgrade_resource_state::Request {
            type_name: request.ty.to_string(),
            version: i64::try_from(request.version).unwrap_or(i64::MAX),
            raw_state: Some(wire::RawState { json: bytes(&request.json), flatmap: HashMap::new() }),
        };
        let answer: wire::upgrade_resource_state::Response =
            self.client.call(call, request).await?;
        let state = self.decode(call, answer.upgraded_state.as_ref(), schema.ty())?;
        Ok(respond(state, diagnostics(answer.diagnostics), || schema.null()))
    }

    async fn upgrade_resource_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<Response<Value>, ProviderError> {
        let call = &methods::UPGRADE_IDENTITY;
        let (_, identity, _) = self.resource(call, &request.ty).await?;
        let Some(identity) = identity else {
            return Err(ProviderError::unsupported(self.address(), call.name));
        };
        let request = wire::upgrade_resource_identity::Request {
            type_name: request.ty.to_string(),
            version: i64::try_from(request.version).unwrap_or(i64::MAX),
            raw_identity: Some(wire::RawState {
                json: bytes(&request.json),
                flatmap: HashMap::new(),
            }),
        };
        let answer: wire::upgrade_resource_identity::Response =
            self.client.call(call, request).await?;
        let upgraded =
            self.decode_identity(call, answer.upgraded_identity.as_ref(), Some(&identity))?;
        let null = || Value::null(identity.ty.clone());
        Ok(respond(upgraded, diagnostics(answer.diagnostics), null))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<Response<ReadResourceResponse>, ProviderError> {
        let call = &methods::READ;
        let (schema, identity, meta) = self.resource(call, &request.ty).await?;
        let request = wire::read_resource::Request {
            type_name: request.ty.to_string(),
            current_state: self.encode(call, &request.current, schema.ty())?,
            private: bytes(&request.private),
            provider_meta: self.encode_meta(call, request.provider_meta.as_ref(), meta.as_ref())?,
            client_capabilities: client_capabilities(request.deferral_allowed, true),
            current_identity: self.encode_identity(
                call,
                request.identity.as_ref(),
                identity.as_ref(),
            )?,
        };
        let answer: wire::read_resource::Response = self.client.call(call, request).await?;
        let state = self.decode(call, answer.new_state.as_ref(), schema.ty())?;
        let identity =
            self.decode_identity(call, answer.new_identity.as_ref(), identity.as_ref())?;
        Ok(respond(state, diagnostics(answer.diagnostics), || schema.null()).map(|state| {
            ReadResourceResponse {
                state,
                private: answer.private.into(),
                deferred: deferred(answer.deferred),
                identity,
            }
        }))
    }

    async fn plan_resource(
        &self,
        request: PlanResourceRequest,
    ) -> Result<Response<PlanResourceResponse>, ProviderError> {
        let call = &methods::PLAN;
        let (schema, identity, meta) = self.resource(call, &request.ty).await?;
        let request = wire::plan_resource_change::Request {
            type_name: request.ty.to_string(),
            prior_state: self.encode(call, &request.prior_state, schema.ty())?,
            proposed_new_state: self.encode(call, &request.proposed_new_state, schema.ty())?,
            config: self.encode(call, &request.config, schema.ty())?,
            prior_private: bytes(&request.prior_private),
            provider_meta: self.encode_meta(call, request.provider_meta.as_ref(), meta.as_ref())?,
            client_capabilities: client_capabilities(request.deferral_allowed, true),
            prior_identity: self.encode_identity(
                call,
                request.prior_identity.as_ref(),
                identity.as_ref(),
            )?,
        };
        let answer: wire::plan_resource_change::Response = self.client.call(call, request).await?;
        let state = self.decode(call, answer.planned_state.as_ref(), schema.ty())?;
        let planned_identity =
            self.decode_identity(call, answer.planned_identity.as_ref(), identity.as_ref())?;
        Ok(respond(state, diagnostics(answer.diagnostics), || schema.null()).map(|planned_state| {
            PlanResourceResponse {
                planned_state,
                requires_replace: answer.requires_replace.iter().map(path).collect(),
                planned_private: answer.planned_private.into(),
                legacy_type_system: answer.legacy_type_system,
                deferred: deferred(answer.deferred),
                planned_identity,
            }
        }))
    }

    async fn apply_resource(
        &self,
        request: ApplyResourceRequest,
    ) -> Result<Response<ApplyResourceResponse>, ProviderError> {
        let call = &methods::APPLY;
        let (schema, identity, meta) = self.resource(call, &request.ty).await?;
        let request = wire::apply_resource_change::Request {
            type_name: request.ty.to_string(),
            prior_state: self.encode(call, &request.prior_state, schema.ty())?,
            planned_state: self.encode(call, &request.planned_state, schema.ty())?,
            config: self.encode(call, &request.config, schema.ty())?,
            planned_private: bytes(&request.planned_private),
            provider_meta: self.encode_meta(call, request.provider_meta.as_ref(), meta.as_ref())?,
            planned_identity: self.encode_identity(
                call,
                request.planned_identity.as_ref(),
                identity.as_ref(),
            )?,
        };
        let answer: wire::apply_resource_change::Response = self.client.call(call, request).await?;
        let mut found = diagnostics(answer.diagnostics);
        // The change has happened: whatever of the answer can be read counts, and the rest is
        // reported beside it.
        let state = self.decode(call, answer.new_state.as_ref(), schema.ty());
        let identity = self.decode_identity(call, answer.new_identity.as_ref(), identity.as_ref());
        let mut readable = |result: Result<Option<Value>, ProviderError>| {
            result.unwrap_or_else(|e| {
                found.push(ProviderDiagnostic::error(
                    "Provider produced an invalid object",
                    e.to_string(),
                ));
                None
            })
        };
        let (state, identity) = (readable(state), readable(identity));
        let failed = found.iter().any(ProviderDiagnostic::is_error);
        let value = ApplyResourceResponse {
            new_state: state.or_else(|| (!failed).then(|| schema.null())),
            private: answer.private.into(),
            legacy_type_system: answer.legacy_type_system,
            identity,
        };
        Ok(Response::with(value, found))
    }

    async fn import_resource(
        &self,
        request: ImportResourceRequest,
    ) -> Result<Response<ImportResourceResponse>, ProviderError> {
        let call = &methods::IMPORT;
        let (_, identity, _) = self.resource(call, &request.ty).await?;
        let request = wire::import_resource_state::Request {
            type_name: request.ty.to_string(),
            id: request.id.to_string(),
            client_capabilities: client_capabilities(request.deferral_allowed, true),
            identity: self.encode_identity(call, request.identity.as_ref(), identity.as_ref())?,
        };
        let answer: wire::import_resource_state::Response = self.client.call(call, request).await?;
        let mut imported = Vec::new();
        for object in answer.imported_resources {
            let (schema, identity, _) = self.resource(call, &object.type_name).await?;
            let state = self.decode(call, object.state.as_ref(), schema.ty())?;
            imported.push(ImportedResource {
                identity: self.decode_identity(
                    call,
                    object.identity.as_ref(),
                    identity.as_ref(),
                )?,
                ty: object.type_name.into(),
                state: state.unwrap_or_else(|| schema.null()),
                private: object.private.into(),
            });
        }
        let value = ImportResourceResponse { imported, deferred: deferred(answer.deferred) };
        Ok(Response::with(value, diagnostics(answer.diagnostics)))
    }

    async fn move_resource(
        &self,
        request: MoveResourceRequest,
    ) -> Result<Response<MoveResourceResponse>, ProviderError> {
        let call = &methods::MOVE;
        let (schema, identity, _) = self.resource(call, &request.target_type).await?;
        let raw = |json: &Arc<[u8]>| wire::RawState { json: bytes(json), flatmap: HashMap::new() };
        let request = wire::move_resource_state::Request {
            source_provider_address: request.source_provider.to_string(),
            source_type_name: request.source_type.to_string(),
            source_schema_version: i64::try_from(request.source_schema_version).unwrap_or(i64::MAX),
            source_state: Some(raw(&request.source_json)),
            target_type_name: request.target_type.to_string(),
            source_private: bytes(&request.source_private),
            source_identity: request.source_identity_json.as_ref().map(raw),
            source_identity_schema_version: i64::try_from(request.source_identity_version)
                .unwrap_or(i64::MAX),
        };
        let answer: wire::move_resource_state::Response = self.client.call(call, request).await?;
        let state = self.decode(call, answer.target_state.as_ref(), schema.ty())?;
        let identity =
            self.decode_identity(call, answer.target_identity.as_ref(), identity.as_ref())?;
        Ok(respond(state, diagnostics(answer.diagnostics), || schema.null()).map(|state| {
            MoveResourceResponse { state, private: answer.target_private.into(), identity }
        }))
    }

    async fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> Result<Response<ReadDataSourceResponse>, ProviderError> {
        let call = &methods::READ_DATA;
        let schema = self.known_schema(call).await?;
        let data = self.lookup("data source", &schema.data_sources, &request.ty)?;
        let request = wire::read_data_source::Request {
            type_name: request.ty.to_string(),
            config: self.encode(call, &request.config, data.ty())?,
            provider_meta: self.encode_meta(
                call,
                request.provider_meta.as_ref(),
                schema.provider_meta.as_ref(),
            )?,
            client_capabilities: client_capabilities(request.deferral_allowed, true),
        };
        let answer: wire::read_data_source::Response = self.client.call(call, request).await?;
        let state = self.decode(call, answer.state.as_ref(), data.ty())?;
        Ok(respond(state, diagnostics(answer.diagnostics), || data.null())
            .map(|state| ReadDataSourceResponse { state, deferred: deferred(answer.deferred) }))
    }

    async fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> Result<Response<OpenEphemeralResponse>, ProviderError> {
        let call = &methods::OPEN_EPHEMERAL;
        let schema = self.known_schema(call).await?;
        let schema = self.lookup("ephemeral resource type", &schema.ephemeral, &request.ty)?;
        let request = wire::open_ephemeral_resource::Request {
            type_name: request.ty.to_string(),
            config: self.encode(call, &request.config, schema.ty())?,
            client_capabilities: client_capabilities(request.deferral_allowed, true),
        };
        let answer: wire::open_ephemeral_resource::Response =
            self.client.call(call, request).await?;
        let result = self.decode(call, answer.result.as_ref(), schema.ty())?;
        Ok(respond(result, diagnostics(answer.diagnostics), || schema.null()).map(|result| {
            OpenEphemeralResponse {
                result,
                private: answer.private.map(Arc::from),
                renew_at: timestamp(answer.renew_at),
                deferred: deferred(answer.deferred),
            }
        }))
    }

    async fn renew_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<RenewEphemeralResponse>, ProviderError> {
        let request = wire::renew_ephemeral_resource::Request {
            type_name: handle.ty.to_string(),
            private: handle.private.as_ref().map(bytes),
        };
        let answer: wire::renew_ephemeral_resource::Response =
            self.client.call(&methods::RENEW_EPHEMERAL, request).await?;
        let value = RenewEphemeralResponse {
            private: answer.private.map(Arc::from),
            renew_at: timestamp(answer.renew_at),
        };
        Ok(Response::with(value, diagnostics(answer.diagnostics)))
    }

    async fn close_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<()>, ProviderError> {
        let request = wire::close_ephemeral_resource::Request {
            type_name: handle.ty.to_string(),
            private: handle.private.as_ref().map(bytes),
        };
        let answer: wire::close_ephemeral_resource::Response =
            self.client.call(&methods::CLOSE_EPHEMERAL, request).await?;
        Ok(respond(None, diagnostics(answer.diagnostics), || ()))
    }

    async fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> Result<Result<Value, FunctionError>, ProviderError> {
        let call = &methods::CALL_FUNCTION;
        let schema = self.known_schema(call).await?;
        let unknown = || ProviderError::UnknownName {
            provider: self.client.address.clone(),
            kind: "function",
            name: request.name.to_string(),
        };
        let signature = schema.functions.get(&request.name).ok_or_else(unknown)?;
        let parameters = signature.parameters.iter().map(Some);
        let parameters = parameters.chain(std::iter::repeat(signature.variadic.as_ref()));
        let mut arguments = Vec::with_capacity(request.arguments.len());
        for (argument, parameter) in request.arguments.iter().zip(parameters) {
            let parameter = parameter.ok_or_else(|| ProviderError::Encode {
                provider: self.client.address.clone(),
                call: call.name,
                detail: format!("too many arguments for function {:?}", request.name),
            })?;
            arguments.extend(self.encode(call, argument, &parameter.ty)?);
        }
        let wire_request =
            wire::call_function::Request { name: request.name.to_string(), arguments };
        let answer: wire::call_function::Response = self.client.call(call, wire_request).await?;
        if let Some(error) = answer.error {
            return Ok(Err(FunctionError {
                text: error.text,
                argument: error.function_argument.and_then(|i| usize::try_from(i).ok()),
            }));
        }
        let result = self.decode(call, answer.result.as_ref(), &signature.returns)?;
        result.map(Ok).ok_or_else(|| self.violation(call, "neither a result nor an error"))
    }

    async fn stop(&self) -> Result<(), ProviderError> {
        let call = &methods::STOP;
        let answer: wire::stop_provider::Response =
            self.client.call(call, wire::stop_provider::Request {}).await?;
        match answer.error.is_empty() {
            true => Ok(()),
            false => Err(ProviderError::Transport {
                provider: self.client.address.clone(),
                call: call.name,
                detail: answer.error,
            }),
        }
    }

    async fn close(&self) {
        let open = self.client.close();
        let Some(process) = &self.client.process else { return };
        if open && process.exit_status().is_none() {
            let gracefully = async {
                // The connection may break before the answer: only the end counts.
                let _ = self.client.shutdown().await;
                process.exited().await;
            };
            if tokio::time::timeout(self.shutdown, gracefully).await.is_err() {
                process.kill();
            }
        }
        process.exited().await;
        // One that was killed leaves its socket behind.
        if let Address::Unix(path) = &self.listens_at
            && tokio::fs::symlink_metadata(path).await.is_ok_and(|m| m.file_type().is_socket())
        {
            let _ = tokio::fs::remove_file(path).await;
        }
    }
}
