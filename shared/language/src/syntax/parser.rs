//! The parser: recursive descent with recovery.
//!
//! After an error the parser seeks a place to go on from and holds back errors that are likely to
//! follow from the first one (`recovering`).

mod body;
mod expression;
mod postfix;
mod template;
mod traversal;

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::ast::{Body, Expression, ExpressionKind, MAX_NESTING, Traversal, with_stack};
use super::lexer::{Lexer, Start};
use super::token::{Token, TokenKind};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{FileId, Sources, Span};

/// Parses a whole file.
pub fn parse_body(sources: &Sources, file: FileId) -> (Body, Diagnostics) {
    let text = sources.text(file);
    let mut parser = Parser::new(sources, file, &text, 0, Start::Normal);
    let body = parser.body(TokenKind::EndOfFile);
    (body, parser.finish())
}

/// Parses an expression that stands at offset `base` of `file`. Newlines are blanks in it.
pub fn parse_expression(
    sources: &Sources,
    file: FileId,
    text: &[u8],
    base: u32,
) -> (Expression, Diagnostics) {
    let mut parser = Parser::new(sources, file, text, base, Start::Normal);
    let expression = parser.ignoring_newlines(|parser| {
        let expression = parser.expression();
        let next = parser.peek();
        if next.kind != TokenKind::EndOfFile && !parser.recovering {
            let detail =
                "An expression was successfully parsed, but extra characters were found after it.";
            parser.report("Extra characters after expression", detail, next);
        }
        expression
    });
    (expression, parser.finish())
}

/// Parses a template without quotes, such as a template file, that stands at offset `base` of
/// `file`.
pub fn parse_template(
    sources: &Sources,
    file: FileId,
    text: &[u8],
    base: u32,
) -> (Expression, Diagnostics) {
    let mut parser = Parser::new(sources, file, text, base, Start::Template);
    let expression = parser.bare_template();
    (expression, parser.finish())
}

/// Parses a static traversal that stands at offset `base` of `file`. `None` if it does not begin
/// with a name; else what could be read.
pub fn parse_traversal(
    sources: &Sources,
    file: FileId,
    text: &[u8],
    base: u32,
) -> (Option<Traversal>, Diagnostics) {
    let mut parser = Parser::new(sources, file, text, base, Start::Normal);
    let traversal = parser.ignoring_newlines(|parser| parser.absolute_traversal(false));
    (traversal, parser.finish())
}

/// As [`parse_traversal`], but `[*]` is a step too.
pub fn parse_partial_traversal(
    sources: &Sources,
    file: FileId,
    text: &[u8],
    base: u32,
) -> (Option<Traversal>, Diagnostics) {
    let mut parser = Parser::new(sources, file, text, base, Start::Normal);
    let traversal = parser.ignoring_newlines(|parser| parser.absolute_traversal(true));
    (traversal, parser.finish())
}

/// Whether more lines may make an expression of a text that is none yet: brackets, a template or a heredoc are open at
/// its end.
pub fn is_unfinished(text: &str) -> bool {
    let mut lexer = Lexer::new(text.as_bytes(), FileId(0), 0, Start::Normal);
    let mut open = 0_isize;
    loop {
        let kind = lexer.next().kind;
        match kind {
            TokenKind::EndOfFile => return open > 0,
            TokenKind::OpenBrace
            | TokenKind::OpenBracket
            | TokenKind::OpenParen
            | TokenKind::OpenHeredoc
            | TokenKind::Interpolation
            | TokenKind::Directive => open += 1,
            TokenKind::CloseBrace
            | TokenKind::CloseBracket
            | TokenKind::CloseParen
            | TokenKind::CloseHeredoc
            | TokenKind::SequenceEnd => open -= 1,
            _ => {}
        }
    }
}

/// Whether a text is one identifier: a letter or underscore, then letters, digits, underscores and
/// dashes, as Unicode defines letters and digits.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first == '_' || unicode_id_start::is_id_start(first))
        && characters.all(|other| other == '-' || unicode_id_start::is_id_continue(other))
}

/// FNV-1a: names are short, and a file that makes them collide slows down only its own parsing.
struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

