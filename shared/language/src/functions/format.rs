//! `format` and `formatlist`: verbs in a text, as of C's printf.

use super::FunctionContext;
use super::arguments::{LONGEST_STRING, check_length, text};
use super::call::{CallError, Function, Parameter, ParameterType};
use dashu_int::IBig;
use unicode_segmentation::UnicodeSegmentation;
use values::convert::convert;
use values::quote::{quoted, quoted_char};
use values::{Number, NumberFormat, Refinement, Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "format",
        "Puts values into a text, at its verbs and in their form.",
        &[Parameter::string("format")],
        ParameterType::Any,
        format_one,
    )
    .typed_by(|_| Ok(Type::String))
    .variadic(&Parameter::any("args").null().unknown()),
    Function::new(
        "formatlist",
        "As `format`, once for each element of the lists among the arguments.",
        &[Parameter::string("format")],
        ParameterType::Any,
        format_list,
    )
    .typed_by(|_| Ok(Type::list(Type::String)))
    .variadic(&Parameter::any("args").null().unknown()),
];

fn format_one(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let (format, values) = (text(a, 0), a.get(1..).unwrap_or_default());
    if values.iter().all(Value::is_wholly_known) {
        return render(format, values).map(Value::string);
    }
    // What stands before the first verb is known all the same.
    let prefix = format.split('%').next().unwrap_or_default();
    if prefix.len() == format.len() {
        return Ok(Value::unknown(ty.clone()));
    }
    let prefix = safe_prefix(prefix);
    Ok(Value::unknown_refined(
        Type::String,
        Refinement {
            not_null: true,
            string_prefix: (!prefix.is_empty()).then(|| prefix.into()),
            ..Refinement::default()
        },
    ))
}

fn format_list(context: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let (format, values) = (text(a, 0), a.get(1..).unwrap_or_default());
    if values.is_empty() {
        let one = format_one(context, a, &Type::String)?;
        return Ok(Value::list(Type::String, vec![one]));
    }
    // The first sequence, by position and length, that the others must be as long as.
    let mut chosen: Option<(usize, usize)> = None;
    let mut unknown = false;
    for (i, value) in values.iter().enumerate() {
        let of_type = value.ty();
        let length = match (&of_type, value.as_slice()) {
            _ if value.is_null() => continue,
            (_, Some(elements)) => elements.len(),
            (Type::Tuple(types), None) => {
                unknown = true;
                types.len()
            }
            (Type::List(_) | Type::Set(_) | Type::Dynamic, None) => {
                unknown = true;
                continue;
            }
            _ => continue,
        };
        match chosen {
            None => chosen = Some((i, length)),
            Some((_, first)) if first == length => {}
            Some((j, first)) => {
                return Err(CallError::argument(
                    i + 1,
                    format!(
                        "argument {} has length {length}, which is inconsistent with argument {} of length {first}",
                        i + 1,
                        j + 1,
                    ),
                ));
            }
        }
    }
    if unknown {
        return Ok(Value::unknown(ty.clone()));
    }
    let rounds = chosen.map_or(1, |(_, length)| length);
    let mut results = Vec::with_capacity(rounds);
    let mut total = 0usize;
    for round in 0..rounds {
        let now: Vec<Value> = values
            .iter()
            .map(|v| match v.as_slice() {
                Some(elements) => elements.get(round).cloned().unwrap_or_else(|| v.clone()),
                None => v.clone(),
            })
            .collect();
        if !now.iter().all(Value::is_wholly_known) {
            results.push(Value::unknown_not_null(Type::String));
            continue;
        }
        let one = render(format, &now)
            .map_err(|e| CallError::other(format!("error on format iteration {round}: {e}")))?;
        total = total.saturating_add(one.len());
        check_length(total)?;
        results.push(Value::string(one));
    }
    Ok(Value::list(Type::String, results))
}

/// The part of a prefix that stays as it is whatever follows: a last character may be changed by
/// combining characters, unless it is a delimiter.
fn safe_prefix(prefix: &str) -> String {
    const DELIMITERS: &[char] = &[
        '-', '_', ':', ';', '/', '\\', ',', '.', '(', ')', '{', '}', '[', ']', '|', '?', '!', '~',
        ' ', '\t', '@', '#', '$', '%', '^', '&', '*', '+', '"', '\'',
    ];
    if prefix.ends_with(DELIMITERS) {
        return prefix.to_owned();
    }
    let last = prefix.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
    prefix.get(..last).unwrap_or_default().to_owned()
}

/// One verb of a format.
struct Verb<'f> {
    raw: &'f str,
    offset: usize,
    mode: char,
    zero: bool,
    sharp: bool,
    plus: bool,
    minus: bool,
    space: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// Position of its value, from one.
    argument: usize,
}

