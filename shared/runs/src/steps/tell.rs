//! What a step has to say, as text for people. Sensitive values are masked by the views.

use super::StepError;
use crate::discretion::Discretion;
use engine::verdict::Verdict;
use language::diagnostics::Diagnostics;
use language::source::Sources;
use std::io;
use views::Colour;
use views::PlanView;
use views::diagnostics::{DiagnosticOptions, write_text};
use views::plan_text::{TextOptions, write_plan};
use views::verdicts::PlanVerdicts;

/// Text that is written bit by bit.
#[derive(Default)]
pub(super) struct Told(Vec<u8>);

impl Told {
    pub(super) fn plan(mut self, view: &PlanView<'_>) -> Result<Told, StepError> {
        let options = TextOptions { in_automation: true, ..TextOptions::default() };
        let written = write_plan(view, options, &mut self.0);
        written.map_err(failed("the plan")).map(|()| self)
    }

    pub(super) fn verdicts(mut self, plan: &str, verdicts: &[Verdict]) -> Result<Told, StepError> {
        let written = PlanVerdicts { plan, verdicts }.write_text(Colour::Plain, &mut self.0);
        written.map_err(failed("the verdicts")).map(|()| self)
    }

    pub(super) fn diagnostics(
        mut self,
        diagnostics: &Diagnostics,
        sources: &Sources,
        discretion: &Discretion,
    ) -> Result<Told, StepError> {
        let options = DiagnosticOptions { colour: Colour::Plain, width: views::DEFAULT_WIDTH };
        let concealed = discretion.conceal_diagnostics(diagnostics);
        let written = write_text(&concealed, sources, options, &mut self.0);
        written.map_err(failed("the diagnostics")).map(|()| self)
    }

    pub(super) fn line(mut self, text: &str) -> Told {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'\n');
        self
    }

    pub(super) fn into_text(self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> StepError {
    move |source| StepError::Machine { what, source }
}
