//! Errors and warnings.

use language::diagnostics::{Diagnostic, Diagnostics};
use language::source::Sources;
use views::Colour;
use views::diagnostics::{DiagnosticOptions, write_text, write_validation};

fn diagnostics() -> Diagnostics {
    [
        Diagnostic::error(
            "Invalid <value>",
            "The value \"a\\b\" is not, and [1, 2] is not either.",
        ),
        Diagnostic::warning("Old syntax", ""),
    ]
    .into_iter()
    .collect()
}

#[test]
fn warnings_come_first() {
    let mut out = Vec::new();
    let options = DiagnosticOptions { colour: Colour::Plain, width: 78 };
    write_text(&diagnostics(), &Sources::default(), options, &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn validation_counts_and_lists() {
    let mut out = Vec::new();
    write_validation(&diagnostics(), &Sources::default(), &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["diagnostics"][1]["summary"], "Invalid <value>");
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn nothing_wrong_is_valid() {
    let mut out = Vec::new();
    write_validation(&Diagnostics::new(), &Sources::default(), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}
