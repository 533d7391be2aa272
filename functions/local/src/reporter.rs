//! What a command says, to a person or to a program.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::UsageError;
use crate::terminal;
use engine::clock::Clock;
use engine::hooks::Hook;
use engine::plan::Plan;
use jiff::Timestamp;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::source::Sources;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use views::Colour;
use views::diagnostics::{DiagnosticOptions, write_text};
use views::live::{Board, LiveTerminal, frame};
use views::plan_text::TextOptions;
use views::progress::{Progress, SharedWriter};
use views::stream::Stream;

/// A person reads no more errors than this at once; programs get all.
const SHOWN_ERRORS: usize = 20;

/// How often lines that change are drawn.
const FRAME: Duration = Duration::from_millis(100);

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
    answers_only: bool,
    /// Lines that change, where a person follows them.
    live: Option<(Arc<Board>, LiveTerminal)>,
}

/// What decides how a command speaks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Speech {
    pub(crate) json: bool,
    pub(crate) no_colour: bool,
    pub(crate) compact_warnings: bool,
    /// Nothing but the command's answer goes to standard output: no progress, no warnings.
    pub(crate) answers_only: bool,
    /// The command does work that a person may want to follow.
    pub(crate) works: bool,
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
        let clock: views::Clock = Arc::new(move || -> Timestamp { clock.now() });
        let follows = speech.works && !speech.json && !speech.no_colour;
        let live = (follows && terminal::is_followed(environment)).then(|| {
            let board = Arc::new(Board::new(clock.clone()));
            let followed = board.clone();
            let painter = Arc::new(move |now, size| {
                followed.progressing().map(|work| frame(&work, now, size)).unwrap_or_default()
            });
            (board, terminal::follow(clock.clone(), painter))
        });
        let out: Box<dyn Write + Send> = match &live {
            Some((_, terminal)) => Box::new(terminal.clone()),
            None => Box::new(io::stdout()),
        };
        let out: SharedWriter = Arc::new(Mutex::new(out));
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
        let Speech { compact_warnings, answers_only, .. } = speech;
        Reporter { voice, text, out, compact_warnings, answers_only, live }
    }

    /// The observer of the engine's work.
    pub(crate) fn hook(&self) -> Arc<dyn Hook> {
        match &self.voice {
            Voice::Human(progress) => progress.clone(),
            Voice::Json(stream) => stream.clone(),
        }
    }

    /// The same, where anything is to be told of that work.
    pub(crate) fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        match self.answers_only {
            true => Vec::new(),
            false => {
                let board = self.live.iter().map(|(board, _)| -> Arc<dyn Hook> { board.clone() });
                std::iter::once(self.hook()).chain(board).collect()
            }
        }
    }

    /// Work begins that may take a while: planning, or what a plan says.
    pub(crate) fn work_begins(&self, plan: Option<&Plan>) {
        if let Some((board, _)) = &self.live {
            board.begin(plan);
        }
    }

    /// That work has ended.
    pub(crate) fn work_ended(&self) {
        if let Some((board, terminal)) = &self.live {
            board.end();
            terminal.draw();
        }
    }

    /// Tells of long work every now and then, for as long as the runtime lives.
    pub(crate) fn keep_ticking(&self) {
        if let Some((_, terminal)) = &self.live {
            let terminal = terminal.clone();
            tokio::spawn(async move {
                let mut frames = tokio::time::interval(FRAME);
                frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    frames.tick().await;
                    terminal.draw();
                }
            });
            return;
        }
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
        let mut out = BufWriter::new(&mut **out);
        let _ = write(&mut out).and_then(|()| out.flush());
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
            true if self.answers_only => to_stderr(&compact(&warnings, sources)),
            true => self.print(&compact(&warnings, sources)),
            false => {
                let warnings = warnings.into_iter().collect();
                match self.answers_only {
                    true => {
                        let mut text = Vec::new();
                        let _ = write_text(&warnings, sources, options, &mut text);
                        terminal::write_error(&text);
                    }
                    false => self.write(|out| write_text(&warnings, sources, options, out)),
                }
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
            terminal::write_error(&text);
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
    terminal::size().columns.max(20)
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
    terminal::write_error(&text);
}

/// A line to standard error.
pub(crate) fn to_stderr(text: &str) {
    terminal::write_error(text.as_bytes());
}
