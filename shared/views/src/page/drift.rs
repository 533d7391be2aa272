//! The drift of all estates.

use super::PageOptions;
use super::changes::write_change;
use super::document::{Sends, document};
use super::html::Html;
use crate::drift_report::{DriftDay, DriftLook, DriftOutcome, DriftReport, EstateDrift, FORGOTTEN};
use std::io::{self, Write};

/// Looks that are shown of each estate.
const LOOKS: usize = 20;
/// Days that are drawn.
const DAYS: usize = 30;
const BAR: usize = 18;
const GAP: usize = 4;
const TALL: usize = 80;

/// Writes the page of a drift report. The same report gives the same bytes.
///
/// # Errors
/// Those of the writer.
pub fn write_drift_page(
    report: &DriftReport,
    options: PageOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = document("Drift · Plumbline", Sends::Nothing, |html| {
        let (drifted, unchecked) = report.counts();
        html.raw("<header><p class=\"brand\">Plumbline</p><div class=\"title\"><h1>Drift</h1>");
        let (class, words) = match (drifted, unchecked) {
            (0, 0) => ("good", "all as recorded"),
            (0, _) => ("waiting", "not all could be checked"),
            _ => ("bad", "drifted"),
        };
        html.raw("<span class=\"pill ")
            .raw(class)
            .raw("\">")
            .raw(words)
            .raw("</span></div><p class=\"sum\">");
        html.show(drifted).raw(" of ").show(report.estates.len()).raw(" estates have drifted, ");
        html.show(unchecked).raw(" could not be checked</p></header><main id=\"main\">");
        write_trend(&report.trend, html);
        let clean = |estate: &&EstateDrift| !estate.has_drifted() && estate.is_checked();
        for estate in report.estates.iter().filter(|estate| !clean(estate)) {
            write_estate(estate, options, html);
        }
        let clean: Vec<&EstateDrift> = report.estates.iter().filter(clean).collect();
        if !clean.is_empty() {
            html.raw("<section aria-labelledby=\"h-clean\"><h2 id=\"h-clean\">As recorded <span class=\"n\">");
            html.show(clean.len()).raw("</span></h2><ul class=\"clean\">");
            for estate in clean {
                html.raw("<li><strong>").text(&estate.estate).raw("</strong>");
                write_looks(estate, html);
                if !estate.recovered.is_empty() {
                    html.raw("<span class=\"y\">")
                        .show(estate.recovered.len())
                        .raw(" had drifted before</span>");
                }
                html.raw("</li>");
            }
            html.raw("</ul></section>");
        }
        html.raw("</main>");
    });
    out.write_all(page.as_bytes())
}

fn write_estate(estate: &EstateDrift, options: PageOptions, html: &mut Html) {
    html.raw("<section class=\"estate\"><h2>").text(&estate.estate).raw("</h2>");
    write_looks(estate, html);
    match estate.looks.first() {
        None => {
            html.raw("<p class=\"note\">Nobody has looked yet.</p>");
        }
        Some(look) if !look.is_checked() => {
            html.raw("<p class=\"message bad\">Could not be checked at ").time(look.at).raw(": ");
            html.text(look.code.as_deref().unwrap_or_default()).raw(".");
            if estate.has_drifted() || !estate.recovered.is_empty() {
                html.raw(" What follows is of the last look that saw anything.");
            }
            html.raw("</p>");
        }
        Some(_) => {}
    }
    if estate.has_drifted() && estate.drifted.is_empty() {
        html.raw("<p class=\"note\">").raw(FORGOTTEN).raw("</p>");
    }
    for object in &estate.drifted {
        html.raw("<div class=\"drifted\"><p class=\"y\">since ").time(object.since).raw(", at ");
        html.show(object.seen).raw(" of ").show(object.looks).raw(" looks</p>");
        write_change(None, &object.change, options.room, html);
        html.raw("</div>");
    }
    if !estate.recovered.is_empty() {
        html.raw("<p class=\"note\">Drifted before, and does no more: ");
        for (i, address) in estate.recovered.iter().take(LOOKS).enumerate() {
            html.raw(if i == 0 { "<code>" } else { ", <code>" }).text(address).raw("</code>");
        }
        if estate.recovered.len() > LOOKS {
            html.raw(" and ").show(estate.recovered.len() - LOOKS).raw(" more");
        }
        html.raw("</p>");
    }
    html.raw("</section>");
}

