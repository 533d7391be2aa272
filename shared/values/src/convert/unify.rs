use super::exists::exists;
use super::{ConversionError, Safety, convert};
use crate::stack::deep;
use crate::{Type, Value};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// The one type that values of several types convert to.
#[derive(Debug, Clone, PartialEq)]
pub struct Unified {
    /// The type.
    pub ty: Type,
    /// Whether some types are not known enough to tell: every value is then unknown.
    pub undecided: bool,
}

impl Unified {
    fn decided(ty: Type) -> Unified {
        Unified { ty, undecided: false }
    }
    /// Brings a value of one of the types into the common type.
    ///
    /// # Errors
    /// Where the value does not convert (with unsafe conversions only).
    pub fn convert(&self, value: &Value) -> Result<Value, ConversionError> {
        match self.undecided {
            true => Ok(Value::dynamic().with_marks(value.deep_marks())),
            false => convert(value, &self.ty),
        }
    }
}

/// The one type that all of these convert to, or `None`: with unsafe conversions, as conditionals
/// and collections do.
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_with(types, Safety::Unsafe).map(|u| u.ty)
}

/// As [`unify`], with conversions only that lose nothing (no string to number).
pub fn unify_safe(types: &[Type]) -> Option<Type> {
    unify_with(types, Safety::Safe).map(|u| u.ty)
}

/// As [`unify`], saying also whether the answer is open.
pub fn unify_with<'a>(
    types: impl IntoIterator<Item = &'a Type>,
    safety: Safety,
) -> Option<Unified> {
    // Repetitions change nothing but the time that it takes.
    let mut seen = HashSet::new();
    let mut last = None;
    let distinct: Vec<&Type> = types
        .into_iter()
        .filter(|t| {
            let new = last != Some(*t) && seen.insert(*t);
            last = Some(*t);
            new
        })
        .collect();
    match distinct.as_slice() {
        [] => None,
        [one] => Some(Unified::decided((*one).clone())),
        several => deep(|| unify_distinct(several, safety)),
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Shape {
    Map,
    List,
    Set,
    Object,
    Tuple,
    Dynamic,
    Primitive,
}

fn shape(ty: &Type) -> Shape {
    match ty {
        Type::Map(_) => Shape::Map,
        Type::List(_) => Shape::List,
        Type::Set(_) => Shape::Set,
        Type::Object(_) => Shape::Object,
        Type::Tuple(_) => Shape::Tuple,
        Type::Dynamic => Shape::Dynamic,
        Type::Bool | Type::Number | Type::String => Shape::Primitive,
    }
}

fn unify_distinct(types: &[&Type], safety: Safety) -> Option<Unified> {
    let has = |s: Shape| types.iter().any(|t| shape(t) == s);
    let only = |shapes: &[Shape]| types.iter().all(|t| shapes.contains(&shape(t)));
    let dynamic = has(Shape::Dynamic);
    for (kind, collection) in [
        (Shape::Map, Type::map as fn(Type) -> Type),
        (Shape::List, Type::list),
        (Shape::Set, Type::set),
    ] {
        if has(kind) && only(&[kind, Shape::Dynamic]) {
            return match dynamic {
                true => Some(undecided()),
                false => collections(types, collection, safety),
            };
        }
    }
    if has(Shape::Map) && only(&[Shape::Map, Shape::Object, Shape::Dynamic]) {
        let found = with_structural(types, Shape::Object, objects_to_map, safety);
        if let Some(u) = found.filter(|u| shape(&u.ty) == Shape::Map) {
            return Some(u);
        }
    } else if has(Shape::List) && only(&[Shape::List, Shape::Tuple, Shape::Dynamic]) {
        let found = with_structural(types, Shape::Tuple, tuples_to_list, safety);
        if let Some(u) = found.filter(|u| shape(&u.ty) == Shape::List) {
            return Some(u);
        }
    } else if has(Shape::Object) && only(&[Shape::Object, Shape::Dynamic]) {
        return match dynamic {
            true => Some(undecided()),
            false => objects(types, safety),
        };
    } else if has(Shape::Tuple) && only(&[Shape::Tuple, Shape::Dynamic]) {
        return match dynamic {
            true => Some(undecided()),
            false => tuples(types, safety),
        };
    } else if has(Shape::Object) && has(Shape::Tuple) {
        return None;
    }
    by_preference(types)
        .into_iter()
        .find(|want| types.iter().all(|t| t == want || exists(t, want, safety)))
        .map(|t| Unified::decided(t.clone()))
}

fn undecided() -> Unified {
    Unified { ty: Type::Dynamic, undecided: true }
}

fn all_convert(types: &[&Type], ty: Type, safety: Safety) -> Option<Unified> {
    types.iter().all(|t| **t == ty || exists(t, &ty, safety)).then_some(Unified::decided(ty))
}

fn collections(types: &[&Type], collection: fn(Type) -> Type, safety: Safety) -> Option<Unified> {
    let element = unify_with(types.iter().filter_map(|t| t.element()), safety)?;
    all_convert(types, collection(element.ty), safety)
}

/// Takes the structural types as one collection, and unifies that with the others.
fn with_structural(
    types: &[&Type],
    structural: Shape,
    collect: fn(&[&Type], Safety) -> Option<Unified>,
    safety: Safety,
) -> Option<Unified> {
    let (structures, mut others): (Vec<&Type>, Vec<&Type>) =
        types.iter().copied().partition(|t| shape(t) == structural);
    let collection = collect(&structures, safety)?.ty;
    others.push(&collection);
    unify_with(others, safety)
}

fn objects(types: &[&Type], safety: Safety) -> Option<Unified> {
    let attributes: Vec<_> = types.iter().filter_map(|t| t.attributes()).collect();
    let (first, rest) = attributes.split_first()?;
    if !rest.iter().all(|a| a.len() == first.len() && a.keys().eq(first.keys())) {
        return objects_to_map(types, safety);
    }
    let mut unified: Vec<(Arc<str>, Type)> = Vec::with_capacity(first.len());
    for name in first.keys() {
        let across = attributes.iter().filter_map(|a| a.get(name));
        unified.push((name.clone(), unify_with(across, safety)?.ty));
    }
    all_convert(types, Type::object(unified), safety).or_else(|| objects_to_map(types, safety))
}

fn objects_to_map(types: &[&Type], safety: Safety) -> Option<Unified> {
    let all = types.iter().filter_map(|t| t.attributes()).flat_map(|a| a.values());
    let element = unify_with(all, safety)?;
    all_convert(types, Type::map(element.ty), safety)
}

fn items(ty: &Type) -> &[Type] {
    match ty {
        Type::Tuple(items) => items,
        _ => &[],
    }
}

fn tuples(types: &[&Type], safety: Safety) -> Option<Unified> {
    let length = items(types.first()?).len();
    if types.iter().any(|t| items(t).len() != length) {
        return tuples_to_list(types, safety);
    }
    let mut unified = Vec::with_capacity(length);
    for i in 0..length {
        let across = types.iter().filter_map(|t| items(t).get(i));
        unified.push(unify_with(across, safety)?.ty);
    }
    all_convert(types, Type::tuple(unified), safety).or_else(|| tuples_to_list(types, safety))
}

fn tuples_to_list(types: &[&Type], safety: Safety) -> Option<Unified> {
    let element = unify_with(types.iter().flat_map(|t| items(t)), safety)?;
    all_convert(types, Type::list(element.ty), safety)
}

/// The types, those that more others convert to first: a topological order of "is more general".
fn by_preference<'a>(types: &[&'a Type]) -> Vec<&'a Type> {
    let mut after = vec![Vec::new(); types.len()];
    let mut before = vec![0usize; types.len()];
    for i in 0..types.len() {
        for j in i + 1..types.len() {
            let (first, second) = match generality(types[i], types[j]) {
                Ordering::Less => (i, j),
                Ordering::Greater => (j, i),
                Ordering::Equal => continue,
            };
            after[first].push(second);
            before[second] += 1;
        }
    }
    let mut order: Vec<usize> = (0..types.len()).filter(|i| before[*i] == 0).collect();
    let mut next = 0;
    while let Some(&i) = order.get(next) {
        next += 1;
        for &j in &after[i] {
            before[j] -= 1;
            if before[j] == 0 {
                order.push(j);
            }
        }
    }
    order.into_iter().map(|i| types[i]).collect()
}

