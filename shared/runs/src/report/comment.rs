//! Reports in words.

use super::Report;
use crate::run_state::ChangeCounts;
use views::comment::CommentOptions;
use views::run_report::RunReport;

/// More than the hosts of repositories take in one comment is refused by them; GitHub's bound is 65 536 characters.
const LONGEST: usize = 60_000;
/// GitHub's bound of a status' description.
const LONGEST_STATUS: usize = 140;

/// One line, as a commit's status shows it.
pub fn status_line(report: &Report) -> String {
    let changes = report.changes.map(|changes| format!(": {}", counts(changes)));
    let changes = changes.filter(|_| report.has_changes).unwrap_or_default();
    let code = report.code.as_deref().map(|code| format!(" ({code})")).unwrap_or_default();
    shortened(
        &format!("{}{code}{changes}", capitalized(&report.status.to_string())),
        LONGEST_STATUS,
    )
}

/// A comment in Markdown. The first line names the estate and nothing else, so that the comment is found again and kept up
/// to date.
pub fn comment(report: &Report) -> String {
    let (marker, mode) = (marker(&report.estate), report.mode.to_string());
    let commit = report.commit.as_ref().map(|commit| shortened(&commit.sha, 12));
    let options = CommentOptions {
        marker: &marker,
        mode: &mode,
        commit: commit.as_deref(),
        link: report.link.as_deref(),
        room: LONGEST,
    };
    match &report.details {
        Some(details) if details.plan.is_some() || !details.messages.is_empty() => {
            views::comment::comment(details, options)
        }
        details => {
            // Nothing is known of it but what the steps said.
            let bare = RunReport {
                estate: report.estate.clone(),
                status: status_line(report),
                next: details.as_ref().and_then(|details| details.next.clone()),
                ..RunReport::default()
            };
            let mut text = views::comment::comment(&bare, options);
            if !report.text.is_empty() {
                let room = LONGEST.saturating_sub(text.len());
                text.push_str(&folded(&report.text, room));
            }
            text
        }
    }
}

/// What a comment on an estate begins with.
pub(crate) fn marker(estate: &str) -> String {
    // Two hyphens would end the comment.
    format!("<!-- plumbline estate={} -->", estate.replace("--", "- -"))
}

fn folded(text: &str, room: usize) -> String {
    const END: &str = "\n… (cut; the run has all of it)";
    let whole = text.chars().count() <= room;
    let shown: String = match whole {
        true => text.to_owned(),
        false => text.chars().take(room.saturating_sub(END.len())).chain(END.chars()).collect(),
    };
    // A fence that is longer than any in the text cannot be ended by it.
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "<details><summary>Details</summary>\n\n{fence}\n{}\n{fence}\n\n</details>\n",
        shown.trim_end()
    )
}

fn counts(changes: ChangeCounts) -> String {
    let ChangeCounts { add, change, destroy, import } = changes;
    let import = match import {
        0 => String::new(),
        n => format!("{n} to import, "),
    };
    format!("{import}{add} to add, {change} to change, {destroy} to destroy")
}

fn shortened(text: &str, longest: usize) -> String {
    match text.chars().count() > longest {
        true => text.chars().take(longest - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str())
}
