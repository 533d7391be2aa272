//! The JSON of `metadata functions`: what editors know of the language's functions.

use crate::json::Json;
use crate::value_json::type_json;
use language::functions::{self, Function, Parameter};

/// Every function is spelled with this prefix too.
const PREFIX: &str = "core::";
/// A function that only the console has.
const CONSOLE_ONLY: &str = "type";

/// The signatures of all functions, in both spellings.
pub fn function_signatures() -> Json {
    let listed = functions::all().filter(|function| function.name != CONSOLE_ONLY);
    let both = listed.flat_map(|function| {
        ["", PREFIX].map(|prefix| (format!("{prefix}{}", function.name), signature(function)))
    });
    Json::object([
        ("format_version", Json::string("1.0")),
        ("function_signatures", Json::object(both)),
    ])
}

fn signature(function: &Function) -> Json {
    let mut items = vec![
        ("description", Json::string(function.description)),
        ("return_type", type_json(&function.returns.ty())),
    ];
    if !function.parameters.is_empty() {
        items
            .push(("parameters", Json::array(function.parameters.iter().map(parameter).collect())));
    }
    items.extend(function.variadic.map(|one| ("variadic_parameter", parameter(one))));
    Json::object(items)
}

fn parameter(parameter: &Parameter) -> Json {
    let mut items = vec![("name", Json::string(parameter.name))];
    if !parameter.description.is_empty() {
        items.push(("description", Json::string(parameter.description)));
    }
    if parameter.allow_null {
        items.push(("is_nullable", Json::Bool(true)));
    }
    items.push(("type", type_json(&parameter.ty.ty())));
    Json::object(items)
}
