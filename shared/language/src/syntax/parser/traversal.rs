//! Static traversals on their own.

use std::borrow::Cow;

use super::Parser;
use crate::syntax::ast::{IndexKey, Traversal, TraversalStep};
use crate::syntax::literal::normalized;
use crate::syntax::token::{Token, TokenKind};

impl Parser<'_> {
    /// A traversal to the end of the text; it ends at the first error.
    pub(super) fn absolute_traversal(&mut self, splats: bool) -> Option<Traversal> {
        let root = self.read();
        if root.kind != TokenKind::Identifier {
            self.report("Variable name required", "Must begin with a variable name.", root);
            return None;
        }
        let mut traversal =
            Traversal { root: self.name(root), root_span: self.span(root), steps: Vec::new() };
        loop {
            let next = self.peek();
            let step = match next.kind {
                TokenKind::EndOfFile => return Some(traversal),
                TokenKind::Dot => self.attribute_step(root),
                TokenKind::OpenBracket => self.index_step(root, splats),
                _ => {
                    let detail = "Expected an attribute access or an index operator.";
                    self.report_from(root, "Invalid character", detail, next);
                    None
                }
            };
            traversal.steps.extend(step);
            if !self.diagnostics.is_empty() {
                return Some(traversal);
            }
        }
    }

    fn attribute_step(&mut self, root: Token) -> Option<TraversalStep> {
        let dot = self.read();
        let name = self.read();
        if name.kind == TokenKind::Identifier {
            let span = self.span_between(dot, name);
            return Some(TraversalStep::Attribute { name: self.name(name), span });
        }
        let detail = if name.kind == TokenKind::Star {
            "Splat expressions (.*) may not be used here."
        } else {
            "Dot must be followed by attribute name."
        };
        self.report_from(root, "Attribute name required", detail, name);
        None
    }

    fn index_step(&mut self, root: Token, splats: bool) -> Option<TraversalStep> {
        let open = self.read();
        let next = self.peek();
        let key = match next.kind {
            TokenKind::Number => {
                self.read();
                Some(self.number(next).map_or(IndexKey::Invalid, IndexKey::Number))
            }
            TokenKind::OpenQuote => {
                let text = self.quoted_string().0;
                Some(IndexKey::String(normalized(Cow::Borrowed(&text))))
            }
            TokenKind::Star if splats => {
                self.read();
                None
            }
            TokenKind::Star => {
                let detail = "Splat expressions ([*]) may not be used here.";
                self.report_from(root, "Attribute name required", detail, next);
                return None;
            }
            _ => {
                let detail =
                    "Index brackets must contain either a literal number or a literal string.";
                self.report_from(root, "Index value required", detail, next);
                return None;
            }
        };
        let close = self.read();
        if close.kind != TokenKind::CloseBracket {
            let detail = "Index key must be followed by a closing bracket.";
            self.report_from(open, "Unclosed index brackets", detail, close);
        }
        let span = self.span_between(open, close);
        Some(match key {
            Some(key) => TraversalStep::Index { key, span },
            None => TraversalStep::Splat { span },
        })
    }
}
