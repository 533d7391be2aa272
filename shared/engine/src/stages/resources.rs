use super::PLAN_AGAIN;
use super::difference::{Difference, differences};
use crate::changes::Action;
use crate::object::{DeposedKey, Object};
use crate::plan::RefreshedInstance;
use crate::saved_plan::SavedPlan;
use crate::verdict::{Outcome, RejectCode, Stage, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use values::Path;
use values::address::{AddressError, ResourceInstance};
use values::schema::Block;

/// What the world says now.
#[derive(Clone, Copy)]
pub enum World<'a> {
    /// Nobody read it.
    NotRead,
    /// As its providers read it: every instance of the write set and the read set that they could read.
    Read(&'a BTreeMap<ResourceInstance, RefreshedInstance>),
}

/// A finding that a person accepts: `-accept-drift=ADDRESS[.attr]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// The instance.
    pub address: ResourceInstance,
    /// The attribute, as a verdict names it (`.tags["team"]`); `None` for all of the instance.
    pub path: Option<String>,
}

impl std::str::FromStr for Waiver {
    type Err = AddressError;

    /// `ADDRESS`, or `ADDRESS` and the path of an attribute.
    fn from_str(text: &str) -> Result<Waiver, AddressError> {
        let whole = match text.parse() {
            Ok(address) => return Ok(Waiver { address, path: None }),
            Err(error) => error,
        };
        // The address is the longest beginning that is one.
        let ends = text.rmatch_indices(['.', '[']).map(|(end, _)| text.split_at(end));
        for (address, path) in ends {
            if let Ok(address) = address.parse() {
                return Ok(Waiver { address, path: Some(path.into()) });
            }
        }
        Err(whole)
    }
}

/// What is compared of one instance.
pub(crate) struct Subject<'a> {
    pub(crate) address: &'a ResourceInstance,
    /// The attributes that the plan looked at; `None` for all.
    pub(crate) paths: Option<&'a [Path]>,
    pub(crate) block: Option<&'a Block>,
    pub(crate) ignored: &'a [Path],
    /// Whether the plan deletes the instance's current object.
    pub(crate) deletes: bool,
    pub(crate) waivers: &'a [Waiver],
}

/// Whether the world moved under the plan.
pub fn check_resources(plan: &SavedPlan, world: World<'_>, waivers: &[Waiver]) -> Vec<Verdict> {
    let World::Read(actual) = world else {
        let message = "the world was not read again";
        return vec![
            Verdict::new(Stage::Resources, Outcome::NotChecked, message)
                .remedy("run `plumb validate FILE` with credentials that may read"),
        ];
    };
    let deleted: BTreeSet<&ResourceInstance> = plan
        .plan
        .changes
        .resources
        .iter()
        .filter(|c| c.action == Action::Delete || c.action.is_replace())
        .map(|c| &c.address)
        .collect();
    let mut verdicts = Vec::new();
    let mut compared = 0;
    let members = plan.write_set.keys().map(|address| (address, None)).chain(
        plan.read_set
            .iter()
            .filter(|(address, _)| !plan.write_set.contains_key(*address))
            .map(|(address, member)| (address, member.paths.as_deref())),
    );
    for (address, paths) in members {
        let planned = plan.plan.refreshed.get(address);
        let actual = actual.get(address);
        let Some(provider) = planned.or(actual).map(|r| &r.provider.provider) else { continue };
        let schema = plan.plan.schemas.get(provider, address.resource.mode, &address.resource.ty);
        let subject = Subject {
            address,
            paths,
            block: schema.map(|schema| &schema.block),
            ignored: plan.ignored.get(address).map_or(&[], Vec::as_slice),
            deletes: deleted.contains(address),
            waivers,
        };
        compared += 1;
        verdicts.extend(subject.compare(planned, actual));
    }
    if !verdicts.iter().any(Verdict::is_reject) {
        let message = match verdicts.is_empty() {
            true => format!("{compared} instances were read again and are as planned"),
            false => format!(
                "{compared} instances were read again; what differs does not matter or was accepted"
            ),
        };
        verdicts.push(Verdict::new(Stage::Resources, Outcome::Pass, message));
    }
    verdicts
}

