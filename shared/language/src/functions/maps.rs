//! Functions over maps and objects.

use super::FunctionContext;
use super::arguments::elements;
use super::call::{CallError, Function, Parameter, ParameterType};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::quote::quoted;
use values::{Marks, Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "keys",
        "The keys of a map or the attribute names of an object, sorted.",
        &[Parameter::any("inputMap").unknown().marked().described("A map or an object.")],
        ParameterType::Any,
        keys,
    )
    .typed_by(|a| match a.first().map(Value::ty) {
        Some(Type::Map(_)) => Ok(Type::list(Type::String)),
        Some(Type::Object(o)) => Ok(Type::tuple(vec![Type::String; o.attributes.len()])),
        _ => Err(CallError::argument(0, "must have map or object type")),
    }),
    Function::new(
        "merge",
        "One map or object of the elements of all; later ones win.",
        &[],
        ParameterType::Any,
        merge,
    )
    .variadic(&Parameter::any("maps").null().dynamic().marked())
    .typed_by(merge_type),
    Function::new(
        "transpose",
        "Swaps keys and values of a map of lists of strings.",
        &[Parameter::new("values", ParameterType::MapOfListOfString)],
        ParameterType::MapOfListOfString,
        transpose,
    ),
    Function::new(
        "values",
        "The elements of a map or the attributes of an object, in the order of their keys.",
        &[Parameter::any("mapping").marked()],
        ParameterType::Any,
        values,
    )
    .typed_by(|a| match a.first().map(Value::ty) {
        Some(Type::Map(element)) => Ok(Type::List(element)),
        Some(Type::Object(o)) => {
            Ok(Type::tuple(o.attributes.values().cloned().collect::<Vec<_>>()))
        }
        _ => Err(CallError::other("values() requires a map as the first argument")),
    }),
    Function::new(
        "zipmap",
        "A map or object of a list of keys and a list of values.",
        &[
            Parameter::new("keys", ParameterType::ListOfString).marked(),
            Parameter::any("values").marked(),
        ],
        ParameterType::Any,
        zipmap,
    )
    .typed_by(zipmap_type),
];

fn keys(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(map) = a.first() else { return Ok(Value::unknown(ty.clone())) };
    let result = match (map.ty(), map.as_map()) {
        (Type::Object(o), _) => {
            Value::tuple(o.attributes.keys().map(Value::string).collect::<Vec<_>>())
        }
        (_, Some(items)) => Value::list(Type::String, items.keys().map(Value::string).collect()),
        (_, None) => Value::unknown(ty.clone()),
    };
    Ok(result.with_marks(map.marks()))
}

fn merge_type(a: &[Value]) -> Result<Type, CallError> {
    let mut first: Option<Type> = None;
    let mut matching = true;
    let mut attributes: Option<BTreeMap<Arc<str>, Type>> = Some(BTreeMap::new());
    for value in a {
        let ty = match (value.ty(), value.as_map()) {
            (Type::Dynamic, _) => return Ok(Type::Dynamic),
            (Type::Object(_), _) if value.is_null() => Type::empty_object(),
            (Type::Object(o), _) => {
                if let Some(all) = &mut attributes {
                    all.extend(o.attributes.iter().map(|(k, t)| (k.clone(), t.clone())));
                }
                Type::Object(o)
            }
            (Type::Map(element), items) => {
                match (&mut attributes, items) {
                    (Some(all), Some(items)) => {
                        all.extend(items.keys().map(|k| (k.clone(), (*element).clone())));
                    }
                    (_, None) if !value.is_null() => attributes = None,
                    _ => {}
                }
                Type::Map(element)
            }
            (ty, _) => {
                let got = quoted(&ty.friendly_name());
                return Err(CallError::other(format!(
                    "arguments must be maps or objects, got {got}"
                )));
            }
        };
        match &first {
            None => first = Some(ty),
            Some(first) => matching &= ty == *first,
        }
    }
    match (first, attributes) {
        (None, _) => Ok(Type::empty_object()),
        (Some(first), _) if matching => Ok(first),
        (_, None) => Ok(Type::Dynamic),
        (_, Some(attributes)) => Ok(Type::object(attributes)),
    }
}

