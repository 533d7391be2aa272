//! Functions that make lists and tuples out of others.

use super::FunctionContext;
use super::arguments::{MOST_ELEMENTS, elements, equal, integer, number};
use super::call::{CallError, Function, Parameter, ParameterType};
use std::collections::BTreeSet;
use values::convert::{convert, unify};
use values::{Marks, Number, Refinement, Type, Value};

const LIST: Parameter = Parameter::new("list", ParameterType::List);

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "chunklist",
        "Cuts a list into lists of a size.",
        &[
            LIST.marked(),
            Parameter::number("size")
                .marked()
                .described("How long each part is at most: only the last one may be shorter."),
        ],
        ParameterType::ListOfList,
        chunklist,
    )
    .typed_by(|a| Ok(Type::list(type_of(a, 0)))),
    Function::new(
        "compact",
        "A list of strings without those that are empty or null.",
        &[Parameter::new("list", ParameterType::ListOfString)],
        ParameterType::ListOfString,
        compact,
    ),
    Function::new("concat", "Lists or tuples, one after another.", &[], ParameterType::Any, concat)
        .variadic(&Parameter::any("seqs").marked())
        .typed_by(concat_type),
    Function::new(
        "distinct",
        "A list without the elements that occurred before.",
        &[LIST],
        ParameterType::List,
        distinct,
    )
    .typed_by(|a| Ok(type_of(a, 0))),
    Function::new(
        "flatten",
        "Replaces the sequences in a sequence by their elements, at any depth.",
        &[Parameter::any("list").marked()],
        ParameterType::Any,
        flatten,
    )
    .typed_by(flatten_type),
    Function::new(
        "matchkeys",
        "The elements of a list whose counterparts in a list of keys are wanted.",
        &[
            Parameter::new("values", ParameterType::List),
            Parameter::new("keys", ParameterType::List),
            Parameter::new("searchset", ParameterType::List),
        ],
        ParameterType::List,
        matchkeys,
    )
    .typed_by(|a| match unify(&[type_of(a, 1), type_of(a, 2)]) {
        Some(_) => Ok(type_of(a, 0)),
        None => Err(CallError::other("keys and searchset must be of the same type")),
    }),
    Function::new(
        "range",
        "Numbers from a start to before a limit, a step apart.",
        &[],
        ParameterType::ListOfNumber,
        range,
    )
    .variadic(&Parameter::number("params")),
    Function::new(
        "reverse",
        "A sequence in reverse order.",
        &[Parameter::any("list").marked()],
        ParameterType::Any,
        reverse,
    )
    .typed_by(reverse_type),
    Function::new(
        "slice",
        "The elements of a list from one position to before another.",
        &[
            Parameter::any("list").marked(),
            Parameter::number("start_index"),
            Parameter::number("end_index"),
        ],
        ParameterType::Any,
        slice,
    )
    .typed_by(slice_type),
    Function::new(
        "sort",
        "A list of strings in the order of their code points.",
        &[Parameter::new("list", ParameterType::ListOfString).unknown()],
        ParameterType::ListOfString,
        sort,
    ),
];

fn type_of(a: &[Value], index: usize) -> Type {
    a.get(index).map_or(Type::Dynamic, Value::ty)
}
fn marks_of(a: &[Value], index: usize) -> Marks {
    a.get(index).map(Value::marks).unwrap_or_default()
}
fn element_type(ty: &Type) -> Type {
    ty.element().cloned().unwrap_or(Type::Dynamic)
}
/// A sequence of a type that is a list or a tuple.
fn sequence(ty: &Type, items: Vec<Value>) -> Value {
    match ty {
        Type::List(element) => Value::list((**element).clone(), items),
        _ => Value::tuple(items),
    }
}

