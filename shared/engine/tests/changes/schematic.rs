//! A provider that is a schema and no more: every configuration is valid, and nothing reaches a world.

use async_trait::async_trait;
use providers::{
    Provider, ProviderError, ProviderSchema, Response, TypedSchema, UpgradeResourceStateRequest,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::ProviderAddress;
use values::schema::{Attribute, Block, Schema};

/// Refuses what it would need a world for: those that have one stand before it.
pub(crate) struct Schematic {
    address: ProviderAddress,
    schema: Arc<ProviderSchema>,
}

impl Schematic {
    pub(crate) fn new(address: &ProviderAddress, schema: ProviderSchema) -> Schematic {
        Schematic { address: address.clone(), schema: Arc::new(schema) }
    }
}

pub(crate) fn attributes<const N: usize>(
    all: [(&str, Attribute); N],
) -> BTreeMap<Arc<str>, Attribute> {
    all.into_iter().map(|(name, attribute)| (Arc::from(name), attribute)).collect()
}

/// The schema of one block.
pub(crate) fn typed(block: Block) -> TypedSchema {
    TypedSchema::from(Schema { version: 0, block })
}

/// That of a block with attributes alone.
pub(crate) fn flat<const N: usize>(all: [(&str, Attribute); N]) -> TypedSchema {
    typed(Block { attributes: attributes(all), ..Block::default() })
}

#[async_trait]
impl Provider for Schematic {
    fn address(&self) -> &ProviderAddress {
        &self.address
    }

    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        Ok(Response::ok(self.schema.clone()))
    }

    async fn validate_provider_config(&self, c: &Value) -> Result<Response<Value>, ProviderError> {
        Ok(Response::ok(c.clone()))
    }

    async fn validate_resource_config(
        &self,
        _: &str,
        _: &Value,
        _: bool,
    ) -> Result<Response<()>, ProviderError> {
        Ok(Response::ok(()))
    }

    async fn validate_data_config(
        &self,
        _: &str,
        _: &Value,
    ) -> Result<Response<()>, ProviderError> {
        Ok(Response::ok(()))
    }

    async fn validate_ephemeral_config(
        &self,
        _: &str,
        _: &Value,
    ) -> Result<Response<()>, ProviderError> {
        Ok(Response::ok(()))
    }

    async fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> Result<Response<Value>, ProviderError> {
        let ty = self.schema.resources[&request.ty].ty();
        Ok(Response::ok(values::json::from_json(&request.json, ty).unwrap()))
    }

    async fn stop(&self) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn close(&self) {}
}
