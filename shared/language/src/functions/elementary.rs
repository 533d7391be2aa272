//! Powers and logarithms, rounded as Terraform rounds them. Those of the machine differ in the last
//! digit, which would be a difference in a plan.

use std::f64::consts::FRAC_1_SQRT_2;

/// The natural logarithm, by the method of fdlibm.
pub(super) fn logarithm(number: f64) -> f64 {
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const ODD: [f64; 4] = [
        6.666_666_666_666_735e-1,
        2.857_142_874_366_239e-1,
        1.818_357_216_161_805e-1,
        1.479_819_860_511_658_6e-1,
    ];
    const EVEN: [f64; 3] =
        [3.999_999_999_940_942e-1, 2.222_219_843_214_978_4e-1, 1.531_383_769_920_937_3e-1];
    if !number.is_finite() || number <= 0.0 {
        return number.ln();
    }
    let (mut mantissa, mut scale) = parts(number);
    if mantissa < FRAC_1_SQRT_2 {
        mantissa *= 2.0;
        scale -= 1;
    }
    let (rest, scale) = (mantissa - 1.0, scale as f64);
    let quotient = rest / (2.0 + rest);
    let square = quotient * quotient;
    let fourth = square * square;
    let series = |terms: &[f64]| terms.iter().rev().fold(0.0, |sum, term| sum * fourth + term);
    let remainder = square * series(&ODD) + fourth * series(&EVEN);
    let half = 0.5 * rest * rest;
    scale * LN_2_HIGH - ((half - (quotient * (half + remainder) + scale * LN_2_LOW)) - rest)
}

/// `base` to the power of `exponent`, rounded as Terraform rounds: the whole part of the exponent by
/// repeated squaring, the rest by logarithms. The machine's own power differs in the last digit.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    const TOO_LARGE: f64 = 9.223_372_036_854_776e18;
    let plain = base == 0.0
        || base == 1.0
        || !base.is_finite()
        || !exponent.is_finite()
        || exponent == 0.0
        || exponent == 1.0
        || exponent.abs() >= TOO_LARGE
        || (base < 0.0 && exponent.fract() != 0.0);
    if plain {
        return base.powf(exponent);
    }
    if exponent.abs() == 0.5 {
        let root = base.sqrt();
        return if exponent > 0.0 { root } else { 1.0 / root };
    }
    let (mut whole, mut rest) = (exponent.abs().trunc(), exponent.abs().fract());
    let mut mantissa = 1.0;
    if rest != 0.0 {
        if rest > 0.5 {
            rest -= 1.0;
            whole += 1.0;
        }
        mantissa = (rest * logarithm(base)).exp();
    }
    let mut scale = 0_i64;
    let (mut square, mut square_scale) = parts(base);
    let mut bits = whole as u64;
    while bits != 0 {
        if square_scale.abs() > 1 << 12 {
            scale += square_scale;
            break;
        }
        if bits & 1 == 1 {
            mantissa *= square;
            scale += square_scale;
        }
        square *= square;
        square_scale *= 2;
        if square < 0.5 {
            square += square;
            square_scale -= 1;
        }
        bits >>= 1;
    }
    match exponent < 0.0 {
        true => scaled(1.0 / mantissa, -scale),
        false => scaled(mantissa, scale),
    }
}

/// A finite number as a mantissa from 0.5 to 1 and a power of two.
fn parts(number: f64) -> (f64, i64) {
    const EXPONENT: u64 = 0x7ff << 52;
    const HALF: u64 = 0x3fe << 52;
    if number.abs() < f64::MIN_POSITIVE {
        let (mantissa, scale) = parts(number * 2_f64.powi(54));
        return (mantissa, scale - 54);
    }
    let bits = number.to_bits();
    let scale = ((bits & EXPONENT) >> 52) as i64 - 0x3fe;
    (f64::from_bits(bits & !EXPONENT | HALF), scale)
}

/// `number` times a power of two.
fn scaled(number: f64, scale: i64) -> f64 {
    // In steps, since the power alone may be out of range where the product is not.
    let step = scale.clamp(-1000, 1000);
    let product = number * 2_f64.powi(step as i32);
    match step == scale || product == 0.0 || product.is_infinite() {
        true => product,
        false => scaled(product, scale - step),
    }
}
