//! One instance as it was read while planning, beside what it is now.

use super::difference::{Difference, differences};
use super::{PLAN_AGAIN, Waiver};
use crate::object::{DeposedKey, Object};
use crate::plan::{RefreshedInstance, Seen};
use crate::reads::LookedAt;
use crate::saved_plan::SavedPlan;
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use values::address::ResourceInstance;
use values::schema::Block;
use values::{Path, Value};

/// What is compared of one instance, and what its findings are called.
pub(crate) struct Subject<'a> {
    pub(crate) stage: Stage,
    pub(crate) code: RejectCode,
    pub(crate) address: &'a ResourceInstance,
    /// What a finding is about, in words.
    pub(crate) thing: &'static str,
    /// What the plan looked at.
    pub(crate) looked_at: &'a LookedAt,
    /// Whether all of it is compared, since the plan changes it.
    pub(crate) is_changed: bool,
    /// Whether the plan deletes the instance's current object.
    pub(crate) is_deleted: bool,
    pub(crate) block: Option<&'a Block>,
    pub(crate) ignored: &'a [Path],
    pub(crate) waivers: &'a [Waiver],
}

/// The schema of an instance's objects.
pub(super) fn block_of<'p>(
    plan: &'p SavedPlan,
    address: &ResourceInstance,
    actual: Option<&RefreshedInstance>,
) -> Option<&'p Block> {
    let provider = &plan.plan.refreshed.get(address).or(actual)?.provider.provider;
    let resource = &address.resource;
    let schema = plan.plan.schemas.get(provider, resource.mode, &resource.ty)?;
    Some(&schema.block)
}

impl Subject<'_> {
    /// All findings; none where everything is as planned.
    pub(super) fn compare(
        &self,
        planned: Option<&RefreshedInstance>,
        actual: Option<&RefreshedInstance>,
    ) -> Vec<Verdict> {
        let Some(actual) = actual else {
            let message =
                format!("{} could not be read again, so nothing is known of it", self.thing);
            return vec![self.finding(message, None, false)];
        };
        let values = planned.is_none_or(|planned| planned.seen == Seen::InTheWorld);
        let mut verdicts = self.objects(
            None,
            planned.and_then(|planned| planned.current.as_ref()),
            actual.current.as_ref(),
            values,
        );
        if !self.is_changed {
            return verdicts;
        }
        let none = BTreeMap::new();
        let before = planned.map_or(&none, |planned| &planned.deposed);
        let keys: BTreeSet<&DeposedKey> = before.keys().chain(actual.deposed.keys()).collect();
        for key in keys {
            let (planned, actual) = (before.get(key), actual.deposed.get(key));
            verdicts.extend(self.objects(Some(key), planned, actual, values));
        }
        verdicts
    }

    /// Findings on one object. `values`: whether its attributes are compared, beside its being there.
    pub(crate) fn objects(
        &self,
        deposed: Option<&DeposedKey>,
        planned: Option<&Object>,
        actual: Option<&Object>,
        values: bool,
    ) -> Vec<Verdict> {
        let thing = match deposed {
            None => self.thing.to_owned(),
            Some(key) => format!("the deposed object {key}"),
        };
        match (planned, actual) {
            (None, None) => Vec::new(),
            (Some(_), None) => {
                let message = format!("{thing} existed when the plan was made, and is gone");
                vec![self.finding(message, None, true).compared("present", "gone")]
            }
            (None, Some(_)) => {
                let message = format!("{thing} did not exist when the plan was made, and does now");
                // Nobody has seen what would be deleted.
                let waivable = !self.is_deleted && deposed.is_none();
                vec![self.finding(message, None, waivable).compared("absent", "present")]
            }
            // What was recorded is never compared with what was read.
            (Some(_), Some(_)) if !values => Vec::new(),
            (Some(planned), Some(actual)) => {
                let (planned, actual) = (&planned.value, &actual.value);
                differences(self.block, planned, actual, self.ignored)
                    .into_iter()
                    .filter(|found| self.is_changed || self.matters(&found.path, planned, actual))
                    .map(|found| self.changed(&thing, found))
                    .collect()
            }
        }
    }

    /// Whether a difference reaches something that was looked at.
    fn matters(&self, path: &Path, planned: &Value, actual: &Value) -> bool {
        let LookedAt::Paths(reads) = self.looked_at else { return self.looked_at.covers(path) };
        let value = |of: &Value, path: &Path| path.get(of).map(|value| value.unmark_deep());
        reads.iter().any(|read| {
            // Of what differs around it, it may be the part that does not.
            path.starts_with(&read.path)
                || read.path.starts_with(path)
                    && value(planned, &read.path) != value(actual, &read.path)
        })
    }

    fn changed(&self, thing: &str, found: Difference) -> Verdict {
        let Difference { path, planned, actual, newly_filled } = found;
        // Where the plan read the attribute itself, its being filled changes what was planned.
        let harmless = newly_filled && !self.looked_at.covers(&path);
        let mut verdict = match harmless {
            true => {
                let message = format!(
                    "{thing} has an attribute that was absent and that its provider has filled in"
                );
                Verdict::new(self.stage, Outcome::Warn, message).on(self.address)
            }
            false => {
                let message = format!("{thing} was changed since the plan was made");
                self.finding(message, Some(&path), true)
            }
        };
        verdict.path = Some(path.to_string());
        verdict.compared(planned, actual)
    }

    fn finding(&self, message: String, path: Option<&Path>, waivable: bool) -> Verdict {
        let text = path.map(ToString::to_string).unwrap_or_default();
        let flag = format!("-accept-drift='{}{text}'", self.address);
        let accepted = self.waivers.iter().find(|waiver| waiver.accepts(self.address, path));
        if let Some(waiver) = accepted.filter(|_| waivable) {
            let by = waiver.principal.as_ref().map_or_else(String::new, |p| format!(" of {p}"));
            let message = format!("{message}; accepted by {flag}{by}");
            let mut verdict = Verdict::new(self.stage, Outcome::Warn, message).on(self.address);
            verdict.waived_by = waiver.principal.clone();
            return verdict;
        }
        let remedy = match waivable {
            true => format!("{PLAN_AGAIN}, or accept it with `plumb apply {flag} FILE`"),
            false => PLAN_AGAIN.to_owned(),
        };
        Verdict::reject(self.stage, self.code, message).on(self.address).remedy(remedy)
    }
}
