use crate::{Commands, Provider, ProviderError, ProviderSchema, Response};
use async_trait::async_trait;
use std::sync::Arc;
use values::address::ProviderAddress;

/// Where the engine gets providers from.
///
/// Every start is an instance of its own, to be configured once. Schemas are shared between the
/// instances of one provider.
#[async_trait]
pub trait Providers: Send + Sync {
    /// Starts an instance. Whoever starts it closes it.
    ///
    /// # Errors
    /// Where it is not installed, does not match the lock file, or does not come up.
    async fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, ProviderError>;

    /// The schema of a provider: from the cache, or from an instance that is started for it.
    ///
    /// # Errors
    /// As [`Providers::start`], and where the schema cannot be read.
    async fn schema(
        &self,
        address: &ProviderAddress,
    ) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        let provider = self.start(address).await?;
        let schema = provider.schema().await;
        provider.close().await;
        schema
    }

    /// Who runs the commands of provisioners: their processes end where those of providers do. `None` where no
    /// process may be started.
    fn commands(&self) -> Option<Arc<dyn Commands>> {
        None
    }
}
