//! Values as expressions: what stands in a configuration in place of what a test has evaluated.

use std::sync::Arc;

use values::{Kind, Value};

use crate::source::Span;
use crate::syntax::ast::{
    Expression, ExpressionKind, Literal, ObjectItem, ObjectKey, Template, TemplatePart, with_stack,
};

/// An expression that gives the value, at a place. Types are those of literals: lists become tuples, maps objects.
/// `None` where the value is not wholly known.
pub(super) fn written(value: &Value, span: Span) -> Option<Expression> {
    let kind = with_stack(|| kind(value, span))?;
    Some(Expression { kind, span })
}

fn kind(value: &Value, span: Span) -> Option<ExpressionKind> {
    let items = |items: &mut dyn Iterator<Item = &Value>| {
        let items: Option<Arc<[Expression]>> = items.map(|item| written(item, span)).collect();
        items.map(ExpressionKind::Tuple)
    };
    Some(match value.kind() {
        Kind::Null(_) => ExpressionKind::Literal(Literal::Null),
        Kind::Bool(value) => ExpressionKind::Literal(Literal::Bool(*value)),
        Kind::Number(number) => ExpressionKind::Literal(Literal::Number(number.to_string().into())),
        Kind::String(text) => text_kind(text.clone(), span),
        Kind::Unknown(..) => return None,
        _ => match (value.as_map(), value.as_slice()) {
            (Some(map), _) => {
                let item = |(name, value): (&Arc<str>, &Value)| {
                    let key = Expression { kind: text_kind(name.clone(), span), span };
                    let key = ObjectKey { expression: key, force_expression: false };
                    Some(ObjectItem { key, value: written(value, span)? })
                };
                let items: Option<Arc<[ObjectItem]>> = map.iter().map(item).collect();
                ExpressionKind::Object(items?)
            }
            (None, Some(elements)) => items(&mut elements.iter())?,
            (None, None) => return None,
        },
    })
}

fn text_kind(text: Arc<str>, span: Span) -> ExpressionKind {
    let parts = [TemplatePart::Literal { text, span }];
    ExpressionKind::Template(Template { parts: Arc::new(parts) })
}