struct Parser<'t> {
    sources: &'t Sources,
    file: FileId,
    text: &'t [u8],
    base: u32,
    lexer: Lexer<'t>,
    lookahead: VecDeque<Token>,
    previous: Option<Token>,
    /// Whether newlines count, for each open bracket; the last entry holds.
    newlines: Vec<bool>,
    recovering: bool,
    depth: u32,
    diagnostics: Diagnostics,
    /// Texts that occur again and again.
    names: HashSet<Arc<str>, BuildHasherDefault<NameHasher>>,
}

impl<'t> Parser<'t> {
    fn new(sources: &'t Sources, file: FileId, text: &'t [u8], base: u32, start: Start) -> Self {
        let limit = (u32::MAX - base) as usize;
        let mut parser = Self {
            sources,
            file,
            text: &text[..text.len().min(limit)],
            base,
            lexer: Lexer::new(&text[..text.len().min(limit)], file, base, start),
            lookahead: VecDeque::with_capacity(4),
            previous: None,
            newlines: vec![true],
            recovering: false,
            depth: 0,
            diagnostics: Diagnostics::new(),
            names: HashSet::default(),
        };
        if text.len() > limit {
            let detail = "Configuration is read from files below 4 GiB. Split this one.";
            let place = Span::new(file, base, base);
            parser.diagnostics.push(Diagnostic::error("File too large", detail).at(place));
        }
        parser
    }

    /// All diagnostics: those of the lexer come first, and cover the text to its end.
    fn finish(mut self) -> Diagnostics {
        while self.lexer.next().kind != TokenKind::EndOfFile {}
        let mut all: Diagnostics = self.lexer.diagnostics.into_iter().collect();
        all.extend(self.diagnostics);
        all
    }

    // Tokens

    fn peek(&mut self) -> Token {
        if *self.newlines.last().unwrap_or(&true) {
            return match self.lookahead.front() {
                Some(token) => *token,
                None => self.fill(),
            };
        }
        let mut at = 0;
        loop {
            let token = match self.lookahead.get(at) {
                Some(token) => *token,
                None => self.fill(),
            };
            if token.kind != TokenKind::Newline {
                return token;
            }
            at += 1;
        }
    }

    fn fill(&mut self) -> Token {
        let token = self.lexer.next();
        self.lookahead.push_back(token);
        token
    }

    fn read(&mut self) -> Token {
        let newlines = *self.newlines.last().unwrap_or(&true);
        loop {
            let token = match self.lookahead.pop_front() {
                Some(token) => token,
                None => self.lexer.next(),
            };
            if newlines || token.kind != TokenKind::Newline {
                self.previous = Some(token);
                return token;
            }
        }
    }

    fn peek_kind(&mut self) -> TokenKind {
        self.peek().kind
    }

    /// Reads the next token if it is of this kind.
    fn eat(&mut self, kind: TokenKind) -> Option<Token> {
        (self.peek().kind == kind).then(|| self.read())
    }

    /// The token read last; before the first one, the next.
    fn previous(&mut self) -> Token {
        match self.previous {
            Some(token) => token,
            None => self.peek(),
        }
    }

    fn with_newlines<R>(&mut self, count: bool, parse: impl FnOnce(&mut Self) -> R) -> R {
        self.newlines.push(count);
        let result = parse(self);
        self.newlines.pop();
        result
    }

    fn ignoring_newlines<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> R {
        self.with_newlines(false, parse)
    }

    // Text and places

