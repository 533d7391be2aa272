use super::damaged;
use crate::saved_plan::SavedPlanError;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::sync::Arc;
use values::msgpack::{from_msgpack, to_msgpack};
use values::{Marks, Path, PathStep, Type, Value};

/// A value with its type, unknowns and sensitive marks.
#[derive(Serialize, Deserialize)]
pub(super) struct ValueForm {
    value: ByteBuf,
    sensitive: Vec<PathForm>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct PathForm(Vec<StepForm>);

#[derive(Serialize, Deserialize)]
enum StepForm {
    Attribute(Arc<str>),
    Index(usize),
    Key(Arc<str>),
    Element(ByteBuf),
}

fn encode(value: &Value) -> Result<ByteBuf, SavedPlanError> {
    to_msgpack(value, &Type::Dynamic)
        .map(ByteBuf::from)
        .map_err(|e| SavedPlanError::Unwritable { problem: e.to_string() })
}

fn decode(bytes: &[u8]) -> Result<Value, SavedPlanError> {
    from_msgpack(bytes, &Type::Dynamic).map_err(|_| damaged("a value"))
}

impl ValueForm {
    pub(super) fn from_value(
        value: &Value,
        place: impl Fn() -> String,
    ) -> Result<ValueForm, SavedPlanError> {
        let marks = value.deep_marks();
        if marks.is_ephemeral() {
            return Err(SavedPlanError::Ephemeral { place: place() });
        }
        let marked = match marks.is_empty() {
            true => Vec::new(),
            false => value.marked_paths(),
        };
        Ok(ValueForm {
            value: encode(value)?,
            sensitive: marked
                .iter()
                .map(|(path, _)| PathForm::from_path(path))
                .collect::<Result<_, _>>()?,
        })
    }
    pub(super) fn into_value(self) -> Result<Value, SavedPlanError> {
        let value = decode(&self.value)?;
        if self.sensitive.is_empty() {
            return Ok(value);
        }
        let paths: Vec<Path> =
            self.sensitive.into_iter().map(PathForm::into_path).collect::<Result<_, _>>()?;
        Ok(value.mark_paths(paths.iter().map(|path| (path, Marks::SENSITIVE))))
    }
}

impl PathForm {
    pub(super) fn from_path(path: &Path) -> Result<PathForm, SavedPlanError> {
        let step = |step: &PathStep| {
            Ok(match step {
                PathStep::Attribute(name) => StepForm::Attribute(name.clone()),
                PathStep::Index(index) => StepForm::Index(*index),
                PathStep::Key(key) => StepForm::Key(key.clone()),
                PathStep::Element(value) => StepForm::Element(encode(value)?),
            })
        };
        path.0.iter().map(step).collect::<Result<_, _>>().map(PathForm)
    }
    pub(super) fn into_path(self) -> Result<Path, SavedPlanError> {
        let step = |step: StepForm| {
            Ok(match step {
                StepForm::Attribute(name) => PathStep::Attribute(name),
                StepForm::Index(index) => PathStep::Index(index),
                StepForm::Key(key) => PathStep::Key(key),
                StepForm::Element(bytes) => PathStep::Element(decode(&bytes)?),
            })
        };
        self.0.into_iter().map(step).collect::<Result<_, _>>().map(Path)
    }
}
