//! Functions over collections of any kind: counting, searching, choosing.

use super::FunctionContext;
use super::arguments::{elements, equal, integer, number, quoted_unless_marked, text};
use super::call::{CallError, Function, Parameter, ParameterType};
use unicode_segmentation::UnicodeSegmentation;
use values::convert::{convert, unify};
use values::{Kind, Number, Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "alltrue",
        "Whether all elements are true; true where there are none.",
        &[Parameter::new("list", ParameterType::ListOfBool)],
        ParameterType::Bool,
        alltrue,
    ),
    Function::new(
        "anytrue",
        "Whether any element is true; false where there are none.",
        &[Parameter::new("list", ParameterType::ListOfBool)],
        ParameterType::Bool,
        anytrue,
    ),
    Function::new(
        "coalesce",
        "The first argument that is neither null nor an empty string.",
        &[],
        ParameterType::Any,
        coalesce,
    )
    .variadic(&Parameter::any("vals").null().unknown().dynamic())
    .typed_by(|a| {
        let types: Vec<Type> = a.iter().map(Value::ty).collect();
        let unified = if types.is_empty() { None } else { unify(&types) };
        unified.ok_or_else(|| CallError::other("all arguments must have the same type"))
    }),
    Function::new(
        "coalescelist",
        "The first list that is not empty.",
        &[],
        ParameterType::Any,
        coalescelist,
    )
    .variadic(
        &Parameter::any("vals").null().unknown().dynamic().described("Lists or tuples, in order."),
    )
    .typed_by(coalescelist_type),
    Function::new(
        "contains",
        "Whether a list, tuple or set has an element of a value.",
        &[Parameter::any("list"), Parameter::any("value")],
        ParameterType::Any,
        contains,
    )
    .typed_by(|_| Ok(Type::Bool)),
    Function::new(
        "element",
        "The element of a list at a position, which wraps around at the end.",
        &[Parameter::any("list").marked(), Parameter::number("index")],
        ParameterType::Any,
        element,
    )
    .maybe_null()
    .typed_by(element_type),
    Function::new(
        "index",
        "The position of the first element of a value in a list.",
        &[Parameter::any("list"), Parameter::any("value")],
        ParameterType::Any,
        index,
    )
    .typed_by(|_| Ok(Type::Number)),
    Function::new(
        "length",
        "How many elements a collection has, or characters a string.",
        &[Parameter::any("value").unknown().dynamic().marked()],
        ParameterType::Number,
        length,
    )
    .typed_by(|a| match a.first().map(Value::ty) {
        Some(Type::Bool | Type::Number) => Err(CallError::other(
            "argument must be a string, a collection type, or a structural type",
        )),
        _ => Ok(Type::Number),
    }),
    Function::new(
        "lookup",
        "The element of a map at a key, or a default where there is none.",
        &[
            Parameter::any("inputMap").marked_even_unknown(),
            Parameter::string("key").marked_even_unknown(),
        ],
        ParameterType::Any,
        lookup,
    )
    .variadic(&Parameter::any("default").null().unknown().dynamic().marked())
    .maybe_null()
    .typed_by(lookup_type),
    Function::new(
        "one",
        "The only element of a list, set or tuple; null where it is empty.",
        &[Parameter::any("list")],
        ParameterType::Any,
        one,
    )
    .maybe_null()
    .typed_by(|a| match a.first().map(Value::ty) {
        Some(Type::List(t) | Type::Set(t)) => Ok((*t).clone()),
        Some(Type::Tuple(types)) if types.len() < 2 => {
            Ok(types.first().cloned().unwrap_or(Type::Dynamic))
        }
        _ => Err(not_one()),
    }),
    Function::new("sum", "The sum of numbers.", &[Parameter::any("list")], ParameterType::Any, sum)
        .typed_by(|_| Ok(Type::Number)),
];

fn alltrue(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    for element in elements(a, 0) {
        if !element.is_known() {
            return Ok(Value::unknown(ty.clone()));
        }
        if element.as_bool() != Some(true) {
            return Ok(Value::bool(false));
        }
    }
    Ok(Value::bool(true))
}

fn anytrue(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let elements = elements(a, 0);
    if elements.iter().any(|e| e.as_bool() == Some(true)) {
        return Ok(Value::bool(true));
    }
    match elements.iter().all(Value::is_known) {
        true => Ok(Value::bool(false)),
        false => Ok(Value::unknown(ty.clone())),
    }
}

