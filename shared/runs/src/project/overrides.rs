//! Environment variables in place of what `plumb.toml` says.

use super::{Project, ProjectError};
use serde::Deserialize;

/// What the names of overriding variables start with. Two underscores stand between the parts of a key:
/// `PLUMB__STORE__S3__BUCKET` is `store.s3.bucket`.
pub const OVERRIDE_PREFIX: &str = "PLUMB__";

/// The keys whose values are numbers.
const NUMBERS: [&[&str]; 3] = [
    &["transactions", "attempts_without_progress"],
    &["store", "s3", "parallelism"],
    &["artifacts", "s3", "parallelism"],
];

/// The project as the variables change it; `None` where none does.
pub(super) fn apply_overrides<'v>(
    text: &str,
    variables: impl IntoIterator<Item = (&'v str, &'v str)>,
) -> Result<Option<Project>, ProjectError> {
    let mut given: Vec<(&str, &str)> =
        variables.into_iter().filter(|(name, _)| name.starts_with(OVERRIDE_PREFIX)).collect();
    if given.is_empty() {
        return Ok(None);
    }
    given.sort_unstable();
    let mut table = toml::from_str::<toml::Table>(text).map_err(ProjectError::Invalid)?;
    let mut project = None;
    for (variable, value) in given {
        let path: Vec<String> =
            variable[OVERRIDE_PREFIX.len()..].split("__").map(str::to_ascii_lowercase).collect();
        let refused = |problem: String| ProjectError::Override {
            variable: variable.to_owned(),
            path: path.join("."),
            problem,
        };
        // A table of one kind of store makes way for that of another.
        if let [store @ ("store" | "artifacts"), kind, ..] =
            path.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && let Some(toml::Value::Table(kinds)) = table.get_mut(store)
        {
            kinds.retain(|other, _| other == kind);
        }
        set(&mut table, &path, parse_value(&path, value)).map_err(&refused)?;
        project = Some(table.clone());
    }
    // Keys that do not exist are refused by the same rules as those of the file; who set one is not known
    // there, so that all are named.
    let Some(table) = project else { return Ok(None) };
    Project::deserialize(table).map(Some).map_err(|error| ProjectError::Override {
        variable: format!("{OVERRIDE_PREFIX}*"),
        path: "a key".into(),
        problem: format!("is refused: {}", error.message()),
    })
}

/// TOML where it is TOML (`true`, `["a"]`), else text.
fn parse_value(path: &[String], text: &str) -> toml::Value {
    let whole = format!("value = {text}");
    let parsed = toml::from_str::<toml::Table>(&whole).ok();
    // Numbers stay text where none is wanted: an account's number may begin with a zero.
    let is_number =
        |value: &toml::Value| matches!(value, toml::Value::Integer(_) | toml::Value::Float(_));
    parsed
        .and_then(|mut table| table.remove("value"))
        .filter(|value| NUMBERS.iter().any(|number| path == *number) || !is_number(value))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

fn set(table: &mut toml::Table, path: &[String], value: toml::Value) -> Result<(), String> {
    let Some((last, parents)) = path.split_last() else { return Err("names no key".into()) };
    if path.iter().any(String::is_empty) {
        return Err("has an empty part".into());
    }
    let mut at = table;
    for parent in parents {
        let inner = at.entry(parent).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let toml::Value::Table(inner) = inner else {
            return Err(format!("is below {parent}, which is no table"));
        };
        at = inner;
    }
    at.insert(last.clone(), value);
    Ok(())
}
