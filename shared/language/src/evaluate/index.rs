//! Attributes and elements of values.

use values::convert::convert;
use values::{Kind, Type, Value};

use super::{Evaluator, Locals, Tracked};
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Expression, Index};

type Step = Result<Value, Box<Diagnostic>>;

impl Evaluator<'_> {
    pub(super) fn index(
        &mut self,
        node: &Index,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Tracked {
        let Tracked { value: collection, open } = self.evaluate_tracked(&node.collection, locals);
        let key = self.evaluate(&node.key, locals);
        let narrowed = self.narrow_by_key(open, &key);
        match index(&collection, &key, node.bracket_span) {
            Ok(value) => Tracked { value, open: open.filter(|_| narrowed) },
            Err(error) => {
                self.fail(*error, expression, locals);
                Value::dynamic().into()
            }
        }
    }
}

fn refused(summary: &str, detail: impl Into<String>, span: Span) -> Step {
    Err(Box::new(Diagnostic::error(summary, detail).at(span)))
}

const UNSUPPORTED: &str = "Unsupported attribute";
const INVALID: &str = "Invalid index";

/// `value.name`
pub(super) fn attribute(value: &Value, name: &str, span: Span) -> Step {
    if value.is_null() {
        return refused(
            "Attempt to get attribute from null value",
            "This value is null, so it does not have any attributes.",
            span,
        );
    }
    match value.kind() {
        Kind::Object(_) => value.attribute(name).map_or_else(|| no_attribute(name, span), Ok),
        Kind::Map(_, elements) => match elements.get(name) {
            Some(element) => Ok(element.clone().with_marks(value.marks())),
            None => refused(
                "Missing map element",
                format!("This map does not have an element with the key {name:?}."),
                span,
            ),
        },
        _ => attribute_by_type(value, name, span),
    }
}

fn no_attribute(name: &str, span: Span) -> Step {
    refused(UNSUPPORTED, format!("This object does not have an attribute named {name:?}."), span)
}

fn attribute_by_type(value: &Value, name: &str, span: Span) -> Step {
    match value.ty() {
        Type::Dynamic => Ok(Value::dynamic().with_marks(value.marks())),
        Type::Object(_) => value.attribute(name).map_or_else(|| no_attribute(name, span), Ok),
        Type::Map(element) => Ok(Value::unknown((*element).clone()).with_marks(value.marks())),
        Type::List(element) if element.attributes().is_some() => {
            let known = element.attributes().is_some_and(|names| names.contains_key(name));
            let what = if known { format!("attribute {name:?}") } else { "an attribute".into() };
            refused(
                UNSUPPORTED,
                format!(
                    "Can't access attributes on a list of objects. Did you mean to access {what} for a specific element of the list, or across all elements of the list?"
                ),
                span,
            )
        }
        Type::Set(element) if element.attributes().is_some() => refused(
            UNSUPPORTED,
            "Can't access attributes on a set of objects. Did you mean to access an attribute across all elements of the set?",
            span,
        ),
        ty if ty.is_primitive() => refused(
            UNSUPPORTED,
            format!("Can't access attributes on a primitive-typed value ({}).", ty.friendly_name()),
            span,
        ),
        _ => refused(UNSUPPORTED, "This value does not have any attributes.", span),
    }
}

/// `collection[key]`
pub(super) fn index(collection: &Value, key: &Value, span: Span) -> Step {
    if collection.is_null() {
        return refused(
            "Attempt to index null value",
            "This value is null, so it does not have any indices.",
            span,
        );
    }
    if key.is_null() {
        return refused(INVALID, "Can't use a null value as an indexing key.", span);
    }
    let ty = collection.ty();
    if ty == Type::Dynamic || key.ty() == Type::Dynamic {
        return Ok(Value::dynamic().with_marks(collection.marks()));
    }
    match &ty {
        Type::List(_) | Type::Tuple(_) => {
            let key = converted(key, &Type::Number, span)?;
            sequence(collection, &ty, &key, span)
        }
        Type::Map(element) => {
            let key = converted(key, &Type::String, span)?;
            let unknown = || Value::unknown((**element).clone()).with_marks(collection.marks());
            match (collection.as_map(), key.as_str()) {
                (Some(elements), Some(name)) => match elements.get(name) {
                    Some(found) => Ok(found.clone().with_marks(collection.marks() | key.marks())),
                    None => not_found(span),
                },
                _ => Ok(unknown()),
            }
        }
        Type::Object(_) => {
            let by_number = key.ty() == Type::Number;
            let key = converted(key, &Type::String, span)?;
            // Of an object that is not known, a key says nothing; a name does.
            let Some(name) = key.as_str().filter(|_| collection.is_known()) else {
                return Ok(Value::dynamic().with_marks(collection.marks()));
            };
            match collection.attribute(name) {
                Some(value) => Ok(value),
                None if by_number => refused(
                    INVALID,
                    "The given key does not identify an element in this collection value. An object only supports looking up attributes by name, not by numeric index.",
                    span,
                ),
                None => not_found(span),
            }
        }
        Type::Set(_) => refused(
            INVALID,
            "Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set.",
            span,
        ),
        _ => refused(INVALID, "This value does not have any indices.", span),
    }
}

fn not_found(span: Span) -> Step {
    refused(INVALID, "The given key does not identify an element in this collection value.", span)
}

fn converted(key: &Value, ty: &Type, span: Span) -> Step {
    convert(key, ty).or_else(|error| {
        refused(
            INVALID,
            format!(
                "The given key does not identify an element in this collection value: {error}."
            ),
            span,
        )
    })
}

fn sequence(collection: &Value, ty: &Type, key: &Value, span: Span) -> Step {
    let Some(number) = key.as_number() else {
        let unknown = match ty {
            Type::List(element) => Value::unknown((**element).clone()),
            _ => Value::dynamic(),
        };
        return Ok(unknown.with_marks(collection.marks()));
    };
    let position = number.to_u64().and_then(|at| usize::try_from(at).ok());
    let marks = collection.marks() | key.marks();
    let length = match (collection.as_slice(), ty) {
        (Some(items), _) => {
            if let Some(item) = position.and_then(|at| items.get(at)) {
                return Ok(item.clone().with_marks(marks));
            }
            items.len()
        }
        (None, Type::Tuple(types)) => {
            if let Some(item) = position.and_then(|at| types.get(at)) {
                return Ok(Value::unknown(item.clone()).with_marks(marks));
            }
            types.len()
        }
        (None, _) => {
            let element = ty.element().cloned().unwrap_or(Type::Dynamic);
            return Ok(Value::unknown(element).with_marks(collection.marks()));
        }
    };
    let why = if !number.is_integer() {
        ": indexing a sequence requires a whole number, but the given index has a fractional part."
    } else if number.is_negative() {
        ": a negative number is not a valid index for a sequence."
    } else if !collection.marks().is_empty() || !collection.is_known() {
        "."
    } else if length == 0 && position == Some(0) {
        ": the collection has no elements."
    } else if position == Some(length) {
        ": the given index is greater than or equal to the length of the collection."
    } else {
        "."
    };
    refused(
        INVALID,
        format!("The given key does not identify an element in this collection value{why}"),
        span,
    )
}