impl Subject<'_> {
    fn compare(
        &self,
        planned: Option<&RefreshedInstance>,
        actual: Option<&RefreshedInstance>,
    ) -> Vec<Verdict> {
        let Some(actual) = actual else {
            let message = "it could not be read again, so nothing is known of it";
            let verdict = Verdict::reject(Stage::Resources, RejectCode::Drifted, message);
            return vec![verdict.on(self.address).remedy(PLAN_AGAIN)];
        };
        let current = |r: &'_ RefreshedInstance| r.current.clone();
        let mut verdicts =
            self.objects(None, planned.and_then(current).as_ref(), actual.current.as_ref());
        let none = BTreeMap::new();
        let before = planned.map_or(&none, |r| &r.deposed);
        let keys: BTreeSet<&DeposedKey> = before.keys().chain(actual.deposed.keys()).collect();
        for key in keys {
            verdicts.extend(self.objects(Some(key), before.get(key), actual.deposed.get(key)));
        }
        verdicts
    }

    /// Compares what the plan saw of one object with what there is now.
    pub(crate) fn objects(
        &self,
        deposed: Option<&DeposedKey>,
        planned: Option<&Object>,
        actual: Option<&Object>,
    ) -> Vec<Verdict> {
        let object = deposed
            .map_or_else(|| "the object".to_owned(), |key| format!("the deposed object {key}"));
        match (planned, actual) {
            (None, None) => Vec::new(),
            (Some(_), None) => {
                let message = format!("{object} existed when the plan was made, and is gone");
                vec![self.finding(message, None, true).compared("present", "gone")]
            }
            (None, Some(_)) => {
                let message =
                    format!("{object} did not exist when the plan was made, and does now");
                // Nobody has seen what would be deleted.
                let waivable = !self.deletes && deposed.is_none();
                vec![self.finding(message, None, waivable).compared("absent", "present")]
            }
            (Some(planned), Some(actual)) => {
                differences(self.block, &planned.value, &actual.value, self.ignored)
                    .into_iter()
                    .filter(|difference| self.looked_at(&difference.path))
                    .map(|difference| self.changed(&object, difference))
                    .collect()
            }
        }
    }

    fn looked_at(&self, path: &Path) -> bool {
        self.paths
            .is_none_or(|paths| paths.iter().any(|p| p.starts_with(path) || path.starts_with(p)))
    }

    fn changed(&self, object: &str, difference: Difference) -> Verdict {
        let Difference { path, planned, actual, newly_filled } = difference;
        // Where the plan read the attribute itself, its being filled changes what was planned.
        let read = self.paths.is_some();
        let mut verdict = match newly_filled && !read {
            true => {
                let message = format!(
                    "{object} has an attribute that was absent and that its provider has filled in"
                );
                Verdict::new(Stage::Resources, Outcome::Warn, message).on(self.address)
            }
            false => {
                let message = format!("{object} was changed since the plan was made");
                self.finding(message, Some(&path), true)
            }
        };
        verdict.path = Some(path.to_string());
        verdict.compared(planned, actual)
    }

    fn finding(&self, message: String, path: Option<&Path>, waivable: bool) -> Verdict {
        let text = path.map(ToString::to_string);
        let accepted = self.waivers.iter().any(|waiver| {
            waiver.address == *self.address
                && (waiver.path.is_none() || waiver.path.as_deref() == text.as_deref())
        });
        let flag = format!("-accept-drift='{}{}'", self.address, text.unwrap_or_default());
        if accepted && waivable {
            let message = format!("{message}; accepted by {flag}");
            return Verdict::new(Stage::Resources, Outcome::Warn, message).on(self.address);
        }
        let remedy = match waivable {
            true => format!("{PLAN_AGAIN}, or accept it with `plumb apply {flag} FILE`"),
            false => PLAN_AGAIN.to_owned(),
        };
        Verdict::reject(Stage::Resources, RejectCode::Drifted, message)
            .on(self.address)
            .remedy(remedy)
    }
}
