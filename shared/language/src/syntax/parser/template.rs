//! Templates: quoted strings, heredocs and template files.
//!
//! A template is first read as a flat list of pieces, since trim markers and flush heredocs change
//! neighbouring literals; directives are then matched with their ends.

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use super::Parser;
use super::expression::ForVariables;
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{
    Expression, ExpressionKind, Template, TemplateFor, TemplateIf, TemplatePart,
};
use crate::syntax::literal::{EscapeError, normalized, quote, unescape};
use crate::syntax::suggestion::suggest;
use crate::syntax::token::{Token, TokenKind};

enum Piece {
    Literal { text: String, span: Span },
    Interpolation { expression: Expression },
    If { condition: Expression, span: Span },
    For { key: Option<Arc<str>>, value: Arc<str>, collection: Expression, span: Span },
    End { directive: End, span: Span },
}

/// The directives that end a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Else,
    If,
    For,
}

impl End {
    fn name(self) -> &'static str {
        match self {
            End::Else => "else",
            End::If => "endif",
            End::For => "endfor",
        }
    }
}

/// What a template is being read from.
struct Pieces {
    list: Vec<Piece>,
    span: Span,
    /// The token after the last piece.
    end_span: Span,
}

impl Parser<'_> {
    /// A template that takes the whole text.
    pub(super) fn bare_template(&mut self) -> Expression {
        let pieces = self.pieces(TokenKind::EndOfFile);
        let span = pieces.span;
        self.assemble(pieces, span)
    }

    /// A quoted string or heredoc.
    pub(super) fn delimited_template(&mut self) -> Expression {
        let open = self.read();
        let closer = open.kind.opposite().unwrap_or(TokenKind::CloseQuote);
        let mut pieces = self.pieces(closer);
        if self.bytes(open).starts_with(b"<<-") {
            flush(&mut pieces.list);
        }
        let close = self.previous();
        let span = self.span_between(open, close);
        self.assemble(pieces, span)
    }

    fn assemble(&mut self, mut pieces: Pieces, span: Span) -> Expression {
        meld(&mut pieces.list);
        if let [Piece::Interpolation { .. }] = pieces.list.as_slice()
            && let Some(Piece::Interpolation { expression }) = pieces.list.pop()
        {
            return Expression { kind: ExpressionKind::TemplateWrap(Arc::new(expression)), span };
        }
        let mut builder =
            Builder { pieces: pieces.list.into_iter().peekable(), end: pieces.end_span };
        let mut parts = Vec::new();
        while let Some(part) = self.part(&mut builder) {
            parts.push(part);
        }
        Expression { kind: ExpressionKind::Template(Template { parts: parts.into() }), span }
    }

    // Reading pieces

    fn pieces(&mut self, end: TokenKind) -> Pieces {
        let start = self.peek();
        let mut reader =
            Reader { list: Vec::new(), start, end, trim_next: false, trimmable: false };
        let last = loop {
            let token = self.read();
            if token.kind == end {
                break token;
            }
            let trim = std::mem::take(&mut reader.trim_next);
            let trimmable = std::mem::take(&mut reader.trimmable);
            match token.kind {
                TokenKind::StringLiteral | TokenKind::QuotedLiteral => {
                    let mut errors = Vec::new();
                    let quoted = token.kind == TokenKind::QuotedLiteral;
                    let text = unescape(self.str(token), quoted, &mut errors);
                    let text = if trim { text.trim_start().to_owned() } else { text.into_owned() };
                    self.report_escapes(token, errors);
                    reader.list.push(Piece::Literal { text, span: self.span(token) });
                    reader.trimmable = true;
                }
                TokenKind::Interpolation | TokenKind::Directive => {
                    if trimmable
                        && self.bytes(token).ends_with(b"~")
                        && let Some(Piece::Literal { text, .. }) = reader.list.last_mut()
                    {
                        text.truncate(text.trim_end().len());
                    }
                    self.ignoring_newlines(|parser| {
                        if token.kind == TokenKind::Interpolation {
                            parser.interpolation(&mut reader);
                        } else {
                            parser.directive(token, &mut reader);
                        }
                    });
                }
                _ => {
                    if !self.recovering {
                        let detail = "No closing marker was found for the string.";
                        self.report_from(start, "Unterminated template string", detail, token);
                    }
                    break self.recover(end);
                }
            }
        };
        if reader.list.is_empty() {
            let span = self.span(start).end_point();
            reader.list.push(Piece::Literal { text: String::new(), span });
        }
        Pieces {
            list: reader.list,
            span: self.span_between(start, last),
            end_span: self.span(last),
        }
    }

    pub(super) fn report_escapes(&mut self, token: Token, errors: Vec<EscapeError>) {
        for error in errors {
            let place = Token {
                start: token.start + error.start as u32,
                end: token.start + error.end as u32,
                ..token
            };
            self.report("Invalid escape sequence", error.detail, place);
        }
    }

    fn interpolation(&mut self, reader: &mut Reader) {
        let expression = self.expression();
        let close = self.peek();
        if close.kind == TokenKind::SequenceEnd {
            self.read();
            reader.trim_next = self.bytes(close).starts_with(b"~");
        } else {
            if !self.recovering {
                self.report_unclosed_interpolation(reader, close);
            }
            self.recover(TokenKind::SequenceEnd);
        }
        reader.list.push(Piece::Interpolation { expression });
    }

    fn report_unclosed_interpolation(&mut self, reader: &Reader, close: Token) {
        let unclosed = "Unclosed template interpolation sequence";
        let extra = "Extra characters after interpolation expression";
        match close.kind {
            TokenKind::EndOfFile => {
                let detail = "There is no closing brace for this interpolation sequence before the end of the file. This might be caused by incorrect nesting inside the given expression.";
                self.report(unclosed, detail, reader.start);
            }
            TokenKind::Colon => {
                let detail = "Template interpolation doesn't expect a colon at this location. Did you intend this to be a literal sequence to be processed as part of another language? If so, you can escape it by starting with \"$${\" instead of just \"${\".";
                self.report_from(reader.start, extra, detail, close);
            }
            TokenKind::CloseQuote | TokenKind::OpenQuote if reader.end == TokenKind::CloseQuote => {
                let detail = "There is no closing brace for this interpolation sequence before the end of the quoted template. This might be caused by incorrect nesting inside the given expression.";
                self.report(unclosed, detail, reader.start);
            }
            _ => {
                let detail = "Expected a closing brace to end the interpolation expression, but found extra characters.\n\nThis can happen when you include interpolation syntax for another language, such as shell scripting, but forget to escape the interpolation start token. If this is an embedded sequence for another language, escape it by starting with \"$${\" instead of just \"${\".";
                self.report_from(reader.start, extra, detail, close);
            }
        }
    }

    fn directive(&mut self, open: Token, reader: &mut Reader) {
        let keyword = self.peek();
        if keyword.kind != TokenKind::Identifier {
            if !self.recovering {
                let detail = "A template directive keyword (\"if\", \"for\", etc) is expected at the beginning of a %{ sequence.";
                self.report_from(open, "Invalid template directive", detail, keyword);
            }
            self.recover(TokenKind::SequenceEnd);
            return;
        }
        self.read();
        let name = self.str(keyword);
        let end = match name {
            "if" => {
                let condition = self.expression();
                let span = self.directive_span(open);
                reader.list.push(Piece::If { condition, span });
                None
            }
            "for" => {
                let variables = self.for_variables(
                    "For directive requires variable name after 'for'.",
                    "For directive requires value variable name after comma.",
                    "For directive requires 'in' keyword after names.",
                );
                let (key, value) = match variables {
                    Ok(variables) => variables,
                    Err((detail, subject)) => {
                        if !self.recovering {
                            self.report("Invalid 'for' directive", detail, subject);
                        }
                        self.recover(TokenKind::SequenceEnd);
                        return;
                    }
                };
                let collection = self.expression();
                let span = self.directive_span(open);
                reader.list.push(Piece::For { key, value, collection, span });
                None
            }
            "else" => Some(End::Else),
            "endif" => Some(End::If),
            "endfor" => Some(End::For),
            _ => {
                if !self.recovering {
                    let hint = suggest(name, ["if", "for", "else", "endif", "endfor"])
                        .map_or_else(String::new, |word| format!(" Did you mean {}?", quote(word)));
                    let detail =
                        format!("{} is not a valid template control keyword.{hint}", quote(name));
                    self.report_from(open, "Invalid template control keyword", detail, keyword);
                }
                self.recover(TokenKind::SequenceEnd);
                return;
            }
        };
        if let Some(directive) = end {
            let span = self.directive_span(open);
            reader.list.push(Piece::End { directive, span });
        }
        let close = self.peek();
        if close.kind == TokenKind::SequenceEnd {
            self.read();
            reader.trim_next = self.bytes(close).starts_with(b"~");
        } else {
            if !self.recovering {
                let summary = format!("Extra characters in {name} marker");
                let detail =
                    "Expected a closing brace to end the sequence, but found extra characters.";
                self.report_from(reader.start, &summary, detail, close);
            }
            self.recover(TokenKind::SequenceEnd);
        }
    }

    fn directive_span(&mut self, open: Token) -> Span {
        let next = self.peek();
        self.span_between(open, next)
    }

    // Matching directives

    fn part(&mut self, builder: &mut Builder) -> Option<TemplatePart> {
        Some(match builder.pieces.next()? {
            Piece::Literal { text, span } => {
                TemplatePart::Literal { text: normalized(text.into()), span }
            }
            Piece::Interpolation { expression } => TemplatePart::Interpolation(expression),
            Piece::If { condition, span } => self.nested(
                |parser| TemplatePart::Interpolation(parser.invalid(span)),
                |parser| parser.if_directive(builder, condition, span),
            ),
            Piece::For { key, value, collection, span } => self.nested(
                |parser| TemplatePart::Interpolation(parser.invalid(span)),
                |parser| parser.for_directive(builder, (key, value), collection, span),
            ),
            Piece::End { directive, span } => {
                let detail = "The control directives within this template are unbalanced.";
                self.refused_directive(directive, detail, span)
            }
        })
    }

    fn refused_directive(
        &mut self,
        directive: End,
        detail: impl Into<String>,
        span: Span,
    ) -> TemplatePart {
        self.report_at(&format!("Unexpected {} directive", directive.name()), detail, span);
        TemplatePart::Interpolation(self.invalid(span))
    }

    fn unfinished_directive(&mut self, name: &str, open: Span, end: Span) -> TemplatePart {
        let detail = format!(
            "The {name} directive at {} is missing its corresponding end{name} directive.",
            self.sources.range(open)
        );
        self.report_at("Unexpected end of template", detail, end);
        TemplatePart::Interpolation(self.invalid(end))
    }

    fn if_directive(
        &mut self,
        builder: &mut Builder,
        condition: Expression,
        open: Span,
    ) -> TemplatePart {
        let mut then = Vec::new();
        let mut otherwise = None;
        let end = loop {
            match builder.pieces.peek() {
                None => return self.unfinished_directive("if", open, builder.end),
                Some(Piece::End { directive, span }) => {
                    let (directive, span) = (*directive, *span);
                    builder.pieces.next();
                    match directive {
                        End::If => break span,
                        End::Else if otherwise.is_none() => otherwise = Some(Vec::new()),
                        End::Else => {
                            let detail = format!(
                                "Already in the else clause for the if started at {}.",
                                self.sources.range(open)
                            );
                            return self.refused_directive(directive, detail, span);
                        }
                        End::For => {
                            let detail = format!(
                                "Expecting an endif directive for the if started at {}.",
                                self.sources.range(open)
                            );
                            return self.refused_directive(directive, detail, span);
                        }
                    }
                }
                Some(_) => {
                    let part = self.part(builder);
                    otherwise.as_mut().unwrap_or(&mut then).extend(part);
                }
            }
        };
        TemplatePart::If(Arc::new(TemplateIf {
            condition,
            then: branch(then, open.end_point()),
            otherwise: branch(otherwise.unwrap_or_default(), end.start_point()),
            span: open.to(end),
        }))
    }

    fn for_directive(
        &mut self,
        builder: &mut Builder,
        (key_variable, value_variable): ForVariables,
        collection: Expression,
        open: Span,
    ) -> TemplatePart {
        let mut body = Vec::new();
        let end = loop {
            match builder.pieces.peek() {
                None => return self.unfinished_directive("for", open, builder.end),
                Some(Piece::End { directive, span }) => {
                    let (directive, span) = (*directive, *span);
                    builder.pieces.next();
                    match directive {
                        End::For => break span,
                        End::Else => {
                            let detail = "An else clause is not expected for a for directive.";
                            return self.refused_directive(directive, detail, span);
                        }
                        End::If => {
                            let detail = format!(
                                "Expecting an endfor directive corresponding to the for directive at {}.",
                                self.sources.range(open)
                            );
                            return self.refused_directive(directive, detail, span);
                        }
                    }
                }
                Some(_) => body.extend(self.part(builder)),
            }
        };
        TemplatePart::For(Arc::new(TemplateFor {
            key_variable,
            value_variable,
            collection,
            body: branch(body, open.end_point()),
            open_span: open,
            close_span: end,
            span: open.to(end),
        }))
    }

    pub(super) fn report_at(&mut self, summary: &str, detail: impl Into<String>, subject: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(subject));
    }

    pub(super) fn report_within(
        &mut self,
        summary: &str,
        detail: &str,
        subject: Span,
        context: Span,
    ) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(subject).within(context));
    }
}

