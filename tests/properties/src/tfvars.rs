use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use language::files::Memory;
use language::module::{LoadOptions, load};
use language::source::Sources;
use language::variables::{
    VariableArgument, VariableInputs, final_value, given_values, text_of_values, values_from_text,
};
use values::{Value, json};

use crate::diagnostics::can_be_shown;

/// Variables of each kind of type.
const MODULE: &str = r#"
variable "s" {
  type = string
}
variable "n" {
  type      = number
  sensitive = true
}
variable "b" {
  type     = bool
  nullable = false
  default  = true
}
variable "l" {
  type = list(number)
}
variable "e" {
  type = set(string)
}
variable "m" {
  type = map(list(string))
}
variable "o" {
  type = object({ a = string, b = optional(number, 1), c = optional(map(any), {}) })
}
variable "t" {
  type = tuple([string, bool])
}
variable "a" {
  type = any
}
variable "d" {}
"#;

/// Values for variables: files in both syntaxes, the environment and the command line. What was read from a text can be
/// written as one, and is then read as the same.
///
/// # Panics
/// Where that does not hold.
pub fn tfvars(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    reads_back(&text);
    for name in ["terraform.tfvars", "terraform.tfvars.json"] {
        let files = Memory::from_iter([("main.tf", MODULE.as_bytes()), (name, input)]);
        are_taken_or_refused(&files, &VariableInputs::default());
    }
    let names = ["s", "n", "b", "l", "e", "m", "o", "t", "a", "d"];
    let inputs = VariableInputs {
        environment: names.map(|name| (format!("TF_VAR_{name}"), text.to_string())).into(),
        arguments: vec![VariableArgument::Assignment(text.to_string())],
    };
    are_taken_or_refused(&Memory::from_iter([("main.tf", MODULE)]), &inputs);
}

/// But for the exact types: a list is written as a tuple.
fn reads_back(text: &str) {
    let Ok(values) = values_from_text("terraform.tfvars", text) else { return };
    // An infinite number has no text.
    let Some(expected) = as_json(&values) else { return };
    let written = match text_of_values(&values) {
        Ok(written) => written,
        Err(error) => panic!("{values:?} cannot be written: {error}"),
    };
    match values_from_text("terraform.tfvars", &written) {
        Ok(again) => assert_eq!(as_json(&again), Some(expected), "{written}"),
        Err(error) => panic!("{written}: {error}"),
    }
}

fn as_json(values: &BTreeMap<Arc<str>, Value>) -> Option<Vec<(Arc<str>, String)>> {
    let texts = values.iter().map(|(name, value)| Some((name.clone(), json::encode(value).ok()?)));
    texts.collect()
}

fn are_taken_or_refused(files: &Memory, inputs: &VariableInputs) {
    let sources = Arc::new(Sources::new());
    let (configuration, errors) =
        load(files, Path::new("."), sources.clone(), LoadOptions::default());
    assert!(errors.is_empty(), "{errors:?}");
    let module = &configuration.root.module;
    let (given, mut diagnostics) = given_values(files, Path::new(""), inputs, &sources);
    let (resolved, more) = given.resolve(module, &sources);
    diagnostics.extend(more);
    diagnostics.extend(resolved.refuse_missing(module));
    for variable in module.variables.values() {
        match final_value(variable, resolved.values.get(&variable.name), &sources) {
            Ok(value) => {
                let of_its_type = variable.constraint.apply(&value);
                assert!(of_its_type.is_ok(), "var.{}: {value:?}", variable.name);
            }
            Err(refused) => diagnostics.push(*refused),
        }
    }
    can_be_shown(&diagnostics, &sources);
}
