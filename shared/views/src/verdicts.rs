//! What the stages of a saved plan came to, for people and for programs.

use crate::colour::Colour;
use crate::json::{Escape, Fields, write_array};
use engine::verdict::{Outcome, RejectCode, Stage, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// Version of the JSON.
pub const FORMAT_VERSION: &str = "1.0";

/// The stages in the order in which they are shown.
const STAGES: [Stage; 8] = [
    Stage::Snapshot,
    Stage::Authenticity,
    Stage::Lineage,
    Stage::Serial,
    Stage::Records,
    Stage::Resources,
    Stage::Upstream,
    Stage::Policy,
];

/// The verdicts on one plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanVerdicts<'a> {
    /// The plan's id.
    pub plan: &'a str,
    /// The verdicts, in any order.
    pub verdicts: &'a [Verdict],
}

impl PlanVerdicts<'_> {
    /// What they come to together: the gravest of them. Stages that were not checked do not count
    /// where another passed.
    pub fn result(&self) -> Outcome {
        let gravest = |verdicts: &[Verdict]| {
            verdicts.iter().map(|v| v.outcome).filter(|o| *o != Outcome::NotChecked).max()
        };
        gravest(self.verdicts).unwrap_or(Outcome::NotChecked)
    }

    /// The kind of the first rejection.
    pub fn code(&self) -> Option<RejectCode> {
        self.sorted().into_iter().filter(|v| v.outcome == Outcome::Reject).find_map(|v| v.code)
    }

    fn sorted(&self) -> Vec<&Verdict> {
        let mut verdicts: Vec<_> = self.verdicts.iter().collect();
        verdicts.sort_by_key(|v| v.stage);
        verdicts
    }

    /// Writes a line for each stage that has a verdict, its findings, and the result.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_text(&self, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
        let verdicts = self.sorted();
        writeln!(out, "Plan {}", self.plan)?;
        for stage in STAGES {
            let of_stage: Vec<_> = verdicts.iter().filter(|v| v.stage == stage).collect();
            let Some(gravest) = of_stage.iter().max_by_key(|v| v.outcome) else { continue };
            let name = format!("{:12}", stage.to_string());
            let says = match of_stage.as_slice() {
                [only] if !has_finding(only) => only.message.clone(),
                _ => findings(of_stage.iter().filter(|v| has_finding(v)).count()),
            };
            let line = colour.paint(line_template(gravest.outcome), &[&name, &says]);
            writeln!(out, "{}", line.trim_end())?;
            for verdict in of_stage.iter().filter(|v| of_stage.len() > 1 || has_finding(v)) {
                write_finding(verdict, out)?;
            }
        }
        let (template, text) = match self.result() {
            Outcome::Pass => ("[bold][green]{}[reset]", "The plan can be applied."),
            Outcome::Warn => {
                ("[bold][yellow]{}[reset]", "The plan can be applied, with the warnings above.")
            }
            Outcome::Reject => {
                ("[bold][red]{}[reset]", "The plan is rejected: nothing was changed.")
            }
            Outcome::NotChecked => ("[bold]{}[reset]", "Nothing was checked."),
        };
        writeln!(out, "\n{}", colour.paint(template, &[text]))
    }

    /// Writes one JSON object and a newline.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        self.push_json(&mut line);
        writeln!(out, "{line}")
    }

    pub(crate) fn push_json(&self, out: &mut String) {
        let mut fields = Fields::begin(out, Escape::Minimal);
        fields.string("format_version", FORMAT_VERSION);
        fields.string("plan", self.plan);
        write_array(self.sorted(), fields.key("verdicts"), |v, out| out.push_str(&json(v)));
        fields.raw("result", json(&self.result()));
        if let Some(code) = self.code() {
            fields.raw("code", json(&code));
        }
        fields.end();
    }
}

/// Serializing plain data cannot fail.
pub(crate) fn json<T: Serialize>(data: &T) -> String {
    serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned())
}

/// Whether a verdict speaks of one thing, and not of the stage as a whole.
fn has_finding(verdict: &Verdict) -> bool {
    verdict.address.is_some() || verdict.planned.is_some() || verdict.remedy.is_some()
}

fn findings(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "1 finding".to_owned(),
        n => format!("{n} findings"),
    }
}

fn line_template(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "  [green]✓[reset] {} pass         {}",
        Outcome::NotChecked => "  - {} not checked  {}",
        Outcome::Warn => "  [yellow]![reset] {} warn         {}",
        Outcome::Reject => "  [red]✗[reset] {} REJECT       {}",
    }
}

fn write_finding(verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
    let place = format!(
        "{}{}",
        verdict.address.as_deref().unwrap_or_default(),
        verdict.path.as_deref().unwrap_or_default()
    );
    match place.is_empty() {
        true => writeln!(out, "      {}", verdict.message)?,
        false => writeln!(out, "      {place}: {}", verdict.message)?,
    }
    if let Some(planned) = &verdict.planned {
        writeln!(out, "        planned: {planned}")?;
    }
    if let Some(actual) = &verdict.actual {
        writeln!(out, "        actual:  {actual}")?;
    }
    if let Some(principal) = &verdict.waived_by {
        writeln!(out, "        waived:  by {principal}")?;
    }
    if let Some(remedy) = &verdict.remedy {
        writeln!(out, "        remedy:  {remedy}")?;
    }
    Ok(())
}
