//! `plumb plan`

use super::operation::{self, Operation, Planned};
use super::verdict_exit_code;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::plan_file;
use crate::reporter::Voice;
use crate::session::Session;
use crate::signals;
use views::PlanView;
use views::plan_text::write_next_step;

/// The plan was made, and it is not empty: with `-detailed-exitcode`.
const CHANGES: u8 = 2;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, plan).await
}

async fn plan(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "To specify a working directory for the plan, use the global -chdir flag.")?;
    let mut operation = Operation::parse(session, flags)?;
    let generate = flags.value("generate-config-out");
    operation.generate_config_out = generate.map(str::to_owned);
    signals::listen(session.stop.clone(), session.reporter.clone(), signals::CHANGES);
    session.reporter.keep_ticking();
    let planned = operation::plan(session, &operation).await?;
    let refused = planned.refused();
    let Planned { outcome, generated, .. } = planned;
    if outcome.diagnostics.has_errors() {
        return Ok(1);
    }
    if refused.is_some() {
        // A plan that nobody may approve is not kept.
        return Ok(verdict_exit_code::of(flags, refused));
    }
    let view = PlanView::new(outcome.plan());
    let applyable = view.is_applyable();
    let out = flags.value("out");
    if let Some(path) = out {
        let key = session.key().await?;
        let encoded = outcome.saved.encode(&key).await.map_err(runs::RunError::from)?;
        plan_file::write(path, &encoded.bytes)?;
    }
    if matches!(session.reporter.voice, Voice::Human(_)) && applyable {
        let options = session.reporter.text;
        let generated = generate.filter(|_| generated);
        session.reporter.write(|to| write_next_step(out, generated, options, to));
    }
    Ok(match flags.switch("detailed-exitcode", false) && applyable {
        true => CHANGES,
        false => 0,
    })
}
