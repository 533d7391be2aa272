//! Request tokens: creates that may be asked for again. Known where `TEST_PROVIDER_REQUEST_TOKENS` is set, so
//! that tests can play a provider of either kind.

use crate::schemas::{attributes, plain};
use std::sync::Arc;
use values::schema::Attribute;
use values::{Type, Value};

/// The attribute of `provider_meta` by which whoever asks knows that tokens are known.
const ATTRIBUTE: &str = "plumbline_request_token";

/// Whether tokens are known.
pub(crate) fn are_known() -> bool {
    std::env::var_os("TEST_PROVIDER_REQUEST_TOKENS").is_some()
}

/// What `provider_meta` has for them.
pub(crate) fn attribute() -> Option<(Arc<str>, Attribute)> {
    let token = attributes([(ATTRIBUTE, plain(Type::String).optional())]);
    token.into_iter().next().filter(|_| are_known())
}

/// The token of a request.
pub(crate) fn of(meta: &Value) -> Option<String> {
    let token = (!meta.is_null()).then(|| meta.attribute(ATTRIBUTE)).flatten()?;
    token.as_str().map(str::to_owned)
}

/// The token in the id of an import.
pub(crate) fn of_import(id: &str) -> Option<&str> {
    id.strip_prefix(ATTRIBUTE)?.strip_prefix('=').filter(|_| are_known())
}
