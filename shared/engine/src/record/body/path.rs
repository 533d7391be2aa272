use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;
use values::json::{JsonError, from_json, to_json};
use values::{Path, PathStep, Type};

/// A path, step by step: `[{"attribute":"tags"},{"key":"team"}]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathBody(pub Vec<StepBody>);

/// One step of a path.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepBody {
    /// An attribute of an object.
    Attribute(Arc<str>),
    /// An element of a list or tuple.
    Index(usize),
    /// An element of a map.
    Key(Arc<str>),
    /// The element of a set that equals this value, written with its type.
    Element(Box<RawValue>),
}

impl PathBody {
    /// The stored form of a path.
    ///
    /// # Errors
    /// Where the path leads through an element of a set that is not known.
    pub fn from_path(path: &Path) -> Result<PathBody, JsonError> {
        let step = |step: &PathStep| {
            Ok(match step {
                PathStep::Attribute(name) => StepBody::Attribute(name.clone()),
                PathStep::Index(index) => StepBody::Index(*index),
                PathStep::Key(key) => StepBody::Key(key.clone()),
                PathStep::Element(value) => {
                    let text = to_json(value, &Type::Dynamic)?;
                    StepBody::Element(
                        RawValue::from_string(text).map_err(|e| JsonError(e.to_string()))?,
                    )
                }
            })
        };
        path.0.iter().map(step).collect::<Result<_, _>>().map(PathBody)
    }
    /// The path.
    ///
    /// # Errors
    /// Where the element of a set cannot be read.
    pub fn to_path(&self) -> Result<Path, JsonError> {
        let step = |step: &StepBody| {
            Ok(match step {
                StepBody::Attribute(name) => PathStep::Attribute(name.clone()),
                StepBody::Index(index) => PathStep::Index(*index),
                StepBody::Key(key) => PathStep::Key(key.clone()),
                StepBody::Element(raw) => {
                    PathStep::Element(from_json(raw.get().as_bytes(), &Type::Dynamic)?)
                }
            })
        };
        self.0.iter().map(step).collect::<Result<_, _>>().map(Path)
    }
}
