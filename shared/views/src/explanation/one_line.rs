//! Values in one line, without what is sensitive.

use crate::json::{Escape, Json};
use crate::plan_view::PlanView;
use crate::value_json::{Shape, holds_true, known, sensitive};
use crate::visible::deceives;
use engine::changes::ResourceInstanceChange;
use values::{Path, PathStep, Value};

/// Longest value that is written out.
const LONGEST: usize = 100;

/// Which parts of an object are sensitive, by mark or by schema, as JSON has it.
pub(super) fn mask(view: &PlanView<'_>, change: &ResourceInstanceChange, value: &Value) -> Json {
    sensitive(value, view.block(change).map_or(Shape::Plain, Shape::Block))
}

/// Whether anything on the way to a part, or in it, is sensitive.
pub(super) fn is_sensitive_at(mask: &Json, path: &Path) -> bool {
    let mut mask = mask;
    for step in &path.0 {
        if mask.is_true() {
            return true;
        }
        let next = match step {
            PathStep::Attribute(name) | PathStep::Key(name) => {
                mask.as_object().and_then(|object| object.get(name))
            }
            PathStep::Index(index) => mask.as_array().and_then(|items| items.get(*index)),
            // Which element it is, the JSON does not say.
            PathStep::Element(_) => return holds_true(mask),
        };
        let Some(next) = next else { return false };
        mask = next;
    }
    holds_true(mask)
}

/// A value in one line.
pub(super) fn one_line(value: Option<&Value>, is_sensitive: bool) -> String {
    let Some(value) = value else { return "null".to_owned() };
    if is_sensitive || value.deep_marks().is_sensitive() {
        return "(sensitive value)".to_owned();
    }
    if value.deep_marks().is_ephemeral() {
        return "(ephemeral value)".to_owned();
    }
    if !value.is_known() {
        return "(known after apply)".to_owned();
    }
    if !value.is_wholly_known() {
        return "(partly known after apply)".to_owned();
    }
    one_line_json(&known(value))
}

/// The same of what is JSON already.
pub(super) fn one_line_json(json: &Json) -> String {
    shortened(&json.to_text(Escape::Minimal))
}

/// Without control characters, which a terminal might obey, and those that hide others, and no longer than can be read.
fn shortened(text: &str) -> String {
    let mut out = String::new();
    for (position, c) in text.chars().enumerate() {
        if position == LONGEST {
            out.push('…');
            break;
        }
        match c.is_control() || deceives(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn what_is_not_seen_is_escaped() {
        assert_eq!(shortened("a\u{1b}b\u{202e}c"), "a\\u{1b}b\\u{202e}c");
    }
}
