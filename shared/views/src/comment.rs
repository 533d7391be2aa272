//! A run as a comment in Markdown, for pull and merge requests.
//!
//! Whatever is not ours stands in code, where hosts neither format it nor tell the people and teams that it names.

use crate::diff::{DiffRow, Mark, RowValue};
use crate::run_report::{
    ChangeReport, ChangeStanding, Danger, PlanReport, RunReport, standing_line, summary_line,
};
use crate::visible::named;
use engine::verdict::{Outcome, Verdict};
use std::collections::BTreeMap;

/// What stands above a comment.
#[derive(Clone, Copy, Debug)]
pub struct CommentOptions<'a> {
    /// The first line, by which the comment is found again.
    pub marker: &'a str,
    /// What it is about: `plan of network`.
    pub mode: &'a str,
    /// The commit, shortened.
    pub commit: Option<&'a str>,
    /// The run's page.
    pub link: Option<&'a str>,
    /// Bytes that the host takes.
    pub room: usize,
}

/// Dangerous changes that are listed.
const LISTED: usize = 20;
/// Lines of one error or warning, and of one change.
const LINES: usize = 60;
/// Letters of one name or sentence within a line.
const LETTERS: usize = 240;
/// Letters of one value: what differs in longer ones is on the run's page.
const VALUE: usize = 1_000;
/// Room for headings, and for what says that something is cut.
const RESERVE: usize = 600;

/// The comment on a run: what it does, what may be lost, what to do, and folded below all changes as far as there is room.
pub fn comment(report: &RunReport, options: CommentOptions<'_>) -> String {
    let mut out = format!("{}\n", options.marker);
    push_head(report, options, &mut out);
    push_standings(report, &mut out);
    if let Some(plan) = &report.plan {
        push_dangerous(plan, &mut out);
    }
    let room = options.room.saturating_sub(RESERVE);
    // What follows, the commands above all, needs room too.
    push_verdicts(&report.verdicts, room / 2, &mut out);
    if let Some(next) = &report.next {
        out.push_str(&format!("{}\n\n", next.sentence));
        for (what, command) in &next.commands {
            out.push_str(&format!("{what}:\n\n{}\n", fenced("sh", &named(command))));
        }
    }
    push_messages(report, room, &mut out);
    if let Some(plan) = &report.plan {
        push_changes(plan, room, &mut out);
        push_drift(plan, room, &mut out);
    }
    out
}

fn push_head(report: &RunReport, options: CommentOptions<'_>, out: &mut String) {
    let estate = code(&report.estate);
    out.push_str(&format!(
        "### Plumbline: {} of {estate}\n\n**{}",
        options.mode,
        capitalized(&report.status)
    ));
    if let Some(plan) = &report.plan {
        out.push_str(&format!(": {}", summary_line(plan)));
        plan.limits().for_each(|limit| out.push_str(&format!("; {limit}")));
    }
    out.push_str("**");
    if let Some(commit) = options.commit {
        out.push_str(&format!(" at {}", code(commit)));
    }
    if let Some(link) = options.link {
        out.push_str(&format!(" · [All of it: the run's page]({})", address(link)));
    }
    out.push_str("\n\n");
}

/// How far the changes have come of an apply that did not make all of them.
fn push_standings(report: &RunReport, out: &mut String) {
    let standings = report.standings();
    if standings.is_empty() {
        return;
    }
    out.push_str(&format!("**What was done**: {}.\n\n", standing_line(&standings)));
    let open = standings.iter().filter(|at| at.standing != ChangeStanding::Recorded);
    let more = open.clone().count().saturating_sub(LISTED);
    for at in open.take(LISTED) {
        out.push_str(&format!("- {}: {}\n", code(&at.change.name()), at.standing.says()));
    }
    if more > 0 {
        out.push_str(&format!("- and {more} more\n"));
    }
    out.push('\n');
}

