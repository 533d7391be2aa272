//! Differences of attributes, along their types or the schema of their own.

use super::change::Change;
use super::dynamic::of_dynamic;
use super::paths::Paths;
use super::sequence::align_elements;
use super::sets::pair_up;
use super::tree::{Diff, DiffKind, combine};
use crate::json::{Json, deep};
use engine::changes::Action;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Type;
use values::schema::{Attribute, AttributeType, NestedAttributes, Nesting};

/// The difference of an attribute. `parent` is what happens to the block or object that holds it.
pub(super) fn of_attribute(change: &Change, attribute: &Attribute, parent: Action) -> Diff {
    if attribute.write_only {
        // Nobody knows whether it changes: as in Terraform, it stays as it is in what is updated.
        let action = if parent == Action::Update { Action::NoOp } else { parent };
        return Diff::new(DiffKind::WriteOnly, action, change.replace.matches());
    }
    match &attribute.ty {
        AttributeType::Plain(ty) => of_type(change, ty),
        AttributeType::Nested(nested) => of_nested(change, nested, nested.nesting),
    }
}

/// A sensitive value is never taken apart; how it changes is.
pub(super) fn sensitive(change: &Change, inner: impl Fn(&Change) -> Diff) -> Option<Diff> {
    let (inner, action) = sensitive_inner(change, inner)?;
    let (before, after) = (change.is_before_sensitive(), change.is_after_sensitive());
    let kind = DiffKind::Sensitive { inner: inner.action, before, after };
    Some(Diff::new(kind, action, change.replace.matches()))
}

/// What the difference would be if nothing were sensitive, and the action that results.
pub(super) fn sensitive_inner(
    change: &Change,
    inner: impl Fn(&Change) -> Diff,
) -> Option<(Diff, Action)> {
    let (before, after) = (change.is_before_sensitive(), change.is_after_sensitive());
    if !before && !after {
        return None;
    }
    let bare = Change {
        before_sensitive: Json::Bool(false),
        after_sensitive: Json::Bool(false),
        ..change.clone()
    };
    let inner = inner(&bare);
    let nothing = change.is_null() && !change.before_explicit && !change.after_explicit;
    let action = match inner.action {
        Action::NoOp if before != after && !nothing => Action::Update,
        action => action,
    };
    Some((inner, action))
}

/// An unknown value, with what it was before; `children` says what of that is shown as unknown
/// rather than as removed.
pub(super) fn unknown(
    change: &Change,
    children: Json,
    inner: impl Fn(&Change) -> Diff,
) -> Option<Diff> {
    if !change.is_unknown() {
        return None;
    }
    // The value after is null in the plan, and yet there will be one.
    let coming = Change { after_explicit: true, ..change.clone() };
    let before = (!change.before.is_null())
        .then(|| Box::new(inner(&Change { unknown: children, ..change.as_delete() })));
    let kind = DiffKind::Unknown { before };
    Some(Diff::new(kind, coming.action(), change.replace.matches()))
}

/// The difference of a value of a declared type.
pub(crate) fn of_type(change: &Change, ty: &Type) -> Diff {
    if *ty == Type::Dynamic {
        return of_dynamic(change);
    }
    let change = &change.without_empty_strings();
    deep(|| {
        sensitive(change, |bare| of_type(bare, ty))
            .or_else(|| unknown(change, Json::Bool(false), |before| of_type(before, ty)))
            .unwrap_or_else(|| of_known(change, ty))
    })
}

fn of_known(change: &Change, ty: &Type) -> Diff {
    let replace = change.replace.matches();
    let (before, after) = (change.before.clone(), change.after.clone());
    match ty {
        Type::Dynamic => of_dynamic(change),
        Type::Bool | Type::Number => {
            Diff::new(DiffKind::Scalar { before, after }, change.action(), replace)
        }
        Type::String => Diff::new(DiffKind::Text { before, after }, change.action(), replace),
        Type::Object(object) => {
            let (attributes, action) =
                of_object(change, &object.attributes, |change, ty, _| of_type(change, ty));
            Diff::new(DiffKind::Object { attributes, schema: false }, action, replace)
        }
        Type::Map(element) => {
            let (elements, action) =
                of_map(change, change.all_keys(), |change| of_type(change, element));
            Diff::new(DiffKind::Map { elements, schema: false }, action, replace)
        }
        Type::List(element) => of_list(change, element),
        Type::Tuple(types) => {
            let mut action = change.initial_action();
            let mut elements = Vec::with_capacity(types.len());
            for (i, ty) in types.iter().enumerate() {
                let element = of_type(&change.elements(Some(i), Some(i)).unless_irrelevant(), ty);
                action = combine(action, element.action);
                elements.push(element);
            }
            Diff::new(DiffKind::List { elements, context: true }, action, replace)
        }
        Type::Set(element) => {
            let (elements, action) = of_set(change, |change| of_type(change, element));
            Diff::new(DiffKind::Set { elements, schema: false }, action, replace)
        }
    }
}

