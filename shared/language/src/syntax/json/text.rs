//! Strings.

use std::sync::Arc;

use super::super::ast::{Expression, ExpressionKind, Template, TemplatePart, Traversal};
use super::super::literal::normalized;
use super::super::parser::{parse_expression, parse_template, parse_traversal};
use crate::diagnostics::Diagnostics;
use crate::source::{Sources, Span};

/// A string of the JSON syntax. Where values are expected it is a template; where a constant is, it
/// is taken as it is; where a reference, keyword or type is, it holds one in the native syntax.
#[derive(Clone, Debug)]
pub struct JsonString {
    /// The text, escapes resolved.
    pub text: Arc<str>,
    /// The text as a template.
    pub template: Expression,
    /// What is wrong with it as a template: reported where it is used as one.
    pub errors: Diagnostics,
    span: Span,
}

impl JsonString {
    /// A text that stands, in its quotes, at `span`.
    pub(super) fn new(sources: &Sources, text: Arc<str>, span: Span) -> Self {
        // Places within the text are those that it has without escapes.
        let base = span.start + 1;
        if text.contains("${") || text.contains("%{") {
            let (template, errors) = parse_template(sources, span.file, text.as_bytes(), base);
            return Self { text, template, errors, span };
        }
        let inner = Span { start: base, end: span.end.saturating_sub(1).max(base), ..span };
        let part = TemplatePart::Literal { text: normalized((&*text).into()), span: inner };
        let kind = ExpressionKind::Template(Template { parts: Arc::new([part]) });
        let template = Expression { kind, span: inner };
        Self { text, template, errors: Diagnostics::new(), span }
    }

    /// The reference that the text is in the native syntax.
    pub fn traversal(&self) -> Option<Arc<Traversal>> {
        let Span { file, start, .. } = self.span;
        // What is wrong with it is not told: to whoever asks it is not a reference then.
        let (traversal, errors) =
            parse_traversal(&Sources::new(), file, self.text.as_bytes(), start);
        traversal.filter(|_| !errors.has_errors()).map(Arc::new)
    }

    /// The expression that the text is in the native syntax.
    pub(crate) fn expression(&self, sources: &Sources) -> (Expression, Diagnostics) {
        let Span { file, start, .. } = self.span;
        parse_expression(sources, file, self.text.as_bytes(), start)
    }
}
