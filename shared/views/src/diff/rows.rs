//! Differences as rows, for pages and comments, which lay them out otherwise than a terminal does.

use super::render::{Style, attribute_name, quoted};
use super::render_collection::is_important;
use super::render_string::{Text, json_difference};
use super::row::{DiffRow, Mark, Part, RowValue};
use super::sequence::align;
use super::tree::{BlockItems, Blocks, Diff, DiffKind};
use crate::colour::Colour;
use crate::json::{Json, deep};
use engine::changes::Action;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows of one difference: nobody reads more, and a page has to open.
const MOST: usize = 1_000;
/// Levels of nesting that are shown.
const DEEPEST: usize = 60;
/// Characters of one value that are shown.
const LONGEST: usize = 8_000;
/// Unchanged lines around a changed one.
const CONTEXT: usize = 3;

const KNOWN_AFTER_APPLY: &str = "(known after apply)";
const SENSITIVE: &str = "(sensitive value)";

/// Where a value stands.
#[derive(Clone, Default)]
struct Place {
    depth: usize,
    name: String,
    block: bool,
    /// Whether the object has to be replaced for it, whatever the difference itself says.
    forces: bool,
    /// Whether parts that do not change are shown.
    unchanged: bool,
    /// Whether it is a text that is shown as what the JSON in it says.
    json: bool,
}

impl Place {
    /// The place of a part.
    fn part(&self, name: String) -> Place {
        Place { depth: self.depth + 1, name, unchanged: self.unchanged, ..Place::default() }
    }
}

impl Diff {
    /// The rows of a resource's or an output's difference. What is in a block stands there without the block's own row.
    pub(crate) fn rows(&self, name: &str, unchanged: bool) -> Vec<DiffRow> {
        let mut rows = Rows { rows: Vec::new(), cut: false };
        let place = Place { unchanged, name: name.to_owned(), ..Place::default() };
        match &self.kind {
            DiffKind::Block { attributes, blocks } => {
                rows.block_parts(attributes, blocks, None, &place)
            }
            _ => rows.value(self, place),
        }
        if rows.cut {
            rows.rows
                .push(DiffRow::note("More rows are left out here: plumb show has all of them."));
        }
        rows.rows
    }
}

struct Rows {
    rows: Vec<DiffRow>,
    cut: bool,
}

impl Rows {
    fn push(&mut self, place: &Place, mark: Mark, value: RowValue, forces: bool) {
        if self.rows.len() >= MOST {
            self.cut = true;
            return;
        }
        self.rows.push(DiffRow {
            depth: place.depth,
            mark,
            name: place.name.clone(),
            block: place.block,
            value,
            forces_replacement: forces || place.forces,
        });
    }

    fn nameless(&mut self, depth: usize, mark: Mark, value: RowValue) {
        self.push(&Place { depth, ..Place::default() }, mark, value, false);
    }

    fn hidden(&mut self, depth: usize, count: usize, part: Part) {
        if count > 0 {
            self.nameless(depth, Mark::Same, RowValue::Hidden(count, part));
        }
    }

    fn value(&mut self, diff: &Diff, place: Place) {
        if self.cut {
            return;
        }
        if let Some(warning) = diff.warning(0, Style::new(Colour::Plain)) {
            let words = warning.split_whitespace().filter(|word| *word != "#");
            let words = words.collect::<Vec<_>>().join(" ");
            self.nameless(place.depth, Mark::Same, RowValue::Note(words));
        }
        if place.depth > DEEPEST {
            let text = "(nested too deeply to be shown)".to_owned();
            return self.push(&place, Mark::of(diff.action), RowValue::Text(text), diff.replace);
        }
        deep(|| self.of_kind(diff, place));
    }

