//! One message: fields in the order of their names, on one line.

use crate::json::{Escape, Fields, Json};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// What programs filter messages by.
const MODULE: &str = "terraform.ui";

#[derive(Clone, Copy)]
pub(super) enum Level {
    Info,
    Warn,
    Error,
}

pub(super) struct Message {
    level: Level,
    text: String,
    fields: BTreeMap<&'static str, String>,
}

impl Message {
    pub(super) fn new(text: impl Into<String>, kind: &str) -> Message {
        let message = Message { level: Level::Info, text: text.into(), fields: BTreeMap::new() };
        message.with("type", Json::string(kind))
    }
    pub(super) fn level(self, level: Level) -> Message {
        Message { level, ..self }
    }
    pub(super) fn with(self, key: &'static str, value: Json) -> Message {
        self.with_text(key, value.to_text(Escape::Minimal))
    }
    /// Adds a field whose JSON is written already.
    pub(super) fn with_text(mut self, key: &'static str, json: String) -> Message {
        self.fields.insert(key, json);
        self
    }
    pub(super) fn line(&self, now: Timestamp) -> String {
        let mut out = String::new();
        let mut fields = Fields::begin(&mut out, Escape::Minimal);
        let level = match self.level {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        fields.string("@level", level);
        fields.string("@message", &self.text);
        fields.string("@module", MODULE);
        fields.string("@timestamp", &now.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string());
        for (key, json) in &self.fields {
            fields.raw(key, json);
        }
        fields.end();
        out.push('\n');
        out
    }
}