fn coalesce(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    for (i, value) in a.iter().enumerate() {
        let value = convert(value, ty).map_err(|e| CallError::argument(i, e.to_string()))?;
        if !value.is_known() {
            return Ok(Value::unknown(ty.clone()));
        }
        if !value.is_null() && value.as_str() != Some("") {
            return Ok(value);
        }
    }
    Err(CallError::other("no non-null, non-empty-string arguments"))
}

fn coalescelist_type(a: &[Value]) -> Result<Type, CallError> {
    let Some(first) = a.first() else {
        return Err(CallError::other("at least one argument is required"));
    };
    for value in a {
        if !value.is_known() {
            return Ok(Type::Dynamic);
        }
        if !matches!(value.ty(), Type::List(_) | Type::Tuple(_)) {
            return Err(CallError::other("coalescelist arguments must be lists or tuples"));
        }
    }
    let first = first.ty();
    Ok(if a.iter().all(|v| v.ty() == first) { first } else { Type::Dynamic })
}

fn coalescelist(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    for value in a {
        if !value.is_known() {
            return Ok(Value::unknown(ty.clone()));
        }
        if value.as_slice().is_some_and(|elements| !elements.is_empty()) {
            return Ok(value.clone());
        }
    }
    Err(CallError::other("no non-null arguments"))
}

