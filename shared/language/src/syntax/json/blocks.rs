//! Bodies and blocks out of JSON values.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::ast::{
    Attribute, Block, Body, Expression, ExpressionKind, Label, Literal, Syntax, with_stack,
};
use super::super::suggest;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::{Sources, Span};

/// A member of an object.
pub(crate) struct Member<'v> {
    pub(crate) name: &'v Arc<str>,
    pub(crate) name_span: Span,
    pub(crate) value: &'v Expression,
}

/// The members of an object of the JSON syntax, in source order; nothing where it is none.
pub(crate) fn members(value: &Expression) -> impl Iterator<Item = Member<'_>> {
    let items = match &value.kind {
        ExpressionKind::Object(items) => &**items,
        _ => &[],
    };
    items.iter().filter_map(|item| match &item.key.expression.kind {
        ExpressionKind::JsonString(name) => {
            let name_span = item.key.expression.span;
            Some(Member { name: &name.text, name_span, value: &item.value })
        }
        _ => None,
    })
}

/// The members of an object, or of all objects in an array. `label` names the block label that the
/// names of the members are.
fn deep_members<'v>(
    value: &'v Expression,
    label: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> Vec<Member<'v>> {
    let purpose = match label {
        Some(label) => format!("to specify {label} labels for this block."),
        None => "to define arguments and child blocks.".to_owned(),
    };
    let mut refuse = |required: &str, value: &Expression| {
        diagnostics.push(
            Diagnostic::error(
                "Incorrect JSON value type",
                format!("{required} is required here, {purpose}"),
            )
            .at(value.start_span()),
        );
    };
    match &value.kind {
        ExpressionKind::Literal(Literal::Null) => Vec::new(),
        ExpressionKind::Object(_) => members(value).collect(),
        ExpressionKind::Tuple(items) => {
            let mut found = Vec::new();
            for item in items.iter() {
                match &item.kind {
                    ExpressionKind::Object(_) => found.extend(members(item)),
                    _ => refuse("A JSON object", item),
                }
            }
            found
        }
        _ => {
            refuse("Either a JSON object or JSON array of objects", value);
            Vec::new()
        }
    }
}

/// What a member says; nothing where it is a comment.
fn attribute(member: Member<'_>) -> Option<Attribute> {
    (&**member.name != "//").then(|| Attribute {
        name: member.name.clone(),
        name_span: member.name_span,
        equals_span: member.name_span.end_point(),
        expression: member.value.clone(),
        syntax: Syntax::Json,
        span: member.name_span.to(member.value.span),
    })
}

/// The members of an object that has arguments alone; of two with the same name the first.
pub(super) fn arguments_of(
    value: &Expression,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Vec<Attribute> {
    let mut arguments: Vec<Attribute> = Vec::new();
    let mut places: HashMap<Arc<str>, Span> = HashMap::new();
    for argument in members(value).filter_map(attribute) {
        if let Some(first) = places.get(&argument.name) {
            let detail = format!(
                "The argument {:?} was already set at {}.",
                argument.name,
                sources.range(*first)
            );
            let error = Diagnostic::error("Duplicate attribute definition", detail);
            diagnostics.push(error.at(argument.name_span));
            continue;
        }
        places.insert(argument.name.clone(), argument.span);
        arguments.push(argument);
    }
    arguments
}

/// The body that a value is, its members not yet told apart.
pub(super) fn body_of(value: &Expression, diagnostics: &mut Diagnostics) -> Body {
    let attributes =
        deep_members(value, None, diagnostics).into_iter().filter_map(attribute).collect();
    let end_span = match &value.kind {
        ExpressionKind::Object(_) => last_byte(value.span),
        _ => value.start_span(),
    };
    let (blocks, syntax) = (Vec::new(), Syntax::Json);
    Body { attributes, blocks, syntax, span: value.span, end_span }
}

fn last_byte(span: Span) -> Span {
    Span { start: span.end.saturating_sub(1).max(span.start), ..span }
}

/// The blocks that a member gives, of the type that its name is: objects nested by `labels`, then
/// one object, or an array of them.
pub(crate) fn unpack(
    member: &Attribute,
    labels: &[&str],
    diagnostics: &mut Diagnostics,
) -> Vec<Block> {
    let mut unpacking = Unpacking { member, blocks: Vec::new(), diagnostics };
    unpacking.value(&member.expression, labels, &mut Vec::new());
    unpacking.blocks
}

struct Unpacking<'u> {
    member: &'u Attribute,
    blocks: Vec<Block>,
    diagnostics: &'u mut Diagnostics,
}

impl Unpacking<'_> {
    fn value(&mut self, value: &Expression, labels: &[&str], given: &mut Vec<Label>) {
        let type_name = &self.member.name;
        if let [label, inner @ ..] = labels {
            let members = deep_members(value, Some(label), self.diagnostics);
            if members.is_empty() {
                let detail = format!(
                    "At least one object property is required, whose name represents the {type_name} block's {label}."
                );
                let missing = Diagnostic::error("Missing block label", detail);
                self.diagnostics.push(missing.at(value.start_span()));
            }
            for member in members {
                let (text, span) = (member.name.clone(), member.name_span);
                given.push(Label { text, span, quoted: true });
                self.value(member.value, inner, given);
                given.pop();
            }
            return;
        }
        match &value.kind {
            ExpressionKind::Literal(Literal::Null) => {}
            ExpressionKind::Object(_) => self.block(value, value, given),
            ExpressionKind::Tuple(items) => {
                for item in items.iter() {
                    self.block(value, item, given);
                }
            }
            _ => {
                let detail = format!(
                    "Either a JSON object or a JSON array is required, representing the contents of one or more {type_name:?} blocks."
                );
                let wrong = Diagnostic::error("Incorrect JSON value type", detail);
                self.diagnostics.push(wrong.at(value.start_span()));
            }
        }
    }

    /// A block whose content is `content`; `container` is the object, or the array around it.
    fn block(&mut self, container: &Expression, content: &Expression, labels: &[Label]) {
        let body = with_stack(|| body_of(content, self.diagnostics));
        self.blocks.push(Block {
            type_name: self.member.name.clone(),
            type_span: self.member.name_span,
            labels: labels.to_vec(),
            open_brace_span: container.start_span(),
            close_brace_span: last_byte(content.span),
            body,
        });
    }
}

/// A member that is neither an argument nor a block type; `candidates` are the names of both.
pub(crate) fn extraneous_property<'c>(
    member: &Attribute,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Diagnostic {
    let name = &member.name;
    let hint = suggest(name, candidates)
        .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
    Diagnostic::error(
        "Extraneous JSON object property",
        format!("No argument or block type is named {name:?}.{hint}"),
    )
    .at(member.name_span)
}

/// A second member with the name of an argument.
pub(crate) fn duplicate_argument(
    member: &Attribute,
    first: &Attribute,
    sources: &Sources,
) -> Diagnostic {
    let detail =
        format!("The argument {:?} was already set at {}.", member.name, sources.range(first.span));
    Diagnostic::error("Duplicate argument", detail).at(member.name_span)
}
