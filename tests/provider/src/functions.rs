//! `upper(text)` and `join_all(separator, parts...)`.

use providers::protocol::{from_dynamic_value, tfplugin6 as wire, to_dynamic_value};
use std::collections::HashMap;
use values::json::type_to_json;
use values::{Type, Value};

fn parameter(name: &str) -> wire::function::Parameter {
    wire::function::Parameter {
        name: name.into(),
        r#type: type_to_json(&Type::String).into_bytes(),
        ..Default::default()
    }
}

pub(crate) fn signatures() -> HashMap<String, wire::Function> {
    let returns = Some(wire::function::Return { r#type: type_to_json(&Type::String).into_bytes() });
    let upper = wire::Function {
        parameters: vec![parameter("text")],
        r#return: returns.clone(),
        summary: "In capitals".into(),
        ..Default::default()
    };
    let join_all = wire::Function {
        parameters: vec![parameter("separator")],
        variadic_parameter: Some(parameter("parts")),
        r#return: returns,
        ..Default::default()
    };
    [("upper".into(), upper), ("join_all".into(), join_all)].into()
}

pub(crate) fn call(request: &wire::call_function::Request) -> wire::call_function::Response {
    let failed = |text: String, argument: Option<i64>| wire::call_function::Response {
        result: None,
        error: Some(wire::FunctionError { text, function_argument: argument }),
    };
    let mut arguments = Vec::new();
    for (i, argument) in request.arguments.iter().enumerate() {
        match from_dynamic_value(Some(argument), &Type::String) {
            Ok(Some(value)) => arguments.push(value.as_str().unwrap_or_default().to_owned()),
            _ => return failed("not a string".into(), i64::try_from(i).ok()),
        }
    }
    let result = match (request.name.as_str(), &*arguments) {
        ("upper", [text]) if text.is_empty() => {
            return failed("the text must not be empty".into(), Some(0));
        }
        ("upper", [text]) => text.to_uppercase(),
        ("join_all", [separator, parts @ ..]) => parts.join(separator),
        (name, _) => return failed(format!("no function {name} of these arguments"), None),
    };
    match to_dynamic_value(&Value::string(result), &Type::String) {
        Ok(result) => wire::call_function::Response { result: Some(result), error: None },
        Err(e) => failed(e, None),
    }
}
