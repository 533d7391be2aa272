//! The real world: things that a provider makes, changes and deletes, apart from all records of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A plan, by its number in the simulation.
pub type PlanNumber = usize;

/// What there is to know of a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What the provider calls it.
    pub id: String,
    /// What its configuration calls it.
    pub label: String,
    /// What an update changes.
    pub value: Option<String>,
    /// What only a new thing can change.
    pub place: Option<String>,
    /// The id of another thing.
    pub link: Option<String>,
    /// Another with each change that the provider was asked for.
    pub stamp: String,
    /// What the world changes by itself.
    pub hits: u64,
}

/// A thing.
#[derive(Clone, Debug)]
pub struct Thing {
    /// Its type.
    pub ty: String,
    /// What it is like, or will be.
    pub facts: Facts,
    /// Until then, it has this value instead.
    pub unfinished: Option<(Duration, Option<String>)>,
    /// Which plan made it.
    pub made_by: Option<PlanNumber>,
    /// The request token it was made with.
    pub token: Option<String>,
}

impl Thing {
    /// What it is like now.
    #[must_use]
    pub fn at(&self, now: Duration) -> Facts {
        match &self.unfinished {
            Some((until, value)) if now < *until => {
                Facts { value: value.clone(), ..self.facts.clone() }
            }
            _ => self.facts.clone(),
        }
    }
}

/// All things, and what must never happen to them.
#[derive(Debug, Default)]
pub struct Things {
    /// Things by id.
    pub all: BTreeMap<String, Thing>,
    /// What each plan was to change, by label.
    pub changed_by: BTreeMap<PlanNumber, BTreeSet<String>>,
    /// What was broken.
    pub violations: Vec<String>,
    created: BTreeMap<(PlanNumber, String), String>,
    deleted_by_hand: BTreeSet<String>,
    plans: PlanNumber,
    ids: u64,
    stamps: u64,
}

/// What a provider is asked to do.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which plan asks.
    pub plan: Option<PlanNumber>,
    /// The type.
    pub ty: String,
    /// The thing as the asker knows it.
    pub prior: Option<Facts>,
    /// The thing as it shall be.
    pub planned: Option<Facts>,
    /// A request token.
    pub token: Option<String>,
}

/// How far a provider goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All the way.
    Whole,
    /// All the way, but not before this.
    Slowly(Duration),
    /// Part of the way, and fails.
    Half,
    /// Nowhere: it refuses.
    Nowhere,
}

/// What came of a change.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The thing that it was about, where there is one.
    pub id: Option<String>,
    /// Why it failed, if it did.
    pub refused: Option<&'static str>,
}

impl Things {
    /// The number of the next plan.
    pub fn next_plan(&mut self) -> PlanNumber {
        self.plans += 1;
        self.plans
    }

    fn stamp(&mut self) -> String {
        self.stamps += 1;
        format!("s{}", self.stamps)
    }

    fn violated(&mut self, what: String) {
        self.violations.push(what);
    }

    /// The thing that was made with a token.
    #[must_use]
    pub fn by_token(&self, token: &str) -> Option<&Thing> {
        self.all.values().find(|thing| thing.token.as_deref() == Some(token))
    }

    /// The only thing of a type with a label.
    #[must_use]
    pub fn by_label(&self, ty: &str, label: &str) -> Option<&Thing> {
        self.all.values().find(|thing| thing.ty == ty && thing.facts.label == label)
    }

    /// Makes, changes or deletes a thing.
    pub fn change(&mut self, change: &Change, extent: Extent) -> Outcome {
        match (&change.prior, &change.planned) {
            (None, Some(planned)) => self.create(change, planned, extent),
            (Some(prior), Some(planned)) => self.update(change, prior, planned, extent),
            (Some(prior), None) => self.delete(change, prior, extent),
            (None, None) => Outcome { id: None, refused: None },
        }
    }

