//! `plumb contract check`: what the store of records guarantees, and what of that is missing.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::Session;
use records::Opening;
use records::contract::{Report, Waivers};
use views::contract;

pub(super) async fn check(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, report).await
}

/// Fails on everything that did not pass, so that a pipeline can ask.
async fn report(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The store is the one that plumb.toml names.")?;
    let json = flags.switch("json", false);
    let report = match session.estate(Opening::Existing).await? {
        Some((_, Some(terms))) => terms.inspect().await,
        // A directory guarantees what it has to by itself: there is nothing to set wrong.
        Some((estate, None)) => Report::new(estate.location(), &[], Vec::new(), &Waivers::none()),
        None => {
            let beside = session.directory.store().display().to_string();
            Report::new(beside, &[], Vec::new(), &Waivers::none())
        }
    };
    let colour = session.reporter.text.colour;
    session.reporter.write(|out| match json {
        true => contract::write_json(&report, out),
        false => contract::write_text(&report, colour, out),
    });
    Ok(u8::from(!report.is_clean()))
}
