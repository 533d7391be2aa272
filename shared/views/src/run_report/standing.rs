//! How far the changes of a plan have come.

use super::{ChangeReport, RunReport};
use engine::transaction::{MemberProgress, Standing};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far one change has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeStanding {
    /// It is made and recorded.
    Recorded,
    /// It failed, and what is left is recorded.
    Failed,
    /// Its provider was asked, and no answer is recorded.
    InFlight,
    /// A part of it is done.
    HalfDone,
    /// It was not begun.
    NotBegun,
}

impl ChangeStanding {
    /// In a word or two.
    pub fn says(self) -> &'static str {
        match self {
            ChangeStanding::Recorded => "made and recorded",
            ChangeStanding::Failed => "failed",
            ChangeStanding::InFlight => "in flight",
            ChangeStanding::HalfDone => "half done",
            ChangeStanding::NotBegun => "not begun",
        }
    }
}

impl From<&MemberProgress> for ChangeStanding {
    fn from(member: &MemberProgress) -> ChangeStanding {
        match &member.standing {
            Standing::Done { failed: false } => ChangeStanding::Recorded,
            Standing::Done { failed: true } => ChangeStanding::Failed,
            Standing::InFlight(_) => ChangeStanding::InFlight,
            Standing::Unfinished(_) => ChangeStanding::HalfDone,
            Standing::ToDo(claim) if claim.begun => ChangeStanding::HalfDone,
            Standing::ToDo(_) => ChangeStanding::NotBegun,
        }
    }
}

/// A change of a plan of which is known how far it has come.
#[derive(Clone, Copy, Debug)]
pub struct StandingChange<'a> {
    /// Its position among the changes of the plan.
    pub position: usize,
    /// The change.
    pub change: &'a ChangeReport,
    /// How far it has come.
    pub standing: ChangeStanding,
}

impl RunReport {
    /// How far the changes have come of a run that has not made all of them, as far as that is known.
    pub fn standings(&self) -> Vec<StandingChange<'_>> {
        let standing: BTreeMap<&str, ChangeStanding> =
            self.standing.iter().map(|(address, is)| (address.as_str(), *is)).collect();
        let plan = self.plan.iter().filter(|_| self.applied.is_none());
        let changes = plan.flat_map(|plan| plan.changes.iter().enumerate());
        let known = changes.filter_map(|(position, change)| {
            let standing = *standing.get(change.address.as_str())?;
            Some(StandingChange { position, change, standing })
        });
        known.collect()
    }
}

/// How far changes have come, in one line: `7 of 10 changes are made and recorded, 1 failed, 2 not begun`.
pub fn standing_line(changes: &[StandingChange<'_>]) -> String {
    let count = |standing: ChangeStanding| {
        changes.iter().filter(|change| change.standing == standing).count()
    };
    let (made, all) = (count(ChangeStanding::Recorded), changes.len());
    let mut line = format!("{made} of {all} changes are made and recorded");
    for standing in [
        ChangeStanding::Failed,
        ChangeStanding::InFlight,
        ChangeStanding::HalfDone,
        ChangeStanding::NotBegun,
    ] {
        match count(standing) {
            0 => {}
            n => line.push_str(&format!(", {n} {}", standing.says())),
        }
    }
    line
}
