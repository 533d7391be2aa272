use crate::{
    ApplyResourceRequest, ApplyResourceResponse, CallFunctionRequest, ConfigureRequest,
    EphemeralHandle, FunctionError, ImportResourceRequest, ImportResourceResponse,
    MoveResourceRequest, MoveResourceResponse, OpenEphemeralRequest, OpenEphemeralResponse,
    PlanResourceRequest, PlanResourceResponse, ProviderError, ProviderSchema,
    ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest, ReadResourceResponse,
    RenewEphemeralResponse, Response, UpgradeIdentityRequest, UpgradeResourceStateRequest,
};
use async_trait::async_trait;
use std::sync::Arc;
use values::Value;
use values::address::ProviderAddress;

/// One instance of a provider: unconfigured at first, then configured once.
///
/// A call that an implementation leaves out goes to the provider [beneath](Provider::beneath) it, and is not supported
/// where there is none.
///
/// Calls may run concurrently. Values that are sent carry no marks or have them dropped; values
/// that come back carry none. Every value of an answer is of its schema's type.
///
/// Every call fails with a [`ProviderError`] where the provider could not be asked or broke its
/// protocol; what it reports itself is in the [`Response`].
#[async_trait]
pub trait Provider: Send + Sync {
    /// Which provider it is.
    fn address(&self) -> &ProviderAddress;

    /// The provider that this one stands before: it answers what this one leaves out. Nothing for most.
    fn beneath(&self) -> Option<&dyn Provider> {
        None
    }

    /// Whether applying may change anything outside the record. Where it may not, a call that nobody knows the end of
    /// is simply made again.
    fn reaches_outside(&self) -> bool {
        self.beneath().is_none_or(Provider::reaches_outside)
    }

    /// All that it says of itself. Asked of the provider at most once.
    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError>;

    /// Checks the provider's configuration; the answer is the configuration to configure with.
    async fn validate_provider_config(
        &self,
        config: &Value,
    ) -> Result<Response<Value>, ProviderError> {
        answering(self, "ValidateProviderConfig")?.validate_provider_config(config).await
    }

    /// Checks a managed resource's configuration, unknowns included.
    async fn validate_resource_config(
        &self,
        ty: &str,
        config: &Value,
        write_only_allowed: bool,
    ) -> Result<Response<()>, ProviderError> {
        answering(self, "ValidateResourceConfig")?
            .validate_resource_config(ty, config, write_only_allowed)
            .await
    }

    /// Checks a data source's configuration, unknowns included.
    async fn validate_data_config(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Response<()>, ProviderError> {
        answering(self, "ValidateDataResourceConfig")?.validate_data_config(ty, config).await
    }

    /// Checks an ephemeral resource's configuration, unknowns included.
    async fn validate_ephemeral_config(
        &self,
        ty: &str,
        config: &Value,
    ) -> Result<Response<()>, ProviderError> {
        answering(self, "ValidateEphemeralResourceConfig")?
            .validate_ephemeral_config(ty, config)
            .await
    }

    /// Configures this instance.
    async fn configure(&self, request: ConfigureRequest) -> Result<Response<()>, ProviderError> {
        answering(self, "ConfigureProvider")?.configure(request).await
    }

    /// Brings a stored object into the current schema.
    async fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> Result<Response<Value>, ProviderError> {
        answering(self, "UpgradeResourceState")?.upgrade_resource_state(request).await
    }

    /// Brings a stored identity into the current identity schema.
    async fn upgrade_resource_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<Response<Value>, ProviderError> {
        answering(self, "UpgradeResourceIdentity")?.upgrade_resource_identity(request).await
    }

    /// Reads an object from the real world.
    async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<Response<ReadResourceResponse>, ProviderError> {
        answering(self, "ReadResource")?.read_resource(request).await
    }

    /// Asks what applying a configuration would come to. Changes nothing.
    async fn plan_resource(
        &self,
        request: PlanResourceRequest,
    ) -> Result<Response<PlanResourceResponse>, ProviderError> {
        answering(self, "PlanResourceChange")?.plan_resource(request).await
    }

    /// Does what was planned. The answer has a value also where it has errors.
    async fn apply_resource(
        &self,
        request: ApplyResourceRequest,
    ) -> Result<Response<ApplyResourceResponse>, ProviderError> {
        answering(self, "ApplyResourceChange")?.apply_resource(request).await
    }

    /// Finds an object that exists.
    async fn import_resource(
        &self,
        request: ImportResourceRequest,
    ) -> Result<Response<ImportResourceResponse>, ProviderError> {
        answering(self, "ImportResourceState")?.import_resource(request).await
    }

    /// Takes over an object of another resource type.
    async fn move_resource(
        &self,
        request: MoveResourceRequest,
    ) -> Result<Response<MoveResourceResponse>, ProviderError> {
        answering(self, "MoveResourceState")?.move_resource(request).await
    }

    /// Reads a data source.
    async fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> Result<Response<ReadDataSourceResponse>, ProviderError> {
        answering(self, "ReadDataSource")?.read_data_source(request).await
    }

    /// Opens an ephemeral resource; whoever opens it closes it.
    async fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> Result<Response<OpenEphemeralResponse>, ProviderError> {
        answering(self, "OpenEphemeralResource")?.open_ephemeral(request).await
    }

    /// Renews an open ephemeral resource.
    async fn renew_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<RenewEphemeralResponse>, ProviderError> {
        answering(self, "RenewEphemeralResource")?.renew_ephemeral(handle).await
    }

    /// Closes an open ephemeral resource.
    async fn close_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<()>, ProviderError> {
        answering(self, "CloseEphemeralResource")?.close_ephemeral(handle).await
    }

    /// Calls a function. Needs no configuration.
    async fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> Result<Result<Value, FunctionError>, ProviderError> {
        answering(self, "CallFunction")?.call_function(request).await
    }

    /// Asks the provider to end calls under way as soon as it safely can. Those calls still answer.
    async fn stop(&self) -> Result<(), ProviderError>;

    /// Ends this instance, and its process where it has one: when this returns, nothing of it runs
    /// any more. Calls under way fail. Closing twice is no error.
    async fn close(&self);
}

/// Who answers a call that `provider` leaves out.
fn answering<'p, P: Provider + ?Sized>(
    provider: &'p P,
    call: &'static str,
) -> Result<&'p dyn Provider, ProviderError> {
    provider.beneath().ok_or_else(|| ProviderError::unsupported(provider.address(), call))
}
