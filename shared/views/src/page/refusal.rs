//! Why something was not done that a browser asked for.

use super::decision::RunPage;
use super::document::{Sends, document};
use super::html::Html;
use std::io::{self, Write};

/// Writes a page that says why something was not done, with a link to the page of the run that it was asked for, where it was
/// for one: that page's address has one part less.
///
/// # Errors
/// Those of the writer.
pub fn write_refusal_page(
    why: &str,
    back: Option<RunPage<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = document("Not done · Plumbline", Sends::Nothing, |html| {
        html.raw(
            "<header><p class=\"brand\">Plumbline</p><h1>Not done</h1></header><main id=\"main\">",
        );
        html.raw(
            "<section aria-labelledby=\"h-why\"><h2 id=\"h-why\">Why</h2><p class=\"message bad\">",
        );
        html.text(why).raw("</p>");
        if let Some(page) = back {
            write_link(page, html);
        }
        html.raw("</section></main>");
    });
    out.write_all(page.as_bytes())
}

fn write_link(page: RunPage<'_>, html: &mut Html) {
    html.raw("<p><a href=\"../")
        .address_part(page.run)
        .raw("?estate=")
        .address_part(page.estate)
        .raw("\">To the page of the run</a></p>");
}
