//! Functions over points in time, which are strings as of RFC 3339.

use super::FunctionContext;
use super::arguments::text;
use super::call::{CallError, Function, Parameter, ParameterType};
use std::fmt;
use values::quote::quoted;
use values::{Type, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "formatdate",
        "Writes a timestamp in another form.",
        &[Parameter::string("format"), Parameter::string("time")],
        ParameterType::String,
        formatdate,
    ),
    Function::new(
        "plantimestamp",
        "When the plan was made, in UTC.",
        &[],
        ParameterType::String,
        |context, _, ty| {
            Ok(match context.plan_timestamp {
                Some(time) => Value::string(Time::utc(time.as_second()).to_string()),
                None => Value::unknown(ty.clone()),
            })
        },
    )
    .maybe_null(),
    Function::new(
        "timeadd",
        "A timestamp and a duration later.",
        &[Parameter::string("timestamp"), Parameter::string("duration")],
        ParameterType::String,
        timeadd,
    ),
    Function::new(
        "timecmp",
        "Which of two timestamps comes first: -1, 0 where they are equal, or 1.",
        &[Parameter::string("timestamp_a"), Parameter::string("timestamp_b")],
        ParameterType::Number,
        timecmp,
    ),
    Function::new(
        "timestamp",
        "The current time, in UTC.",
        &[],
        ParameterType::String,
        |c, _, _| Ok(Value::string(Time::utc(c.now.as_second()).to_string())),
    )
    .unpredictable(),
];

const NANOSECONDS: i128 = 1_000_000_000;

/// A point in time and the offset that it is written with.
#[derive(Clone, Copy)]
struct Time {
    /// Nanoseconds since 1970 in UTC.
    instant: i128,
    /// Seconds east of UTC.
    offset: i64,
}

/// A time by the calendar and the clock of its offset.
struct Civil {
    year: i64,
    month: usize,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// Days since Sunday.
    weekday: usize,
}

impl Time {
    fn utc(seconds: i64) -> Time {
        Time { instant: i128::from(seconds) * NANOSECONDS, offset: 0 }
    }
    fn civil(self) -> Civil {
        let seconds = (self.instant.div_euclid(NANOSECONDS)) as i64 + self.offset;
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Eras of 400 years that start on 1 March.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Civil {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month: month as usize,
            day: of_year - (153 * from_march + 2) / 5 + 1,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
            weekday: (days + 4).rem_euclid(7) as usize,
        }
    }
    /// `+hhmm`, with a separator.
    fn offset(self, separator: &str) -> String {
        let minutes = self.offset.abs() / 60;
        let sign = if self.offset < 0 { '-' } else { '+' };
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }
    fn offset_or_z(self) -> String {
        if self.offset == 0 { "Z".into() } else { self.offset(":") }
    }
}

/// As of RFC 3339, without fractions of seconds.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, .. } = self.civil();
        let zone = self.offset_or_z();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
    }
}

fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn invalid(message: &str) -> CallError {
    CallError::other(format!("not a valid RFC3339 timestamp: {message}"))
}

/// What is left of a timestamp while it is read.
struct Rest<'t>(&'t str);

impl Rest<'_> {
    /// The error of a part, at what is left.
    fn refuse(&self, part: &str) -> CallError {
        match (part, self.0) {
            (part, "") => invalid(&format!("end of string before {part}")),
            ("hour", rest) if rest.contains(':') => {
                invalid("hour must be between 0 and 23 inclusive")
            }
            ("hour" | "minute", rest) if rest.len() != 2 => {
                invalid(&format!("{part} must have exactly two digits"))
            }
            (part, rest) => invalid(&format!("cannot use {} as {part}", quoted(rest))),
        }
    }
    fn digits(&self, count: usize) -> Option<i64> {
        let digits = self.0.get(..count)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    }
    /// A number of two digits. One that is out of range is complained about after it, as Terraform
    /// does.
    fn two(&mut self, part: &str, least: i64, most: i64) -> Result<i64, CallError> {
        let number = self.digits(2).ok_or_else(|| self.refuse(part))?;
        self.0 = self.0.get(2..).unwrap_or_default();
        match (least..=most).contains(&number) {
            true => Ok(number),
            false => Err(self.refuse(part)),
        }
    }
    fn literal(&mut self, literal: &str) -> Result<(), CallError> {
        match self.0.strip_prefix(literal) {
            Some(rest) => {
                self.0 = rest;
                Ok(())
            }
            None if literal == "T" => Err(invalid("missing required time introducer 'T'")),
            None if self.0.is_empty() => {
                Err(invalid(&format!("end of string where {} is expected", quoted(literal))))
            }
            None => Err(invalid(&format!(
                "found {} where {} is expected",
                quoted(self.0),
                quoted(literal)
            ))),
        }
    }
}