fn push_dangerous(plan: &PlanReport, out: &mut String) {
    let dangerous = plan.dangerous();
    if dangerous.is_empty() {
        return;
    }
    out.push_str("**Look at these first**\n\n");
    for (_, change) in dangerous.iter().take(LISTED) {
        let sign = match change.danger {
            Danger::LosesData => "⛔ ",
            _ => "",
        };
        out.push_str(&format!("- {sign}**{}** {}", change.verb(), code(&change.name())));
        if let Some(kind) = change.holds.as_deref().filter(|_| change.danger == Danger::LosesData) {
            out.push_str(&format!(" ({}: its data is lost)", code(kind)));
        }
        if let Some(reason) = &change.reason {
            out.push_str(&format!(": {}", code(reason)));
        }
        out.push('\n');
    }
    if dangerous.len() > LISTED {
        out.push_str(&format!("- and {} more\n", dangerous.len() - LISTED));
    }
    out.push('\n');
}

/// What the stages object to, and what they warn of: whoever agrees agrees to that as well.
fn push_verdicts(verdicts: &[Verdict], room: usize, out: &mut String) {
    for (outcome, title) in [
        (Outcome::Reject, "The plan is refused, and nothing was changed"),
        (Outcome::Warn, "What the stages warn of"),
    ] {
        let found: Vec<&Verdict> =
            verdicts.iter().filter(|verdict| verdict.outcome == outcome).collect();
        if found.is_empty() {
            continue;
        }
        out.push_str(&format!("**{title}**\n\n"));
        let mut left = found.len();
        for verdict in found.into_iter().take(LISTED) {
            let line = finding(verdict);
            if out.len() + line.len() > room {
                break;
            }
            out.push_str(&line);
            left -= 1;
        }
        if left > 0 {
            out.push_str(&format!("- and {left} more\n"));
        }
        out.push('\n');
    }
}

fn finding(verdict: &Verdict) -> String {
    let mut line = format!("- **{}** ", verdict.stage);
    if let Some(at) = &verdict.address {
        let path = verdict.path.as_deref().unwrap_or_default();
        line.push_str(&format!("{} ", code(&format!("{at}{path}"))));
    }
    line.push_str(&code(&verdict.message));
    if let (Some(planned), Some(actual)) = (&verdict.planned, &verdict.actual) {
        line.push_str(&format!(": planned {}, found {}", code(planned), code(actual)));
    }
    if let Some(by) = &verdict.waived_by {
        line.push_str(&format!("; accepted by {}", code(by.as_str())));
    }
    if let Some(remedy) = &verdict.remedy {
        line.push_str(&format!("; to mend it: {}", code(remedy)));
    }
    line.push('\n');
    line
}

fn push_messages(report: &RunReport, room: usize, out: &mut String) {
    for message in &report.messages {
        let lines: Vec<&str> = message.text.trim().lines().collect();
        let mut text = lines.iter().take(LINES).copied().collect::<Vec<_>>().join("\n");
        if lines.len() > LINES {
            text.push_str("\n…");
        }
        let text = fenced("", &named(&text));
        if out.len() + text.len() > room {
            out.push_str("More errors and warnings are on the run's page.\n\n");
            return;
        }
        out.push_str(&text);
        out.push('\n');
    }
}

/// What is to be done.
fn push_changes(plan: &PlanReport, room: usize, out: &mut String) {
    if plan.changes.is_empty() && plan.outputs.is_empty() {
        return;
    }
    let title = match plan.changes.len() {
        0 => "Outputs".to_owned(),
        1 => "The change".to_owned(),
        n => format!("All {n} changes"),
    };
    out.push_str(&format!("<details><summary>{title}</summary>\n\n"));
    push_by_module(&plan.changes, room, out);
    for output in &plan.outputs {
        let mut text = format!("# output {}\n", visible_line(&output.name));
        push_rows(&output.rows, &mut text);
        let text = fenced("diff", &text);
        if out.len() + text.len() > room {
            out.push_str("More outputs are cut here; the run's page has all of them.\n\n");
            break;
        }
        out.push_str(&text);
        out.push('\n');
    }
    out.push_str("</details>\n");
}

/// What changed in the world, apart from what is to be done: nobody shall take the one for the other.
fn push_drift(plan: &PlanReport, room: usize, out: &mut String) {
    let count = match plan.drift.len() {
        0 => return,
        1 => "1 object".to_owned(),
        n => format!("{n} objects"),
    };
    out.push_str(&format!(
        "\n<details><summary>Changed outside of Plumbline: {count}</summary>\n\n"
    ));
    push_by_module(&plan.drift, room, out);
    out.push_str("</details>\n");
}

