//! A state as views show it: every object decoded with its provider's schema.

use engine::object::{Object, StoredObject};
use engine::state::State;
use language::diagnostics::{Diagnostic, Diagnostics};
use providers::{Provider, Providers, TypedSchema, UpgradeResourceStateRequest};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ProviderAddress, ResourceInstance, ResourceMode};
use values::schema::Schema;
use views::{ShownInstance, ShownState};

/// Decodes a state. Providers are asked for schemas, and to upgrade what an older version wrote; none is
/// configured. Instances that cannot be decoded are left out, and reported.
pub async fn shown_state(providers: &dyn Providers, state: &State) -> (ShownState, Diagnostics) {
    let mut shown = ShownState::default();
    let mut diagnostics = Diagnostics::new();
    // Thousands of instances share a few schemas.
    let mut schemas = BTreeMap::<(ProviderAddress, ResourceMode, Arc<str>), Arc<Schema>>::new();
    let mut decoders = BTreeMap::<ProviderAddress, Option<Decoder>>::new();
    for (address, instance) in &state.instances {
        let objects = instance.current.iter().chain(instance.deposed.values());
        let Some(provider) = objects.map(|object| &object.provider).next() else { continue };
        let decoder = match decoders.get(&provider.provider) {
            Some(decoder) => decoder,
            None => {
                let decoder = Decoder::start(providers, &provider.provider).await;
                let decoder = decoder.map_err(|error| diagnostics.push(error)).ok();
                decoders.entry(provider.provider.clone()).or_insert(decoder)
            }
        };
        let Some(decoder) = decoder else { continue };
        let Some(schema) = decoder.schema(address) else {
            diagnostics
                .push(undecodable(address, "its provider has no such resource type any more"));
            continue;
        };
        let mut one = ShownInstance {
            address: address.clone(),
            provider: provider.clone(),
            schema: schemas
                .entry((
                    provider.provider.clone(),
                    address.resource.mode,
                    address.resource.ty.clone(),
                ))
                .or_insert_with(|| Arc::new((**schema).clone()))
                .clone(),
            current: None,
            deposed: BTreeMap::new(),
        };
        for (key, stored) in instance
            .current
            .iter()
            .map(|object| (None, object))
            .chain(instance.deposed.iter().map(|(key, object)| (Some(key.clone()), object)))
        {
            match (decoder.object(schema, address, stored).await, key) {
                (Ok(object), None) => one.current = Some(object),
                (Ok(object), Some(key)) => {
                    one.deposed.insert(key, object);
                }
                (Err(error), _) => diagnostics.push(error),
            }
        }
        shown.instances.push(one);
    }
    shown.outputs =
        state.outputs.iter().map(|(name, output)| (name.clone(), output.value.clone())).collect();
    shown.checks = state.checks.results.clone();
    for decoder in decoders.into_values().flatten() {
        decoder.provider.close().await;
    }
    (shown, diagnostics)
}

fn undecodable(address: &ResourceInstance, why: &str) -> Diagnostic {
    Diagnostic::error("Failed to read a record", format!("{address} cannot be shown: {why}."))
        .for_address(address.to_string())
}

struct Decoder {
    provider: Arc<dyn Provider>,
    schemas: Arc<providers::ProviderSchema>,
}

impl Decoder {
    async fn start(
        providers: &dyn Providers,
        address: &ProviderAddress,
    ) -> Result<Decoder, Diagnostic> {
        let failed = |why: String| {
            let summary = "Failed to load plugin schemas";
            Diagnostic::error(
                summary,
                format!("The schema of provider {address} could not be read: {why}."),
            )
        };
        let provider = providers.start(address).await.map_err(|e| failed(e.to_string()))?;
        let response = provider.schema().await.map_err(|e| failed(e.to_string()))?;
        match response.into_result() {
            Ok((schemas, _)) => Ok(Decoder { provider, schemas }),
            Err(found) => {
                let why = found.first().map(|d| d.summary.clone()).unwrap_or_default();
                Err(failed(why))
            }
        }
    }

    fn schema(&self, address: &ResourceInstance) -> Option<&TypedSchema> {
        let ty = &address.resource.ty;
        match address.resource.mode {
            ResourceMode::Managed => self.schemas.resources.get(ty),
            ResourceMode::Data => self.schemas.data_sources.get(ty),
            ResourceMode::Ephemeral => self.schemas.ephemeral.get(ty),
        }
    }

    async fn object(
        &self,
        schema: &TypedSchema,
        address: &ResourceInstance,
        stored: &StoredObject,
    ) -> Result<Object, Diagnostic> {
        let current = match stored.schema_version == schema.version {
            true => values::json::from_json(stored.attributes.as_bytes(), schema.ty()).ok(),
            false => None,
        };
        let value = match current {
            Some(value) => value,
            None => {
                let request = UpgradeResourceStateRequest {
                    ty: address.resource.ty.clone(),
                    version: stored.schema_version,
                    json: Arc::from(stored.attributes.as_bytes()),
                };
                let response = self.provider.upgrade_resource_state(request).await;
                let response = response.map_err(|e| undecodable(address, &e.to_string()))?;
                match response.into_result() {
                    Ok((value, _)) => value,
                    Err(found) => {
                        let why = found.first().map(|d| d.summary.clone()).unwrap_or_default();
                        return Err(undecodable(address, &why));
                    }
                }
            }
        };
        Ok(stored.decoded(&value, &schema.block))
    }
}