fn parse(text: &str) -> Result<Time, CallError> {
    let mut rest = Rest(text);
    let year = rest.digits(4).ok_or_else(|| rest.refuse("year"))?;
    rest.0 = rest.0.get(4..).unwrap_or_default();
    rest.literal("-")?;
    let month = rest.two("month", 1, 12)?;
    rest.literal("-")?;
    let day = rest.two("day of month", 0, 99)?;
    rest.literal("T")?;
    // Terraform tells an hour of one digit from other mistakes only when all the rest is right.
    let short_hour = rest.digits(2).is_none() && rest.digits(1).is_some();
    let hour = match short_hour {
        true => {
            rest.0 = rest.0.get(1..).unwrap_or_default();
            0
        }
        false => rest.two("hour", 0, 23)?,
    };
    rest.literal(":")?;
    let minute = rest.two("minute", 0, 59)?;
    rest.literal(":")?;
    let second = rest.two("second", 0, 59)?;
    let mut nanosecond = 0i128;
    let comma = rest.0.starts_with(',');
    let fraction = rest.0.strip_prefix(['.', ',']).map(|f| {
        let end = f.find(|c: char| !c.is_ascii_digit()).unwrap_or(f.len());
        f.split_at(end)
    });
    if let Some((digits, after)) = fraction.filter(|(digits, _)| !digits.is_empty()) {
        let digits = digits.get(..9.min(digits.len())).unwrap_or_default();
        nanosecond = format!("{digits:0<9}").parse().unwrap_or(0);
        rest.0 = after;
    }
    let zone = rest.0;
    let offset = match zone.strip_prefix('Z') {
        Some(after) => {
            rest.0 = after;
            0
        }
        None => {
            let sign = match zone.bytes().next() {
                Some(b'+') => 1,
                Some(b'-') => -1,
                _ => return Err(rest.refuse("UTC offset")),
            };
            let part = |from: usize| Rest(zone.get(from..).unwrap_or_default()).digits(2);
            let parts = part(1).zip(part(4)).filter(|_| zone.get(3..4) == Some(":"));
            let (hours, minutes) = parts.ok_or_else(|| rest.refuse("UTC offset"))?;
            rest.0 = zone.get(6..).unwrap_or_default();
            if hours > 24 || minutes > 60 {
                return Err(rest.refuse("UTC offset"));
            }
            if rest.0.is_empty() && (hours == 24 || minutes == 60) {
                return Err(Rest(zone).refuse("UTC offset"));
            }
            sign * (hours * 60 + minutes) * 60
        }
    };
    if !rest.0.is_empty() {
        return Err(rest.refuse("timestamp segment"));
    }
    if day < 1 || day > days_in(year, month) {
        return Err(invalid("day out of range"));
    }
    if short_hour {
        return Err(invalid("hour must have exactly two digits"));
    }
    if comma {
        return Err(Rest(",").refuse("timestamp segment"));
    }
    let local = days_before(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Ok(Time { instant: i128::from(local - offset) * NANOSECONDS + nanosecond, offset })
}

fn timeadd(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let time = parse(text(a, 0))?;
    let duration = parse_duration(text(a, 1))?;
    Ok(Value::string(Time { instant: time.instant + duration, ..time }.to_string()))
}

fn timecmp(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let first = parse(text(a, 0)).map_err(|e| e.at(0))?;
    let second = parse(text(a, 1)).map_err(|e| e.at(1))?;
    Ok(Value::number(first.instant.cmp(&second.instant) as i64))
}

/// Nanoseconds of a duration like `1h30m`.
fn parse_duration(text: &str) -> Result<i128, CallError> {
    const LONGEST: i128 = 1 << 63;
    let invalid = || CallError::other(format!("time: invalid duration {}", quoted(text)));
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let is_number = |c: char| c == '.' || c.is_ascii_digit();
    let digits = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
    let mut total = 0i128;
    while !rest.is_empty() {
        let (whole, after) = rest.split_at(digits(rest));
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(digits(after)),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let (unit_name, after) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        let unit: i128 = match unit_name {
            "" => {
                let message = format!("time: missing unit in duration {}", quoted(text));
                return Err(CallError::other(message));
            }
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => NANOSECONDS,
            "m" => 60 * NANOSECONDS,
            "h" => 3600 * NANOSECONDS,
            unknown => {
                let (unknown, text) = (quoted(unknown), quoted(text));
                let message = format!("time: unknown unit {unknown} in duration {text}");
                return Err(CallError::other(message));
            }
        };
        let whole: i128 =
            if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
        if whole > LONGEST {
            return Err(invalid());
        }
        let part: f64 = format!("0.{fraction}0").parse().unwrap_or(0.0);
        total += whole * unit + (part * unit as f64) as i128;
        if total > LONGEST {
            return Err(invalid());
        }
        rest = after;
    }
    match (negative, total) {
        (true, total) => Ok(-total),
        (false, LONGEST) => Err(invalid()),
        (false, total) => Ok(total),
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn formatdate(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let time = parse(text(a, 1)).map_err(|e| e.at(1))?;
    let civil = time.civil();
    let mut out = String::new();
    let mut rest = text(a, 0);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => quoted_length(rest)
                .ok_or_else(|| CallError::argument(0, "unterminated literal '"))?,
            c if c.is_ascii_alphabetic() => rest.find(|d| d != c).unwrap_or(rest.len()),
            _ => rest.find(|c: char| c == '\'' || c.is_ascii_alphabetic()).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        match first {
            '\'' if token == "''" => out.push('\''),
            '\'' => {
                let inside = token.get(1..token.len() - 1).unwrap_or_default();
                out.push_str(&inside.replace("''", "'"));
            }
            c if c.is_ascii_alphabetic() => {
                let shown = date_verb(token, c, time, &civil).map_err(|why| {
                    let verb = quoted(token);
                    CallError::argument(0, format!("invalid date format verb {verb}{why}"))
                })?;
                out.push_str(&shown);
            }
            _ => out.push_str(token),
        }
    }
    Ok(Value::string(out))
}

/// How long a literal in quotes is; `None` if it has no end. Two quotes right away stand for one.
fn quoted_length(text: &str) -> Option<usize> {
    if text.starts_with("''") {
        return Some(2);
    }
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        at += bytes.get(at..)?.iter().position(|b| *b == b'\'')?;
        if bytes.get(at + 1) != Some(&b'\'') {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn date_verb(token: &str, verb: char, time: Time, civil: &Civil) -> Result<String, String> {
    let plain_or_padded = |number: i64, name: &str| match token.len() {
        1 => Ok(number.to_string()),
        2 => Ok(format!("{number:02}")),
        _ => Err(format!(": {name} must either be \"{verb}\" or \"{verb}{verb}\"")),
    };
    let name =
        |names: &[&str], index: usize| names.get(index).copied().unwrap_or_default().to_owned();
    let short = |name: String| name.get(..3).map(str::to_owned).unwrap_or(name);
    match (verb, token.len()) {
        ('Y', 2) => Ok(format!("{:02}", civil.year % 100)),
        ('Y', 4) => Ok(format!("{:04}", civil.year)),
        ('Y', _) => Err(": year must either be \"YY\" or \"YYYY\"".into()),
        ('M', 1) => Ok(civil.month.to_string()),
        ('M', 2) => Ok(format!("{:02}", civil.month)),
        ('M', 3) => Ok(short(name(&MONTHS, civil.month - 1))),
        ('M', 4) => Ok(name(&MONTHS, civil.month - 1)),
        ('M', _) => Err(": month must be \"M\", \"MM\", \"MMM\", or \"MMMM\"".into()),
        ('D', _) => plain_or_padded(civil.day, "day of month"),
        ('E', 3) => Ok(short(name(&DAYS, civil.weekday))),
        ('E', 4) => Ok(name(&DAYS, civil.weekday)),
        ('E', _) => Err(": day of week must either be \"EEE\" or \"EEEE\"".into()),
        ('h', _) => plain_or_padded(civil.hour, "24-hour"),
        ('H', _) => plain_or_padded((civil.hour + 11) % 12 + 1, "12-hour"),
        ('A', 2) => Ok(if civil.hour < 12 { "AM" } else { "PM" }.into()),
        ('a', 2) => Ok(if civil.hour < 12 { "am" } else { "pm" }.into()),
        ('A' | 'a', _) => Err(format!(": must be \"{verb}{verb}\"")),
        ('m', _) => plain_or_padded(civil.minute, "minute"),
        ('s', _) => plain_or_padded(civil.second, "second"),
        ('Z', 1) => Ok(time.offset_or_z()),
        ('Z', 3) if time.offset == 0 => Ok("UTC".into()),
        ('Z', 3 | 4) => Ok(time.offset("")),
        ('Z', 5) => Ok(time.offset(":")),
        ('Z', _) => Err(": timezone must be Z, ZZZZ, or ZZZZZ".into()),
        _ => Err(String::new()),
    }
}

/// A timestamp in its normal form, with fractions of seconds where it has some; `None` where it is
/// none.
pub(super) fn normal(text: &str) -> Option<String> {
    let time = parse(text).ok()?;
    let nanoseconds = time.instant.rem_euclid(NANOSECONDS);
    let shown = time.to_string();
    if nanoseconds == 0 {
        return Some(shown);
    }
    let (clock, zone) = shown.split_at_checked(19)?;
    let fraction = format!("{nanoseconds:09}");
    Some(format!("{clock}.{}{zone}", fraction.trim_end_matches('0')))
}
