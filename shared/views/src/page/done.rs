//! What was done.

use super::html::Html;
use crate::run_report::{ChangeStanding, RunReport, StandingChange, standing_line};

/// Changes that are not made and are listed.
const NAMED: usize = 30;

/// What was done; where that is not all, how far each change has come.
pub(super) fn write_done(report: &RunReport, html: &mut Html) {
    let applied = report.applied.as_ref().filter(|applied| !applied.summary.is_empty());
    let standings = report.standings();
    if applied.is_none() && standings.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"h-done\"><h2 id=\"h-done\">What was done</h2>");
    match applied {
        Some(applied) => {
            html.raw("<p>").text(&applied.summary).raw("</p>");
        }
        None => write_standings(&standings, html),
    }
    html.raw("</section>");
}

fn write_standings(standings: &[StandingChange<'_>], html: &mut Html) {
    html.raw("<p>").text(&standing_line(standings));
    html.raw(".</p><p class=\"note\">As the last attempt left it that came to its end; one that died or is under way is not in it.</p>");
    let open = standings.iter().filter(|at| at.standing != ChangeStanding::Recorded);
    let more = open.clone().count().saturating_sub(NAMED);
    html.raw("<ul class=\"more\">");
    for StandingChange { position, change, standing } in open.take(NAMED) {
        html.raw("<li><a href=\"#c").show(position).raw("\"><code>").text(&change.name());
        html.raw("</code></a>: ").raw(standing.says()).raw("</li>");
    }
    if more > 0 {
        html.raw("<li>and ").show(more).raw(" more</li>");
    }
    html.raw("</ul>");
}
