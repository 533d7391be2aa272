use super::{Body, BodyError, UnknownFields, WrittenBy};
use crate::identifiers::WriteId;
use records::Key;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use values::json::{from_json, to_json};
use values::{Type, Value};

/// The record of one root output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutputBody {
    /// Format of this body.
    pub format: u32,
    /// The output.
    pub name: String,
    /// Fresh at each write.
    pub write_id: WriteId,
    /// Who wrote it.
    pub written_by: WrittenBy,
    /// Its value.
    pub value: Box<RawValue>,
    /// The type of the value, as in Terraform's state.
    #[serde(rename = "type")]
    pub ty: Box<RawValue>,
    /// Whether it must not be shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: UnknownFields,
}

/// A value beside its type, as [`to_json`] writes it below [`Type::Dynamic`].
#[derive(Serialize, Deserialize)]
struct Typed {
    value: Box<RawValue>,
    #[serde(rename = "type")]
    ty: Box<RawValue>,
}

impl Body for OutputBody {
    fn format(&self) -> u32 {
        self.format
    }
}

impl OutputBody {
    /// Splits a value into what is stored of it.
    ///
    /// # Errors
    /// Where the value is ephemeral or not known.
    pub fn value_and_type(
        key: &Key,
        value: &Value,
    ) -> Result<(Box<RawValue>, Box<RawValue>), BodyError> {
        if value.deep_marks().is_ephemeral() {
            return Err(BodyError::unwritable(
                key,
                "its value is ephemeral, which is never stored",
            ));
        }
        let text = match value.ty() {
            // Of what was never known there may be no type: alone, such a null is written without a pair.
            Type::Dynamic if value.is_null() => r#"{"value":null,"type":"dynamic"}"#.to_owned(),
            _ => to_json(value, &Type::Dynamic)
                .map_err(|_| BodyError::unwritable(key, "its value is not known"))?,
        };
        let typed: Typed = serde_json::from_str(&text)
            .map_err(|_| BodyError::unwritable(key, "its value has no type"))?;
        Ok((typed.value, typed.ty))
    }
    /// The value, marked where it is sensitive.
    ///
    /// # Errors
    /// Where the value is not of the type.
    pub fn read_value(&self, key: &Key) -> Result<Value, BodyError> {
        let typed = Typed { value: self.value.clone(), ty: self.ty.clone() };
        let value = serde_json::to_vec(&typed)
            .ok()
            .and_then(|text| from_json(&text, &Type::Dynamic).ok())
            .ok_or_else(|| BodyError::damaged(key, "its value is not of its type"))?;
        Ok(if self.sensitive { value.sensitive() } else { value })
    }
}
