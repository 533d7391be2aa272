use std::sync::Arc;

use language::files::Memory;
use language::rendering::string_literal;
use language::source::Sources;
use language::syntax::{parse_body, parse_expression, parse_template};
use values::Value;

use crate::diagnostics::have_places;
use crate::evaluation::{Surroundings, is_quick};

/// How a template file is called for.
const CALL: &str = r#"templatefile("t.tftpl", { s = "x", n = 1, b = true, l = ["a", "b"], m = { k = "v" }, u = var.u })"#;

/// Templates: files, heredocs and quoted strings. Errors are in the text; the text in quotes means itself.
///
/// # Panics
/// Where that does not hold.
pub fn template(input: &[u8]) {
    let sources = Arc::new(Sources::new());
    let file = sources.add("bare.tftpl", input);
    let (template, errors) = parse_template(&sources, file, input, 0);
    have_places(&errors, &sources);
    heredoc(input, &sources);
    quoted(&String::from_utf8_lossy(input));
    if !is_quick(input) {
        return;
    }
    let files = Memory::from_iter([("t.tftpl", input)]);
    let surroundings = Surroundings::new(sources.clone(), files);
    if !errors.has_errors() {
        surroundings.evaluate(&template);
    }
    let file = sources.add("call.tf", CALL.as_bytes());
    let (call, errors) = parse_expression(&sources, file, CALL.as_bytes(), 0);
    assert!(errors.is_empty(), "{errors:?}");
    surroundings.evaluate(&call);
}

fn heredoc(input: &[u8], sources: &Sources) {
    for opening in ["<<EOT", "<<-EOT"] {
        let text = [b"a = ", opening.as_bytes(), b"\n", input, b"\nEOT\n"].concat();
        let file = sources.add("heredoc.tf", text);
        have_places(&parse_body(sources, file).1, sources);
    }
}

fn quoted(text: &str) {
    let sources = Sources::new();
    let literal = string_literal(text);
    let file = sources.add("literal.tf", literal.as_bytes());
    let (expression, errors) = parse_expression(&sources, file, literal.as_bytes(), 0);
    assert!(errors.is_empty(), "{literal}: {errors:?}");
    let meant = expression.as_string_literal().map(|text| &**text);
    assert_eq!(meant, Value::string(text).as_str(), "{literal}");
}
