//! RE2's syntax, brought into that of the regex crate.
//!
//! The two differ in meaning, not only in what they accept: `\w`, `\d`, `\s` and `\b` are ASCII in
//! RE2, `&&`, `--` and `~~` mean nothing in its classes, a brace that starts no repetition stands for
//! itself. So each pattern is parsed by RE2's rules and written again. Errors are RE2's own.

use std::fmt::Write;

/// A pattern in the regex crate's syntax, and the names of its groups in order (none is named in the
/// pattern: RE2 allows a name twice).
#[derive(Debug)]
pub(super) struct Translation {
    pub(super) pattern: String,
    pub(super) groups: Vec<Option<String>>,
}

/// A pattern that RE2 refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) reason: &'static str,
    /// The part of the pattern.
    pub(super) part: String,
}

const CLASS_RANGE: &str = "invalid character class range";
const ESCAPE: &str = "invalid escape sequence";
const NAMED_CAPTURE: &str = "invalid named capture";
const PERL: &str = "invalid or unsupported Perl syntax";
const REPEAT_COUNT: &str = "invalid repeat count";
const MAX_REPEAT: u32 = 1000;

fn error<T>(reason: &'static str, part: impl Into<String>) -> Result<T, SyntaxError> {
    Err(SyntaxError { reason, part: part.into() })
}

/// Translates a pattern.
pub(super) fn translate(pattern: &str) -> Result<Translation, SyntaxError> {
    let mut parser = Parser {
        whole: pattern,
        at: 0,
        out: String::with_capacity(pattern.len() + 8),
        groups: vec![],
    };
    parser.run()?;
    Ok(Translation { pattern: parser.out, groups: parser.groups })
}

struct Parser<'p> {
    whole: &'p str,
    at: usize,
    out: String,
    groups: Vec<Option<String>>,
}

/// What is known of a group while it is open.
#[derive(Default)]
struct Level {
    /// Whether there is something that a repetition could repeat, and how often that repeats what is
    /// inside it already.
    repeatable: Option<u32>,
    /// The largest product of repetitions inside so far.
    repeats: u32,
}

