//! What a command says, to a person or to a program.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::UsageError;
use engine::clock::Clock;
use engine::hooks::Hook;
use jiff::Timestamp;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::source::Sources;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use views::diagnostics::{DiagnosticOptions, write_text};
use views::plan_text::TextOptions;
use views::progress::{Progress, SharedWriter};
use views::stream::Stream;
use views::{Colour, DEFAULT_WIDTH};

/// A person reads no more errors than this at once; programs get all.
const SHOWN_ERRORS: usize = 20;

/// How a command speaks.
pub(crate) enum Voice {
    /// Text.
    Human(Arc<Progress>),
    /// One JSON object a line.
    Json(Arc<Stream>),
}

/// What a command says, and how.
pub(crate) struct Reporter {
    pub(crate) voice: Voice,
    pub(crate) text: TextOptions,
    out: SharedWriter,
    compact_warnings: bool,
}

/// What decides how a command speaks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Speech {
    pub(crate) json: bool,
    pub(crate) no_colour: bool,
    pub(crate) compact_warnings: bool,
}

impl Reporter {
    pub(crate) fn new(
        speech: Speech,
        environment: &ProcessEnvironment,
        clock: Arc<dyn Clock>,
    ) -> Reporter {
        let colour = match environment.colours() && !speech.no_colour {
            true => Colour::Ansi,
            false => Colour::Plain,
        };
        let out: SharedWriter = Arc::new(Mutex::new(Box::new(io::stdout())));
        let clock = Arc::new(move || -> Timestamp { clock.now() });
        let voice = match speech.json {
            true => {
                let stream = Stream::new(out.clone(), clock);
                stream.version(env!("CARGO_PKG_VERSION"));
                Voice::Json(Arc::new(stream))
            }
            false => Voice::Human(Arc::new(Progress::new(out.clone(), clock, colour))),
        };
        let text =
            TextOptions { colour, width: width(), in_automation: environment.in_automation() };
        Reporter { voice, text, out, compact_warnings: speech.compact_warnings }
    }

    /// The observer of the engine's work.
    pub(crate) fn hook(&self) -> Arc<dyn Hook> {
        match &self.voice {
            Voice::Human(progress) => progress.clone(),
            Voice::Json(stream) => stream.clone(),
        }
    }

    /// Tells of long work every now and then, for as long as the runtime lives.
    pub(crate) fn keep_ticking(&self) {
        let tick: Box<dyn Fn() + Send> = match &self.voice {
            Voice::Human(progress) => {
                let progress = progress.clone();
                Box::new(move || progress.tick())
            }
            Voice::Json(stream) => {
                let stream = stream.clone();
                Box::new(move || stream.tick())
            }
        };
        tokio::spawn(async move {
            let mut seconds = tokio::time::interval(Duration::from_secs(1));
            loop {
                seconds.tick().await;
                tick();
            }
        });
    }

    /// Text for people; a message for programs.
    pub(crate) fn say(&self, text: &str) {
        match &self.voice {
            Voice::Human(_) => self.print(text),
            Voice::Json(stream) => stream.log(text.trim()),
        }
    }

    /// Text as it is.
    pub(crate) fn print(&self, text: &str) {
        self.write(|out| out.write_all(text.as_bytes()));
    }

    /// Writes to standard output. Where nobody reads, work goes on.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = write(&mut **out).and_then(|()| out.flush());
    }

    /// Errors go to standard error, warnings to standard output; for programs all in the stream.
    pub(crate) fn diagnostics(&self, diagnostics: &Diagnostics, sources: &Sources) {
        if diagnostics.is_empty() {
            return;
        }
        if let Voice::Json(stream) = &self.voice {
            return stream.diagnostics(&diagnostics.clone().sorted(sources), sources);
        }
        let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
            diagnostics.iter().cloned().partition(Diagnostic::is_error);
        let options = DiagnosticOptions { colour: self.text.colour, width: self.text.width };
        match self.compact_warnings && errors.is_empty() && !warnings.is_empty() {
            true => self.print(&compact(&warnings, sources)),
            false => {
                let warnings = warnings.into_iter().collect();
                self.write(|out| write_text(&warnings, sources, options, out));
            }
        }
        let more = errors.len().saturating_sub(SHOWN_ERRORS);
        let errors: Diagnostics = errors.into_iter().take(SHOWN_ERRORS).collect();
        let colour = match io::stderr().is_terminal() {
            true => options.colour,
            false => Colour::Plain,
        };
        let mut text = Vec::new();
        let options = DiagnosticOptions { colour, ..options };
        if write_text(&errors, sources, options, &mut text).is_ok() {
            let _ = io::stderr().write_all(&text);
        }
        if more > 0 {
            to_stderr(&format!("\n{more} more errors are not shown. Mend these first.\n"));
        }
    }

    /// Says why a command ends.
    pub(crate) fn failure(&self, failure: &Failure, command: Option<&str>) {
        match failure {
            Failure::Usage(error) => usage_error(error, command),
            Failure::Diagnostics(diagnostics, sources) => self.diagnostics(diagnostics, sources),
            Failure::Refused(code, diagnostics) => {
                if let Voice::Json(stream) = &self.voice {
                    stream.refused(*code);
                }
                self.diagnostics(diagnostics, &Sources::new());
            }
            Failure::Reported => {}
        }
    }

    /// Diagnostics that are about no file.
    pub(crate) fn report(&self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics(&diagnostics.into_iter().collect(), &Sources::new());
    }
}

/// Summaries and places of warnings, one a line.
fn compact(warnings: &[Diagnostic], sources: &Sources) -> String {
    let mut text = "\nWarnings:\n\n".to_owned();
    for warning in warnings {
        text.push_str(&format!("- {}\n", warning.summary));
        if let Some(span) = warning.subject {
            let range = sources.range(span);
            text.push_str(&format!("  on {} line {}\n", range.filename, range.start.line));
        }
    }
    text.push_str("\nTo see the full warning notes, run plumb without -compact-warnings.\n");
    text
}

/// Columns of the terminal.
fn width() -> usize {
    match io::stdout().is_terminal() {
        true => rustix::termios::tcgetwinsize(io::stdout())
            .map_or(DEFAULT_WIDTH, |size| usize::from(size.ws_col).max(20)),
        false => DEFAULT_WIDTH,
    }
}

/// Reports a command line that cannot be understood.
pub(crate) fn usage_error(error: &UsageError, command: Option<&str>) {
    let (summary, detail) = error.parts();
    let diagnostics = Diagnostic::error(summary, detail).into();
    let options = DiagnosticOptions { colour: Colour::Plain, width: width() };
    let mut text = Vec::new();
    let _ = write_text(&diagnostics, &Sources::new(), options, &mut text);
    if let Some(command) = command {
        let _ =
            write!(text, "\nFor more help on using this command, run:\n  plumb {command} -help\n");
    }
    let _ = io::stderr().write_all(&text);
}

/// A line to standard error.
pub(crate) fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
