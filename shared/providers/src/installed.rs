use crate::builtin::BuiltinProvider;
use crate::install::{Package, PackageError, ProviderPackages};
use crate::plugin::{PluginCommand, PluginHost};
use crate::{
    Commands, Provider, ProviderError, ProviderSchema, Providers, Response, SchemaCache,
    SharedSchema, StartFailure,
};
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;
use values::address::ProviderAddress;

/// The providers of one working directory: the builtin one, and those that are installed. Packages
/// are verified once, before the first start.
pub struct InstalledProviders {
    packages: Arc<ProviderPackages>,
    host: Arc<PluginHost>,
    schemas: Arc<SchemaCache>,
    builtin: Arc<BuiltinProvider>,
    verified: Mutex<HashMap<ProviderAddress, Arc<OnceCell<Package>>>>,
}

impl InstalledProviders {
    /// The providers that `packages` names, started by `host`.
    pub fn new(
        packages: ProviderPackages,
        host: Arc<PluginHost>,
        schemas: Arc<SchemaCache>,
        builtin: Arc<BuiltinProvider>,
    ) -> InstalledProviders {
        InstalledProviders {
            packages: Arc::new(packages),
            host,
            schemas,
            builtin,
            verified: Mutex::default(),
        }
    }

    async fn package(&self, address: &ProviderAddress) -> Result<Package, ProviderError> {
        let cell = {
            let mut verified = self.verified.lock().unwrap_or_else(PoisonError::into_inner);
            verified.entry(address.clone()).or_default().clone()
        };
        let verify = || async {
            let (packages, wanted) = (self.packages.clone(), address.clone());
            let result = tokio::task::spawn_blocking(move || packages.verified(&wanted)).await;
            let own = |detail: String| ProviderError::Start {
                provider: address.clone(),
                reason: Box::new(StartFailure::Own { detail }),
            };
            match result {
                Err(e) => Err(own(e.to_string())),
                Ok(Ok(package)) => Ok(package),
                Ok(Err(PackageError::NotInstalled)) => {
                    Err(ProviderError::NotInstalled { provider: address.clone() })
                }
                Ok(Err(PackageError::ChecksumMismatch { version })) => {
                    Err(ProviderError::ChecksumMismatch {
                        provider: address.clone(),
                        version: version.to_string(),
                    })
                }
                Ok(Err(e @ PackageError::Read(_))) => Err(own(e.to_string())),
            }
        };
        cell.get_or_try_init(verify).await.cloned()
    }

    /// Where the schema of a package is kept. A provider under development may change at any time,
    /// so each of its instances is asked.
    fn shared_schema(&self, address: &ProviderAddress, package: &Package) -> Arc<SharedSchema> {
        match &package.verified {
            Some((version, hash)) => self.schemas.entry(&format!("{address} {version} {hash}")),
            None => Arc::default(),
        }
    }
}

#[async_trait]
impl Providers for InstalledProviders {
    async fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, ProviderError> {
        if *address == ProviderAddress::builtin() {
            return Ok(self.builtin.clone());
        }
        if let Some(running) = self.packages.running.get(address) {
            return Ok(Arc::new(self.host.attach(address, running).await?));
        }
        let package = self.package(address).await?;
        let schema = self.shared_schema(address, &package);
        let command = PluginCommand::new(package.program);
        Ok(Arc::new(self.host.start(address, &command, schema).await?))
    }

    async fn schema(
        &self,
        address: &ProviderAddress,
    ) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        if *address != ProviderAddress::builtin() && !self.packages.running.contains_key(address) {
            let package = self.package(address).await?;
            if let Some(schema) = self.shared_schema(address, &package).get() {
                return Ok(Response::ok(schema));
            }
        }
        let provider = self.start(address).await?;
        let schema = provider.schema().await;
        provider.close().await;
        schema
    }

    fn commands(&self) -> Option<Arc<dyn Commands>> {
        Some(self.host.clone())
    }
}
