//! `plumb -help`, from the table of commands.

use crate::command_table::{self, Command, FlagEntry, GLOBAL};
use crate::reporter::to_stderr;
use std::fmt::Write as _;
use std::io::Write as _;

/// Columns of help.
const WIDTH: usize = 110;
/// Where the words about a flag begin.
const COLUMN: usize = 25;

/// Prints what there is to know about a command, or about all.
pub(super) fn run(command: &[&str]) -> u8 {
    let text = match command_table::command(command) {
        Some(command) if command.name != "help" => about(command),
        _ => overview(command.first().copied().filter(|word| command_table::is_group(word))),
    };
    // Where nobody reads, nothing is lost.
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

/// No command was given: as Terraform, help and a failure.
pub(super) fn without_command() -> u8 {
    to_stderr(&overview(None));
    127
}

fn about(command: &Command) -> String {
    let mut text = format!("Usage: plumb [global options] {}", command.name);
    if !command.usage.is_empty() {
        let _ = write!(text, " {}", command.usage);
    }
    let about = match command.about {
        "" => format!("{}.", command.does),
        about => about.to_owned(),
    };
    let _ = write!(text, "\n\n{}\n", wrapped(&about, WIDTH, 0));
    let flags = command.shown_flags();
    if !flags.is_empty() {
        text.push_str("\nOptions:\n\n");
        flags.into_iter().for_each(|entry| flag(entry, &mut text));
    }
    text
}

fn flag(entry: &FlagEntry, text: &mut String) {
    let name = entry.display();
    let says = wrapped(entry.says, WIDTH - COLUMN, COLUMN);
    let _ = match name.len() + 3 < COLUMN {
        true => writeln!(text, "  {name:<width$}{says}", width = COLUMN - 2),
        false => writeln!(text, "  {name}\n{:COLUMN$}{says}", ""),
    };
}

/// All commands, or those of a group.
fn overview(group: Option<&str>) -> String {
    let mut text = "Usage: plumb [global options] <command> [args]\n\nCommands:\n".to_owned();
    let listed = command_table::commands()
        .filter(|command| group.is_none_or(|group| command.name.split(' ').next() == Some(group)));
    for command in listed {
        let _ = writeln!(text, "  {:<24}{}", command.name, command.does);
    }
    text.push_str("\nGlobal options (before the command):\n");
    GLOBAL.iter().for_each(|entry| flag(entry, &mut text));
    text
}

/// Breaks paragraphs at blanks. Lines behind the first are indented; lines that begin with a blank are left whole.
pub(super) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        if paragraph.starts_with(' ') {
            lines.push(paragraph.to_owned());
            continue;
        }
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join(&format!("\n{:indent$}", ""))
}
