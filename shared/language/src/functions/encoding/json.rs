//! Reading JSON texts: values of the types that they imply, numbers digit for digit.

use super::super::call::CallError;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::quote::quoted_char;
use values::{Number, Type, Value};

/// How deep texts may nest.
const DEEPEST: usize = 10_000;

/// What an unknown text will hold, as far as its known prefix tells.
pub(super) fn type_of_prefix(text: &Value) -> Result<Type, CallError> {
    let prefix = text.refinement().and_then(|r| r.string_prefix.as_deref()).unwrap_or_default();
    match prefix.trim().chars().next() {
        None | Some('{' | '[' | 'n') => Ok(Type::Dynamic),
        Some('"') => Ok(Type::String),
        Some('t' | 'f') => Ok(Type::Bool),
        Some('-' | '.' | '0'..='9') => Ok(Type::Number),
        Some(c) => {
            let c = quoted_char(c);
            let message = format!("a JSON document cannot begin with the character {c}");
            Err(CallError::argument(0, message))
        }
    }
}

/// Reads a text.
pub(super) fn decode(text: &str) -> Result<Value, CallError> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0).map_err(CallError::other)?;
    match reader.token() {
        None => Ok(value),
        Some(_) => Err(CallError::other("extraneous data after JSON object")),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }
    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }
    /// The first character of the next token; the place is at it.
    fn token(&mut self) -> Option<char> {
        while let Some(' ' | '\t' | '\n' | '\r') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }
    fn unexpected<T>(&self, where_: &str) -> Result<T, String> {
        match self.peek() {
            Some(c) => Err(format!("invalid character {} {where_}", quoted_char(c))),
            None => Err("unexpected EOF".into()),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("exceeded max depth".into());
        }
        match self.token() {
            None => Err("EOF".into()),
            Some('{') => stacker::maybe_grow(64 << 10, 1 << 20, || self.object(depth)),
            Some('[') => stacker::maybe_grow(64 << 10, 1 << 20, || self.array(depth)),
            Some('"') => self.string().map(Value::string),
            Some('t') => self.word("true").map(|()| Value::bool(true)),
            Some('f') => self.word("false").map(|()| Value::bool(false)),
            Some('n') => self.word("null").map(|()| Value::dynamic_null()),
            Some('-' | '0'..='9') => self.number(),
            Some(_) => self.unexpected("looking for beginning of value"),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut items = Vec::new();
        if self.token() == Some(']') {
            self.at += 1;
            return Ok(Value::tuple(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            match self.token() {
                Some(',') => self.at += 1,
                Some(']') => {
                    self.at += 1;
                    return Ok(Value::tuple(items));
                }
                None => return Err("EOF".into()),
                Some(_) => return self.unexpected("after array element"),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut items: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        if self.token() == Some('}') {
            self.at += 1;
            return Ok(Value::object(items));
        }
        loop {
            let key = match self.token() {
                Some('"') => Value::string(self.string()?),
                None => return Err("EOF".into()),
                Some(_) => return self.unexpected("looking for beginning of object key string"),
            };
            match self.token() {
                Some(':') => self.at += 1,
                None => return Err("EOF".into()),
                Some(_) => return self.unexpected("after object key"),
            }
            let value = self.value(depth + 1)?;
            items.insert(key.as_str().unwrap_or_default().into(), value);
            match self.token() {
                Some(',') => self.at += 1,
                Some('}') => {
                    self.at += 1;
                    return Ok(Value::object(items));
                }
                None => return Err("EOF".into()),
                Some(_) => return self.unexpected("after object key:value pair"),
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        for expected in word.chars() {
            if self.peek() != Some(expected) {
                let expected = quoted_char(expected);
                return self.unexpected(&format!("in literal {word} (expecting {expected})"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn digits(&mut self, where_: &str) -> Result<(), String> {
        if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return self.unexpected(where_);
        }
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        match self.peek() {
            Some('0') => self.at += 1,
            _ => self.digits("in numeric literal")?,
        }
        if self.peek() == Some('.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if let Some('e' | 'E') = self.peek() {
            self.at += 1;
            if let Some('+' | '-') = self.peek() {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        let number = Number::parse(digits).ok_or_else(|| format!("invalid number {digits}"))?;
        Ok(Value::number(number))
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.peek() else { return Err("unexpected EOF".into()) };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                c if (c as u32) < 0x20 => return self.unexpected("in string literal"),
                c => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let c = match self.peek() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return self.unexpected("in string escape code"),
        };
        self.at += 1;
        Ok(c)
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                return self.unexpected("in \\u hexadecimal character escape");
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }

    /// Halves of surrogate pairs without the other half become the replacement character.
    fn unicode_escape(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        let back = self.at;
        if self.next() == Some('\\') && self.next() == Some('u') {
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
        }
        self.at = back;
        Ok('\u{fffd}')
    }
}
