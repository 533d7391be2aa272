//! A change of a value: before, after, and what is unknown, sensitive or the cause of a replacement.

use super::paths::Paths;
use crate::json::Json;
use engine::changes::Action;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A change of one value, seen from that value.
///
/// `explicit` tells a null that stands there from a value that does not exist.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) before: Json,
    pub(crate) after: Json,
    pub(crate) before_explicit: bool,
    pub(crate) after_explicit: bool,
    pub(crate) unknown: Json,
    pub(crate) before_sensitive: Json,
    pub(crate) after_sensitive: Json,
    pub(crate) replace: Paths,
    pub(crate) relevant: Paths,
    /// Whether the provider may be one that cannot tell an empty string from null.
    pub(crate) legacy: bool,
}

impl Change {
    /// A value that is only shown: before and after are the same.
    pub(crate) fn shown(value: Json, sensitive: Json) -> Change {
        Change {
            before: value.clone(),
            after: value,
            before_explicit: false,
            after_explicit: false,
            unknown: Json::Bool(false),
            before_sensitive: sensitive.clone(),
            after_sensitive: sensitive,
            replace: Paths::none(),
            relevant: Paths::All,
            legacy: false,
        }
    }
    /// Of a provider that may not tell an empty string from null.
    pub(crate) fn of_provider(self) -> Change {
        Change { legacy: true, ..self }
    }
    /// Empty strings as null, where the provider may mean that.
    pub(crate) fn without_empty_strings(&self) -> Change {
        let mut change = self.clone();
        for side in [&mut change.before, &mut change.after] {
            if self.legacy && side.as_str() == Some("") {
                *side = Json::Null;
            }
        }
        change
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.unknown.is_true()
    }
    pub(crate) fn is_before_sensitive(&self) -> bool {
        self.before_sensitive.is_true()
    }
    pub(crate) fn is_after_sensitive(&self) -> bool {
        self.after_sensitive.is_true()
    }
    /// Whether it is null before and after.
    pub(crate) fn is_null(&self) -> bool {
        self.before.is_null() && self.after.is_null()
    }
    fn exists_before(&self) -> bool {
        !self.before.is_null() || self.before_explicit
    }
    fn exists_after(&self) -> bool {
        !self.after.is_null() || self.after_explicit
    }

    /// What happens to the value as a whole.
    pub(crate) fn action(&self) -> Action {
        match (self.exists_before(), self.exists_after()) {
            (false, true) => Action::Create,
            (true, false) => Action::Delete,
            _ if self.before == self.after
                && self.before_explicit == self.after_explicit
                && self.is_before_sensitive() == self.is_after_sensitive() =>
            {
                Action::NoOp
            }
            _ => Action::Update,
        }
    }
    /// The action that a walk over its parts starts from.
    pub(crate) fn initial_action(&self) -> Action {
        match (self.before.is_null(), self.after.is_null()) {
            (true, false) => Action::Create,
            (false, true) => Action::Delete,
            _ => Action::NoOp,
        }
    }

    /// As if nothing changed.
    pub(crate) fn as_no_op(&self) -> Change {
        Change {
            after: self.before.clone(),
            after_explicit: self.before_explicit,
            unknown: Json::Bool(false),
            after_sensitive: self.before_sensitive.clone(),
            ..self.clone()
        }
    }
    /// As if the value went away.
    pub(crate) fn as_delete(&self) -> Change {
        Change {
            after: Json::Null,
            after_explicit: false,
            unknown: Json::Null,
            after_sensitive: Json::Null,
            ..self.clone()
        }
    }
    /// As if the value came into being.
    pub(crate) fn as_create(&self) -> Change {
        Change {
            before: Json::Null,
            before_explicit: false,
            before_sensitive: Json::Null,
            ..self.clone()
        }
    }
    /// Unchanged where it is not among the relevant paths.
    pub(crate) fn unless_irrelevant(self) -> Change {
        match self.relevant.leads_here() {
            true => self,
            false => self.as_no_op(),
        }
    }
    /// Without the difference between an explicit null and no value.
    pub(crate) fn implicit(self) -> Change {
        Change { before_explicit: false, after_explicit: false, ..self }
    }

    /// The change of an attribute or map element.
    pub(crate) fn key(&self, key: &str) -> Change {
        let child = |json: &Json| json.as_object().and_then(|o| o.get(key)).cloned();
        let (before, after) = (child(&self.before), child(&self.after));
        Change {
            before_explicit: before.is_some(),
            after_explicit: after.is_some(),
            before: before.unwrap_or(Json::Null),
            after: after.unwrap_or(Json::Null),
            unknown: child(&self.unknown).unwrap_or(Json::Null),
            before_sensitive: child(&self.before_sensitive).unwrap_or(Json::Null),
            after_sensitive: child(&self.after_sensitive).unwrap_or(Json::Null),
            replace: self.replace.key(key),
            relevant: self.relevant.key(key),
            legacy: self.legacy,
        }
    }
    /// The change from one element of a sequence to another; `None` where there is none.
    pub(crate) fn elements(&self, before: Option<usize>, after: Option<usize>) -> Change {
        let child = |json: &Json, at: Option<usize>| json.as_array()?.get(at?).cloned();
        let (old, new) = (child(&self.before, before), child(&self.after, after));
        let place = before.filter(|_| old.is_some()).or(after).unwrap_or_default();
        Change {
            before_explicit: old.is_some(),
            after_explicit: new.is_some(),
            before: old.unwrap_or(Json::Null),
            after: new.unwrap_or(Json::Null),
            unknown: child(&self.unknown, after).unwrap_or(Json::Null),
            before_sensitive: child(&self.before_sensitive, before).unwrap_or(Json::Null),
            after_sensitive: child(&self.after_sensitive, after).unwrap_or(Json::Null),
            replace: self.replace.index(place),
            relevant: self.relevant.index(place),
            legacy: self.legacy,
        }
    }
    /// Keys that stand in the values.
    pub(crate) fn explicit_keys(&self) -> BTreeSet<Arc<str>> {
        keys([&self.before, &self.after])
    }
    /// Keys that stand in the values, or that something is said of.
    pub(crate) fn all_keys(&self) -> BTreeSet<Arc<str>> {
        keys([
            &self.before,
            &self.after,
            &self.unknown,
            &self.before_sensitive,
            &self.after_sensitive,
        ])
    }
    /// Create or delete where the container itself comes or goes.
    pub(crate) fn container_action(&self) -> Action {
        let is_container = |json: &Json| matches!(json, Json::Array(_) | Json::Object(_));
        match (is_container(&self.before), is_container(&self.after)) {
            (true, false) => Action::Delete,
            (false, true) => Action::Create,
            _ => Action::NoOp,
        }
    }
}

fn keys<const N: usize>(trees: [&Json; N]) -> BTreeSet<Arc<str>> {
    trees.into_iter().filter_map(Json::as_object).flat_map(|o| o.keys().cloned()).collect()
}
