//! Numbers with a precision of their own.

mod arithmetic;
mod parse;
mod print;

pub use print::NumberFormat;

use dashu_int::ops::BitTest;
use dashu_int::{IBig, Sign, UBig};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A number: a binary floating point number whose precision travels with it.
///
/// Literals have 512 bits, integers that functions make have 64, floats 53; an operation rounds to
/// nearest even at the larger precision of its operands. Equality, order and hash are by value
/// alone: `-0` equals `0`, and the precision plays no part.
#[derive(Clone)]
pub struct Number {
    repr: Repr,
}

/// `mantissa * 2^exponent`, the mantissa odd.
#[derive(Clone)]
enum Repr {
    Zero { negative: bool, precision: u32 },
    Small { mantissa: i64, exponent: i32, precision: u32 },
    Big(Arc<Big>),
    Infinite { negative: bool, precision: u32 },
}

struct Big {
    negative: bool,
    mantissa: UBig,
    exponent: i32,
    precision: u32,
}

/// Magnitude of a finite number that is not zero: `mantissa * 2^exponent`, mantissa not necessarily
/// odd.
#[derive(Clone)]
struct Parts {
    negative: bool,
    mantissa: UBig,
    exponent: i64,
}

/// Numbers at or above 2^LIMIT are infinite, those below 2^-LIMIT zero: a short text such as
/// `1e1000000000` must not make megabytes of digits.
const LIMIT: i64 = 1 << 22;

const INTEGER_PRECISION: u32 = 64;
const FLOAT_PRECISION: u32 = 53;

impl Parts {
    /// Position after the highest bit: the number is below 2^top and not below 2^(top-1).
    fn top(&self) -> i64 {
        self.exponent + self.mantissa.bit_len() as i64
    }

    /// Rounds to nearest even. `sticky` says that the true mantissa is a little larger.
    fn round(mut self, precision: u32, sticky: bool) -> Parts {
        let bits = self.mantissa.bit_len();
        let keep = precision as usize;
        if bits <= keep {
            return self;
        }
        let drop = bits - keep;
        let half = self.mantissa.bit(drop - 1);
        let below = sticky || self.mantissa.trailing_zeros().is_some_and(|z| z < drop - 1);
        let mut kept = &self.mantissa >> drop;
        if half && (below || kept.bit(0)) {
            kept += UBig::ONE;
        }
        self.mantissa = kept;
        self.exponent += drop as i64;
        self
    }
}

impl Number {
    /// Zero, at the precision of integers.
    pub const ZERO: Number =
        Number { repr: Repr::Zero { negative: false, precision: INTEGER_PRECISION } };

    /// Infinity of a sign.
    pub const fn infinity(negative: bool) -> Number {
        Number { repr: Repr::Infinite { negative, precision: FLOAT_PRECISION } }
    }

    const fn zero(negative: bool, precision: u32) -> Number {
        Number { repr: Repr::Zero { negative, precision } }
    }

    /// A mantissa that fits the precision already.
    fn exact(parts: Parts, precision: u32) -> Number {
        let Parts { negative, mantissa, exponent } = parts;
        let Some(zeros) = mantissa.trailing_zeros() else {
            return Number::zero(negative, precision);
        };
        let top = exponent + mantissa.bit_len() as i64;
        if top > LIMIT {
            return Number { repr: Repr::Infinite { negative, precision } };
        }
        let exponent = exponent + zeros as i64;
        if top < -LIMIT || exponent < i64::from(i32::MIN) {
            return Number::zero(negative, precision);
        }
        let exponent = exponent as i32;
        let mantissa = if zeros == 0 { mantissa } else { mantissa >> zeros };
        let repr = match i64::try_from(&mantissa) {
            Ok(m) => Repr::Small { mantissa: if negative { -m } else { m }, exponent, precision },
            Err(_) => Repr::Big(Arc::new(Big { negative, mantissa, exponent, precision })),
        };
        Number { repr }
    }

    fn rounded(parts: Parts, precision: u32, sticky: bool) -> Number {
        Number::exact(parts.round(precision, sticky), precision)
    }

    /// From a mantissa of machine size; the caller knows that it fits the precision.
    fn small(mantissa: i64, exponent: i32, precision: u32) -> Number {
        if mantissa == 0 {
            return Number::zero(false, precision);
        }
        let zeros = mantissa.trailing_zeros();
        Number {
            repr: Repr::Small {
                mantissa: mantissa >> zeros,
                exponent: exponent + zeros as i32,
                precision,
            },
        }
    }

