//! The parser: recursive descent with recovery.
//!
//! Where a value is wrong, [`ExpressionKind::Invalid`] stands in its place.

use std::sync::Arc;

use super::JsonString;
use super::scanner::{Scanner, Token, TokenKind};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{FileId, Sources, Span};
use crate::syntax::ast::{
    Expression, ExpressionKind, Literal, MAX_NESTING, ObjectItem, ObjectKey, with_stack,
};
use crate::syntax::suggest;

const START_OF_VALUE: &str =
    "A JSON value must start with a brace, a bracket, a number, a string, or a keyword.";

/// The value that a text is.
pub(super) fn parse(sources: &Sources, file: FileId, text: &[u8]) -> (Expression, Diagnostics) {
    let limit = u32::MAX as usize;
    let mut scanner = Scanner::new(&text[..text.len().min(limit)], file);
    let next = scanner.next();
    let mut parser = Parser { sources, scanner, next, depth: 0, diagnostics: Diagnostics::new() };
    if text.len() > limit {
        let detail = "Configuration is read from files below 4 GiB. Split this one.";
        parser.report("File too large", detail, Span::new(file, 0, 0));
    }
    let value = parser.value();
    if parser.diagnostics.is_empty() && parser.next.kind != TokenKind::End {
        let detail = "Extra characters appear after the JSON value.";
        parser.report("Extraneous data after value", detail, parser.next.span);
    }
    (value, parser.diagnostics)
}

struct Parser<'t> {
    sources: &'t Sources,
    scanner: Scanner<'t>,
    next: Token,
    depth: u32,
    diagnostics: Diagnostics,
}

/// A value cannot be read; what is wrong was reported.
struct Refused;

