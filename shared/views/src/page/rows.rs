//! Differences.

use super::html::Html;
use crate::diff::{DiffRow, Mark, RowValue};

/// Levels that are indented each; what is deeper stands below the deepest.
const INDENTED: [&str; 13] =
    ["", " i1", " i2", " i3", " i4", " i5", " i6", " i7", " i8", " i9", " i10", " i11", " i12"];

pub(super) fn write_rows(rows: &[DiffRow], html: &mut Html) {
    html.raw("<div class=\"rows\">");
    for row in rows {
        write_row(row, html);
    }
    html.raw("</div>");
}

fn write_row(row: &DiffRow, html: &mut Html) {
    html.raw("<div class=\"").raw(match row.mark {
        Mark::Same => "r",
        // What changes in it is marked itself.
        Mark::Change if matches!(row.value, RowValue::Open(_)) => "r g",
        Mark::Change if matches!(row.value, RowValue::Close(_)) => "r",
        Mark::Add => "r a",
        Mark::Remove => "r d",
        Mark::Change => "r u",
    });
    html.raw(INDENTED[row.depth.min(INDENTED.len() - 1)]).raw("\">");
    if !row.name.is_empty() {
        html.raw("<b>").text(&row.name).raw("</b>").raw(if row.block { " " } else { " = " });
    }
    match &row.value {
        RowValue::Text(text) => value(text, html),
        RowValue::Change(before, after) => {
            html.raw("<del>");
            value(before, html);
            html.raw("</del> → <ins>");
            value(after, html);
            html.raw("</ins>");
        }
        RowValue::Open(text) | RowValue::Close(text) => {
            html.text(text);
        }
        RowValue::Line(text) if text.is_empty() => {
            html.raw(" ");
        }
        RowValue::Line(text) => {
            html.text(text);
        }
        RowValue::Hidden(count, part) => {
            html.raw("<i>").text(&part.unchanged(*count)).raw("</i>");
        }
        RowValue::Note(text) => {
            html.raw("<i>").text(text).raw("</i>");
        }
    }
    if row.forces_replacement {
        html.raw(" <em>forces replacement</em>");
    }
    html.raw("</div>");
}

/// A value. What stands in parentheses is none.
fn value(text: &str, html: &mut Html) {
    match text.starts_with('(') {
        true => html.raw("<i>").text(text).raw("</i>"),
        false => html.text(text),
    };
}
