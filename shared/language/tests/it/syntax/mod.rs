mod expressions;
mod files;
mod json;
mod robustness;
mod shape;
mod templates;

use language::diagnostics::Diagnostics;
use language::source::Sources;
use language::syntax::ast::Expression;
use language::syntax::{parse_expression, parse_template};

/// Each error as `summary @ start-end`, in bytes.
fn errors(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics
        .iter()
        .map(|diagnostic| match diagnostic.subject {
            Some(span) => format!("{} @ {}-{}", diagnostic.summary, span.start, span.end),
            None => diagnostic.summary.clone(),
        })
        .collect()
}

fn expression(text: &str) -> (Expression, Vec<String>) {
    let sources = Sources::new();
    let file = sources.add("test.tf", text.as_bytes());
    let (expression, diagnostics) = parse_expression(&sources, file, text.as_bytes(), 0);
    (expression, errors(&diagnostics))
}

fn template(text: &str) -> (Expression, Vec<String>) {
    let sources = Sources::new();
    let file = sources.add("test.tftpl", text.as_bytes());
    let (expression, diagnostics) = parse_template(&sources, file, text.as_bytes(), 0);
    (expression, errors(&diagnostics))
}
