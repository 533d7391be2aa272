//! `ephemeral "test_token"`: opens, is renewed and closed, and logs all three. With `renew_ms` it wants to be renewed so
//! long after it was opened or renewed; `fail_on` names the call that fails.

use crate::schemas::{attributes, plain};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime};
use values::schema::{Attribute, Block, Schema};
use values::{Type, Value};

pub(crate) const TYPE: &str = "test_token";

pub(crate) fn schema() -> Schema {
    let attributes = attributes([
        ("name", plain(Type::String).required()),
        ("value", Attribute { sensitive: true, ..plain(Type::String).computed() }),
        ("renew_ms", plain(Type::Number).optional()),
        ("fail_on", plain(Type::String).optional()),
    ]);
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

/// What is known of an open token between calls: the provider's own bytes.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Token {
    pub(crate) name: Option<String>,
    renew_ms: Option<u64>,
    fail_on: Option<String>,
}

impl Token {
    pub(crate) fn of(config: &Value) -> Token {
        let text = |name: &str| Some(config.attribute(name)?.as_str()?.to_owned());
        let number = |name: &str| config.attribute(name)?.as_number()?.to_u64();
        Token { name: text("name"), renew_ms: number("renew_ms"), fail_on: text("fail_on") }
    }

    pub(crate) fn from_private(private: Option<&[u8]>) -> Token {
        private.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }

    pub(crate) fn to_private(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    /// When it is to be renewed.
    pub(crate) fn renew_at(&self) -> Option<prost_types::Timestamp> {
        Some((SystemTime::now() + Duration::from_millis(self.renew_ms?)).into())
    }

    pub(crate) fn fails(&self, call: &str) -> bool {
        self.fail_on.as_deref() == Some(call)
    }

    /// The object that opening gives.
    pub(crate) fn result(&self, config: &Value) -> Value {
        let mut object = config.as_map().cloned().unwrap_or_default();
        let value = format!("token-of-{}", self.name.as_deref().unwrap_or_default());
        object.insert("value".into(), Value::string(value));
        Value::object(object)
    }
}
