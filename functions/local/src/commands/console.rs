//! `plumb console`: says what expressions come to.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::{PARALLELISM, Session};
use crate::variables;
use engine::inspection::{Basis, Inspection};
use engine::state::State;
use engine::{Context, PlanOptions, Stop};
use language::diagnostics::Diagnostics;
use language::rendering::console_text;
use language::source::Sources;
use language::syntax::is_unfinished;
use records::Opening;
use runs::RunError;
use std::io::{self, BufRead, IsTerminal};
use std::sync::Arc;

const HELP: &str = "\
An expression is answered with its value: var.name, local.name, module.name.output, resources as they
are recorded (with -plan, as they would be), and all functions. type(EXPRESSION) says what type it has.

To leave, type \"exit\", or press Control-C or Control-D.
";

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, console).await
}

async fn console(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "Expressions are read from standard input.")?;
    let (source, warnings, _) = session.checked_configuration()?;
    let configuration = Arc::new(source.configuration.clone());
    let sources = configuration.sources.clone();
    session.reporter.diagnostics(&warnings, &sources);
    let arguments = variables::arguments(flags);
    let plans = flags.switch("plan", false);
    let (variables, found) = match plans {
        true => variables::values(session, &source, arguments, false).await?,
        false => variables::given(session, &source, arguments)?,
    };
    session.reporter.diagnostics(&found, &sources);
    let state = recorded(session).await?;
    let providers = session.providers(&session.directory.locks()?)?;
    let environment = session.engine(providers, Vec::new(), PARALLELISM);
    let context = Context::new(environment, Stop::new());
    let basis = match plans {
        false => Basis::Recorded(state),
        true => {
            let options = PlanOptions::default();
            let (plan, found) =
                context.plan(&configuration, variables.clone(), state, options).await;
            session.reporter.diagnostics(&found, &sources);
            Basis::Planned(Arc::new(plan))
        }
    };
    let (inspection, found) = context.inspect(&configuration, variables, basis).await;
    session.reporter.diagnostics(&found, &sources);
    let Some(inspection) = inspection else { return Ok(1) };
    let console = Console { session, inspection, sources };
    let code = match io::stdin().is_terminal() {
        true => console.converse(),
        false => console.answer_last(),
    };
    console.inspection.close().await;
    code.map_err(|error| Failure::error("Failed to read standard input", format!("{error}.")))
}

async fn recorded(session: &Session) -> Result<Arc<State>, Failure> {
    Ok(match session.estate(Opening::Existing).await? {
        Some((estate, _)) => estate.read().await.map_err(RunError::from)?.state,
        None => Arc::default(),
    })
}

struct Console<'s> {
    session: &'s Session,
    inspection: Inspection,
    sources: Arc<Sources>,
}

/// What a line asks for.
enum Answer {
    Text(String),
    Leave,
}

impl Console<'_> {
    fn answer(&self, line: &str) -> Result<Answer, Diagnostics> {
        match line.trim() {
            "" => Ok(Answer::Text(String::new())),
            "exit" => Ok(Answer::Leave),
            "help" => Ok(Answer::Text(HELP.to_owned())),
            _ => match self.inspection.console(line) {
                (Some(result), warnings) => {
                    self.session.reporter.diagnostics(&warnings, &self.sources);
                    Ok(Answer::Text(console_text(&result)))
                }
                (None, diagnostics) => Err(diagnostics),
            },
        }
    }

    /// As Terraform has it for programs: all lines are evaluated up to the first error, and the last
    /// one is answered.
    fn answer_last(&self) -> io::Result<u8> {
        let mut last = String::new();
        for line in io::stdin().lock().lines() {
            match self.answer(line?.trim()) {
                Ok(Answer::Text(text)) => last = text,
                Ok(Answer::Leave) => return Ok(0),
                Err(diagnostics) => {
                    self.session.reporter.diagnostics(&diagnostics, &self.sources);
                    return Ok(1);
                }
            }
        }
        self.session.reporter.print(&(last + "\n"));
        Ok(0)
    }

    /// Answers a person line by line. A line that leaves a bracket or heredoc open goes on in the next.
    fn converse(&self) -> io::Result<u8> {
        let mut pending = String::new();
        let mut lines = io::stdin().lock().lines();
        loop {
            self.session.reporter.print(if pending.is_empty() { "> " } else { ": " });
            let Some(line) = lines.next() else {
                self.session.reporter.print("\n");
                return Ok(0);
            };
            let line = line?;
            // A blank line ends what would never be finished.
            let given_up = line.trim().is_empty();
            pending.push_str(&line);
            if !given_up && is_unfinished(&pending) {
                pending.push('\n');
                continue;
            }
            match self.answer(&std::mem::take(&mut pending)) {
                Ok(Answer::Leave) => return Ok(0),
                Ok(Answer::Text(text)) if text.is_empty() => {}
                Ok(Answer::Text(text)) => self.session.reporter.print(&(text + "\n")),
                Err(diagnostics) => self.session.reporter.diagnostics(&diagnostics, &self.sources),
            }
        }
    }
}
