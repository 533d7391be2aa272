//! Lines of prose: wrapped to a width, and rules between parts.

use crate::colour::Colour;

/// Width where the output is no terminal.
pub const DEFAULT_WIDTH: usize = 78;

/// Breaks lines at white space so that they stay below a width in bytes. Lines that begin with a
/// space are left whole: they are meant literally.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    if width <= 1 {
        return text.to_owned();
    }
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| match line.starts_with(' ') {
            true => line.to_owned(),
            false => wrap_line(line, width - 1),
        })
        .collect();
    lines.join("\n")
}

fn wrap_line(line: &str, limit: usize) -> String {
    let mut out = String::with_capacity(line.len() + line.len() / limit + 1);
    let mut column = 0;
    let mut spaces = "";
    let mut rest = line;
    while !rest.is_empty() {
        let blank = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        if blank > 0 {
            spaces = &rest[..blank];
            rest = &rest[blank..];
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        if word.is_empty() {
            break;
        }
        match column > 0 && column + spaces.len() + word.len() > limit {
            true => {
                out.push('\n');
                column = word.len();
            }
            false => {
                out.push_str(spaces);
                column += spaces.len() + word.len();
            }
        }
        out.push_str(word);
        spaces = "";
    }
    if column + spaces.len() <= limit {
        out.push_str(spaces);
    }
    out
}

/// A newline and a rule over the width.
pub(crate) fn rule(colour: Colour, width: usize) -> String {
    match width {
        0 | 1 => "\n".to_owned(),
        _ => colour.paint("[dark_gray]\n{}", &["─".repeat(width - 1).as_str()]),
    }
}
