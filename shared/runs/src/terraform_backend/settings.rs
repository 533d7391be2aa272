//! What is configured of a backend.

use super::BackendError;
use language::evaluate::constant;
use language::module::Backend;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use values::Value;
use values::json::{JsonError, to_json};

/// A backend, with its settings as JSON. What is null is not set.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendSettings {
    /// Its kind, such as `s3`.
    pub kind: String,
    settings: Map<String, Json>,
}

/// As far as `.terraform/terraform.tfstate` matters here.
#[derive(Deserialize)]
struct Initialised {
    backend: Option<InitialisedBackend>,
}

#[derive(Deserialize)]
struct InitialisedBackend {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    config: Map<String, Json>,
}

impl BackendSettings {
    /// Those of a `backend` block; where `terraform init` has noted more of the same backend (`-backend-config`), that counts.
    ///
    /// # Errors
    /// Where what was noted cannot be read, or a setting of the block is no constant.
    pub fn of_block(
        block: &Backend,
        initialised: Option<&[u8]>,
    ) -> Result<BackendSettings, BackendError> {
        if let Some(noted) = initialised {
            let noted: Initialised =
                serde_json::from_slice(noted).map_err(BackendError::Initialised)?;
            if let Some(backend) = noted.backend.filter(|backend| *backend.kind == *block.kind) {
                return Ok(BackendSettings::new(backend.kind, backend.config));
            }
        }
        let kind = block.kind.to_string();
        let wrong = |name: &str, problem| BackendError::Setting {
            backend: kind.clone(),
            name: name.to_owned(),
            problem,
        };
        if let Some(nested) = block.config.blocks.first() {
            return Err(wrong(&nested.type_name, "is a block, which is not read here"));
        }
        let mut settings = Map::new();
        for attribute in &block.config.attributes {
            let (value, found) = constant(&attribute.expression);
            let json = json(&value).ok().filter(|_| !found.has_errors());
            let json = json.ok_or_else(|| wrong(&attribute.name, "is no constant"))?;
            settings.insert(attribute.name.to_string(), json);
        }
        Ok(BackendSettings::new(kind, settings))
    }

    /// Those of a value, an object or null.
    ///
    /// # Errors
    /// Where it is not wholly known.
    pub fn of_value(kind: &str, value: &Value) -> Result<BackendSettings, JsonError> {
        let mut settings = Map::new();
        for (name, value) in value.as_map().into_iter().flatten() {
            settings.insert(name.to_string(), json(value)?);
        }
        Ok(BackendSettings::new(kind.to_owned(), settings))
    }

    fn new(kind: String, mut settings: Map<String, Json>) -> BackendSettings {
        settings.retain(|_, value| !value.is_null());
        BackendSettings { kind, settings }
    }

    pub(super) fn wrong(&self, name: &str, problem: &'static str) -> BackendError {
        BackendError::Setting { backend: self.kind.clone(), name: name.to_owned(), problem }
    }

    /// Refuses what is neither used nor known to do nothing for a reader.
    pub(super) fn check(&self, used: &[&str], ignored: &[&str]) -> Result<(), BackendError> {
        let unknown = self.settings.iter().find(|(name, value)| {
            let known = used.contains(&name.as_str()) || ignored.contains(&name.as_str());
            // As if it were not set.
            let empty = matches!(value, Json::Bool(false))
                || value.as_str().is_some_and(str::is_empty)
                || value.as_array().is_some_and(Vec::is_empty);
            !known && !empty
        });
        match unknown {
            None => Ok(()),
            Some((name, _)) => Err(self.wrong(
                name,
                "is not known here: fetch the state with \"terraform state pull\" instead",
            )),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, BackendError> {
        match self.settings.get(name) {
            None => Ok(None),
            Some(Json::String(text)) if text.is_empty() => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "is no text")),
        }
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, BackendError> {
        self.text(name)?.ok_or_else(|| self.wrong(name, "is not set"))
    }

    pub(super) fn switch(&self, name: &str) -> Result<bool, BackendError> {
        match self.settings.get(name) {
            None => Ok(false),
            Some(Json::Bool(on)) => Ok(*on),
            Some(Json::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(_) => Err(self.wrong(name, "is neither true nor false")),
        }
    }

    /// Texts by name, in a map or an object.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<(&str, &str)>, BackendError> {
        let Some(value) = self.settings.get(name) else { return Ok(Vec::new()) };
        let entries = value.as_object().ok_or_else(|| self.wrong(name, "is no map"))?;
        let set = entries.iter().filter(|(_, value)| !value.is_null());
        set.map(|(key, value)| {
            let text =
                value.as_str().ok_or_else(|| self.wrong(name, "has a value that is no text"))?;
            Ok((key.as_str(), text))
        })
        .collect()
    }
}

fn json(value: &Value) -> Result<Json, JsonError> {
    let value = value.unmark_deep();
    let text = to_json(&value, &value.ty())?;
    serde_json::from_str(&text).map_err(|error| JsonError(error.to_string()))
}
