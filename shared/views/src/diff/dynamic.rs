//! Differences of values whose type is not declared: outputs, dynamic attributes, JSON in strings.

use super::attributes::{sensitive, unknown};
use super::change::Change;
use super::paths::Paths;
use super::sequence::align_elements;
use super::tree::{Diff, DiffKind, combine};
use crate::json::{Json, deep};
use engine::changes::Action;
use std::mem::discriminant;

/// The difference of a value, by the types that the values themselves have. Only a value that is
/// sensitive or unknown as a whole tells whether it forces a replacement.
pub(crate) fn of_dynamic(change: &Change) -> Diff {
    sensitive(change, of_dynamic)
        .or_else(|| unknown(change, Json::Bool(false), of_dynamic))
        .unwrap_or_else(|| transform(&Change { replace: Paths::none(), ..change.clone() }))
}

fn transform(change: &Change) -> Diff {
    deep(|| {
        sensitive(change, transform)
            .or_else(|| {
                // What was an explicit null comes into being all the same.
                let change = Change { before_explicit: false, ..change.clone() };
                unknown(&change, Json::Bool(false), transform)
            })
            .unwrap_or_else(|| of_known(change))
    })
}

fn of_known(change: &Change) -> Diff {
    let same = discriminant(&change.before) == discriminant(&change.after);
    let deleted = change.after.is_null() && !change.after_explicit;
    let created = change.before.is_null() && !change.before_explicit;
    if same || created || deleted {
        let like = if change.before.is_null() { &change.after } else { &change.before };
        return update(change, like);
    }
    let before = Box::new(update(&change.as_delete(), &change.before));
    let after = Box::new(update(&change.as_create(), &change.after));
    Diff::new(DiffKind::TypeChange { before, after }, Action::Update, false)
}

fn update(change: &Change, like: &Json) -> Diff {
    let (before, after) = (change.before.clone(), change.after.clone());
    match like {
        Json::Null | Json::Bool(_) | Json::Number(_) => {
            Diff::new(DiffKind::Scalar { before, after }, scalar_action(change), false)
        }
        Json::String(_) => {
            Diff::new(DiffKind::Text { before, after }, scalar_action(change), false)
        }
        Json::Object(_) => object(change),
        Json::Array(_) => array(change),
    }
}

fn scalar_action(change: &Change) -> Action {
    let missing_before = change.before.is_null() && !change.before_explicit;
    let missing_after = change.after.is_null() && !change.after_explicit;
    match (missing_before, missing_after) {
        (true, false) => Action::Create,
        (false, true) => Action::Delete,
        _ if change.before == change.after => Action::NoOp,
        _ => Action::Update,
    }
}

fn object(change: &Change) -> Diff {
    let mut action = change.container_action();
    let attributes = change
        .all_keys()
        .into_iter()
        .map(|key| {
            let diff = transform(&change.key(&key).unless_irrelevant());
            action = combine(action, diff.action);
            (key, diff)
        })
        .collect();
    let kind = DiffKind::Object { attributes, schema: false };
    Diff::new(kind, action, false)
}

fn array(change: &Change) -> Diff {
    let mut action = change.container_action();
    let mut elements = Vec::new();
    let before = change.before.as_array().unwrap_or_default();
    let after = change.after.as_array().unwrap_or_default();
    align_elements(
        before,
        after,
        |json| matches!(json, Json::Object(_)),
        |b, a| {
            let diff = transform(&change.elements(b, a));
            action = combine(action, diff.action);
            elements.push(diff);
        },
    );
    let kind = DiffKind::List { elements, context: true };
    Diff::new(kind, action, false)
}
