//! Writes differences of strings: of one line, of several lines, and of JSON.

use super::change::Change;
use super::dynamic::of_dynamic;
use super::paths::Paths;
use super::render::{Style, quoted, spaces};
use super::sequence::align;
use super::tree::Diff;
use crate::json::Json;
use engine::changes::Action;

/// What a string is to a reader.
pub(super) enum Text<'a> {
    Null,
    Json(Json),
    Lines(&'a str),
    Line(&'a str),
}

impl<'a> Text<'a> {
    pub(super) fn of(value: &'a Json) -> Text<'a> {
        let Some(text) = value.as_str() else { return Text::Null };
        if text.starts_with(['{', '['])
            && let Some(json) = Json::parse_prefix(text)
        {
            return Text::Json(json);
        }
        match text.contains('\n') {
            true => Text::Lines(text.trim()),
            false => Text::Line(text),
        }
    }
    /// As one line.
    fn simple(&self, style: Style) -> String {
        match self {
            Text::Null => style.null(),
            Text::Line(text) | Text::Lines(text) => quoted(text),
            Text::Json(_) => String::new(),
        }
    }
    fn lines(&self, style: Style) -> Vec<String> {
        match self {
            Text::Line(text) | Text::Lines(text) => text.split('\n').map(str::to_owned).collect(),
            Text::Null => vec![style.null()],
            Text::Json(_) => Vec::new(),
        }
    }
}

impl Diff {
    pub(super) fn render_text(
        &self,
        before: &Json,
        after: &Json,
        indent: usize,
        style: Style,
    ) -> String {
        let (old, new) = (Text::of(before), Text::of(after));
        let replace = style.replacement(self.replace);
        match self.action {
            Action::Create | Action::NoOp => match &new {
                Text::Json(json) => {
                    let was = if self.action == Action::NoOp { json } else { &Json::Null };
                    self.render_json(was, json, indent, style)
                }
                Text::Lines(_) => self.render_same_lines(&new, indent, style),
                _ => format!("{}{replace}", new.simple(style)),
            },
            Action::Delete => match &old {
                Text::Null => format!("{}{replace}", old.simple(style)),
                Text::Json(json) => self.render_json(json, &Json::Null, indent, style),
                Text::Lines(_) => self.render_same_lines(&old, indent, style),
                Text::Line(_) => {
                    format!("{}{}{replace}", old.simple(style), style.null_suffix(self.action))
                }
            },
            _ => match (&old, &new) {
                (Text::Json(old), Text::Json(new)) => self.render_json(old, new, indent, style),
                (Text::Json(_), _) | (_, Text::Json(_)) => {
                    // Each is written as what it is.
                    let style = Style { no_null_suffix: true, ..style };
                    let gone =
                        Diff::new(self.text_kind(before, &Json::Null), Action::Delete, false);
                    let come = Diff::new(self.text_kind(&Json::Null, after), Action::Create, false);
                    let (gone, come) = (gone.render(indent, style), come.render(indent, style));
                    format!("{gone} {} {come}", style.arrow())
                }
                (Text::Lines(_), _) | (_, Text::Lines(_)) => {
                    self.render_changed_lines(&old, &new, indent, style)
                }
                _ => format!(
                    "{} {} {}{replace}",
                    old.simple(style),
                    style.arrow(),
                    new.simple(style)
                ),
            },
        }
    }

    fn text_kind(&self, before: &Json, after: &Json) -> super::tree::DiffKind {
        super::tree::DiffKind::Text { before: before.clone(), after: after.clone() }
    }

    fn render_same_lines(&self, text: &Text<'_>, indent: usize, style: Style) -> String {
        let prefix = format!("{}{}", spaces(indent + 1), style.symbol(Action::NoOp));
        let lines = text.lines(style).into_iter().map(|line| format!("{prefix}{line}"));
        self.heredoc(lines.collect(), indent, style)
    }

    fn render_changed_lines(
        &self,
        old: &Text<'_>,
        new: &Text<'_>,
        indent: usize,
        style: Style,
    ) -> String {
        let (old, new) = (old.lines(style), new.lines(style));
        let margin = spaces(indent + 1);
        let mut lines = Vec::with_capacity(old.len().max(new.len()));
        align(
            &old,
            &new,
            |_| false,
            |b, a| {
                let (action, line) = match (b, a) {
                    (Some(b), Some(_)) => (Action::NoOp, &old[b]),
                    (Some(b), None) => (Action::Delete, &old[b]),
                    (None, Some(a)) => (Action::Create, &new[a]),
                    (None, None) => return,
                };
                lines.push(format!("{margin}{}{line}", style.symbol(action)));
            },
        );
        self.heredoc(lines, indent, style)
    }

    fn heredoc(&self, lines: Vec<String>, indent: usize, style: Style) -> String {
        format!(
            "<<-EOT{}\n{}\n{}{}EOT{}",
            style.replacement(self.replace),
            lines.join("\n"),
            spaces(indent),
            style.symbol(Action::NoOp),
            style.null_suffix(self.action)
        )
    }

    fn render_json(&self, before: &Json, after: &Json, indent: usize, style: Style) -> String {
        let diff = json_difference(self.action, before, after);
        let mut inner = Style { no_null_suffix: true, ..style.inner() };
        let mut action = self.action;
        let (mut whitespace, mut replace) = ("", String::new());
        if diff.action == Action::NoOp && self.action == Action::Update {
            // Only the layout of the JSON changes: without a word, no change would be seen.
            whitespace = match self.replace {
                true => " # whitespace changes force replacement",
                false => " # whitespace changes",
            };
            inner.unchanged = true;
            action = Action::NoOp;
        } else {
            replace = style.replacement(self.replace);
        }
        if matches!(self.action, Action::Create | Action::Delete) {
            action = Action::NoOp;
        }
        let text = diff.render(indent + 1, inner);
        match text.contains('\n') {
            true => format!(
                "jsonencode({whitespace}\n{}{}{text}{replace}\n{}{}){}",
                spaces(indent + 1),
                style.symbol(action),
                spaces(indent),
                style.symbol(Action::NoOp),
                style.null_suffix(self.action)
            ),
            false => format!("jsonencode({text}){whitespace}{replace}"),
        }
    }
}

/// The difference of what the JSON in two texts says.
pub(super) fn json_difference(action: Action, before: &Json, after: &Json) -> Diff {
    of_dynamic(&Change {
        before: before.clone(),
        after: after.clone(),
        before_explicit: action != Action::Create,
        after_explicit: action != Action::Delete,
        unknown: Json::Bool(false),
        before_sensitive: Json::Bool(false),
        after_sensitive: Json::Bool(false),
        replace: Paths::none(),
        relevant: Paths::All,
        legacy: false,
    })
}
