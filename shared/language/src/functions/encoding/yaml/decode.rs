//! Reading: plain scalars are typed by their form, as of YAML 1.1 for booleans; anchors and merge
//! keys work.

use super::super::super::arguments::MOST_ELEMENTS;
use super::super::super::call::CallError;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use values::quote::quoted;
use values::{Number, Type, Value};

/// How deep documents may nest.
const DEEPEST: usize = 10_000;

/// How many bytes are read anew because of tabs that the parser does not take.
const MOST_REREAD: usize = 1 << 28;

/// Reads the only document of a text.
pub(in super::super) fn decode(text: &str) -> Result<Value, CallError> {
    let mut text = Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text));
    if names_other_version(&text) {
        return Err(CallError::other("found incompatible YAML document"));
    }
    let mut reread = 0;
    loop {
        let (error, stopped) = match read(&text) {
            Ok(value) => return Ok(value),
            Err(refused) => refused,
        };
        let Some(tab) = stopped.and_then(|at| tab_after_colon(&text, at)) else {
            return Err(error);
        };
        reread += text.len();
        if reread > MOST_REREAD {
            return Err(error);
        }
        let mut spaced = text.into_owned();
        spaced.replace_range(tab..=tab, " ");
        text = Cow::Owned(spaced);
    }
}

/// Reads it once; else why not, and where the parser stopped.
fn read(text: &str) -> Result<Value, (CallError, Option<usize>)> {
    let mut reader = Reader {
        events: Parser::new_from_str(text),
        lines: text.split('\n').collect(),
        anchors: HashMap::new(),
        budget: MOST_ELEMENTS,
        flow: 0,
        stopped: None,
    };
    reader.document().map_err(|error| (error, reader.stopped))
}

/// Where between a colon and the place where the parser stopped, given in characters, a tab stands and nothing else:
/// YAML 1.1 takes it for a space there.
fn tab_after_colon(text: &str, stopped: usize) -> Option<usize> {
    let end = text.char_indices().nth(stopped).map_or(text.len(), |(at, _)| at);
    let before = text.get(..end)?;
    let key = before.trim_end_matches('\t');
    (key.len() < before.len() && key.ends_with(':')).then_some(key.len())
}

/// Whether a directive in front of the document asks for another version than 1.1.
fn names_other_version(text: &str) -> bool {
    let before = |line: &&str| line.starts_with(['%', '#']) || line.trim().is_empty();
    let mut directives = text.lines().take_while(before);
    directives.any(|line| match line.strip_prefix("%YAML") {
        Some(version) => version.split_whitespace().next() != Some("1.1"),
        None => false,
    })
}

struct Reader<'t> {
    events: Parser<'t, saphyr_parser::StrInput<'t>>,
    lines: Vec<&'t str>,
    /// What anchors stand for; nothing while their definition is being read.
    anchors: HashMap<usize, Option<Value>>,
    /// How many aliased elements may still be copied in: aliases multiply.
    budget: usize,
    /// How many brackets and braces are open.
    flow: usize,
    /// Where the parser stopped, in characters.
    stopped: Option<usize>,
}

fn scan_error(error: &ScanError) -> CallError {
    let marker = error.marker();
    CallError::other(format!(
        "on line {}, column {}: {}",
        marker.line(),
        marker.col() + 1,
        error.info()
    ))
}

/// Where the names of YAML's own tags begin.
const CORE: &str = "tag:yaml.org,2002:";

/// The name of one of YAML's own tags, which may be written out.
fn core_name(tag: &Tag) -> Option<&str> {
    match tag.is_yaml_core_schema() {
        true => Some(&tag.suffix),
        false => tag.suffix.strip_prefix(CORE).filter(|_| matches!(&*tag.handle, "" | "!")),
    }
}

fn cannot_interpret(what: &str, tag: &Tag) -> CallError {
    match core_name(tag) {
        Some(name) => CallError::other(format!("can't interpret {what} as {CORE}{name}")),
        None => {
            let tag = quoted(&format!("{}{}", tag.handle, tag.suffix));
            CallError::other(format!("unsupported tag {tag}"))
        }
    }
}

impl<'t> Reader<'t> {
    fn document(&mut self) -> Result<Value, CallError> {
        let start = |message: &str| CallError::other(format!("on line 1, column 1: {message}"));
        loop {
            match self.event()?.0 {
                Event::DocumentStart(_) => break,
                Event::StreamEnd => return Err(start("missing start of document")),
                _ => {}
            }
        }
        let first = self.event()?;
        let value = self.node(first, 0)?;
        loop {
            match self.event()?.0 {
                Event::DocumentEnd => {}
                Event::StreamEnd => return Ok(value),
                _ => return Err(start("unexpected extra content after value")),
            }
        }
    }

