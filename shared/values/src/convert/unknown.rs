use super::Safety;
use super::unify::unify_with;
use crate::stack::deep;
use crate::{Type, Value};

/// What an unknown value becomes in another type: unknown, keeping what is still known of it.
pub(super) fn convert_unknown(value: &Value, target: Type) -> Value {
    let mut refiner = Value::unknown(target.clone()).refine();
    if value.is_definitely_not_null() {
        refiner = refiner.not_null();
    }
    let source = value.ty();
    let refinement = value.refinement();
    let min = refinement.and_then(|r| r.length_min).unwrap_or(0);
    let max = refinement.and_then(|r| r.length_max);
    match (&source, &target) {
        (Type::Object(o), Type::Map(_)) => refiner.length(o.attributes.len() as u64).finish(),
        (Type::Tuple(items), Type::List(_)) => refiner.length(items.len() as u64).finish(),
        (Type::Tuple(items), Type::Set(_)) => {
            let length = items.len() as u64;
            refiner.length_min(length.min(1)).length_max(length).finish()
        }
        _ if source.is_collection() && target.is_collection() => {
            let min = if matches!(target, Type::Set(_)) { min.min(1) } else { min };
            let refiner = refiner.length_min(min);
            match max {
                Some(max) => refiner.length_max(max).finish(),
                None => refiner.finish(),
            }
        }
        _ => refiner.finish(),
    }
}

/// The type that a null or unknown value of type `from` gets in a constraint: what the constraint
/// leaves open is taken from the value.
pub(super) fn resolve_dynamic(from: &Type, constraint: &Type) -> Type {
    let unified = |types: Vec<&Type>, open: &Type| match unify_with(types, Safety::Unsafe) {
        Some(u) => resolve_dynamic(&u.ty, open),
        None => open.without_optional(),
    };
    deep(|| match (from, constraint) {
        (Type::Dynamic, _) => constraint.without_optional(),
        (_, Type::Dynamic) => from.clone(),
        (Type::Map(a), Type::Map(b)) => Type::map(resolve_dynamic(a, b)),
        (Type::Object(o), Type::Map(b)) => Type::map(unified(o.attributes.values().collect(), b)),
        (Type::Map(a), Type::Object(o)) => {
            Type::object(o.attributes.iter().map(|(k, t)| (k.clone(), resolve_dynamic(a, t))))
        }
        (Type::Object(a), Type::Object(b)) => Type::object(b.attributes.iter().map(|(k, t)| {
            let ty = match a.attributes.get(k) {
                Some(have) => resolve_dynamic(have, t),
                None => t.without_optional(),
            };
            (k.clone(), ty)
        })),
        (Type::Set(a) | Type::List(a), Type::Set(b)) => Type::set(resolve_dynamic(a, b)),
        (Type::Set(a) | Type::List(a), Type::List(b)) => Type::list(resolve_dynamic(a, b)),
        (Type::Tuple(items), Type::Set(b)) => Type::set(unified(items.iter().collect(), b)),
        (Type::Tuple(items), Type::List(b)) => Type::list(unified(items.iter().collect(), b)),
        (Type::Tuple(a), Type::Tuple(b)) => Type::tuple(
            a.iter().zip(b.iter()).map(|(a, b)| resolve_dynamic(a, b)).collect::<Vec<_>>(),
        ),
        _ => constraint.without_optional(),
    })
}