    fn create(&mut self, change: &Change, planned: &Facts, extent: Extent) -> Outcome {
        let refused = |why| Outcome { id: None, refused: Some(why) };
        if let Some(token) = &change.token
            && let Some(made) = self.by_token(token)
        {
            return Outcome { id: Some(made.facts.id.clone()), refused: None };
        }
        if extent == Extent::Nowhere {
            return refused("refused");
        }
        if change.ty == "sim_named" && self.by_label(&change.ty, &planned.label).is_some() {
            return refused("the name is taken");
        }
        self.ids += 1;
        let id = format!("t{}", self.ids);
        if let Some(plan) = change.plan {
            let key = (plan, planned.label.clone());
            if let Some(before) = self.created.insert(key, id.clone()) {
                self.violated(format!(
                    "Repeated: plan {plan} has made {} twice, as {before} and as {id}",
                    planned.label
                ));
            }
        }
        self.check_link(planned);
        let facts = Facts { id: id.clone(), stamp: self.stamp(), hits: 0, ..planned.clone() };
        let unfinished = match extent {
            Extent::Slowly(until) => Some((until, None)),
            _ => None,
        };
        let (made_by, token, ty) = (change.plan, change.token.clone(), change.ty.clone());
        self.all.insert(id.clone(), Thing { ty, facts, unfinished, made_by, token });
        let refused = (extent == Extent::Half).then_some("made, and then something failed");
        Outcome { id: Some(id), refused }
    }

    fn update(
        &mut self,
        change: &Change,
        prior: &Facts,
        planned: &Facts,
        extent: Extent,
    ) -> Outcome {
        let id = prior.id.clone();
        let Some(thing) = self.all.get(&id) else {
            return Outcome { id: None, refused: Some("there is no such thing") };
        };
        if extent == Extent::Nowhere {
            return Outcome { id: Some(id), refused: Some("refused") };
        }
        let (old, before) = (thing.facts.stamp.clone(), thing.facts.value.clone());
        self.check_state(change, prior, &old, "changes");
        self.check_link(planned);
        let stamp = self.stamp();
        if let Some(thing) = self.all.get_mut(&id) {
            thing.facts.stamp = stamp;
            thing.facts.label.clone_from(&planned.label);
            thing.facts.link.clone_from(&planned.link);
            thing.unfinished = None;
            match extent {
                Extent::Half => {}
                Extent::Slowly(until) => thing.unfinished = Some((until, before)),
                _ => {}
            }
            if extent != Extent::Half {
                thing.facts.value.clone_from(&planned.value);
            }
        }
        let refused = (extent == Extent::Half).then_some("changed in part");
        Outcome { id: Some(id), refused }
    }

    fn delete(&mut self, change: &Change, prior: &Facts, extent: Extent) -> Outcome {
        let id = prior.id.clone();
        let Some(thing) = self.all.get(&id) else { return Outcome { id: None, refused: None } };
        if matches!(extent, Extent::Nowhere | Extent::Half) {
            return Outcome { id: Some(id), refused: Some("refused") };
        }
        let old = thing.facts.stamp.clone();
        self.check_state(change, prior, &old, "deletes");
        let own = change.plan.and_then(|plan| self.changed_by.get(&plan));
        let dangling: Vec<String> = self
            .all
            .values()
            .filter(|other| other.facts.link.as_ref() == Some(&id))
            .filter(|other| !own.is_some_and(|labels| labels.contains(&other.facts.label)))
            .map(|other| other.facts.id.clone())
            .collect();
        for other in dangling {
            let plan = change.plan;
            self.violated(format!(
                "Dangling: plan {plan:?} deletes {id}, which {other} refers to and the plan does not change"
            ));
        }
        self.all.remove(&id);
        Outcome { id: None, refused: None }
    }

    /// Whoever changes a thing knows the last change that any provider made to it.
    fn check_state(&mut self, change: &Change, prior: &Facts, stamp: &str, what: &str) {
        if prior.stamp != stamp {
            let (plan, id) = (change.plan, &prior.id);
            let known = &prior.stamp;
            self.violated(format!(
                "SameState: plan {plan:?} {what} {id} as of {known}, and it is {stamp}: somebody has changed it since"
            ));
        }
    }

    fn check_link(&mut self, planned: &Facts) {
        let Some(link) = &planned.link else { return };
        if !self.all.contains_key(link) && !self.deleted_by_hand.contains(link) {
            let text =
                format!("Dangling: {} is to refer to {link}, which is deleted", planned.label);
            self.violated(text);
        }
    }

    /// Deletes a thing by hand.
    pub fn delete_by_hand(&mut self, id: &str) {
        self.all.remove(id);
        self.deleted_by_hand.insert(id.to_owned());
    }
}
