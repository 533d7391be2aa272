use super::exists::exists;
use super::{ConversionError, Safety};
use crate::Type;
use crate::quote::quoted;
use crate::stack::deep;

impl ConversionError {
    pub(super) fn new(path: &[crate::PathStep], message: impl Into<String>) -> ConversionError {
        ConversionError { path: crate::Path(path.to_vec()), message: message.into() }
    }
}

/// Why `value`'s type does not fit `want`, in Terraform's words ("string required", "element 1:
/// attribute \"a\" is required").
pub fn mismatch_message(got: &Type, want: &Type) -> String {
    deep(|| match (got, want) {
        (Type::Object(_), Type::Object(_)) => objects(got, want),
        (Type::Tuple(_), Type::List(e)) if **e == Type::Dynamic => {
            "all list elements must have the same type".into()
        }
        (Type::Tuple(_), Type::Set(e)) if **e == Type::Dynamic => {
            "all set elements must have the same type".into()
        }
        (Type::Object(_), Type::Map(e)) if **e == Type::Dynamic => {
            "all map elements must have the same type".into()
        }
        (Type::Tuple(items), Type::List(element) | Type::Set(element)) => {
            let named = items.iter().enumerate().map(|(i, t)| (i.to_string(), t));
            elements(named, element)
        }
        (Type::Object(o), Type::Map(element)) => {
            elements(o.attributes.iter().map(|(k, t)| (quoted(k), t)), element)
        }
        (Type::List(a) | Type::Set(a), Type::List(b)) => {
            format!("incorrect list element type: {}", mismatch_message(a, b))
        }
        (Type::List(a) | Type::Set(a), Type::Set(b)) => {
            format!("incorrect set element type: {}", mismatch_message(a, b))
        }
        (Type::Map(a), Type::Map(b)) => {
            format!("incorrect map element type: {}", mismatch_message(a, b))
        }
        (Type::Tuple(_) | Type::Object(_), _) if want.is_collection() => required(want),
        _ if got.is_collection() && want.is_collection() => required(want),
        _ => required(want),
    })
}

fn required(want: &Type) -> String {
    format!("{} required", want.friendly_constraint_name())
}

fn elements<'a>(items: impl Iterator<Item = (String, &'a Type)>, want: &Type) -> String {
    for (name, got) in items {
        if got != want && !exists(got, want, Safety::Unsafe) {
            return format!("element {name}: {}", mismatch_message(got, want));
        }
    }
    format!("all elements must be {}", want.friendly_constraint_name())
}

fn objects(got: &Type, want: &Type) -> String {
    let (Type::Object(got), Type::Object(want)) = (got, want) else {
        return required(want);
    };
    let missing: Vec<String> = want
        .attributes
        .keys()
        .filter(|name| !got.attributes.contains_key(*name) && !want.optional.contains(*name))
        .map(|name| quoted(name))
        .collect();
    match missing.as_slice() {
        [] => {}
        [one] => return format!("attribute {one} is required"),
        [one, two] => return format!("attributes {one} and {two} are required"),
        [most @ .., last] => {
            return format!("attributes {}, and {last} are required", most.join(", "));
        }
    }
    for safety in [Safety::Unsafe, Safety::Safe] {
        for (name, want) in &want.attributes {
            let Some(got) = got.attributes.get(name) else { continue };
            if got != want && !exists(got, want, safety) {
                return format!("attribute {}: {}", quoted(name), mismatch_message(got, want));
            }
        }
    }
    "incorrect object attributes".into()
}
