//! Writes differences as text.

use super::tree::{Diff, DiffKind};
use crate::colour::Colour;
use crate::json::{Json, deep};
use engine::changes::Action;
pub(crate) use values::quote::quoted;

/// How a difference is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) colour: Colour,
    /// Without ` -> null` after what goes away.
    pub(crate) no_null_suffix: bool,
    /// With `# forces replacement` whatever the difference itself says. Not handed on to parts.
    pub(crate) forces_replacement: bool,
    /// With parts that do not change.
    pub(crate) unchanged: bool,
    /// Without `+`, `-` and `~`, and without the room for them.
    pub(crate) no_symbols: bool,
}

impl Style {
    pub(crate) fn new(colour: Colour) -> Style {
        Style {
            colour,
            no_null_suffix: false,
            forces_replacement: false,
            unchanged: false,
            no_symbols: false,
        }
    }
    /// The style of a state's values: everything, and nothing that marks a change.
    pub(crate) fn shown(colour: Colour) -> Style {
        Style { unchanged: true, no_symbols: true, ..Style::new(colour) }
    }
    /// The style of parts.
    pub(super) fn inner(self) -> Style {
        Style { forces_replacement: false, ..self }
    }

    pub(super) fn symbol(self, action: Action) -> String {
        match self.no_symbols {
            true => String::new(),
            false => format!("{} ", action_symbol(self.colour, action)),
        }
    }
    pub(super) fn null_suffix(self, action: Action) -> String {
        match action == Action::Delete && !self.no_null_suffix {
            true => self.colour.paint(" [dark_gray]-> null[reset]", &[]),
            false => String::new(),
        }
    }
    pub(super) fn replacement(self, replace: bool) -> String {
        match replace || self.forces_replacement {
            true => self.colour.paint(" [red]# forces replacement[reset]", &[]),
            false => String::new(),
        }
    }
    pub(super) fn hidden(self, what: &str, count: usize) -> String {
        let plural = if count == 1 { "" } else { "s" };
        self.colour.paint(
            "[dark_gray]# ({} unchanged {}{} hidden)[reset]",
            &[&count.to_string(), what, plural],
        )
    }
    pub(super) fn arrow(self) -> String {
        self.colour.paint("[yellow]->[reset]", &[])
    }
    pub(super) fn null(self) -> String {
        self.colour.paint("[dark_gray]null[reset]", &[])
    }
}

/// Levels of nesting that are shown. What is indented grows with the square of the depth, and
/// nobody reads beyond this.
const DEEPEST: usize = 200;

/// What a difference looks like, from where its value begins: no indentation before the first line.
impl Diff {
    pub(crate) fn render(&self, indent: usize, style: Style) -> String {
        deep(|| self.render_level(indent, style))
    }

    fn render_level(&self, indent: usize, style: Style) -> String {
        if indent > DEEPEST {
            return "(nested too deeply to be shown)".into();
        }
        match &self.kind {
            DiffKind::Scalar { before, after } => {
                self.arrow_of(scalar(before, style), scalar(after, style), style)
            }
            DiffKind::Text { before, after } => self.render_text(before, after, indent, style),
            DiffKind::Object { attributes, schema } => {
                self.render_object(attributes, *schema, indent, style)
            }
            DiffKind::Map { elements, schema } => self.render_map(elements, *schema, indent, style),
            DiffKind::List { elements, context } => {
                self.render_list(elements, *context, indent, style)
            }
            DiffKind::Set { elements, schema } => self.render_set(elements, *schema, indent, style),
            DiffKind::Block { attributes, blocks } => {
                self.render_block(attributes, blocks, indent, style)
            }
            DiffKind::Unknown { before } => {
                let replace = style.replacement(self.replace);
                match before.as_deref().filter(|_| self.action != Action::Create) {
                    Some(before) => {
                        let style = Style { no_null_suffix: true, ..style };
                        let before = before.render(indent, style);
                        format!("{before} -> (known after apply){replace}")
                    }
                    None => format!("(known after apply){replace}"),
                }
            }
            DiffKind::Sensitive { .. } => format!(
                "(sensitive value){}{}",
                style.null_suffix(self.action),
                style.replacement(self.replace)
            ),
            DiffKind::SensitiveBlock { .. } => {
                let prefix = format!("{}{}", spaces(indent), style.symbol(Action::NoOp));
                format!(
                    "{{{}\n{prefix}  # At least one attribute in this block is (or was) \
                     sensitive,\n{prefix}  # so its contents will not be displayed.\n{prefix}}}",
                    style.replacement(self.replace)
                )
            }
            DiffKind::TypeChange { before, after } => {
                let style = Style { no_null_suffix: true, ..style };
                format!(
                    "{} {} {}",
                    before.render(indent, style),
                    style.arrow(),
                    after.render(indent, style)
                )
            }
            DiffKind::WriteOnly => format!(
                "(write-only attribute){}{}",
                style.null_suffix(self.action),
                style.replacement(self.replace)
            ),
        }
    }