    fn event(&mut self) -> Result<(Event<'t>, Span), CallError> {
        match self.events.next() {
            Some(Ok((event, span))) => {
                let node = match &event {
                    Event::Scalar(text, ..) => !text.is_empty(),
                    event => matches!(
                        event,
                        Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..)
                    ),
                };
                if node && self.flow == 0 {
                    self.check_indentation(&span)?;
                }
                Ok((event, span))
            }
            Some(Err(error)) => {
                self.stopped = Some(error.marker().index());
                Err(scan_error(&error))
            }
            None => Err(CallError::other("found unexpected end of stream")),
        }
    }

    /// Refuses tabs where a block's indentation is looked at, as YAML 1.1 does.
    fn check_indentation(&self, span: &Span) -> Result<(), CallError> {
        let number = span.start.line();
        let line = self.lines.get(number.saturating_sub(1)).copied().unwrap_or_default();
        let before = line.chars().take(span.start.col());
        for c in before {
            match c {
                ' ' | '-' | '?' => {}
                '\t' => {
                    let place = match number {
                        0 | 1 => String::new(),
                        number => format!("on line {number}, column 1: "),
                    };
                    return Err(CallError::other(format!(
                        "{place}found character that cannot start any token"
                    )));
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Whether a node starts with a bracket or a brace.
    fn is_flow(&self, span: &Span) -> bool {
        let line = self.lines.get(span.start.line().saturating_sub(1)).copied().unwrap_or_default();
        matches!(line.chars().nth(span.start.col()), Some('[' | '{'))
    }

    fn node(&mut self, (event, span): (Event<'t>, Span), depth: usize) -> Result<Value, CallError> {
        if depth > DEEPEST {
            return Err(CallError::other("exceeded max depth"));
        }
        match event {
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().flatten().ok_or_else(|| {
                    CallError::other("cannot refer to an anchor from inside its own definition")
                })?;
                let size = value.as_slice().map_or(0, <[Value]>::len)
                    + value.as_map().map_or(0, BTreeMap::len);
                self.budget = self
                    .budget
                    .checked_sub(size)
                    .ok_or_else(|| CallError::other("aliases would repeat too many elements"))?;
                Ok(value)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref())?;
                Ok(self.keep(anchor, value))
            }
            Event::SequenceStart(anchor, tag) => {
                if let Some(tag) = tag.filter(|t| core_name(t) != Some("seq")) {
                    return Err(cannot_interpret("sequence", &tag));
                }
                self.open(anchor);
                let outside = self.flow;
                self.flow += usize::from(outside > 0 || self.is_flow(&span));
                let value = stacker::maybe_grow(64 << 10, 1 << 20, || self.sequence(depth))?;
                self.flow = outside;
                Ok(self.keep(anchor, value))
            }
            Event::MappingStart(anchor, tag) => {
                if let Some(tag) = tag.filter(|t| core_name(t) != Some("map")) {
                    return Err(cannot_interpret("mapping", &tag));
                }
                self.open(anchor);
                let outside = self.flow;
                self.flow += usize::from(outside > 0 || self.is_flow(&span));
                let value = stacker::maybe_grow(64 << 10, 1 << 20, || self.mapping(depth))?;
                self.flow = outside;
                Ok(self.keep(anchor, value))
            }
            _ => Err(CallError::other("did not find expected node content")),
        }
    }

    fn open(&mut self, anchor: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, None);
        }
    }
    fn keep(&mut self, anchor: usize, value: Value) -> Value {
        if anchor > 0 {
            self.anchors.insert(anchor, Some(value.clone()));
        }
        value
    }

    fn sequence(&mut self, depth: usize) -> Result<Value, CallError> {
        let mut items = Vec::new();
        loop {
            match self.event()? {
                (Event::SequenceEnd, _) => return Ok(Value::tuple(items)),
                event => items.push(self.node(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, CallError> {
        let mut items: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        loop {
            let event = self.event()?;
            if let Event::MappingEnd = event.0 {
                return Ok(Value::object(items));
            }
            let is_merge = matches!(
                &event.0,
                Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<"
            );
            let key = self.node(event, depth + 1)?;
            let event = self.event()?;
            let value = self.node(event, depth + 1)?;
            if is_merge {
                let merged = value.as_map().filter(|_| !value.is_null()).ok_or_else(|| {
                    let got = value.ty().friendly_name();
                    CallError::other(format!("cannot merge {got} into mapping"))
                })?;
                items.extend(merged.iter().map(|(k, v)| (k.clone(), v.clone())));
                continue;
            }
            items.insert(key_name(&key)?, value);
        }
    }
}

fn key_name(key: &Value) -> Result<Arc<str>, CallError> {
    if key.is_null() {
        return Err(CallError::other("mapping key cannot be null"));
    }
    let name = values::convert::convert(key, &Type::String).ok();
    match name.as_ref().and_then(Value::as_str) {
        Some(name) => Ok(name.into()),
        None => Err(CallError::other("only strings are allowed as mapping keys")),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, CallError> {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => plain(text),
            // A block that holds nothing is null.
            ScalarStyle::Literal | ScalarStyle::Folded if text.is_empty() => {
                Ok(Value::null(Type::String))
            }
            _ => Ok(Value::string(text)),
        };
    };
    let Some(name) = core_name(tag) else { return Err(cannot_interpret("scalar", tag)) };
    match (name, style) {
        ("str" | "binary", _) => Ok(Value::string(text)),
        ("int" | "float" | "bool" | "null" | "timestamp", ScalarStyle::Plain) => {
            let value = plain(text)?;
            let number = value.as_number().is_some() || value.is_null();
            match matches!(name, "int" | "float") && !number {
                true => {
                    Err(CallError::other(format!("cannot parse {} as {CORE}{name}", quoted(text))))
                }
                false => Ok(value),
            }
        }
        ("int" | "float" | "bool" | "null" | "timestamp", _) => Ok(Value::string(text)),
        (name, _) => {
            Err(CallError::other(format!("unsupported tag {}", quoted(&format!("{CORE}{name}")))))
        }
    }
}

/// The value of a scalar without quotes and tag.
fn plain(text: &str) -> Result<Value, CallError> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::dynamic_null()),
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            return Ok(Value::bool(true));
        }
        "false" | "False" | "FALSE" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            return Ok(Value::bool(false));
        }
        ".nan" | ".NaN" | ".NAN" => {
            return Err(CallError::other("floating point NaN is not supported"));
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Ok(infinity(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return Ok(infinity(f64::NEG_INFINITY)),
        _ => {}
    }
    if let Some(number) = number(text) {
        return Ok(Value::number(number));
    }
    Ok(Value::string(timestamp(text).as_deref().unwrap_or(text)))
}

fn infinity(f: f64) -> Value {
    Number::from_f64(f).map_or_else(Value::dynamic_null, Value::number)
}

fn number(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let radix = match unsigned.get(..2) {
        Some("0x") => Some(16),
        Some("0o") => Some(8),
        _ => None,
    };
    if let Some(radix) = radix {
        let digits = unsigned.get(2..)?;
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        let magnitude = dashu_int::IBig::from_str_radix(digits, radix).ok().filter(|_| plain)?;
        let negative = text.starts_with('-');
        return Some(Number::from_integer(if negative { -magnitude } else { magnitude }));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_right = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['-', '+']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    if !digits(whole) || !digits(fraction) || !exponent_right || (whole.len() + fraction.len()) == 0
    {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    let exponent = exponent.unwrap_or("0");
    Number::parse(&format!("{sign}{whole}.{fraction}e{exponent}"))
}

/// A date or a time in YAML's forms, as of RFC 3339 without fractions of seconds.
fn timestamp(text: &str) -> Option<String> {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, Some(text.get(at..)?)),
        None => (text, None),
    };
    let [year, month, day] = numbers(date, '-')?;
    if year.len() != 4 {
        return None;
    }
    let (clock, zone) = match time {
        None => ("0:0:0", "Z"),
        Some(time) => match (time.strip_prefix(' '), time.get(1..)?) {
            (Some(clock), _) => (clock, "Z"),
            (None, rest) => rest.split_at_checked(rest.find(['Z', '+', '-'])?)?,
        },
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':')?;
    if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    super::super::super::dates::normal(&format!(
        "{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute:0>2}:{second:0>2}{zone}"
    ))
}

/// Three numbers with a separator between them; all but the first have at most two digits.
fn numbers(text: &str, separator: char) -> Option<[&str; 3]> {
    let mut parts = text.split(separator);
    let found = [parts.next()?, parts.next()?, parts.next()?];
    let digits = |s: &&str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let [_, second, third] = found;
    let valid = found.iter().all(digits) && second.len() <= 2 && third.len() <= 2;
    (valid && parts.next().is_none()).then_some(found)
}
