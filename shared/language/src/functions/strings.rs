//! Functions over strings. A character is a grapheme cluster where characters are counted, and a
//! code point where case is mapped.

use super::arguments::{check_length, integer, text};
use super::call::{CallError, Function, Parameter, ParameterType};
use super::{FunctionContext, expressions};
use ParameterType as T;
use unicode_segmentation::UnicodeSegmentation;
use values::{Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "chomp",
        "Takes newlines off the end of a string.",
        &[Parameter::string("str")],
        T::String,
        chomp,
    ),
    Function::new(
        "endswith",
        "Whether a string ends with a suffix.",
        &[Parameter::string("str"), Parameter::string("suffix")],
        T::Bool,
        |_, a, _| Ok(Value::bool(text(a, 0).ends_with(text(a, 1)))),
    ),
    Function::new(
        "indent",
        "Puts spaces before all lines of a string but the first.",
        &[
            Parameter::number("spaces").described("How many spaces follow each newline."),
            Parameter::string("str"),
        ],
        T::String,
        indent,
    ),
    Function::new(
        "join",
        "Puts the strings of lists together, with a separator between them.",
        &[Parameter::string("separator").described("What stands between two strings.")],
        T::String,
        join,
    )
    .variadic(
        &Parameter::new("lists", T::ListOfString).described("Lists of strings, at least one."),
    ),
    Function::new(
        "lower",
        "A string with all letters in lower case.",
        &[Parameter::string("str").dynamic()],
        T::String,
        |_, a, _| Ok(Value::string(text(a, 0).chars().map(lower).collect::<String>())),
    ),
    Function::new(
        "replace",
        "Replaces each occurrence of a substring, or each match of a regular expression between slashes.",
        &[Parameter::string("str"), Parameter::string("substr"), Parameter::string("replace")],
        T::String,
        replace,
    ),
    Function::new(
        "split",
        "Cuts a string at each occurrence of a separator.",
        &[Parameter::string("separator"), Parameter::string("str")],
        T::ListOfString,
        split,
    ),
    Function::new(
        "startswith",
        "Whether a string starts with a prefix.",
        &[Parameter::string("str").unknown(), Parameter::string("prefix")],
        T::Bool,
        startswith,
    ),
    Function::new(
        "strcontains",
        "Whether a string contains another.",
        &[Parameter::string("str"), Parameter::string("substr")],
        T::Bool,
        |_, a, _| Ok(Value::bool(text(a, 0).contains(text(a, 1)))),
    )
    .maybe_null(),
    Function::new(
        "strrev",
        "A string with its characters in reverse order.",
        &[Parameter::string("str").dynamic()],
        T::String,
        |_, a, _| Ok(Value::string(text(a, 0).graphemes(true).rev().collect::<String>())),
    ),
    Function::new(
        "substr",
        "A part of a string, by offset and length in characters.",
        &[
            Parameter::string("str").dynamic(),
            Parameter::number("offset")
                .dynamic()
                .described("Where it starts; negative from the end."),
            Parameter::number("length")
                .dynamic()
                .described("How long it is at most; negative for the rest."),
        ],
        T::String,
        substr,
    ),
    Function::new(
        "title",
        "A string with the first letter of each word in upper case.",
        &[Parameter::string("str")],
        T::String,
        title,
    ),
    Function::new(
        "trim",
        "Takes the characters of a set off both ends of a string.",
        &[
            Parameter::string("str"),
            Parameter::string("cutset").described("The characters, in any order."),
        ],
        T::String,
        trim,
    ),
    Function::new(
        "trimprefix",
        "Takes a prefix off a string that starts with it.",
        &[Parameter::string("str"), Parameter::string("prefix")],
        T::String,
        |_, a, _| {
            let s = text(a, 0);
            Ok(Value::string(s.strip_prefix(text(a, 1)).unwrap_or(s)))
        },
    ),
    Function::new(
        "trimspace",
        "Takes white space off both ends of a string.",
        &[Parameter::string("str")],
        T::String,
        |_, a, _| Ok(Value::string(text(a, 0).trim())),
    ),
    Function::new(
        "trimsuffix",
        "Takes a suffix off a string that ends with it.",
        &[Parameter::string("str"), Parameter::string("suffix")],
        T::String,
        |_, a, _| {
            let s = text(a, 0);
            Ok(Value::string(s.strip_suffix(text(a, 1)).unwrap_or(s)))
        },
    ),
    Function::new(
        "upper",
        "A string with all letters in upper case.",
        &[Parameter::string("str").dynamic()],
        T::String,
        |_, a, _| Ok(Value::string(text(a, 0).chars().map(upper).collect::<String>())),
    ),
];

fn chomp(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    Ok(Value::string(text(a, 0).trim_end_matches(['\n', '\r'])))
}

fn indent(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let spaces = usize::try_from(integer(a, 0)?)
        .map_err(|_| CallError::other("the number of spaces must not be negative"))?;
    let s = text(a, 1);
    let lines = s.matches('\n').count();
    check_length(s.len().saturating_add(lines.saturating_mul(spaces)))?;
    if lines == 0 {
        return Ok(Value::string(s));
    }
    Ok(Value::string(s.replace('\n', &format!("\n{}", " ".repeat(spaces)))))
}

