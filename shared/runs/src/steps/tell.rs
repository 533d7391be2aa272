//! What a step has to say: as text for people, and as a part of the run's report. Sensitive values are masked by the views.

use super::StepError;
use crate::discretion::Discretion;
use engine::saved_plan::SavedPlan;
use engine::transaction::Progress;
use engine::verdict::Verdict;
use language::diagnostics::Diagnostics;
use language::rendering::{Layout, render};
use language::source::Sources;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use values::Value;
use views::Colour;
use views::PlanView;
use views::diagnostics::{DiagnosticOptions, write_text};
use views::plan_text::{TextOptions, write_plan};
use views::run_report::{AppliedReport, Message, OutputReport, PlanReport, StepReport};
use views::verdicts::PlanVerdicts;

/// Bytes of attributes that a report keeps; those of the gravest changes before all others.
const ATTRIBUTES: usize = 4 << 20;

/// What is said bit by bit.
#[derive(Default)]
pub(super) struct Told {
    text: Vec<u8>,
    part: Option<StepReport>,
}

impl Told {
    /// An error that ends the step.
    pub(super) fn error(text: String) -> Told {
        let mut told = Told::default();
        told.part().messages.push(Message { error: true, text: text.clone() });
        told.line(&text)
    }

    fn part(&mut self) -> &mut StepReport {
        self.part.get_or_insert_with(StepReport::new)
    }

    pub(super) fn plan(mut self, view: &PlanView<'_>) -> Result<Told, StepError> {
        let options = TextOptions { in_automation: true, ..TextOptions::default() };
        write_plan(view, options, &mut self.text).map_err(failed("the plan"))?;
        self.part().plan = Some(PlanReport::new(view).within(ATTRIBUTES));
        Ok(self)
    }

    /// Which saved plan it is that was told of.
    pub(super) fn saved(mut self, plan: &SavedPlan) -> Told {
        if let Some(report) = &mut self.part().plan {
            report.id = Some(plan.id.to_string());
            report.expires = Some(plan.expires);
        }
        self
    }

    /// A plan that another run made: it stands in the report, and not in the text.
    pub(super) fn earlier(mut self, plan: &SavedPlan) -> Told {
        let report = PlanReport::new(&PlanView::new(&plan.plan)).within(ATTRIBUTES);
        self.part().plan = Some(report);
        self.saved(plan)
    }

    pub(super) fn verdicts(mut self, plan: &str, verdicts: &[Verdict]) -> Result<Told, StepError> {
        let written = PlanVerdicts { plan, verdicts }.write_text(Colour::Plain, &mut self.text);
        written.map_err(failed("the verdicts"))?;
        Ok(self.checked(verdicts))
    }

    /// Verdicts that stand in the report, and not in the text.
    pub(super) fn checked(mut self, verdicts: &[Verdict]) -> Told {
        self.part().verdicts.extend_from_slice(verdicts);
        self
    }

    pub(super) fn diagnostics(
        mut self,
        diagnostics: &Diagnostics,
        sources: &Sources,
        discretion: &Discretion,
    ) -> Result<Told, StepError> {
        let options = DiagnosticOptions { colour: Colour::Plain, width: views::DEFAULT_WIDTH };
        let concealed = discretion.conceal_diagnostics(diagnostics);
        let written = write_text(&concealed, sources, options, &mut self.text);
        written.map_err(failed("the diagnostics"))?;
        for diagnostic in concealed.sorted(sources).iter() {
            let text = render(diagnostic, sources, 0, Layout::Plain);
            self.part().messages.push(Message { error: diagnostic.is_error(), text });
        }
        Ok(self)
    }

    pub(super) fn applied(
        mut self,
        text: &str,
        outputs: Option<&BTreeMap<Arc<str>, Value>>,
    ) -> Told {
        let outputs = outputs.map(OutputReport::current).unwrap_or_default();
        self.part().applied = Some(AppliedReport { summary: text.trim().to_owned(), outputs });
        self.line(text)
    }

    /// How far the changes of a plan have come: it stands in the report, and not in the text.
    pub(super) fn standing(mut self, progress: &Progress) -> Told {
        let members = progress.members.iter();
        self.part().standing =
            members.map(|(address, member)| (address.to_string(), member.into())).collect();
        self
    }

    pub(super) fn line(mut self, text: &str) -> Told {
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'\n');
        self
    }

    /// The text, and the part of the report if there is any.
    pub(super) fn into_parts(self) -> (String, Option<StepReport>) {
        (String::from_utf8_lossy(&self.text).into_owned(), self.part)
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> StepError {
    move |source| StepError::Machine { what, source }
}