fn render(format: &str, values: &[Value]) -> Result<String, CallError> {
    let mut out = String::with_capacity(format.len());
    let mut at = 0;
    let mut next = 1;
    let mut highest = 0;
    while let Some(rest) = format.get(at..).filter(|r| !r.is_empty()) {
        let literal = rest.find('%').unwrap_or(rest.len());
        out.push_str(rest.get(..literal).unwrap_or_default());
        at += literal;
        if literal == rest.len() {
            break;
        }
        if rest.get(literal..).is_some_and(|r| r.starts_with("%%")) {
            out.push('%');
            at += 2;
            continue;
        }
        let verb = parse_verb(format, at, next)?;
        at += verb.raw.len();
        highest = highest.max(verb.argument);
        next = verb.argument + 1;
        write_verb(&verb, values, &mut out)?;
        check_length(out.len())?;
    }
    match highest {
        _ if highest >= values.len() => Ok(out),
        0 => Err(CallError::argument(1, "too many arguments; no verbs in format string")),
        used => Err(CallError::argument(
            used + 1,
            format!("too many arguments; only {used} used by format string"),
        )),
    }
}

fn parse_verb(format: &str, start: usize, next: usize) -> Result<Verb<'_>, CallError> {
    let mut verb = Verb {
        raw: "",
        offset: start,
        mode: 'v',
        zero: false,
        sharp: false,
        plus: false,
        minus: false,
        space: false,
        width: None,
        precision: None,
        argument: next,
    };
    let mut at = start + 1;
    let peek = |at: usize| format.get(at..).and_then(|r| r.chars().next());
    loop {
        match peek(at) {
            Some('0') => verb.zero = true,
            Some('#') => verb.sharp = true,
            Some('-') => verb.minus = true,
            Some('+') => verb.plus = true,
            Some(' ') => verb.space = true,
            _ => break,
        }
        at += 1;
    }
    let digits = |at: &mut usize| {
        let mut number = None;
        while let Some(digit) = peek(*at).and_then(|c| c.to_digit(10)) {
            number =
                Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(digit as usize));
            *at += 1;
        }
        number
    };
    verb.width = digits(&mut at);
    if peek(at) == Some('.') {
        at += 1;
        verb.precision = Some(digits(&mut at).unwrap_or(0));
    }
    if peek(at) == Some('[') && peek(at + 1).is_none_or(|c| matches!(c, '1'..='9')) {
        at += 1;
        verb.argument = digits(&mut at).unwrap_or(0);
        if peek(at) == Some(']') {
            at += 1;
        } else {
            return Err(unexpected(format, at));
        }
    } else if peek(at) == Some('[') {
        return Err(unexpected(format, at + 1));
    }
    match peek(at) {
        Some(c) if c.is_ascii_alphabetic() => verb.mode = c,
        _ => return Err(unexpected(format, at)),
    }
    verb.raw = format.get(start..=at).unwrap_or_default();
    let longest = verb.width.unwrap_or(0).max(verb.precision.unwrap_or(0));
    match longest > LONGEST_STRING {
        true => check_length(longest).map(|()| verb),
        false => Ok(verb),
    }
}

fn unexpected(format: &str, at: usize) -> CallError {
    match format.get(at..).and_then(|r| r.chars().next()) {
        Some(c) => CallError::other(format!(
            "unrecognized format character {} at offset {at}",
            quoted_char(c)
        )),
        None => {
            CallError::other(format!("invalid format string starting at offset {}", format.len()))
        }
    }
}

