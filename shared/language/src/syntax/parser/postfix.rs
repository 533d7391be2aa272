//! What follows a term: attributes, indexes and splats.

use std::sync::Arc;

use super::Parser;
use crate::source::Span;
use crate::syntax::ast::{
    Expression, ExpressionKind, Index, IndexKey, Literal, RelativeTraversal, Splat, SplatForm,
    TraversalStep,
};
use crate::syntax::token::{Token, TokenKind};

impl Parser<'_> {
    /// Parses all steps from `source`.
    pub(super) fn postfix(&mut self, source: Expression) -> Expression {
        let mut expression = source;
        loop {
            expression = match self.peek_kind() {
                TokenKind::Dot => self.after_dot(expression),
                TokenKind::OpenBracket => self.after_bracket(expression),
                _ => return expression,
            };
        }
    }

    fn after_dot(&mut self, source: Expression) -> Expression {
        let dot = self.read();
        let next = self.peek();
        match next.kind {
            TokenKind::Identifier => {
                self.read();
                let span = self.span_between(dot, next);
                with_step(source, TraversalStep::Attribute { name: self.name(next), span })
            }
            TokenKind::Number => {
                self.read();
                let step =
                    self.legacy_index(dot, next, next, "Use the proper index syntax instead, like");
                with_step(source, step)
            }
            TokenKind::Star => self.attribute_splat(source, dot),
            _ => {
                let detail = "An attribute name is required after a dot.";
                self.report("Invalid attribute name", detail, next);
                self.recovering = true;
                let span = source.span.to(self.span(dot));
                self.invalid(span)
            }
        }
    }

    /// `.0`, which old configurations use for `[0]`. Two in a row lex as a fraction and are refused.
    fn legacy_index(
        &mut self,
        dot: Token,
        number: Token,
        subject: Token,
        remedy: &str,
    ) -> TraversalStep {
        let span = self.span_between(dot, number);
        let text = self.str(number);
        let key = match text.split_once('.') {
            Some((first, second)) => {
                let detail = format!(
                    "When using the legacy index syntax, chaining two indexes together is not permitted. {remedy} [{first}][{second}]."
                );
                self.report("Invalid legacy index syntax", detail, subject);
                IndexKey::Invalid
            }
            None => self.number(number).map_or(IndexKey::Invalid, IndexKey::Number),
        };
        TraversalStep::Index { key, span }
    }

    /// `.*` and the attributes after it, which apply to each item.
    fn attribute_splat(&mut self, source: Expression, dot: Token) -> Expression {
        let marker = self.read();
        let first = self.peek();
        let mut last = marker;
        let mut steps = Vec::new();
        while self.peek_kind() == TokenKind::Dot {
            let dot = self.read();
            let next = self.peek();
            let step = match next.kind {
                TokenKind::Number => {
                    self.read();
                    self.legacy_index(
                        dot,
                        next,
                        marker,
                        "Use the proper index syntax with a full splat expression [*] instead, like",
                    )
                }
                TokenKind::Identifier => {
                    self.read();
                    let span = self.span_between(dot, next);
                    TraversalStep::Attribute { name: self.name(next), span }
                }
                kind => {
                    if !self.recovering {
                        if kind == TokenKind::Star {
                            let detail = "A splat expression (*) cannot be used inside another attribute-only splat expression.";
                            self.report("Nested splat expression not allowed", detail, next);
                        } else {
                            let detail = "An attribute name is required after a dot.";
                            self.report("Invalid attribute name", detail, marker);
                        }
                    }
                    self.recovering = true;
                    return source;
                }
            };
            last = next;
            steps.push(step);
        }
        let marker_span = self.span_between(dot, marker);
        let item = Expression { kind: ExpressionKind::SplatItem, span: marker_span };
        let each = if steps.is_empty() {
            item
        } else {
            let span = self.span_between(first, last);
            let relative = RelativeTraversal { source: item, steps };
            Expression { kind: ExpressionKind::RelativeTraversal(Arc::new(relative)), span }
        };
        let span = source.span.to(self.span(last));
        splat(source, each, marker_span, SplatForm::AttributeOnly, span)
    }

    fn after_bracket(&mut self, source: Expression) -> Expression {
        let open = self.read();
        if self.eat(TokenKind::Star).is_some() {
            return self.full_splat(source, open);
        }
        let (key, close) = self.ignoring_newlines(|parser| {
            let (key, failed) = parser.attempt(Self::expression);
            if failed {
                return (key, parser.recover(TokenKind::CloseBracket));
            }
            let close = parser.close_bracket(
                "Missing close bracket on index",
                "The index operator must end with a closing bracket (\"]\").",
            );
            (key, close)
        });
        let bracket_span = self.span_between(open, close);
        if let Some(key) = literal_key(&key) {
            return with_step(source, TraversalStep::Index { key, span: bracket_span });
        }
        let span = source.span.to(bracket_span);
        let index = Index { collection: source, key, open_span: self.span(open), bracket_span };
        Expression { kind: ExpressionKind::Index(Arc::new(index)), span }
    }

    /// Reads a closing bracket or seeks it. The error points to the one that was found.
    fn close_bracket(&mut self, summary: &str, detail: &str) -> Token {
        let close = self.read();
        if close.kind == TokenKind::CloseBracket || self.recovering {
            return close;
        }
        let close = self.recover(TokenKind::CloseBracket);
        self.report(summary, detail, close);
        close
    }

    /// `[*]` and all steps after it, which apply to each item.
    fn full_splat(&mut self, source: Expression, open: Token) -> Expression {
        let close = self.close_bracket(
            "Missing close bracket on splat index",
            "The star for a full splat operator must be immediately followed by a closing bracket (\"]\").",
        );
        let marker_span = self.span_between(open, close);
        let item = || Expression { kind: ExpressionKind::SplatItem, span: marker_span };
        let each = self.nested(|_| item(), |parser| parser.postfix(item()));
        let span = source.span.to(each.span);
        splat(source, each, marker_span, SplatForm::Full, span)
    }
}