    fn of_kind(&mut self, diff: &Diff, place: Place) {
        let mark = Mark::of(diff.action);
        let text = |text: &str| RowValue::Text(text.to_owned());
        match &diff.kind {
            DiffKind::Scalar { before, after } => {
                self.simple(diff, &place, scalar(before), scalar(after))
            }
            DiffKind::Text { before, after } => self.text(diff, before, after, place),
            DiffKind::Object { attributes, .. } => {
                let inside = |rows: &mut Rows| rows.attributes(attributes, &place);
                self.group(diff, &place, ("{", "}"), attributes.is_empty(), inside);
            }
            DiffKind::Map { elements, schema } => {
                let forces = diff.replace && *schema;
                let inside = |rows: &mut Rows| rows.elements(elements, forces, &place);
                self.group(diff, &place, ("{", "}"), elements.is_empty(), inside);
            }
            DiffKind::List { elements, context } => {
                let inside = |rows: &mut Rows| rows.list(elements, *context, &place);
                self.group(diff, &place, ("[", "]"), elements.is_empty(), inside);
            }
            DiffKind::Set { elements, schema } => {
                let forces = diff.replace && *schema;
                let inside = |rows: &mut Rows| rows.set(elements, forces, &place);
                self.group(diff, &place, ("[", "]"), elements.is_empty(), inside);
            }
            DiffKind::Block { attributes, blocks } => {
                let empty = attributes.is_empty() && blocks.is_empty();
                let inside = |rows: &mut Rows| {
                    rows.block_parts(attributes, blocks, Some(place.depth), &place);
                };
                self.group(diff, &place, ("{", "}"), empty, inside);
            }
            DiffKind::Unknown { before } => {
                let before = before.as_deref().filter(|_| diff.action != Action::Create);
                match before.map(|before| (before, one_line(before))) {
                    None => self.push(&place, mark, text(KNOWN_AFTER_APPLY), diff.replace),
                    Some((_, Some(before))) => {
                        let change = RowValue::Change(before, KNOWN_AFTER_APPLY.to_owned());
                        self.push(&place, mark, change, diff.replace);
                    }
                    Some((before, None)) => {
                        self.value(before, place.clone());
                        self.push(&place, Mark::Add, text(KNOWN_AFTER_APPLY), diff.replace);
                    }
                }
            }
            DiffKind::Sensitive { .. } => self.push(&place, mark, text(SENSITIVE), diff.replace),
            DiffKind::SensitiveBlock { .. } => {
                let hidden = "(sensitive block: its contents are not displayed)";
                self.push(&place, mark, text(hidden), diff.replace);
            }
            DiffKind::TypeChange { before, after } => {
                self.value(before, place.clone());
                self.value(after, place);
            }
            DiffKind::WriteOnly => {
                self.push(&place, mark, text("(write-only attribute)"), diff.replace);
            }
        }
    }

    fn simple(&mut self, diff: &Diff, place: &Place, before: String, after: String) {
        let (before, after) = (shortened(before), shortened(after));
        let value = match diff.action {
            Action::Create => RowValue::Text(after),
            Action::Delete | Action::NoOp => RowValue::Text(before),
            _ => RowValue::Change(before, after),
        };
        self.push(place, Mark::of(diff.action), value, diff.replace);
    }

    fn text(&mut self, diff: &Diff, before: &Json, after: &Json, place: Place) {
        let (old, new) = (Text::of(before), Text::of(after));
        let only = match diff.action {
            Action::Create | Action::NoOp => Some(&new),
            Action::Delete => Some(&old),
            _ => None,
        };
        if let Some(only) = only {
            return match (only, diff.action) {
                (Text::Json(json), Action::NoOp) => self.json(diff, json, json, place),
                (Text::Json(json), Action::Create) => self.json(diff, &Json::Null, json, place),
                (Text::Json(json), _) => self.json(diff, json, &Json::Null, place),
                (Text::Lines(text), _) => {
                    let mark = Mark::of(diff.action);
                    let lines = text.split('\n').map(|line| (mark, line)).collect();
                    self.lines(diff, lines, &place);
                }
                _ => self.simple(diff, &place, text_line(&old), text_line(&new)),
            };
        }
        match (&old, &new) {
            (Text::Json(old), Text::Json(new)) => self.json(diff, old, new, place),
            (Text::Json(_), _) | (_, Text::Json(_)) => {
                // Each is shown as what it is.
                let gone = DiffKind::Text { before: before.clone(), after: Json::Null };
                let come = DiffKind::Text { before: Json::Null, after: after.clone() };
                self.value(&Diff::new(gone, Action::Delete, false), place.clone());
                self.value(&Diff::new(come, Action::Create, diff.replace), place);
            }
            (Text::Lines(_), _) | (_, Text::Lines(_)) => {
                let (old, new) = (text_lines(&old), text_lines(&new));
                let mut lines = Vec::with_capacity(old.len().max(new.len()));
                align(
                    &old,
                    &new,
                    |_| false,
                    |b, a| match (b, a) {
                        (Some(b), Some(_)) => lines.push((Mark::Same, old[b])),
                        (Some(b), None) => lines.push((Mark::Remove, old[b])),
                        (None, Some(a)) => lines.push((Mark::Add, new[a])),
                        (None, None) => {}
                    },
                );
                self.lines(diff, lines, &place);
            }
            _ => self.simple(diff, &place, text_line(&old), text_line(&new)),
        }
    }

