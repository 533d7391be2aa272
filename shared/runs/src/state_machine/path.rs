//! Paths into what a state is given, and templates that are filled by them.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A path such as `$.run.estate`, or `$$.Task.Token` into the context.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Path {
    pub(super) text: String,
    context: bool,
    fields: Vec<String>,
}

impl TryFrom<String> for Path {
    type Error = String;

    fn try_from(text: String) -> Result<Path, String> {
        let unknown = || format!("{text:?} is no path of the kind $.field.field");
        let context = text.starts_with("$$");
        let rest = text.strip_prefix(if context { "$$" } else { "$" }).ok_or_else(unknown)?;
        let fields = match rest.strip_prefix('.') {
            None if rest.is_empty() => Vec::new(),
            None => return Err(unknown()),
            Some(fields) => fields.split('.').map(str::to_owned).collect(),
        };
        let plain = |field: &String| {
            !field.is_empty() && field.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        match fields.iter().all(plain) {
            true => Ok(Path { context, fields, text }),
            false => Err(unknown()),
        }
    }
}

impl Path {
    /// What it leads to.
    pub(super) fn find<'v>(&self, data: &'v Value, context: &'v Value) -> Option<&'v Value> {
        let from = if self.context { context } else { data };
        self.fields.iter().try_fold(from, |at, field| at.get(field))
    }

    /// `data` with `result` where it leads to.
    pub(super) fn place(&self, data: &Value, result: Value) -> Value {
        let Some((last, above)) = self.fields.split_last() else { return result };
        let mut placed = data.clone();
        let mut at = &mut placed;
        for field in above {
            at = entry(at, field);
        }
        *entry(at, last) = result;
        placed
    }
}

/// A field of an object, which takes the place of what is none.
fn entry<'v>(at: &'v mut Value, field: &str) -> &'v mut Value {
    if !at.is_object() {
        *at = Value::Object(Map::new());
    }
    // An index of an object makes what is missing.
    &mut at[field]
}

/// A template: values as they are, and fields whose names end in `.$` by their paths.
#[derive(Clone, Debug)]
pub(super) enum Template {
    Constant(Value),
    At(Path),
    Object(Vec<(String, Template)>),
    List(Vec<Template>),
}

impl Template {
    pub(super) fn read(value: Value) -> Result<Template, String> {
        Ok(match value {
            Value::Object(fields) => {
                let fields =
                    fields.into_iter().map(|(name, value)| match name.strip_suffix(".$") {
                        None => Ok((name, Template::read(value)?)),
                        Some(name) => {
                            let path = value.as_str().unwrap_or_default().to_owned();
                            Ok((name.to_owned(), Template::At(Path::try_from(path)?)))
                        }
                    });
                Template::Object(fields.collect::<Result<_, String>>()?)
            }
            Value::Array(items) => {
                Template::List(items.into_iter().map(Template::read).collect::<Result<_, _>>()?)
            }
            constant => Template::Constant(constant),
        })
    }

    /// The value; the path that leads nowhere, where one does.
    pub(super) fn fill(&self, data: &Value, context: &Value) -> Result<Value, String> {
        Ok(match self {
            Template::Constant(value) => value.clone(),
            Template::At(path) => {
                path.find(data, context).cloned().ok_or_else(|| path.text.clone())?
            }
            Template::Object(fields) => {
                let fields = fields.iter().map(|(name, template)| {
                    template.fill(data, context).map(|value| (name.clone(), value))
                });
                Value::Object(fields.collect::<Result<_, String>>()?)
            }
            Template::List(items) => {
                let items = items.iter().map(|item| item.fill(data, context));
                Value::Array(items.collect::<Result<_, String>>()?)
            }
        })
    }
}
