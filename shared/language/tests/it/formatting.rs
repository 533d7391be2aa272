//! Layout where it differs from Terraform's on purpose. What agrees is among the cases of
//! `tests/conformance`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use language::formatting::format;
use language::source::Sources;
use proptest::prelude::*;

fn formatted(text: &str) -> Option<String> {
    let sources = Sources::new();
    let file = sources.add("main.tf", text.as_bytes());
    format(&sources, file).ok().map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn labels_with_escapes_are_kept() {
    let text = "block   \"$${x}\" \"a$b\" {}\n";
    assert_eq!(formatted(text).unwrap(), "block \"$${x}\" \"a$b\" {}\n");
}

#[test]
fn an_interpolation_stays_where_it_would_mean_nothing_without_its_quotes() {
    let text = "a    = \"${ # why\n  b }\"\n";
    assert_eq!(formatted(text).unwrap(), "a = \"${ # why\nb}\"\n");
    let text = "a = \"${(b) +\n(c)}\"\n";
    assert!(formatted(text).unwrap().starts_with("a = \"${(b) +\n"));
}

#[test]
fn two_indexes_do_not_become_one_number() {
    let text = "a = b.0 .1\nc =  b.0 .e5\nd = b.0 .enabled\n";
    let expected = "a = b.0. 1\nc = b.0. e5\nd = b.0.enabled\n";
    assert_eq!(formatted(text).unwrap(), expected);
    assert_eq!(formatted(expected).unwrap(), expected);
}

#[test]
fn what_cannot_be_parsed_is_refused() {
    assert_eq!(formatted("a = {\n"), None);
    assert_eq!(formatted("a = 1 b = 2\n"), None);
}

#[test]
fn deep_nesting_is_laid_out() {
    let (open, close) = ("{a=[".repeat(5_000), "]}".repeat(5_000));
    let text = formatted(&format!("x = {open}{close}\n")).unwrap();
    assert!(text.starts_with("x = { a = [{ a = [{ a = ["));
}

proptest! {
    /// Only blanks change, but for the old spellings, and what was laid out once stays.
    #[test]
    fn layout_changes_blanks_and_is_stable(
        lines in prop::collection::vec("[a-c] {0,3}= {0,3}(1|\"x\"|\\[1, 2\\]|\\{ *\\}|f\\( *1\\)|- *2)( *# c)?", 0..8),
    ) {
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            text.push_str(&format!("x{at}{}\n", line.trim_end()));
        }
        let once = formatted(&text).unwrap();
        let without_blanks = |text: &str| text.replace(' ', "");
        prop_assert_eq!(without_blanks(&once), without_blanks(&text));
        prop_assert_eq!(formatted(&once).unwrap(), once);
    }

    #[test]
    fn no_text_makes_it_panic(text in "([a-z\"{}\\[\\]()=<>$%~#/*\n -]|\\$\\{|<<E\n|E\n|é)*") {
        let _ = formatted(&text);
    }
}
