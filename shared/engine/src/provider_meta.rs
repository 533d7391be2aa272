//! `provider_meta`: what a module says to a provider with every request about its resources.

use crate::evaluation::{EvalContext, Operation, RepetitionData};
use async_trait::async_trait;
use language::diagnostics::Diagnostic;
use language::module::ProviderMeta;
use providers::{
    ApplyResourceRequest, ApplyResourceResponse, PlanResourceRequest, PlanResourceResponse,
    Provider, ProviderError, ProviderSchema, ReadDataSourceRequest, ReadDataSourceResponse,
    ReadResourceRequest, ReadResourceResponse, Response,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::{
    ConfigResource, ModuleInstance, ModulePath, ProviderAddress, ProviderConfigAddress,
    ResourceInstance,
};

/// A running provider as the resources of one module see it: their requests carry what the module says to it.
pub(crate) fn running_for(
    context: &EvalContext,
    address: &ProviderConfigAddress,
    module: &ModulePath,
) -> Option<Arc<dyn Provider>> {
    let provider = context.pool.running(address)?;
    Some(match said_by(context, module, &address.provider) {
        Some(meta) => Arc::new(WithMeta { provider, meta }),
        None => provider,
    })
}

/// The same, as one instance meets it: a test may have something stand in for the provider there.
pub(crate) fn running_at(
    context: &EvalContext,
    address: &ProviderConfigAddress,
    instance: &ResourceInstance,
) -> Option<Arc<dyn Provider>> {
    let running = running_for(context, address, &instance.module.path())?;
    Some(context.pool.doubled(address, &running, instance))
}

/// That a resource's module says something to a provider that does not want to hear it.
pub(crate) fn unwanted(
    context: &EvalContext,
    resource: &ConfigResource,
    provider: &ProviderAddress,
) -> Option<Diagnostic> {
    let meta = declared(context, &resource.module, provider)?;
    let schemas = context.pool.schema(provider)?;
    schemas.provider_meta.is_none().then(|| {
        Diagnostic::error(
            format!("Provider {provider} doesn't support provider_meta"),
            format!(
                "The resource {resource} belongs to a provider that doesn't support provider_meta blocks"
            ),
        )
        .at(meta.span)
    })
}

fn declared<'c>(
    context: &'c EvalContext,
    module: &ModulePath,
    provider: &ProviderAddress,
) -> Option<&'c ProviderMeta> {
    let declared = &context.node(module)?.module;
    let mut metas = declared.settings.provider_metas.values();
    metas.find(|meta| declared.provider_for_local_name(&meta.local_name) == *provider)
}

/// What a module says; nothing where its provider does not want to hear it, or where that is wrong, which is reported.
fn said_by(
    context: &EvalContext,
    module: &ModulePath,
    provider: &ProviderAddress,
) -> Option<Value> {
    if context.operation == Operation::Validate {
        return None;
    }
    let meta = declared(context, module, provider)?;
    let schemas = context.pool.schema(provider)?;
    let schema = schemas.provider_meta.as_ref()?;
    // It is made of constants: any scope will do.
    let (scope, data) = (ModuleInstance::root(), RepetitionData::default());
    context.evaluate(&scope, &data, None, |e| e.body(&meta.config, &schema.block))
}

/// A provider to which one module says something.
struct WithMeta {
    provider: Arc<dyn Provider>,
    meta: Value,
}

impl WithMeta {
    /// What the module says, with what a request says already.
    fn with(&self, own: Option<Value>) -> Option<Value> {
        let Some(own) = own else { return Some(self.meta.clone()) };
        let mut all: BTreeMap<Arc<str>, Value> = self.meta.as_map().cloned().unwrap_or_default();
        let said = own.as_map().into_iter().flatten().filter(|(_, value)| !value.is_null());
        all.extend(said.map(|(name, value)| (name.clone(), value.clone())));
        Some(Value::object(all))
    }
}

#[async_trait]
impl Provider for WithMeta {
    fn address(&self) -> &ProviderAddress {
        self.provider.address()
    }

    fn beneath(&self) -> Option<&dyn Provider> {
        Some(&*self.provider)
    }

    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        self.provider.schema().await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<Response<ReadResourceResponse>, ProviderError> {
        let provider_meta = self.with(request.provider_meta);
        self.provider.read_resource(ReadResourceRequest { provider_meta, ..request }).await
    }

    async fn plan_resource(
        &self,
        request: PlanResourceRequest,
    ) -> Result<Response<PlanResourceResponse>, ProviderError> {
        let provider_meta = self.with(request.provider_meta);
        self.provider.plan_resource(PlanResourceRequest { provider_meta, ..request }).await
    }

    async fn apply_resource(
        &self,
        request: ApplyResourceRequest,
    ) -> Result<Response<ApplyResourceResponse>, ProviderError> {
        let provider_meta = self.with(request.provider_meta);
        self.provider.apply_resource(ApplyResourceRequest { provider_meta, ..request }).await
    }

    async fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> Result<Response<ReadDataSourceResponse>, ProviderError> {
        let provider_meta = self.with(request.provider_meta);
        self.provider.read_data_source(ReadDataSourceRequest { provider_meta, ..request }).await
    }

    async fn stop(&self) -> Result<(), ProviderError> {
        self.provider.stop().await
    }

    async fn close(&self) {
        self.provider.close().await;
    }
}
