use super::{BodyError, PathBody};
use crate::hashing::HashMap;
use crate::object::{ObjectStatus, StoredIdentity, StoredObject};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use records::Key;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use values::address::{ConfigResource, ProviderConfigAddress, ResourceInstance};

/// One object of a resource instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ObjectBody {
    /// The provider configuration that manages it.
    pub provider: String,
    /// Version of the schema that the values follow.
    pub schema_version: u64,
    /// Identity of the remote object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<IdentityBody>,
    /// The attributes, as the provider's schema has them.
    pub values: Box<RawValue>,
    /// Paths that are sensitive because of what they came from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitive_paths: Vec<PathBody>,
    /// What the provider keeps for itself, in base64.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub private: String,
    /// Resources that its configuration referred to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Whether its replacement is created first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create_before_destroy: bool,
    /// Whether deleting it was forbidden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prevent_destroy: bool,
    /// Whether it is whole.
    pub status: ObjectStatusBody,
}

/// Identity of a remote object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IdentityBody {
    /// Version of the identity's schema.
    pub schema_version: u64,
    /// The identity.
    pub values: Box<RawValue>,
}

/// Whether an object is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectStatusBody {
    /// As its provider reported it.
    Ready,
    /// To be replaced.
    Tainted,
    /// Only identity and private data could be kept.
    Incomplete,
}

/// Addresses that occur in many bodies, parsed once and shared.
#[derive(Debug, Default)]
pub(crate) struct SharedAddresses {
    providers: HashMap<String, ProviderConfigAddress>,
    resources: HashMap<String, ConfigResource>,
    dependencies: HashMap<Vec<String>, Arc<[ConfigResource]>>,
}

impl SharedAddresses {
    pub(crate) fn provider(&mut self, text: &str) -> Option<ProviderConfigAddress> {
        if let Some(known) = self.providers.get(text) {
            return Some(known.clone());
        }
        let parsed: ProviderConfigAddress = text.parse().ok()?;
        self.providers.insert(text.to_owned(), parsed.clone());
        Some(parsed)
    }
    pub(crate) fn resource(&mut self, text: &str) -> Option<ConfigResource> {
        if let Some(known) = self.resources.get(text) {
            return Some(known.clone());
        }
        // A resource of the configuration is spelled as its only instance would be.
        let parsed = text.parse::<ResourceInstance>().ok()?.config();
        if parsed.to_string() != text {
            return None;
        }
        self.resources.insert(text.to_owned(), parsed.clone());
        Some(parsed)
    }
    pub(crate) fn dependencies(&mut self, texts: Vec<String>) -> Option<Arc<[ConfigResource]>> {
        if let Some(known) = self.dependencies.get(&texts) {
            return Some(known.clone());
        }
        let parsed: Arc<[ConfigResource]> =
            texts.iter().map(|t| self.resource(t)).collect::<Option<Vec<_>>>()?.into();
        self.dependencies.insert(texts, parsed.clone());
        Some(parsed)
    }
}

impl ObjectBody {
    /// The stored form of an object.
    ///
    /// # Errors
    /// Where its attributes, identity or paths are no JSON; `key` is named.
    pub fn from_object(key: &Key, object: &StoredObject) -> Result<ObjectBody, BodyError> {
        let raw = |text: &Arc<str>, what: &str| {
            RawValue::from_string(text.to_string())
                .map_err(|_| BodyError::unwritable(key, format!("its {what} are no JSON")))
        };
        let identity = match &object.identity {
            None => None,
            Some(identity) => Some(IdentityBody {
                schema_version: identity.schema_version,
                values: raw(&identity.attributes, "identity's values")?,
            }),
        };
        let sensitive_paths = object.sensitive_paths.iter().map(PathBody::from_path);
        Ok(ObjectBody {
            provider: object.provider.to_string(),
            schema_version: object.schema_version,
            identity,
            values: raw(&object.attributes, "attributes")?,
            sensitive_paths: sensitive_paths
                .collect::<Result<_, _>>()
                .map_err(|_| BodyError::unwritable(key, "a sensitive path is not known wholly"))?,
            private: STANDARD.encode(&object.private),
            dependencies: object.dependencies.iter().map(ToString::to_string).collect(),
            create_before_destroy: object.create_before_destroy,
            prevent_destroy: object.prevent_destroy,
            status: object.status.into(),
        })
    }

    /// The object.
    ///
    /// # Errors
    /// Where an address, a path or the private data cannot be read; `key` is named.
    pub fn into_object(self, key: &Key) -> Result<StoredObject, BodyError> {
        self.into_object_sharing(key, &mut SharedAddresses::default())
    }

    pub(crate) fn into_object_sharing(
        self,
        key: &Key,
        shared: &mut SharedAddresses,
    ) -> Result<StoredObject, BodyError> {
        let damaged = |what: &str| BodyError::damaged(key, what);
        Ok(StoredObject {
            provider: shared
                .provider(&self.provider)
                .ok_or_else(|| damaged("its provider is no address"))?,
            schema_version: self.schema_version,
            attributes: Box::<str>::from(self.values).into(),
            sensitive_paths: self
                .sensitive_paths
                .iter()
                .map(PathBody::to_path)
                .collect::<Result<_, _>>()
                .map_err(|_| damaged("a sensitive path cannot be read"))?,
            identity: self.identity.map(|identity| StoredIdentity {
                schema_version: identity.schema_version,
                attributes: Box::<str>::from(identity.values).into(),
            }),
            private: STANDARD
                .decode(&self.private)
                .map_err(|_| damaged("its private data are no base64"))?
                .into(),
            dependencies: shared
                .dependencies(self.dependencies)
                .ok_or_else(|| damaged("a dependency is no address of a resource"))?,
            create_before_destroy: self.create_before_destroy,
            prevent_destroy: self.prevent_destroy,
            status: self.status.into(),
        })
    }

    /// What is kept where the store cannot hold the whole: enough to find the object and delete it.
    #[must_use]
    pub fn minimal(&self) -> ObjectBody {
        ObjectBody {
            values: RawValue::NULL.to_owned(),
            sensitive_paths: Vec::new(),
            status: ObjectStatusBody::Incomplete,
            ..self.clone()
        }
    }
}

impl From<ObjectStatus> for ObjectStatusBody {
    fn from(status: ObjectStatus) -> ObjectStatusBody {
        match status {
            ObjectStatus::Ready => ObjectStatusBody::Ready,
            ObjectStatus::Tainted => ObjectStatusBody::Tainted,
            ObjectStatus::Incomplete => ObjectStatusBody::Incomplete,
        }
    }
}
impl From<ObjectStatusBody> for ObjectStatus {
    fn from(status: ObjectStatusBody) -> ObjectStatus {
        match status {
            ObjectStatusBody::Ready => ObjectStatus::Ready,
            ObjectStatusBody::Tainted => ObjectStatus::Tainted,
            ObjectStatusBody::Incomplete => ObjectStatus::Incomplete,
        }
    }
}
