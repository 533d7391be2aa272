use crate::ProviderSchema;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The schema of one package of one provider, shared by all its instances.
#[derive(Debug, Default)]
pub struct SharedSchema(OnceLock<Arc<ProviderSchema>>);

impl SharedSchema {
    /// The schema, where an instance has been asked for it.
    pub fn get(&self) -> Option<Arc<ProviderSchema>> {
        self.0.get().cloned()
    }
    /// Keeps a schema; the first one stays.
    pub fn set(&self, schema: Arc<ProviderSchema>) -> Arc<ProviderSchema> {
        self.0.get_or_init(|| schema).clone()
    }
}

/// Schemas by what determines them: the provider's package. May outlive everything else here, so
/// that a warm process does not ask again.
#[derive(Debug, Default)]
pub struct SchemaCache(Mutex<HashMap<String, Arc<SharedSchema>>>);

impl SchemaCache {
    /// The place of a package's schema. `key` names the package: its hash, for one.
    pub fn entry(&self, key: &str) -> Arc<SharedSchema> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match entries.get(key) {
            Some(entry) => entry.clone(),
            None => entries.entry(key.to_owned()).or_default().clone(),
        }
    }
}