    /// A text of several lines. Of what does not change, what is far from any change is left out.
    fn lines(&mut self, diff: &Diff, lines: Vec<(Mark, &str)>, place: &Place) {
        let mark = Mark::of(diff.action);
        self.push(place, mark, RowValue::Open("<<EOT".to_owned()), diff.replace);
        let depth = place.depth + 1;
        let mut rest = lines.as_slice();
        let mut first = true;
        while let Some((line_mark, line)) = rest.first() {
            let same =
                rest.iter().take_while(|(m, _)| *m == Mark::Same && mark != Mark::Same).count();
            let head = if first { 0 } else { CONTEXT };
            let tail = if same == rest.len() { 0 } else { CONTEXT };
            if same > head + tail + 1 {
                for (mark, line) in &rest[..head] {
                    self.nameless(depth, *mark, RowValue::Line(shortened((*line).to_owned())));
                }
                self.hidden(depth, same - head - tail, Part::Line);
                rest = &rest[same - tail..];
                for (mark, line) in &rest[..tail] {
                    self.nameless(depth, *mark, RowValue::Line(shortened((*line).to_owned())));
                }
                rest = &rest[tail..];
            } else {
                for (mark, line) in &rest[..same] {
                    self.nameless(depth, *mark, RowValue::Line(shortened((*line).to_owned())));
                }
                rest = &rest[same..];
                if same == 0 {
                    self.nameless(depth, *line_mark, RowValue::Line(shortened((*line).to_owned())));
                    rest = &rest[1..];
                }
            }
            first = false;
        }
        self.nameless(place.depth, mark, RowValue::Close("EOT".to_owned()));
    }

    /// A text with JSON in it, such as a policy: what the JSON says is compared.
    fn json(&mut self, diff: &Diff, before: &Json, after: &Json, place: Place) {
        let inner = json_difference(diff.action, before, after);
        let mut place = Place { json: true, forces: place.forces || diff.replace, ..place };
        if inner.action == Action::NoOp && diff.action == Action::Update {
            let note = "Only the layout of this JSON changes.".to_owned();
            self.nameless(place.depth, Mark::Change, RowValue::Note(note));
            place.unchanged = true;
        }
        self.value(&inner, place);
    }

    fn group(
        &mut self,
        diff: &Diff,
        place: &Place,
        (open, close): (&str, &str),
        empty: bool,
        inside: impl FnOnce(&mut Rows),
    ) {
        let mark = Mark::of(diff.action);
        let (before, after) = if place.json { ("jsonencode(", ")") } else { ("", "") };
        if empty {
            let value = RowValue::Text(format!("{before}{open}{close}{after}"));
            return self.push(place, mark, value, diff.replace);
        }
        self.push(place, mark, RowValue::Open(format!("{before}{open}")), diff.replace);
        inside(self);
        self.nameless(place.depth, mark, RowValue::Close(format!("{close}{after}")));
    }

    fn attributes(&mut self, attributes: &BTreeMap<Arc<str>, Diff>, place: &Place) {
        let mut hidden = 0;
        for (key, diff) in attributes {
            let important = is_important(key);
            if diff.action == Action::NoOp && !place.unchanged && !important {
                hidden += 1;
                continue;
            }
            let part = place.part(attribute_name(key));
            self.value(diff, Place { unchanged: part.unchanged || important, ..part });
        }
        self.hidden(place.depth + 1, hidden, Part::Attribute);
    }

    fn elements(&mut self, elements: &BTreeMap<Arc<str>, Diff>, forces: bool, place: &Place) {
        let mut hidden = 0;
        for (key, diff) in elements {
            if diff.action == Action::NoOp && !place.unchanged {
                hidden += 1;
                continue;
            }
            self.value(diff, Place { forces, ..place.part(quoted(key)) });
        }
        self.hidden(place.depth + 1, hidden, Part::Element);
    }

    fn set(&mut self, elements: &[Diff], forces: bool, place: &Place) {
        let mut hidden = 0;
        for diff in elements {
            if diff.action == Action::NoOp && !place.unchanged {
                hidden += 1;
                continue;
            }
            self.value(diff, Place { forces, ..place.part(String::new()) });
        }
        self.hidden(place.depth + 1, hidden, Part::Element);
    }

