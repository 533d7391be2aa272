//! The drift of all estates: what differs from its record, since when and how often, and what could not be looked at.

use crate::colour::Colour;
use crate::run_report::ChangeReport;
use crate::visible::named;
use engine::clock::moment;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// What stands in place of the objects that differ, where none is known.
pub(crate) const FORGOTTEN: &str =
    "Which objects differ is not known: what was found is kept no more, or it was outputs alone.";

/// Version of the JSON.
pub const FORMAT_VERSION: &str = "1.0";

/// The drift of all estates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriftReport {
    /// The version of this.
    pub format_version: String,
    /// The estates, in the order of their names.
    pub estates: Vec<EstateDrift>,
    /// The days on which somebody looked, the first one first.
    pub trend: Vec<DriftDay>,
}

/// The drift of one estate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstateDrift {
    /// Its name.
    pub estate: String,
    /// When somebody looked, the last time first.
    pub looks: Vec<DriftLook>,
    /// What differed when it was last looked at successfully.
    pub drifted: Vec<DriftedObject>,
    /// What differed at some time before, and does no more.
    pub recovered: Vec<String>,
}

/// One look at an estate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftLook {
    /// The run that looked.
    pub run: String,
    /// When, seconds since the epoch.
    pub at: i64,
    /// What came of it.
    pub outcome: DriftOutcome,
    /// How many objects differed.
    #[serde(default)]
    pub objects: usize,
    /// Why it could not be looked at, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Where to read on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// What came of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftOutcome {
    /// All is as recorded.
    Clean,
    /// Objects differ.
    Drifted,
    /// It could not be looked at.
    NotChecked,
}

/// An object that differs from its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriftedObject {
    /// Since when, as far as looks reach back.
    pub since: i64,
    /// At how many of the looks it differed.
    pub seen: usize,
    /// How many looks there were that saw anything.
    pub looks: usize,
    /// What differs.
    pub change: ChangeReport,
}

/// What was found on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftDay {
    /// The day, as in `2026-01-31`, by UTC.
    pub day: String,
    /// Estates that were looked at.
    pub estates: usize,
    /// Objects that differed, as each estate was last looked at on that day.
    pub objects: usize,
    /// Estates that could not be looked at.
    pub not_checked: usize,
}

impl DriftReport {
    /// Of estates in any order.
    pub fn new(mut estates: Vec<EstateDrift>) -> DriftReport {
        estates.sort_by(|a, b| a.estate.cmp(&b.estate));
        let trend = trend(&estates);
        DriftReport { format_version: FORMAT_VERSION.to_owned(), estates, trend }
    }

    /// Writes it for programs: one JSON object and a newline.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes it for people.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_text(&self, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
        let (drifted, unchecked) = self.counts();
        let all = self.estates.len();
        writeln!(
            out,
            "{drifted} of {all} estates have drifted, {unchecked} could not be checked."
        )?;
        for estate in &self.estates {
            let last = estate.looks.first();
            if let Some(look) = last.filter(|look| !look.is_checked()) {
                let line = "\n[bold]{}[reset] [yellow]could not be checked[reset]: {}{}";
                let code = look.code.as_deref().unwrap_or_default();
                let before = match estate.has_drifted() {
                    true => "; when it last was, it had drifted",
                    false => "",
                };
                writeln!(out, "{}", colour.paint(line, &[&estate.estate, code, before]))?;
            } else if last.is_none() {
                writeln!(
                    out,
                    "{}",
                    colour.paint("\n[bold]{}[reset] was never looked at", &[&estate.estate])
                )?;
            } else if estate.has_drifted() {
                let line = "\n[bold]{}[reset] [red]has drifted[reset]";
                writeln!(out, "{}", colour.paint(line, &[&estate.estate]))?;
            }
            if estate.has_drifted() && estate.drifted.is_empty() {
                writeln!(out, "  {FORGOTTEN}")?;
            }
            for object in &estate.drifted {
                let (name, since) = (named(&object.change.name()), moment(object.since));
                let (seen, looks) = (object.seen, object.looks);
                writeln!(out, "  {name}: since {since}, at {seen} of {looks} looks")?;
            }
        }
        Ok(())
    }

    /// How many estates differ, and how many could not be looked at when somebody last did.
    pub fn counts(&self) -> (usize, usize) {
        let drifted = self.estates.iter().filter(|estate| estate.has_drifted()).count();
        let unchecked = self.estates.iter().filter(|estate| !estate.is_checked()).count();
        (drifted, unchecked)
    }
}

