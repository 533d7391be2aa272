use super::Safety;
use super::unify::unify_with;
use crate::Type;
use crate::stack::deep;

/// Whether a type is what values of the constraint have: equal but for optional attributes.
pub(super) fn equal_without_optional(ty: &Type, constraint: &Type) -> bool {
    deep(|| match (ty, constraint) {
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => equal_without_optional(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal_without_optional(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            if std::sync::Arc::ptr_eq(a, b) && a.optional.is_empty() {
                return true;
            }
            a.optional.is_empty()
                && a.attributes.len() == b.attributes.len()
                && a.attributes
                    .iter()
                    .zip(&b.attributes)
                    .all(|((ka, a), (kb, b))| ka == kb && equal_without_optional(a, b))
        }
        (a, b) => a == b,
    })
}

/// Whether a conversion exists between types that are not equal.
pub(super) fn exists(from: &Type, to: &Type, safety: Safety) -> bool {
    use Type::{Bool, Dynamic, List, Map, Number, Object, Set, String, Tuple};
    let is_unsafe = safety == Safety::Unsafe;
    deep(|| match (from, to) {
        (_, Dynamic) => true,
        (Dynamic, _) => is_unsafe,
        (Number | Bool, String) => true,
        (String, Number | Bool) => is_unsafe,
        // A primitive to itself: what collections of equal elements ask.
        (Number, Number) | (Bool, Bool) | (String, String) => false,
        (Object(a), Object(b)) => {
            b.attributes.iter().all(|(name, want)| match a.attributes.get(name) {
                None => b.optional.contains(name),
                Some(have) => have == want || exists(have, want, safety),
            })
        }
        (Tuple(a), Tuple(b)) => {
            a.len() == b.len()
                && a.iter().zip(b.iter()).all(|(a, b)| a == b || exists(a, b, safety))
        }
        (List(a) | Set(a), List(b)) | (Map(a), Map(b)) => a == b || exists(a, b, safety),
        (List(a), Set(b)) => is_unsafe && (a == b || exists(a, b, safety)),
        (Set(a), Set(b)) => a == b || exists(a, b, safety),
        (Tuple(items), List(element) | Set(element)) => {
            structural_exists(&items.iter().collect::<Vec<_>>(), element, safety, true)
        }
        (Object(o), Map(element)) => {
            structural_exists(&o.attributes.values().collect::<Vec<_>>(), element, safety, false)
        }
        (Map(element), Object(o)) => {
            is_unsafe
                && o.attributes.iter().all(|(name, want)| {
                    **element == *want || exists(element, want, safety) || o.optional.contains(name)
                })
        }
        _ => false,
    })
}

fn structural_exists(items: &[&Type], element: &Type, safety: Safety, sequence: bool) -> bool {
    if items.is_empty() {
        return true;
    }
    let Some(element) = structural_element(items, element, safety, sequence) else {
        return false;
    };
    let mut last: Option<&Type> = None;
    items.iter().all(|item| {
        if last == Some(item) {
            return true;
        }
        last = Some(item);
        **item == element || exists(item, &element, safety)
    })
}

/// The element type that a tuple or object gets as a collection of `element`.
pub(super) fn structural_element(
    items: &[&Type],
    element: &Type,
    safety: Safety,
    sequence: bool,
) -> Option<Type> {
    if *element != Type::Dynamic {
        return Some(element.clone());
    }
    let unified = unify_with(items.iter().copied(), safety)?.ty;
    let mixed = unified == Type::Dynamic && items.iter().any(|t| **t != Type::Dynamic);
    (!sequence || !mixed).then_some(unified)
}