/// Changes, those that may lose something first in each module.
fn push_by_module(changes: &[ChangeReport], room: usize, out: &mut String) {
    let mut modules = BTreeMap::<&str, Vec<&ChangeReport>>::new();
    for change in changes {
        modules.entry(&change.module).or_default().push(change);
    }
    let mut left = changes.len();
    for (module, mut changes) in modules {
        changes.sort_by_key(|change| (std::cmp::Reverse(change.danger), change.verb()));
        let mut heading = match module.is_empty() {
            true => String::new(),
            false => format!("#### {}\n\n", code(module)),
        };
        for change in changes {
            let text = format!("{heading}{}\n", fenced("diff", &difference(change)));
            // One that is large leaves no other without room.
            if out.len() + text.len() > room {
                continue;
            }
            out.push_str(&text);
            heading.clear();
            left -= 1;
        }
    }
    match left {
        0 => {}
        1 => out.push_str("1 more change is cut here; the run's page has it.\n\n"),
        n => out.push_str(&format!(
            "{n} more changes are cut here; the run's page has all of them.\n\n"
        )),
    }
}

fn difference(change: &ChangeReport) -> String {
    let mut text = format!("# {} {}\n", change.verb(), visible_line(&change.name()));
    if let Some(from) = &change.moved_from {
        text.push_str(&format!("# moved from {}\n", visible_line(from)));
    }
    if let Some(id) = change.imported.as_deref().filter(|id| !id.is_empty()) {
        text.push_str(&format!("# imported from {}\n", visible_line(id)));
    }
    if let Some(reason) = &change.reason {
        text.push_str(&format!("# {}\n", visible_line(reason)));
    }
    push_rows(&change.rows, &mut text);
    text
}

fn push_rows(rows: &[DiffRow], out: &mut String) {
    for row in rows.iter().take(LINES) {
        // Hosts colour these, and have no sign for what changes but this one.
        out.push(match row.mark {
            Mark::Same => ' ',
            Mark::Add => '+',
            Mark::Remove => '-',
            Mark::Change => '!',
        });
        out.push(' ');
        out.extend(std::iter::repeat_n("  ", row.depth));
        if !row.name.is_empty() {
            out.push_str(&visible_line(&row.name));
            out.push_str(if row.block { " " } else { " = " });
        }
        match &row.value {
            RowValue::Text(text)
            | RowValue::Open(text)
            | RowValue::Close(text)
            | RowValue::Line(text) => out.push_str(&short_line(text, VALUE)),
            RowValue::Change(before, after) => {
                let (before, after) = (short_line(before, VALUE), short_line(after, VALUE));
                out.push_str(&format!("{before} -> {after}"));
            }
            RowValue::Hidden(count, part) => out.push_str(&format!("# {}", part.unchanged(*count))),
            RowValue::Note(text) => out.push_str(&format!("# {}", visible_line(text))),
        }
        if row.forces_replacement {
            out.push_str(" # forces replacement");
        }
        out.push('\n');
    }
    if rows.len() > LINES {
        out.push_str(&format!("  # {} more lines\n", rows.len() - LINES));
    }
}

/// A block of code that nothing in it ends.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// Code within a line, that nothing in it ends.
fn code(text: &str) -> String {
    let text = short_line(text, LETTERS);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // A space keeps what begins or ends with a backtick apart, and is not shown.
    match text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

fn visible_line(text: &str) -> String {
    named(text).replace('\n', " ")
}

fn short_line(text: &str, letters: usize) -> String {
    let mut text = visible_line(text);
    if let Some((end, _)) = text.char_indices().nth(letters) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A link's address, out of which no text leads.
fn address(link: &str) -> String {
    let mut out = String::with_capacity(link.len());
    for c in link.chars() {
        match c {
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            c if c.is_whitespace() || c.is_control() => out.push_str("%20"),
            c => out.push(c),
        }
    }
    out
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}
