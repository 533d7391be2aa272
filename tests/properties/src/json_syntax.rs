use std::sync::Arc;

use language::files::Memory;
use language::source::Sources;
use language::syntax::parse_json_body;
use values::{Number, json};

use crate::diagnostics::have_places;
use crate::evaluation::{Surroundings, is_quick, reads_back};
use crate::module::is_read_or_refused;

/// The JSON syntax, and JSON as values and types. Errors are in the text; what another reader of JSON takes is taken;
/// what was read can be written, and is then read as the same.
///
/// # Panics
/// Where that does not hold.
pub fn json_syntax(input: &[u8]) {
    let sources = Arc::new(Sources::new());
    let file = sources.add("main.tf.json", input);
    let (body, diagnostics) = parse_json_body(&sources, file);
    have_places(&diagnostics, &sources);
    is_read_or_refused("main.tf.json", input);
    if is_quick(input) && !diagnostics.has_errors() {
        let surroundings = Surroundings::new(sources, Memory::new());
        surroundings.evaluate_body(&body);
        surroundings.evaluate_by_schema(&body);
    }
    values_read_back(input);
    types_read_back(input);
}

fn values_read_back(input: &[u8]) {
    match json::decode(input) {
        Ok(value) => {
            let Ok(text) = json::encode(&value) else { panic!("{value:?} cannot be written") };
            assert_eq!(json::decode(text.as_bytes()), Ok(value.clone()), "{text}");
            reads_back(&value);
        }
        Err(error) => {
            let other: serde_json::Result<serde_json::Value> = serde_json::from_slice(input);
            assert!(!other.is_ok_and(|tree| numbers_are_taken(&tree)), "{error}");
        }
    }
}

/// Whether all numbers are within what is taken; such a tree is not deep.
fn numbers_are_taken(tree: &serde_json::Value) -> bool {
    match tree {
        serde_json::Value::Number(number) => Number::parse(&number.to_string()).is_some(),
        serde_json::Value::Array(items) => items.iter().all(numbers_are_taken),
        serde_json::Value::Object(members) => members.values().all(numbers_are_taken),
        _ => true,
    }
}

fn types_read_back(input: &[u8]) {
    if let Ok(ty) = json::type_from_json(input) {
        let text = json::type_to_json(&ty);
        assert_eq!(json::type_from_json(text.as_bytes()), Ok(ty), "{text}");
    }
}
