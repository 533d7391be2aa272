use crate::quote::quoted;
use crate::stack::deep;
use crate::{Kind, NumberFormat, Value};
use std::cmp::Ordering;

/// Brings the elements of a set into Terraform's order, without repetitions: primitives by value,
/// others by a text of what they hold; then unknowns, then null. Elements that are not wholly known
/// are never the same as another.
pub(crate) fn sort_and_dedup(mut items: Vec<Value>) -> Vec<Value> {
    if items.len() < 2 {
        return items;
    }
    let primitive = items.iter().all(|v| {
        matches!(
            v.kind(),
            Kind::Null(_) | Kind::Unknown(..) | Kind::Bool(_) | Kind::Number(_) | Kind::String(_)
        )
    });
    if primitive {
        items.sort_by(compare_primitives);
        items.dedup_by(|a, b| a.is_known() && same(a, b));
        return items;
    }
    let mut keyed: Vec<(u8, Vec<u8>, Value)> = items
        .into_iter()
        .map(|v| {
            let mut key = Vec::new();
            append_key(&v, &mut key);
            (class(&v), key, v)
        })
        .collect();
    keyed.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut out: Vec<Value> = Vec::with_capacity(keyed.len());
    let mut run = 0;
    let mut previous: Option<(u8, Vec<u8>)> = None;
    for (class, key, value) in keyed {
        let key = (class, key);
        if previous.as_ref() != Some(&key) {
            run = out.len();
            previous = Some(key);
        }
        let repeated =
            value.is_wholly_known() && out[run..].iter().any(|other| same(other, &value));
        if !repeated {
            out.push(value);
        }
    }
    out
}

fn same(a: &Value, b: &Value) -> bool {
    a.is_null() && b.is_null() || a == b
}

fn class(v: &Value) -> u8 {
    match v.kind() {
        Kind::Null(_) => 2,
        Kind::Unknown(..) => 1,
        _ => 0,
    }
}

fn compare_primitives(a: &Value, b: &Value) -> Ordering {
    class(a).cmp(&class(b)).then_with(|| match class(a) {
        0 => a.kind().cmp(b.kind()),
        _ => Ordering::Equal,
    })
}

fn append_key(value: &Value, out: &mut Vec<u8>) {
    deep(|| match value.kind() {
        Kind::Unknown(..) => out.push(b'?'),
        Kind::Null(_) => out.push(b'~'),
        Kind::Bool(b) => out.push(if *b { b'T' } else { b'F' }),
        Kind::Number(n) => {
            out.extend(n.format(NumberFormat::General, Some(10)).into_bytes());
        }
        Kind::String(s) => out.extend(quoted(s).into_bytes()),
        Kind::List(_, items) | Kind::Set(_, items) => append_sequence(items.iter(), b"[]", out),
        Kind::Tuple(items) => append_sequence(items.iter(), b"<>", out),
        Kind::Map(_, items) => {
            out.push(b'{');
            for (key, item) in items.iter() {
                out.extend(quoted(key).into_bytes());
                out.push(b':');
                append_key(item, out);
                out.push(b';');
            }
            out.push(b'}');
        }
        Kind::Object(items) => append_sequence(items.values(), b"<>", out),
    });
}

fn append_sequence<'a>(
    items: impl IntoIterator<Item = &'a Value>,
    brackets: &[u8; 2],
    out: &mut Vec<u8>,
) {
    out.push(brackets[0]);
    for item in items {
        append_key(item, out);
        out.push(b';');
    }
    out.push(brackets[1]);
}

/// Whether a set has a wholly known element.
pub(crate) fn contains(items: &[Value], element: &Value) -> bool {
    element.is_wholly_known() && items.iter().any(|v| same(v, element))
}
