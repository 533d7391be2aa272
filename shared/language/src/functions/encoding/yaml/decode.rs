//! Reading: plain scalars are typed by their form, as of YAML 1.1 for booleans; anchors and merge
//! keys work.

use super::super::super::arguments::MOST_ELEMENTS;
use super::super::super::call::CallError;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use values::quote::quoted;
use values::{Number, Value};

/// How deep documents may nest.
const DEEPEST: usize = 10_000;

/// Reads the only document of a text.
pub(in super::super) fn decode(text: &str) -> Result<Value, CallError> {
    let mut reader = Reader {
        events: Parser::new_from_str(text),
        anchors: HashMap::new(),
        budget: MOST_ELEMENTS,
    };
    if names_other_version(text) {
        return Err(CallError::other("found incompatible YAML document"));
    }
    let start = |message: &str| CallError::other(format!("on line 1, column 1: {message}"));
    loop {
        match reader.event()?.0 {
            Event::DocumentStart(_) => break,
            Event::StreamEnd => return Err(start("missing start of document")),
            _ => {}
        }
    }
    let first = reader.event()?;
    let value = reader.node(first, 0)?;
    loop {
        match reader.event()?.0 {
            Event::DocumentEnd => {}
            Event::StreamEnd => return Ok(value),
            _ => return Err(start("unexpected extra content after value")),
        }
    }
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
    /// What anchors stand for; nothing while their definition is being read.
    anchors: HashMap<usize, Option<Value>>,
    /// How many aliased elements may still be copied in: aliases multiply.
    budget: usize,
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

fn cannot_interpret(what: &str, tag: &Tag) -> CallError {
    match tag.is_yaml_core_schema() {
        true => {
            CallError::other(format!("can't interpret {what} as tag:yaml.org,2002:{}", tag.suffix))
        }
        false => {
            let tag = quoted(&format!("{}{}", tag.handle, tag.suffix));
            CallError::other(format!("unsupported tag {tag}"))
        }
    }
}

impl<'t> Reader<'t> {
    fn event(&mut self) -> Result<(Event<'t>, Span), CallError> {
        match self.events.next() {
            Some(event) => event.map_err(|e| scan_error(&e)),
            None => Err(CallError::other("found unexpected end of stream")),
        }
    }

    fn node(&mut self, (event, _): (Event<'t>, Span), depth: usize) -> Result<Value, CallError> {
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
                if let Some(tag) = tag.filter(|t| !(t.is_yaml_core_schema() && t.suffix == "seq")) {
                    return Err(cannot_interpret("sequence", &tag));
                }
                self.open(anchor);
                let value = stacker::maybe_grow(64 << 10, 1 << 20, || self.sequence(depth))?;
                Ok(self.keep(anchor, value))
            }
            Event::MappingStart(anchor, tag) => {
                if let Some(tag) = tag.filter(|t| !(t.is_yaml_core_schema() && t.suffix == "map")) {
                    return Err(cannot_interpret("mapping", &tag));
                }
                self.open(anchor);
                let value = stacker::maybe_grow(64 << 10, 1 << 20, || self.mapping(depth))?;
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
    let name = values::convert::convert(key, &values::Type::String).ok();
    match name.as_ref().and_then(Value::as_str) {
        Some(name) => Ok(name.into()),
        None => Err(CallError::other("only strings are allowed as mapping keys")),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, CallError> {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => plain(text),
            _ => Ok(Value::string(text)),
        };
    };
    if !tag.is_yaml_core_schema() {
        return Err(cannot_interpret("scalar", tag));
    }
    match (tag.suffix.as_str(), style) {
        ("str" | "binary", _) => Ok(Value::string(text)),
        ("int" | "float" | "bool" | "null" | "timestamp", ScalarStyle::Plain) => plain(text),
        ("int" | "float" | "bool" | "null" | "timestamp", _) => Ok(Value::string(text)),
        _ => Err(cannot_interpret("scalar", tag)),
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

/// A date or a time in YAML's forms, as of RFC 3339.
fn timestamp(text: &str) -> Option<String> {
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let date = text.get(..10)?;
    let separators = date.get(4..5) == Some("-") && date.get(7..8) == Some("-");
    if !separators || !digits(date.get(..4)?) || !digits(date.get(5..7)?) || !digits(date.get(8..)?)
    {
        return None;
    }
    let rest = text.get(10..)?;
    let written = match rest.strip_prefix(['T', 't', ' ']) {
        None if rest.is_empty() => format!("{date}T00:00:00Z"),
        None => return None,
        Some(time) => {
            let zone = time.find(['Z', '+', '-']).map_or("Z", |at| time.get(at..).unwrap_or("Z"));
            let clock =
                time.find(['Z', '+', '-']).map_or(time, |at| time.get(..at).unwrap_or(time));
            format!("{date}T{}{zone}", clock.trim_end())
        }
    };
    super::super::super::dates::normal(&written)
}
