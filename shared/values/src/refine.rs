//! Building of unknown values of which something is known.

use crate::{Bound, Kind, Marks, Number, Refinement, Type, Value};
use std::sync::Arc;

/// What was said of an unknown value contradicts itself, or the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what is known of the value contradicts itself")]
pub struct Contradiction;

/// Lists whose length is known become known lists of unknown elements up to this length; the bound
/// keeps a claimed length from costing memory.
const LONGEST_EXPANDED: u64 = 10_000;

/// Narrows down a value. Statements about a known value change nothing; statements that do not
/// apply to the type are ignored.
#[derive(Debug, Clone)]
#[must_use]
pub struct Refiner {
    original: Value,
    marks: Marks,
    known: Refinement,
    null: bool,
    contradiction: bool,
}

impl Value {
    /// Starts to narrow down an unknown value.
    pub fn refine(&self) -> Refiner {
        Refiner {
            original: self.unmark(),
            marks: self.marks(),
            known: self.refinement().cloned().unwrap_or_default(),
            null: false,
            contradiction: false,
        }
    }
    /// The value, known not to be null (a null value is kept as it is).
    #[must_use]
    pub fn refine_not_null(&self) -> Value {
        if self.is_known() || self.is_definitely_not_null() {
            return self.clone();
        }
        self.refine().not_null().finish()
    }
}

impl Refiner {
    fn ty(&self) -> Type {
        self.original.ty()
    }
    /// It is not null.
    pub fn not_null(mut self) -> Refiner {
        self.contradiction |= self.original.is_null() || self.null;
        self.known.not_null = true;
        self
    }
    /// It is null.
    pub fn null(mut self) -> Refiner {
        self.contradiction |=
            self.known.not_null || self.original.is_known() && !self.original.is_null();
        self.null = true;
        self
    }
    /// A number not below (or above) this.
    pub fn number_min(mut self, value: &Number, inclusive: bool) -> Refiner {
        if self.ty() != Type::Number {
            return self;
        }
        let narrower = self.known.number_min.as_ref().is_none_or(|old| match inclusive {
            true if !old.inclusive => *value > old.value,
            _ => *value >= old.value,
        });
        if narrower && *value != Number::infinity(true) {
            self.known.number_min = Some(Bound { value: value.clone(), inclusive });
        }
        self.check_bounds();
        self
    }
    /// A number not above (or below) this.
    pub fn number_max(mut self, value: &Number, inclusive: bool) -> Refiner {
        if self.ty() != Type::Number {
            return self;
        }
        let narrower = self.known.number_max.as_ref().is_none_or(|old| match inclusive {
            true if !old.inclusive => *value < old.value,
            _ => *value <= old.value,
        });
        if narrower && *value != Number::infinity(false) {
            self.known.number_max = Some(Bound { value: value.clone(), inclusive });
        }
        self.check_bounds();
        self
    }
    fn check_bounds(&mut self) {
        let (Some(min), Some(max)) = (&self.known.number_min, &self.known.number_max) else {
            return;
        };
        self.contradiction |= match min.inclusive == max.inclusive {
            true => min.value > max.value,
            false => min.value >= max.value,
        };
    }
    /// A collection of at least so many elements.
    pub fn length_min(mut self, length: u64) -> Refiner {
        if self.ty().is_collection() && length > self.known.length_min.unwrap_or(0) {
            self.known.length_min = Some(length);
            self.check_lengths();
        }
        self
    }
    /// A collection of at most so many elements.
    pub fn length_max(mut self, length: u64) -> Refiner {
        let bounded = length < i64::MAX as u64;
        if self.ty().is_collection()
            && bounded
            && self.known.length_max.is_none_or(|old| length < old)
        {
            self.known.length_max = Some(length);
            self.check_lengths();
        }
        self
    }
    /// A collection of exactly so many elements.
    pub fn length(self, length: u64) -> Refiner {
        self.length_min(length).length_max(length)
    }
    fn check_lengths(&mut self) {
        if let Some(max) = self.known.length_max {
            self.contradiction |= self.known.length_min.unwrap_or(0) > max;
        }
    }
    /// A string that starts with this, and goes on with anything: what the next character could
    /// still change at the end of the prefix is left out.
    pub fn string_prefix(self, prefix: &str) -> Refiner {
        self.string_prefix_full(safe_prefix(prefix))
    }
    /// A string that starts with exactly this.
    pub fn string_prefix_full(mut self, prefix: impl AsRef<str>) -> Refiner {
        if self.ty() != Type::String {
            return self;
        }
        let Some(prefix) = Value::string(prefix).as_str().map(Arc::<str>::from) else {
            return self;
        };
        let old = self.known.string_prefix.clone().unwrap_or_else(|| Arc::from(""));
        self.contradiction |= !prefix.starts_with(&*old) && !old.starts_with(&*prefix);
        if prefix.len() > old.len() {
            self.known.string_prefix = Some(prefix);
        }
        self
    }

    /// The value: known, where only one is left. Where the statements contradict each other, the
    /// value that narrowing down began with.
    #[must_use]
    pub fn finish(self) -> Value {
        let original = self.original.clone().with_marks(self.marks);
        self.try_finish().unwrap_or(original)
    }

    /// As [`Refiner::finish`], for statements that come from elsewhere.
    ///
    /// # Errors
    /// Where the statements contradict each other.
    pub fn try_finish(self) -> Result<Value, Contradiction> {
        if self.contradiction {
            return Err(Contradiction);
        }
        let marks = self.marks;
        Ok(self.narrowest().with_marks(marks))
    }

    fn narrowest(self) -> Value {
        let Kind::Unknown(ty, _) = self.original.kind() else { return self.original };
        if *ty == Type::Dynamic {
            return self.original;
        }
        if self.null {
            return Value::null(ty.clone());
        }
        let known = self.known;
        if known.not_null {
            if let (Some(min), Some(max)) = (&known.number_min, &known.number_max)
                && min.inclusive
                && max.inclusive
                && min.value == max.value
            {
                return Value::number(min.value.clone());
            }
            if let Some(length) = known.length_max
                && length == known.length_min.unwrap_or(0)
                && let Some(value) = of_length(ty, length)
            {
                return value;
            }
        }
        Value::unknown_refined(ty.clone(), known)
    }
}

fn of_length(ty: &Type, length: u64) -> Option<Value> {
    let none = std::iter::empty::<(Arc<str>, Value)>;
    Some(match (ty, length) {
        (Type::List(t), 0) => Value::list((**t).clone(), Vec::new()),
        (Type::Set(t), 0) => Value::set((**t).clone(), Vec::new()),
        (Type::Map(t), 0) => Value::map((**t).clone(), none()),
        (Type::List(t), n @ 1..=LONGEST_EXPANDED) => {
            Value::list((**t).clone(), vec![Value::unknown((**t).clone()); n as usize])
        }
        (Type::Set(t), 1) => Value::set((**t).clone(), vec![Value::unknown((**t).clone())]),
        _ => return None,
    })
}

/// The part of a prefix that no continuation can change: without the last grapheme cluster, unless
/// that is a punctuation mark which ends a cluster for sure.
pub(crate) fn safe_prefix(prefix: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    use unicode_segmentation::UnicodeSegmentation;
    const ENDS_CLUSTER: &str = "-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'";
    let normal: String = prefix.nfc().collect();
    match normal.grapheme_indices(true).next_back() {
        Some((at, last)) if last.chars().count() > 1 || !ENDS_CLUSTER.contains(last) => {
            normal[..at].to_owned()
        }
        _ => normal,
    }
}
