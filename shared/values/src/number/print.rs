use super::{Number, Parts, Repr};
use dashu_int::UBig;
use dashu_int::ops::BitTest;
use std::fmt;

/// How [`Number::format`] writes digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberFormat {
    /// `-ddd.dddd`, the precision being digits after the point.
    Fixed,
    /// `-d.dddde±dd`, the precision being digits after the point.
    Exponent,
    /// [`NumberFormat::Exponent`] for large exponents, else [`NumberFormat::Fixed`]; the precision
    /// being significant digits.
    General,
}

/// Decimal digits `0.d1d2d3… * 10^point`, without zeros at either end.
#[derive(Default, Clone)]
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// The exact decimal of `mantissa * 2^exponent`.
    fn exact(mantissa: &UBig, exponent: i64) -> Decimal {
        let (scaled, ten) = match exponent {
            e if e >= 0 => (mantissa << e as usize, 0),
            e => {
                let zeros = mantissa.trailing_zeros().unwrap_or_default() as i64;
                let spare = zeros.min(-e);
                let places = -e - spare;
                let reduced = mantissa >> spare as usize;
                (reduced * UBig::from(5u8).pow(places as usize), -places)
            }
        };
        let digits = scaled.to_string().into_bytes();
        let point = digits.len() as i64 + ten;
        let mut decimal = Decimal { digits, point };
        decimal.trim();
        decimal
    }

    fn trim(&mut self) {
        let keep = self.digits.iter().rposition(|d| *d != b'0').map_or(0, |i| i + 1);
        self.digits.truncate(keep);
        if keep == 0 {
            self.point = 0;
        }
    }

    fn at(&self, i: usize) -> u8 {
        self.digits.get(i).copied().unwrap_or(b'0')
    }

    /// Rounds to `n` significant digits, to nearest even.
    fn round(&mut self, n: i64) {
        let Ok(n) = usize::try_from(n) else { return self.round_down(0) };
        if n >= self.digits.len() {
            return;
        }
        let exactly_half = self.digits[n] == b'5' && n + 1 == self.digits.len();
        let up = match exactly_half {
            true => n > 0 && (self.digits[n - 1] - b'0') % 2 == 1,
            false => self.digits[n] >= b'5',
        };
        if up { self.round_up(n) } else { self.round_down(n) }
    }

    fn round_down(&mut self, n: usize) {
        self.digits.truncate(n);
        self.trim();
    }

    fn round_up(&mut self, n: usize) {
        if n >= self.digits.len() {
            return;
        }
        match self.digits[..n].iter().rposition(|d| *d < b'9') {
            Some(last) => {
                self.digits.truncate(last + 1);
                self.digits[last] += 1;
            }
            None => {
                self.digits = vec![b'1'];
                self.point += 1;
            }
        }
    }

    /// The fewest digits that read back as the number at its precision.
    fn shortest(parts: &Parts, precision: u32) -> Decimal {
        let mut decimal = Decimal::exact(&parts.mantissa, parts.exponent);
        let bits = parts.mantissa.bit_len() as i64;
        // Any shorter integer would be further off than half of the last bit.
        if parts.exponent >= 0 && bits + parts.exponent <= i64::from(precision) {
            return decimal;
        }
        // With one bit more than the precision, one is half of the last bit.
        let shift = i64::from(precision) + 1 - bits;
        let mantissa = match shift {
            s if s >= 0 => &parts.mantissa << s as usize,
            s => &parts.mantissa >> s.unsigned_abs() as usize,
        };
        let exponent = parts.exponent - shift;
        let lower = Decimal::exact(&(&mantissa - UBig::ONE), exponent);
        let upper = Decimal::exact(&(&mantissa + UBig::ONE), exponent);
        // The ends read back as the number only where ties go to it.
        let inclusive = !mantissa.bit(1);
        for i in 0..decimal.digits.len() {
            let (m, l, u) = (decimal.digits[i], lower.at(i), upper.at(i));
            let down = l != m || inclusive && i + 1 == lower.digits.len();
            let up = m != u && (inclusive || m + 1 < u || i + 1 < upper.digits.len());
            match (down, up) {
                (true, true) => decimal.round(i as i64 + 1),
                (true, false) => decimal.round_down(i + 1),
                (false, true) => decimal.round_up(i + 1),
                (false, false) => continue,
            }
            break;
        }
        decimal
    }

    fn write_fixed(&self, out: &mut String, places: usize) {
        if self.point > 0 {
            let whole = self.point as usize;
            (0..whole).for_each(|i| out.push(char::from(self.at(i))));
        } else {
            out.push('0');
        }
        if places > 0 {
            out.push('.');
            for i in 0..places as i64 {
                let at = usize::try_from(self.point + i);
                out.push(at.map_or('0', |at| char::from(self.at(at))));
            }
        }
    }

    fn write_exponent(&self, out: &mut String, places: usize) {
        out.push(char::from(self.at(0)));
        if places > 0 {
            out.push('.');
            (1..=places).for_each(|i| out.push(char::from(self.at(i))));
        }
        let exponent = if self.digits.is_empty() { 0 } else { self.point - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
    }
}

