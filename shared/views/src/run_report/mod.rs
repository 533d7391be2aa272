//! What is told of a run: one model, from which the page, the comment and the summary are written.
//!
//! It holds nothing that must not be shown: sensitive values are masked where it is made, so that it may be stored where
//! plans may not. Steps of a run keep what they have to say as [`StepReport`]s, and [`RunReport::tell`] puts them together.

mod danger;
mod plan;
mod standing;
mod summary;

pub use crate::diff::{DiffRow, Mark, Part, RowValue};
pub use danger::{Danger, stateful};
pub use standing::{ChangeStanding, StandingChange, standing_line};
pub use summary::{summary_line, write_summary};

use engine::changes::Action;
use engine::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// Version of the JSON.
pub const FORMAT: u32 = 1;

/// What is told of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// The estate.
    pub estate: String,
    /// The run, where there is one; a saved plan alone belongs to none.
    pub run: Option<String>,
    /// How far it is, in a few words: `waiting for approval`.
    pub status: String,
    /// Whether that is good.
    pub tone: Tone,
    /// What is known of it: who, what for, which commit.
    pub facts: Vec<Fact>,
    /// Its way through the workflow.
    pub path: Vec<PathStep>,
    /// What can be done now.
    pub next: Option<NextStep>,
    /// The plan.
    pub plan: Option<PlanReport>,
    /// What the stages came to, each as it was checked last.
    pub verdicts: Vec<Verdict>,
    /// Errors and warnings.
    pub messages: Vec<Message>,
    /// What was done, once all of it is.
    pub applied: Option<AppliedReport>,
    /// How far each instance's change has come, by address, as the last attempt left it that came to its end.
    pub standing: Vec<(String, ChangeStanding)>,
}

/// Whether something is good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither.
    #[default]
    Neutral,
    /// Somebody has to do something.
    Waiting,
    /// It is.
    Good,
    /// It is not.
    Bad,
}

/// Something that is known of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What.
    pub name: String,
    /// What it is.
    pub value: String,
    /// Whether the value is a name of the machine's: a digest, a commit.
    pub code: bool,
}

impl Fact {
    /// In words.
    pub fn new(name: &str, value: impl Into<String>) -> Fact {
        Fact { name: name.to_owned(), value: value.into(), code: false }
    }
    /// A name.
    pub fn code(name: &str, value: impl Into<String>) -> Fact {
        Fact { code: true, ..Fact::new(name, value) }
    }
}

/// How far a run is with one part of the workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is over.
    Done,
    /// It is at it.
    Now,
    /// It ended here.
    Stopped,
    /// It passes it by.
    Skipped,
    /// It is still to come.
    Ahead,
}

/// One part of the workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Its name.
    pub name: String,
    /// How far the run is with it.
    pub progress: Progress,
    /// What came of it, in a few words.
    pub note: String,
}

/// What can be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// What, in a sentence.
    pub sentence: String,
    /// The commands that do it, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// An error or a warning, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Whether it is an error.
    pub error: bool,
    /// All of it.
    pub text: String,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedReport {
    /// In a sentence.
    pub summary: String,
    /// The outputs as they are now.
    #[serde(default)]
    pub outputs: Vec<OutputReport>,
}

/// What one step of a run has to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The version of this.
    pub format: u32,
    /// The plan that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReport>,
    /// What the stages came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
    /// Errors and warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
    /// What was done, once all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedReport>,
    /// How far each instance's change has come, by address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<(String, ChangeStanding)>,
}

/// What kind of plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// Make the world as configured.
    #[default]
    Normal,
    /// Delete everything.
    Destroy,
    /// Only bring the records up to the world.
    RefreshOnly,
}

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// Its id, if it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its kind.
    pub kind: PlanKind,
    /// When it was made, seconds since the epoch.
    pub made: i64,
    /// Until when it may be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// Whether it was made without errors.
    pub complete: bool,
    /// Whether only some resources were planned.
    pub targeted: bool,
    /// How many changes there are.
    pub counts: Counts,
    /// What is to be changed, in the order of addresses.
    pub changes: Vec<ChangeReport>,
    /// What changed in the world.
    pub drift: Vec<ChangeReport>,
    /// What becomes of the outputs.
    pub outputs: Vec<OutputReport>,
    /// The resources that change, and what they depend on.
    pub resources: Vec<ResourceReport>,
}

/// How many changes there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Imported.
    pub import: usize,
    /// Created; without replacements.
    pub create: usize,
    /// Updated in place.
    pub update: usize,
    /// Replaced.
    pub replace: usize,
    /// Destroyed; without replacements.
    pub destroy: usize,
    /// Dropped from the records.
    pub forget: usize,
    /// Read while applying.
    pub read: usize,
    /// Only recorded under another address.
    pub moved: usize,
}

