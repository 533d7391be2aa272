use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::{ObjectType, Type};

/// Types nest no deeper than this in a schema.
const MAX_DEPTH: usize = 256;

/// Reads a type as schemas carry it: `"string"`, `["list","bool"]`, `["object",{...}]`.
///
/// # Errors
/// What is wrong with it.
pub fn type_from_json(json: &[u8]) -> Result<Type, String> {
    let json: Json = serde_json::from_slice(json).map_err(|e| format!("invalid type: {e}"))?;
    read(&json, 0)
}

/// Writes what [`type_from_json`] reads.
pub fn type_to_json(ty: &Type) -> Vec<u8> {
    write(ty).to_string().into_bytes()
}

fn read(json: &Json, depth: usize) -> Result<Type, String> {
    let wrong = || format!("invalid type: {json}");
    if depth > MAX_DEPTH {
        return Err(format!("a type nests deeper than {MAX_DEPTH} levels"));
    }
    let parts = match json {
        Json::String(name) => {
            return match name.as_str() {
                "string" => Ok(Type::String),
                "number" => Ok(Type::Number),
                "bool" => Ok(Type::Bool),
                "dynamic" => Ok(Type::Dynamic),
                _ => Err(wrong()),
            };
        }
        Json::Array(parts) => parts,
        _ => return Err(wrong()),
    };
    let (kind, rest) = parts.split_first().ok_or_else(wrong)?;
    let inner = rest.first().ok_or_else(wrong)?;
    let element = || read(inner, depth + 1);
    match kind.as_str() {
        Some("list") => Ok(Type::list(element()?)),
        Some("set") => Ok(Type::set(element()?)),
        Some("map") => Ok(Type::map(element()?)),
        Some("tuple") => {
            let items = inner.as_array().ok_or_else(wrong)?;
            let items = items.iter().map(|t| read(t, depth + 1)).collect::<Result<Vec<_>, _>>()?;
            Ok(Type::tuple(items))
        }
        Some("object") => {
            let attributes = inner.as_object().ok_or_else(wrong)?;
            let attributes = attributes
                .iter()
                .map(|(k, t)| Ok((Arc::from(k.as_str()), read(t, depth + 1)?)))
                .collect::<Result<BTreeMap<Arc<str>, Type>, String>>()?;
            let optional =
                match rest.get(1) {
                    None => BTreeSet::new(),
                    Some(names) => {
                        let names = names.as_array().ok_or_else(wrong)?.iter();
                        names
                            .map(|n| n.as_str().map(Arc::from).ok_or_else(wrong))
                            .collect::<Result<BTreeSet<Arc<str>>, String>>()?
                    }
                };
            Ok(Type::Object(Arc::new(ObjectType { attributes, optional })))
        }
        _ => Err(wrong()),
    }
}

fn write(ty: &Type) -> Json {
    match ty {
        Type::Dynamic => "dynamic".into(),
        Type::Bool => "bool".into(),
        Type::Number => "number".into(),
        Type::String => "string".into(),
        Type::List(t) => Json::Array(vec!["list".into(), write(t)]),
        Type::Set(t) => Json::Array(vec!["set".into(), write(t)]),
        Type::Map(t) => Json::Array(vec!["map".into(), write(t)]),
        Type::Tuple(ts) => {
            Json::Array(vec!["tuple".into(), Json::Array(ts.iter().map(write).collect())])
        }
        Type::Object(o) => {
            let attributes = o.attributes.iter().map(|(k, t)| (k.to_string(), write(t))).collect();
            let mut parts = vec!["object".into(), Json::Object(attributes)];
            if !o.optional.is_empty() {
                parts.push(Json::Array(o.optional.iter().map(|n| Json::from(&**n)).collect()));
            }
            Json::Array(parts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_back() {
        for text in [
            r#""dynamic""#,
            r#"["list","string"]"#,
            r#"["set",["map","number"]]"#,
            r#"["tuple",["bool",["list","dynamic"]]]"#,
            r#"["object",{"a":"string","b":["object",{}]}]"#,
            r#"["object",{"a":"string"},["a"]]"#,
        ] {
            let ty = type_from_json(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(type_to_json(&ty)).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for text in
            ["", "1", r#""str""#, "[]", r#"["list"]"#, r#"["list","x"]"#, r#"["object",[]]"#]
        {
            assert!(type_from_json(text.as_bytes()).is_err(), "{text}");
        }
        let deep = format!("{}\"string\"{}", r#"["list","#.repeat(100), "]".repeat(100));
        assert!(type_from_json(deep.as_bytes()).is_ok());
    }
}