fn merge(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let marks = a.iter().filter(|v| !v.is_null()).fold(Marks::NONE, |m, v| m | v.marks());
    let items = a.iter().filter_map(Value::as_map).flatten();
    let merged: BTreeMap<Arc<str>, Value> = items.map(|(k, v)| (k.clone(), v.clone())).collect();
    Ok(match ty {
        Type::Map(element) => Value::map((**element).clone(), merged),
        _ => Value::object(merged),
    }
    .with_marks(marks))
}

fn transpose(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(map) = a.first().filter(|m| m.is_wholly_known()) else {
        return Ok(Value::unknown(ty.clone()));
    };
    let mut out: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (key, list) in map.as_map().into_iter().flatten() {
        let Some(items) = list.as_slice() else {
            return Err(CallError::other("input must not contain null list"));
        };
        for item in items {
            let Some(item) = item.as_str() else {
                return Err(CallError::other("input list must not contain null string"));
            };
            // Keys come in order, so each list is sorted already.
            out.entry(item).or_default().push(Value::shared_string(key.clone()));
        }
    }
    let lists = out.into_iter().map(|(k, keys)| (k, Value::list(Type::String, keys)));
    Ok(Value::map(Type::list(Type::String), lists))
}

fn values(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(map) = a.first() else { return Ok(Value::unknown(ty.clone())) };
    let items: Vec<Value> = map.as_map().into_iter().flatten().map(|(_, v)| v.clone()).collect();
    Ok(match ty {
        Type::List(element) => Value::list((**element).clone(), items),
        _ => Value::tuple(items),
    }
    .with_marks(map.marks()))
}

fn lengths_differ(keys: usize, values: usize) -> CallError {
    CallError::other(format!("number of keys ({keys}) does not match number of values ({values})"))
}

fn null_key(index: usize) -> CallError {
    CallError::other(format!("keys list has null value at index {index}"))
}

fn zipmap_type(a: &[Value]) -> Result<Type, CallError> {
    let [keys, values] = a else { return Ok(Type::Dynamic) };
    match values.ty() {
        Type::List(element) => Ok(Type::Map(element)),
        Type::Tuple(_) if !keys.is_wholly_known() => Ok(Type::Dynamic),
        Type::Tuple(types) => {
            let names = elements(a, 0);
            if names.len() != types.len() {
                return Err(lengths_differ(names.len(), types.len()));
            }
            let mut attributes: BTreeMap<Arc<str>, Type> = BTreeMap::new();
            for (i, (name, ty)) in names.iter().zip(types.iter()).enumerate() {
                attributes.insert(name.as_str().ok_or_else(|| null_key(i))?.into(), ty.clone());
            }
            Ok(Type::object(attributes))
        }
        _ => Err(CallError::other("values argument must be a list or tuple value")),
    }
}

fn zipmap(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let [keys, values] = a else { return Ok(Value::unknown(ty.clone())) };
    let (names, items) = (elements(a, 0), elements(a, 1));
    let mut marks = keys.marks() | values.marks();
    if !keys.is_wholly_known() {
        return Ok(Value::unknown(ty.clone()).with_marks(marks));
    }
    if names.len() != items.len() {
        return Err(lengths_differ(names.len(), items.len()));
    }
    let mut zipped: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for (i, (name, item)) in names.iter().zip(items).enumerate() {
        // Keys carry no marks of their own in the result.
        marks = marks | name.marks();
        zipped.insert(name.as_str().ok_or_else(|| null_key(i))?.into(), item.clone());
    }
    Ok(match ty {
        Type::Map(element) => Value::map((**element).clone(), zipped),
        _ => Value::object(zipped),
    }
    .with_marks(marks))
}
