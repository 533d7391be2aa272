//! Typed access to arguments that have passed the calling rules, and the limits of results.

use super::call::CallError;
use values::quote::quoted;
use values::{Marks, Number, Value};

/// The longest string that a function makes, in bytes. Beyond it lies a mistake (a width, a
/// repetition), and memory that the process does not have.
pub(super) const LONGEST_STRING: usize = 64 << 20;
/// The most elements that a function makes out of fewer.
pub(super) const MOST_ELEMENTS: usize = 1 << 20;

/// The string at a position; empty where the calling rules were not kept.
pub(super) fn text(arguments: &[Value], index: usize) -> &str {
    arguments.get(index).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a position.
pub(super) fn number(arguments: &[Value], index: usize) -> Result<&Number, CallError> {
    let found = arguments.get(index).and_then(Value::as_number);
    found.ok_or_else(|| CallError::argument(index, "a number is required"))
}

/// The number at a position, as an integer of machine size. The error is of the call as a whole:
/// `.at(index)` makes it the argument's.
pub(super) fn integer(arguments: &[Value], index: usize) -> Result<i64, CallError> {
    number(arguments, index)?.to_i64().ok_or_else(|| {
        CallError::other(format!(
            "value must be a whole number, between {} and {}",
            i64::MIN,
            i64::MAX
        ))
    })
}

/// The elements of the list, set or tuple at a position; none where it is null or unknown.
pub(super) fn elements(arguments: &[Value], index: usize) -> &[Value] {
    arguments.get(index).and_then(Value::as_slice).unwrap_or_default()
}

/// Whether a result of so many bytes may be made.
pub(super) fn check_length(bytes: usize) -> Result<(), CallError> {
    match bytes > LONGEST_STRING {
        true => Err(CallError::other(format!(
            "the result would be {bytes} bytes long, and strings longer than {LONGEST_STRING} bytes are refused"
        ))),
        false => Ok(()),
    }
}

/// A string in quotes, unless its marks forbid to show it.
pub(super) fn quoted_unless_marked(text: &str, marks: Marks) -> String {
    hidden(marks).map_or_else(|| quoted(text), str::to_owned)
}

/// What stands for a value that must not be shown; `None` where it may be.
pub(super) fn hidden(marks: Marks) -> Option<&'static str> {
    match (marks.is_ephemeral(), marks.is_sensitive()) {
        (true, true) => Some("(ephemeral sensitive value)"),
        (true, false) => Some("(ephemeral value)"),
        (false, true) => Some("(sensitive value)"),
        (false, false) => None,
    }
}

impl CallError {
    /// The same error, of one argument.
    pub(super) fn at(self, index: usize) -> CallError {
        match self {
            CallError::Other { message } => CallError::Argument { index, message },
            error => error,
        }
    }
}

/// Whether two values are equal as `==` sees it; `None` while that is not known.
pub(super) fn equal(a: &Value, b: &Value) -> Option<bool> {
    a.equals(b).as_bool()
}
