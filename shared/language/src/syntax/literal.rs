//! String and number literals: escapes, normal form, validity.

use std::borrow::Cow;
use std::sync::Arc;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A text in double quotes, with what is not printable escaped as Go does, since diagnostics quote
/// names that way.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        let code = u32::from(character);
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{7f}' => quoted.push_str(&format!("\\x{code:02x}")),
            _ if is_printable(character) => quoted.push(character),
            _ if code <= 0xffff => quoted.push_str(&format!("\\u{code:04x}")),
            _ => quoted.push_str(&format!("\\U{code:08x}")),
        }
    }
    quoted.push('"');
    quoted
}

/// A text as it stands between quotes in the native syntax.
pub(crate) fn escape_literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let code = u32::from(character);
        match character {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '$' | '%' if characters.peek() == Some(&'{') => escaped.extend([character; 2]),
            _ if is_printable(character) => escaped.push(character),
            _ if code <= 0xffff => escaped.push_str(&format!("\\u{code:04x}")),
            _ => escaped.push_str(&format!("\\U{code:08x}")),
        }
    }
    escaped
}

/// Whether a character is neither a control, format or private character nor a blank other than
/// the space.
fn is_printable(character: char) -> bool {
    !matches!(
        character,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{a0}'
            | '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{1680}'
            | '\u{180e}'
            | '\u{2000}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}'
            | '\u{3000}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e00ff}'
            | '\u{f0000}'..='\u{10ffff}'
    )
}

/// The text in Unicode normal form C, in which strings are compared.
pub(super) fn normalized(text: Cow<'_, str>) -> Arc<str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        text.into()
    } else {
        text.nfc().collect::<String>().into()
    }
}

/// Whether the digits of a number token are a number whose magnitude can be represented.
pub(super) fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    if mantissa.bytes().filter(|byte| *byte == b'.').count() > 1
        || !mantissa.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit())
    {
        return false;
    }
    match exponent {
        None => true,
        Some(exponent) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !digits.is_empty()
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && exponent.parse::<i32>().is_ok()
        }
    }
}

/// A flaw in the escapes of a literal; offsets count in the literal.
pub(super) struct EscapeError {
    pub(super) detail: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Resolves the escapes of one literal token: backslash sequences only in quoted strings.
pub(super) fn unescape<'t>(
    raw: &'t str,
    quoted: bool,
    errors: &mut Vec<EscapeError>,
) -> Cow<'t, str> {
    let is_special = |byte: u8| matches!(byte, b'$' | b'%') || (quoted && byte == b'\\');
    if !raw.bytes().any(is_special) {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(found) = rest.bytes().position(is_special) {
        text.push_str(&rest[..found]);
        let start = raw.len() - rest.len() + found;
        rest = &rest[found..];
        let length = if rest.starts_with("$${") || rest.starts_with("%%{") {
            text.push_str(&rest[1..3]);
            3
        } else if rest.starts_with('\\') {
            backslash(rest, start, &mut text, errors)
        } else {
            text.push_str(&rest[..1]);
            1
        };
        rest = &rest[length..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Resolves one backslash sequence at the beginning of `rest` and returns its length.
fn backslash(rest: &str, start: usize, text: &mut String, errors: &mut Vec<EscapeError>) -> usize {
    let mut refuse = |detail: String, length: usize| {
        errors.push(EscapeError { detail, start, end: start + length });
    };
    let Some(selector) = rest[1..].chars().next() else {
        refuse("Backslash must be followed by an escape sequence selector character.".into(), 1);
        text.push('\\');
        return 1;
    };
    let digits = match selector {
        'u' => 4,
        'U' => 8,
        'n' | 'r' | 't' | '"' | '\\' => {
            text.push(match selector {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            });
            return 2;
        }
        other => {
            let detail = format!(
                "The symbol {} is not a valid escape sequence selector.",
                quote(other.encode_utf8(&mut [0; 4]))
            );
            refuse(detail, 1 + other.len_utf8());
            text.push(other);
            return 1 + other.len_utf8();
        }
    };
    let given = rest[2..].bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
    let length = 2 + given;
    let code = u32::from_str_radix(&rest[2..length], 16).unwrap_or(0);
    if given < digits {
        let count = if digits == 4 { "four" } else { "eight" };
        refuse(
            format!(
                "The \\{selector} escape sequence must be followed by {count} hexadecimal digits."
            ),
            length,
        );
    } else if let Some(character) = char::from_u32(code) {
        text.push(character);
        return length;
    } else {
        refuse(format!("Cannot encode character U+{code:04x} in UTF-8."), length);
    }
    text.push_str(&rest[..length]);
    length
}
