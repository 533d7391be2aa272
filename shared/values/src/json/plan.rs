use crate::stack::deep;
use crate::{Kind, Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

fn object(items: BTreeMap<Arc<str>, Value>) -> Value {
    Value::object(items)
}

fn is_false(v: &Value) -> bool {
    matches!(v.kind(), Kind::Bool(false))
}

/// Replaces each element, leaving out attributes and map elements that become `None` of
/// `keep`; sequences become tuples and maps objects, since elements differ in type then.
fn transform(value: &Value, keep: &dyn Fn(&Value) -> Option<Value>) -> Value {
    match value.kind() {
        Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => Value::tuple(
            e.iter().map(|v| keep(v).unwrap_or_else(|| Value::null(v.ty()))).collect::<Vec<_>>(),
        ),
        Kind::Map(_, e) | Kind::Object(e) => {
            object(e.iter().filter_map(|(k, v)| Some((k.clone(), keep(v)?))).collect())
        }
        _ => value.unmark(),
    }
}

/// What `after_unknown` in a plan's JSON shows: `true` where the value is unknown. Known attributes
/// and map elements are left out, known elements of sequences are `false`.
#[must_use]
pub fn unknown_as_bool(value: &Value) -> Value {
    deep(|| match value.kind() {
        Kind::Unknown(..) => Value::bool(true),
        Kind::Null(_) | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Value::bool(false),
        Kind::Map(..) | Kind::Object(_) => {
            transform(value, &|v| Some(unknown_as_bool(v)).filter(|b| !is_false(b)))
        }
        _ => transform(value, &|v| Some(unknown_as_bool(v))),
    })
}

/// What `before_sensitive`, `after_sensitive` and `sensitive_values` show: `true` where the value is
/// sensitive. Other attributes and map elements are left out, other elements of sequences are
/// `false`.
#[must_use]
pub fn sensitive_as_bool(value: &Value) -> Value {
    if value.marks().is_sensitive() {
        return Value::bool(true);
    }
    deep(|| match value.kind() {
        Kind::Unknown(Type::List(_) | Type::Set(_) | Type::Tuple(_), _) => Value::tuple([]),
        Kind::Unknown(Type::Map(_) | Type::Object(_), _) => Value::empty_object(),
        Kind::Unknown(..) | Kind::Null(_) | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => {
            Value::bool(false)
        }
        Kind::Map(..) | Kind::Object(_) => {
            transform(value, &|v| Some(sensitive_as_bool(v)).filter(|b| !is_false(b)))
        }
        _ => transform(value, &|v| Some(sensitive_as_bool(v))),
    })
}

/// The known part of a value, as `after` in a plan's JSON: unknown attributes and map elements are
/// left out, unknown elements of sequences are null; `None` where the whole is unknown. Marks are
/// dropped.
pub fn known_part(value: &Value) -> Option<Value> {
    deep(|| match value.kind() {
        Kind::Unknown(..) => None,
        _ => Some(transform(value, &known_part)),
    })
}
