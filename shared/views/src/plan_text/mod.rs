//! A plan as people read it.

mod header;
mod sections;

pub(crate) use header::because;

use crate::colour::Colour;
use crate::layout::{DEFAULT_WIDTH, rule, wrap};
use crate::plan_view::PlanView;
use crate::product::{COMMAND, NAME};
use std::io::{self, Write};

/// How a plan is laid out.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Whether there are colours.
    pub colour: Colour,
    /// Columns of prose; differences are not wrapped.
    pub width: usize,
    /// Whether a program reads along: no commands are suggested.
    pub in_automation: bool,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions { colour: Colour::Plain, width: DEFAULT_WIDTH, in_automation: false }
    }
}

/// Writes a plan: what changed in the world, what is to be done, and what becomes of the outputs.
///
/// # Errors
/// Those of the writer.
pub fn write_plan(
    view: &PlanView<'_>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    sections::Sections { view, options }.write(out)
}

/// Writes what to do next with a plan, saved as `path` or not saved.
///
/// # Errors
/// Those of the writer.
pub fn write_next_step(
    path: Option<&str>,
    generated: Option<&str>,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    if options.in_automation {
        return Ok(());
    }
    writeln!(out, "{}", rule(options.colour, options.width))?;
    let text = match path {
        None => format!(
            "Note: You didn't use the -out option to save this plan, so {NAME} can't guarantee to \
             take exactly these actions if you run \"{COMMAND} apply\" now."
        ),
        Some(path) => format!(
            "Saved the plan to: {path}\n\nTo perform exactly these actions, run the following \
             command to apply:\n    {COMMAND} apply {}",
            crate::diff::quoted(path)
        ),
    };
    if let Some(file) = generated {
        let text = format!(
            "{NAME} has generated configuration and written it to {file}. Please review the configuration and edit it as necessary before adding it to version control."
        );
        writeln!(out, "\n{}", wrap(&text, options.width))?;
    }
    writeln!(out, "\n{}", wrap(&text, options.width))
}