fn join(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let separator = text(a, 0);
    let lists = a.get(1..).unwrap_or_default();
    if lists.is_empty() {
        return Err(CallError::other("at least one list is required"));
    }
    if !lists.iter().all(Value::is_wholly_known) {
        return Ok(Value::unknown(ty.clone()));
    }
    let mut parts: Vec<&str> = Vec::new();
    let mut length = 0usize;
    for (l, list) in lists.iter().enumerate() {
        for (e, element) in list.as_slice().unwrap_or_default().iter().enumerate() {
            let Some(part) = element.as_str() else {
                let place = match lists.len() {
                    1 => format!("element {e}"),
                    _ => format!("element {e} of list {}", l + 1),
                };
                let message = format!("{place} is null; cannot concatenate null values");
                return Err(CallError::argument(l + 1, message));
            };
            length = length.saturating_add(part.len()).saturating_add(separator.len());
            parts.push(part);
        }
    }
    check_length(length.saturating_sub(separator.len()))?;
    Ok(Value::string(parts.join(separator)))
}

fn replace(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let (s, pattern, by) = (text(a, 0), text(a, 1), text(a, 2));
    let expression = pattern.strip_prefix('/').and_then(|p| p.strip_suffix('/'));
    if let Some(expression) = expression {
        return expressions::replace_all(expression, s, by).map(Value::string);
    }
    let count = match pattern.is_empty() {
        true => s.chars().count() + 1,
        false => s.matches(pattern).count(),
    };
    check_length(s.len().saturating_add(count.saturating_mul(by.len())))?;
    Ok(Value::string(s.replace(pattern, by)))
}

fn split(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let (separator, s) = (text(a, 0), text(a, 1));
    let parts = match separator.is_empty() {
        true => s.chars().map(|c| Value::string(c.encode_utf8(&mut [0; 4]))).collect(),
        false => s.split(separator).map(Value::string).collect(),
    };
    Ok(Value::list(Type::String, parts))
}

fn startswith(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let prefix = text(a, 1);
    let Some(s) = a.first().filter(|s| !s.is_known()) else {
        return Ok(Value::bool(text(a, 0).starts_with(prefix)));
    };
    let known = s.refinement().and_then(|r| r.string_prefix.as_deref()).unwrap_or_default();
    Ok(match known.starts_with(prefix) {
        true => Value::bool(true),
        false if !known.is_empty() && known.len() >= prefix.len() => Value::bool(false),
        false => Value::unknown(ty.clone()),
    })
}

fn substr(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let s = text(a, 0);
    let (mut offset, length) = (integer(a, 1)?, integer(a, 2)?);
    // From the end, a length of zero means the rest, as it always has.
    let rest = length < 0 || (length == 0 && offset < 0);
    if offset < 0 {
        offset = offset.saturating_add(s.graphemes(true).count() as i64).max(0);
    }
    let start = byte_of(s, offset as u64);
    let tail = s.get(start..).unwrap_or_default();
    let end = if rest { tail.len() } else { byte_of(tail, length as u64) };
    Ok(Value::string(tail.get(..end).unwrap_or_default()))
}

/// Where the character of a number starts: the end of the string where there is none.
fn byte_of(s: &str, character: u64) -> usize {
    let character = usize::try_from(character).unwrap_or(usize::MAX);
    s.grapheme_indices(true).nth(character).map_or(s.len(), |(at, _)| at)
}

fn trim(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let cutset: Vec<char> = text(a, 1).chars().collect();
    Ok(Value::string(text(a, 0).trim_matches(|c| cutset.contains(&c))))
}

fn title(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let mut previous = ' ';
    let titled: String = text(a, 0)
        .chars()
        .map(|c| {
            let starts = separates(previous);
            previous = c;
            if starts { title_case(c) } else { c }
        })
        .collect();
    Ok(Value::string(titled))
}

/// Whether a word may start after this character.
fn separates(c: char) -> bool {
    match c {
        '_' => false,
        c if c.is_ascii() => !c.is_ascii_alphanumeric(),
        c if c.is_alphabetic() || c.is_numeric() => false,
        c => c.is_whitespace(),
    }
}

// Each code point is mapped to one code point, as Terraform does: where Unicode's full mapping gives
// several, the simple mapping is used, which mostly is the letter itself.

fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => greek_with_iota(c).unwrap_or(c),
    }
}

fn lower(c: char) -> char {
    let mut mapped = c.to_lowercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        (Some(first), Some(_)) if c == '\u{130}' => first,
        _ => c,
    }
}

fn title_case(c: char) -> char {
    match c {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        c => upper(c),
    }
}

/// Greek small letters with iota subscript have a capital of one code point too.
fn greek_with_iota(c: char) -> Option<char> {
    let offset = match c {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => return None,
    };
    char::from_u32(c as u32 + offset)
}
