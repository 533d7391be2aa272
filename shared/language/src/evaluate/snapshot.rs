//! What an expression saw, in words for a diagnostic about it.

use std::fmt::Write as _;

use values::{Kind, Type, Value};

use super::locals::Found;
use super::{Locals, index, traversal};
use crate::diagnostics::Cause;
use crate::reference::{Visit, visit_traversals};
use crate::scope::Scope;
use crate::syntax::ast::{Expression, Traversal, TraversalStep};
use crate::syntax::quote;

/// References in the expression with statements about their values, sorted. Confidential values
/// are named only where `cause` says that they are the point.
pub(super) fn describe(
    scope: Option<&dyn Scope>,
    expression: &Expression,
    locals: Locals<'_>,
    cause: Option<Cause>,
) -> Vec<(String, String)> {
    let mut statements: Vec<(String, String)> = Vec::new();
    visit_traversals(expression, None, &mut |visit| {
        let Visit::Traversal(traversal) = visit else { return };
        let Some((text, value)) = longest_prefix(scope, traversal, locals) else { return };
        if statements.iter().any(|(seen, _)| *seen == text) {
            return;
        }
        if let Some(statement) = statement(&value, cause) {
            statements.push((text, statement));
        }
    });
    statements.sort();
    statements
}

/// The value of as much of a traversal as has one.
fn longest_prefix(
    scope: Option<&dyn Scope>,
    traversal: &std::sync::Arc<Traversal>,
    locals: Locals<'_>,
) -> Option<(String, Value)> {
    let (mut value, steps) = match (locals.find(&traversal.root), scope) {
        (Found::Local(value, _), _) => (value.clone(), &traversal.steps[..]),
        (Found::Outside, Some(scope)) => {
            let reference = scope.parse(traversal).ok()?;
            let value = scope.value(&reference).ok()?;
            let remaining = reference.remaining().len();
            (value, &traversal.steps[traversal.steps.len() - remaining..])
        }
        _ => return None,
    };
    let named = traversal.steps.len() - steps.len();
    let mut text = traversal.root.to_string();
    for step in &traversal.steps[..named] {
        let _ = write!(text, "{step}");
    }
    for step in steps {
        let next = match step {
            TraversalStep::Attribute { name, span } => index::attribute(&value, name, *span),
            TraversalStep::Index { key, span } => {
                index::index(&value, &traversal::key_value(key), *span)
            }
            TraversalStep::Splat { .. } => return None,
        };
        match next {
            Ok(next) => value = next,
            Err(_) => break,
        }
        let _ = write!(text, "{step}");
    }
    Some((text, value))
}

fn statement(value: &Value, cause: Option<Cause>) -> Option<String> {
    if value.marks().is_sensitive() {
        return (cause == Some(Cause::Sensitive)).then(|| "has a sensitive value".into());
    }
    if value.marks().is_ephemeral() {
        return (cause == Some(Cause::Ephemeral)).then(|| "has an ephemeral value".into());
    }
    if value.is_known() {
        return Some(format!("is {}", summary(value)));
    }
    let ty = value.ty();
    let name = ty.friendly_name();
    if cause != Some(Cause::Unknown) {
        return (ty != Type::Dynamic).then(|| format!("is a {name}"));
    }
    if ty == Type::Dynamic {
        return Some("will be known only after apply".into());
    }
    let refinement = value.refinement();
    let min = refinement.and_then(|known| known.length_min).unwrap_or(0);
    // Larger bounds would distract.
    let max = refinement.and_then(|known| known.length_max).filter(|max| *max <= 1024);
    Some(match (ty.is_collection(), min, max) {
        (true, min, Some(max)) if min == max => {
            format!("is a {name} of length {min}, known only after apply")
        }
        (true, 0, Some(max)) => {
            format!("is a {name} with up to {max} elements, known only after apply")
        }
        (true, min, Some(max)) => {
            format!("is a {name} with between {min} and {max} elements, known only after apply")
        }
        (true, min, None) if min > 0 => {
            format!("is a {name} with at least {min} elements, known only after apply")
        }
        _ => format!("is a {name}, known only after apply"),
    })
}

/// One line about a known value. Never shows what a collection holds, since that may be sensitive
/// on its own.
fn summary(value: &Value) -> String {
    let counted = |count: usize| {
        let name = value.ty().friendly_name();
        match count {
            0 => format!("empty {name}"),
            1 => format!("{name} with 1 element"),
            count => format!("{name} with {count} elements"),
        }
    };
    match value.kind() {
        Kind::Null(_) => "null".into(),
        Kind::Unknown(..) => "(not yet known)".into(),
        Kind::Bool(value) => value.to_string(),
        Kind::Number(number) => short_number(number),
        Kind::String(text) => quote(text),
        Kind::List(_, items) | Kind::Set(_, items) | Kind::Tuple(items) => counted(items.len()),
        Kind::Map(_, items) => counted(items.len()),
        Kind::Object(items) => match items.len() {
            0 => "object with no attributes".into(),
            1 => {
                let name = items.keys().next().map(|name| &**name).unwrap_or_default();
                format!("object with 1 attribute {name:?}")
            }
            count => format!("object with {count} attributes"),
        },
    }
}

/// Ten significant digits at most.
fn short_number(number: &values::Number) -> String {
    let text = number.to_string();
    if text.bytes().filter(u8::is_ascii_digit).count() <= 10 {
        return text;
    }
    let scientific = format!("{:.9e}", number.to_f64());
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return text };
    let Ok(exponent) = exponent.parse::<i32>() else { return text };
    let trim = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if (-4..10).contains(&exponent) {
        let decimals = usize::try_from(9 - exponent).unwrap_or(0);
        return trim(&format!("{:.decimals$}", number.to_f64()));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
}
