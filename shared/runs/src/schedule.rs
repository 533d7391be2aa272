//! When something is done again and again: `rate(...)` and `cron(...)`, as EventBridge has them. All times are UTC.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

/// How many days are looked at for the next time of a `cron(...)`: a leap year comes within eight.
const LOOKED_AT: usize = 366 * 8;
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Seconds from one time to the next. Times are multiples of it since the epoch, whenever somebody began to look.
    Rate(i64),
    Cron(Box<Cron>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cron {
    minutes: Vec<i64>,
    hours: Vec<i64>,
    /// Of the month; `None` for `?`.
    days: Option<Vec<i64>>,
    months: Vec<i64>,
    /// From Sunday, which is 1; `None` for `?`.
    weekdays: Option<Vec<i64>>,
    years: Vec<i64>,
}

/// A text is no schedule that is known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no schedule: {problem}; write rate(1 day) or cron(0 6 * * ? *)")]
pub struct ScheduleError {
    text: String,
    problem: String,
}

impl Schedule {
    /// Reads one.
    ///
    /// # Errors
    /// With what is wrong.
    pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        let wrong = |problem: String| ScheduleError { text: text.to_owned(), problem };
        let inner = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        let kind = match (inner("rate"), inner("cron")) {
            (Some(rate), _) => parse_rate(rate).map(Kind::Rate),
            (_, Some(cron)) => parse_cron(cron).map(|cron| Kind::Cron(Box::new(cron))),
            (None, None) => Err("it is neither a rate(...) nor a cron(...)".to_owned()),
        };
        kind.map(Schedule).map_err(wrong)
    }

    /// The first time after a moment; `None` where there is none any more.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.0 {
            Kind::Rate(seconds) => {
                let next = (after.as_second().div_euclid(*seconds) + 1).checked_mul(*seconds)?;
                Timestamp::from_second(next).ok()
            }
            Kind::Cron(cron) => cron.next(after),
        }
    }
}

fn parse_rate(text: &str) -> Result<i64, String> {
    let mut words = text.split_whitespace();
    let (Some(number), Some(unit), None) = (words.next(), words.next(), words.next()) else {
        return Err("a rate is a number and a unit".to_owned());
    };
    let number: i64 = number.parse::<i64>().ok().filter(|n| *n > 0).ok_or("its number is none")?;
    let seconds = match unit.strip_suffix('s').unwrap_or(unit) {
        "minute" => 60,
        "hour" => 60 * 60,
        "day" => 24 * 60 * 60,
        _ => return Err("its unit is none of minutes, hours and days".to_owned()),
    };
    number.checked_mul(seconds).ok_or_else(|| "its number is too large".to_owned())
}

fn parse_cron(text: &str) -> Result<Cron, String> {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [minutes, hours, days, months, weekdays, years] = fields[..] else {
        return Err(format!(
            "a cron has six fields (minutes, hours, day of month, month, day of week, year), and this has {}",
            fields.len()
        ));
    };
    if (days == "?") == (weekdays == "?") {
        return Err("one of day of month and day of week has to be ?".to_owned());
    }
    let open = |text: &str, range, names| match text {
        "?" => Ok(None),
        text => values(text, range, names).map(Some),
    };
    Ok(Cron {
        minutes: values(minutes, (0, 59), &[])?,
        hours: values(hours, (0, 23), &[])?,
        days: open(days, (1, 31), &[][..])?,
        months: values(months, (1, 12), &MONTHS)?,
        weekdays: open(weekdays, (1, 7), &DAYS[..])?,
        years: values(years, (1970, 2199), &[])?,
    })
}

