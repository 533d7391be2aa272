//! `encode_tfvars`, `decode_tfvars` and `encode_expr`.

use crate::{FunctionError, FunctionParameter, FunctionSignature};
use language::rendering::expression_text;
use language::variables::{text_of_values, values_from_text};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::Description;
use values::{Kind, Type, Value};

/// What stands for the file in messages about decoded text.
const FILE: &str = "<decode_tfvars argument>";

pub(super) fn signatures() -> BTreeMap<Arc<str>, FunctionSignature> {
    let signature = |parameter, returns, summary: &str, description: &str| FunctionSignature {
        parameters: vec![parameter],
        variadic: None,
        returns,
        summary: Some(summary.into()),
        description: Some(Description::Plain(description.into())),
        deprecation: None,
    };
    let parameter = |name: &str, ty, allow_unknown| FunctionParameter {
        name: name.into(),
        ty,
        allow_null: false,
        allow_unknown,
        description: None,
    };
    let encode_tfvars = signature(
        parameter("value", Type::Dynamic, false),
        Type::String,
        "The content of a .tfvars file",
        "Takes an object and gives the content of a `.tfvars` file that has its attributes for variables.",
    );
    let decode_tfvars = signature(
        parameter("src", Type::String, false),
        Type::Dynamic,
        "The values in a .tfvars file",
        "Takes the content of a `.tfvars` file and gives an object of the values in it.",
    );
    let encode_expr = signature(
        parameter("value", Type::Dynamic, true),
        Type::String,
        "An expression for a value",
        "Takes any value and gives an expression of the Terraform language for it; exact types are lost.",
    );
    let named = [
        ("encode_tfvars", encode_tfvars),
        ("decode_tfvars", decode_tfvars),
        ("encode_expr", encode_expr),
    ];
    named.into_iter().map(|(name, signature)| (Arc::from(name), signature)).collect()
}

/// The result of a function; `None` where there is none of this name.
pub(super) fn call(name: &str, arguments: &[Value]) -> Option<Result<Value, FunctionError>> {
    let argument = arguments.first()?;
    Some(match name {
        "encode_tfvars" => encode_values(argument),
        "decode_tfvars" => decode_values(argument),
        "encode_expr" => Ok(encode_expression(argument)),
        _ => return None,
    })
}

fn encode_values(value: &Value) -> Result<Value, FunctionError> {
    let (Kind::Object(values) | Kind::Map(_, values)) = value.kind() else {
        return Err(failed(
            "invalid value to encode: must be an object whose attribute names will become the encoded variable names",
        ));
    };
    text_of_values(values).map(Value::string).map_err(failed)
}

fn decode_values(text: &Value) -> Result<Value, FunctionError> {
    let text = text.as_str().unwrap_or_default();
    values_from_text(FILE, text).map(Value::object).map_err(failed)
}

/// How an expression begins is known before the value is.
fn encode_expression(value: &Value) -> Value {
    if value.is_wholly_known() {
        return Value::string(expression_text(value));
    }
    let unknown = Value::unknown_not_null(Type::String);
    let may_be_null = !value.is_known() && !value.is_definitely_not_null();
    let prefix = match value.ty() {
        _ if may_be_null => return unknown,
        Type::Object(_) | Type::Map(_) => "{",
        Type::Tuple(_) | Type::List(_) | Type::Set(_) => "[",
        Type::String => "\"",
        _ => return unknown,
    };
    unknown.refine().string_prefix_full(prefix).finish()
}

fn failed(problem: impl ToString) -> FunctionError {
    FunctionError { text: problem.to_string(), argument: None }
}