impl DriftLook {
    /// Whether it saw anything.
    pub fn is_checked(&self) -> bool {
        self.outcome != DriftOutcome::NotChecked
    }
}

impl EstateDrift {
    /// Of looks, the last one first, each with what differed.
    pub fn new(estate: &str, looks: Vec<(DriftLook, Vec<ChangeReport>)>) -> EstateDrift {
        let object_of = |change: &ChangeReport| (change.address.clone(), change.deposed.clone());
        // What a look has found may be kept no more.
        let is_known = |look: &DriftLook, changes: &[ChangeReport]| match look.outcome {
            DriftOutcome::Clean => true,
            DriftOutcome::Drifted => !changes.is_empty(),
            DriftOutcome::NotChecked => false,
        };
        let seeing: Vec<(i64, BTreeSet<_>)> = looks
            .iter()
            .filter(|(look, changes)| is_known(look, changes))
            .map(|(look, changes)| (look.at, changes.iter().map(object_of).collect()))
            .collect();
        let last = looks.iter().find(|(look, _)| look.is_checked());
        let object = |change: &ChangeReport| {
            let name = object_of(change);
            let unbroken = seeing.iter().take_while(|(_, seen)| seen.contains(&name));
            DriftedObject {
                since: unbroken.last().map_or(0, |(at, _)| *at),
                seen: seeing.iter().filter(|(_, seen)| seen.contains(&name)).count(),
                looks: seeing.len(),
                change: change.clone(),
            }
        };
        let found = last.iter().flat_map(|(_, changes)| changes);
        let drifted: Vec<_> = found.map(object).collect();
        let now: BTreeSet<_> = drifted.iter().map(|object| object_of(&object.change)).collect();
        let before: BTreeSet<_> = seeing.iter().flat_map(|(_, seen)| seen).collect();
        let tells = last.is_some_and(|(look, changes)| is_known(look, changes));
        let recovered = before.into_iter().filter(|name| tells && !now.contains(*name));
        EstateDrift {
            estate: estate.to_owned(),
            recovered: recovered.map(|(address, _)| address.clone()).collect(),
            drifted,
            looks: looks.into_iter().map(|(look, _)| look).collect(),
        }
    }

    /// Whether the last look saw anything.
    pub fn is_checked(&self) -> bool {
        self.looks.first().is_some_and(DriftLook::is_checked)
    }

    /// Whether anything differed when it was last looked at successfully; what, may be kept no more.
    pub fn has_drifted(&self) -> bool {
        let last = self.looks.iter().find(|look| look.is_checked());
        last.is_some_and(|look| look.outcome == DriftOutcome::Drifted)
    }
}

fn trend(estates: &[EstateDrift]) -> Vec<DriftDay> {
    let mut days = BTreeMap::<String, DriftDay>::new();
    for estate in estates {
        let mut seen = BTreeSet::new();
        for look in &estate.looks {
            let Ok(time) = Timestamp::from_second(look.at) else { continue };
            let day = time.strftime("%Y-%m-%d").to_string();
            // The last look of a day stands for it.
            if !seen.insert(day.clone()) {
                continue;
            }
            let entry = days.entry(day.clone()).or_default();
            entry.day = day;
            entry.estates += 1;
            entry.objects += look.objects;
            entry.not_checked += usize::from(look.outcome == DriftOutcome::NotChecked);
        }
    }
    days.into_values().collect()
}
