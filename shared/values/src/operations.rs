//! The operators of the language on values: unknown operands give unknown results, and marks of the
//! operands are those of the result.

use crate::convert::set_order;
use crate::stack::deep;
use crate::{Kind, Marks, Number, Type, Value};
use std::sync::Arc;

/// An operator cannot be applied to these operands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OperationError {
    /// An operand is of another type; operands are converted before.
    #[error("{} required", .want.friendly_constraint_name())]
    Type {
        /// What the operator takes.
        want: Type,
        /// What was given.
        got: Type,
    },
    /// An operand is null.
    #[error("argument must not be null")]
    Null,
    /// Infinity less infinity.
    #[error("can't compute sum of opposing infinities")]
    OpposingInfinities,
    /// Infinity less itself.
    #[error("can't subtract infinity from itself")]
    InfinityLessInfinity,
    /// Zero times infinity.
    #[error("can't multiply zero by infinity")]
    ZeroTimesInfinity,
    /// Zero by zero, or infinity by infinity.
    #[error("can't divide zero by zero or infinity by infinity")]
    UndefinedQuotient,
    /// The rest of a division with zero and infinity.
    #[error("can't use modulo with zero and infinity")]
    UndefinedRemainder,
}

/// Yes, no, or not known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Yes,
    No,
    Open,
}

impl From<bool> for Answer {
    fn from(b: bool) -> Answer {
        if b { Answer::Yes } else { Answer::No }
    }
}

impl Answer {
    fn or(self, other: Answer) -> Answer {
        match (self, other) {
            (Answer::Yes, _) | (_, Answer::Yes) => Answer::Yes,
            (Answer::No, Answer::No) => Answer::No,
            _ => Answer::Open,
        }
    }
    fn not(self) -> Answer {
        match self {
            Answer::Yes => Answer::No,
            Answer::No => Answer::Yes,
            Answer::Open => Answer::Open,
        }
    }
    fn value(self, marks: Marks) -> Value {
        match self {
            Answer::Yes => Value::bool(true),
            Answer::No => Value::bool(false),
            Answer::Open => Value::unknown_not_null(Type::Bool),
        }
        .with_marks(marks)
    }
}

type Result<T> = std::result::Result<T, OperationError>;

fn number(v: &Value) -> Result<Option<&Number>> {
    match v.kind() {
        Kind::Number(n) => Ok(Some(n)),
        Kind::Unknown(Type::Number | Type::Dynamic, _) => Ok(None),
        Kind::Null(_) => Err(OperationError::Null),
        _ => Err(OperationError::Type { want: Type::Number, got: v.ty() }),
    }
}

fn boolean(v: &Value) -> Result<Option<bool>> {
    match v.kind() {
        Kind::Bool(b) => Ok(Some(*b)),
        Kind::Unknown(Type::Bool | Type::Dynamic, _) => Ok(None),
        Kind::Null(_) => Err(OperationError::Null),
        _ => Err(OperationError::Type { want: Type::Bool, got: v.ty() }),
    }
}