impl Parser<'_> {
    fn report(&mut self, summary: &str, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    fn refuse<T>(
        &mut self,
        summary: &str,
        detail: impl Into<String>,
        at: Span,
    ) -> Result<T, Refused> {
        self.report(summary, detail, at);
        Err(Refused)
    }

    fn read(&mut self) -> Token {
        let token = self.next;
        if token.kind != TokenKind::End {
            self.next = self.scanner.next();
        }
        token
    }

    fn value(&mut self) -> Expression {
        let first = self.next.span;
        let parsed = match self.next.kind {
            TokenKind::OpenBrace => self.nested(Self::object),
            TokenKind::OpenBracket => self.nested(Self::array),
            TokenKind::Number => self.number(),
            TokenKind::String => self.string(),
            TokenKind::Keyword => self.keyword(),
            TokenKind::CloseBrace => self.refuse("Missing JSON value", START_OF_VALUE, first),
            TokenKind::CloseBracket => {
                self.refuse("Missing array element value", START_OF_VALUE, first)
            }
            TokenKind::End => {
                self.refuse("Missing value", "The JSON data ends prematurely.", first)
            }
            _ => self.refuse("Invalid start of value", START_OF_VALUE, first),
        };
        parsed.unwrap_or(Expression { kind: ExpressionKind::Invalid, span: first })
    }

    fn nested(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Expression, Refused>,
    ) -> Result<Expression, Refused> {
        if self.depth >= MAX_NESTING {
            let at = self.next.span;
            // What is left makes no sense without its beginning.
            while self.read().kind != TokenKind::End {}
            return self.refuse(
                "Configuration nested too deeply",
                format!(
                    "Objects and arrays may be nested {MAX_NESTING} levels deep, which keeps their evaluation within bounds. Name the inner parts with local values."
                ),
                at,
            );
        }
        self.depth += 1;
        let result = with_stack(|| parse(self));
        self.depth -= 1;
        result
    }

    fn object(&mut self) -> Result<Expression, Refused> {
        let open = self.read().span;
        let mut items = Vec::new();
        while self.next.kind != TokenKind::CloseBrace {
            let key = self.value();
            if !matches!(key.kind, ExpressionKind::JsonString(_)) {
                return self.refuse(
                    "Invalid object property name",
                    "A JSON object property name must be a string",
                    key.start_span(),
                );
            }
            let colon = self.read();
            if colon.kind != TokenKind::Colon {
                return self.missing_colon(colon);
            }
            let value = self.value();
            let key = ObjectKey { expression: key, force_expression: true };
            items.push(ObjectItem { key, value });
            match self.next.kind {
                TokenKind::Comma => {
                    let comma = self.read();
                    if self.next.kind == TokenKind::CloseBrace {
                        return self.refuse(
                            "Trailing comma in object",
                            "JSON does not permit a trailing comma after the final property in an object.",
                            comma.span,
                        );
                    }
                }
                TokenKind::CloseBrace => {}
                TokenKind::End => {
                    let detail = "No closing brace was found for this JSON object.";
                    return self.refuse("Unclosed object", detail, open);
                }
                TokenKind::CloseBracket => {
                    self.read();
                    let detail = "A JSON object must be closed with a brace, not a bracket.";
                    return self.refuse("Mismatched braces", detail, self.next.span);
                }
                _ => {
                    let token = self.read();
                    self.recover(token, TokenKind::OpenBrace, TokenKind::CloseBrace);
                    // The spelling is Terraform's, which tools may match.
                    return self.refuse(
                        "Missing attribute seperator comma",
                        "A comma must appear between each property definition in an object.",
                        self.next.span,
                    );
                }
            }
        }
        let close = self.read().span;
        Ok(Expression { kind: ExpressionKind::Object(items.into()), span: open.to(close) })
    }

    fn missing_colon(&mut self, found: Token) -> Result<Expression, Refused> {
        self.recover(found, TokenKind::OpenBrace, TokenKind::CloseBrace);
        let (summary, detail) = match found.kind {
            TokenKind::CloseBrace | TokenKind::Comma => (
                "Missing object value",
                "A JSON object attribute must have a value, introduced by a colon.",
            ),
            TokenKind::Equals => (
                "Missing property value colon",
                "JSON uses a colon as its name/value delimiter, not an equals sign.",
            ),
            _ => (
                "Missing property value colon",
                "A colon must appear between an object property's name and its value.",
            ),
        };
        self.refuse(summary, detail, found.span)
    }

    fn array(&mut self) -> Result<Expression, Refused> {
        let open = self.read().span;
        let mut items = Vec::new();
        while self.next.kind != TokenKind::CloseBracket {
            items.push(self.value());
            let (summary, detail) = match self.next.kind {
                TokenKind::Comma => {
                    let comma = self.read();
                    if self.next.kind == TokenKind::CloseBracket {
                        return self.refuse(
                            "Trailing comma in array",
                            "JSON does not permit a trailing comma after the final value in an array.",
                            comma.span,
                        );
                    }
                    continue;
                }
                TokenKind::CloseBracket => break,
                TokenKind::End => {
                    let detail = "No closing bracket was found for this JSON array.";
                    return self.refuse("Unclosed object", detail, open);
                }
                TokenKind::Colon => (
                    "Invalid array value",
                    "A colon is not used to introduce values in a JSON array.",
                ),
                TokenKind::CloseBrace => (
                    "Mismatched brackets",
                    "A JSON array must be closed with a bracket, not a brace.",
                ),
                _ => (
                    "Missing attribute seperator comma",
                    "A comma must appear between each value in an array.",
                ),
            };
            let token = self.read();
            self.recover(token, TokenKind::OpenBracket, TokenKind::CloseBracket);
            return self.refuse(summary, detail, self.next.span);
        }
        let close = self.read().span;
        Ok(Expression { kind: ExpressionKind::Tuple(items.into()), span: open.to(close) })
    }

    /// Reads on to what seems to be the end of the value.
    fn recover(&mut self, mut token: Token, opening: TokenKind, closing: TokenKind) {
        let mut open = 1;
        loop {
            if token.kind == opening {
                open += 1;
            } else if token.kind == closing {
                open -= 1;
                if open <= 1 {
                    return;
                }
            } else if token.kind == TokenKind::End {
                return;
            }
            token = self.read();
        }
    }

    fn number(&mut self) -> Result<Expression, Refused> {
        let token = self.read();
        let text = std::str::from_utf8(self.scanner.bytes(token)).unwrap_or_default();
        if !is_number(text) || values::Number::parse(text).is_none() {
            return self.refuse(
                "Invalid JSON number",
                "There is a syntax error in the given JSON number.",
                token.span,
            );
        }
        let kind = ExpressionKind::Literal(Literal::Number(text.into()));
        Ok(Expression { kind, span: token.span })
    }

    fn string(&mut self) -> Result<Expression, Refused> {
        let token = self.read();
        match decode_string(self.scanner.bytes(token)) {
            Ok(text) => {
                let text = JsonString::new(self.sources, text.into(), token.span);
                let kind = ExpressionKind::JsonString(Arc::new(text));
                Ok(Expression { kind, span: token.span })
            }
            Err(at) => {
                let at = token.span.start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
                // A string that the end of its line ends is wrong at that place, which is empty.
                let end = at.saturating_add(1).min(token.span.end.max(at));
                let place = Span { start: at, end, ..token.span };
                let detail = "There is a syntax error in the given JSON string.";
                let error = Diagnostic::error("Invalid JSON string", detail);
                self.diagnostics.push(error.at(place).within(token.span));
                Err(Refused)
            }
        }
    }

    fn keyword(&mut self) -> Result<Expression, Refused> {
        let token = self.read();
        let text = std::str::from_utf8(self.scanner.bytes(token)).unwrap_or_default();
        let literal = match text {
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            "null" => Literal::Null,
            "undefined" | "NaN" | "Infinity" => {
                let detail = format!("The JavaScript identifier {text:?} cannot be used in JSON.");
                return self.refuse("Invalid JSON keyword", detail, token.span);
            }
            _ => {
                let hint = suggest(text, ["false", "true", "null"])
                    .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
                let detail = format!("{text:?} is not a valid JSON keyword.{hint}");
                return self.refuse("Invalid JSON keyword", detail, token.span);
            }
        };
        Ok(Expression { kind: ExpressionKind::Literal(literal), span: token.span })
    }
}

