use super::arithmetic::power_of_five;
use super::{LIMIT, Number, Parts};
use dashu_int::UBig;

/// Precision of literals.
const LITERAL_PRECISION: u32 = 512;
/// Bits more for the power of five that a decimal exponent means.
const GUARD_BITS: u32 = 64;

impl Number {
    /// Reads a decimal (`1`, `-1.5e3`, `.5`, `5.`) at 512 bits; `None` where it is not a number, or
    /// one beyond any use (more than about a million digits before or after the point).
    ///
    /// As in Terraform, `inf` and a binary exponent (`1p3` is 8) are taken too.
    pub fn parse(text: &str) -> Option<Number> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if digits == "inf" || digits == "Inf" {
            return Some(Number::infinity(negative));
        }
        // The case that nearly every literal is.
        if digits.len() <= 18 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            let n: i64 = digits.parse().ok()?;
            return Some(match n {
                0 => Number::zero(negative, LITERAL_PRECISION),
                n => Number::small(if negative { -n } else { n }, 0, LITERAL_PRECISION),
            });
        }
        let split = digits.find(['e', 'E', 'p', 'P']);
        let (mantissa, exponent) = match split {
            Some(at) => (&digits[..at], Some(&digits[at..])),
            None => (digits, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let (mut power_two, mut power_ten) = (0i64, -(fraction.len() as i64));
        if let Some(exponent) = exponent {
            let value = parse_exponent(&exponent[1..])?;
            match exponent.as_bytes()[0] {
                b'e' | b'E' => power_ten = power_ten.checked_add(value)?,
                _ => power_two = value,
            }
        }
        let significant = [whole, fraction].concat();
        let mantissa = UBig::from_str_radix(&significant, 10).ok()?;
        if mantissa.is_zero() {
            return Some(Number::zero(negative, LITERAL_PRECISION));
        }
        let reach = (significant.trim_start_matches('0').len() as i64).checked_add(power_ten)?;
        // A decimal digit is more than three bits.
        if reach.abs().max(power_ten.abs()) > LIMIT / 3 || power_two.abs() > LIMIT {
            return None;
        }
        let parts = Parts { negative, mantissa, exponent: power_two + power_ten };
        let guarded = LITERAL_PRECISION + GUARD_BITS;
        let parts = match power_ten {
            0 => parts.round(LITERAL_PRECISION, false),
            1.. => parts
                .multiply(&power_of_five(power_ten.unsigned_abs(), guarded))
                .round(LITERAL_PRECISION, false),
            ..0 => {
                parts.divide(&power_of_five(power_ten.unsigned_abs(), guarded), LITERAL_PRECISION)
            }
        };
        Some(Number::exact(parts, LITERAL_PRECISION))
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}
