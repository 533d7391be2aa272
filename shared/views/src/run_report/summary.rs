//! A run in a few lines.

use super::{Counts, Danger, PlanKind, PlanReport};
use crate::colour::Colour;
use crate::visible::named;
use std::io::{self, Write};

/// Dangerous changes that a terminal lists.
const LISTED: usize = 20;

/// What a plan does, in one line: `1 to add, 2 to replace, 1 to destroy`. Unlike Terraform's, it counts a replacement once, as what it is.
pub fn summary_line(plan: &PlanReport) -> String {
    if plan.kind == PlanKind::RefreshOnly {
        return match plan.drift.len() {
            0 => "nothing has drifted".to_owned(),
            1 => "1 object has drifted".to_owned(),
            n => format!("{n} objects have drifted"),
        };
    }
    let Counts { import, create, update, replace, destroy, forget, read: _, moved } = plan.counts;
    let parts = [
        (import, "to import"),
        (create, "to add"),
        (update, "to change"),
        (replace, "to replace"),
        (destroy, "to destroy"),
        (forget, "to forget"),
        (moved, "to move"),
    ];
    let mut parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if parts.is_empty() && !plan.outputs.is_empty() {
        parts.push(match plan.outputs.len() {
            1 => "1 output changes".to_owned(),
            n => format!("{n} outputs change"),
        });
    }
    match parts.is_empty() {
        true => "no changes".to_owned(),
        false => parts.join(", "),
    }
}

/// Writes a plan in a few lines for a terminal: what it does, and what may be lost, the gravest first.
///
/// # Errors
/// Those of the writer.
pub fn write_summary(plan: &PlanReport, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    let line = summary_line(plan);
    writeln!(out, "{}", colour.paint("[bold]Summary:[reset] {}.", &[&line]))?;
    for limit in plan.limits() {
        writeln!(out, "{}", colour.paint("  [yellow]! {}[reset]", &[limit]))?;
    }
    let dangerous = plan.dangerous();
    for (_, change) in dangerous.iter().take(LISTED) {
        let holds = change.holds.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let reason = change.reason.as_deref().map(|why| format!(": {}", named(why)));
        let (name, reason) = (named(&change.name()), reason.unwrap_or_default());
        let template = match change.danger {
            Danger::LosesData => "  [bold][red]! {}[reset] {}{}{}",
            Danger::Destroys | Danger::Replaces => "  [red]! {}[reset] {}{}{}",
            Danger::Forgets | Danger::None => "  [yellow]! {}[reset] {}{}{}",
        };
        let verb = format!("{:<7}", change.verb());
        writeln!(out, "{}", colour.paint(template, &[&verb, &name, &holds, &reason]))?;
    }
    if dangerous.len() > LISTED {
        writeln!(out, "  and {} more", dangerous.len() - LISTED)?;
    }
    Ok(())
}