impl Number {
    /// Writes it with so many digits (see [`NumberFormat`]), or with the fewest that read back at
    /// its precision. Infinities are `+Inf` and `-Inf`.
    pub fn format(&self, format: NumberFormat, precision: Option<usize>) -> String {
        if let Repr::Infinite { negative, .. } = self.repr {
            return if negative { "-Inf".into() } else { "+Inf".into() };
        }
        let negative = match &self.repr {
            Repr::Zero { negative, .. } => *negative,
            _ => self.is_negative(),
        };
        let mut out = String::new();
        if negative {
            out.push('-');
        }
        let mut decimal = match (self.parts(), precision) {
            (None, _) => Decimal::default(),
            (Some(parts), None) => Decimal::shortest(&parts, self.precision()),
            (Some(parts), Some(_)) => Decimal::exact(&parts.mantissa, parts.exponent),
        };
        match (format, precision) {
            (NumberFormat::Fixed, Some(places)) => {
                decimal.round(decimal.point.saturating_add(places as i64));
                decimal.write_fixed(&mut out, places);
            }
            (NumberFormat::Fixed, None) => {
                let places = decimal.digits.len() as i64 - decimal.point;
                decimal.write_fixed(&mut out, places.max(0) as usize);
            }
            (NumberFormat::Exponent, Some(places)) => {
                decimal.round((places as i64).saturating_add(1));
                decimal.write_exponent(&mut out, places);
            }
            (NumberFormat::Exponent, None) => {
                let places = decimal.digits.len().saturating_sub(1);
                decimal.write_exponent(&mut out, places);
            }
            (NumberFormat::General, precision) => {
                if let Some(p) = precision {
                    decimal.round(p.max(1) as i64);
                }
                decimal.write_general(&mut out, precision);
            }
        }
        out
    }
}

impl Decimal {
    fn write_general(&self, out: &mut String, precision: Option<usize>) {
        let have = self.digits.len() as i64;
        let mut digits = precision.map_or(have, |p| p.max(1) as i64);
        let threshold = match precision {
            None => 6,
            Some(_) if digits > have && have >= self.point => have,
            Some(_) => digits,
        };
        let exponent = self.point - 1;
        if exponent < -4 || exponent >= threshold {
            let places = digits.min(have) - 1;
            return self.write_exponent(out, places.max(0) as usize);
        }
        if digits > self.point {
            digits = have;
        }
        self.write_fixed(out, (digits - self.point).max(0) as usize);
    }
}

/// The shortest decimal, never in exponent form, that reads back at its precision; `+Inf` and
/// `-Inf` for the infinities.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Repr::Small { mantissa, exponent: 0, precision: 64.. } = self.repr {
            return write!(f, "{mantissa}");
        }
        f.write_str(&self.format(NumberFormat::Fixed, None))
    }
}
impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
