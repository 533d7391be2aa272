//! Writes differences of objects, maps, lists and sets.

use super::render::{Style, attribute_name, padded, quoted, spaces};
use super::tree::{Diff, DiffKind};
use engine::changes::Action;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Attributes that are shown even where they do not change: they tell what the object is.
pub(super) fn is_important(name: &str) -> bool {
    matches!(name, "id" | "name" | "tags")
}

/// One line (or several) of a collection: warning, symbol, text, end.
pub(super) fn push_entry(
    out: &mut String,
    diff: &Diff,
    indent: usize,
    styles: (Style, Style),
    name: &str,
    end: &str,
) {
    let (warning_style, style) = styles;
    let margin = spaces(indent);
    if let Some(warning) = diff.warning(indent, warning_style) {
        out.extend([margin.as_str(), &warning, "\n"]);
    }
    let symbol = style.symbol(diff.action);
    out.extend([margin.as_str(), &symbol, name, &diff.render(indent, style), end, "\n"]);
}

/// The line that counts what is not shown.
pub(super) fn push_hidden(out: &mut String, what: &str, count: usize, indent: usize, style: Style) {
    if count > 0 {
        let symbol = style.symbol(Action::NoOp);
        out.extend([spaces(indent).as_str(), &symbol, &style.hidden(what, count), "\n"]);
    }
}

/// The attributes of a block or an object, and how many are not shown. Of the styles the first is that of the whole, the
/// second that within it, and the third that of warnings.
pub(super) fn push_attributes(
    out: &mut String,
    attributes: &BTreeMap<Arc<str>, Diff>,
    indent: usize,
    styles: [Style; 3],
) {
    let [style, inner, warning] = styles;
    let names: Vec<String> = attributes.keys().map(|k| attribute_name(k)).collect();
    let width = names.iter().map(String::len).max().unwrap_or_default();
    let mut hidden = 0;
    for ((key, diff), name) in attributes.iter().zip(&names) {
        let important = is_important(key);
        if diff.action == Action::NoOp && !style.unchanged && !important {
            hidden += 1;
            continue;
        }
        let shown = Style { unchanged: inner.unchanged || important, ..inner };
        let name = format!("{} = ", padded(name, width));
        let warning = if important { shown } else { warning };
        push_entry(out, diff, indent + 1, (warning, shown), &name, "");
    }
    push_hidden(out, "attribute", hidden, indent + 1, style);
}

impl Diff {
    fn push_end(&self, out: &mut String, bracket: &str, indent: usize, style: Style) {
        let symbol = style.symbol(Action::NoOp);
        let suffix = style.null_suffix(self.action);
        out.extend([spaces(indent).as_str(), &symbol, bracket, &suffix]);
    }

    fn render_empty(&self, brackets: &str, replace: bool, style: Style) -> String {
        format!("{brackets}{}{}", style.null_suffix(self.action), style.replacement(replace))
    }

    pub(super) fn render_object(
        &self,
        attributes: &BTreeMap<Arc<str>, Diff>,
        schema: bool,
        indent: usize,
        style: Style,
    ) -> String {
        if attributes.is_empty() {
            return self.render_empty("{}", self.replace, style);
        }
        let inner = Style { no_null_suffix: !schema, ..style.inner() };
        let mut out = format!("{{{}\n", style.replacement(self.replace));
        push_attributes(&mut out, attributes, indent, [style, inner, style]);
        self.push_end(&mut out, "}", indent, style);
        out
    }

    pub(super) fn render_map(
        &self,
        elements: &BTreeMap<Arc<str>, Diff>,
        schema: bool,
        indent: usize,
        style: Style,
    ) -> String {
        let replace = self.replace && !schema;
        if elements.is_empty() {
            return self.render_empty("{}", replace, style);
        }
        let names: Vec<String> = elements.keys().map(|k| quoted(k)).collect();
        let width = match schema {
            true => 0,
            false => names.iter().map(String::len).max().unwrap_or_default(),
        };
        let inner = Style {
            no_null_suffix: self.action == Action::Delete || schema,
            forces_replacement: self.replace && schema,
            ..style
        };
        let mut out = format!("{{{}\n", style.replacement(replace));
        let mut hidden = 0;
        for (diff, name) in elements.values().zip(&names) {
            if diff.action == Action::NoOp && !style.unchanged {
                hidden += 1;
                continue;
            }
            let end = if matches!(diff.kind, DiffKind::Object { .. }) { "," } else { "" };
            let name = format!("{} = ", padded(name, width));
            push_entry(&mut out, diff, indent + 1, (style, inner), &name, end);
        }
        push_hidden(&mut out, "element", hidden, indent + 1, style);
        self.push_end(&mut out, "}", indent, style);
        out
    }

    pub(super) fn render_set(
        &self,
        elements: &[Diff],
        schema: bool,
        indent: usize,
        style: Style,
    ) -> String {
        let replace = self.replace && !schema;
        if elements.is_empty() {
            return self.render_empty("[]", replace, style);
        }
        let inner =
            Style { no_null_suffix: true, forces_replacement: self.replace && schema, ..style };
        let mut out = format!("[{}\n", style.replacement(replace));
        let mut hidden = 0;
        for diff in elements {
            if diff.action == Action::NoOp && !style.unchanged {
                hidden += 1;
                continue;
            }
            push_entry(&mut out, diff, indent + 1, (style, inner), "", ",");
        }
        push_hidden(&mut out, "element", hidden, indent + 1, style);
        self.push_end(&mut out, "]", indent, style);
        out
    }

    /// With `context`, the unchanged element before and after each run of changed ones is shown:
    /// the order matters.
    pub(super) fn render_list(
        &self,
        elements: &[Diff],
        context: bool,
        indent: usize,
        style: Style,
    ) -> String {
        if elements.is_empty() {
            return self.render_empty("[]", self.replace, style);
        }
        let inner = Style { no_null_suffix: true, ..style.inner() };
        let whole = Style { unchanged: true, ..style.inner() };
        let mut out = format!("[{}\n", style.replacement(self.replace));
        let mut skipped: Vec<&Diff> = Vec::new();
        let mut show_next = false;
        for diff in elements {
            if diff.action == Action::NoOp && !show_next && !style.unchanged {
                skipped.push(diff);
                continue;
            }
            show_next = false;
            let mut shown = inner;
            if context {
                if let Some((last, rest)) = skipped.split_last() {
                    push_hidden(&mut out, "element", rest.len(), indent + 1, inner);
                    push_entry(&mut out, last, indent + 1, (whole, whole), "", ",");
                }
                skipped.clear();
                match diff.action {
                    Action::NoOp => shown = whole,
                    _ => show_next = true,
                }
            }
            push_entry(&mut out, diff, indent + 1, (shown, shown), "", ",");
        }
        push_hidden(&mut out, "element", skipped.len(), indent + 1, style);
        self.push_end(&mut out, "]", indent, style);
        out
    }
}