/// The pieces read so far, and how the next ones are trimmed.
struct Reader {
    list: Vec<Piece>,
    start: Token,
    end: TokenKind,
    /// The last sequence ended with `~}`.
    trim_next: bool,
    /// The last token was a literal.
    trimmable: bool,
}

struct Builder {
    pieces: std::iter::Peekable<std::vec::IntoIter<Piece>>,
    /// Where a missing end is reported.
    end: Span,
}

/// The content of a directive; an empty one stands at `place`.
fn branch(mut parts: Vec<TemplatePart>, place: Span) -> Expression {
    if parts.is_empty() {
        parts.push(TemplatePart::Literal { text: Arc::from(""), span: place });
    }
    let first = parts.first().map_or(place, TemplatePart::span);
    let span = parts.last().map_or(place, |last| first.to(last.span()));
    let template = Template { parts: parts.into() };
    Expression { kind: ExpressionKind::Template(template), span }
}

/// Joins neighbouring literals.
fn meld(pieces: &mut Vec<Piece>) {
    pieces.dedup_by(|next, previous| match (next, previous) {
        (Piece::Literal { text, span }, Piece::Literal { text: all, span: whole }) => {
            all.push_str(text);
            *whole = whole.to(*span);
            true
        }
        _ => false,
    });
}

