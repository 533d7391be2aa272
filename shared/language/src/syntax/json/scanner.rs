//! Tokens. The scanner finds where they end; whether a number or string is right is for the parser.

use crate::source::{FileId, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Colon,
    /// No token of JSON, but a likely mistake.
    Equals,
    Keyword,
    String,
    Number,
    /// A byte that begins no token.
    Invalid,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

pub(super) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    file: FileId,
}

impl<'t> Scanner<'t> {
    /// `text` must be below 4 GiB.
    pub(super) fn new(text: &'t [u8], file: FileId) -> Self {
        Self { text, at: 0, file }
    }

    pub(super) fn bytes(&self, token: Token) -> &'t [u8] {
        self.text.get(token.span.start as usize..token.span.end as usize).unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Token {
        while self.text.get(self.at).is_some_and(|byte| b" \t\r\n".contains(byte)) {
            self.at += 1;
        }
        let start = self.at;
        let kind = match self.text.get(start) {
            None => TokenKind::End,
            Some(first) => self.token(*first),
        };
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Token { kind, span: Span::new(self.file, offset(start), offset(self.at)) }
    }

    fn token(&mut self, first: u8) -> TokenKind {
        match first {
            b'{' => self.one(TokenKind::OpenBrace),
            b'}' => self.one(TokenKind::CloseBrace),
            b'[' => self.one(TokenKind::OpenBracket),
            b']' => self.one(TokenKind::CloseBracket),
            b',' => self.one(TokenKind::Comma),
            b':' => self.one(TokenKind::Colon),
            b'=' => self.one(TokenKind::Equals),
            b'"' => self.string(),
            b'-' | b'+' | b'.' | b'0'..=b'9' => {
                self.skip(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'));
                TokenKind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip(|byte| byte.is_ascii_alphabetic() || byte == b'_');
                TokenKind::Keyword
            }
            _ => {
                // Nothing after it would make sense.
                self.one(TokenKind::Invalid);
                self.text = &self.text[..self.at];
                TokenKind::Invalid
            }
        }
    }

    fn one(&mut self, kind: TokenKind) -> TokenKind {
        self.at += 1;
        kind
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.text.get(self.at).is_some_and(|byte| wanted(*byte)) {
            self.at += 1;
        }
    }

    /// To the closing quote, or to the first control character.
    fn string(&mut self) -> TokenKind {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    break;
                }
                b'\\' => self.at += 2,
                0..32 => break,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.text.len());
        TokenKind::String
    }
}
