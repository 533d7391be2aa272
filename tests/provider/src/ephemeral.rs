//! `ephemeral "test_token"`: opens, is renewed and closed, and logs all three.

use crate::schemas::{attributes, plain};
use values::schema::{Attribute, Block, Schema};
use values::{Type, Value};

pub(crate) const TYPE: &str = "test_token";

pub(crate) fn schema() -> Schema {
    let attributes = attributes([
        ("name", plain(Type::String).required()),
        ("value", Attribute { sensitive: true, ..plain(Type::String).computed() }),
    ]);
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

/// The token of a name.
pub(crate) fn open(config: &Value) -> Value {
    let name = config.attribute("name").unwrap_or_else(|| Value::null(Type::String));
    let value = format!("token-of-{}", name.as_str().unwrap_or_default());
    Value::object([("name", name), ("value", Value::string(value))])
}