fn chunklist(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let size = integer(a, 1).map_err(|e| CallError::other(format!("invalid size: {e}")))?;
    let size = usize::try_from(size)
        .map_err(|_| CallError::other("the size argument must be positive"))?;
    let list_type = element_type(ty);
    let items = elements(a, 0);
    let size = if size == 0 { items.len().max(1) } else { size };
    let chunks = items.chunks(size).map(|c| sequence(&list_type, c.to_vec())).collect();
    Ok(Value::list(list_type, chunks).with_marks(marks_of(a, 0) | marks_of(a, 1)))
}

fn compact(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let items = elements(a, 0);
    if !items.iter().all(Value::is_known) {
        return Ok(Value::unknown(ty.clone()));
    }
    let kept = items.iter().filter(|v| v.as_str().is_some_and(|s| !s.is_empty()));
    Ok(Value::list(Type::String, kept.cloned().collect()))
}

fn concat_type(a: &[Value]) -> Result<Type, CallError> {
    let types: Vec<Type> = a.iter().map(Value::ty).collect();
    if types.is_empty() {
        return Err(CallError::other("at least one argument is required"));
    }
    if types.iter().all(|t| matches!(t, Type::List(_)))
        && let Some(common) = unify(&types)
    {
        return Ok(common);
    }
    let mut members = Vec::new();
    for (i, (value, ty)) in a.iter().zip(&types).enumerate() {
        match (ty, value.as_slice()) {
            (Type::Tuple(types), _) => members.extend(types.iter().cloned()),
            (Type::List(_), None) => return Ok(Type::Dynamic),
            (Type::List(element), Some(items)) => {
                members.extend(std::iter::repeat_n((**element).clone(), items.len()));
            }
            _ => {
                let got = ty.friendly_name();
                let message = format!("all arguments must be lists or tuples; got {got}");
                return Err(CallError::argument(i, message));
            }
        }
    }
    Ok(Type::tuple(members))
}

fn concat(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let marks = a.iter().fold(Marks::NONE, |m, v| m | v.marks());
    let mut items = Vec::new();
    for (i, value) in a.iter().enumerate() {
        let converted = match ty {
            Type::List(_) if value.ty() != *ty => {
                &convert(value, ty).map_err(|e| CallError::argument(i, e.to_string()))?
            }
            _ => value,
        };
        items.extend_from_slice(converted.as_slice().unwrap_or_default());
    }
    Ok(sequence(ty, items).with_marks(marks))
}

fn distinct(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let items = elements(a, 0);
    if !items.iter().all(Value::is_wholly_known) {
        return Ok(Value::unknown(ty.clone()));
    }
    let mut seen = BTreeSet::new();
    let kept = items.iter().filter(|v| seen.insert(*v)).cloned().collect();
    Ok(sequence(ty, kept))
}

/// What flattening came to so far.
struct Flattened {
    items: Vec<Value>,
    marks: Marks,
    known: bool,
}

impl Flattened {
    fn of(value: &Value) -> Flattened {
        let mut flattened = Flattened { items: Vec::new(), marks: Marks::NONE, known: true };
        flattened.add(value);
        flattened
    }
    fn add(&mut self, sequence: &Value) {
        self.marks = self.marks | sequence.marks();
        // An unknown set element may turn out to equal another.
        let Some(items) = sequence.as_slice().filter(|items| {
            items.len() < 2 || sequence.is_wholly_known() || !matches!(sequence.ty(), Type::Set(_))
        }) else {
            self.known = false;
            return;
        };
        for item in items {
            match item.ty() {
                Type::Dynamic if !item.is_known() => self.known = false,
                Type::List(_) | Type::Set(_) | Type::Tuple(_) if !item.is_null() => self.add(item),
                _ => self.items.push(item.clone()),
            }
        }
    }
}

fn flatten_type(a: &[Value]) -> Result<Type, CallError> {
    let Some(value) = a.first() else { return Ok(Type::Dynamic) };
    if !value.is_wholly_known() {
        return Ok(Type::Dynamic);
    }
    match value.ty() {
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => {}
        _ => return Err(CallError::other("can only flatten lists, sets and tuples")),
    }
    let flattened = Flattened::of(value);
    Ok(Type::tuple(flattened.items.iter().map(Value::ty).collect::<Vec<_>>()))
}