/// The last looks, the last one at the right.
fn write_looks(estate: &EstateDrift, html: &mut Html) {
    if estate.looks.is_empty() {
        return;
    }
    html.raw("<ol class=\"looks\" aria-label=\"The last looks\">");
    let looks: Vec<&DriftLook> = estate.looks.iter().take(LOOKS).collect();
    for look in looks.into_iter().rev() {
        let (class, sign) = match look.outcome {
            DriftOutcome::Clean => ("good", "✓"),
            DriftOutcome::Drifted => ("bad", "!"),
            DriftOutcome::NotChecked => ("neutral", "?"),
        };
        html.raw("<li class=\"")
            .raw(class)
            .raw("\"><span aria-hidden=\"true\">")
            .raw(sign)
            .raw("</span><span class=\"tip\">");
        html.time(look.at).raw(": ");
        match look.outcome {
            DriftOutcome::Clean => html.raw("as recorded"),
            DriftOutcome::Drifted => html.show(look.objects).raw(" drifted"),
            DriftOutcome::NotChecked => {
                html.raw("not checked, ").text(look.code.as_deref().unwrap_or_default())
            }
        };
        if look.link.is_some() {
            html.raw(", ").link(look.link.as_deref(), "run");
        }
        html.raw("</span></li>");
    }
    html.raw("</ol>");
}

fn write_trend(trend: &[DriftDay], html: &mut Html) {
    let days = &trend[trend.len().saturating_sub(DAYS)..];
    if days.len() < 2 {
        return;
    }
    let most = days.iter().map(|day| day.objects).max().unwrap_or_default().max(1);
    html.raw(
        "<section aria-labelledby=\"h-trend\"><h2 id=\"h-trend\">Drifted objects, by day</h2>",
    );
    html.raw("<svg class=\"trend\" role=\"img\" aria-label=\"Drifted objects by day; the table below has the numbers\" width=\"");
    html.show(days.len() * (BAR + GAP)).raw("\" height=\"").show(TALL + 18).raw("\">");
    for (i, day) in days.iter().enumerate() {
        let height = (day.objects * TALL).div_ceil(most).max(2);
        let x = i * (BAR + GAP);
        html.raw("<rect class=\"")
            .raw(if day.objects == 0 { "good" } else { "bad" })
            .raw("\" x=\"")
            .show(x);
        html.raw("\" y=\"")
            .show(TALL - height)
            .raw("\" width=\"")
            .show(BAR)
            .raw("\" height=\"")
            .show(height)
            .raw("\" rx=\"2\"/>");
        if day.not_checked > 0 {
            html.raw("<text x=\"")
                .show(x + BAR / 2)
                .raw("\" y=\"")
                .show(TALL + 14)
                .raw("\">?</text>");
        }
    }
    html.raw("</svg><details class=\"more\"><summary>The numbers</summary><table><thead><tr><th scope=\"col\">Day</th>\
              <th scope=\"col\">Estates</th><th scope=\"col\">Drifted objects</th><th scope=\"col\">Not checked</th></tr></thead><tbody>");
    for day in days {
        html.raw("<tr><th scope=\"row\">")
            .text(&day.day)
            .raw("</th><td>")
            .show(day.estates)
            .raw("</td><td>");
        html.show(day.objects).raw("</td><td>").show(day.not_checked).raw("</td></tr>");
    }
    html.raw("</tbody></table></details></section>");
}