    pub(super) fn arrow_of(&self, before: String, after: String, style: Style) -> String {
        let replace = style.replacement(self.replace);
        match self.action {
            Action::Create => format!("{after}{replace}"),
            Action::Delete => format!("{before}{}{replace}", style.null_suffix(self.action)),
            Action::NoOp => format!("{before}{replace}"),
            _ => format!("{before} {} {after}{replace}", style.arrow()),
        }
    }

    /// Lines that stand above the difference where a value becomes or ceases to be sensitive.
    pub(super) fn warning(&self, indent: usize, style: Style) -> Option<String> {
        let (what, inner, before, after) = match self.kind {
            DiffKind::Sensitive { inner, before, after } => {
                ("attribute value", inner, before, after)
            }
            DiffKind::SensitiveBlock { inner, before, after } => ("block", inner, before, after),
            _ => return None,
        };
        if before == after || matches!(inner, Action::Create | Action::Delete) {
            return None;
        }
        let indent = spaces(indent);
        let template = match before {
            true => {
                "  # [yellow]Warning[reset]: this {} will no longer be marked as sensitive\n{}  # \
                 after applying this change."
            }
            false => {
                "  # [yellow]Warning[reset]: this {} will be marked as sensitive and will \
                 not\n{}  # display in UI output after applying this change."
            }
        };
        let mut warning = style.colour.paint(template, &[what, &indent]);
        if inner == Action::NoOp && matches!(self.kind, DiffKind::Sensitive { .. }) {
            warning.push_str(" The value is unchanged.");
        }
        Some(warning)
    }
}

fn scalar(value: &Json, style: Style) -> String {
    match value {
        Json::Bool(b) => b.to_string(),
        Json::Number(n) => n.to_string(),
        Json::String(s) => quoted(s),
        _ => style.null(),
    }
}

/// The mark of an action, three columns wide.
pub(crate) fn action_symbol(colour: Colour, action: Action) -> String {
    let template = match action {
        Action::DeleteThenCreate => "[red]-[reset]/[green]+[reset]",
        Action::CreateThenDelete => "[green]+[reset]/[red]-[reset]",
        Action::Create => "  [green]+[reset]",
        Action::Delete => "  [red]-[reset]",
        Action::Read => " [cyan]<=[reset]",
        Action::Update => "  [yellow]~[reset]",
        Action::NoOp => "   ",
        Action::Forget => " [red].[reset]",
    };
    colour.paint(template, &[])
}

pub(super) fn spaces(indent: usize) -> String {
    "    ".repeat(indent)
}

/// A name as it stands before `=`: in quotes unless it is an identifier.
pub(crate) fn attribute_name(name: &str) -> String {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    match starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// Pads a name to a width.
pub(super) fn padded(name: &str, width: usize) -> String {
    format!("{name:width$}")
}
