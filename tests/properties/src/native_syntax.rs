use std::sync::Arc;

use language::files::Memory;
use language::formatting::format;
use language::source::{FileId, Sources};
use language::syntax::ast::Body;
use language::syntax::{
    is_unfinished, parse_body, parse_expression, parse_partial_traversal, parse_traversal,
};

use crate::diagnostics::have_places;
use crate::evaluation::{Surroundings, is_quick};
use crate::meaning::meaning;
use crate::module::is_read_or_refused;

/// The native syntax. Errors are in the text; layout keeps what a file means, and leaves what is laid out as it is;
/// values can be written as expressions again.
///
/// # Panics
/// Where that does not hold.
pub fn native_syntax(input: &[u8]) {
    let sources = Arc::new(Sources::new());
    let file = sources.add("main.tf", input);
    let (body, diagnostics) = parse_body(&sources, file);
    have_places(&diagnostics, &sources);
    if !diagnostics.has_errors() {
        layout_keeps_the_meaning(&sources, file, &body);
    }
    is_read_or_refused("main.tf", input);
    let (expression, errors) = parse_expression(&sources, file, input, 0);
    have_places(&errors, &sources);
    have_places(&parse_traversal(&sources, file, input, 0).1, &sources);
    have_places(&parse_partial_traversal(&sources, file, input, 0).1, &sources);
    is_unfinished(&String::from_utf8_lossy(input));
    if is_quick(input) {
        let surroundings = Surroundings::new(sources, Memory::new());
        if !diagnostics.has_errors() {
            surroundings.evaluate_body(&body);
        }
        if !errors.has_errors() {
            surroundings.evaluate(&expression);
        }
    }
}

fn layout_keeps_the_meaning(sources: &Sources, file: FileId, body: &Body) {
    let expected = meaning(body);
    let mut text = laid_out(sources, file);
    // As Terraform does, each layout takes one interpolation out of its quotes, of several within each other.
    let mut interpolations = sources.text(file).windows(3).filter(|bytes| bytes == b"\"${").count();
    loop {
        let sources = Sources::new();
        let file = sources.add("main.tf", text.as_slice());
        let (body, errors) = parse_body(&sources, file);
        assert!(errors.is_empty(), "{}: {errors:?}", String::from_utf8_lossy(&text));
        assert_eq!(meaning(&body), expected);
        let again = laid_out(&sources, file);
        if again == text {
            return;
        }
        let shown = [&again, &text].map(|text| String::from_utf8_lossy(text).into_owned());
        assert!(interpolations > 0, "laid out again, {:?} becomes {:?}", shown[1], shown[0]);
        interpolations -= 1;
        text = again;
    }
}

fn laid_out(sources: &Sources, file: FileId) -> Vec<u8> {
    match format(sources, file) {
        Ok(text) => text,
        Err(errors) => panic!("parses, and is not laid out: {errors:?}"),
    }
}