fn write_verb(verb: &Verb<'_>, values: &[Value], out: &mut String) -> Result<(), CallError> {
    let refuse = |what: &str| {
        CallError::other(format!(
            "unsupported value for {} at {}: {what}",
            quoted(verb.raw),
            verb.offset
        ))
    };
    let Some(value) = verb.argument.checked_sub(1).and_then(|i| values.get(i)) else {
        return Err(CallError::other(format!(
            "not enough arguments for {} at {}: need index {} but have {} total",
            quoted(verb.raw),
            verb.offset,
            verb.argument,
            values.len()
        )));
    };
    if verb.mode != 'v' && value.is_null() {
        return Err(refuse("null value cannot be formatted"));
    }
    let to = |ty: &Type| convert(value, ty).map_err(|e| refuse(&e.to_string()));
    let number = |value: &Value| match value.as_number() {
        Some(n) => Ok(n.clone()),
        None => Err(refuse("a number is required")),
    };
    match verb.mode {
        'v' => {
            let shown = match (verb.sharp, value.as_str(), value.as_number()) {
                (false, Some(s), _) => s.to_owned(),
                (false, _, Some(n)) => n.format(NumberFormat::General, None),
                _ => {
                    values::json::to_json(value, &value.ty()).map_err(|e| refuse(&e.to_string()))?
                }
            };
            pad(verb, &shown, out);
        }
        't' => {
            let shown = to(&Type::Bool)?;
            out.push_str(if shown.as_bool() == Some(true) { "true" } else { "false" });
        }
        'b' | 'd' | 'o' | 'x' | 'X' => {
            let integer = number(&to(&Type::Number)?)?.to_integer();
            let integer = integer.ok_or_else(|| refuse("an integer is required"))?;
            write_integer(verb, &integer, out);
        }
        'e' | 'E' | 'f' | 'g' | 'G' => write_float(verb, &number(&to(&Type::Number)?)?, out),
        's' | 'q' => {
            let converted = to(&Type::String)?;
            let whole = converted.as_str().unwrap_or_default();
            let shown = match verb.precision {
                Some(n) if n > 0 => {
                    let end = whole.grapheme_indices(true).nth(n).map_or(whole.len(), |(i, _)| i);
                    whole.get(..end).unwrap_or_default()
                }
                _ => whole,
            };
            match verb.mode {
                's' => pad(verb, shown, out),
                _ => {
                    let json = values::json::to_json(&Value::string(shown), &Type::String);
                    pad(verb, &json.map_err(|e| refuse(&e.to_string()))?, out);
                }
            }
        }
        mode => {
            return Err(CallError::other(format!(
                "unsupported format verb {} in {} at offset {}",
                quoted_char(mode),
                quoted(verb.raw),
                verb.offset
            )));
        }
    }
    Ok(())
}

/// Pads to the width, which counts characters.
fn pad(verb: &Verb<'_>, shown: &str, out: &mut String) {
    let have = verb.width.map_or(0, |_| shown.graphemes(true).count());
    let missing = verb.width.unwrap_or(0).saturating_sub(have);
    let fill = if verb.zero { "0" } else { " " }.repeat(missing);
    match verb.minus {
        true => out.extend([shown, &fill]),
        false => out.extend([&fill, shown]),
    }
}

fn write_integer(verb: &Verb<'_>, integer: &IBig, out: &mut String) {
    let negative = *integer < IBig::ZERO;
    let magnitude = if negative { -integer } else { integer.clone() };
    let (radix, prefix) = match verb.mode {
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        _ => (10, ""),
    };
    let mut digits = magnitude.in_radix(radix).to_string();
    if verb.mode == 'X' {
        digits.make_ascii_uppercase();
    }
    if magnitude == IBig::ZERO && verb.precision == Some(0) {
        return;
    }
    let prefix = if verb.sharp { prefix } else { "" };
    let sign = sign(verb, negative);
    let mut zeros = verb.precision.unwrap_or(0).saturating_sub(digits.len());
    let length = sign.len() + prefix.len() + zeros + digits.len();
    let missing = verb.width.unwrap_or(0).saturating_sub(length);
    let (mut left, mut right) = (0, 0);
    match (verb.minus, verb.zero && verb.precision.is_none()) {
        (true, _) => right = missing,
        (false, true) => zeros = missing,
        (false, false) => left = missing,
    }
    out.push_str(&" ".repeat(left));
    out.push_str(sign);
    out.push_str(prefix);
    out.push_str(&"0".repeat(zeros));
    out.push_str(&digits);
    out.push_str(&" ".repeat(right));
}

fn write_float(verb: &Verb<'_>, number: &Number, out: &mut String) {
    let (format, precision) = match verb.mode {
        'f' => (NumberFormat::Fixed, Some(verb.precision.unwrap_or(6))),
        'e' | 'E' => (NumberFormat::Exponent, Some(verb.precision.unwrap_or(6))),
        _ => (NumberFormat::General, verb.precision),
    };
    let mut shown = number.format(format, precision);
    if verb.mode.is_ascii_uppercase() && !number.is_infinite() {
        shown.make_ascii_uppercase();
    }
    let (sign, digits) = match (shown.strip_prefix('-'), shown.strip_prefix('+')) {
        (Some(digits), _) => ("-", digits),
        (_, Some(digits)) => (if verb.space { " " } else { "+" }, digits),
        _ => (sign(verb, false), shown.as_str()),
    };
    let missing = verb.width.unwrap_or(0).saturating_sub(sign.len() + digits.len());
    let spaces = " ".repeat(missing);
    match (verb.zero && !verb.minus && !number.is_infinite(), verb.minus) {
        (true, _) => out.extend([sign, &"0".repeat(missing), digits]),
        (_, true) => out.extend([sign, digits, &spaces]),
        _ => out.extend([&spaces, sign, digits]),
    }
}

fn sign(verb: &Verb<'_>, negative: bool) -> &'static str {
    match (negative, verb.plus, verb.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}
