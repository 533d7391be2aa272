//! Functions over numbers.

use super::FunctionContext;
use super::arguments::{hidden, integer, number, quoted_unless_marked};
use super::call::{CallError, Function, Parameter, ParameterType};
use super::elementary::{logarithm, power};
use dashu_int::IBig;
use values::{Number, Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "abs",
        "The absolute value of a number.",
        &[Parameter::number("num").dynamic()],
        ParameterType::Number,
        |_, a, _| Ok(Value::number(number(a, 0)?.abs())),
    ),
    Function::new(
        "ceil",
        "The smallest whole number that is not below a number.",
        &[Parameter::number("num")],
        ParameterType::Number,
        |_, a, _| Ok(Value::number(number(a, 0)?.ceil())),
    ),
    Function::new(
        "floor",
        "The largest whole number that is not above a number.",
        &[Parameter::number("num")],
        ParameterType::Number,
        |_, a, _| Ok(Value::number(number(a, 0)?.floor())),
    ),
    Function::new(
        "log",
        "The logarithm of a number to a base.",
        &[Parameter::number("num"), Parameter::number("base")],
        ParameterType::Number,
        |_, a, _| float(logarithm(number(a, 0)?.to_f64()) / logarithm(number(a, 1)?.to_f64())),
    ),
    Function::new("max", "The largest of numbers.", &[], ParameterType::Number, |_, a, _| {
        extreme(a, Number::gt)
    })
    .variadic(&Parameter::number("numbers").dynamic()),
    Function::new("min", "The smallest of numbers.", &[], ParameterType::Number, |_, a, _| {
        extreme(a, Number::lt)
    })
    .variadic(&Parameter::number("numbers").dynamic()),
    Function::new(
        "parseint",
        "Reads a whole number that is written in a base from 2 to 62.",
        &[
            Parameter::any("number").marked_even_unknown(),
            Parameter::number("base").marked_even_unknown(),
        ],
        ParameterType::Any,
        parseint,
    )
    .typed_by(|a| match a.first().map(Value::ty) {
        Some(Type::String) | None => Ok(Type::Number),
        Some(ty) => Err(CallError::argument(
            0,
            format!("first argument must be a string, not {}", ty.friendly_name()),
        )),
    }),
    Function::new(
        "pow",
        "A number raised to a power.",
        &[Parameter::number("num"), Parameter::number("power")],
        ParameterType::Number,
        |_, a, _| float(power(number(a, 0)?.to_f64(), number(a, 1)?.to_f64())),
    ),
    Function::new(
        "signum",
        "The sign of a whole number: -1, 0 or 1.",
        &[Parameter::number("num")],
        ParameterType::Number,
        |_, a, _| Ok(Value::number(integer(a, 0)?.signum())),
    ),
];

fn float(result: f64) -> Result<Value, CallError> {
    let result = Number::from_f64(result);
    result.map(Value::number).ok_or_else(|| CallError::other("the result is not a number"))
}

fn extreme(a: &[Value], better: fn(&Number, &Number) -> bool) -> Result<Value, CallError> {
    let mut best: Option<&Number> = None;
    for index in 0..a.len() {
        let candidate = number(a, index)?;
        if best.is_none_or(|b| better(candidate, b)) {
            best = Some(candidate);
        }
    }
    let best = best.ok_or_else(|| CallError::other("must pass at least one number"))?;
    Ok(Value::number(best.clone()))
}

fn parseint(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let [text, base_value] = a else { return Err(CallError::other("wrong number of arguments")) };
    let digits = text.as_str().unwrap_or_default();
    let base = integer(a, 1).map_err(|e| e.at(1))?;
    let Some(base) = u32::try_from(base).ok().filter(|b| (2..=62).contains(b)) else {
        return Err(CallError::argument(
            1,
            "base must be a whole number between 2 and 62 inclusive",
        ));
    };
    let parsed = parse_integer(digits, base).ok_or_else(|| {
        let shown_base = hidden(base_value.marks()).map_or_else(|| base.to_string(), str::to_owned);
        CallError::argument(
            0,
            format!(
                "cannot parse {} as a base {shown_base} integer",
                quoted_unless_marked(digits, text.marks())
            ),
        )
    })?;
    Ok(Value::number(Number::from_integer(parsed)).with_marks(text.marks() | base_value.marks()))
}

fn parse_integer(text: &str, base: u32) -> Option<IBig> {
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let value = |c: u8| match c {
        b'0'..=b'9' => Some(u32::from(c - b'0')),
        b'a'..=b'z' => Some(u32::from(c - b'a') + 10),
        b'A'..=b'Z' if base <= 36 => Some(u32::from(c - b'A') + 10),
        b'A'..=b'Z' => Some(u32::from(c - b'A') + 36),
        _ => None,
    };
    if !digits.bytes().all(|c| value(c).is_some_and(|d| d < base)) {
        return None;
    }
    let magnitude = match base {
        2..=36 => IBig::from_str_radix(digits, base).ok()?,
        _ => digits
            .bytes()
            .filter_map(value)
            .fold(IBig::ZERO, |sum, digit| sum * IBig::from(base) + IBig::from(digit)),
    };
    Some(if negative { -magnitude } else { magnitude })
}
