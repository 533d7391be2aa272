//! One row of a difference, as it is kept and written to pages and comments.

use engine::changes::Action;
use serde::{Deserialize, Serialize};

/// What happens to what a row shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Nothing.
    #[default]
    Same,
    /// It comes.
    Add,
    /// It goes.
    Remove,
    /// It becomes something else, or something in it does.
    Change,
}

impl Mark {
    pub(super) fn of(action: Action) -> Mark {
        match action {
            Action::NoOp | Action::Read | Action::Forget => Mark::Same,
            Action::Create => Mark::Add,
            Action::Delete => Mark::Remove,
            Action::Update | Action::DeleteThenCreate | Action::CreateThenDelete => Mark::Change,
        }
    }
}

/// What rows that are left out would have shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Attributes.
    Attribute,
    /// Blocks.
    Block,
    /// Elements of a collection.
    Element,
    /// Lines of a text.
    Line,
}

impl Part {
    /// As it is counted: `3 unchanged attributes`.
    pub fn unchanged(self, count: usize) -> String {
        let word = match self {
            Part::Attribute => "attribute",
            Part::Block => "block",
            Part::Element => "element",
            Part::Line => "line",
        };
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} unchanged {word}{plural}")
    }
}

/// What stands in a row. Texts are as they are shown: strings in quotes, and what must not be shown or is not known yet in
/// parentheses, which no value begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowValue {
    /// A value.
    Text(String),
    /// A value that becomes another.
    Change(String, String),
    /// What follows, deeper by one, is in it.
    Open(String),
    /// It ends.
    Close(String),
    /// A line of a text of several lines.
    Line(String),
    /// What does not change is left out.
    Hidden(usize, Part),
    /// A remark.
    Note(String),
}

/// One row of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffRow {
    /// How deep it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub depth: usize,
    /// What happens.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mark: Mark,
    /// The name of the attribute, key or block, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether that is the name of a block.
    #[serde(default, skip_serializing_if = "is_default")]
    pub block: bool,
    /// What stands there.
    pub value: RowValue,
    /// Whether the object has to be replaced for it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub forces_replacement: bool,
}

impl DiffRow {
    /// A remark.
    pub fn note(text: &str) -> DiffRow {
        DiffRow {
            depth: 0,
            mark: Mark::Same,
            name: String::new(),
            block: false,
            value: RowValue::Note(text.to_owned()),
            forces_replacement: false,
        }
    }

    /// About how many bytes it takes where it is written.
    pub fn size(&self) -> usize {
        let value = match &self.value {
            RowValue::Change(before, after) => before.len() + after.len(),
            RowValue::Text(text) | RowValue::Open(text) | RowValue::Close(text) => text.len(),
            RowValue::Line(text) | RowValue::Note(text) => text.len(),
            RowValue::Hidden(..) => 0,
        };
        self.name.len() + value + 60
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