    /// Sign, mantissa and exponent; `None` for zero and the infinities.
    fn parts(&self) -> Option<Parts> {
        match &self.repr {
            Repr::Small { mantissa, exponent, .. } => Some(Parts {
                negative: *mantissa < 0,
                mantissa: UBig::from(mantissa.unsigned_abs()),
                exponent: i64::from(*exponent),
            }),
            Repr::Big(b) => Some(Parts {
                negative: b.negative,
                mantissa: b.mantissa.clone(),
                exponent: i64::from(b.exponent),
            }),
            Repr::Zero { .. } | Repr::Infinite { .. } => None,
        }
    }

    /// Bits of precision.
    pub fn precision(&self) -> u32 {
        match &self.repr {
            Repr::Zero { precision, .. }
            | Repr::Small { precision, .. }
            | Repr::Infinite { precision, .. } => *precision,
            Repr::Big(b) => b.precision,
        }
    }

    /// From a float, at 53 bits. `None` for NaN; infinities are kept.
    pub fn from_f64(f: f64) -> Option<Number> {
        if f.is_nan() {
            return None;
        }
        let negative = f.is_sign_negative();
        if f.is_infinite() {
            return Some(Number::infinity(negative));
        }
        if f == 0.0 {
            return Some(Number::zero(negative, FLOAT_PRECISION));
        }
        let bits = f.to_bits();
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        let (mantissa, exponent) = match ((bits >> 52) & 0x7ff) as i32 {
            0 => (fraction, -1074),
            e => (fraction | (1 << 52), e - 1075),
        };
        let mantissa = if negative { -mantissa } else { mantissa };
        Some(Number::small(mantissa, exponent, FLOAT_PRECISION))
    }

    /// The nearest float; infinite where it is out of range.
    pub fn to_f64(&self) -> f64 {
        let signed = |negative: bool, f: f64| if negative { -f } else { f };
        match &self.repr {
            Repr::Zero { negative, .. } => return signed(*negative, 0.0),
            Repr::Infinite { negative, .. } => return signed(*negative, f64::INFINITY),
            Repr::Small { mantissa, exponent: 0, .. } => return *mantissa as f64,
            Repr::Small { .. } | Repr::Big(_) => {}
        }
        let Some(parts) = self.parts() else { return 0.0 };
        let negative = parts.negative;
        let top = parts.top();
        // Subnormal floats have fewer bits.
        let bits = (top + 1074).min(i64::from(FLOAT_PRECISION));
        if top > 1024 {
            return signed(negative, f64::INFINITY);
        }
        if bits < 0 {
            return signed(negative, 0.0);
        }
        if bits == 0 {
            // Between a half and one of the smallest float; exactly a half rounds to even zero.
            let half = parts.mantissa.trailing_zeros() == Some(parts.mantissa.bit_len() - 1);
            return signed(negative, if half { 0.0 } else { f64::from_bits(1) });
        }
        let rounded = parts.round(bits as u32, false);
        let (mut mantissa, mut exponent) = (rounded.mantissa, rounded.exponent);
        // Bring the last bit to where the float has it.
        let lowest = (mantissa.bit_len() as i64 + exponent - 53).max(-1074);
        if exponent > lowest {
            mantissa <<= (exponent - lowest) as usize;
        } else {
            mantissa >>= (lowest - exponent) as usize;
        }
        exponent = lowest;
        let m = u64::try_from(&mantissa).unwrap_or(u64::MAX);
        if m >> 52 == 0 {
            return signed(negative, f64::from_bits(m));
        }
        let biased = (exponent + 1075) as u64;
        if biased >= 0x7ff {
            return signed(negative, f64::INFINITY);
        }
        signed(negative, f64::from_bits((biased << 52) | (m & ((1 << 52) - 1))))
    }

    /// The float, where it is exactly this number.
    pub fn to_f64_exact(&self) -> Option<f64> {
        let f = self.to_f64();
        Number::from_f64(f).filter(|back| back == self).map(|_| f)
    }