/// Whether the characters of a number stand in the order that JSON has for them.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}

/// The text of a string token. Bytes that are not UTF-8 and halves of surrogate pairs are replaced.
/// An error is the number of bytes up to the one that is wrong, that one included.
fn decode_string(token: &[u8]) -> Result<String, usize> {
    let mut bytes = Vec::with_capacity(token.len());
    let mut at = 1;
    loop {
        match token.get(at) {
            None => return Err(token.len()),
            Some(b'"') => break,
            Some(0..32) => return Err(at + 1),
            Some(b'\\') => {
                let escaped = *token.get(at + 1).ok_or(token.len())?;
                at += 2;
                let plain = match escaped {
                    b'"' | b'\\' | b'/' => escaped,
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'u' => {
                        let character = unicode_escape(token, &mut at)?;
                        bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                        continue;
                    }
                    _ => return Err(at),
                };
                bytes.push(plain);
            }
            Some(byte) => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The character of an escape whose digits begin at `at`.
fn unicode_escape(token: &[u8], at: &mut usize) -> Result<char, usize> {
    let high = code_unit(token, *at)?;
    *at += 4;
    if let 0xd800..0xdc00 = high
        && token.get(*at..*at + 2) == Some(b"\\u")
        && let Ok(low @ 0xdc00..0xe000) = code_unit(token, *at + 2)
    {
        *at += 6;
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
}

fn code_unit(token: &[u8], at: usize) -> Result<u32, usize> {
    (at..at + 4).try_fold(0, |code, at| {
        let byte = token.get(at).ok_or(token.len())?;
        let digit = char::from(*byte).to_digit(16).ok_or(at + 1)?;
        Ok(code * 16 + digit)
    })
}
