//! `plumb validate`: a configuration, or with `-plan=FILE` the stages of a saved plan.

use super::{policy, verdict_exit_code};
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::plan_file;
use crate::required_providers;
use crate::session::{PARALLELISM, Session};
use engine::saved_plan::UnverifiedPlan;
use engine::verdict::{RejectCode, Verdict};
use engine::{Context, Stop};
use language::diagnostics::Diagnostics;
use language::module::test_file::{self, DEFAULT_DIRECTORY};
use language::source::Sources;
use runs::RunError;
use std::sync::Arc;
use views::diagnostics::write_validation;
use views::verdicts::PlanVerdicts;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let (session, flags) = match super::begin(invocation, environment) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let result = match flags.value("plan") {
        Some(path) => stages(&session, path, &flags).await,
        None => configuration(&session, &flags).await,
    };
    verdict_exit_code::conclude(&session, &flags, result, "validate")
}

async fn configuration(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "To specify a working directory, use the global -chdir flag.")?;
    super::waivers::need_a_plan(flags)?;
    let (diagnostics, sources) = match check(session, flags).await {
        Ok(found) => found,
        Err(Failure::Diagnostics(diagnostics, sources)) => (diagnostics, sources),
        Err(failure) => return Err(failure),
    };
    let failed = diagnostics.has_errors();
    if flags.switch("json", false) {
        session.reporter.write(|out| write_validation(&diagnostics, &sources, out));
        return Ok(u8::from(failed));
    }
    session.reporter.diagnostics(&diagnostics, &sources);
    if !failed {
        session.reporter.print(match diagnostics.is_empty() {
            true => "Success! The configuration is valid.\n\n",
            false => "Success! The configuration is valid, but there were some validation warnings as shown above.\n\n",
        });
    }
    Ok(u8::from(failed))
}

async fn check(session: &Session, flags: &Flags) -> Result<(Diagnostics, Arc<Sources>), Failure> {
    let (source, mut diagnostics) = session.directory.load()?;
    let sources = source.configuration.sources.clone();
    if !diagnostics.has_errors() && !flags.switch("no-tests", false) {
        let directory = flags.value("test-directory").unwrap_or(DEFAULT_DIRECTORY);
        let (_, found) = test_file::load(&*session.directory.files, directory, &sources);
        diagnostics.extend(found);
    }
    if !diagnostics.has_errors() {
        let locks = session.directory.locks()?;
        let providers = session.providers(&locks)?;
        let packages = session.directory.packages(session.cli_config()?, locks);
        diagnostics.extend(required_providers::development_overrides(&packages));
        diagnostics.extend(required_providers::missing(&source.configuration, &packages));
        if diagnostics.has_errors() {
            return Ok((diagnostics, sources));
        }
        let environment = session.engine(providers, Vec::new(), PARALLELISM);
        let context = Context::new(environment, Stop::new());
        diagnostics.extend(context.validate(&source.configuration).await);
    }
    Ok((diagnostics, sources))
}

async fn stages(session: &Session, path: &str, flags: &Flags) -> Result<u8, Failure> {
    let json = flags.switch("json", false);
    let waivers = super::waivers::parse(session, flags)?;
    let bytes = plan_file::read(path)?;
    let workplace = session.workplace(PARALLELISM).await?;
    let key = session.key().await?;
    let mut outcome = runs::validate::validate(&workplace, &bytes, &key, &waivers).await?;
    let ours = |verdict: &Verdict| verdict.code != Some(RejectCode::Unauthentic);
    if outcome.verdicts.iter().all(ours) {
        // The policy as it is now, of a plan that is ours.
        let plan = UnverifiedPlan::parse(&bytes).map_err(RunError::from)?;
        let verdicts =
            policy::evaluate(session, &session.project()?, plan.contents_for_showing()).await;
        outcome.passes &= !verdicts.iter().any(Verdict::is_reject);
        outcome.verdicts.extend(verdicts);
    }
    let view = PlanVerdicts { plan: outcome.plan.as_str(), verdicts: &outcome.verdicts };
    let colour = session.reporter.text.colour;
    session.reporter.write(|out| match json {
        true => view.write_json(out),
        false => view.write_text(colour, out),
    });
    if !json {
        session.reporter.diagnostics(&outcome.diagnostics, &Sources::new());
    }
    Ok(match outcome.passes {
        true => 0,
        false => verdict_exit_code::of(flags, view.code()),
    })
}
