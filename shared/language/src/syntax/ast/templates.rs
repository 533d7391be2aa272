//! Templates and their directives.

use super::Expression;
use crate::source::Span;
use std::sync::Arc;

/// Literal text, interpolations and directives. The common indentation of a flush heredoc is gone
/// from its literals already.
#[derive(Clone, Debug)]
pub struct Template {
    /// At least one part; the empty string is one empty literal. Adjacent literals are one.
    pub parts: Arc<[TemplatePart]>,
}

impl Template {
    /// The text, if the template is one literal.
    pub fn as_literal(&self) -> Option<&Arc<str>> {
        match &*self.parts {
            [TemplatePart::Literal { text, .. }] => Some(text),
            _ => None,
        }
    }
}

/// One part of a template.
#[derive(Clone, Debug)]
pub enum TemplatePart {
    /// Text with escapes resolved, trim markers applied and Unicode in normal form C.
    Literal {
        /// The text.
        text: Arc<str>,
        /// Where it stands.
        span: Span,
    },
    /// `${expression}`
    Interpolation(Expression),
    /// `%{if}…%{else}…%{endif}`
    If(Arc<TemplateIf>),
    /// `%{for}…%{endfor}`
    For(Arc<TemplateFor>),
}

impl TemplatePart {
    /// Where it stands; for an interpolation the expression alone.
    pub fn span(&self) -> Span {
        match self {
            TemplatePart::Literal { span, .. } => *span,
            TemplatePart::Interpolation(expression) => expression.span,
            TemplatePart::If(directive) => directive.span,
            TemplatePart::For(directive) => directive.span,
        }
    }
}

/// `%{if}…%{else}…%{endif}`
#[derive(Debug)]
pub struct TemplateIf {
    /// The condition.
    pub condition: Expression,
    /// A [`Template`]; a missing branch is the empty string.
    pub then: Expression,
    /// A [`Template`]; a missing branch is the empty string.
    pub otherwise: Expression,
    /// From `%{if` to the end of `%{endif}`.
    pub span: Span,
}

/// `%{for}…%{endfor}`
#[derive(Debug)]
pub struct TemplateFor {
    /// The name for keys.
    pub key_variable: Option<Arc<str>>,
    /// The name for values.
    pub value_variable: Arc<str>,
    /// What is iterated over.
    pub collection: Expression,
    /// A [`Template`], evaluated for each element.
    pub body: Expression,
    /// The opening directive.
    pub open_span: Span,
    /// The closing directive.
    pub close_span: Span,
    /// From `%{for` to the end of `%{endfor}`.
    pub span: Span,
}
