//! Reading of the files that are HCL without expressions: the CLI configuration, the lock file.

use language::diagnostics::Severity;
use language::source::{Sources, Span};
use language::syntax::ast::{Attribute, Block, Body, Expression, ExpressionKind, Literal};
use language::syntax::parse_body;
use std::sync::Arc;

/// A settings file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {detail}")]
pub struct InvalidSettings {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub detail: String,
}

/// A settings file that is read.
pub(super) struct Settings {
    sources: Sources,
    name: String,
    pub(super) body: Body,
}

impl Settings {
    pub(super) fn parse(name: &str, text: &[u8]) -> Result<Settings, InvalidSettings> {
        let sources = Sources::new();
        let file = sources.add(name, text);
        let (body, diagnostics) = parse_body(&sources, file);
        let settings = Settings { sources, name: name.into(), body };
        match diagnostics.iter().find(|d| d.severity == Severity::Error) {
            None => Ok(settings),
            Some(error) => {
                let line = error.subject.as_ref().map_or(1, |s| settings.line(*s));
                // A clause: whoever tells it ends the sentence.
                let detail = error.detail.trim_end_matches('.');
                let detail = format!("{}: {detail}", error.summary);
                Err(InvalidSettings { file: name.into(), line, detail })
            }
        }
    }

    pub(super) fn line(&self, span: Span) -> u32 {
        self.sources.range(span).start.line
    }
    pub(super) fn error(&self, span: Span, detail: impl Into<String>) -> InvalidSettings {
        InvalidSettings { file: self.name.clone(), line: self.line(span), detail: detail.into() }
    }

    pub(super) fn string(&self, attribute: &Attribute) -> Result<Arc<str>, InvalidSettings> {
        self.text(&attribute.name, &attribute.expression)
    }
    pub(super) fn bool(&self, attribute: &Attribute) -> Result<bool, InvalidSettings> {
        match &attribute.expression.kind {
            ExpressionKind::Literal(Literal::Bool(b)) => Ok(*b),
            _ => {
                Err(self
                    .error(attribute.expression.span, format!("{} must be a bool", attribute.name)))
            }
        }
    }
    pub(super) fn strings(&self, attribute: &Attribute) -> Result<Vec<Arc<str>>, InvalidSettings> {
        match &attribute.expression.kind {
            ExpressionKind::Tuple(items) => {
                items.iter().map(|item| self.text(&attribute.name, item)).collect()
            }
            _ => Err(self.error(
                attribute.expression.span,
                format!("{} must be a list of strings", attribute.name),
            )),
        }
    }
    fn text(&self, name: &str, expression: &Expression) -> Result<Arc<str>, InvalidSettings> {
        expression.as_string_literal().cloned().ok_or_else(|| {
            self.error(expression.span, format!("{name} must be a string without templates"))
        })
    }
    /// The label of a block that has exactly one.
    pub(super) fn label<'b>(&self, block: &'b Block) -> Result<&'b Arc<str>, InvalidSettings> {
        match &*block.labels {
            [label] => Ok(&label.text),
            _ => Err(self.error(
                block.header_span(),
                format!("a {} block has exactly one label", block.type_name),
            )),
        }
    }
}
