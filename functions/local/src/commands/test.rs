//! `plumb test`: the tests of a module.

mod observer;
mod suite;

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::reporter::Voice;
use crate::session::{PARALLELISM, Session};
use crate::signals;
use crate::whole_file::{self, Readers};
use engine::StopLevel;
use engine::module_tests::{TestStatus, Tester};
use observer::Observer;
use std::path::Path;
use views::junit;
use views::module_tests::summary_text;
use views::stream::TestPlace;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, test).await
}

async fn test(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "Tests are chosen with -filter=FILE.")?;
    signals::listen(session.stop.clone(), session.reporter.clone(), signals::TESTS);
    let suite = suite::load(session, flags)?;
    let sources = suite.configuration.sources.clone();
    let providers = session.providers(&session.directory.locks()?)?;
    let environment = session.engine(providers, Vec::new(), PARALLELISM);
    if let Voice::Json(stream) = &session.reporter.voice {
        stream.test_suite(&suite);
    }
    let tester = Tester::new(environment, session.stop.clone(), flags.switch("verbose", false));
    let observer = Observer::new(session);
    let summary = tester.run(&suite, &observer).await;
    if session.stop.level() == StopLevel::Hard {
        return Ok(1);
    }
    let superfluous = suite.superfluous_overrides();
    match &session.reporter.voice {
        Voice::Json(stream) => {
            for warning in &superfluous {
                let file = warning.subject.map(|span| sources.name(span.file));
                let place = TestPlace { file: file.as_deref().unwrap_or_default(), run: None };
                stream.test_diagnostics(place, [warning], &sources);
            }
            stream.test_summary(summary);
        }
        Voice::Human(_) => {
            session.reporter.diagnostics(&superfluous, &sources);
            session.reporter.print(&summary_text(summary, session.reporter.text.colour));
        }
    }
    if let Some(path) = flags.value("junit-xml") {
        let mut document = Vec::new();
        let written = junit::write(&observer.tested(), &sources, &mut document)
            .and_then(|()| whole_file::write(Path::new(path), &document, Readers::Everybody));
        written.map_err(|error| {
            let detail = format!("The report could not be written to {path}: {error}.");
            Failure::error("Failed to write the JUnit report", detail)
        })?;
    }
    Ok(match summary.status {
        TestStatus::Fail | TestStatus::Error => 1,
        TestStatus::Pass | TestStatus::Skip | TestStatus::Pending => 0,
    })
}
