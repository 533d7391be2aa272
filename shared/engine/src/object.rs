//! Objects of resource instances, as they are kept in records.

use std::fmt;
use std::sync::Arc;
use values::address::{ConfigResource, ProviderConfigAddress};
use values::schema::Block;
use values::{Marks, Path, Value};

/// One remote object of a resource instance: stored form, before its provider's schema is known.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredObject {
    /// The provider configuration that manages it.
    pub provider: ProviderConfigAddress,
    /// Version of the schema that `attributes` follows.
    pub schema_version: u64,
    /// The attributes as JSON, in the form of that schema.
    pub attributes: Arc<str>,
    /// Paths whose values are sensitive because of what they came from (not by schema).
    pub sensitive_paths: Vec<Path>,
    /// Identity of the remote object as JSON, with its schema version, where the provider gives one.
    pub identity: Option<StoredIdentity>,
    /// What the provider keeps for itself.
    pub private: Arc<[u8]>,
    /// Resources that its configuration referred to when it was last written.
    pub dependencies: Arc<[ConfigResource]>,
    /// Whether its replacement is created first.
    pub create_before_destroy: bool,
    /// Whether deleting it was forbidden.
    pub prevent_destroy: bool,
    /// Whether it is whole.
    pub status: ObjectStatus,
}

impl StoredObject {
    /// The object with the value that its attributes were decoded to, which is marked as it was recorded and as its schema says.
    pub fn decoded(&self, value: &Value, schema: &Block) -> Object {
        let by_schema = schema.sensitive_paths(value);
        let sensitive = self.sensitive_paths.iter().chain(&by_schema);
        Object {
            value: value.mark_paths(sensitive.map(|path| (path, Marks::SENSITIVE))),
            identity: None,
            private: self.private.clone(),
            dependencies: self.dependencies.clone(),
            create_before_destroy: self.create_before_destroy,
            prevent_destroy: self.prevent_destroy,
            status: self.status,
        }
    }
}

/// Identity of a remote object.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredIdentity {
    /// Version of the identity schema.
    pub schema_version: u64,
    /// The identity as JSON.
    pub attributes: Arc<str>,
}

/// An object decoded with its provider's current schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The value, with marks.
    pub value: Value,
    /// Identity, where the provider gives one.
    pub identity: Option<Value>,
    /// What the provider keeps for itself.
    pub private: Arc<[u8]>,
    /// Resources that its configuration referred to.
    pub dependencies: Arc<[ConfigResource]>,
    /// Whether its replacement is created first.
    pub create_before_destroy: bool,
    /// Whether deleting it was forbidden.
    pub prevent_destroy: bool,
    /// Whether it is whole.
    pub status: ObjectStatus,
}

/// Whether an object is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ObjectStatus {
    /// As its provider reported it.
    #[default]
    Ready,
    /// Its creation failed half way, or a person said so: to be replaced.
    Tainted,
    /// Only identity and private data could be kept.
    Incomplete,
}

/// Key of an object that was superseded and not deleted yet: eight hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeposedKey(Arc<str>);

impl DeposedKey {
    /// A new key from four random bytes.
    pub fn new(random: [u8; 4]) -> DeposedKey {
        DeposedKey(format!("{:08x}", u32::from_be_bytes(random)).into())
    }
    /// A key read from a record.
    pub fn from_stored(text: &str) -> DeposedKey {
        DeposedKey(text.into())
    }
    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl fmt::Debug for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
