//! The lexer: one token at a time, straight from the bytes.
//!
//! Text is not required to be UTF-8, since comments may hold anything; a byte that is not UTF-8
//! elsewhere is a token of its own and is reported once.

mod refusals;

use super::token::{Token, TokenKind};
use crate::diagnostics::Diagnostic;
use crate::source::{BYTE_ORDER_MARK, FileId};
use refusals::Told;

/// What a text is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Configuration or an expression.
    Normal,
    /// A whole text that is a template.
    Template,
}

enum Mode {
    Normal,
    Quoted,
    Heredoc,
    Bare,
}

struct Heredoc<'t> {
    marker: &'t [u8],
    at_line_start: bool,
}

pub(super) struct Lexer<'t> {
    text: &'t [u8],
    file: FileId,
    base: u32,
    at: usize,
    /// The whole text is UTF-8, so that non-ASCII bytes need no further look.
    valid: bool,
    /// There is no `*/` at or after this offset.
    no_comment_end_from: usize,
    modes: Vec<Mode>,
    braces: i64,
    /// The brace levels at which a closing brace ends a template sequence.
    sequence_braces: Vec<i64>,
    heredocs: Vec<Heredoc<'t>>,
    /// The newline after a heredoc's end marker.
    pending: Option<Token>,
    told: Told,
    keep_comments: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t [u8], file: FileId, base: u32, start: Start) -> Self {
        Self {
            text,
            file,
            base,
            at: if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 },
            valid: std::str::from_utf8(text).is_ok(),
            no_comment_end_from: usize::MAX,
            modes: vec![match start {
                Start::Normal => Mode::Normal,
                Start::Template => Mode::Bare,
            }],
            braces: 0,
            sequence_braces: Vec::new(),
            heredocs: Vec::new(),
            pending: None,
            told: Told::default(),
            keep_comments: false,
            diagnostics: Vec::new(),
        }
    }

    /// The lexer of a whole file, with a token for each comment.
    pub(super) fn with_comments(text: &'t [u8], file: FileId) -> Self {
        Self { keep_comments: true, ..Self::new(text, file, 0, Start::Normal) }
    }

    /// Goes to the end: every further token is the end of the file.
    pub(super) fn abandon(&mut self) {
        self.at = self.text.len();
        self.pending = None;
    }

    pub(super) fn next(&mut self) -> Token {
        if let Some(token) = self.pending.take() {
            return token;
        }
        if self.at >= self.text.len() {
            return self.end_of_file();
        }
        match self.modes.last() {
            Some(Mode::Quoted) => self.quoted(),
            Some(Mode::Heredoc) => self.literal(false),
            Some(Mode::Bare) => self.literal(true),
            Some(Mode::Normal) | None => self.normal(),
        }
    }

    fn end_of_file(&self) -> Token {
        let end = self.text.len() as u32;
        Token { kind: TokenKind::EndOfFile, start: end, end }
    }

    fn token(&mut self, kind: TokenKind, start: usize, end: usize) -> Token {
        self.at = end;
        Token { kind, start: start as u32, end: end as u32 }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// The character at `at`, or `None` if the bytes there are not UTF-8.
    fn char_at(&self, at: usize) -> Option<char> {
        let first = *self.text.get(at)?;
        if first < 0x80 {
            return Some(char::from(first));
        }
        let window = &self.text[at..self.text.len().min(at + 4)];
        match std::str::from_utf8(window) {
            Ok(text) => text.chars().next(),
            Err(error) => std::str::from_utf8(&window[..error.valid_up_to()]).ok()?.chars().next(),
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn normal(&mut self) -> Token {
        loop {
            self.skip_blanks();
            let start = self.at;
            let Some(&first) = self.text.get(start) else {
                return self.end_of_file();
            };
            match first {
                b'#' => {
                    if let Some(token) = self.line_comment(start) {
                        return token;
                    }
                }
                b'/' if self.byte(start + 1) == b'/' => {
                    if let Some(token) = self.line_comment(start) {
                        return token;
                    }
                }
                b'/' if self.byte(start + 1) == b'*' => match self.block_comment_end(start + 2) {
                    Some(end) if self.keep_comments => {
                        return self.token(TokenKind::Comment, start, end);
                    }
                    Some(end) => self.at = end,
                    None => return self.token(TokenKind::Slash, start, start + 1),
                },
                _ => return self.normal_token(first, start),
            }
        }
    }

    /// Skips a comment to the end of its line, which it stands for.
    fn line_comment(&mut self, start: usize) -> Option<Token> {
        let kind = match self.keep_comments {
            true => TokenKind::Comment,
            false => TokenKind::Newline,
        };
        match self.text[start..].iter().position(|byte| *byte == b'\n') {
            Some(length) => Some(self.token(kind, start, start + length + 1)),
            None if self.keep_comments => Some(self.token(kind, start, self.text.len())),
            None => {
                self.at = self.text.len();
                None
            }
        }
    }

    fn block_comment_end(&mut self, from: usize) -> Option<usize> {
        if from >= self.no_comment_end_from {
            return None;
        }
        let found = self.text[from..].windows(2).position(|pair| pair == b"*/");
        if found.is_none() {
            self.no_comment_end_from = from;
        }
        found.map(|length| from + length + 2)
    }

    fn normal_token(&mut self, first: u8, start: usize) -> Token {
        use TokenKind::*;
        let second = self.byte(start + 1);
        let one = |kind| (kind, 1);
        let (kind, length) = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let end = self.identifier_end(start);
                return self.token(Identifier, start, end);
            }
            b'0'..=b'9' => {
                let end = self.number_end(start);
                return self.token(Number, start, end);
            }
            b'\n' => one(Newline),
            b'\r' if second == b'\n' => (Newline, 2),
            b'"' => {
                self.modes.push(Mode::Quoted);
                one(OpenQuote)
            }
            b'{' => {
                self.braces += 1;
                one(OpenBrace)
            }
            b'}' => {
                let ends = self.leave_sequence();
                self.braces -= 1;
                one(if ends { SequenceEnd } else { CloseBrace })
            }
            b'~' if second == b'}' => {
                self.leave_sequence();
                self.braces -= 1;
                (SequenceEnd, 2)
            }
            b'<' if second == b'<' => match self.open_heredoc(start) {
                Some(token) => return token,
                None => one(Less),
            },
            b'[' => one(OpenBracket),
            b']' => one(CloseBracket),
            b'(' => one(OpenParen),
            b')' => one(CloseParen),
            b'.' if second == b'.' && self.byte(start + 2) == b'.' => (Ellipsis, 3),
            b'.' => one(Dot),
            b',' => one(Comma),
            b'*' => one(Star),
            b'/' => one(Slash),
            b'%' => one(Percent),
            b'+' => one(Plus),
            b'-' => one(Minus),
            b'?' => one(Question),
            b':' if second == b':' => (DoubleColon, 2),
            b':' => one(Colon),
            b'=' if second == b'=' => (EqualEqual, 2),
            b'=' if second == b'>' => (FatArrow, 2),
            b'=' => one(Equal),
            b'<' if second == b'=' => (LessOrEqual, 2),
            b'<' => one(Less),
            b'>' if second == b'=' => (GreaterOrEqual, 2),
            b'>' => one(Greater),
            b'!' if second == b'=' => (NotEqual, 2),
            b'!' => one(Not),
            b'&' if second == b'&' => (And, 2),
            b'|' if second == b'|' => (Or, 2),
            _ => return self.foreign(first, start),
        };
        self.token(kind, start, start + length)
    }

    /// Ends the template sequence whose braces are balanced here, if there is one.
    fn leave_sequence(&mut self) -> bool {
        let ends = self.sequence_braces.last() == Some(&self.braces);
        if ends {
            self.sequence_braces.pop();
            self.modes.pop();
        }
        ends
    }

    fn identifier_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(&byte) = self.text.get(at) {
            if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
                at += 1;
            } else if byte < 0x80 {
                break;
            } else {
                match self.char_at(at) {
                    Some(character) if unicode_id_start::is_id_continue_unicode(character) => {
                        at += character.len_utf8();
                    }
                    _ => break,
                }
            }
        }
        at
    }

    /// The end of an identifier that begins at `start`, if one does.
    fn identifier(&self, start: usize) -> Option<usize> {
        let first = self.char_at(start)?;
        let begins = first == '_' || unicode_id_start::is_id_start(first);
        begins.then(|| self.identifier_end(start))
    }

    /// Digits, dots and exponents in any order, as long as a dot is not the last: whether they
    /// are a number is for the parser to say.
    fn number_end(&self, start: usize) -> usize {
        let mut at = start + 1;
        let mut end = at;
        loop {
            match self.byte(at) {
                b'0'..=b'9' => {
                    at += 1;
                    end = at;
                }
                b'.' => at += 1,
                b'e' | b'E' => {
                    let sign = usize::from(matches!(self.byte(at + 1), b'+' | b'-'));
                    if !self.byte(at + 1 + sign).is_ascii_digit() {
                        return end;
                    }
                    at += sign + 2;
                    end = at;
                }
                _ => return end,
            }
        }
    }

    fn open_heredoc(&mut self, start: usize) -> Option<Token> {
        let dash = usize::from(self.byte(start + 2) == b'-');
        let marker_start = start + 2 + dash;
        let marker_end = self.identifier(marker_start)?;
        let carriage_return = usize::from(self.byte(marker_end) == b'\r');
        if self.byte(marker_end + carriage_return) != b'\n' {
            return None;
        }
        let marker = &self.text[marker_start..marker_end];
        self.heredocs.push(Heredoc { marker, at_line_start: true });
        self.modes.push(Mode::Heredoc);
        Some(self.token(TokenKind::OpenHeredoc, start, marker_end + carriage_return + 1))
    }

    /// `${` or `%{` at `start`.
    fn open_sequence(&mut self, start: usize) -> Token {
        let kind =
            if self.byte(start) == b'$' { TokenKind::Interpolation } else { TokenKind::Directive };
        self.braces += 1;
        self.sequence_braces.push(self.braces);
        if let Some(heredoc) = self.heredocs.last_mut() {
            heredoc.at_line_start = false;
        }
        self.modes.push(Mode::Normal);
        let trim = usize::from(self.byte(start + 2) == b'~');
        self.token(kind, start, start + 2 + trim)
    }

    /// The length of a literal that begins with `$` or `%`: `$${` is an escape, a sign without
    /// brace stands for itself. `None` if the text ends before that is decided.
    fn sign_length(&self, start: usize) -> Option<usize> {
        let sign = self.byte(start);
        if start + 1 >= self.text.len() {
            return None;
        }
        if self.byte(start + 1) == sign && self.byte(start + 2) == b'{' {
            return Some(3 + usize::from(self.byte(start + 3) == b'~'));
        }
        Some(1)
    }

    fn quoted(&mut self) -> Token {
        let start = self.at;
        match self.byte(start) {
            b'"' => {
                self.modes.pop();
                return self.token(TokenKind::CloseQuote, start, start + 1);
            }
            b'$' | b'%' if self.byte(start + 1) == b'{' => return self.open_sequence(start),
            b'$' | b'%' => {
                return match self.sign_length(start) {
                    Some(length) => self.token(TokenKind::QuotedLiteral, start, start + length),
                    None => self.invalid_rest(start),
                };
            }
            b'\r' | b'\n' => {
                let length = self.text[start..]
                    .iter()
                    .take_while(|byte| matches!(byte, b'\r' | b'\n'))
                    .count();
                self.refuse(
                    "Invalid multi-line string",
                    "Quoted strings may not be split over multiple lines. To produce a multi-line string, either use the \\n escape to represent a newline character or use the \"heredoc\" multi-line template syntax.",
                    start,
                    start + length,
                );
                return self.token(TokenKind::Refused, start, start + length);
            }
            _ => {}
        }
        let mut at = start;
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'"' | b'$' | b'%' | b'\r' | b'\n' => break,
                b'\\' => match self.char_at(at + 1) {
                    Some('\r' | '\n') | None => break,
                    Some(character) => at += 1 + character.len_utf8(),
                },
                0..0x80 => at += 1,
                _ if self.valid => at += 1,
                _ => match self.char_at(at) {
                    Some(character) => at += character.len_utf8(),
                    None => break,
                },
            }
        }
        if at > start {
            return self.token(TokenKind::QuotedLiteral, start, at);
        }
        self.invalid(start)
    }

    /// A piece of a heredoc or of a bare template.
    fn literal(&mut self, bare: bool) -> Token {
        let start = self.at;
        let first = self.byte(start);
        if matches!(first, b'$' | b'%') {
            if self.byte(start + 1) == b'{' {
                return self.open_sequence(start);
            }
            let Some(length) = self.sign_length(start) else {
                return self.literal_rest(bare, start);
            };
            if let Some(heredoc) = self.heredocs.last_mut().filter(|_| !bare) {
                heredoc.at_line_start = false;
            }
            return self.token(TokenKind::StringLiteral, start, start + length);
        }
        let mut at = start;
        let mut newline = 0;
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'$' | b'%' => break,
                b'\n' => {
                    newline = 1;
                    break;
                }
                b'\r' => {
                    newline = if self.byte(at + 1) == b'\n' { 2 } else { 0 };
                    break;
                }
                0..0x80 => at += 1,
                _ if self.valid => at += 1,
                _ => match self.char_at(at) {
                    Some(character) => at += character.len_utf8(),
                    None => break,
                },
            }
        }
        let end = at + newline;
        if end == start {
            // A carriage return alone, or a byte that is not UTF-8.
            return if first == b'\r' {
                self.literal_rest(bare, start)
            } else {
                self.bad_encoding(start)
            };
        }
        if !bare && let Some(heredoc) = self.heredocs.last_mut() {
            if newline > 0 && heredoc.at_line_start {
                let line = String::from_utf8_lossy(&self.text[start..at]);
                if line.trim().as_bytes() == heredoc.marker {
                    self.heredocs.pop();
                    self.modes.pop();
                    let close = self.token(TokenKind::CloseHeredoc, start, at);
                    self.pending = Some(self.token(TokenKind::Newline, at, end));
                    return close;
                }
            }
            heredoc.at_line_start = newline > 0;
        }
        self.token(TokenKind::StringLiteral, start, end)
    }

    /// A carriage return alone or a sign at the end: in a bare template all that follows is text.
    fn literal_rest(&mut self, bare: bool, start: usize) -> Token {
        if bare && self.modes.len() == 1 {
            let rest = self.text.get(start..).unwrap_or_default();
            let valid = rest.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
            return self.token(TokenKind::StringLiteral, start, start + valid);
        }
        self.invalid_rest(start)
    }
}

/// All tokens of a file, comments among them; the last is the end of the file.
pub(crate) fn tokens_with_comments(text: &[u8], file: FileId) -> Vec<Token> {
    let mut lexer = Lexer::with_comments(text, file);
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        let token = lexer.next();
        tokens.push(token);
        if token.kind == TokenKind::EndOfFile {
            return tokens;
        }
    }
}