/// Arithmetic and logic. An unknown operand gives an unknown result that is not null; operands of
/// unknown type are taken.
///
/// # Errors
/// Where an operand is null or of another type, or where there is no result.
impl Value {
    fn arithmetic(
        &self,
        other: &Value,
        compute: fn(&Number, &Number) -> Option<Number>,
        undefined: OperationError,
    ) -> Result<Value> {
        let marks = self.marks() | other.marks();
        let result = match (number(self)?, number(other)?) {
            (Some(a), Some(b)) => Value::number(compute(a, b).ok_or(undefined)?),
            _ => Value::unknown_not_null(Type::Number),
        };
        Ok(result.with_marks(marks))
    }
    /// `self + other`
    pub fn add(&self, other: &Value) -> Result<Value> {
        self.arithmetic(other, Number::add, OperationError::OpposingInfinities)
    }
    /// `self - other`
    pub fn sub(&self, other: &Value) -> Result<Value> {
        self.arithmetic(other, Number::sub, OperationError::InfinityLessInfinity)
    }
    /// `self * other`
    pub fn mul(&self, other: &Value) -> Result<Value> {
        self.arithmetic(other, Number::mul, OperationError::ZeroTimesInfinity)
    }
    /// `self / other`; a number by zero is infinite.
    pub fn div(&self, other: &Value) -> Result<Value> {
        self.arithmetic(other, Number::div, OperationError::UndefinedQuotient)
    }
    /// `self % other`
    pub fn rem(&self, other: &Value) -> Result<Value> {
        self.arithmetic(other, Number::rem, OperationError::UndefinedRemainder)
    }
    /// `-self`
    pub fn neg(&self) -> Result<Value> {
        let result = match number(self)? {
            Some(n) => Value::number(n.neg()),
            None => Value::unknown_not_null(Type::Number),
        };
        Ok(result.with_marks(self.marks()))
    }
    /// `!self`
    pub fn not(&self) -> Result<Value> {
        let answer = boolean(self)?.map_or(Answer::Open, Answer::from);
        Ok(answer.not().value(self.marks()))
    }
    fn logic(&self, other: &Value, compute: fn(bool, bool) -> bool) -> Result<Value> {
        let answer = match (boolean(self)?, boolean(other)?) {
            (Some(a), Some(b)) => compute(a, b).into(),
            _ => Answer::Open,
        };
        Ok(answer.value(self.marks() | other.marks()))
    }
    /// `self && other`; unknown where either is.
    pub fn and(&self, other: &Value) -> Result<Value> {
        self.logic(other, |a, b| a && b)
    }
    /// `self || other`; unknown where either is.
    pub fn or(&self, other: &Value) -> Result<Value> {
        self.logic(other, |a, b| a || b)
    }
}

/// Comparison of numbers: the range of an unknown number may decide.
///
/// # Errors
/// Where an operand is null or no number.
impl Value {
    /// `self < other`
    pub fn lt(&self, other: &Value) -> Result<Value> {
        Ok(below(self, other)?.value(self.marks() | other.marks()))
    }
    /// `self > other`
    pub fn gt(&self, other: &Value) -> Result<Value> {
        other.lt(self)
    }
    /// `self <= other`
    pub fn le(&self, other: &Value) -> Result<Value> {
        let answer = below(self, other)?.or(equal(self, other));
        Ok(answer.value(self.marks() | other.marks()))
    }
    /// `self >= other`
    pub fn ge(&self, other: &Value) -> Result<Value> {
        other.le(self)
    }
}

fn below(a: &Value, b: &Value) -> Result<Answer> {
    if let (Some(a), Some(b)) = (number(a)?, number(b)?) {
        return Ok((a < b).into());
    }
    let (a_min, a_max) = bounds(a);
    let (b_min, b_max) = bounds(b);
    let less = |a: Option<&Number>, b: Option<&Number>| a.zip(b).is_some_and(|(a, b)| a < b);
    Ok(if less(a_max, b_min) {
        Answer::Yes
    } else if less(b_max, a_min) {
        Answer::No
    } else {
        Answer::Open
    })
}

fn bounds(v: &Value) -> (Option<&Number>, Option<&Number>) {
    match (v.as_number(), v.refinement()) {
        (Some(n), _) => (Some(n), Some(n)),
        (None, Some(r)) => {
            (r.number_min.as_ref().map(|b| &b.value), r.number_max.as_ref().map(|b| &b.value))
        }
        (None, None) => (None, None),
    }
}

impl Value {
    /// `self == other`: unknown where what is not known yet may decide. What is known of an unknown
    /// value may decide already. Marks inside are those of the result too.
    #[must_use]
    pub fn equals(&self, other: &Value) -> Value {
        equal(self, other).value(self.deep_marks() | other.deep_marks())
    }
    /// `self != other`
    #[must_use]
    pub fn not_equals(&self, other: &Value) -> Value {
        equal(self, other).not().value(self.deep_marks() | other.deep_marks())
    }
}

