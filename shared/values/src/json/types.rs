use super::reader::{Reader, Start};
use super::writer::{write_items, write_string};
use super::{Result, error};
use crate::stack::deep;
use crate::{ObjectType, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

/// A type as JSON: `"string"`, `["list","string"]`, `["object",{…},["optional"]]`, `"dynamic"`.
pub fn type_to_json(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty);
    out
}

pub(super) fn write_type(out: &mut String, ty: &Type) {
    deep(|| match ty {
        Type::Dynamic => out.push_str("\"dynamic\""),
        Type::Bool => out.push_str("\"bool\""),
        Type::Number => out.push_str("\"number\""),
        Type::String => out.push_str("\"string\""),
        Type::List(t) => write_collection(out, "list", t),
        Type::Set(t) => write_collection(out, "set", t),
        Type::Map(t) => write_collection(out, "map", t),
        Type::Tuple(items) => {
            out.push_str("[\"tuple\",");
            infallible(write_items(out, ['[', ']'], items.iter(), |out, t| {
                write_type(out, t);
                Ok(())
            }));
            out.push(']');
        }
        Type::Object(o) => {
            out.push_str("[\"object\",");
            infallible(write_items(out, ['{', '}'], &o.attributes, |out, (name, t)| {
                write_string(out, name);
                out.push(':');
                write_type(out, t);
                Ok(())
            }));
            if !o.optional.is_empty() {
                out.push(',');
                infallible(write_items(out, ['[', ']'], &o.optional, |out, name| {
                    write_string(out, name);
                    Ok(())
                }));
            }
            out.push(']');
        }
    });
}

fn write_collection(out: &mut String, kind: &str, element: &Type) {
    out.push_str("[\"");
    out.push_str(kind);
    out.push_str("\",");
    write_type(out, element);
    out.push(']');
}

fn infallible(result: std::result::Result<(), Infallible>) {
    match result {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Reads what [`type_to_json`] writes.
///
/// # Errors
/// Where the text is not JSON or describes no type.
pub fn type_from_json(text: &[u8]) -> Result<Type> {
    let mut reader = Reader::new(text);
    let ty = read_type(&mut reader)?;
    reader.end("extraneous data after type description")?;
    Ok(ty)
}

pub(super) fn read_type(r: &mut Reader<'_>) -> Result<Type> {
    match r.start()? {
        Start::String => match &*r.string()? {
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            "dynamic" => Ok(Type::Dynamic),
            other => error(format!("invalid primitive type name {other:?}")),
        },
        Start::Array => read_complex(r),
        _ => error("invalid type description"),
    }
}

fn read_complex(r: &mut Reader<'_>) -> Result<Type> {
    let mut kind = String::new();
    let mut ty = None;
    let mut optional = BTreeSet::new();
    r.array(|r, i| {
        match (i, kind.as_str()) {
            (0, _) if r.start()? == Start::String => kind = r.string()?.into_owned(),
            (1, "list") => ty = Some(Type::list(read_type(r)?)),
            (1, "set") => ty = Some(Type::set(read_type(r)?)),
            (1, "map") => ty = Some(Type::map(read_type(r)?)),
            (1, "tuple") if r.start()? == Start::Array => {
                let mut items = Vec::new();
                r.array(|r, _| {
                    items.push(read_type(r)?);
                    Ok(())
                })?;
                ty = Some(Type::tuple(items));
            }
            (1, "object") if r.start()? == Start::Object => {
                let mut attributes: BTreeMap<Arc<str>, Type> = BTreeMap::new();
                r.object(|r, name| {
                    attributes.insert(Arc::from(name.as_ref()), read_type(r)?);
                    Ok(())
                })?;
                ty = Some(Type::object(attributes));
            }
            (2, "object") if r.start()? == Start::Array => r.array(|r, _| {
                if r.start()? != Start::String {
                    return error("an optional attribute's name must be a string");
                }
                optional.insert(Arc::from(r.string()?.as_ref()));
                Ok(())
            })?,
            (0, _) | (1, _) => return error("invalid complex type kind name"),
            _ => return error("unexpected extra data in type description"),
        }
        Ok(())
    })?;
    match ty {
        Some(Type::Object(o)) if !optional.is_empty() => {
            if let Some(name) = optional.iter().find(|n| !o.attributes.contains_key(*n)) {
                return error(format!("optional attribute {name:?} is not an attribute"));
            }
            let attributes = o.attributes.clone();
            Ok(Type::Object(Arc::new(ObjectType { attributes, optional })))
        }
        Some(ty) => Ok(ty),
        None => error("invalid complex type description"),
    }
}