    /// The integer, if it is one within range.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.repr {
            Repr::Zero { .. } => Some(0),
            Repr::Small { mantissa, exponent, .. } => {
                let shift = u32::try_from(*exponent).ok().filter(|s| *s < 64)?;
                i64::try_from(i128::from(*mantissa) << shift).ok()
            }
            Repr::Big(_) | Repr::Infinite { .. } => None,
        }
    }

    /// The integer, if it is one within range.
    pub fn to_u64(&self) -> Option<u64> {
        match self.to_i64() {
            Some(i) => u64::try_from(i).ok(),
            None => self.to_integer().and_then(|i| u64::try_from(i).ok()),
        }
    }

    /// The integer, if it is one, of any size.
    pub fn to_integer(&self) -> Option<IBig> {
        if !self.is_integer() {
            return None;
        }
        Some(self.truncated_integer())
    }

    /// An integer of any size; the precision is what it needs, at least 64 bits.
    pub fn from_integer(i: IBig) -> Number {
        let (sign, mantissa) = i.into_parts();
        let precision =
            (mantissa.bit_len() as u64).clamp(u64::from(INTEGER_PRECISION), u64::from(u32::MAX));
        if mantissa.is_zero() {
            return Number::zero(false, precision as u32);
        }
        let parts = Parts { negative: sign == Sign::Negative, mantissa, exponent: 0 };
        Number::rounded(parts, precision as u32, false)
    }

    /// What is left without the fraction; zero for the infinities.
    fn truncated_integer(&self) -> IBig {
        let Some(parts) = self.parts() else { return IBig::ZERO };
        let magnitude = match parts.exponent {
            e if e >= 0 => parts.mantissa << e as usize,
            e => parts.mantissa >> e.unsigned_abs() as usize,
        };
        IBig::from_parts(if parts.negative { Sign::Negative } else { Sign::Positive }, magnitude)
    }

    /// Whether it has no fractional part; the infinities have none of any kind and are not integers.
    pub fn is_integer(&self) -> bool {
        match &self.repr {
            Repr::Zero { .. } => true,
            Repr::Small { exponent, .. } => *exponent >= 0,
            Repr::Big(b) => b.exponent >= 0,
            Repr::Infinite { .. } => false,
        }
    }

    /// Whether it is one of the infinities.
    pub fn is_infinite(&self) -> bool {
        matches!(self.repr, Repr::Infinite { .. })
    }

    /// Whether it is zero, of either sign.
    pub fn is_zero(&self) -> bool {
        matches!(self.repr, Repr::Zero { .. })
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        match &self.repr {
            Repr::Zero { .. } => false,
            Repr::Small { mantissa, .. } => *mantissa < 0,
            Repr::Big(b) => b.negative,
            Repr::Infinite { negative, .. } => *negative,
        }
    }

    fn signum(&self) -> i8 {
        match (self.is_zero(), self.is_negative()) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl From<i64> for Number {
    fn from(n: i64) -> Number {
        Number::small(n, 0, INTEGER_PRECISION)
    }
}
impl From<u64> for Number {
    fn from(n: u64) -> Number {
        match i64::try_from(n) {
            Ok(i) => i.into(),
            Err(_) => Number::from_integer(IBig::from(n)),
        }
    }
}
impl From<usize> for Number {
    fn from(n: usize) -> Number {
        Number::from(n as u64)
    }
}
impl From<IBig> for Number {
    fn from(n: IBig) -> Number {
        Number::from_integer(n)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        // The mantissa is odd, so that equal numbers have equal parts.
        match (&self.repr, &other.repr) {
            (Repr::Zero { .. }, Repr::Zero { .. }) => true,
            (
                Repr::Small { mantissa: a, exponent: ea, .. },
                Repr::Small { mantissa: b, exponent: eb, .. },
            ) => a == b && ea == eb,
            (Repr::Big(a), Repr::Big(b)) => {
                a.negative == b.negative && a.exponent == b.exponent && a.mantissa == b.mantissa
            }
            (Repr::Infinite { negative: a, .. }, Repr::Infinite { negative: b, .. }) => a == b,
            _ => false,
        }
    }
}
impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.repr {
            Repr::Zero { .. } => 0u8.hash(state),
            Repr::Small { mantissa, exponent, .. } => (1u8, mantissa, exponent).hash(state),
            Repr::Big(b) => (2u8, b.negative, &b.mantissa, b.exponent).hash(state),
            Repr::Infinite { negative, .. } => (3u8, negative).hash(state),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        if let (
            Repr::Small { mantissa: a, exponent: ea, .. },
            Repr::Small { mantissa: b, exponent: eb, .. },
        ) = (&self.repr, &other.repr)
            && ea == eb
        {
            return a.cmp(b);
        }
        let sign = self.signum();
        let by_sign = sign.cmp(&other.signum());
        if by_sign.is_ne() || sign == 0 {
            return by_sign;
        }
        let magnitude = match (self.parts(), other.parts()) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a.top().cmp(&b.top()).then_with(|| {
                let low = a.exponent.min(b.exponent);
                let aligned = |p: Parts| p.mantissa << (p.exponent - low) as usize;
                aligned(a).cmp(&aligned(b))
            }),
        };
        if sign < 0 { magnitude.reverse() } else { magnitude }
    }
}
