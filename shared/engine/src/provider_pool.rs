//! The providers of one operation: each configuration is one running provider, schemas are asked
//! once.

use crate::doubles::Doubles;
use crate::hashing::HashMap;
use crate::open_ephemerals::OpenEphemerals;
use language::diagnostics::Diagnostic;
use providers::{Provider, ProviderError, ProviderSchema, Providers};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::Mutex;
use values::address::{ModulePath, ProviderAddress, ProviderConfigAddress, ResourceInstance};

pub(crate) struct ProviderPool {
    source: Arc<dyn Providers>,
    running: RwLock<HashMap<ProviderConfigAddress, Arc<dyn Provider>>>,
    schemas: RwLock<HashMap<ProviderAddress, Arc<ProviderSchema>>>,
    /// Held while starting, so that one configuration never has two processes.
    starting: Mutex<()>,
    /// Whether all were ended: nothing starts any more.
    closed: AtomicBool,
    /// What is open at them.
    pub(crate) ephemerals: OpenEphemerals,
    /// What stands in for them.
    pub(crate) doubles: Arc<Doubles>,
}

impl ProviderPool {
    pub(crate) fn new(source: Arc<dyn Providers>, doubles: Arc<Doubles>) -> ProviderPool {
        ProviderPool {
            source,
            running: RwLock::default(),
            schemas: RwLock::default(),
            starting: Mutex::new(()),
            closed: AtomicBool::new(false),
            ephemerals: OpenEphemerals::default(),
            doubles,
        }
    }

    /// The running provider of a configuration; started if it is not. The first start of a provider
    /// asks its schema.
    pub(crate) async fn start(
        &self,
        address: &ProviderConfigAddress,
    ) -> Result<Arc<dyn Provider>, Vec<Diagnostic>> {
        if let Some(running) = self.running(address) {
            return Ok(running);
        }
        let _starting = self.starting.lock().await;
        if let Some(running) = self.running(address) {
            return Ok(running);
        }
        let provider = self
            .source
            .start(&address.provider)
            .await
            .map_err(|e| vec![failed_to_start(&address.provider, &e)])?;
        if self.schema(&address.provider).is_none() {
            let response = match provider.schema().await {
                Ok(response) => response,
                Err(e) => {
                    provider.close().await;
                    return Err(vec![failed_to_start(&address.provider, &e)]);
                }
            };
            match response.into_result() {
                Ok((schema, _)) => {
                    let mut schemas = self.schemas.write().unwrap_or_else(PoisonError::into_inner);
                    schemas.insert(address.provider.clone(), schema);
                }
                Err(diagnostics) => {
                    provider.close().await;
                    return Err(diagnostics
                        .into_iter()
                        .map(|d| Diagnostic::error(d.summary, d.detail))
                        .collect());
                }
            }
        }
        let provider = match self.schema(&address.provider) {
            Some(schemas) => self.doubles.of_provider(address, provider, schemas),
            None => provider,
        };
        self.running
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address.clone(), provider.clone());
        // Evaluation goes on for a moment after its operation was given up.
        if self.closed.load(Ordering::SeqCst) {
            provider.close().await;
            return Err(vec![Diagnostic::error(
                "Operation interrupted",
                format!("The provider {} is not started any more.", address.provider),
            )]);
        }
        Ok(provider)
    }

    pub(crate) fn running(&self, address: &ProviderConfigAddress) -> Option<Arc<dyn Provider>> {
        self.running.read().unwrap_or_else(PoisonError::into_inner).get(address).cloned()
    }

    /// A running provider as one instance meets it.
    pub(crate) fn doubled(
        &self,
        address: &ProviderConfigAddress,
        running: &Arc<dyn Provider>,
        instance: &ResourceInstance,
    ) -> Arc<dyn Provider> {
        match self.schema(&address.provider) {
            Some(schemas) => self.doubles.of_instance(address, running, &schemas, instance),
            None => running.clone(),
        }
    }

    /// A running provider, of whatever configuration; started unconfigured if there is none. For functions, which
    /// need no configuration.
    pub(crate) async fn unconfigured(
        &self,
        address: &ProviderAddress,
    ) -> Result<Arc<dyn Provider>, Vec<Diagnostic>> {
        let running = || {
            let running = self.running.read().unwrap_or_else(PoisonError::into_inner);
            let mut found = running.iter().filter(|(config, _)| config.provider == *address);
            found.next().map(|(_, provider)| provider.clone())
        };
        if let Some(provider) = running() {
            return Ok(provider);
        }
        let module = ModulePath::root();
        self.start(&ProviderConfigAddress { module, provider: address.clone(), alias: None }).await
    }

    /// The schema of a provider of which a configuration was started.
    pub(crate) fn schema(&self, address: &ProviderAddress) -> Option<Arc<ProviderSchema>> {
        self.schemas.read().unwrap_or_else(PoisonError::into_inner).get(address).cloned()
    }

    fn all(&self) -> Vec<Arc<dyn Provider>> {
        self.running.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Asks every running provider to finish early.
    pub(crate) async fn stop(&self) {
        for provider in self.all() {
            // A provider that cannot be asked is ended by `close` all the same.
            let _ = provider.stop().await;
        }
    }

    /// Ends every running provider, for good.
    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        for provider in self.all() {
            provider.close().await;
        }
        self.running.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn failed_to_start(address: &ProviderAddress, error: &ProviderError) -> Diagnostic {
    match error {
        ProviderError::NotInstalled { .. } => Diagnostic::error(
            "Inconsistent dependency lock file",
            format!(
                "The following dependency selections recorded in the lock file are inconsistent with the current configuration:\n  - provider {address}: required by this configuration but no version is selected\n\nTo make the initial dependency selections that will initialize the dependency lock file, run:\n  plumb init"
            ),
        ),
        error => Diagnostic::error(
            "Failed to load plugin schemas",
            format!("Error while loading schemas for plugin components: {error}."),
        ),
    }
}
