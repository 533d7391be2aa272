//! Functions that write values and strings in another form, and read them back.

mod base64;
mod csv;
mod gzip;
mod json;
mod text;
pub(super) mod yaml;

pub(super) use base64::decode as decode_base64;

use super::FunctionContext;
use super::arguments::{quoted_unless_marked, text as text_of};
use super::call::{CallError, Function, Parameter, ParameterType};
use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use values::quote::quoted;
use values::{Refinement, Type, Value};

const STR: Parameter = Parameter::string("str");

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "base64decode",
        "Decodes Base64 into a string.",
        &[STR.marked()],
        ParameterType::String,
        base64decode,
    ),
    Function::new(
        "base64encode",
        "Encodes a string in Base64.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(STANDARD.encode(text_of(a, 0)))),
    ),
    Function::new(
        "base64gzip",
        "Compresses a string with gzip and encodes the result in Base64.",
        &[STR],
        ParameterType::String,
        |_, a, _| {
            let compressed = gzip::compress(text_of(a, 0).as_bytes());
            let compressed = compressed
                .map_err(|e| CallError::other(format!("failed to write gzip raw data: {e}")))?;
            Ok(Value::string(STANDARD.encode(compressed)))
        },
    ),
    Function::new(
        "csvdecode",
        "Reads comma-separated values, whose first line has the names, as a list of objects.",
        &[STR],
        ParameterType::Any,
        |_, a, _| csv::rows(text_of(a, 0)),
    )
    .typed_by(|a| match a.first().and_then(Value::as_str) {
        Some(s) => csv::row_type(s).map(Type::list),
        None => Ok(Type::Dynamic),
    }),
    Function::new("jsondecode", "Reads a JSON text.", &[STR], ParameterType::Any, |_, a, _| {
        json::decode(text_of(a, 0))
    })
    .maybe_null()
    .typed_by(|a| match a.first() {
        Some(s) if !s.is_known() => json::type_of_prefix(s),
        // What a known text holds is read once, by the function itself.
        _ => Ok(Type::Dynamic),
    }),
    Function::new(
        "jsonencode",
        "Writes a value as JSON.",
        &[Parameter::any("val").null().unknown().dynamic()],
        ParameterType::String,
        jsonencode,
    ),
    Function::new(
        "textdecodebase64",
        "Decodes Base64 of a text in a character encoding.",
        &[Parameter::string("source"), Parameter::string("encoding")],
        ParameterType::String,
        textdecodebase64,
    ),
    Function::new(
        "textencodebase64",
        "Encodes a string in a character encoding, and that in Base64.",
        &[Parameter::string("string"), Parameter::string("encoding")],
        ParameterType::String,
        textencodebase64,
    ),
    Function::new(
        "urlencode",
        "Escapes a string for the query of a URL.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(url_escape(text_of(a, 0)))),
    ),
    Function::new(
        "yamldecode",
        "Reads a YAML document.",
        &[Parameter::string("src")],
        ParameterType::Any,
        |_, a, _| yaml::decode(text_of(a, 0)),
    )
    .maybe_null()
    .typed_by(|_| Ok(Type::Dynamic)),
    Function::new(
        "yamlencode",
        "Writes a value as a YAML document in block style.",
        &[Parameter::any("value").null().unknown().dynamic()],
        ParameterType::String,
        |_, a, ty| match a.first() {
            Some(value) if value.is_wholly_known() => yaml::encode(value).map(Value::string),
            _ => Ok(Value::unknown(ty.clone())),
        },
    ),
];

fn base64decode(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let marks = a.first().map(Value::marks).unwrap_or_default();
    let bytes = base64::decode(text_of(a, 0)).map_err(|_| {
        let shown = quoted_unless_marked(text_of(a, 0), marks);
        CallError::other(format!("failed to decode base64 data {shown}"))
    })?;
    let decoded = String::from_utf8(bytes).map_err(|_| {
        CallError::other("the result of decoding the provided string is not valid UTF-8")
    })?;
    Ok(Value::string(decoded).with_marks(marks))
}

fn jsonencode(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let Some(value) = a.first() else { return Ok(Value::unknown(ty.clone())) };
    if value.is_wholly_known() {
        let json = values::json::to_json(value, &value.ty());
        return json.map(Value::string).map_err(|e| CallError::other(e.to_string()));
    }
    // The type tells the first character, unless the value may be null.
    let first = match value.ty() {
        _ if !value.is_definitely_not_null() => None,
        Type::String => Some("\""),
        Type::Object(_) | Type::Map(_) => Some("{"),
        Type::Tuple(_) | Type::List(_) | Type::Set(_) => Some("["),
        _ => None,
    };
    Ok(Value::unknown_refined(
        ty.clone(),
        Refinement {
            not_null: true,
            string_prefix: first.map(Into::into),
            ..Refinement::default()
        },
    ))
}

fn encoding_named(a: &[Value]) -> Result<text::Encoding, CallError> {
    let name = text_of(a, 1);
    text::Encoding::named(name).ok_or_else(|| {
        CallError::argument(
            1,
            format!(
                "{} is not a supported IANA encoding name or alias in this Terraform version",
                quoted(name)
            ),
        )
    })
}

fn textencodebase64(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let encoding = encoding_named(a)?;
    let encoded = encoding.encode(text_of(a, 0)).ok_or_else(|| {
        CallError::argument(
            0,
            format!(
                "the given string contains characters that cannot be represented in {}",
                encoding.name()
            ),
        )
    })?;
    Ok(Value::string(STANDARD.encode(encoded)))
}

fn textdecodebase64(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let encoding = encoding_named(a)?;
    let bytes = base64::decode(text_of(a, 0)).map_err(|offset| {
        let message = format!("the given value is has an invalid base64 symbol at offset {offset}");
        CallError::argument(0, message)
    })?;
    let decoded = encoding.decode(&bytes).ok_or_else(|| {
        CallError::argument(
            0,
            format!(
                "the given string contains symbols that are not defined for {}",
                encoding.name()
            ),
        )
    })?;
    Ok(Value::string(decoded))
}

fn url_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
