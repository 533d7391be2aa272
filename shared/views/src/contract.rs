//! What stores guarantee, for people and for programs: the report that is asked for, the refusal of a run, and the
//! lines of a run that proceeds.

use crate::colour::Colour;
use records::contract::{
    Finding, Note, NoteKind, Outcome, Refusal, Remedy, Report, ReportedFinding,
};
use serde::Serialize;
use std::io::{self, Write};

/// Version of the JSON.
pub const FORMAT_VERSION: &str = "1.0";

/// The report in JSON.
#[derive(Serialize)]
struct Document<'a> {
    format_version: &'static str,
    /// Whether everything passed.
    clean: bool,
    /// Whether a run would refuse the store.
    refused: bool,
    #[serde(flatten)]
    report: &'a Report,
}

/// Writes one JSON object and a newline: every finding in the order of the settings.
///
/// # Errors
/// Those of the writer.
pub fn write_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        format_version: FORMAT_VERSION,
        clean: report.is_clean(),
        refused: report.refuses(),
        report,
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// Writes a line for every finding, what it protects and how to mend it where it did not pass, and what a run would
/// do.
///
/// # Errors
/// Those of the writer.
pub fn write_text(report: &Report, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", colour.paint("[bold]{}[reset]", &[report.location()]))?;
    for reported in report.findings() {
        write_reported(reported, colour, out)?;
    }
    if report.findings().is_empty() {
        // A directory guarantees what it has to by itself.
        return writeln!(out, "There is nothing to check in a store of this kind.");
    }
    let (template, text) = match (report.is_clean(), report.refuses()) {
        (_, true) => ("[bold][red]{}[reset]", "Runs refuse this store."),
        (true, _) => ("[bold][green]{}[reset]", "The store keeps its contract."),
        (false, _) => {
            ("[bold][yellow]{}[reset]", "Runs proceed, with a line for each of the above.")
        }
    };
    writeln!(out, "\n{}", colour.paint(template, &[text]))
}

fn write_reported(
    reported: &ReportedFinding,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    let finding = &reported.finding;
    let outcome = match reported.waived {
        true => format!("{}, waived", finding.outcome),
        false => finding.outcome.to_string(),
    };
    let name = format!("{:20}", finding.setting.name());
    let outcome = format!("{outcome:12}");
    let template = match finding.outcome {
        Outcome::Passed => "  [green]✓[reset] {} {} {}",
        Outcome::NotChecked => "  - {} {} {}",
        Outcome::Warned => "  [yellow]![reset] {} {} {}",
        Outcome::Unreadable | Outcome::Failed => "  [red]✗[reset] {} {} {}",
    };
    writeln!(out, "{}", colour.paint(template, &[&name, &outcome, &finding.found]))?;
    if finding.outcome != Outcome::Passed {
        writeln!(out, "      {}", finding.protects)?;
    }
    write_remedy(finding.remedy.as_ref(), "      ", out)
}

/// Writes why a run does not use a store: a headline, every finding that refuses it with what it protects and the
/// remedy, and one closing line after two or more.
///
/// # Errors
/// Those of the writer.
pub fn write_refusal(refusal: &Refusal, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}",
        colour.paint("[bold][red]Error: [reset][bold]{}[reset]", &[&refusal.headline()])
    )?;
    for finding in &refusal.findings {
        writeln!(out)?;
        write_refusing(refusal, finding, colour, out)?;
    }
    match refusal.closing() {
        Some(closing) => writeln!(out, "\n{closing}"),
        None => Ok(()),
    }
}

fn write_refusing(
    refusal: &Refusal,
    finding: &Finding,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = finding.setting.name();
    writeln!(out, "{}", colour.paint("[bold]{}[reset]: {}", &[name, &finding.found]))?;
    writeln!(out, "{}", finding.protects)?;
    write_remedy(finding.remedy.as_ref(), "", out)?;
    match refusal.about_waiver(finding) {
        Some(waiver) => writeln!(out, "{waiver}"),
        None => Ok(()),
    }
}

fn write_remedy(remedy: Option<&Remedy>, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    let Some(remedy) = remedy else { return Ok(()) };
    writeln!(out, "{indent}{}", remedy.advice)?;
    for command in &remedy.commands {
        // Whole on its line, so that it can be copied.
        writeln!(out, "{indent}  {command}")?;
    }
    Ok(())
}

/// Writes the lines of a run that proceeds.
///
/// # Errors
/// Those of the writer.
pub fn write_notes(notes: &[Note], colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    for note in notes {
        let word = match note.kind {
            NoteKind::NotChecked => "Not checked",
            _ => "Warning",
        };
        let name = note.setting.name();
        let line = colour.paint("[bold][yellow]{}: [reset]{}: {}", &[word, name, &note.text]);
        writeln!(out, "{line}")?;
    }
    Ok(())
}
