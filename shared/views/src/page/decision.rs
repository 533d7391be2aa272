//! The form by which a plan is approved or declined.

use super::html::Html;
use crate::run_report::{Danger, PlanReport, summary_line};

/// Which run a page is about.
#[derive(Clone, Copy, Debug)]
pub struct RunPage<'a> {
    /// Its estate.
    pub estate: &'a str,
    /// Its id.
    pub run: &'a str,
}

/// What there is to decide on a page.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The run that waits.
    pub page: RunPage<'a>,
    /// The plan that the page shows.
    pub plan: &'a PlanReport,
    /// Its digest, which the decision names.
    pub plan_digest: &'a str,
}

/// The button that approves says what it approves. The addresses are beside the page's own, whatever stands before the API.
pub(super) fn write_form(decision: &Decision<'_>, html: &mut Html) {
    let Decision { page, plan, plan_digest } = decision;
    html.raw(
        "<form class=\"decide\" method=\"post\" aria-label=\"Decide about this plan\" action=\"",
    )
    .address_part(page.run)
    .raw("/approve\"><input type=\"hidden\" name=\"estate\" value=\"")
    .text(page.estate)
    .raw("\"><input type=\"hidden\" name=\"plan_digest\" value=\"")
    .text(plan_digest)
    .raw("\"><button type=\"submit\" class=\"approve");
    if plan.changes.iter().any(|change| change.danger > Danger::None) {
        html.raw(" bad");
    }
    html.raw("\">Approve: ").text(&summary_line(plan)).raw("</button>");
    html.raw("<button type=\"submit\" formaction=\"")
        .address_part(page.run)
        .raw("/reject\">Decline</button></form>");
}
