use super::reader::{Reader, Start};
use super::writer::{write_items, write_string};
use super::{Result, error};
use crate::stack::deep;
use crate::{Kind, Number, Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes a known value as `jsonencode` does: compactly and without types. Marks are dropped.
///
/// # Errors
/// Where something is unknown or infinite.
pub fn encode(value: &Value) -> Result<String> {
    let mut out = String::new();
    write_plain(&mut out, value)?;
    Ok(out)
}

pub(super) fn write_plain(out: &mut String, value: &Value) -> Result<()> {
    deep(|| match value.kind() {
        Kind::Unknown(..) => error("value is not known"),
        Kind::Null(_) => {
            out.push_str("null");
            Ok(())
        }
        Kind::Bool(b) => {
            out.push_str(if *b { "true" } else { "false" });
            Ok(())
        }
        Kind::Number(n) if n.is_infinite() => error("cannot serialize infinity as JSON"),
        Kind::Number(n) => {
            out.push_str(&n.to_string());
            Ok(())
        }
        Kind::String(s) => {
            write_string(out, s);
            Ok(())
        }
        Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => {
            write_items(out, ['[', ']'], e.iter(), write_plain)
        }
        Kind::Map(_, e) | Kind::Object(e) => {
            write_items(out, ['{', '}'], e.iter(), |out, (name, v)| {
                write_string(out, name);
                out.push(':');
                write_plain(out, v)
            })
        }
    })
}

/// Reads JSON as `jsondecode` does: objects become objects, arrays tuples.
///
/// # Errors
/// Where the text is not JSON, in Terraform's words.
pub fn decode(text: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(text);
    let value = read_plain(&mut reader)?;
    reader.end("extraneous data after JSON object")?;
    Ok(value)
}

/// The type of what [`decode`] gives.
///
/// # Errors
/// As [`decode`].
pub fn implied_type(text: &[u8]) -> Result<Type> {
    decode(text).map(|v| v.ty())
}

pub(super) fn read_number(digits: &str) -> Result<Value> {
    match Number::parse(digits) {
        Some(n) => Ok(Value::number(n)),
        None => error("a number is required"),
    }
}

/// An attribute name or map key, in normal form.
pub(super) fn key(name: &str) -> Arc<str> {
    match Value::string(name).kind() {
        Kind::String(s) => s.clone(),
        _ => Arc::from(name),
    }
}

fn read_plain(r: &mut Reader<'_>) -> Result<Value> {
    Ok(match r.start()? {
        Start::Null => {
            r.null()?;
            Value::dynamic_null()
        }
        Start::Bool => Value::bool(r.bool()?),
        Start::Number => read_number(r.number()?)?,
        Start::String => Value::string(r.string()?),
        Start::Array => {
            let mut items = Vec::new();
            r.array(|r, _| {
                items.push(read_plain(r)?);
                Ok(())
            })?;
            Value::tuple(items)
        }
        Start::Object => {
            let mut items = BTreeMap::new();
            r.object(|r, name| {
                items.insert(key(&name), read_plain(r)?);
                Ok(())
            })?;
            Value::object(items)
        }
    })
}