/// The change of one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeReport {
    /// The instance.
    pub address: String,
    /// Its module; empty for the root module.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub module: String,
    /// The type of the resource.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether it is a data source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub data: bool,
    /// What is to be done.
    pub action: Action,
    /// Where the object is recorded now, if it moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Which deposed object, if not the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    /// The identifier that it is imported by; empty where it has another identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// Why, in a few words, where it is not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What may be lost by it.
    #[serde(default)]
    pub danger: Danger,
    /// What kind of data the object holds, if its type is known to hold any: `database`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// The resource, as a position among the resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<usize>,
    /// What differs.
    pub rows: Vec<DiffRow>,
}

/// What becomes of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputReport {
    /// Its name.
    pub name: String,
    /// What differs, or what it is.
    pub rows: Vec<DiffRow>,
}

/// A resource with instances that change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceReport {
    /// Its address in the configuration.
    pub address: String,
    /// Its module there; empty for the root module.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub module: String,
    /// The resources among these that it refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<usize>,
}

impl StepReport {
    /// With nothing to say yet.
    pub fn new() -> StepReport {
        StepReport { format: FORMAT, ..StepReport::default() }
    }
}

impl RunReport {
    /// Adds what a step said. Steps are told in their order: what a later one found of a stage counts.
    pub fn tell(&mut self, step: StepReport) {
        if step.plan.is_some() {
            self.plan = step.plan;
        }
        let checked: Vec<_> = step.verdicts.iter().map(|verdict| verdict.stage).collect();
        self.verdicts.retain(|verdict| !checked.contains(&verdict.stage));
        self.verdicts.extend(step.verdicts);
        // A step that is repeated says the same once.
        for message in step.messages {
            if !self.messages.contains(&message) {
                self.messages.push(message);
            }
        }
        if step.applied.is_some() {
            self.applied = step.applied;
        }
        if !step.standing.is_empty() {
            self.standing = step.standing;
        }
    }
}

/// What stands in place of attributes for which there is no room.
const LEFT_OUT: &str =
    "The attributes are left out here, since there are too many: plumb show has them.";

impl PlanReport {
    /// With about so many bytes of attributes: where there are more, those of the gravest changes are kept.
    #[must_use]
    pub fn within(mut self, bytes: usize) -> PlanReport {
        let mut changes: Vec<&mut ChangeReport> =
            self.changes.iter_mut().chain(&mut self.drift).collect();
        changes.sort_by_key(|change| std::cmp::Reverse(change.danger));
        let mut room = bytes;
        for change in changes {
            match room.checked_sub(change.rows.iter().map(DiffRow::size).sum()) {
                Some(rest) => room = rest,
                None => change.rows = vec![DiffRow::note(LEFT_OUT)],
            }
        }
        self
    }

    /// Whether there is anything to apply.
    pub fn has_changes(&self) -> bool {
        let drifted = self.kind == PlanKind::RefreshOnly && !self.drift.is_empty();
        drifted || !self.changes.is_empty() || !self.outputs.is_empty()
    }

    /// What it leaves out, in a few words each.
    pub fn limits(&self) -> impl Iterator<Item = &'static str> {
        let limits = [
            (!self.complete, "the plan is not complete"),
            (self.targeted, "only some resources were planned"),
        ];
        limits.into_iter().filter_map(|(holds, limit)| holds.then_some(limit))
    }

    /// The changes that may lose something, each with its position among all; the gravest first, and else in the order of
    /// addresses.
    pub fn dangerous(&self) -> Vec<(usize, &ChangeReport)> {
        let changes = self.changes.iter().enumerate();
        let mut dangerous: Vec<_> =
            changes.filter(|(_, change)| change.danger > Danger::None).collect();
        dangerous.sort_by_key(|(_, change)| std::cmp::Reverse(change.danger));
        dangerous
    }
}

/// An address within its module.
fn local<'a>(address: &'a str, module: &str) -> &'a str {
    match module.is_empty() {
        true => address,
        false => address.get(module.len() + 1..).unwrap_or(address),
    }
}

impl ResourceReport {
    /// The address within its module.
    pub fn local_address(&self) -> &str {
        local(&self.address, &self.module)
    }
}

impl ChangeReport {
    /// The object: the address of its instance, and which one it is, if not the current one.
    pub fn name(&self) -> String {
        match &self.deposed {
            Some(key) => format!("{} (deposed {key})", self.address),
            None => self.address.clone(),
        }
    }

    /// The address within its module.
    pub fn local_address(&self) -> &str {
        local(&self.address, &self.module)
    }

    /// What is done, in one word; what only moves or is imported says so.
    pub fn verb(&self) -> &'static str {
        match self.action {
            Action::NoOp if self.imported.is_some() => "import",
            Action::NoOp => "move",
            Action::Create => "create",
            Action::Read => "read",
            Action::Update => "update",
            Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
            Action::Delete => "destroy",
            Action::Forget => "forget",
        }
    }

    /// The signs that stand for it.
    pub fn symbol(&self) -> &'static str {
        match self.action {
            Action::NoOp => "→",
            Action::Create => "+",
            Action::Read => "≤",
            Action::Update => "~",
            Action::DeleteThenCreate => "−/+",
            Action::CreateThenDelete => "+/−",
            Action::Delete => "−",
            Action::Forget => ".",
        }
    }
}