fn flatten(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(value) = a.first() else { return Ok(Value::unknown(ty.clone())) };
    if !matches!(value.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_)) {
        return Err(CallError::other("can only flatten lists, sets and tuples"));
    }
    let Flattened { items, marks, known } = Flattened::of(value);
    match known {
        true => Ok(Value::tuple(items).with_marks(marks)),
        false => Ok(Value::unknown(ty.clone()).with_marks(marks)),
    }
}

fn matchkeys(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let [values, keys, wanted] = a else {
        return Err(CallError::other("wrong number of arguments"));
    };
    let items = elements(a, 0);
    if items.len() != elements(a, 1).len() {
        return Err(CallError::other("length of keys and values should be equal"));
    }
    let common = unify(&[keys.ty(), wanted.ty()]).unwrap_or(Type::Dynamic);
    let to_common =
        |value: &Value| convert(value, &common).map_err(|e| CallError::other(e.to_string()));
    let (keys, wanted) = (to_common(keys)?, to_common(wanted)?);
    let (keys, wanted) =
        (keys.as_slice().unwrap_or_default(), wanted.as_slice().unwrap_or_default());
    if wanted.is_empty() {
        return Ok(sequence(ty, Vec::new()));
    }
    if !values.is_wholly_known() || !keys.iter().all(Value::is_wholly_known) {
        return Ok(Value::unknown(ty.clone()));
    }
    let mut found = Vec::new();
    for (item, key) in items.iter().zip(keys) {
        for wanted in wanted {
            match equal(key, wanted) {
                Some(true) => {
                    found.push(item.clone());
                    break;
                }
                Some(false) => {}
                // Terraform gives up here, with an empty list.
                None => return Ok(sequence(ty, Vec::new())),
            }
        }
    }
    Ok(sequence(ty, found))
}

fn range(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    const MOST: usize = 1024;
    let one = |down: bool| Number::from(if down { -1i64 } else { 1 });
    let zero = Number::from(0i64);
    let (start, end, step) = match a.len() {
        1 => (zero.clone(), number(a, 0)?.clone(), one(*number(a, 0)? < zero)),
        2 => {
            let (start, end) = (number(a, 0)?, number(a, 1)?);
            (start.clone(), end.clone(), one(end < start))
        }
        3 => (number(a, 0)?.clone(), number(a, 1)?.clone(), number(a, 2)?.clone()),
        _ => return Err(CallError::other("must have one, two, or three arguments")),
    };
    let down = step < zero;
    if down && end > start {
        let message = "end must be less than start when step is negative";
        return Err(CallError::argument(1, message));
    }
    if !down && end < start {
        let message = "end must be greater than start when step is positive";
        return Err(CallError::argument(1, message));
    }
    let mut numbers = Vec::new();
    let mut next = start;
    while if down { next > end } else { next < end } {
        if numbers.len() >= MOST {
            return Err(CallError::other(format!(
                "more than {MOST} values were generated; either decrease the difference between start and end or use a smaller step"
            )));
        }
        let after = next.add(&step);
        numbers.push(Value::number(next));
        next = after.ok_or_else(|| CallError::other("the step leads nowhere"))?;
    }
    Ok(Value::list(Type::Number, numbers))
}

fn reverse_type(a: &[Value]) -> Result<Type, CallError> {
    match type_of(a, 0) {
        Type::Tuple(types) => Ok(Type::tuple(types.iter().rev().cloned().collect::<Vec<_>>())),
        Type::List(element) | Type::Set(element) => Ok(Type::List(element)),
        ty => {
            let got = ty.friendly_name();
            let message = format!("can only reverse list or tuple values, not {got}");
            Err(CallError::argument(0, message))
        }
    }
}

