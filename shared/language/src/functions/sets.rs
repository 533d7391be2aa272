//! Functions over sets.

use super::FunctionContext;
use super::call::{CallError, Function, Parameter, ParameterType};
use super::sequences::check_count;
use std::collections::BTreeSet;
use values::convert::{convert, unify};
use values::{Marks, Refinement, Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "setintersection",
        "The elements that all sets have.",
        &[Parameter::new("first_set", ParameterType::Set).dynamic()],
        ParameterType::Set,
        |_, a, ty| {
            combine(a, ty, |all, next| all.into_iter().filter(|v| next.contains(v)).collect())
        },
    )
    .variadic(&Parameter::new("other_sets", ParameterType::Set).dynamic())
    .typed_by(common_type),
    Function::new(
        "setproduct",
        "All combinations of one element of each sequence.",
        &[],
        ParameterType::Any,
        setproduct,
    )
    .variadic(&Parameter::any("sets").unknown().marked().described(
        "Sets, lists or tuples; the order of the result follows the arguments where none is a set.",
    ))
    .typed_by(setproduct_type),
    Function::new(
        "setsubtract",
        "The elements of the first set that the second has not.",
        &[
            Parameter::new("a", ParameterType::Set).dynamic(),
            Parameter::new("b", ParameterType::Set).dynamic(),
        ],
        ParameterType::Set,
        |_, a, ty| {
            combine(a, ty, |all, next| all.into_iter().filter(|v| !next.contains(v)).collect())
        },
    )
    .typed_by(common_type),
    Function::new(
        "setunion",
        "The elements that any of the sets has.",
        &[Parameter::new("first_set", ParameterType::Set).dynamic()],
        ParameterType::Set,
        setunion,
    )
    .variadic(&Parameter::new("other_sets", ParameterType::Set).dynamic())
    .typed_by(common_type),
];

/// The type of a set that holds the elements of all.
fn common_type(a: &[Value]) -> Result<Type, CallError> {
    let mut types = Vec::new();
    for value in a {
        let element = value.ty().element().cloned().unwrap_or(Type::Dynamic);
        // An empty set without a type converts to any other.
        if element == Type::Dynamic && value.as_slice().is_some_and(<[Value]>::is_empty) {
            continue;
        }
        types.push(element);
    }
    if types.is_empty() {
        return Ok(Type::set(Type::Dynamic));
    }
    let common = unify(&types).map(Type::set);
    common.ok_or_else(|| CallError::other("given sets must all have compatible element types"))
}

fn converted(a: &[Value], ty: &Type) -> Result<Vec<Value>, CallError> {
    let each = |(i, value)| convert(value, ty).map_err(|e| CallError::argument(i, e.to_string()));
    a.iter().enumerate().map(each).collect()
}

/// Combines sets from left to right; unknown elements could be equal to any other, so they make the
/// result unknown.
fn combine(
    a: &[Value],
    ty: &Type,
    step: fn(Vec<Value>, &BTreeSet<&Value>) -> Vec<Value>,
) -> Result<Value, CallError> {
    let sets = converted(a, ty)?;
    if !sets.iter().all(Value::is_wholly_known) {
        return Ok(Value::unknown(ty.clone()));
    }
    let mut items = sets.iter().map(|s| s.as_slice().unwrap_or_default());
    let mut all = items.next().unwrap_or_default().to_vec();
    for next in items {
        all = step(all, &next.iter().collect());
    }
    Ok(Value::set(ty.element().cloned().unwrap_or(Type::Dynamic), all))
}

fn setunion(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let sets = converted(a, ty)?;
    let all = sets.iter().flat_map(|s| s.as_slice().unwrap_or_default()).cloned().collect();
    Ok(Value::set(ty.element().cloned().unwrap_or(Type::Dynamic), all))
}

fn setproduct_type(a: &[Value]) -> Result<Type, CallError> {
    if a.len() < 2 {
        return Err(CallError::other("at least two arguments are required"));
    }
    let mut members = Vec::with_capacity(a.len());
    let mut any_set = false;
    for (i, value) in a.iter().enumerate() {
        members.push(match value.ty() {
            Type::Set(element) => {
                any_set = true;
                (*element).clone()
            }
            Type::List(element) => (*element).clone(),
            Type::Tuple(types) if types.is_empty() => Type::Dynamic,
            Type::Tuple(types) => unify(&types)
                .ok_or_else(|| CallError::argument(i, "all elements must be of the same type"))?,
            _ => return Err(CallError::argument(i, "a set or a list is required")),
        });
    }
    let combination = Type::tuple(members);
    Ok(if any_set { Type::set(combination) } else { Type::list(combination) })
}

fn setproduct(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let marks = a.iter().fold(Marks::NONE, |m, v| m | v.marks());
    let combination = ty.element().cloned().unwrap_or(Type::Dynamic);
    let of = |items| match ty {
        Type::Set(_) => Value::set(combination.clone(), items),
        _ => Value::list(combination.clone(), items),
    };
    let certain_length = |v: &Value| {
        let items = v.as_slice()?;
        let set = matches!(v.ty(), Type::Set(_));
        (!set || items.len() < 2 || v.is_wholly_known()).then_some(items.len())
    };
    if !a.iter().all(|v| certain_length(v).is_some()) {
        return Ok(unknown_product(a, ty).unwrap_or_else(|| of(Vec::new())).with_marks(marks));
    }
    let total = a.iter().filter_map(certain_length).fold(1usize, usize::saturating_mul);
    check_count(total.saturating_mul(a.len()))?;
    let Type::Tuple(types) = &combination else { return Ok(of(Vec::new()).with_marks(marks)) };
    let mut sources = Vec::with_capacity(a.len());
    for (i, (value, ty)) in a.iter().zip(types.iter()).enumerate() {
        let each = |v| convert(v, ty).map_err(|e| CallError::argument(i, e.to_string()));
        let items = value.as_slice().unwrap_or_default();
        sources.push(items.iter().map(each).collect::<Result<Vec<Value>, CallError>>()?);
    }
    let mut products = Vec::with_capacity(total);
    for n in 0..total {
        let mut rest = n;
        let mut members: Vec<Value> = Vec::with_capacity(sources.len());
        for source in sources.iter().rev() {
            members.extend(source.get(rest % source.len()).cloned());
            rest /= source.len();
        }
        members.reverse();
        products.push(Value::tuple(members));
    }
    Ok(of(products).with_marks(marks))
}

/// What is known of a product whose size is not; `None` where it is certainly empty.
fn unknown_product(a: &[Value], ty: &Type) -> Option<Value> {
    const WORTH_KNOWING: u64 = 2048;
    let longest = |v: &Value| match (v.ty(), v.as_slice()) {
        (Type::Tuple(types), _) => Some(types.len() as u64),
        (_, Some(items)) => Some(items.len() as u64),
        (_, None) => v.refinement().and_then(|r| r.length_max),
    };
    let mut most = Some(1u64);
    for value in a {
        let length = longest(value).filter(|l| *l <= 1024);
        most = most.zip(length).map(|(m, l)| m * l).filter(|m| *m <= WORTH_KNOWING);
    }
    match most {
        Some(0) => None,
        Some(most) => Some(Value::unknown_refined(
            ty.clone(),
            Refinement {
                not_null: true,
                length_min: Some(1),
                length_max: Some(most),
                ..Refinement::default()
            },
        )),
        None => Some(Value::unknown(ty.clone())),
    }
}