fn contains(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let [list, wanted] = a else { return Err(CallError::other("wrong number of arguments")) };
    let Some(elements) = list.as_slice() else {
        return Err(CallError::other("argument must be list, tuple, or set"));
    };
    let mut unknown = false;
    for element in elements {
        match equal(wanted, element) {
            Some(true) => return Ok(Value::bool(true)),
            Some(false) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { Value::unknown(ty.clone()) } else { Value::bool(false) })
}

/// The position that `element` looks at in a sequence of a length. Below zero it counts from the end; in a
/// tuple, only where that is its beginning.
fn wrapped(a: &[Value], length: usize) -> Result<usize, CallError> {
    let index = integer(a, 1).map_err(|e| CallError::other(format!("invalid index: {e}")))?;
    if length == 0 {
        return Err(CallError::other("cannot use element function with an empty list"));
    }
    let index = index.rem_euclid(length as i64);
    let from_end = integer(a, 1).is_ok_and(|given| given < 0) && index != 0;
    if from_end && matches!(a.first().map(Value::ty), Some(Type::Tuple(_))) {
        return Err(CallError::other("invalid index: must not be negative"));
    }
    usize::try_from(index).map_err(|_| CallError::other("invalid index: must not be negative"))
}

fn element_type(a: &[Value]) -> Result<Type, CallError> {
    let [list, index] = a else { return Ok(Type::Dynamic) };
    match list.ty() {
        Type::List(t) => Ok((*t).clone()),
        Type::Tuple(_) if !index.is_known() => Ok(Type::Dynamic),
        Type::Tuple(types) => {
            let index = wrapped(a, types.len())?;
            Ok(types.get(index).cloned().unwrap_or(Type::Dynamic))
        }
        ty => Err(CallError::other(format!("cannot read elements from {}", ty.friendly_name()))),
    }
}

fn element(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let elements = elements(a, 0);
    let index = wrapped(a, elements.len())?;
    let found = elements.get(index).cloned().unwrap_or_else(|| Value::unknown(ty.clone()));
    Ok(found.with_marks(a.first().map(Value::marks).unwrap_or_default()))
}

fn index(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let [list, wanted] = a else { return Err(CallError::other("wrong number of arguments")) };
    if !matches!(list.ty(), Type::List(_) | Type::Tuple(_)) {
        return Err(CallError::other("argument must be a list or tuple"));
    }
    let elements = elements(a, 0);
    if elements.is_empty() {
        return Err(CallError::other("cannot search an empty list"));
    }
    for (i, element) in elements.iter().enumerate() {
        match equal(element, wanted) {
            Some(true) => return Ok(Value::number(i)),
            Some(false) => {}
            None => return Ok(Value::unknown(ty.clone())),
        }
    }
    Err(CallError::other("item not found"))
}

fn length(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(value) = a.first() else { return Err(CallError::other("wrong number of arguments")) };
    let characters = |s: &str| s.graphemes(true).count();
    let result = match value.kind() {
        Kind::String(s) => Value::number(characters(s)),
        Kind::Unknown(Type::String, refinement) => {
            let prefix = refinement.as_ref().and_then(|r| r.string_prefix.as_deref());
            let least = Number::from(prefix.map_or(0, characters));
            Value::unknown(ty.clone()).refine().not_null().number_min(&least, true).finish()
        }
        _ => value.length().unwrap_or_else(|| Value::unknown(ty.clone())),
    };
    Ok(result.with_marks(value.marks()))
}

fn lookup_type(a: &[Value]) -> Result<Type, CallError> {
    let (Some(map), Some(key)) = (a.first(), a.get(1)) else { return Ok(Type::Dynamic) };
    if a.len() > 3 {
        let message = format!("lookup() takes two or three arguments, got {}", a.len());
        return Err(CallError::other(message));
    }
    let default = a.get(2);
    match map.ty() {
        Type::Object(object) => {
            let Some(key_text) = key.as_str() else { return Ok(Type::Dynamic) };
            match (object.attributes.get(key_text), default) {
                (Some(ty), _) => Ok(ty.clone()),
                (None, Some(default)) => Ok(default.ty()),
                (None, None) => {
                    let key = quoted_unless_marked(key_text, key.marks());
                    let message = format!("the given object has no attribute {key}");
                    Err(CallError::argument(0, message))
                }
            }
        }
        Type::Map(element) => match default.map(|d| convert(d, &element)) {
            Some(Err(_)) => Err(CallError::argument(
                2,
                "the default value must have the same type as the map elements",
            )),
            _ => Ok((*element).clone()),
        },
        _ => Err(CallError::argument(0, "lookup() requires a map as the first argument")),
    }
}

fn lookup(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let (Some(map), Some(key)) = (a.first(), a.get(1)) else {
        return Err(CallError::other("wrong number of arguments"));
    };
    let marks = map.marks() | key.marks();
    if let Some(found) = map.as_map().and_then(|m| m.get(text(a, 1))) {
        return Ok(found.clone().with_marks(marks));
    }
    match a.get(2) {
        Some(default) => {
            let default = convert(default, ty).map_err(|e| CallError::other(e.to_string()))?;
            Ok(default.with_marks(marks))
        }
        None => Err(CallError::other(format!(
            "lookup failed to find key {}",
            quoted_unless_marked(text(a, 1), key.marks())
        ))),
    }
}

fn not_one() -> CallError {
    let message = "must be a list, set, or tuple value with either zero or one elements";
    CallError::argument(0, message)
}

fn one(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    match elements(a, 0) {
        [] => Ok(Value::null(ty.clone())),
        [only] => Ok(only.clone()),
        // Unknown elements of a set may turn out to be the same.
        _ if a.first().is_some_and(|v| !v.is_wholly_known() && matches!(v.ty(), Type::Set(_))) => {
            Ok(Value::unknown(ty.clone()))
        }
        _ => Err(not_one()),
    }
}

fn sum(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(collection) = a.first() else { return Err(CallError::other("nothing to sum")) };
    let refuse = |message: String| CallError::argument(0, message);
    let count = match collection.kind() {
        Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => e.len(),
        Kind::Map(_, e) | Kind::Object(e) => e.len(),
        _ => return Err(refuse("cannot sum noniterable".into())),
    };
    if count == 0 {
        return Err(refuse("cannot sum an empty list".into()));
    }
    let Some(elements) = collection.as_slice() else {
        let received = collection.ty().friendly_name();
        return Err(refuse(format!("argument must be list, set, or tuple. Received {received}")));
    };
    if !collection.is_wholly_known() {
        return Ok(Value::unknown(ty.clone()));
    }
    let mut total: Option<Number> = None;
    for element in elements {
        let converted = convert(element, &Type::Number).unwrap_or_else(|_| element.clone());
        let next = number(std::slice::from_ref(&converted), 0)
            .map_err(|_| refuse("argument must be list, set, or tuple of number values".into()))?;
        let sum = total.as_ref().map_or_else(|| Some(next.clone()), |t| t.add(next));
        total =
            Some(sum.ok_or_else(|| CallError::other("can't compute sum of opposing infinities"))?);
    }
    Ok(total.map_or_else(|| Value::unknown(ty.clone()), Value::number))
}