    /// With `context`, the unchanged element before and after each run of changed ones is shown: the order matters.
    fn list(&mut self, elements: &[Diff], context: bool, place: &Place) {
        let whole = Place { unchanged: true, ..place.part(String::new()) };
        let mut skipped: Vec<&Diff> = Vec::new();
        let mut show_next = false;
        for diff in elements {
            let same = diff.action == Action::NoOp;
            if same && !show_next && !place.unchanged {
                skipped.push(diff);
                continue;
            }
            show_next = false;
            let mut part = place.part(String::new());
            if context {
                if let Some((last, rest)) = skipped.split_last() {
                    self.hidden(place.depth + 1, rest.len(), Part::Element);
                    self.value(last, whole.clone());
                }
                skipped.clear();
                match same {
                    true => part = whole.clone(),
                    false => show_next = true,
                }
            }
            self.value(diff, part);
        }
        self.hidden(place.depth + 1, skipped.len(), Part::Element);
    }

    /// What is in a block. `within` is the depth of its own row; a resource has none.
    fn block_parts(
        &mut self,
        attributes: &BTreeMap<Arc<str>, Diff>,
        blocks: &BTreeMap<Arc<str>, Blocks>,
        within: Option<usize>,
        place: &Place,
    ) {
        let depth = within.map_or(0, |depth| depth + 1);
        let mut hidden = 0;
        for (key, diff) in attributes {
            let important = is_important(key);
            if diff.action == Action::NoOp && !place.unchanged && !important {
                hidden += 1;
                continue;
            }
            let unchanged = place.unchanged || important;
            let name = attribute_name(key);
            self.value(diff, Place { depth, name, unchanged, ..Place::default() });
        }
        self.hidden(depth, hidden, Part::Attribute);
        let mut hidden = 0;
        for (name, group) in blocks {
            for (label, diff) in group.labelled_items() {
                let covered = group.covered(diff);
                if covered.unwrap_or(diff.action) == Action::NoOp && !place.unchanged {
                    hidden += 1;
                    continue;
                }
                let place = Place {
                    depth,
                    name: format!("{}{label}", attribute_name(name)),
                    block: true,
                    forces: group.replace,
                    unchanged: place.unchanged,
                    json: false,
                };
                match covered {
                    None => self.value(diff, place),
                    Some(action) => {
                        let kind = DiffKind::SensitiveBlock {
                            inner: diff.action,
                            before: group.before_sensitive,
                            after: group.after_sensitive,
                        };
                        self.value(&Diff::new(kind, action, diff.replace), place);
                    }
                }
            }
        }
        self.hidden(depth, hidden, Part::Block);
    }
}

impl Blocks {
    fn labelled_items(&self) -> Vec<(String, &Diff)> {
        let unknown = self.unknown.iter().map(|diff| (String::new(), &**diff));
        let known: Vec<(String, &Diff)> = match &self.items {
            BlockItems::Single(diff) => vec![(String::new(), &**diff)],
            BlockItems::List(diffs) | BlockItems::Set(diffs) => {
                diffs.iter().map(|diff| (String::new(), diff)).collect()
            }
            BlockItems::Map(diffs) => {
                diffs.iter().map(|(key, diff)| (format!(" {}", quoted(key)), diff)).collect()
            }
        };
        unknown.chain(known).collect()
    }
}

/// A value that goes away, where one line shows it.
fn one_line(diff: &Diff) -> Option<String> {
    match &diff.kind {
        DiffKind::Scalar { before, .. } => Some(scalar(before)),
        DiffKind::Text { before, .. } => match Text::of(before) {
            text @ (Text::Line(_) | Text::Null) => Some(shortened(text_line(&text))),
            Text::Json(_) | Text::Lines(_) => None,
        },
        DiffKind::Sensitive { .. } => Some(SENSITIVE.to_owned()),
        DiffKind::List { elements, .. } | DiffKind::Set { elements, .. } => {
            elements.is_empty().then(|| "[]".to_owned())
        }
        DiffKind::Map { elements, .. } => elements.is_empty().then(|| "{}".to_owned()),
        _ => None,
    }
}

fn scalar(value: &Json) -> String {
    match value {
        Json::Bool(b) => b.to_string(),
        Json::Number(n) => n.to_string(),
        Json::String(s) => quoted(s),
        _ => "null".to_owned(),
    }
}

fn text_line(text: &Text<'_>) -> String {
    match text {
        Text::Line(text) | Text::Lines(text) => quoted(text),
        Text::Null | Text::Json(_) => "null".to_owned(),
    }
}

fn text_lines<'t>(text: &Text<'t>) -> Vec<&'t str> {
    match text {
        Text::Line(text) | Text::Lines(text) => text.split('\n').collect(),
        Text::Null => vec!["null"],
        Text::Json(_) => Vec::new(),
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => {
            let left_out = text[end..].chars().count();
            format!("{}… ({left_out} characters more)", &text[..end])
        }
        None => text,
    }
}
