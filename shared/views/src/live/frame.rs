//! The lines below the text that stays.

use super::board::{Phase, Progressing};
use super::terminal::Size;
use crate::activity::duration;
use crate::visible::deceives;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What is over sooner is not shown at all, so that short work does not flicker.
const PATIENCE: i64 = 400;
/// Most lines of what runs.
const RUNNING: usize = 10;
/// Columns of the bar, where there is room.
const BAR: usize = 24;
/// A shorter one says nothing.
const SHORTEST_BAR: usize = 8;
/// Columns that stay free at the end of a line: a terminal echoes `^C` there.
const MARGIN: usize = 3;

/// Lines for what is under way, none wider than the terminal, and together no higher than half of it. Without
/// control characters, and without colours.
pub fn frame(work: &Progressing, now: i64, size: Size) -> Vec<String> {
    let width = size.columns.saturating_sub(MARGIN);
    if now - work.since < PATIENCE || width < 20 || size.rows < 4 {
        return Vec::new();
    }
    let room = (size.rows / 2).max(1) - 1;
    let mut lines = Vec::new();
    let shown = match work.running.len() <= RUNNING.min(room) {
        true => work.running.len(),
        // One line says how many more there are.
        false => RUNNING.min(room).saturating_sub(1),
    };
    for running in work.running.iter().take(shown) {
        let tail = format!(": {} [{}]", running.verb, elapsed(running.since, now));
        lines.push(fitted("  ", &running.name, &tail, width));
    }
    if shown < work.running.len() && room > 0 {
        lines.push(fitted("  ", "", &format!("and {} more", work.running.len() - shown), width));
    }
    for waiting in work.waiting.iter().take(room.saturating_sub(lines.len())) {
        let on = match waiting.on.as_slice() {
            [first, rest @ ..] if !rest.is_empty() => format!("{first} and {} more", rest.len()),
            on => on.concat(),
        };
        lines.push(fitted("  ", &format!("{} waits for {on}", waiting.name), "", width));
    }
    lines.push(fitted("", "", &summary(work, now, width), width));
    lines
}

fn summary(work: &Progressing, now: i64, width: usize) -> String {
    let title = match work.phase {
        Phase::Planning => "Planning",
        Phase::Applying => "Applying",
    };
    let mut parts = vec![match work.total {
        Some(total) => format!("{} of {total} done", work.done),
        None => format!("{} read", work.done),
    }];
    let counted =
        [(work.running.len(), "running"), (work.to_begin, "to begin"), (work.failed, "failed")];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    parts.extend(counted.map(|(count, what)| format!("{count} {what}")));
    let text = format!("{} [{}]", parts.join(", "), elapsed(work.since, now));
    // With its brackets, and blanks around them.
    let room = width.saturating_sub(title.len() + text.len() + 4);
    match work.total {
        Some(total) if room >= SHORTEST_BAR => {
            format!("{title} [{}] {text}", bar(work.done, total, room.min(BAR)))
        }
        _ => format!("{title} {text}"),
    }
}

fn bar(done: usize, total: usize, length: usize) -> String {
    let filled = (length * done.min(total)).checked_div(total).unwrap_or(0);
    let head = if filled < length { ">" } else { "" };
    format!("{}{head}{}", "=".repeat(filled), " ".repeat((length - filled).saturating_sub(1)))
}

fn elapsed(since: i64, now: i64) -> String {
    duration((now - since).max(0) / 1000)
}

/// Puts parts into one line of at most `width` columns. Where they do not fit, the end of `middle` makes way, and
/// then that of `tail`. Control characters, which a terminal would obey, and those that hide others are shown as `?`.
pub fn fitted(head: &str, middle: &str, tail: &str, width: usize) -> String {
    let clean = |text: &str| -> String {
        text.chars().map(|c| if c.is_control() || deceives(c) { '?' } else { c }).collect()
    };
    let (middle, tail) = (clean(middle), clean(tail));
    let fixed = head.width() + tail.width();
    let middle = cut(&middle, width.saturating_sub(fixed));
    let room = width.saturating_sub(head.width() + middle.width());
    format!("{head}{middle}{}", cut(&tail, room))
}

/// The beginning of a text that has room in these columns, with `...` where something is left out.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let dots = ".".repeat(width.min(3));
    let mut left = width - dots.len();
    let mut out = String::new();
    for c in text.chars() {
        let columns = c.width().unwrap_or(0);
        if columns > left {
            break;
        }
        left -= columns;
        out.push(c);
    }
    out + &dots
}
