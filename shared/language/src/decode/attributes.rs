//! Attributes.

use std::sync::Arc;

use values::convert::convert;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, Nesting};
use values::{ObjectType, Type, Value};

use super::{Place, dynamic};
use crate::diagnostics::Diagnostic;
use crate::evaluate::Evaluator;
use crate::syntax::ast::Body;

pub(super) fn value(
    evaluator: &mut Evaluator<'_>,
    body: &Body,
    name: &str,
    schema: &Attribute,
    place: Place<'_>,
) -> Value {
    let Some(attribute) = body.attribute(name) else {
        return Value::null(schema.implied_type());
    };
    let expression = &attribute.expression;
    let value = match place.unknown {
        true => Value::dynamic(),
        false => evaluator.evaluate(expression, place.locals),
    };
    let value = value.with_marks(place.marks);
    let converted = match &schema.ty {
        AttributeType::Plain(ty) => convert(&value, ty),
        AttributeType::Nested(nested) => convert(&value, &constraint(nested)),
    };
    converted.unwrap_or_else(|error| {
        evaluator.fail(
            Diagnostic::error(
                "Incorrect attribute value type",
                format!("Inappropriate value for attribute {name:?}: {error}."),
            )
            .at(expression.span)
            .within(attribute.name_span.to(expression.span)),
            expression,
            place.locals,
        );
        Value::unknown(schema.implied_type())
    })
}

/// The type that nested attributes are converted to: those that need not be set may be absent.
fn constraint(nested: &NestedAttributes) -> Type {
    let attributes = nested.attributes.iter().map(|(name, attribute)| {
        let ty = match &attribute.ty {
            AttributeType::Plain(ty) => ty.clone(),
            AttributeType::Nested(inner) => constraint(inner),
        };
        (name.clone(), ty)
    });
    let optional = nested
        .attributes
        .iter()
        .filter(|(_, attribute)| attribute.optional || attribute.computed)
        .map(|(name, _)| name.clone());
    let object = Type::Object(Arc::new(ObjectType {
        attributes: attributes.collect(),
        optional: optional.collect(),
    }));
    match nested.nesting {
        Nesting::Single | Nesting::Group => object,
        Nesting::List => Type::list(object),
        Nesting::Set => Type::set(object),
        Nesting::Map => Type::map(object),
    }
}

/// An attribute of a list or set of objects that is written as blocks.
pub(super) fn from_blocks(
    evaluator: &mut Evaluator<'_>,
    body: &Body,
    name: &str,
    schema: &Attribute,
    place: Place<'_>,
) -> Value {
    let AttributeType::Plain(ty) = &schema.ty else {
        return Value::null(schema.implied_type());
    };
    let element = ty.element().cloned().unwrap_or(Type::Dynamic);
    let mut items = Vec::new();
    let mut nested = None;
    dynamic::each(evaluator, body, name, 0, place, &mut |evaluator, instance| {
        let nested = nested.get_or_insert_with(|| element_schema(&element));
        items.push(super::block(evaluator, instance.body, nested, instance.place));
        true
    });
    if items.is_empty() {
        return Value::null(ty.without_optional());
    }
    let list = Value::list(element.without_optional(), items).with_marks(place.marks);
    convert(&list, ty).unwrap_or_else(|_| Value::unknown(ty.without_optional()))
}

/// A schema for blocks that stand for objects of a type: nothing is required, since the type does
/// not say what is.
pub(super) fn element_schema(element: &Type) -> Block {
    let attributes = element.attributes().into_iter().flatten();
    Block {
        attributes: attributes
            .map(|(name, ty)| (name.clone(), Attribute::plain(ty.clone()).optional()))
            .collect(),
        ..Block::default()
    }
}