fn equal(a: &Value, b: &Value) -> Answer {
    if a.is_null() && b.is_definitely_not_null() || b.is_null() && a.is_definitely_not_null() {
        return Answer::No;
    }
    match (a.is_known(), b.is_known()) {
        (false, false) => return Answer::Open,
        (true, false) => return known_equals_unknown(a, b),
        (false, true) => return known_equals_unknown(b, a),
        (true, true) => {}
    }
    match (a.kind(), b.kind()) {
        (Kind::Null(_), Kind::Null(_)) => return Answer::Yes,
        (Kind::Null(_), _) | (_, Kind::Null(_)) => return Answer::No,
        (Kind::Bool(a), Kind::Bool(b)) => return (a == b).into(),
        (Kind::Number(a), Kind::Number(b)) => return (a == b).into(),
        (Kind::String(a), Kind::String(b)) => return (a == b).into(),
        _ => {}
    }
    deep(|| {
        let (ty, other) = (a.ty(), b.ty());
        if !type_is_known(a) || !type_is_known(b) {
            return match conforms(&ty, &other) || conforms(&other, &ty) {
                true => Answer::Open,
                false => Answer::No,
            };
        }
        match ty == other {
            true => equal_elements(a, b),
            false => Answer::No,
        }
    })
}

/// Whether nothing unknown inside may still change the type.
fn type_is_known(v: &Value) -> bool {
    if v.is_wholly_known() {
        return true;
    }
    deep(|| match v.kind() {
        Kind::Unknown(ty, _) => !ty.has_dynamic(),
        Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => e.iter().all(type_is_known),
        Kind::Map(_, e) | Kind::Object(e) => e.values().all(type_is_known),
        _ => true,
    })
}

fn known_equals_unknown(known: &Value, unknown: &Value) -> Answer {
    let ty = unknown.ty();
    if known.is_null() {
        return Answer::Open;
    }
    if !conforms(&known.ty(), &ty) || !may_be(unknown, known) {
        return Answer::No;
    }
    Answer::Open
}

/// Whether an unknown value, as far as its refinement says, may turn out to be this one.
fn may_be(unknown: &Value, known: &Value) -> bool {
    let Some(r) = unknown.refinement() else { return true };
    match known.kind() {
        Kind::Null(_) => !r.not_null,
        Kind::String(s) => r.string_prefix.as_ref().is_none_or(|p| s.starts_with(&**p)),
        Kind::Number(n) => {
            let above = r.number_min.as_ref().is_none_or(|b| match b.inclusive {
                true => *n >= b.value,
                false => *n > b.value,
            });
            let below = r.number_max.as_ref().is_none_or(|b| match b.inclusive {
                true => *n <= b.value,
                false => *n < b.value,
            });
            above && below
        }
        _ => match known.length_range() {
            Some((min, max)) => {
                max >= r.length_min.unwrap_or(0) && r.length_max.is_none_or(|m| min <= m)
            }
            None => true,
        },
    }
}

