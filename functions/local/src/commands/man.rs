//! `plumb man`: manual pages, from the table of commands.

use crate::command_table::{Command, FlagEntry, GLOBAL, commands};
use crate::invocation::Invocation;
use crate::reporter::to_stderr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Writes all pages into a directory, or that of the program itself to standard output.
pub(super) fn run(invocation: &Invocation) -> u8 {
    let flags = match super::parsed(invocation) {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    let directory = match flags.positional.as_slice() {
        [] => {
            let _ = std::io::stdout().write_all(overview().as_bytes());
            return 0;
        }
        [directory] => directory,
        _ => {
            to_stderr("The man command takes one directory, or nothing.\n");
            return 1;
        }
    };
    match write_all(Path::new(directory)) {
        Ok(()) => 0,
        Err(error) => {
            to_stderr(&format!("The manual pages could not be written to {directory}: {error}.\n"));
            1
        }
    }
}

fn write_all(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join("plumb.1"), overview())?;
    commands().try_for_each(|command| {
        std::fs::write(directory.join(format!("{}.1", page_name(command))), page(command))
    })
}

fn page_name(command: &Command) -> String {
    format!("plumb-{}", command.name.replace(' ', "-"))
}

fn header(name: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let title = name.to_uppercase();
    format!(".TH \"{}\" 1 \"\" \"plumb {version}\" \"Plumbline\"\n", escaped(&title))
}

fn page(command: &Command) -> String {
    let name = page_name(command);
    let mut text = header(&name);
    let does = escaped(command.does);
    let _ = write!(text, ".SH NAME\n{} \\- {does}\n.SH SYNOPSIS\n", escaped(&name));
    let _ = writeln!(text, ".B plumb\n[global options]\n.B {}", escaped(command.name));
    if !command.usage.is_empty() {
        let _ = writeln!(text, "{}", line(command.usage));
    }
    text.push_str(".SH DESCRIPTION\n");
    match command.about {
        "" => text.push_str(&format!("{does}.\n")),
        about => paragraphs(about, &mut text),
    }
    let flags = command.shown_flags();
    if !flags.is_empty() {
        text.push_str(".SH OPTIONS\n");
        flags.into_iter().for_each(|entry| flag(entry, &mut text));
    }
    text.push_str(".SH SEE ALSO\n.BR plumb (1)\n");
    text
}

fn overview() -> String {
    let mut text = header("plumb");
    text.push_str(
        ".SH NAME\nplumb \\- plan, validate and apply Terraform configuration\n.SH SYNOPSIS\n.B plumb\n[global options] command [arguments]\n.SH DESCRIPTION\nPlans, validates and applies Terraform configuration, with records of resource instances that are kept one by one, and without locks.\nEach command has a manual page of its own: plumb\\-plan(1), plumb\\-state\\-mv(1).\n.SH COMMANDS\n",
    );
    for command in commands() {
        let _ = writeln!(text, ".TP\n.B {}\n{}.", escaped(command.name), line(command.does));
    }
    text.push_str(".SH GLOBAL OPTIONS\nThey stand before the command.\n");
    GLOBAL.iter().for_each(|entry| flag(entry, &mut text));
    text.push_str(".SH ENVIRONMENT\n");
    for (name, says) in ENVIRONMENT {
        let _ = writeln!(text, ".TP\n.B {}\n{}", escaped(name), line(says));
    }
    text
}

/// Variables that decide how commands speak.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR", "Where it is set, no colours are written, and no lines change."),
    ("PAGER", "The program that shows what is longer than the screen; less where it is not set."),
    ("PLUMB_ESTATE", "As -estate."),
    (
        "TF_CLI_ARGS",
        "Arguments that are put before those of every command; TF_CLI_ARGS_plan before those of plan.",
    ),
    (
        "TF_IN_AUTOMATION",
        "Where it is set, no commands are suggested, no lines change, and nothing is paged. CI does the latter two.",
    ),
    ("TF_INPUT", "Where it is false, nobody is asked for anything."),
    ("TF_VAR_name", "The value of the root variable of that name."),
    ("TF_WORKSPACE", "The workspace, whatever was selected."),
];

fn flag(entry: &FlagEntry, text: &mut String) {
    let _ = writeln!(text, ".TP\n.B {}\n{}", escaped(&entry.display()), line(entry.says));
}

fn paragraphs(about: &str, text: &mut String) {
    for paragraph in about.split('\n') {
        match paragraph {
            "" => text.push_str(".PP\n"),
            example if example.starts_with(' ') => {
                let _ = writeln!(text, ".nf\n{}\n.fi", escaped(example));
            }
            paragraph => {
                let _ = writeln!(text, "{}", line(paragraph));
            }
        }
    }
}

/// A line of text: a full stop or an apostrophe in front would make it a request.
fn line(text: &str) -> String {
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{}", escaped(text)),
        false => escaped(text),
    }
}

/// Backslashes and hyphens as they are.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}
