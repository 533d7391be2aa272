//! What the lexer refuses: bytes that make no token of the language.

use super::Lexer;
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::token::{Token, TokenKind};

/// How often each kind of lexical error was reported; repetition helps nobody.
#[derive(Default)]
pub(super) struct Told {
    bitwise: u8,
    backtick: u8,
    apostrophe: u8,
    semicolon: u8,
    encoding: u8,
}

impl Lexer<'_> {
    pub(super) fn refuse(
        &mut self,
        summary: &str,
        detail: impl Into<String>,
        start: usize,
        end: usize,
    ) {
        let span = Span::new(
            self.file,
            self.base.saturating_add(start as u32),
            self.base.saturating_add(end as u32),
        );
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    /// What is no part of the language outside strings and comments.
    pub(super) fn foreign(&mut self, first: u8, start: usize) -> Token {
        let end = start + 1;
        let bitwise = "Bitwise operators are not supported.";
        match first {
            b'&' => {
                self.refuse_bitwise(format!("{bitwise} Did you mean boolean AND (\"&&\")?"), start)
            }
            b'|' => {
                self.refuse_bitwise(format!("{bitwise} Did you mean boolean OR (\"||\")?"), start)
            }
            b'~' => {
                self.refuse_bitwise(format!("{bitwise} Did you mean boolean NOT (\"!\")?"), start)
            }
            b'^' => self.refuse_bitwise(bitwise.to_owned(), start),
            b'`' => {
                // Every other one: the second of a pair closes what the first opened.
                if self.told.backtick.is_multiple_of(2) {
                    self.refuse(
                        "Invalid character",
                        "The \"`\" character is not valid. To create a multi-line string, use the \"heredoc\" syntax, like \"<<EOT\".",
                        start,
                        end,
                    );
                }
                self.told.backtick = (self.told.backtick + 1).min(3);
            }
            b'\'' => {
                if self.told.apostrophe.is_multiple_of(2) {
                    self.refuse(
                        "Invalid character",
                        "Single quotes are not valid. Use double quotes (\") to enclose strings.",
                        start,
                        end,
                    );
                }
                self.told.apostrophe = (self.told.apostrophe + 1).min(3);
            }
            b';' => {
                if self.told.semicolon == 0 {
                    self.refuse(
                        "Invalid character",
                        "The \";\" character is not valid. Use newlines to separate arguments and blocks, and commas to separate items in collection values.",
                        start,
                        end,
                    );
                    self.told.semicolon = 1;
                }
            }
            _ => {
                if let Some(end) = self.identifier(start) {
                    return self.token(TokenKind::Identifier, start, end);
                }
                return self.invalid(start);
            }
        }
        self.token(TokenKind::Refused, start, end)
    }

    fn refuse_bitwise(&mut self, detail: String, start: usize) {
        if self.told.bitwise < 4 {
            self.refuse("Unsupported operator", detail, start, start + 1);
            self.told.bitwise += 1;
        }
    }

    /// One character that has no meaning where it stands, or one byte that is not UTF-8.
    pub(super) fn invalid(&mut self, start: usize) -> Token {
        let Some(character) = self.char_at(start) else {
            return self.bad_encoding(start);
        };
        let end = start + character.len_utf8();
        let detail = if matches!(character, '\u{201c}' | '\u{201d}') {
            "\"Curly quotes\" are not valid here. These can sometimes be inadvertently introduced when sharing code via documents or discussion forums. It might help to replace the character with a \"straight quote\"."
        } else {
            "This character is not used within the language."
        };
        self.refuse("Invalid character", detail, start, end);
        self.token(TokenKind::Refused, start, end)
    }

    pub(super) fn bad_encoding(&mut self, start: usize) -> Token {
        if self.told.encoding == 0 {
            self.refuse(
                "Invalid character encoding",
                "All input files must be UTF-8 encoded. Ensure that UTF-8 encoding is selected in your editor.",
                start,
                start + 1,
            );
            self.told.encoding = 1;
        }
        self.token(TokenKind::Refused, start, start + 1)
    }

    /// The rest of the text makes no token.
    pub(super) fn invalid_rest(&mut self, start: usize) -> Token {
        let end = self.text.len();
        self.refuse(
            "Invalid character",
            "This character is not used within the language.",
            start,
            end,
        );
        self.token(TokenKind::Refused, start, end)
    }
}
