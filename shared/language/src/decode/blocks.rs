//! Nested blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use values::convert::{convert, unify};
use values::schema::{NestedBlock, Nesting};
use values::{Type, Value};

use super::{Place, dynamic};
use crate::diagnostics::Diagnostic;
use crate::evaluate::Evaluator;
use crate::source::Span;
use crate::syntax::ast::Body;
use crate::syntax::quote;

pub(super) fn value(
    evaluator: &mut Evaluator<'_>,
    body: &Body,
    name: &str,
    schema: &NestedBlock,
    place: Place<'_>,
) -> Value {
    match schema.nesting {
        Nesting::Single | Nesting::Group => single(evaluator, body, name, schema, place),
        Nesting::List | Nesting::Set => sequence(evaluator, body, name, schema, place),
        Nesting::Map => keyed(evaluator, body, name, schema, place),
    }
}

fn single(
    evaluator: &mut Evaluator<'_>,
    body: &Body,
    name: &str,
    schema: &NestedBlock,
    place: Place<'_>,
) -> Value {
    let mut found: Option<(Value, Span)> = None;
    dynamic::each(evaluator, body, name, 0, place, &mut |evaluator, instance| {
        let Some((_, first)) = &found else {
            let value = super::block(evaluator, instance.body, &schema.block, instance.place);
            found = Some((value, instance.header));
            return true;
        };
        let first = evaluator
            .scope
            .map_or_else(String::new, |scope| scope.sources().range(*first).to_string());
        evaluator.diagnostics.push(
            Diagnostic::error(
                format!("Duplicate {name} block"),
                format!(
                    "Only one block of type {name:?} is allowed. Previous definition was at {first}."
                ),
            )
            .at(instance.header),
        );
        false
    });
    if let Some((value, _)) = found {
        return value;
    }
    if schema.min_items == 1 {
        evaluator.diagnostics.push(
            Diagnostic::error(
                format!("Missing {name} block"),
                format!("A block of type {name:?} is required here."),
            )
            .at(body.missing_item_span()),
        );
    }
    schema.empty_value()
}

fn sequence(
    evaluator: &mut Evaluator<'_>,
    body: &Body,
    name: &str,
    schema: &NestedBlock,
    place: Place<'_>,
) -> Value {
    let mut items = Vec::new();
    let mut starts = Vec::new();
    let mut unknown = false;
    dynamic::each(evaluator, body, name, 0, place, &mut |evaluator, instance| {
        let value = super::block(evaluator, instance.body, &schema.block, instance.place);
        unknown |= instance.place.unknown;
        items.push(value.with_marks(instance.place.marks));
        starts.push(instance.body.missing_item_span());
        !unknown
    });
    if unknown {
        return Value::unknown(schema.implied_type());
    }
    let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
    let too_many = usize::try_from(schema.max_items)
        .ok()
        .filter(|max| *max > 0)
        .and_then(|max| starts.get(max));
    if count < schema.min_items {
        evaluator.diagnostics.push(
            Diagnostic::error(
                format!("Insufficient {name} blocks"),
                format!("At least {} {name:?} blocks are required.", schema.min_items),
            )
            .at(body.missing_item_span()),
        );
    } else if let Some(start) = too_many {
        evaluator.diagnostics.push(
            Diagnostic::error(
                format!("Too many {name} blocks"),
                format!("No more than {} {name:?} blocks are allowed", schema.max_items),
            )
            .at(*start),
        );
    }
    if items.is_empty() {
        return schema.empty_value();
    }
    let element = schema.block.implied_type();
    match (schema.nesting, element.has_dynamic()) {
        (Nesting::List, false) => Value::list(element, items),
        (Nesting::List, true) => Value::tuple(items),
        (_, false) => Value::set(element, items),
        (_, true) => set_of_one_type(evaluator, items, name, starts.first().copied()),
    }
}

/// A set whose schema leaves the type of a part open needs one type all the same.
fn set_of_one_type(
    evaluator: &mut Evaluator<'_>,
    items: Vec<Value>,
    name: &str,
    start: Option<Span>,
) -> Value {
    let types: Vec<Type> = items.iter().map(Value::ty).collect();
    let together = unify(&types).and_then(|ty| {
        let items = items.iter().map(|item| convert(item, &ty)).collect::<Result<_, _>>().ok()?;
        Some(Value::set(ty, items))
    });
    together.unwrap_or_else(|| {
        let mut error = Diagnostic::error(
            format!("Unconsistent argument types in {name} blocks"),
            "Corresponding attributes in all blocks of this type must be the same.",
        );
        error.subject = start;
        evaluator.diagnostics.push(error);
        Value::dynamic()
    })
}

fn keyed(
    evaluator: &mut Evaluator<'_>,
    body: &Body,
    name: &str,
    schema: &NestedBlock,
    place: Place<'_>,
) -> Value {
    let mut items: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    let mut unknown = false;
    dynamic::each(evaluator, body, name, 1, place, &mut |evaluator, instance| {
        if instance.place.unknown {
            unknown = true;
            return false;
        }
        let Some(key) = instance.labels.first() else { return true };
        let value = super::block(evaluator, instance.body, &schema.block, instance.place)
            .with_marks(instance.place.marks);
        if items.contains_key(key) {
            let label = quote(key);
            evaluator.diagnostics.push(
                Diagnostic::error(
                    format!("Duplicate {name} block"),
                    format!(
                        "A block for {name} {label} was already defined. The {name} labels must be unique."
                    ),
                )
                .at(instance.header),
            );
        } else {
            items.insert(key.clone(), value);
        }
        true
    });
    if unknown {
        return Value::unknown(schema.implied_type());
    }
    if items.is_empty() {
        return schema.empty_value();
    }
    let element = schema.block.implied_type();
    match element.has_dynamic() {
        true => Value::object(items),
        false => Value::map(element, items),
    }
}
