//! JSON as a tree that is cheap to clone, and its text as Terraform writes it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// A JSON value. Numbers keep their digits; objects are in the order of their keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Number(Arc<str>),
    /// A string.
    String(Arc<str>),
    /// An array.
    Array(Arc<Vec<Json>>),
    /// An object.
    Object(Arc<BTreeMap<Arc<str>, Json>>),
}

impl Json {
    /// A string.
    pub fn string(text: impl AsRef<str>) -> Json {
        Json::String(Arc::from(text.as_ref()))
    }
    /// A number.
    pub fn number(number: impl std::fmt::Display) -> Json {
        Json::Number(number.to_string().into())
    }
    /// An array.
    pub fn array(items: Vec<Json>) -> Json {
        Json::Array(Arc::new(items))
    }
    /// An object.
    pub fn object<K: Into<Arc<str>>>(items: impl IntoIterator<Item = (K, Json)>) -> Json {
        Json::Object(Arc::new(items.into_iter().map(|(k, v)| (k.into(), v)).collect()))
    }
    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }
    /// Whether it is `true`.
    pub fn is_true(&self) -> bool {
        matches!(self, Json::Bool(true))
    }
    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(s) => Some(s),
            _ => None,
        }
    }
    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&BTreeMap<Arc<str>, Json>> {
        match self {
            Json::Object(o) => Some(o),
            _ => None,
        }
    }
    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Reads a text; `None` where it does not begin with a JSON value. What follows the value is
    /// ignored, as Terraform ignores it where it looks for JSON in strings.
    pub fn parse_prefix(text: &str) -> Option<Json> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        values.next()?.ok().map(Json::from)
    }

    /// Writes it compactly.
    pub fn write(&self, escape: Escape, out: &mut String) {
        deep(|| match self {
            Json::Null => out.push_str("null"),
            Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Json::Number(n) => out.push_str(n),
            Json::String(s) => write_string(s, escape, out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(escape, out);
                }
                out.push(']');
            }
            Json::Object(items) => {
                out.push('{');
                for (i, (key, item)) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(key, escape, out);
                    out.push(':');
                    item.write(escape, out);
                }
                out.push('}');
            }
        });
    }

    /// Its compact text.
    pub fn to_text(&self, escape: Escape) -> String {
        let mut out = String::new();
        self.write(escape, &mut out);
        out
    }

    /// Its text over several lines, indented by two spaces; `indent` spaces stand before each line
    /// but the first.
    pub fn write_indented(&self, escape: Escape, indent: usize, out: &mut String) {
        let line = |out: &mut String, indent: usize| {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
        };
        deep(|| match self {
            Json::Array(items) if !items.is_empty() => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    line(out, indent + 2);
                    item.write_indented(escape, indent + 2, out);
                }
                line(out, indent);
                out.push(']');
            }
            Json::Object(items) if !items.is_empty() => {
                out.push('{');
                for (i, (key, item)) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    line(out, indent + 2);
                    write_string(key, escape, out);
                    out.push_str(": ");
                    item.write_indented(escape, indent + 2, out);
                }
                line(out, indent);
                out.push('}');
            }
            other => other.write(escape, out),
        });
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Json {
        match value {
            serde_json::Value::Null => Json::Null,
            serde_json::Value::Bool(b) => Json::Bool(b),
            serde_json::Value::Number(n) => Json::number(n),
            serde_json::Value::String(s) => Json::string(s),
            serde_json::Value::Array(items) => {
                Json::array(items.into_iter().map(Json::from).collect())
            }
            serde_json::Value::Object(items) => {
                Json::object(items.into_iter().map(|(k, v)| (k, Json::from(v))))
            }
        }
    }
}

/// Which characters are written as escapes beside those that JSON demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// `<`, `>`, `&` and the line separators, so that the text can stand in HTML: plans, states,
    /// outputs.
    Html,
    /// Only the line separators: the event stream.
    Minimal,
}

/// Writes a string in quotes.
pub(crate) fn write_string(text: &str, escape: Escape, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' if escape == Escape::Html => push_escape(c, out),
            '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => push_escape(c, out),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push_escape(c: char, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

/// An object that is written field by field in the order given, as records with a fixed order are.
pub(crate) struct Fields<'a> {
    out: &'a mut String,
    escape: Escape,
    first: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn begin(out: &'a mut String, escape: Escape) -> Fields<'a> {
        out.push('{');
        Fields { out, escape, first: true }
    }
    /// Writes the key and hands out the buffer for the value.
    pub(crate) fn key(&mut self, key: &str) -> &mut String {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        write_string(key, self.escape, self.out);
        self.out.push(':');
        self.out
    }
    pub(crate) fn json(&mut self, key: &str, value: &Json) {
        let escape = self.escape;
        value.write(escape, self.key(key));
    }
    pub(crate) fn string(&mut self, key: &str, value: &str) {
        let escape = self.escape;
        write_string(value, escape, self.key(key));
    }
    pub(crate) fn bool(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }
    pub(crate) fn raw(&mut self, key: &str, value: impl std::fmt::Display) {
        let out = self.key(key);
        let _ = write!(out, "{value}");
    }
    pub(crate) fn end(self) {
        self.out.push('}');
    }
}

/// Writes an array, item by item.
pub(crate) fn write_array<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    out.push('[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

/// Runs one level of a recursion over values that may be nested very deeply.
pub(crate) fn deep<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, run)
}