fn reverse(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let reversed = elements(a, 0).iter().rev().cloned().collect();
    Ok(sequence(ty, reversed).with_marks(marks_of(a, 0)))
}

/// Start and end as far as they are known, checked against each other and the length.
fn bounds(a: &[Value]) -> Result<(Option<usize>, Option<usize>), CallError> {
    let length = match (type_of(a, 0), a.first().and_then(Value::as_slice)) {
        (Type::Tuple(types), _) => Some(types.len()),
        (_, items) => items.map(<[Value]>::len),
    };
    let bound = |index: usize, name: &str| -> Result<Option<usize>, CallError> {
        if !a.get(index).is_some_and(Value::is_known) {
            return Ok(None);
        }
        let refuse = |message: String| CallError::argument(index, message);
        let i = integer(a, index).map_err(|e| refuse(format!("invalid {name}: {e}")))?;
        let i =
            usize::try_from(i).map_err(|_| refuse(format!("{name} must not be less than zero")))?;
        match length {
            Some(length) if i > length => {
                Err(refuse(format!("{name} must not be greater than the length of the list")))
            }
            _ => Ok(Some(i)),
        }
    };
    let (start, end) = (bound(1, "start index")?, bound(2, "end index")?);
    match (start, end) {
        (Some(start), Some(end)) if start > end => {
            Err(CallError::argument(1, "start index must not be greater than end index"))
        }
        bounds => Ok(bounds),
    }
}

fn slice_type(a: &[Value]) -> Result<Type, CallError> {
    let ty = type_of(a, 0);
    match &ty {
        Type::Set(_) => {
            return Err(CallError::argument(
                0,
                "cannot slice a set, because its elements do not have indices; explicitly convert to a list if the ordering of the result is not important",
            ));
        }
        Type::List(_) | Type::Tuple(_) => {}
        _ => return Err(CallError::argument(0, "must be a list or tuple value")),
    }
    let bounds = bounds(a)?;
    match (&ty, bounds) {
        (Type::Tuple(types), (Some(start), Some(end))) => {
            Ok(Type::tuple(types.get(start..end).unwrap_or_default().to_vec()))
        }
        (Type::Tuple(_), _) => Ok(Type::Dynamic),
        _ => Ok(ty),
    }
}

fn slice(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let (Some(start), Some(end)) = bounds(a)? else {
        return Ok(Value::unknown(ty.clone()).with_marks(marks_of(a, 0)));
    };
    let items = elements(a, 0).get(start..end).unwrap_or_default().to_vec();
    Ok(sequence(ty, items).with_marks(marks_of(a, 0)))
}

fn sort(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(list) = a.first() else { return Ok(Value::unknown(ty.clone())) };
    if !list.is_wholly_known() {
        // The length does not change by sorting.
        let given = list.refinement();
        let known = list.as_slice().map(|items| items.len() as u64);
        let least = known.or(given.and_then(|r| r.length_min));
        let most = known.or(given.and_then(|r| r.length_max));
        return Ok(match least.zip(most) {
            Some((least, most)) if least == most && least <= MOST_ELEMENTS as u64 => {
                Value::list(Type::String, vec![Value::unknown(Type::String); least as usize])
            }
            _ => Value::unknown_refined(
                ty.clone(),
                Refinement {
                    not_null: true,
                    length_min: least,
                    length_max: most,
                    ..Refinement::default()
                },
            ),
        });
    }
    let mut items = elements(a, 0).to_vec();
    if let Some(i) = items.iter().position(Value::is_null) {
        return Err(CallError::other(format!(
            "given list element {i} is null; a null string cannot be sorted"
        )));
    }
    items.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    Ok(Value::list(Type::String, items))
}

/// Whether a result of so many elements may be made.
pub(super) fn check_count(count: usize) -> Result<(), CallError> {
    match count > MOST_ELEMENTS {
        true => Err(CallError::other(format!(
            "the result would have {count} elements, and more than {MOST_ELEMENTS} are refused"
        ))),
        false => Ok(()),
    }
}
