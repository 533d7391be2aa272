//! Pages for a browser: a run, and the drift of all estates. Each is one file that loads nothing, and reads without scripts.

mod changes;
mod decision;
mod document;
mod done;
mod drift;
mod graph;
mod html;
mod layers;
mod overview;
mod refusal;
mod rows;

pub use decision::{Decision, RunPage};
pub use document::Sends;
pub use drift::write_drift_page;
pub use refusal::write_refusal_page;

use crate::run_report::{OutputReport, PlanReport, RunReport};
use html::Html;
use rows::write_rows;
use std::io::{self, Write};

/// How a page is laid out.
#[derive(Clone, Copy, Debug)]
pub struct PageOptions {
    /// About how many bytes it may have. What does not fit is left out, the attributes of the last changes first, and
    /// said to be.
    pub room: usize,
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions { room: 32 << 20 }
    }
}

/// Writes the page of a run, which sends nothing. The same run gives the same bytes.
///
/// # Errors
/// Those of the writer.
pub fn write_run_page(
    report: &RunReport,
    options: PageOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_page(report, None, options, out)
}

/// Writes the page of a run that waits, with the form by which whoever looks at it decides. It is for a browser that has the
/// page from the deployment itself, and sends it there ([`Sends::Form`]).
///
/// # Errors
/// Those of the writer.
pub fn write_decision_page(
    report: &RunReport,
    decision: &Decision<'_>,
    options: PageOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_page(report, Some(decision), options, out)
}

fn write_page(
    report: &RunReport,
    decision: Option<&Decision<'_>>,
    options: PageOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let title = match report.status.is_empty() {
        true => format!("{} · Plumbline", report.estate),
        false => format!("{}: {} · Plumbline", report.estate, report.status),
    };
    let sends = match decision {
        Some(_) => Sends::Form,
        None => Sends::Nothing,
    };
    let page = document::document(&title, sends, |html| {
        overview::write_header(report, html);
        html.raw("<main id=\"main\">");
        overview::write_next(report.next.as_ref(), decision, html);
        // What went wrong is looked for first.
        let wrong = report.messages.iter().any(|message| message.error);
        if wrong {
            overview::write_messages(&report.messages, html);
        }
        let rejected = report.verdicts.iter().any(|verdict| verdict.is_reject());
        if rejected {
            overview::write_verdicts(&report.verdicts, html);
        }
        done::write_done(report, html);
        if let Some(plan) = &report.plan {
            changes::write_dangerous(plan, html);
            write_outputs(report, plan, html);
            changes::write_changes(plan, options.room, html);
            write_drift(plan, options.room, html);
            graph::write_graph(plan, html);
        }
        if !rejected {
            overview::write_verdicts(&report.verdicts, html);
        }
        if !wrong {
            overview::write_messages(&report.messages, html);
        }
        overview::write_facts(report, html);
        html.raw("</main>");
        write_keys(html);
    });
    out.write_all(page.as_bytes())
}

fn write_outputs(report: &RunReport, plan: &PlanReport, html: &mut Html) {
    let now = report.applied.as_ref().map(|applied| applied.outputs.as_slice());
    let (outputs, title): (&[OutputReport], _) = match now.filter(|outputs| !outputs.is_empty()) {
        Some(outputs) => (outputs, "Outputs"),
        None => (&plan.outputs, "Outputs that change"),
    };
    if outputs.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"h-outputs\"><h2 id=\"h-outputs\">")
        .raw(title)
        .raw("</h2>");
    for output in outputs {
        html.raw("<div class=\"output\"><h3><code>").text(&output.name).raw("</code></h3>");
        write_rows(&output.rows, html);
        html.raw("</div>");
    }
    html.raw("</section>");
}

fn write_drift(plan: &PlanReport, room: usize, html: &mut Html) {
    if plan.drift.is_empty() {
        return;
    }
    html.raw(
        "<section aria-labelledby=\"h-drift\"><h2 id=\"h-drift\">Changed outside of Plumbline</h2>",
    );
    for change in &plan.drift {
        changes::write_change(None, change, room, html);
    }
    html.raw("</section>");
}

/// The keys, where scripts run.
fn write_keys(html: &mut Html) {
    html.raw(
        "<dialog id=\"help\" aria-labelledby=\"h-keys\"><h2 id=\"h-keys\">Keys</h2><dl>\
         <div><dt><kbd>/</kbd></dt><dd>Search</dd></div>\
         <div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>The next change, the one before</dd></div>\
         <div><dt><kbd>Enter</kbd></dt><dd>Open or close a change</dd></div>\
         <div><dt><kbd>o</kbd></dt><dd>Open or close all that are shown</dd></div>\
         <div><dt><kbd>d</kbd></dt><dd>Only the dangerous ones</dd></div>\
         <div><dt><kbd>Esc</kbd></dt><dd>Clear the search, and show all</dd></div>\
         <div><dt><kbd>?</kbd></dt><dd>This</dd></div></dl>\
         <label><input type=\"checkbox\" id=\"letters\" checked> Letters alone are keys</label>\
         <form method=\"dialog\"><button>Close</button></form></dialog>",
    );
}
