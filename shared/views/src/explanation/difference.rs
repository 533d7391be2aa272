//! Which parts of an object a change changes.

use super::one_line::{is_sensitive_at, mask, one_line};
use crate::json::{Json, deep};
use crate::plan_view::PlanView;
use engine::changes::ResourceInstanceChange;
use std::collections::BTreeSet;
use values::{Kind, Path, PathStep, Value};

/// One part that differs.
#[derive(Clone, Debug)]
pub(super) struct AttributeDifference {
    pub(super) path: Path,
    pub(super) before: String,
    pub(super) after: String,
    /// Whether the provider cannot change it in place.
    pub(super) forces_replacement: bool,
    pub(super) is_unknown: bool,
    /// Whether there is nothing afterwards.
    pub(super) is_removed: bool,
}

/// The parts that differ, each as small as it can be named.
pub(super) fn differences(
    view: &PlanView<'_>,
    change: &ResourceInstanceChange,
) -> Vec<AttributeDifference> {
    let mut search = Search {
        change,
        before: mask(view, change, &change.before),
        after: mask(view, change, &change.after),
        found: Vec::new(),
    };
    let (before, after) = (Some(&change.before), Some(&change.after));
    // What is made or deleted differs as a whole.
    if !change.before.is_null() && !change.after.is_null() {
        search.compare(&Path::root(), before, after);
    }
    search.found
}

/// A part of an object before and after a change, where it differs.
pub(super) fn difference_at(
    view: &PlanView<'_>,
    change: &ResourceInstanceChange,
    path: &Path,
) -> Option<(String, String)> {
    let (before, after) = (path.get(&change.before), path.get(&change.after));
    // Inside what is unknown, all is.
    let hidden = after.is_none() && leads_into_unknown(&change.after, path);
    if !hidden && !differ(before.as_ref(), after.as_ref()) {
        return None;
    }
    let sensitive = is_sensitive_at(&mask(view, change, &change.before), path)
        || is_sensitive_at(&mask(view, change, &change.after), path);
    let after = match hidden {
        true => "(known after apply)".to_owned(),
        false => one_line(after.as_ref(), sensitive),
    };
    Some((one_line(before.as_ref(), sensitive), after))
}

fn leads_into_unknown(value: &Value, path: &Path) -> bool {
    (0..path.0.len())
        .filter_map(|end| Path(path.0[..end].to_vec()).get(value))
        .any(|part| !part.is_known())
}

/// Absent and null are alike; what is unknown may be anything.
fn differ(before: Option<&Value>, after: Option<&Value>) -> bool {
    let nothing = |value: Option<&Value>| value.is_none_or(Value::is_null);
    match (before, after) {
        (before, after) if nothing(before) && nothing(after) => false,
        (Some(before), Some(after)) => {
            !after.is_wholly_known()
                || before.unmark_deep() != after.unmark_deep()
                || before.deep_marks().is_sensitive() != after.deep_marks().is_sensitive()
        }
        _ => true,
    }
}

struct Search<'a> {
    change: &'a ResourceInstanceChange,
    before: Json,
    after: Json,
    found: Vec<AttributeDifference>,
}

impl Search<'_> {
    fn compare(&mut self, path: &Path, before: Option<&Value>, after: Option<&Value>) {
        if !differ(before, after) {
            return;
        }
        let parts = match (before, after) {
            (Some(b), Some(a)) => self.parts(path, b, a),
            _ => None,
        };
        let Some(parts) = parts else { return self.found(path, before, after) };
        let count = self.found.len();
        for (step, before, after) in parts {
            let path = path.child(step);
            deep(|| self.compare(&path, before.as_ref(), after.as_ref()));
        }
        // Marks of the whole, or types, differ and no part does.
        if self.found.len() == count && !path.is_root() {
            self.found(path, before, after);
        }
    }

    /// The parts by which two values are compared; `None` where they are compared as a whole.
    #[expect(clippy::type_complexity, reason = "only taken apart by `compare`")]
    fn parts(
        &self,
        path: &Path,
        before: &Value,
        after: &Value,
    ) -> Option<Vec<(PathStep, Option<Value>, Option<Value>)>> {
        let marked = before.marks().is_sensitive() || after.marks().is_sensitive();
        if marked || self.is_wholly_sensitive(path) {
            return None;
        }
        match (before.kind(), after.kind()) {
            (Kind::Object(b), Kind::Object(a)) | (Kind::Map(_, b), Kind::Map(_, a)) => {
                let keys: BTreeSet<_> = b.keys().chain(a.keys()).collect();
                let step = |key| match before.kind() {
                    Kind::Object(_) => PathStep::Attribute(key),
                    _ => PathStep::Key(key),
                };
                let part = |key: &std::sync::Arc<str>| {
                    (step(key.clone()), b.get(key).cloned(), a.get(key).cloned())
                };
                Some(keys.into_iter().map(part).collect())
            }
            (Kind::List(_, b) | Kind::Tuple(b), Kind::List(_, a) | Kind::Tuple(a))
                if a.len() == b.len() =>
            {
                let pairs = b.iter().zip(a.iter()).enumerate();
                let part = |(at, (b, a)): (usize, (&Value, &Value))| {
                    (PathStep::Index(at), Some(b.clone()), Some(a.clone()))
                };
                Some(pairs.map(part).collect())
            }
            _ => None,
        }
    }

    fn is_wholly_sensitive(&self, path: &Path) -> bool {
        let whole = |mask: &Json| {
            let mut mask = mask;
            for step in &path.0 {
                let next = match step {
                    PathStep::Attribute(key) | PathStep::Key(key) => {
                        mask.as_object().and_then(|object| object.get(key))
                    }
                    PathStep::Index(at) => mask.as_array().and_then(|items| items.get(*at)),
                    PathStep::Element(_) => None,
                };
                let Some(next) = next else { return mask.is_true() };
                mask = next;
            }
            mask.is_true()
        };
        whole(&self.before) || whole(&self.after)
    }

    fn found(&mut self, path: &Path, before: Option<&Value>, after: Option<&Value>) {
        let sensitive = is_sensitive_at(&self.before, path) || is_sensitive_at(&self.after, path);
        let forces = |wanted: &Path| path.starts_with(wanted) || wanted.starts_with(path);
        self.found.push(AttributeDifference {
            path: path.clone(),
            before: one_line(before, sensitive),
            after: one_line(after, sensitive),
            forces_replacement: self.change.action.is_replace()
                && self.change.requires_replace.iter().any(forces),
            is_unknown: after.is_some_and(|value| !value.is_wholly_known()),
            is_removed: after.is_none_or(Value::is_null),
        });
    }
}
