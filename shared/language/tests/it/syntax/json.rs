//! Files of the JSON syntax.

use language::diagnostics::Diagnostic;
use language::rendering::view;
use language::source::{Sources, Span};
use language::syntax::ast::MAX_NESTING;
use language::syntax::parse_json_body;
use proptest::prelude::*;

/// Parses and drops a file and gives the summaries of the errors.
fn errors_in(text: impl AsRef<[u8]>) -> Vec<String> {
    let sources = Sources::new();
    let file = sources.add("deep.tf.json", text.as_ref());
    let (body, diagnostics) = parse_json_body(&sources, file);
    drop(body);
    diagnostics.into_iter().map(|diagnostic| diagnostic.summary).collect()
}

#[test]
fn ten_thousand_levels_are_taken() {
    const DEPTH: usize = 10_000;
    let nested = |open: &str, close: &str| {
        format!("{{\"a\": {}1{}}}", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    assert_eq!(errors_in(nested("[", "]")), [""; 0]);
    assert_eq!(errors_in(nested("{\"a\":", "}")), [""; 0]);
}

#[test]
fn deeper_nesting_is_refused() {
    let text = "[".repeat(MAX_NESTING as usize + 1);
    assert_eq!(errors_in(text)[0], "Configuration nested too deeply");
}

#[test]
fn bytes_that_are_no_text_are_replaced_in_strings() {
    assert_eq!(errors_in(b"{\"a\": \"\xff\"}"), [""; 0]);
    assert_eq!(errors_in(b"\xef\xbb\xbf{}")[0], "Invalid start of value");
}

#[test]
fn the_context_is_the_path_to_the_object() {
    let sources = Sources::new();
    let text = "{\n\t\"resource\": {\"x\": [{\"a\": {\"count\": 1}}]}}";
    let file = sources.add("main.tf.json", text.as_bytes());
    let at = text.find("\"count\"").expect("the text has it") as u32;
    let diagnostic = Diagnostic::error("s", "d").at(Span::new(file, at, at + 7));
    let shown = view(&diagnostic, &sources);
    let snippet = shown.snippet.expect("there is a place");
    assert_eq!(snippet.context.as_deref(), Some("resource.x[0].a"));
    // A tab counts as two columns.
    assert_eq!(shown.range.map(|range| range.start.column), Some(29));
}

fn fragment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "=",
            "\"a\"",
            "\"${x}\"",
            "\"${",
            "\"\\u12",
            "\"\\",
            "1",
            "-",
            "1e5",
            "true",
            "nul",
            " ",
            "\n",
            "\t",
            "\"resource\"",
            "#",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..3),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end(pieces in proptest::collection::vec(fragment(), 0..30)) {
        let text = pieces.concat();
        let sources = Sources::new();
        let file = sources.add("main.tf.json", text.as_slice());
        for diagnostic in parse_json_body(&sources, file).1 {
            let span = diagnostic.subject.expect("syntax errors have a place");
            prop_assert!(span.start <= span.end && span.start as usize <= text.len());
            view(&diagnostic, &sources);
        }
    }
}
