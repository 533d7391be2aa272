//! `plumb fmt`: lays out configuration files.

use crate::environment::ProcessEnvironment;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::Session;
use crate::whole_file::{self, Readers};
use language::diagnostics::{Diagnostic, Diagnostics};
use language::formatting;
use language::source::Sources;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use views::unified_diff::write_unified_diff;

const EXTENSIONS: [&str; 4] = [".tf", ".tfvars", ".tftest.hcl", ".tfmock.hcl"];
/// Something failed.
const FAILED: u8 = 2;
/// With `-check`: something is not laid out.
const UNFORMATTED: u8 = 3;

pub(super) fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let (session, flags) = match super::begin(invocation, environment) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let mut work = Work::of(&flags);
    let from_stdin = flags.positional.first().is_some_and(|first| first == "-");
    let listed = work.list && !from_stdin;
    if from_stdin {
        work.list = false;
        work.write = false;
    }
    if work.check {
        work.list = true;
        work.write = false;
    }
    let here = [".".to_owned()];
    match &flags.positional[..] {
        _ if from_stdin => work.standard_input(),
        [] => work.paths(&session, &here),
        paths => work.paths(&session, paths),
    }
    if !work.check || listed && !work.diagnostics.has_errors() {
        session.reporter.write(|out| out.write_all(&work.output));
    }
    session.reporter.diagnostics(&work.diagnostics, &work.sources);
    match (work.diagnostics.has_errors(), work.check && !work.output.is_empty()) {
        (true, _) => FAILED,
        (false, true) => UNFORMATTED,
        (false, false) => 0,
    }
}

/// What is to be done with each file, and what came of it so far.
struct Work {
    check: bool,
    diff: bool,
    list: bool,
    recursive: bool,
    write: bool,
    sources: Sources,
    output: Vec<u8>,
    diagnostics: Diagnostics,
}

impl Work {
    fn of(flags: &Flags) -> Work {
        Work {
            check: flags.switch("check", false),
            diff: flags.switch("diff", false),
            list: flags.switch("list", true),
            recursive: flags.switch("recursive", false),
            write: flags.switch("write", true),
            sources: Sources::new(),
            output: Vec::new(),
            diagnostics: Diagnostics::new(),
        }
    }

    fn refuse(&mut self, summary: String, detail: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(summary, detail));
    }

    fn standard_input(&mut self) {
        let mut text = Vec::new();
        match io::stdin().lock().read_to_end(&mut text) {
            Ok(_) => self.text("<stdin>", text, None),
            Err(error) => self.refuse("Failed to read standard input".into(), format!("{error}.")),
        }
    }

    /// Lays out what a person named, up to the first that is not there.
    fn paths(&mut self, session: &Session, paths: &[String]) {
        let _ = paths.iter().all(|path| self.path(session, path));
    }

    /// Lays out what a person named; whether it is there.
    fn path(&mut self, session: &Session, named: &str) -> bool {
        let path = relative(&session.directory.path, Path::new(named));
        let Ok(metadata) = std::fs::metadata(&path) else {
            self.refuse(
                format!("No file or directory at {}", path.display()),
                "Name files and directories that exist. What stands behind this one was left as it is.",
            );
            return false;
        };
        if metadata.is_dir() {
            self.directory(&path);
        } else if is_laid_out(&path.to_string_lossy()) {
            self.file(&path);
        } else {
            self.refuse(
                "Only .tf, .tfvars, and .tftest.hcl files can be processed with plumb fmt".into(),
                format!("{} was left as it is.", path.display()),
            );
        }
        true
    }

    fn directory(&mut self, path: &Path) {
        let entries = std::fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                let summary = format!("Cannot read directory {}", path.display());
                return self.refuse(summary, format!("{error}."));
            }
        };
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if is_ignored(&name) {
                continue;
            }
            let inner = match path == Path::new(".") {
                true => PathBuf::from(entry.file_name()),
                false => path.join(entry.file_name()),
            };
            if entry.file_type().is_ok_and(|ty| ty.is_dir()) {
                if self.recursive {
                    self.directory(&inner);
                }
            } else if is_laid_out(&name) {
                self.file(&inner);
            }
        }
    }

    fn file(&mut self, path: &Path) {
        match std::fs::read(path) {
            Ok(text) => self.text(&path.to_string_lossy(), text, Some(path)),
            Err(error) => {
                self.refuse(format!("Failed to read file {}", path.display()), format!("{error}."));
            }
        }
    }

    fn text(&mut self, name: &str, text: Vec<u8>, path: Option<&Path>) {
        let file = self.sources.add(name, text);
        let formatted = match formatting::format(&self.sources, file) {
            Ok(formatted) => formatted,
            Err(diagnostics) => return self.diagnostics.extend(diagnostics),
        };
        let text = self.sources.text(file);
        if *text != *formatted {
            if self.list {
                self.print(format!("{name}\n").as_bytes());
            }
            if let Some(path) = path.filter(|_| self.write)
                && let Err(error) = replace(path, &formatted)
            {
                return self.refuse(format!("Failed to write {name}"), format!("{error}."));
            }
            if self.diff {
                let mut diff = Vec::new();
                // Writing into memory does not fail.
                let _ = write_unified_diff(name, &text, &formatted, &mut diff);
                self.print(&diff);
            }
        }
        if !self.list && !self.write && !self.diff {
            self.print(&formatted);
        }
    }

    /// Whole lines, as Terraform prints them: a last line without an end gets one.
    fn print(&mut self, text: &[u8]) {
        self.output.extend_from_slice(text);
        if !text.ends_with(b"\n") {
            self.output.push(b'\n');
        }
    }
}

/// Links stay what they are: what they lead to is replaced.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    whole_file::write(&path.canonicalize()?, text, Readers::Unchanged)
}

fn is_laid_out(name: &str) -> bool {
    EXTENSIONS.iter().any(|extension| name.ends_with(extension))
}

/// Files of editors and version control.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

/// A path as seen from the working directory, without detours.
fn relative(working_directory: &Path, named: &Path) -> PathBuf {
    let mut plain: Vec<Component<'_>> = Vec::new();
    let whole = working_directory.join(named);
    for component in whole.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if plain.len() > 1 => {
                plain.pop();
            }
            Component::ParentDir => {}
            other => plain.push(other),
        }
    }
    let base: Vec<Component<'_>> = working_directory.components().collect();
    let shared = base.iter().zip(&plain).take_while(|(a, b)| a == b).count();
    let up = base[shared..].iter().map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(plain[shared..].iter().copied()).collect();
    match path.as_os_str().is_empty() {
        true => ".".into(),
        false => path,
    }
}
