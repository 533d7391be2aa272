//! How much one evaluation may make: loops within loops, and texts that double, would take all the
//! memory there is long before they end.

use super::Evaluator;
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use values::Value;

/// What all values that an evaluation makes on its way may take together, in bytes, roughly.
const MOST: usize = 512 << 20;
/// The longest text that a template makes, in bytes: as long as functions make them.
const LONGEST_TEXT: usize = 64 << 20;
/// What an element of a collection takes, roughly.
const ELEMENT: usize = 64;

/// What was made so far.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    spent: usize,
    told: bool,
}

impl Evaluator<'_> {
    /// Accounts for one more element; whether there may be one.
    pub(super) fn may_add_element(&mut self, place: Span) -> bool {
        self.spend(ELEMENT, place)
    }

    /// Accounts for what a function made. What it shares with its arguments counts as well.
    pub(super) fn account_for(&mut self, value: Value, place: Span) -> Value {
        let elements = value.as_slice().map_or(0, <[Value]>::len);
        let text = value.as_str().map_or(0, str::len);
        match self.spend(text + elements * ELEMENT, place) {
            true => value,
            false => Value::dynamic(),
        }
    }

    /// Accounts for a piece of a template; whether the text, of so many bytes, may go on.
    pub(super) fn may_add_text(&mut self, text: usize, piece: usize, place: Span) -> bool {
        if text + piece <= LONGEST_TEXT {
            return self.spend(piece, place);
        }
        self.refuse_once(
            format!(
                "This template makes a text longer than {LONGEST_TEXT} bytes, which is refused."
            ),
            place,
        );
        false
    }

    fn spend(&mut self, bytes: usize, place: Span) -> bool {
        self.allowance.spent = self.allowance.spent.saturating_add(bytes);
        if self.allowance.spent <= MOST {
            return true;
        }
        self.refuse_once(
            format!("On the way to its result this expression makes more than {MOST} bytes of values, which is refused before memory ends. Loops within loops multiply: loop over less, or keep parts in local values of their own."),
            place,
        );
        false
    }

    /// Not an error that `try` may catch: what it would try next has no memory either.
    fn refuse_once(&mut self, detail: String, place: Span) {
        if !std::mem::replace(&mut self.allowance.told, true) {
            self.refused.push(Diagnostic::error("Result too large", detail).at(place));
        }
    }
}
