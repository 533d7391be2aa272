//! Request tokens: how a provider can tell later what it was asked to create.
//!
//! A provider that knows them has the string attribute `plumbline_request_token` in its `provider_meta` schema.
//! Every create then carries a token of its own there: asked again with the same token, the provider answers
//! with the object of the first call. Import with the id `plumbline_request_token=TOKEN` gives that object, and no
//! object, without an error, where none was made.

use crate::random::Random;
use providers::ProviderSchema;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::{Type, Value};

const ATTRIBUTE: &str = "plumbline_request_token";

/// Whether a provider knows request tokens.
pub(super) fn is_known(schema: &ProviderSchema) -> bool {
    let attributes = schema.provider_meta.as_ref().map(|meta| &meta.block.attributes);
    attributes
        .and_then(|attributes| attributes.get(ATTRIBUTE))
        .is_some_and(|attribute| attribute.implied_type() == Type::String)
}

/// A new token.
pub(super) fn new(random: &dyn Random) -> String {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    u128::from_be_bytes(bytes).to_string()
}

/// The `provider_meta` that carries a token.
pub(super) fn meta(schema: &ProviderSchema, token: &str) -> Option<Value> {
    let empty = schema.provider_meta.as_ref()?.block.empty_value();
    let mut attributes: BTreeMap<Arc<str>, Value> = empty.as_map().cloned().unwrap_or_default();
    attributes.insert(ATTRIBUTE.into(), Value::string(token));
    Some(Value::object(attributes))
}

/// The id by which what was made with a token is imported.
pub(super) fn import_id(token: &str) -> String {
    format!("{ATTRIBUTE}={token}")
}
