//! What an estate's policy says of a plan.

use super::operation;
use crate::project::LocatedProject;
use crate::reporter::Voice;
use crate::session::Session;
use engine::plan::PlanMode;
use engine::saved_plan::SavedPlan;
use engine::verdict::{Outcome, Verdict};
use language::diagnostics::Diagnostic;
use language::source::Sources;
use runs::policy::PolicyGate;
use views::PlanView;
use views::verdicts::PlanVerdicts;

/// Asks the policy that `plumb.toml` has for the estate; nothing where it has none, nothing changes, or the records are only
/// brought up to the world.
pub(super) async fn evaluate(
    session: &Session,
    project: &LocatedProject,
    plan: &SavedPlan,
) -> Vec<Verdict> {
    let settings = project.estate.settings.as_ref();
    let Some(table) = settings.and_then(|settings| settings.policy.as_ref()) else {
        return Vec::new();
    };
    if plan.plan.mode == PlanMode::RefreshOnly || !PlanView::new(&plan.plan).is_applyable() {
        return Vec::new();
    }
    let gate = PolicyGate {
        table: table.relative_to(&project.root),
        directory: project.root.clone(),
        environment: session.environment.inherited.clone(),
    };
    gate.evaluate(plan).await
}

/// Tells it: to a person in words, to a program as data too.
pub(super) fn tell(session: &Session, plan: &str, verdicts: &[Verdict]) {
    if verdicts.is_empty() {
        return;
    }
    match &session.reporter.voice {
        Voice::Json(stream) => stream.verdicts(&PlanVerdicts { plan, verdicts }),
        Voice::Human(_) => {
            for verdict in verdicts.iter().filter(|verdict| verdict.outcome == Outcome::Pass) {
                session.reporter.print(&format!("\n{verdict}\n"));
            }
        }
    }
    let warnings = verdicts.iter().filter(|verdict| verdict.outcome == Outcome::Warn);
    let warnings = warnings.map(|verdict| {
        let place = verdict.address.as_deref().map(|address| format!("{address}: "));
        let place = place.unwrap_or_default();
        Diagnostic::warning("The policy objects", format!("{place}{}.", verdict.message))
    });
    session.reporter.report(warnings);
    session.reporter.diagnostics(&operation::rejections(verdicts), &Sources::new());
}
