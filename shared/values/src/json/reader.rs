use super::{JsonError, MAX_DEPTH, Result, error};
use crate::quote::quoted_char;
use crate::stack::deep;
use std::borrow::Cow;

/// What a JSON value begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// Reads JSON from front to back.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, depth: 0 }
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// The next character, for a message.
    fn unexpected<T>(&self, context: &str) -> Result<T> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let Some(chunk) = rest.utf8_chunks().next() else {
            return error("unexpected EOF");
        };
        let c = chunk.valid().chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        error(format!("invalid character {}{context}", quoted_char(c)))
    }

    /// The next byte that is no space; "EOF" where there is none.
    fn peek(&mut self) -> Result<u8> {
        self.space();
        self.bytes.get(self.at).copied().ok_or_else(|| JsonError("EOF".into()))
    }

    pub(super) fn start(&mut self) -> Result<Start> {
        Ok(match self.peek()? {
            b'n' => Start::Null,
            b't' | b'f' => Start::Bool,
            b'-' | b'0'..=b'9' => Start::Number,
            b'"' => Start::String,
            b'[' => Start::Array,
            b'{' => Start::Object,
            _ => return self.unexpected(" looking for beginning of value"),
        })
    }

    fn literal(&mut self, word: &str) -> Result<()> {
        for (i, expected) in word.bytes().enumerate() {
            match self.bytes.get(self.at) {
                Some(b) if *b == expected => self.at += 1,
                None => return error("unexpected EOF"),
                Some(_) => {
                    let expected = quoted_char(char::from(word.as_bytes()[i]));
                    return self.unexpected(&format!(" in literal {word} (expecting {expected})"));
                }
            }
        }
        Ok(())
    }
    pub(super) fn null(&mut self) -> Result<()> {
        self.literal("null")
    }
    pub(super) fn bool(&mut self) -> Result<bool> {
        match self.peek()? {
            b't' => self.literal("true").map(|()| true),
            _ => self.literal("false").map(|()| false),
        }
    }

    /// The digits of a number, as they stand.
    pub(super) fn number(&mut self) -> Result<&'a str> {
        let from = self.at;
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            _ => self.digits(" in numeric literal")?,
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits(" after decimal point in numeric literal")?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits(" in exponent of numeric literal")?;
        }
        std::str::from_utf8(&self.bytes[from..self.at]).map_err(|e| JsonError(e.to_string()))
    }
    fn digits(&mut self, context: &str) -> Result<()> {
        let from = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        match self.at > from {
            true => Ok(()),
            false => self.unexpected(context),
        }
    }

    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let mut out: Option<String> = None;
        loop {
            let from = self.at;
            while !matches!(self.bytes.get(self.at), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            let piece = String::from_utf8_lossy(&self.bytes[from..self.at]);
            match self.bytes.get(self.at) {
                None => return error("unexpected EOF"),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match out {
                        None => piece,
                        Some(out) => Cow::Owned(out + &piece),
                    });
                }
                Some(b'\\') => {
                    self.at += 1;
                    let out = out.get_or_insert_default();
                    out.push_str(&piece);
                    out.push(self.escape()?);
                }
                Some(_) => return self.unexpected(" in string literal"),
            }
        }
    }
    fn escape(&mut self) -> Result<char> {
        let c = match self.bytes.get(self.at) {
            None => return error("unexpected EOF"),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            Some(_) => return self.unexpected(" in string escape code"),
        };
        self.at += 1;
        Ok(c)
    }
    fn unicode_escape(&mut self) -> Result<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !self.bytes[self.at..].starts_with(b"\\u") {
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        let back = self.at;
        self.at += 2;
        let second = self.hex()?;
        if !(0xdc00..0xe000).contains(&second) {
            self.at = back;
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
    fn hex(&mut self) -> Result<u32> {
        let mut value = 0;
        for _ in 0..4 {
            match self.bytes.get(self.at).map(|b| char::from(*b).to_digit(16)) {
                None => return error("unexpected EOF"),
                Some(None) => return self.unexpected(" in \\u hexadecimal character escape"),
                Some(Some(digit)) => value = value << 4 | digit,
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return error("exceeded max depth");
        }
        self.depth += 1;
        let result = deep(|| f(self));
        self.depth -= 1;
        result
    }

    /// Goes through an array; `item` reads each element.
    pub(super) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        self.nested(|r| {
            r.at += 1;
            if r.peek()? == b']' {
                r.at += 1;
                return Ok(());
            }
            for i in 0.. {
                item(r, i)?;
                match r.peek()? {
                    b',' => r.at += 1,
                    b']' => {
                        r.at += 1;
                        break;
                    }
                    _ => return r.unexpected(" after array element"),
                }
            }
            Ok(())
        })
    }

    /// Goes through an object; `item` reads the value of each property.
    pub(super) fn object(
        &mut self,
        mut item: impl FnMut(&mut Self, Cow<'a, str>) -> Result<()>,
    ) -> Result<()> {
        self.nested(|r| {
            r.at += 1;
            if r.peek()? == b'}' {
                r.at += 1;
                return Ok(());
            }
            loop {
                if r.peek()? != b'"' {
                    return r.unexpected(" looking for beginning of object key string");
                }
                let key = r.string()?;
                if r.peek()? != b':' {
                    return r.unexpected(" after object key");
                }
                r.at += 1;
                item(r, key)?;
                match r.peek()? {
                    b',' => r.at += 1,
                    b'}' => {
                        r.at += 1;
                        return Ok(());
                    }
                    _ => return r.unexpected(" after object key:value pair"),
                }
            }
        })
    }

    /// Passes over a value and gives its text.
    pub(super) fn skip(&mut self) -> Result<&'a [u8]> {
        let start = self.start()?;
        let from = self.at;
        match start {
            Start::Null => self.null()?,
            Start::Bool => self.bool().map(|_| ())?,
            Start::Number => self.number().map(|_| ())?,
            Start::String => self.string().map(|_| ())?,
            Start::Array => self.array(|r, _| r.skip().map(|_| ()))?,
            Start::Object => self.object(|r, _| r.skip().map(|_| ()))?,
        }
        Ok(&self.bytes[from..self.at])
    }

    /// Requires that nothing but space is left.
    pub(super) fn end(&mut self, message: &str) -> Result<()> {
        self.space();
        match self.at == self.bytes.len() {
            true => Ok(()),
            false => error(message),
        }
    }
}