/// Takes the smallest indentation of all lines from each of them. A line of blanks alone does not
/// count, an interpolation at the beginning of a line counts as no indentation.
fn flush(pieces: &mut [Piece]) {
    let mut smallest = usize::MAX;
    let mut indented: Vec<usize> = Vec::new();
    let mut at_line_start = true;
    for (at, piece) in pieces.iter().enumerate() {
        let literal = match piece {
            Piece::Literal { text, .. } => Some(text),
            _ => None,
        };
        if std::mem::take(&mut at_line_start) {
            match literal {
                Some(text) => {
                    let trimmed = text.trim_start();
                    if !trimmed.is_empty() || !text.ends_with('\n') {
                        let blanks = &text[..text.len() - trimmed.len()];
                        smallest = smallest.min(blanks.graphemes(true).count());
                        indented.push(at);
                    }
                }
                None => smallest = 0,
            }
        }
        at_line_start = literal.is_some_and(|text| text.ends_with('\n'));
    }
    for at in indented {
        if let Some(Piece::Literal { text, span }) = pieces.get_mut(at) {
            let cut: usize = text.graphemes(true).take(smallest).map(str::len).sum();
            text.drain(..cut);
            span.start = span.start.saturating_add(cut as u32).min(span.end);
        }
    }
}
