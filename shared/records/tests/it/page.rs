//! docs/stores.md says in its tables what the code says, word for word. `{…}` in a cell stands for any text, and `<br>`
//! parts lines; in a column of remedies, what follows the advice is its commands.

use records::contract::{Finding, Outcome, Remedy};

/// The rows of the table below a heading, without its own heading.
pub(crate) fn table(heading: &str) -> Vec<Vec<String>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stores.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading);
    assert!(lines.next().is_some(), "docs/stores.md has no heading {heading:?}");
    let in_section = lines.take_while(|line| !line.starts_with('#'));
    let table = in_section.skip_while(|line| !line.starts_with('|'));
    let rows: Vec<_> = table.take_while(|line| line.starts_with('|')).skip(2).map(cells).collect();
    assert!(!rows.is_empty(), "docs/stores.md has no table below {heading:?}");
    rows
}

fn cells(line: &str) -> Vec<String> {
    // A `|` within a cell has a backslash before it.
    let line = line.trim().trim_start_matches('|').replace("\\|", "\0");
    let line = line.strip_suffix('|').unwrap_or(&line);
    line.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// The lines of a cell, code without its backticks.
pub(crate) fn lines(cell: &str) -> Vec<String> {
    let lines = cell.split("<br>").filter(|line| !line.is_empty());
    lines.map(|line| line.trim_matches('`').to_owned()).collect()
}

/// Whether a template says a text: its words are there in their order, and something in each gap.
pub(crate) fn says(template: &str, text: &str) -> bool {
    let mut pieces = Vec::new();
    let mut rest = template;
    loop {
        let gap = rest.match_indices('{').find_map(|(start, _)| {
            let end = start + rest[start..].find('}')?;
            let is_gap = rest[start + 1..].starts_with(|c: char| c.is_ascii_lowercase())
                && !rest[start..end].contains(['"', ':']);
            is_gap.then_some((start, end))
        });
        let Some((start, end)) = gap else { break };
        pieces.push(&rest[..start]);
        rest = &rest[end + 1..];
    }
    let [first, others @ ..] = pieces.as_slice() else { return rest == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    for piece in others {
        // A gap is never empty.
        let Some(at) = left
            .char_indices()
            .nth(1)
            .and_then(|(one, _)| left[one..].find(piece).map(|at| one + at))
        else {
            return false;
        };
        left = &left[at + piece.len()..];
    }
    left.len() > rest.len() && left.ends_with(rest)
}

/// Whether the lines of a cell say these texts, one for one.
fn all_said(templates: &[String], texts: &[String]) -> bool {
    templates.len() == texts.len()
        && templates.iter().zip(texts).all(|(template, text)| says(template, text))
}

/// Whether a cell of remedies is this one. One in italics says where it stands instead.
pub(crate) fn is_remedy(cell: &str, remedy: Option<&Remedy>) -> bool {
    let Some(Remedy { advice, commands }) = remedy else { return cell.is_empty() };
    if cell.starts_with('*') {
        return true;
    }
    let texts: Vec<_> = std::iter::once(advice).chain(commands).cloned().collect();
    all_said(&lines(cell), &texts)
}

/// What a table says of waivers.
fn waiver(finding: &Finding) -> &'static str {
    match (finding.outcome, finding.waivable) {
        (Outcome::Failed | Outcome::Unreadable, true) => "yes",
        (Outcome::Failed | Outcome::Unreadable, false) => "**never**",
        _ => "not needed",
    }
}

/// A table of findings: setting, outcome, waiver, how it is told, remedy.
pub(crate) struct FindingTable {
    rows: Vec<Vec<String>>,
    seen: Vec<bool>,
}

impl FindingTable {
    pub(crate) fn below(heading: &str) -> Self {
        let rows = table(heading);
        Self { seen: vec![false; rows.len()], rows }
    }

    /// The row that says a finding.
    fn row_of(&self, finding: &Finding) -> Option<usize> {
        let setting = format!("`{}`", finding.setting.name());
        self.rows.iter().position(|row| {
            let [of, outcome, waived, told, remedy] = row.as_slice() else {
                panic!("{row:?} has not five cells")
            };
            (*of == setting || of == "any")
                && *outcome == finding.outcome.to_string()
                && waived == waiver(finding)
                && says(&told.replace('`', ""), &finding.found)
                && is_remedy(remedy, finding.remedy.as_ref())
        })
    }

    /// Takes in what was found; it has to stand in the table.
    #[track_caller]
    pub(crate) fn take(&mut self, finding: &Finding) {
        let Some(row) = self.row_of(finding) else {
            panic!("docs/stores.md does not say this finding: {finding:#?}")
        };
        self.seen[row] = true;
    }

    /// Everything in the table has to have been found.
    #[track_caller]
    pub(crate) fn finish(self) {
        let unseen: Vec<_> =
            self.rows.iter().zip(self.seen).filter(|(_, seen)| !seen).map(|(row, _)| row).collect();
        assert!(unseen.is_empty(), "docs/stores.md says what nothing comes to: {unseen:#?}");
    }
}

#[test]
fn a_template_says_what_fills_its_gaps() {
    for (template, text) in [
        ("as it is", "as it is"),
        ("The bucket {bucket} is {state}.", "The bucket a {b} is off."),
        ("{a} and {b}", "this and that and more"),
        ("'{\"metadata\":null}' {name}", "'{\"metadata\":null}' x"),
    ] {
        assert!(says(template, text), "{template}: {text}");
    }
    for (template, text) in [
        ("as it is", "as it was"),
        ("The bucket {bucket} is off.", "The bucket a is on."),
        ("The bucket {bucket} is off.", "The bucket is off."),
        ("{a} and {b}", "this and "),
        ("{a}.", "."),
    ] {
        assert!(!says(template, text), "{template}: {text}");
    }
}
