//! `.tfvars.json`: an object of literal values. Strings are taken as they are.

use std::sync::Arc;

use serde_json::value::RawValue;
use values::{Number, Value};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{FileId, Span};

/// The members of the object, each with the place of its value.
pub(super) fn parse_json_values(
    text: &[u8],
    file: FileId,
) -> (Vec<(Arc<str>, Value, Span)>, Diagnostics) {
    let refused = |summary: &str, detail: String, at: usize| {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        (Vec::new(), Diagnostic::error(summary, detail).at(Span::new(file, at, at)).into())
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return refused("Invalid JSON", "The file is not valid UTF-8.".to_owned(), 0);
    };
    let members: std::collections::BTreeMap<String, &RawValue> = match serde_json::from_str(text) {
        Ok(members) => members,
        Err(error) if error.is_data() => {
            return refused(
                "Incorrect JSON value type",
                "A JSON object is required here, setting the arguments for this block.".to_owned(),
                text.len() - text.trim_start().len(),
            );
        }
        Err(error) => {
            let line = error.line().saturating_sub(1);
            let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            let at = (before + error.column().saturating_sub(1)).min(text.len());
            return refused(
                "Invalid JSON",
                format!("The file cannot be read as JSON: {error}."),
                at,
            );
        }
    };
    let base = text.as_ptr() as usize;
    let mut values = Vec::with_capacity(members.len());
    for (name, raw) in members {
        // A member whose name is `//` is a comment.
        if name == "//" {
            continue;
        }
        let start = (raw.get().as_ptr() as usize).saturating_sub(base);
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span::new(file, offset(start), offset(start + raw.get().len()));
        let Ok(json) = serde_json::from_str::<serde_json::Value>(raw.get()) else { continue };
        values.push((name.into(), value_of(&json), span));
    }
    (values, Diagnostics::new())
}

fn value_of(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::dynamic_null(),
        serde_json::Value::Bool(value) => Value::bool(*value),
        serde_json::Value::Number(number) => {
            Number::parse(&number.to_string()).map_or_else(Value::dynamic, Value::number)
        }
        serde_json::Value::String(text) => Value::string(text),
        serde_json::Value::Array(items) => {
            Value::tuple(items.iter().map(value_of).collect::<Vec<_>>())
        }
        serde_json::Value::Object(members) => Value::object(
            members
                .iter()
                .filter(|(name, _)| *name != "//")
                .map(|(name, value)| (name.as_str(), value_of(value))),
        ),
    }
}