fn of_list(change: &Change, element: &Type) -> Diff {
    let mut action = change.container_action();
    let mut elements = Vec::new();
    let objects = matches!(element, Type::Object(_));
    let before = change.before.as_array().unwrap_or_default();
    let after = change.after.as_array().unwrap_or_default();
    align_elements(
        before,
        after,
        |_| objects,
        |b, a| {
            // Where a list is relevant, all its elements are.
            let child = Change { relevant: Paths::All, ..change.elements(b, a) };
            let diff = of_type(&child, element);
            action = combine(action, diff.action);
            elements.push(diff);
        },
    );
    let kind = DiffKind::List { elements, context: true };
    Diff::new(kind, action, change.replace.matches())
}

/// Attributes of an object; those that are null before and after are left out.
fn of_object<T>(
    change: &Change,
    attributes: &BTreeMap<Arc<str>, T>,
    inner: impl Fn(&Change, &T, Action) -> Diff,
) -> (BTreeMap<Arc<str>, Diff>, Action) {
    let mut action = change.initial_action();
    let mut diffs = BTreeMap::new();
    for (name, attribute) in attributes {
        let child = change.key(name).unless_irrelevant().implicit();
        let diff = inner(&child, attribute, action);
        if diff.action == Action::NoOp && child.is_null() {
            continue;
        }
        action = combine(action, diff.action);
        diffs.insert(name.clone(), diff);
    }
    (diffs, action)
}

/// Elements of a map under the given keys.
pub(super) fn of_map(
    change: &Change,
    keys: impl IntoIterator<Item = Arc<str>>,
    inner: impl Fn(&Change) -> Diff,
) -> (BTreeMap<Arc<str>, Diff>, Action) {
    let mut action = change.container_action();
    let elements = keys
        .into_iter()
        .map(|key| {
            let diff = inner(&change.key(&key).unless_irrelevant());
            action = combine(action, diff.action);
            (key, diff)
        })
        .collect();
    (elements, action)
}

/// Elements of a set: first what was there, then what comes.
pub(super) fn of_set(change: &Change, inner: impl Fn(&Change) -> Diff) -> (Vec<Diff>, Action) {
    let mut action = change.initial_action();
    let elements = pair_up(change)
        .into_iter()
        .map(|child| {
            let diff = inner(&child);
            action = combine(action, diff.action);
            diff
        })
        .collect();
    (elements, action)
}

/// Elements of a list, one by one by their positions.
pub(super) fn of_positions(
    change: &Change,
    inner: impl Fn(&Change) -> Diff,
) -> (Vec<Diff>, Action) {
    let mut action = change.initial_action();
    let length = |json: &Json| json.as_array().map_or(0, <[Json]>::len);
    let elements = (0..length(&change.before).max(length(&change.after)))
        .map(|i| {
            let diff = inner(&change.elements(Some(i), Some(i)).unless_irrelevant());
            action = combine(action, diff.action);
            diff
        })
        .collect();
    (elements, action)
}

/// The difference of an attribute with attributes of its own.
fn of_nested(change: &Change, nested: &NestedAttributes, nesting: Nesting) -> Diff {
    let inner = |change: &Change| of_nested(change, nested, nesting);
    deep(|| {
        sensitive(change, inner)
            .or_else(|| unknown(change, all_unknown(nested.attributes.keys()), inner))
            .unwrap_or_else(|| of_nested_known(change, nested, nesting))
    })
}

fn of_nested_known(change: &Change, nested: &NestedAttributes, nesting: Nesting) -> Diff {
    let replace = change.replace.matches();
    let one = |change: &Change| of_nested(change, nested, Nesting::Single);
    match nesting {
        Nesting::Single | Nesting::Group => {
            let (attributes, action) = of_object(change, &nested.attributes, of_attribute);
            Diff::new(DiffKind::Object { attributes, schema: true }, action, replace)
        }
        Nesting::Map => {
            let (elements, action) = of_map(change, change.explicit_keys(), one);
            Diff::new(DiffKind::Map { elements, schema: true }, action, replace)
        }
        Nesting::List => {
            let (elements, action) = of_positions(change, one);
            Diff::new(DiffKind::List { elements, context: false }, action, replace)
        }
        Nesting::Set => {
            let (elements, action) = of_set(change, one);
            Diff::new(DiffKind::Set { elements, schema: true }, action, replace)
        }
    }
}

/// Every one of these attributes unknown.
pub(super) fn all_unknown<'a>(names: impl Iterator<Item = &'a Arc<str>>) -> Json {
    Json::object(names.map(|name| (name.clone(), Json::Bool(true))))
}
