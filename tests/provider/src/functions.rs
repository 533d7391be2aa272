//! `upper(text)`, `join_all(separator, parts...)`, `describe(value)`, which takes anything, and `fail(text)`.

use providers::protocol::{from_dynamic_value, tfplugin6 as wire, to_dynamic_value};
use std::collections::HashMap;
use values::json::type_to_json;
use values::{Type, Value};

fn parameter(name: &str, ty: &Type) -> wire::function::Parameter {
    wire::function::Parameter {
        name: name.into(),
        r#type: type_to_json(ty).into_bytes(),
        ..Default::default()
    }
}

pub(crate) fn signatures() -> HashMap<String, wire::Function> {
    let text = |name| parameter(name, &Type::String);
    let returns = Some(wire::function::Return { r#type: type_to_json(&Type::String).into_bytes() });
    let of = |parameters: Vec<wire::function::Parameter>| wire::Function {
        parameters,
        r#return: returns.clone(),
        ..Default::default()
    };
    let upper = wire::Function { summary: "In capitals".into(), ..of(vec![text("text")]) };
    let join_all =
        wire::Function { variadic_parameter: Some(text("parts")), ..of(vec![text("separator")]) };
    let anything = wire::function::Parameter {
        allow_null_value: true,
        allow_unknown_values: true,
        ..parameter("value", &Type::Dynamic)
    };
    [
        ("upper".into(), upper),
        ("join_all".into(), join_all),
        ("describe".into(), of(vec![anything])),
        ("fail".into(), of(vec![text("text")])),
    ]
    .into()
}

pub(crate) fn call(request: &wire::call_function::Request) -> wire::call_function::Response {
    let failed = |text: String, argument: Option<i64>| wire::call_function::Response {
        result: None,
        error: Some(wire::FunctionError { text, function_argument: argument }),
    };
    let ty = match request.name.as_str() {
        "describe" => Type::Dynamic,
        _ => Type::String,
    };
    let mut arguments = Vec::new();
    for (i, argument) in request.arguments.iter().enumerate() {
        match from_dynamic_value(Some(argument), &ty) {
            Ok(Some(value)) => arguments.push(value),
            _ => return failed("it cannot be decoded".into(), i64::try_from(i).ok()),
        }
    }
    let texts: Vec<&str> = arguments.iter().map(|a| a.as_str().unwrap_or_default()).collect();
    let result = match (request.name.as_str(), &*texts) {
        ("upper", [""]) => return failed("the text must not be empty".into(), Some(0)),
        ("upper", [text]) => text.to_uppercase(),
        ("join_all", [separator, parts @ ..]) => parts.join(separator),
        ("describe", [_]) => described(&arguments),
        ("fail", [text]) => return failed((*text).into(), None),
        (name, _) => return failed(format!("no function {name} of these arguments"), None),
    };
    match to_dynamic_value(&Value::string(result), &Type::String) {
        Ok(result) => wire::call_function::Response { result: Some(result), error: None },
        Err(e) => failed(e, None),
    }
}

fn described(arguments: &[Value]) -> String {
    let Some(value) = arguments.first() else { return String::new() };
    let what = match value {
        value if value.is_null() => "null",
        value if !value.is_known() => "unknown",
        value if !value.is_wholly_known() => "partly known",
        _ => "known",
    };
    format!("{what} {}", value.ty().friendly_name())
}
