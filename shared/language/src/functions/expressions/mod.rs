//! Functions over regular expressions in RE2's syntax.

mod re2;

use super::FunctionContext;
use super::arguments::{check_length, text};
use super::call::{CallError, Function, Parameter, ParameterType};
use regex::{Captures, Regex};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use values::{Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "regex",
        "The first match of a regular expression in a string: the match, or its groups.",
        &[Parameter::string("pattern"), Parameter::string("string")],
        ParameterType::Any,
        first_match,
    )
    .typed_by(|a| match a.first().is_some_and(Value::is_known) {
        true => Ok(Pattern::of(text(a, 0))?.result_type()?),
        false => Ok(Type::Dynamic),
    }),
    Function::new(
        "regexall",
        "All matches of a regular expression in a string, each as of `regex`.",
        &[Parameter::string("pattern"), Parameter::string("string")],
        ParameterType::List,
        all_matches,
    )
    .typed_by(|a| match a.first().is_some_and(Value::is_known) {
        true => Ok(Type::list(Pattern::of(text(a, 0))?.result_type()?)),
        false => Ok(Type::list(Type::Dynamic)),
    }),
];

/// A compiled pattern.
struct Pattern {
    regex: Regex,
    groups: Vec<Option<String>>,
}

enum PatternError {
    Syntax(re2::SyntaxError),
    /// The syntax is right; the machine that would match it is too large.
    Compile(String),
    MixedGroups,
}

/// Patterns are mostly literals that loops use again and again, and compiling costs far more than
/// matching.
static COMPILED: LazyLock<Mutex<HashMap<String, Arc<Pattern>>>> = LazyLock::new(Mutex::default);
const COMPILED_LIMIT: usize = 256;

impl Pattern {
    fn of(pattern: &str) -> Result<Arc<Pattern>, PatternError> {
        {
            let compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = compiled.get(pattern) {
                return Ok(found.clone());
            }
        }
        let re2::Translation { pattern: translated, groups } =
            re2::translate(pattern).map_err(PatternError::Syntax)?;
        let regex = Regex::new(&translated).map_err(|e| PatternError::Compile(e.to_string()))?;
        let made = Arc::new(Pattern { regex, groups });
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if compiled.len() >= COMPILED_LIMIT {
            compiled.clear();
        }
        compiled.insert(pattern.to_owned(), made.clone());
        Ok(made)
    }

    fn result_type(&self) -> Result<Type, PatternError> {
        let named = self.groups.iter().flatten().count();
        match (self.groups.len(), named) {
            (0, _) => Ok(Type::String),
            (all, 0) => Ok(Type::tuple(vec![Type::String; all])),
            (all, named) if all == named => {
                Ok(Type::object(self.groups.iter().flatten().map(|n| (n.as_str(), Type::String))))
            }
            _ => Err(PatternError::MixedGroups),
        }
    }

    fn result(&self, captures: &Captures<'_>) -> Value {
        let group = |i: usize| match captures.get(i) {
            Some(found) => Value::string(found.as_str()),
            None => Value::null(Type::String),
        };
        if self.groups.is_empty() {
            return group(0);
        }
        let groups = self.groups.iter().enumerate();
        match self.groups.iter().all(Option::is_some) {
            true => {
                Value::object(groups.filter_map(|(i, name)| Some((name.as_deref()?, group(i + 1)))))
            }
            false => Value::tuple(groups.map(|(i, _)| group(i + 1)).collect::<Vec<_>>()),
        }
    }
}

impl From<PatternError> for CallError {
    fn from(error: PatternError) -> CallError {
        let message = match error {
            PatternError::Syntax(e) => format!("{} in {}", e.reason, e.part),
            PatternError::Compile(e) => e,
            PatternError::MixedGroups => "cannot mix both named and unnamed capture groups".into(),
        };
        CallError::argument(0, format!("invalid regexp pattern: {message}"))
    }
}

fn first_match(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let pattern = Pattern::of(text(a, 0))?;
    match pattern.regex.captures(text(a, 1)) {
        Some(captures) => Ok(pattern.result(&captures)),
        None => Err(CallError::other("pattern did not match any part of the given string")),
    }
}

fn all_matches(_: &FunctionContext<'_>, a: &[Value], ty: &Type) -> Result<Value, CallError> {
    let pattern = Pattern::of(text(a, 0))?;
    let matches = pattern.regex.captures_iter(text(a, 1)).map(|c| pattern.result(&c)).collect();
    Ok(Value::list(ty.element().cloned().unwrap_or(Type::Dynamic), matches))
}

/// The text with each match of a pattern replaced by a template, in which `$1` and `${name}` stand
/// for groups.
pub(super) fn replace_all(pattern: &str, text: &str, template: &str) -> Result<String, CallError> {
    let pattern = Pattern::of(pattern).map_err(|e| match e {
        PatternError::Syntax(e) => {
            CallError::other(format!("error parsing regexp: {}: `{}`", e.reason, e.part))
        }
        e => e.into(),
    })?;
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for captures in pattern.regex.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        out.push_str(text.get(copied..whole.start()).unwrap_or_default());
        expand(&pattern, &captures, template, &mut out);
        copied = whole.end();
        check_length(out.len())?;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Ok(out)
}

fn expand(pattern: &Pattern, captures: &Captures<'_>, template: &str, out: &mut String) {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let found = match after.strip_prefix('{') {
            Some(inside) => inside
                .split_once('}')
                .filter(|(name, _)| !name.is_empty() && name.chars().all(is_word)),
            None => {
                let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
                Some(after.split_at(end)).filter(|(name, _)| !name.is_empty())
            }
        };
        let Some((name, after_name)) = found else {
            out.push('$');
            rest = after;
            continue;
        };
        let digits = name.bytes().all(|b| b.is_ascii_digit());
        let groups: Vec<usize> = match digits {
            true => name.parse().into_iter().collect(),
            false => (0..pattern.groups.len())
                .filter(|&i| pattern.groups.get(i).is_some_and(|g| g.as_deref() == Some(name)))
                .map(|i| i + 1)
                .collect(),
        };
        if let Some(found) = groups.into_iter().find_map(|i| captures.get(i)) {
            out.push_str(found.as_str());
        }
        rest = after_name;
    }
    out.push_str(rest);
}