/// The values that a field stands for. `names` are those of the range's numbers, in their order.
fn values(text: &str, range: (i64, i64), names: &[&str]) -> Result<Vec<i64>, String> {
    let (least, most) = range;
    let unknown = |part: &str| {
        format!(
            "{part:?} is not understood (numbers from {least} to {most}, *, lists, ranges and steps are)"
        )
    };
    let number = |text: &str| {
        let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let named = named.and_then(|index| i64::try_from(index).ok()).map(|index| index + least);
        let number = named.or_else(|| text.parse().ok());
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| unknown(text))
    };
    let mut found = Vec::new();
    for part in text.split(',') {
        let (part, step) = match part.split_once('/') {
            None => (part, None),
            Some((part, step)) => {
                let step: Option<i64> = step.parse::<i64>().ok().filter(|step| *step > 0);
                (part, Some(step.ok_or_else(|| unknown(text))?))
            }
        };
        let (first, last) = match (part.split_once('-'), step) {
            _ if part == "*" => (least, most),
            (Some((first, last)), _) => (number(first)?, number(last)?),
            (None, Some(_)) => (number(part)?, most),
            (None, None) => (number(part)?, number(part)?),
        };
        if first > last {
            return Err(unknown(text));
        }
        let step = usize::try_from(step.unwrap_or(1)).map_err(|_| unknown(text))?;
        found.extend((first..=last).step_by(step));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

impl Cron {
    fn next(&self, after: Timestamp) -> Option<Timestamp> {
        // The next whole minute.
        let from = after.as_second().div_euclid(60).checked_add(1)?.checked_mul(60)?;
        let from = Timestamp::from_second(from).ok()?.to_zoned(TimeZone::UTC).datetime();
        let mut date = from.date();
        for _ in 0..LOOKED_AT {
            if self.has_day(date) {
                let earliest = if date == from.date() { from.time() } else { Time::midnight() };
                if let Some(time) = self.time(earliest) {
                    let moment = DateTime::from_parts(date, time);
                    return moment.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
                }
            }
            date = date.checked_add(1.day()).ok()?;
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let weekday = i64::from(date.weekday().to_sunday_one_offset());
        let within = |values: &Option<Vec<i64>>, value| {
            values.as_ref().is_none_or(|values| values.contains(&value))
        };
        self.years.contains(&i64::from(date.year()))
            && self.months.contains(&i64::from(date.month()))
            && within(&self.days, i64::from(date.day()))
            && within(&self.weekdays, weekday)
    }

    /// The first time of a day that is not before another.
    fn time(&self, earliest: Time) -> Option<Time> {
        let (hour, minute) = (i64::from(earliest.hour()), i64::from(earliest.minute()));
        let mut times = self.hours.iter().flat_map(|h| self.minutes.iter().map(move |m| (*h, *m)));
        let (h, m) = times.find(|time| *time >= (hour, minute))?;
        let seconds = SignedDuration::from_secs(h * 60 * 60 + m * 60);
        Time::midnight().checked_add(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;
    use jiff::Timestamp;

    fn next(schedule: &str, after: &str) -> String {
        let after: Timestamp = after.parse().unwrap();
        Schedule::parse(schedule).unwrap().next(after).unwrap().to_string()
    }

    #[test]
    fn times_of_a_rate_do_not_depend_on_when_one_looks() {
        assert_eq!(next("rate(1 day)", "2026-01-01T06:00:00Z"), "2026-01-02T00:00:00Z");
        assert_eq!(next("rate(15 minutes)", "2026-01-01T06:07:30Z"), "2026-01-01T06:15:00Z");
        assert_eq!(next("rate(1 hour)", "2026-01-01T06:00:00Z"), "2026-01-01T07:00:00Z");
    }

    #[test]
    fn a_cron_is_the_next_time_that_matches_all_fields() {
        let after = "2026-01-01T06:00:00Z";
        for (schedule, expected) in [
            ("cron(0 6 * * ? *)", "2026-01-02T06:00:00Z"),
            ("cron(30 6 * * ? *)", "2026-01-01T06:30:00Z"),
            ("cron(0/20 * * * ? *)", "2026-01-01T06:20:00Z"),
            ("cron(0 8 ? * MON-FRI *)", "2026-01-01T08:00:00Z"),
            ("cron(0 8 ? * 7 *)", "2026-01-03T08:00:00Z"),
            ("cron(0 0 29 FEB ? *)", "2028-02-29T00:00:00Z"),
            ("cron(15 10 1,15 * ? *)", "2026-01-01T10:15:00Z"),
        ] {
            assert_eq!(next(schedule, after), expected, "{schedule}");
        }
        let over = Schedule::parse("cron(0 6 * * ? 2025)").unwrap();
        assert_eq!(over.next(after.parse().unwrap()), None);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (schedule, says) in [
            ("every day", "neither"),
            ("rate(0 days)", "number"),
            ("rate(1 week)", "unit"),
            ("cron(0 6 * * *)", "six fields"),
            ("cron(0 6 * * * *)", "has to be ?"),
            ("cron(0 6 ? * ? *)", "has to be ?"),
            ("cron(0 6 L * ? *)", "\"L\" is not understood"),
            ("cron(60 6 * * ? *)", "\"60\" is not understood"),
            ("cron(0 8 ? * 2#1 *)", "not understood"),
        ] {
            let error = Schedule::parse(schedule).unwrap_err().to_string();
            assert!(error.contains(says), "{schedule}: {error}");
        }
    }
}