/// `Less` where `a` is to be tried before `b`.
fn generality(a: &Type, b: &Type) -> Ordering {
    use Type::{Dynamic, List, Map, Object, Set, String, Tuple};
    let across = |orders: &mut dyn Iterator<Item = Ordering>| {
        let (mut less, mut greater) = (false, false);
        for order in orders {
            less |= order.is_lt();
            greater |= order.is_gt();
        }
        match (less, greater) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    };
    deep(|| match (a, b) {
        (Dynamic, Dynamic) => Ordering::Equal,
        (Dynamic, _) => Ordering::Greater,
        (_, Dynamic) => Ordering::Less,
        (String, String) => Ordering::Equal,
        (String, b) if b.is_primitive() => Ordering::Less,
        (a, String) if a.is_primitive() => Ordering::Greater,
        (List(a), List(b)) | (Set(a), Set(b)) | (Map(a), Map(b)) => generality(a, b),
        (Tuple(_) | List(_), Set(_)) | (List(_), Tuple(_)) | (Map(_), Object(_)) => Ordering::Less,
        (Set(_), Tuple(_) | List(_)) | (Tuple(_), List(_)) | (Object(_), Map(_)) => {
            Ordering::Greater
        }
        (Object(a), Object(b)) if a.attributes.keys().eq(b.attributes.keys()) => across(
            &mut a.attributes.values().zip(b.attributes.values()).map(|(a, b)| generality(a, b)),
        ),
        (Tuple(a), Tuple(b)) if a.len() == b.len() => {
            across(&mut a.iter().zip(b.iter()).map(|(a, b)| generality(a, b)))
        }
        _ => Ordering::Equal,
    })
}