/// Whether a type is what the constraint, taken loosely, allows: dynamic parts allow all.
fn conforms(ty: &Type, constraint: &Type) -> bool {
    deep(|| match (ty, constraint) {
        (_, Type::Dynamic) => true,
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => conforms(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| conforms(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            a.attributes.keys().eq(b.attributes.keys())
                && a.attributes.values().zip(b.attributes.values()).all(|(a, b)| conforms(a, b))
        }
        (a, b) => a == b,
    })
}

fn equal_elements(a: &Value, b: &Value) -> Answer {
    if a.is_wholly_known() && b.is_wholly_known() {
        return (a.unmark_deep() == b.unmark_deep()).into();
    }
    match (a.kind(), b.kind()) {
        (Kind::Set(_, x), Kind::Set(_, y)) => {
            let unknown = x.iter().chain(y.iter()).any(|v| !v.is_known());
            if unknown {
                return Answer::Open;
            }
            let has = |set: &[Value], v: &Value| set.iter().any(|o| equal(o, v) == Answer::Yes);
            (x.iter().all(|v| has(y, v)) && y.iter().all(|v| has(x, v))).into()
        }
        (Kind::List(_, x), Kind::List(_, y)) | (Kind::Tuple(x), Kind::Tuple(y)) => {
            if x.len() != y.len() {
                return Answer::No;
            }
            x.iter()
                .zip(y.iter())
                .map(|(x, y)| equal(x, y))
                .find(|answer| *answer != Answer::Yes)
                .unwrap_or(Answer::Yes)
        }
        (Kind::Map(_, x), Kind::Map(_, y)) | (Kind::Object(x), Kind::Object(y)) => {
            if !x.keys().eq(y.keys()) {
                return Answer::No;
            }
            let mut whole = Answer::Yes;
            for (x, y) in x.values().zip(y.values()) {
                match equal(x, y) {
                    Answer::No => return Answer::No,
                    Answer::Open => whole = Answer::Open,
                    Answer::Yes => {}
                }
            }
            whole
        }
        _ => Answer::No,
    }
}

/// Collections.
impl Value {
    /// Fewest and most elements that a known collection or structure may come to have.
    fn length_range(&self) -> Option<(u64, u64)> {
        let exactly = |n: usize| Some((n as u64, n as u64));
        match self.kind() {
            Kind::Set(_, e) if e.len() > 1 && !self.is_wholly_known() => Some((1, e.len() as u64)),
            Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => exactly(e.len()),
            Kind::Map(_, e) | Kind::Object(e) => exactly(e.len()),
            _ => None,
        }
    }

    /// Number of elements or attributes, with the marks of the whole; `None` where the value is
    /// null or has no length. Unknown elements of a set may turn out to be the same, so that its
    /// length is a range.
    pub fn length(&self) -> Option<Value> {
        let length = match self.kind() {
            Kind::Unknown(Type::Dynamic, _) => Value::unknown_not_null(Type::Number),
            Kind::Unknown(Type::Tuple(items), _) => Value::number(items.len()),
            Kind::Unknown(Type::Object(o), _) => Value::number(o.attributes.len()),
            Kind::Unknown(ty, r) if ty.is_collection() => {
                let r = r.as_deref();
                let min = r.and_then(|r| r.length_min).unwrap_or(0);
                let max = r.and_then(|r| r.length_max).unwrap_or(i64::MAX as u64);
                Value::unknown(Type::Number)
                    .refine()
                    .not_null()
                    .number_min(&Number::from(min), true)
                    .number_max(&Number::from(max), true)
                    .finish()
            }
            _ => match self.length_range()? {
                (min, max) if min == max => Value::number(min),
                (min, max) => Value::unknown(Type::Number)
                    .refine()
                    .not_null()
                    .number_min(&Number::from(min), true)
                    .number_max(&Number::from(max), true)
                    .finish(),
            },
        };
        Some(length.with_marks(self.marks()))
    }

    /// Whether a list, tuple or map has an element of this key: a whole number or a string. Unknown
    /// where the value or the key is; `false` for keys of another type.
    #[must_use]
    pub fn has_index(&self, key: &Value) -> Value {
        let answer = match (self.ty(), key.kind()) {
            (Type::Dynamic, _) | (_, Kind::Unknown(Type::Dynamic, _)) => Answer::Open,
            (Type::List(_) | Type::Tuple(_), Kind::Unknown(Type::Number, _))
            | (Type::Map(_), Kind::Unknown(Type::String, _)) => Answer::Open,
            (Type::Tuple(items), Kind::Number(n)) => is_below(n, items.len()).into(),
            (Type::List(_), Kind::Number(n)) => match self.as_slice() {
                Some(items) => is_below(n, items.len()).into(),
                None if self.is_known() => Answer::No,
                None => Answer::Open,
            },
            (Type::Map(_), Kind::String(s)) => match self.as_map() {
                Some(items) => items.contains_key(s).into(),
                None if self.is_known() => Answer::No,
                None => Answer::Open,
            },
            _ => Answer::No,
        };
        answer.value(self.marks() | key.marks())
    }

    /// The element of a list, tuple or map at a key, or the attribute of an object, with the marks
    /// of the whole and of the key; `None` where there is none. Unknown where the value or the key
    /// is.
    pub fn index(&self, key: &Value) -> Option<Value> {
        let ty = self.ty();
        let found = match (&ty, key.kind()) {
            (Type::Dynamic, _) if !self.is_known() => Value::dynamic(),
            (Type::List(t), Kind::Unknown(Type::Number | Type::Dynamic, _))
            | (Type::Map(t), Kind::Unknown(Type::String | Type::Dynamic, _)) => {
                Value::unknown((**t).clone())
            }
            (Type::Tuple(_), Kind::Unknown(Type::Number | Type::Dynamic, _))
            | (Type::Object(_), Kind::Unknown(Type::String | Type::Dynamic, _)) => Value::dynamic(),
            (Type::List(t), Kind::Number(_)) if !self.is_known() => Value::unknown((**t).clone()),
            (Type::Map(t), Kind::String(_)) if !self.is_known() => Value::unknown((**t).clone()),
            (Type::Tuple(items), Kind::Number(n)) if !self.is_known() => {
                Value::unknown(items.get(usize::try_from(n.to_u64()?).ok()?)?.clone())
            }
            (Type::List(_) | Type::Tuple(_), Kind::Number(n)) => {
                self.as_slice()?.get(usize::try_from(n.to_u64()?).ok()?)?.clone()
            }
            (Type::Map(_), Kind::String(s)) => self.as_map()?.get(s)?.clone(),
            (Type::Object(_), Kind::String(s)) => self.attribute(s)?,
            _ => return None,
        };
        Some(found.with_marks(self.marks() | key.marks()))
    }

    /// Whether a set has an element: unknown where something not known yet may decide; `None` where
    /// this is no set, or null.
    pub fn has_element(&self, element: &Value) -> Option<Value> {
        let marks = self.marks() | element.deep_marks();
        let answer = match self.kind() {
            Kind::Unknown(Type::Set(_) | Type::Dynamic, _) => Answer::Open,
            Kind::Set(ty, items) => {
                let other = element.ty();
                if !element.is_known() && other == Type::Dynamic {
                    Answer::Open
                } else if other != *ty {
                    Answer::No
                } else if !element.is_known() {
                    Answer::Open
                } else if set_order::contains(items, &element.unmark_deep()) {
                    Answer::Yes
                } else if self.is_wholly_known() {
                    Answer::No
                } else {
                    Answer::Open
                }
            }
            _ => return None,
        };
        Some(answer.value(marks))
    }

    /// Whether elements can be gone through, once the value is known.
    pub fn is_iterable(&self) -> bool {
        matches!(
            self.ty(),
            Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Tuple(_) | Type::Object(_)
        )
    }

    /// Every element with its key, in order: index, key or attribute name; a set's elements are
    /// their own keys. `None` for what is null, unknown or has no elements. The marks of the whole
    /// are not added: who iterates decides where they go.
    pub fn elements(&self) -> Option<ElementsIter<'_>> {
        Some(match self.kind() {
            Kind::List(_, e) | Kind::Tuple(e) => ElementsIter::Indexed(e.iter().enumerate()),
            Kind::Set(_, e) => ElementsIter::Set(e.iter()),
            Kind::Map(_, e) | Kind::Object(e) => ElementsIter::Named(e.iter()),
            _ => return None,
        })
    }
}

fn is_below(n: &Number, length: usize) -> bool {
    n.to_u64().is_some_and(|i| i < length as u64)
}

/// Elements and their keys; see [`Value::elements`].
#[derive(Debug, Clone)]
pub enum ElementsIter<'a> {
    /// Of a list or tuple.
    Indexed(std::iter::Enumerate<std::slice::Iter<'a, Value>>),
    /// Of a set.
    Set(std::slice::Iter<'a, Value>),
    /// Of a map or object.
    Named(std::collections::btree_map::Iter<'a, Arc<str>, Value>),
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = (Value, &'a Value);
    fn next(&mut self) -> Option<(Value, &'a Value)> {
        match self {
            ElementsIter::Indexed(items) => items.next().map(|(i, v)| (Value::number(i), v)),
            ElementsIter::Set(items) => items.next().map(|v| (v.clone(), v)),
            ElementsIter::Named(items) => {
                items.next().map(|(k, v)| (Value::shared_string(k.clone()), v))
            }
        }
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            ElementsIter::Indexed(items) => items.size_hint(),
            ElementsIter::Set(items) => items.size_hint(),
            ElementsIter::Named(items) => items.size_hint(),
        }
    }
}