impl<'p> Parser<'p> {
    fn rest(&self) -> &'p str {
        self.whole.get(self.at..).unwrap_or_default()
    }
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }
    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }
    fn since(&self, start: usize) -> &'p str {
        self.whole.get(start..self.at).unwrap_or_default()
    }

    fn run(&mut self) -> Result<(), SyntaxError> {
        let mut levels = vec![Level::default()];
        // Where the repetition just before started, if there was one.
        let mut last_repeat: Option<usize> = None;
        while let Some(c) = self.peek() {
            let start = self.at;
            let was_repeat = last_repeat.take();
            let Some(level) = levels.last_mut() else { break };
            match c {
                '(' => {
                    if self.open()? {
                        levels.push(Level::default());
                    }
                }
                ')' => {
                    let closed = levels.pop().unwrap_or_default();
                    let Some(outer) = levels.last_mut() else {
                        return error("unexpected )", self.whole);
                    };
                    self.at += 1;
                    self.out.push(')');
                    outer.repeatable = Some(closed.repeats.max(1));
                }
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                    level.repeatable = None;
                }
                '*' | '+' | '?' => {
                    self.at += 1;
                    self.eat("?");
                    self.check_repeat(start, was_repeat, level)?;
                    self.out.push_str(self.since(start));
                    last_repeat = Some(start);
                }
                '{' => match self.counted()? {
                    None => {
                        self.at += 1;
                        self.out.push_str("\\{");
                        level.repeatable = Some(1);
                    }
                    Some((min, max)) => {
                        let count = self.since(start).to_owned();
                        self.eat("?");
                        self.check_repeat(start, was_repeat, level)?;
                        let times = max.unwrap_or(min);
                        if min > MAX_REPEAT || max.is_some_and(|m| m > MAX_REPEAT || m < min) {
                            return error(REPEAT_COUNT, count);
                        }
                        let product = times.max(1).saturating_mul(level.repeatable.unwrap_or(1));
                        if times >= 2 && product > MAX_REPEAT {
                            return error(REPEAT_COUNT, count);
                        }
                        level.repeatable = Some(product);
                        level.repeats = level.repeats.max(product);
                        self.out.push_str(self.since(start));
                        last_repeat = Some(start);
                    }
                },
                '[' => {
                    self.class()?;
                    level.repeatable = Some(1);
                }
                '\\' => {
                    self.escape()?;
                    level.repeatable = Some(1);
                }
                c => {
                    self.at += c.len_utf8();
                    match c {
                        '.' | '^' | '$' => self.out.push(c),
                        c => push_literal(&mut self.out, c),
                    }
                    level.repeatable = Some(1);
                }
            }
        }
        match levels.len() {
            1 => Ok(()),
            _ => error("missing closing )", self.whole),
        }
    }

    fn check_repeat(
        &self,
        start: usize,
        last: Option<usize>,
        level: &Level,
    ) -> Result<(), SyntaxError> {
        if let Some(last) = last {
            return error("invalid nested repetition operator", self.since(last));
        }
        match level.repeatable {
            Some(_) => Ok(()),
            None => error("missing argument to repetition operator", self.since(start)),
        }
    }

    /// `{n}`, `{n,}` or `{n,m}` if the brace starts one; the place is behind it then.
    fn counted(&mut self) -> Result<Option<(u32, Option<u32>)>, SyntaxError> {
        let Some((inside, _)) = self.rest().get(1..).and_then(|r| r.split_once('}')) else {
            return Ok(None);
        };
        let number = |s: &str| -> Option<u32> {
            let plain = !s.is_empty()
                && s.bytes().all(|b| b.is_ascii_digit())
                && (s.len() == 1 || !s.starts_with('0'));
            plain.then(|| s.parse().unwrap_or(u32::MAX))
        };
        let counts = match inside.split_once(',') {
            None => number(inside).map(|n| (n, Some(n))),
            Some((min, "")) => number(min).map(|n| (n, None)),
            Some((min, max)) => number(min).zip(number(max)).map(|(n, m)| (n, Some(m))),
        };
        if counts.is_some() {
            self.at += inside.len() + 2;
        }
        Ok(counts)
    }

    /// What starts with a parenthesis; whether it is a group that must be closed.
    fn open(&mut self) -> Result<bool, SyntaxError> {
        let start = self.at;
        if !self.eat("(?") {
            self.at += 1;
            self.out.push('(');
            self.groups.push(None);
            return Ok(true);
        }
        if self.eat("P<") || self.eat("<") {
            let Some((name, _)) = self.rest().split_once('>') else {
                return error(NAMED_CAPTURE, self.whole.get(start..).unwrap_or_default());
            };
            self.at += name.len() + 1;
            let valid = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(valid) {
                return error(NAMED_CAPTURE, self.since(start));
            }
            self.out.push('(');
            self.groups.push(Some(name.to_owned()));
            return Ok(true);
        }
        let mut negative = false;
        let mut any = false;
        while let Some(c) = self.next() {
            match c {
                'i' | 'm' | 's' | 'U' => any = true,
                '-' if !negative => {
                    negative = true;
                    any = false;
                }
                ':' | ')' if any || !negative => {
                    let flags = self.since(start);
                    // The regex crate knows no empty list of flags.
                    if flags != "(?)" {
                        self.out.push_str(flags);
                    }
                    return Ok(c == ':');
                }
                _ => return error(PERL, self.since(start)),
            }
        }
        error("missing closing )", self.whole)
    }

    /// What starts with a backslash, outside a class.
    fn escape(&mut self) -> Result<(), SyntaxError> {
        if self.eat("\\Q") {
            let rest = self.rest();
            let (literal, skip) = match rest.split_once("\\E") {
                Some((literal, _)) => (literal, 2),
                None => (rest, 0),
            };
            self.at += literal.len() + skip;
            literal.chars().for_each(|c| push_literal(&mut self.out, c));
            return Ok(());
        }
        let same = ["\\A", "\\z"].into_iter().find(|e| self.eat(e));
        if let Some(same) = same {
            self.out.push_str(same);
        } else if self.eat("\\b") {
            self.out.push_str("(?-u:\\b)");
        } else if self.eat("\\B") {
            self.out.push_str("(?-u:\\B)");
        } else if let Some(class) = self.perl_class() {
            let _ = write!(self.out, "[{class}]");
        } else if let Some(class) = self.unicode_class()? {
            self.out.push_str(&class);
        } else {
            let c = self.escaped_char()?;
            push_literal(&mut self.out, c);
        }
        Ok(())
    }

    /// `\d` and its like, as the inside of a class.
    fn perl_class(&mut self) -> Option<&'static str> {
        let classes = [
            ("\\d", "0-9"),
            ("\\D", "^0-9"),
            ("\\s", "\\t\\n\\f\\r\\x20"),
            ("\\S", "^\\t\\n\\f\\r\\x20"),
            ("\\w", "0-9A-Za-z_"),
            ("\\W", "^0-9A-Za-z_"),
        ];
        classes.into_iter().find(|(escape, _)| self.eat(escape)).map(|(_, class)| class)
    }

    fn unicode_class(&mut self) -> Result<Option<String>, SyntaxError> {
        let start = self.at;
        let mut negative = self.eat("\\P");
        if !negative && !self.eat("\\p") {
            return Ok(None);
        }
        let Some(c) = self.next() else { return error(CLASS_RANGE, self.since(start)) };
        let name = match c {
            '{' => {
                let Some((name, _)) = self.rest().split_once('}') else {
                    return error(CLASS_RANGE, self.whole.get(start..).unwrap_or_default());
                };
                self.at += name.len() + 1;
                name.to_owned()
            }
            c => c.to_string(),
        };
        let name = match name.strip_prefix('^') {
            Some(name) => {
                negative = !negative;
                name.to_owned()
            }
            None => name,
        };
        let class = match (name.as_str(), negative) {
            ("Any", false) => "[\\x{0}-\\x{10FFFF}]".to_owned(),
            ("Any", true) => "[^\\x{0}-\\x{10FFFF}]".to_owned(),
            (_, negative) => format!("\\{}{{{name}}}", if negative { 'P' } else { 'p' }),
        };
        let known = !name.is_empty()
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
            && regex::Regex::new(&class).is_ok();
        match known {
            true => Ok(Some(class)),
            false => error(CLASS_RANGE, self.since(start)),
        }
    }

    /// The one character that an escape stands for.
    fn escaped_char(&mut self) -> Result<char, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.next() else {
            return error("trailing backslash at end of expression", "");
        };
        let octal = |c: Option<char>| c.and_then(|c| c.to_digit(8));
        match c {
            '1'..='7' if octal(self.peek()).is_none() => {}
            '0'..='7' => {
                let mut code = c as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = octal(self.peek()) else { break };
                    code = code * 8 + digit;
                    self.at += 1;
                }
                if let Some(c) = char::from_u32(code) {
                    return Ok(c);
                }
            }
            'x' => {
                let digits = match self.eat("{") {
                    true => {
                        let Some((digits, _)) = self.rest().split_once('}') else {
                            return error(ESCAPE, self.whole.get(start..).unwrap_or_default());
                        };
                        self.at += digits.len() + 1;
                        digits
                    }
                    false => {
                        let digits = self.rest().get(..2).unwrap_or_default();
                        self.at += digits.len();
                        digits
                    }
                };
                let hex = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| hex);
                if let Some(c) = code.and_then(char::from_u32) {
                    return Ok(c);
                }
            }
            'a' => return Ok('\u{7}'),
            'f' => return Ok('\u{c}'),
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            'v' => return Ok('\u{b}'),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => return Ok(c),
            _ => {}
        }
        error(ESCAPE, self.since(start))
    }

    fn class(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 1;
        self.out.push('[');
        if self.eat("^") {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            if self.peek().is_none() {
                return error("missing closing ]", self.whole.get(start..).unwrap_or_default());
            }
            if !first && self.eat("]") {
                self.out.push(']');
                return Ok(());
            }
            first = false;
            let item = self.at;
            if self.rest().starts_with("[:") && self.rest().contains(":]") {
                let name = self.rest().split_inclusive(":]").next().unwrap_or_default();
                self.at += name.len();
                if !is_posix_class(name) {
                    return error(CLASS_RANGE, name);
                }
                self.out.push_str(name);
                continue;
            }
            if let Some(class) = self.perl_class() {
                let _ = write!(self.out, "[{class}]");
                continue;
            }
            if let Some(class) = self.unicode_class()? {
                self.out.push_str(&class);
                continue;
            }
            let low = self.class_char(start)?;
            let is_range = self.rest().starts_with('-')
                && self.rest().chars().nth(1).is_some_and(|c| c != ']');
            let high = match is_range {
                true => {
                    self.at += 1;
                    self.class_char(start)?
                }
                false => low,
            };
            if high < low {
                return error(CLASS_RANGE, self.since(item));
            }
            let _ = write!(self.out, "\\x{{{:x}}}-\\x{{{:x}}}", low as u32, high as u32);
        }
    }

    fn class_char(&mut self, class: usize) -> Result<char, SyntaxError> {
        if self.peek() == Some('\\') {
            return self.escaped_char();
        }
        match self.next() {
            Some(c) => Ok(c),
            None => error("missing closing ]", self.whole.get(class..).unwrap_or_default()),
        }
    }
}

fn is_posix_class(name: &str) -> bool {
    let name = name.trim_start_matches("[:").trim_end_matches(":]");
    let name = name.strip_prefix('^').unwrap_or(name);
    [
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
        "space", "upper", "word", "xdigit",
    ]
    .contains(&name)
}

fn push_literal(out: &mut String, c: char) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}