fn splat(
    source: Expression,
    each: Expression,
    marker_span: Span,
    form: SplatForm,
    span: Span,
) -> Expression {
    let splat = Splat { source, each, marker_span, form };
    Expression { kind: ExpressionKind::Splat(Arc::new(splat)), span }
}

/// The key of a step, where an index is literal enough to be part of a traversal.
fn literal_key(key: &Expression) -> Option<IndexKey> {
    Some(match &key.kind {
        ExpressionKind::Literal(Literal::Number(text)) => IndexKey::Number(text.clone()),
        ExpressionKind::Literal(Literal::Bool(value)) => IndexKey::Bool(*value),
        ExpressionKind::Literal(Literal::Null) => IndexKey::Null,
        ExpressionKind::Invalid => IndexKey::Invalid,
        _ => IndexKey::String(key.as_string_literal()?.clone()),
    })
}

/// Adds a step to a traversal, or begins one.
fn with_step(mut source: Expression, step: TraversalStep) -> Expression {
    let end = step.span();
    let unshared = match &mut source.kind {
        ExpressionKind::ScopeTraversal(traversal) => {
            Arc::get_mut(traversal).map(|traversal| &mut traversal.steps)
        }
        ExpressionKind::RelativeTraversal(traversal) => {
            Arc::get_mut(traversal).map(|traversal| &mut traversal.steps)
        }
        _ => None,
    };
    if let Some(steps) = unshared {
        // Most traversals are short; room for four steps each would be most of their size.
        if steps.len() == steps.capacity() {
            steps.reserve_exact(steps.len().max(1));
        }
        steps.push(step);
        source.span = source.span.to(end);
        return source;
    }
    let span = source.span.to(end);
    let relative = RelativeTraversal { source, steps: vec![step] };
    Expression { kind: ExpressionKind::RelativeTraversal(Arc::new(relative)), span }
}
