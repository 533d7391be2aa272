use proptest::prelude::*;
use values::{Number, NumberFormat};

fn operand(text: &str) -> Number {
    let (kind, digits) = text.split_once(':').unwrap();
    match kind {
        "L" => Number::parse(digits).unwrap(),
        "I" => Number::from(digits.parse::<i64>().unwrap()),
        _ => Number::from_f64(digits.parse().unwrap()).unwrap(),
    }
}

/// Each line: operation, operands (Literal, Integer, Float), shortest decimal, precision, a format
/// with its text, the general format, the nearest float.
fn check(facts: &str) {
    for line in facts.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (a, b) = (operand(fields[1]), operand(fields[2]));
        let result = match fields[0] {
            "+" => a.add(&b),
            "-" => a.sub(&b),
            "*" => a.mul(&b),
            "/" => a.div(&b),
            _ => a.rem(&b),
        };
        if fields[3] == "none" {
            assert_eq!(result, None, "{line}");
            continue;
        }
        let result = result.unwrap();
        assert_eq!(result.to_string(), fields[3], "{line}");
        assert_eq!(result.precision().to_string(), fields[4], "{line}");
        let format = match &fields[5][..1] {
            "f" => NumberFormat::Fixed,
            "e" => NumberFormat::Exponent,
            _ => NumberFormat::General,
        };
        let digits = fields[5][1..].parse().unwrap();
        assert_eq!(result.format(format, Some(digits)), fields[6], "{line}");
        assert_eq!(result.format(NumberFormat::General, None), fields[7], "{line}");
        let bits = u64::from_str_radix(fields[8], 16).unwrap();
        assert_eq!(result.to_f64().to_bits(), bits, "{line}");
    }
}

#[test]
fn arithmetic_rounds_as_the_language_does() {
    check(include_str!("facts/arithmetic.txt"));
}

#[test]
fn integers_of_functions_have_64_bits() {
    let third = Number::from(1i64).div(&Number::from(3i64)).unwrap();
    assert_eq!(third.to_string(), "0.33333333333333333334");
}

#[test]
fn parsing() {
    for (text, printed) in [
        ("1", "1"),
        ("+1", "1"),
        ("-0", "-0"),
        ("0.0", "0"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-1.5e3", "-1500"),
        ("1E-3", "0.001"),
        ("1p3", "8"),
        ("inf", "+Inf"),
        ("-Inf", "-Inf"),
        ("0.1", "0.1"),
        ("9223372036854775808", "9223372036854775808"),
        ("1e30", "1000000000000000000000000000000"),
    ] {
        assert_eq!(Number::parse(text).map(|n| n.to_string()).as_deref(), Some(printed), "{text}");
    }
    for text in [
        "",
        "-",
        ".",
        "e5",
        "1e",
        "0x10",
        "1_000",
        "1 ",
        " 1",
        "--1",
        "nan",
        "1e999999999999999999999",
        "1e1000000000",
        "1e-1000000000",
        "١",
    ] {
        assert_eq!(Number::parse(text), None, "{text}");
    }
}

#[test]
fn floats_round_trip() {
    for f in [0.0, -0.0, 1.0, 0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324, 2.2e-310, f64::INFINITY] {
        assert_eq!(Number::from_f64(f).unwrap().to_f64().to_bits(), f.to_bits());
    }
    assert_eq!(Number::from_f64(f64::NAN), None);
    assert_eq!(Number::parse("1e400").unwrap().to_f64(), f64::INFINITY);
    assert_eq!(Number::parse("1e-400").unwrap().to_f64(), 0.0);
}

#[test]
fn rounding_to_integers() {
    for (text, floor, ceil, trunc) in [("1.5", 1, 2, 1), ("-1.5", -2, -1, -1), ("7", 7, 7, 7)] {
        let n = Number::parse(text).unwrap();
        assert_eq!(n.floor(), Number::from(floor as i64));
        assert_eq!(n.ceil(), Number::from(ceil as i64));
        assert_eq!(n.trunc(), Number::from(trunc as i64));
    }
    assert_eq!(Number::from(u64::MAX).to_u64(), Some(u64::MAX));
    assert_eq!(Number::from(u64::MAX).to_i64(), None);
    assert_eq!(Number::from(i64::MIN).to_i64(), Some(i64::MIN));
    assert_eq!(Number::parse("1.5").unwrap().to_i64(), None);
}

fn literal() -> impl Strategy<Value = String> {
    "-?[0-9]{1,40}(\\.[0-9]{1,40})?(e-?[0-9]{1,2})?"
}

proptest! {
    #[test]
    fn printed_numbers_read_back(text in literal()) {
        let n = Number::parse(&text).unwrap();
        prop_assert_eq!(Number::parse(&n.to_string()).unwrap(), n);
    }

    #[test]
    fn integers_are_exact(a in any::<i64>(), b in any::<i64>()) {
        let (x, y) = (Number::from(a), Number::from(b));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        let product = i128::from(a) * i128::from(b);
        prop_assert_eq!(x.mul(&y), Number::parse(&product.to_string()));
        if let Some(sum) = a.checked_add(b) {
            prop_assert_eq!(x.add(&y).unwrap(), Number::from(sum));
        }
    }

    #[test]
    fn addition_commutes_and_negation_inverts(a in literal(), b in literal()) {
        let (a, b) = (Number::parse(&a).unwrap(), Number::parse(&b).unwrap());
        prop_assert_eq!(a.add(&b), b.add(&a));
        prop_assert_eq!(a.mul(&b), b.mul(&a));
        prop_assert_eq!(a.sub(&b).unwrap(), b.sub(&a).unwrap().neg());
        prop_assert_eq!(a.cmp(&b), b.neg().cmp(&a.neg()));
    }
}
