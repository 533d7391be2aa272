//! The policy gate: a program of the team's own that looks at a plan before anybody is asked to approve it.
//!
//! It is given the plan as `plumb show -json` writes it, on its standard input, and no credentials. What it says is a verdict of
//! the stage `policy`: a rejection where the policy is mandatory, and a warning where it is advisory.

mod answer;
mod program;

use crate::discretion::Discretion;
use crate::project::{Enforcement, PolicyTable};
use crate::shown_plan;
use answer::{Objection, PolicyAnswer};
use engine::saved_plan::SavedPlan;
use engine::verdict::{Outcome, RejectCode, Stage, Verdict};
use program::{Program, ProgramError};
use std::ffi::OsString;
use std::path::PathBuf;

/// What a policy's program inherits: enough to start, and nothing that authorises.
const INHERITED: [&str; 6] = ["PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR"];
/// How many objections are told of.
const TOLD: usize = 50;

/// A policy, and where its program runs.
#[derive(Clone, Debug)]
pub struct PolicyGate {
    /// What is to be run.
    pub table: PolicyTable,
    /// The folder that it works in.
    pub directory: PathBuf,
    /// The environment of this process, of which it gets what is harmless.
    pub environment: Vec<(OsString, OsString)>,
}

/// Why a policy came to no answer.
#[derive(Debug, thiserror::Error)]
enum PolicyError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("its answer is not understood: {0}")]
    Answer(String),
}

impl PolicyGate {
    /// What the policy says of a plan. Sensitive values that it repeats are hidden.
    pub async fn evaluate(&self, plan: &SavedPlan) -> Vec<Verdict> {
        let mut discretion = Discretion::default();
        discretion.of_plan(&plan.plan);
        let name = self.table.name();
        match self.ask(plan).await {
            Ok(objections) if objections.is_empty() => {
                let message = format!("the policy {name} agrees");
                vec![Verdict::new(Stage::Policy, Outcome::Pass, message)]
            }
            Ok(objections) => {
                let more = objections.len().saturating_sub(TOLD);
                let told = objections.into_iter().take(TOLD).map(|objection| {
                    let verdict = self.objects(discretion.conceal(&objection.message));
                    match objection.address {
                        Some(address) => verdict.on(address),
                        None => verdict,
                    }
                });
                let mut verdicts: Vec<Verdict> = told.collect();
                if more > 0 {
                    verdicts.push(self.objects(format!("{more} more objections of {name}")));
                }
                verdicts
            }
            Err(error) => {
                let problem = discretion.conceal(&error.to_string());
                let message = format!("the policy {name} came to no answer: {problem}");
                vec![self.objects(message).remedy("mend the policy, and plan again")]
            }
        }
    }

    /// One objection. Where the policy is mandatory, what it did not look at is not let through.
    fn objects(&self, message: String) -> Verdict {
        match self.table.enforcement {
            Enforcement::Mandatory => Verdict::reject(Stage::Policy, RejectCode::Policy, message),
            Enforcement::Advisory => Verdict::new(Stage::Policy, Outcome::Warn, message),
        }
    }

    async fn ask(&self, plan: &SavedPlan) -> Result<Vec<Objection>, PolicyError> {
        let mut input = Vec::new();
        shown_plan::write_json(plan, false, &mut input).map_err(ProgramError::Input)?;
        let inherited = self.environment.iter();
        let inherited = inherited.filter(|(name, _)| INHERITED.iter().any(|known| name == known));
        let mut words = self.table.words().into_iter();
        let program = Program {
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            directory: &self.directory,
            environment: inherited.cloned().collect(),
            time: self.table.time(),
        };
        let ran = program.run(input).await?;
        let answer = match self.table.opa {
            Some(_) => PolicyAnswer::of_opa(&ran),
            None => PolicyAnswer::of_command(&ran),
        };
        Ok(answer.map_err(PolicyError::Answer)?.objections)
    }
}
