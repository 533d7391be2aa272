//! The definition as it is read.

use super::path::{Path, Template};
use super::retrying::Retrier;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use std::collections::BTreeMap;

/// Invokes a function, and takes its answer.
const INVOKE: &str = "arn:aws:states:::lambda:invoke";
/// Invokes a function, and waits for somebody to answer its task token.
const INVOKE_AND_WAIT: &str = "arn:aws:states:::lambda:invoke.waitForTaskToken";
/// Tells of something.
const PUT_EVENTS: &str = "arn:aws:states:::events:putEvents";

/// A state machine that this program can work off.
#[derive(Clone, Debug)]
pub struct Definition {
    pub(super) start_at: String,
    pub(super) states: BTreeMap<String, State>,
}

/// A definition is not one that this program can work off.
#[derive(Debug, thiserror::Error)]
#[error("the definition {0}")]
pub struct DefinitionError(String);

#[derive(Clone, Debug)]
pub(super) enum State {
    Task(Box<Task>),
    Choice(Choice),
    Wait(Wait),
    Pass(Pass),
    Succeed,
    Fail(Fail),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Written {
    #[serde(rename = "Comment")]
    _comment: Option<String>,
    start_at: String,
    states: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Task {
    #[serde(rename = "Comment")]
    _comment: Option<String>,
    pub(super) resource: Resource,
    #[serde(deserialize_with = "template")]
    pub(super) parameters: Template,
    #[serde(default, deserialize_with = "some_template")]
    pub(super) result_selector: Option<Template>,
    #[serde(default)]
    pub(super) result_path: Placement,
    pub(super) output_path: Option<Path>,
    pub(super) timeout_seconds: u32,
    #[serde(default)]
    pub(super) retry: Vec<Retrier>,
    #[serde(default)]
    pub(super) catch: Vec<Catcher>,
    pub(super) next: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum Resource {
    Invoke,
    InvokeAndWait,
    PutEvents,
}

/// Where a result goes.
#[derive(Clone, Debug, Default)]
pub(super) enum Placement {
    /// In place of all that there was.
    #[default]
    Everything,
    /// Nowhere.
    Nowhere,
    At(Path),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Catcher {
    pub(super) error_equals: Vec<String>,
    #[serde(default)]
    pub(super) result_path: Placement,
    pub(super) next: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Choice {
    #[serde(rename = "Comment")]
    _comment: Option<String>,
    pub(super) choices: Vec<ChoiceRule>,
    pub(super) default: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct ChoiceRule {
    pub(super) variable: Path,
    pub(super) string_equals: String,
    pub(super) next: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Wait {
    #[serde(rename = "Comment")]
    _comment: Option<String>,
    pub(super) timestamp_path: Path,
    pub(super) next: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Pass {
    #[serde(rename = "Comment")]
    _comment: Option<String>,
    #[serde(deserialize_with = "template")]
    pub(super) parameters: Template,
    pub(super) next: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Succeed {
    #[serde(rename = "Comment")]
    _comment: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct Fail {
    #[serde(rename = "Comment")]
    _comment: Option<String>,
    pub(super) error: String,
    #[serde(rename = "Cause")]
    _cause: Option<String>,
}

impl TryFrom<String> for Resource {
    type Error = String;

    fn try_from(name: String) -> Result<Resource, String> {
        match name.as_str() {
            INVOKE => Ok(Resource::Invoke),
            INVOKE_AND_WAIT => Ok(Resource::InvokeAndWait),
            PUT_EVENTS => Ok(Resource::PutEvents),
            _ => Err(format!("the resource {name} is not known here")),
        }
    }
}

impl<'de> Deserialize<'de> for Placement {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Placement, D::Error> {
        // A path that is left out never gets here.
        let path = Option::<Path>::deserialize(deserializer)?;
        Ok(path.map_or(Placement::Nowhere, Placement::At))
    }
}

impl Placement {
    /// What a state hands on.
    pub(super) fn place(&self, data: &Value, result: Value) -> Value {
        match self {
            Placement::Everything => result,
            Placement::Nowhere => data.clone(),
            Placement::At(path) => path.place(data, result),
        }
    }
}

fn template<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Template, D::Error> {
    Template::read(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn some_template<'de, D>(deserializer: D) -> Result<Option<Template>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    template(deserializer).map(Some)
}

impl Definition {
    /// Reads a definition.
    ///
    /// # Errors
    /// Where it says something that this program does not know, or leads to a state that is not there.
    pub fn parse(text: &str) -> Result<Definition, DefinitionError> {
        let wrong = |error: serde_json::Error| DefinitionError(format!("is refused: {error}"));
        let written: Written = serde_json::from_str(text).map_err(wrong)?;
        let mut states = BTreeMap::new();
        for (name, value) in written.states {
            let state = state(value)
                .map_err(|problem| DefinitionError(format!("has a state {name}: {problem}")))?;
            states.insert(name, state);
        }
        let definition = Definition { start_at: written.start_at, states };
        for name in definition.named() {
            if !definition.states.contains_key(name) {
                return Err(DefinitionError(format!("leads to {name}, and has no such state")));
            }
        }
        Ok(definition)
    }

    /// The names of all states.
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.states.keys().map(String::as_str)
    }

    /// Every state that something leads to.
    fn named(&self) -> Vec<&String> {
        let mut named = vec![&self.start_at];
        for state in self.states.values() {
            match state {
                State::Task(task) => {
                    named.push(&task.next);
                    named.extend(task.catch.iter().map(|catcher| &catcher.next));
                }
                State::Choice(choice) => {
                    named.push(&choice.default);
                    named.extend(choice.choices.iter().map(|rule| &rule.next));
                }
                State::Wait(wait) => named.push(&wait.next),
                State::Pass(pass) => named.push(&pass.next),
                State::Succeed | State::Fail(_) => {}
            }
        }
        named
    }
}

fn state(mut value: Value) -> Result<State, String> {
    let kind = value.as_object_mut().and_then(|fields| fields.remove("Type"));
    Ok(match kind.as_ref().and_then(Value::as_str).unwrap_or_default() {
        "Task" => State::Task(Box::new(read(value)?)),
        "Choice" => State::Choice(read(value)?),
        "Wait" => State::Wait(read(value)?),
        "Pass" => State::Pass(read(value)?),
        "Succeed" => read::<Succeed>(value).map(|_| State::Succeed)?,
        "Fail" => State::Fail(read(value)?),
        other => return Err(format!("its type {other:?} is not known here")),
    })
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