    fn bytes(&self, token: Token) -> &'t [u8] {
        self.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    /// The text of a token that the lexer found to be UTF-8.
    fn str(&self, token: Token) -> &'t str {
        std::str::from_utf8(self.bytes(token)).unwrap_or_default()
    }

    /// The text of an identifier, shared between its occurrences.
    fn name(&mut self, token: Token) -> Arc<str> {
        let text = self.str(token);
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        self.share(text.into())
    }

    fn share(&mut self, text: Arc<str>) -> Arc<str> {
        if let Some(name) = self.names.get(&*text) {
            return name.clone();
        }
        self.names.insert(text.clone());
        text
    }

    fn is_keyword(&mut self, keyword: &str) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Identifier && self.bytes(token) == keyword.as_bytes()
    }

    fn span(&self, token: Token) -> Span {
        Span::new(
            self.file,
            self.base.saturating_add(token.start),
            self.base.saturating_add(token.end),
        )
    }

    fn span_between(&self, first: Token, last: Token) -> Span {
        self.span(first).to(self.span(last))
    }

    fn invalid(&self, span: Span) -> Expression {
        Expression { kind: ExpressionKind::Invalid, span }
    }

    // Errors

    fn report(&mut self, summary: &str, detail: impl Into<String>, subject: Token) {
        let subject = self.span(subject);
        self.diagnostics.push(Diagnostic::error(summary, detail).at(subject));
    }

    /// Reports with a context that runs from `from` to the subject.
    fn report_from(
        &mut self,
        from: Token,
        summary: &str,
        detail: impl Into<String>,
        subject: Token,
    ) {
        let context = self.span_between(from, subject);
        let subject = self.span(subject);
        self.diagnostics.push(Diagnostic::error(summary, detail).at(subject).within(context));
    }

    /// Runs `parse` and says whether it reported an error that it could not recover from.
    fn attempt<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> (R, bool) {
        let before = self.diagnostics.len();
        let result = parse(self);
        let failed = self.recovering && self.diagnostics.len() > before;
        (result, failed)
    }

    /// Runs `parse` one level deeper, or refuses to if that is too deep.
    fn nested<R>(
        &mut self,
        otherwise: impl FnOnce(&mut Self) -> R,
        parse: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if self.depth >= MAX_NESTING {
            if !self.recovering {
                let place = self.peek();
                let detail = format!(
                    "Brackets, templates, operators and blocks may be nested {MAX_NESTING} levels deep, which keeps their evaluation within bounds. Name the inner parts with local values."
                );
                self.report("Configuration nested too deeply", detail, place);
            }
            self.recovering = true;
            self.lexer.abandon();
            self.lookahead.clear();
            return otherwise(self);
        }
        self.depth += 1;
        let result = with_stack(|| parse(self));
        self.depth -= 1;
        result
    }

    // Recovery

    /// Seeks the end of the current bracket, over nested ones, and reads it.
    fn recover(&mut self, end: TokenKind) -> Token {
        let start = end.opposite();
        self.recovering = true;
        let mut nesting = 0u32;
        loop {
            let token = self.read();
            let mut kind = token.kind;
            if end == TokenKind::SequenceEnd && kind == TokenKind::Directive {
                kind = TokenKind::Interpolation;
            }
            if Some(kind) == start {
                nesting += 1;
            } else if kind == end {
                if nesting == 0 {
                    return token;
                }
                nesting -= 1;
            } else if kind == TokenKind::EndOfFile {
                return token;
            }
        }
    }

    /// Seeks the next bracket of that kind and reads to its end.
    fn recover_over(&mut self, start: TokenKind) {
        loop {
            let token = self.read();
            if token.kind == start || token.kind == TokenKind::EndOfFile {
                break;
            }
        }
        if let Some(end) = start.opposite() {
            self.recover(end);
        }
    }

    /// Seeks the end of the line, over brackets that open on it, and reads it.
    fn recover_after_item(&mut self) {
        use TokenKind::*;
        self.recovering = true;
        let mut open: Vec<TokenKind> = Vec::new();
        loop {
            let kind = self.read().kind;
            match kind {
                Newline if open.is_empty() => return,
                EndOfFile => return,
                OpenBrace | OpenBracket | OpenParen | OpenQuote | OpenHeredoc | Interpolation
                | Directive => open.push(kind),
                CloseBrace | CloseBracket | CloseParen | CloseQuote | CloseHeredoc => {
                    let opener = kind.opposite();
                    while open.pop().is_some_and(|last| Some(last) != opener) {}
                }
                SequenceEnd => {
                    while open.pop().is_some_and(|last| !matches!(last, Interpolation | Directive))
                    {
                    }
                }
                _ => {}
            }
        }
    }
}
