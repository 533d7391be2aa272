//! A page as a whole: one file that loads nothing and runs no script but its own.

use super::html::Html;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// What a page sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// Nothing.
    Nothing,
    /// What its form says, to where the page itself comes from.
    Form,
}

impl Sends {
    /// The content security policy: this script and this style, and nothing from anywhere. Whoever serves a page may send it as
    /// a header too.
    pub fn content_policy(self) -> String {
        let forms = match self {
            Sends::Nothing => "'none'",
            Sends::Form => "'self'",
        };
        format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action {forms}",
            hash(SCRIPT),
            hash(STYLE)
        )
    }

    /// Who is told the page's address: nobody elsewhere. A page that tells it to nobody at all has its browser send forms
    /// without their origin, by which those are known that do not send `Sec-Fetch-Site`.
    pub fn referrer_policy(self) -> &'static str {
        match self {
            Sends::Nothing => "no-referrer",
            Sends::Form => "same-origin",
        }
    }
}

/// Writes a page around its content.
pub(super) fn document(title: &str, sends: Sends, content: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"")
        .text(&sends.content_policy())
        .raw("\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.raw("<meta name=\"referrer\" content=\"").raw(sends.referrer_policy()).raw("\">\n");
    html.raw("<meta name=\"robots\" content=\"noindex\">\n<title>").text(title).raw("</title>\n");
    html.raw("<link rel=\"icon\" href=\"data:,\">\n<style>")
        .raw(STYLE)
        .raw("</style>\n</head>\n<body>\n");
    html.raw("<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
    content(&mut html);
    html.raw("<script>").raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
    html.into_text()
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
