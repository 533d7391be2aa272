//! Explicit conversion to a type, and sensitivity.

use super::call::{CallError, Function, Parameter, ParameterType};
use values::convert::{Safety, conversion_exists, convert};
use values::quote::quoted;
use values::{Kind, Marks, Type, Value};

const VALUE: Parameter = Parameter::any("value").null().unknown().dynamic().marked();
const V: &[Parameter] = &[Parameter::any("v").null().dynamic().marked_even_unknown()];

macro_rules! conversion {
    ($name:literal, $description:literal, $ty:expr) => {
        Function::new($name, $description, V, $ty, |_, a, ty| to(a, ty)).maybe_null().typed_by(
            |a| match a.first() {
                Some(value) => convertible(value, $ty.ty()),
                None => Ok($ty.ty()),
            },
        )
    };
}

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "ephemeralasnull",
        "The same value with null for what is ephemeral.",
        &[VALUE],
        ParameterType::Any,
        |_, a, ty| Ok(a.first().map_or_else(|| Value::null(ty.clone()), without_ephemeral)),
    )
    .maybe_null()
    .typed_by(same_type),
    Function::new(
        "issensitive",
        "Whether a value is sensitive.",
        &[VALUE],
        ParameterType::Bool,
        |_, a, ty| {
            Ok(match a.first() {
                Some(v) if v.marks().is_sensitive() => Value::bool(true),
                Some(v) if !v.is_known() => Value::unknown(ty.clone()),
                _ => Value::bool(false),
            })
        },
    ),
    Function::new(
        "nonsensitive",
        "The same value, no longer sensitive.",
        &[VALUE],
        ParameterType::Any,
        |_, a, ty| {
            let value = a.first().cloned().unwrap_or_else(|| Value::null(ty.clone()));
            Ok(value.unmark().with_marks(value.marks().without(Marks::SENSITIVE)))
        },
    )
    .maybe_null()
    .typed_by(same_type),
    Function::new(
        "sensitive",
        "The same value, hidden wherever it would be shown.",
        &[VALUE],
        ParameterType::Any,
        |_, a, ty| Ok(a.first().cloned().unwrap_or_else(|| Value::null(ty.clone())).sensitive()),
    )
    .maybe_null()
    .typed_by(same_type),
    conversion!("tobool", "Converts a value to a bool.", ParameterType::Bool),
    conversion!("tolist", "Converts a value to a list.", ParameterType::List),
    conversion!("tomap", "Converts a value to a map.", ParameterType::Map),
    conversion!("tonumber", "Converts a value to a number.", ParameterType::Number),
    conversion!("toset", "Converts a value to a set.", ParameterType::Set),
    conversion!("tostring", "Converts a value to a string.", ParameterType::String),
];

fn same_type(a: &[Value]) -> Result<Type, CallError> {
    Ok(a.first().map_or(Type::Dynamic, Value::ty))
}

fn refusal(got: &Type, want: &Type) -> CallError {
    let (got, want) = (got.friendly_name(), want.friendly_constraint_name());
    CallError::argument(0, format!("cannot convert {got} to {want}"))
}

/// The type of the result, if values of the argument's type convert at all.
fn convertible(value: &Value, want: Type) -> Result<Type, CallError> {
    let got = value.ty();
    match conversion_exists(&got, &want, Safety::Unsafe) {
        true => Ok(want),
        false => Err(refusal(&got, &want)),
    }
}

fn to(a: &[Value], want: &Type) -> Result<Value, CallError> {
    let Some(value) = a.first() else { return Ok(Value::null(want.clone())) };
    convert(value, want).map_err(|_| {
        let marks = value.deep_marks();
        let got = value.ty();
        let hidden = match (marks.is_ephemeral(), marks.is_sensitive()) {
            (true, _) => Some("ephemeral"),
            (_, true) => Some("sensitive"),
            _ => None,
        };
        if let Some(hidden) = hidden {
            let (got, want) = (got.friendly_name(), want.friendly_constraint_name());
            let message = format!("cannot convert this {hidden} {got} to {want}");
            return CallError::argument(0, message);
        }
        let expected = match want {
            Type::Bool => "bool; only the strings \"true\" or \"false\" are allowed",
            Type::Number => "number; given string must be a decimal representation of a number",
            _ => return refusal(&got, want),
        };
        match value.as_str() {
            Some(s) => {
                CallError::argument(0, format!("cannot convert {} to {expected}", quoted(s)))
            }
            None => refusal(&got, want),
        }
    })
}

fn without_ephemeral(value: &Value) -> Value {
    if !value.deep_marks().is_ephemeral() {
        return value.clone();
    }
    let marks = value.marks().without(Marks::EPHEMERAL);
    if !value.marks().is_ephemeral() {
        return value.map_children(&mut |_, v| without_ephemeral(v));
    }
    match value.kind() {
        // Its final type may be more precise than this one, so it cannot be null yet.
        Kind::Unknown(ty, _) => Value::unknown(ty.clone()).with_marks(marks),
        _ => Value::null(value.ty()).with_marks(marks),
    }
}
