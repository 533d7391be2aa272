//! Bodies, attributes and blocks.

use std::sync::Arc;

use super::Parser;
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{Attribute, Block, Body, Label, Syntax};
use crate::syntax::literal::{quote, unescape};
use crate::syntax::token::{Token, TokenKind};

const ITEM_REQUIRED: &str = "Argument or block definition required";
const ITEM_REQUIRED_DETAIL: &str = "An argument or block definition is required here.";
const EQUALS_HINT: &str = "An argument or block definition is required here. To set an argument, use the equals sign \"=\" to introduce the argument value.";
const UNCLOSED_BLOCK: &str = "Unclosed configuration block";
const UNCLOSED_BLOCK_DETAIL: &str = "There is no closing brace for this block before the end of the file. This may be caused by incorrect brace nesting elsewhere in this file.";

/// Above this many attributes names are compared through a set.
const FEW_ATTRIBUTES: usize = 16;

impl Parser<'_> {
    /// Parses items up to `end`, which is read too.
    pub(super) fn body(&mut self, end: TokenKind) -> Body {
        let start = self.previous();
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut names: std::collections::HashMap<Arc<str>, usize> =
            std::collections::HashMap::new();
        let last = loop {
            let next = self.peek();
            match next.kind {
                kind if kind == end => {
                    self.read();
                    break next;
                }
                TokenKind::Newline => {
                    self.read();
                }
                TokenKind::Identifier => match self.item() {
                    Some(Item::Block(block)) => blocks.push(block),
                    Some(Item::Attribute(attribute)) => {
                        let existing = if attributes.len() < FEW_ATTRIBUTES {
                            attributes.iter().find(|other| other.name == attribute.name)
                        } else {
                            let unseen = names.len()..attributes.len();
                            names.extend(unseen.map(|at| (attributes[at].name.clone(), at)));
                            names.get(&attribute.name).and_then(|at| attributes.get(*at))
                        };
                        match existing {
                            Some(existing) => {
                                let detail = format!(
                                    "The argument {} was already set at {}. Each argument may be set only once.",
                                    quote(&attribute.name),
                                    self.sources.range(existing.name_span),
                                );
                                let error = Diagnostic::error("Attribute redefined", detail);
                                self.diagnostics.push(error.at(attribute.name_span));
                            }
                            None => attributes.push(attribute),
                        }
                    }
                    None => {}
                },
                _ => {
                    let bad = self.read();
                    self.report_bad_item(bad, end, start);
                    let last = self.previous();
                    self.recover(end);
                    break last;
                }
            }
        };
        attributes.shrink_to_fit();
        blocks.shrink_to_fit();
        let end_span = self.span(last).end_point();
        Body {
            attributes,
            blocks,
            syntax: Syntax::Native,
            span: self.span_between(start, last),
            end_span,
        }
    }

    fn report_bad_item(&mut self, bad: Token, end: TokenKind, start: Token) {
        if self.recovering {
            return;
        }
        match bad.kind {
            TokenKind::OpenQuote => {
                self.report("Invalid argument name", "Argument names must not be quoted.", bad);
            }
            TokenKind::EndOfFile if end == TokenKind::CloseBrace => {
                self.report(UNCLOSED_BLOCK, UNCLOSED_BLOCK_DETAIL, start);
            }
            _ => self.report(ITEM_REQUIRED, ITEM_REQUIRED_DETAIL, bad),
        }
    }

    fn item(&mut self) -> Option<Item> {
        let name = self.read();
        match self.peek_kind() {
            TokenKind::Equal => Some(Item::Attribute(self.attribute(name, false))),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier => {
                Some(Item::Block(self.block(name)))
            }
            _ => {
                self.recover_after_item();
                self.report(ITEM_REQUIRED, EQUALS_HINT, name);
                None
            }
        }
    }

    /// The rest of an attribute, from the equals sign on.
    fn attribute(&mut self, name: Token, single_line: bool) -> Attribute {
        let equals = self.read();
        let (expression, failed) = self.attempt(Self::expression);
        let last = self.previous();
        if failed {
            self.recover_after_item();
        } else if !single_line {
            let next = self.peek();
            if matches!(next.kind, TokenKind::Newline | TokenKind::EndOfFile) {
                self.read();
            } else {
                if !self.recovering {
                    let detail = "An argument definition must end with a newline.";
                    if next.kind == TokenKind::Comma {
                        let detail = format!(
                            "Argument definitions must be separated by newlines, not commas. {detail}"
                        );
                        self.report_from(name, "Unexpected comma after argument", detail, next);
                    } else {
                        self.report_from(name, "Missing newline after argument", detail, next);
                    }
                }
                self.recover_after_item();
            }
        }
        Attribute {
            name: self.name(name),
            name_span: self.span(name),
            equals_span: self.span(equals),
            expression,
            syntax: Syntax::Native,
            span: self.span_between(name, last),
        }
    }

    /// The rest of a block, from its labels on.
    fn block(&mut self, name: Token) -> Block {
        let mut labels = Vec::new();
        let open = loop {
            let next = self.peek();
            match next.kind {
                TokenKind::OpenBrace => break self.read(),
                TokenKind::OpenQuote => {
                    let label = self.quoted_label(labels.is_empty());
                    labels.push(label);
                }
                TokenKind::Identifier => {
                    self.read();
                    let text = self.name(next);
                    labels.push(Label { text, span: self.span(next), quoted: false });
                }
                _ => {
                    self.report_bad_header(name, next);
                    self.recover_after_item();
                    let place = self.span(name);
                    return Block {
                        type_name: self.name(name),
                        type_span: place,
                        labels,
                        open_brace_span: place,
                        close_brace_span: place,
                        body: self.empty_body(name),
                    };
                }
            }
        };
        labels.shrink_to_fit();
        let before = self.diagnostics.len();
        let body = match self.peek_kind() {
            TokenKind::Newline | TokenKind::EndOfFile | TokenKind::CloseBrace => self.nested(
                |parser| parser.empty_body(open),
                |parser| parser.body(TokenKind::CloseBrace),
            ),
            _ => self.nested(
                |parser| parser.empty_body(open),
                |parser| parser.single_line_body(name, open, before),
            ),
        };
        let close = self.previous();
        let next = self.peek();
        if matches!(next.kind, TokenKind::Newline | TokenKind::EndOfFile) {
            self.read();
        } else {
            if !self.recovering {
                let detail = "A block definition must end with a newline.";
                self.report_from(name, "Missing newline after block definition", detail, next);
            }
            self.recover_after_item();
        }
        Block {
            type_name: self.name(name),
            type_span: self.span(name),
            labels,
            open_brace_span: self.span(open),
            close_brace_span: self.span(close),
            body,
        }
    }

    fn empty_body(&self, place: Token) -> Body {
        let span = self.span(place);
        Body {
            attributes: Vec::new(),
            blocks: Vec::new(),
            syntax: Syntax::Native,
            span,
            end_span: span,
        }
    }

    fn report_bad_header(&mut self, name: Token, bad: Token) {
        let detail = match bad.kind {
            TokenKind::Equal => {
                "The equals sign \"=\" indicates an argument definition, and must not be used when defining a block."
            }
            TokenKind::Newline => {
                "A block definition must have block content delimited by \"{\" and \"}\", starting on the same line as the block header."
            }
            _ if self.recovering => return,
            _ => "Either a quoted string block label or an opening brace (\"{\") is expected here.",
        };
        self.report_from(name, "Invalid block definition", detail, bad);
    }

    /// `{ name = value }`: one attribute and the closing brace on the same line.
    fn single_line_body(&mut self, name: Token, open: Token, before: usize) -> Body {
        let attribute = self.single_line_attribute();
        let own = self.diagnostics.len();
        let summary = "Invalid single-argument block definition";
        let next = self.peek();
        match next.kind {
            TokenKind::CloseBrace => {
                self.read();
            }
            TokenKind::Comma => {
                let detail = "Single-line block syntax can include only one argument definition. To define multiple arguments, use the multi-line block syntax with one argument definition per line.";
                self.report(summary, detail, next);
                self.recover(TokenKind::CloseBrace);
            }
            TokenKind::Newline => {
                let detail = "An argument definition on the same line as its containing block creates a single-line block definition, which must also be closed on the same line. Place the block's closing brace immediately after the argument definition.";
                self.report(summary, detail, next);
                self.recover(TokenKind::CloseBrace);
            }
            _ => {
                if !self.recovering {
                    if next.kind == TokenKind::EndOfFile {
                        self.report_from(name, UNCLOSED_BLOCK, UNCLOSED_BLOCK_DETAIL, open);
                    } else {
                        let detail = "A single-line block definition must end with a closing brace immediately after its single argument definition.";
                        self.report(summary, detail, next);
                    }
                }
                self.recover(TokenKind::CloseBrace);
            }
        }
        self.diagnostics.move_to(own, before);
        match attribute {
            Some(attribute) => {
                let span = attribute.span;
                let end_span = span.end_point();
                let syntax = Syntax::Native;
                Body { attributes: vec![attribute], blocks: Vec::new(), syntax, span, end_span }
            }
            None => self.empty_body(open),
        }
    }

    fn single_line_attribute(&mut self) -> Option<Attribute> {
        let name = self.read();
        if name.kind != TokenKind::Identifier {
            self.recover_after_item();
            self.report(ITEM_REQUIRED, ITEM_REQUIRED_DETAIL, name);
            return None;
        }
        let next = self.peek();
        match next.kind {
            TokenKind::Equal => Some(self.attribute(name, true)),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Identifier => {
                self.recover_after_item();
                let detail = format!(
                    "A single-line block definition can contain only a single argument. If you meant to define argument {}, use an equals sign to assign it a value. To define a nested block, place it on a line of its own within its parent block.",
                    quote(self.str(name)),
                );
                let place = self.span_between(name, next);
                let error = Diagnostic::error("Argument definition required", detail);
                self.diagnostics.push(error.at(place));
                None
            }
            _ => {
                self.recover_after_item();
                self.report(ITEM_REQUIRED, EQUALS_HINT, name);
                None
            }
        }
    }

    /// The first label is mostly a type that many blocks share.
    fn quoted_label(&mut self, shared: bool) -> Label {
        let open = self.peek();
        let (text, last) = self.quoted_string();
        let text = if shared { self.share(text) } else { text };
        Label { text, span: self.span_between(open, last), quoted: true }
    }

    /// A quoted string that may not hold template sequences. Returns its last token too.
    pub(super) fn quoted_string(&mut self) -> (Arc<str>, Token) {
        let open = self.read();
        let summary = "Invalid string literal";
        let mut text = String::new();
        loop {
            let token = self.read();
            match token.kind {
                TokenKind::CloseQuote => return (text.into(), token),
                TokenKind::QuotedLiteral => {
                    let mut errors = Vec::new();
                    text.push_str(&unescape(self.str(token), true, &mut errors));
                    self.report_escapes(token, errors);
                }
                TokenKind::Interpolation | TokenKind::Directive => {
                    let sign = if token.kind == TokenKind::Directive { '%' } else { '$' };
                    let detail = format!(
                        "Template sequences are not allowed in this string. To include a literal \"{sign}\", double it (as \"{sign}{sign}\") to escape it."
                    );
                    self.report_from(open, summary, detail, token);
                    text.push(sign);
                    text.push_str("{ ... }");
                    self.recover(TokenKind::SequenceEnd);
                }
                TokenKind::EndOfFile => {
                    let detail =
                        "Unable to find the closing quote mark before the end of the file.";
                    self.report_from(open, "Unterminated string literal", detail, token);
                    return (text.into(), token);
                }
                _ => {
                    let detail = "This item is not valid in a string literal.";
                    self.report_from(open, summary, detail, token);
                    self.recover(TokenKind::CloseQuote);
                    return (text.into(), token);
                }
            }
        }
    }
}

enum Item {
    Attribute(Attribute),
    Block(Block),
}
