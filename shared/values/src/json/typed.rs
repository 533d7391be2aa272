use super::plain::{key, read_number};
use super::reader::{Reader, Start};
use super::types::{read_type, write_type};
use super::writer::{write_items, write_string};
use super::{JsonError, Result, error};
use crate::convert::settle_elements;
use crate::stack::deep;
use crate::{Kind, Path, PathStep, Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes a known value compactly, numbers digit for digit. Marks are dropped: callers decide what
/// may be shown.
///
/// `ty` is the type that a reader will have: below [`Type::Dynamic`] a `{"value","type"}` pair is
/// written, as Terraform does. A value of another type is converted.
///
/// # Errors
/// Where something is unknown or infinite, or does not convert.
pub fn to_json(value: &Value, ty: &Type) -> Result<String> {
    let converted = match crate::convert::convert(value, ty) {
        Ok(v) => v,
        Err(e) => return error(e.with_path()),
    };
    let mut out = String::new();
    write(&mut out, &converted, ty)?;
    Ok(out)
}

fn write(out: &mut String, value: &Value, ty: &Type) -> Result<()> {
    if let Kind::Unknown(..) = value.kind() {
        return error("value is not known");
    }
    deep(|| match (value.kind(), ty) {
        (_, Type::Dynamic) => {
            let own = value.ty();
            if own == Type::Dynamic {
                out.push_str("null");
                return Ok(());
            }
            out.push_str("{\"value\":");
            write(out, value, &own)?;
            out.push_str(",\"type\":");
            write_type(out, &own);
            out.push('}');
            Ok(())
        }
        (Kind::List(_, e), Type::List(t)) | (Kind::Set(_, e), Type::Set(t)) => {
            write_items(out, ['[', ']'], e.iter(), |out, v| write(out, v, t))
        }
        (Kind::Tuple(e), Type::Tuple(types)) => {
            write_items(out, ['[', ']'], e.iter().zip(types.iter()), |out, (v, t)| write(out, v, t))
        }
        (Kind::Map(_, e), Type::Map(t)) => {
            write_items(out, ['{', '}'], e.iter(), |out, (name, v)| {
                write_string(out, name);
                out.push(':');
                write(out, v, t)
            })
        }
        (Kind::Object(e), Type::Object(o)) => {
            write_items(out, ['{', '}'], e.iter(), |out, (name, v)| {
                write_string(out, name);
                out.push(':');
                write(out, v, o.attributes.get(name).unwrap_or(&Type::Dynamic))
            })
        }
        _ => super::plain::write_plain(out, value),
    })
}

/// Reads what [`to_json`] wrote. Attributes that are absent are null.
///
/// # Errors
/// Where the text is not JSON or not of the type; the message begins with the path.
pub fn from_json(text: &[u8], ty: &Type) -> Result<Value> {
    let mut reader = Reader::new(text);
    let value = read(&mut reader, &ty.without_optional(), &mut Vec::new())?;
    reader.end("extraneous data after JSON value")?;
    Ok(value)
}

fn fail<T>(path: &[PathStep], message: &str) -> Result<T> {
    match path {
        [] => error(message),
        steps => error(format!("{}: {message}", Path(steps.to_vec()))),
    }
}

/// A type that may be read (optional attributes have no meaning for values).
fn read(r: &mut Reader<'_>, ty: &Type, path: &mut Vec<PathStep>) -> Result<Value> {
    let start = r.start()?;
    if start == Start::Null {
        r.null()?;
        return Ok(Value::null(ty.without_optional()));
    }
    match (ty, start) {
        (Type::Dynamic, Start::Object) => read_dynamic(r, path),
        (Type::Bool, Start::Bool) => Ok(Value::bool(r.bool()?)),
        (Type::Bool, Start::String) => {
            let text = Value::string(r.string()?);
            crate::convert::convert(&text, ty).or_else(|e| fail(path, &e.message))
        }
        (Type::Bool, _) => fail(path, "bool is required"),
        (Type::Number, Start::Number) => {
            read_number(r.number()?).or_else(|e: JsonError| fail(path, &e.0))
        }
        (Type::Number, Start::String) => {
            read_number(&r.string()?).or_else(|e: JsonError| fail(path, &e.0))
        }
        (Type::Number, _) => fail(path, "number is required"),
        (Type::String, Start::String) => Ok(Value::string(r.string()?)),
        (Type::String, Start::Number) => Ok(Value::string(r.number()?)),
        (Type::String, Start::Bool) => Ok(Value::string(if r.bool()? { "true" } else { "false" })),
        (Type::String, _) => fail(path, "string is required"),
        (Type::List(t) | Type::Set(t), Start::Array) => {
            let mut items = Vec::new();
            r.array(|r, i| {
                path.push(PathStep::Index(i));
                items.push(read(r, t, path)?);
                path.pop();
                Ok(())
            })?;
            let Some(element) = settle_elements(t, items.iter_mut()) else {
                return fail(path, "all elements must have the same type");
            };
            Ok(match ty {
                Type::List(_) => Value::list(element, items),
                _ => Value::set(element, items),
            })
        }
        (Type::List(_), _) => fail(path, "a list is required"),
        (Type::Set(_), _) => fail(path, "a set is required"),
        (Type::Map(t), Start::Object) => {
            let mut items = BTreeMap::new();
            r.object(|r, name| {
                let name = key(&name);
                path.push(PathStep::Key(name.clone()));
                items.insert(name, read(r, t, path)?);
                path.pop();
                Ok(())
            })?;
            match settle_elements(t, items.values_mut()) {
                Some(element) => Ok(Value::map(element, items)),
                None => fail(path, "all elements must have the same type"),
            }
        }
        (Type::Map(_), _) => fail(path, "a map is required"),
        (Type::Tuple(types), Start::Array) => {
            let mut items = Vec::new();
            r.array(|r, i| {
                let Some(t) = types.get(i) else {
                    let message = format!("too many tuple elements (need {})", types.len());
                    return fail(path, &message);
                };
                path.push(PathStep::Index(i));
                items.push(read(r, t, path)?);
                path.pop();
                Ok(())
            })?;
            if items.len() < types.len() {
                let message = format!("not enough tuple elements (need {})", types.len());
                return fail(path, &message);
            }
            Ok(Value::tuple(items))
        }
        (Type::Tuple(_), _) => fail(path, "a tuple is required"),
        (Type::Object(o), Start::Object) => {
            let mut items: BTreeMap<Arc<str>, Value> = BTreeMap::new();
            r.object(|r, name| {
                let Some((name, t)) = o.attributes.get_key_value(&*name) else {
                    return fail(path, &format!("unsupported attribute {name:?}"));
                };
                path.push(PathStep::Attribute(name.clone()));
                items.insert(name.clone(), read(r, t, path)?);
                path.pop();
                Ok(())
            })?;
            for (name, t) in &o.attributes {
                if !items.contains_key(name) {
                    items.insert(name.clone(), Value::null(t.without_optional()));
                }
            }
            Ok(Value::object(items))
        }
        (Type::Object(_), _) => fail(path, "an object is required"),
        (Type::Dynamic, _) => fail(path, "a dynamically-typed value is required"),
    }
}

fn read_dynamic(r: &mut Reader<'_>, path: &mut Vec<PathStep>) -> Result<Value> {
    let mut ty = None;
    let mut body = None;
    r.object(|r, name| {
        match &*name {
            "type" => ty = Some(read_type(r)?),
            // The type may come after the value.
            "value" => body = Some(r.skip()?),
            other => {
                let message = format!("invalid key {other:?} in dynamically-typed value");
                return fail(path, &message);
            }
        }
        Ok(())
    })?;
    let Some(ty) = ty else {
        return fail(path, "missing type in dynamically-typed value");
    };
    let Some(body) = body else {
        return fail(path, "missing value in dynamically-typed value");
    };
    deep(|| read(&mut Reader::new(body), &ty.without_optional(), path))
}
