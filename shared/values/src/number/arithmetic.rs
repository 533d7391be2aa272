use super::{Number, Parts, Repr};
use dashu_int::ops::{BitTest, DivRem};
use dashu_int::{IBig, Sign, UBig};

/// Precision at which products are made, before they are cut down to what they need.
const PRODUCT_PRECISION: u32 = 512;

impl Parts {
    fn signed(&self, low: i64) -> IBig {
        let magnitude = &self.mantissa << (self.exponent - low) as usize;
        IBig::from_parts(if self.negative { Sign::Negative } else { Sign::Positive }, magnitude)
    }

    pub(super) fn multiply(&self, other: &Parts) -> Parts {
        Parts {
            negative: self.negative != other.negative,
            mantissa: &self.mantissa * &other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The quotient, rounded to nearest even at a precision.
    pub(super) fn divide(&self, other: &Parts, precision: u32) -> Parts {
        let wanted = precision as usize + 2;
        let shift = (wanted + other.mantissa.bit_len()).saturating_sub(self.mantissa.bit_len());
        let (quotient, rest) = (&self.mantissa << shift).div_rem(&other.mantissa);
        Parts {
            negative: self.negative != other.negative,
            mantissa: quotient,
            exponent: self.exponent - other.exponent - shift as i64,
        }
        .round(precision, !rest.is_zero())
    }
}

/// Arithmetic as the language has it: results are rounded to nearest even at the larger precision of
/// the operands. `None` where there is no result (infinity less infinity, zero by zero and the like).
impl Number {
    fn negative_sign(&self) -> bool {
        match &self.repr {
            Repr::Zero { negative, .. } | Repr::Infinite { negative, .. } => *negative,
            Repr::Small { mantissa, .. } => *mantissa < 0,
            Repr::Big(b) => b.negative,
        }
    }

    fn with_precision(&self, precision: u32) -> Number {
        match self.parts() {
            Some(parts) => Number::rounded(parts, precision, false),
            None => match self.repr {
                Repr::Infinite { negative, .. } => {
                    Number { repr: Repr::Infinite { negative, precision } }
                }
                _ => Number::zero(self.negative_sign(), precision),
            },
        }
    }

    /// `self + other`; `None` for infinities of opposite sign.
    pub fn add(&self, other: &Number) -> Option<Number> {
        self.add_at(other, self.precision().max(other.precision()))
    }

    fn add_at(&self, other: &Number, precision: u32) -> Option<Number> {
        if let (
            Repr::Small { mantissa: a, exponent: ea, .. },
            Repr::Small { mantissa: b, exponent: eb, .. },
        ) = (&self.repr, &other.repr)
            && ea == eb
            && precision >= 64
            && let Some(sum) = a.checked_add(*b)
        {
            return Some(Number::small(sum, *ea, precision));
        }
        let sum = match (self.parts(), other.parts()) {
            (Some(a), Some(b)) => {
                let low = a.exponent.min(b.exponent);
                let (sign, mantissa) = (a.signed(low) + b.signed(low)).into_parts();
                if mantissa.is_zero() {
                    return Some(Number::zero(false, precision));
                }
                let negative = sign == Sign::Negative;
                Number::rounded(Parts { negative, mantissa, exponent: low }, precision, false)
            }
            _ if self.is_infinite() && other.is_infinite() => {
                if self.is_negative() != other.is_negative() {
                    return None;
                }
                self.with_precision(precision)
            }
            _ if self.is_infinite() => self.with_precision(precision),
            _ if other.is_infinite() => other.with_precision(precision),
            _ if self.is_zero() && other.is_zero() => {
                Number::zero(self.negative_sign() && other.negative_sign(), precision)
            }
            _ if self.is_zero() => other.with_precision(precision),
            _ => self.with_precision(precision),
        };
        Some(sum)
    }

    /// `self - other`; `None` for infinities of the same sign.
    pub fn sub(&self, other: &Number) -> Option<Number> {
        self.add(&other.neg())
    }

    /// `-self`, at the same precision.
    #[must_use]
    pub fn neg(&self) -> Number {
        let repr = match &self.repr {
            Repr::Zero { negative, precision } => {
                Repr::Zero { negative: !negative, precision: *precision }
            }
            // An odd mantissa is never the least integer.
            Repr::Small { mantissa, exponent, precision } => {
                Repr::Small { mantissa: -mantissa, exponent: *exponent, precision: *precision }
            }
            Repr::Big(b) => Repr::Big(std::sync::Arc::new(super::Big {
                negative: !b.negative,
                mantissa: b.mantissa.clone(),
                exponent: b.exponent,
                precision: b.precision,
            })),
            Repr::Infinite { negative, precision } => {
                Repr::Infinite { negative: !negative, precision: *precision }
            }
        };
        Number { repr }
    }

    /// The magnitude, at the same precision.
    #[must_use]
    pub fn abs(&self) -> Number {
        if self.negative_sign() { self.neg() } else { self.clone() }
    }

    /// `self * other`: exact up to 512 bits, at the precision that it then needs, and no less than
    /// that of the operands. `None` for zero times infinity.
    pub fn mul(&self, other: &Number) -> Option<Number> {
        let precision = self.precision().max(other.precision());
        let negative = self.negative_sign() != other.negative_sign();
        let (Some(a), Some(b)) = (self.parts(), other.parts()) else {
            if self.is_infinite() || other.is_infinite() {
                if self.is_zero() || other.is_zero() {
                    return None;
                }
                return Some(Number { repr: Repr::Infinite { negative, precision } });
            }
            return Some(Number::zero(negative, precision));
        };
        if let (
            Repr::Small { mantissa: a, exponent: ea, .. },
            Repr::Small { mantissa: b, exponent: eb, .. },
        ) = (&self.repr, &other.repr)
            && precision >= 64
            && let (Some(product), Some(exponent)) = (a.checked_mul(*b), ea.checked_add(*eb))
            && exponent.unsigned_abs() < 1 << 20
        {
            return Some(Number::small(product, exponent, precision));
        }
        let product = a.multiply(&b).round(PRODUCT_PRECISION, false);
        let needed =
            product.mantissa.bit_len() - product.mantissa.trailing_zeros().unwrap_or_default();
        let precision = precision.max(needed as u32);
        Some(Number::rounded(product, precision, false))
    }

    /// `self / other`; a number by zero is infinite. `None` for zero by zero and infinity by
    /// infinity.
    pub fn div(&self, other: &Number) -> Option<Number> {
        let precision = self.precision().max(other.precision());
        let negative = self.negative_sign() != other.negative_sign();
        let (Some(a), Some(b)) = (self.parts(), other.parts()) else {
            if self.is_zero() && other.is_zero() || self.is_infinite() && other.is_infinite() {
                return None;
            }
            return Some(match self.is_zero() || other.is_infinite() {
                true => Number::zero(negative, precision),
                false => Number { repr: Repr::Infinite { negative, precision } },
            });
        };
        Some(Number::exact(a.divide(&b, precision), precision))
    }

    /// `self % other`, with the sign of `self`; `self` where `other` is zero.
    pub fn rem(&self, other: &Number) -> Option<Number> {
        if self.is_infinite() || other.is_infinite() {
            return self.mul(other);
        }
        if other.is_zero() {
            return Some(self.clone());
        }
        let precision = self.precision();
        let times = self.div(other)?.truncated_integer();
        let times = Number::from_integer(times).with_precision(precision);
        let product = match (times.parts(), other.parts()) {
            (Some(a), Some(b)) => Number::rounded(a.multiply(&b), precision, false),
            _ => Number::zero(times.negative_sign() != other.negative_sign(), precision),
        };
        self.add_at(&product.neg(), precision)
    }

    /// The largest integer not above it; the infinities are kept.
    #[must_use]
    pub fn floor(&self) -> Number {
        if self.is_integer() || self.is_infinite() {
            return self.clone();
        }
        let whole = self.truncated_integer();
        Number::from_integer(if self.is_negative() { whole - IBig::ONE } else { whole })
    }

    /// The smallest integer not below it; the infinities are kept.
    #[must_use]
    pub fn ceil(&self) -> Number {
        if self.is_integer() || self.is_infinite() {
            return self.clone();
        }
        let whole = self.truncated_integer();
        Number::from_integer(if self.is_negative() { whole } else { whole + IBig::ONE })
    }

    /// The integer part: rounded toward zero; the infinities are kept.
    #[must_use]
    pub fn trunc(&self) -> Number {
        if self.is_integer() || self.is_infinite() {
            return self.clone();
        }
        Number::from_integer(self.truncated_integer())
    }
}

/// 5 to a power, at a precision, by squaring: rounded as Terraform's own reading of decimals rounds.
pub(super) fn power_of_five(n: u64, precision: u32) -> Parts {
    const EXACT: u64 = 27;
    let five = |n: u64| UBig::from(5u8).pow(n as usize);
    let parts = |mantissa: UBig| Parts { negative: false, mantissa, exponent: 0 };
    if n <= EXACT {
        return parts(five(n)).round(precision, false);
    }
    let mut result = parts(five(EXACT)).round(precision, false);
    let mut left = n - EXACT;
    let wider = precision + 64;
    let mut factor = parts(five(1));
    while left > 0 {
        if left & 1 == 1 {
            result = result.multiply(&factor).round(precision, false);
        }
        factor = factor.multiply(&factor).round(wider, false);
        left >>= 1;
    }
    result
}
