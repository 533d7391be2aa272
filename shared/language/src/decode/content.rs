//! Whether a body has what its schema wants, and nothing else.

use std::sync::Arc;

use values::Type;
use values::schema::{AttributeType, Block, Nesting};

use crate::diagnostics::Diagnostic;
use crate::evaluate::Evaluator;
use crate::reference::did_you_mean;
use crate::syntax::ast::{self, Body};
use crate::syntax::suggest;

/// Which attributes of a schema a body writes as blocks: lists and sets of objects may be written
/// either way, since old provider libraries did not tell the two apart.
pub(super) struct Forms<'s> {
    as_blocks: Vec<&'s Arc<str>>,
}

impl<'s> Forms<'s> {
    pub(super) fn of(body: &Body, schema: &'s Block) -> Self {
        let candidates: Vec<&Arc<str>> = schema
            .attributes
            .iter()
            .filter(|(_, attribute)| is_ambiguous(&attribute.ty))
            .map(|(name, _)| name)
            .filter(|name| body.attribute(name).is_none())
            .collect();
        // The whole schema is looked at only where there is something to decide.
        match candidates.is_empty() || is_modern(schema) {
            true => Forms { as_blocks: Vec::new() },
            false => Forms { as_blocks: candidates },
        }
    }

    pub(super) fn as_blocks(&self, name: &str) -> bool {
        self.as_blocks.iter().any(|candidate| &***candidate == name)
    }
}

fn is_ambiguous(ty: &AttributeType) -> bool {
    match ty {
        AttributeType::Plain(Type::List(element) | Type::Set(element)) => {
            matches!(**element, Type::Object(_))
        }
        _ => false,
    }
}

/// Whether a schema has a type that those libraries could not express.
fn is_modern(schema: &Block) -> bool {
    let modern = |ty: &Type| match ty {
        Type::Tuple(_) | Type::Object(_) => true,
        Type::Map(element) if matches!(**element, Type::Object(_)) => true,
        Type::List(element) | Type::Set(element) | Type::Map(element) => {
            element.element().is_some_and(|inner| !inner.is_primitive())
        }
        _ => false,
    };
    schema.attributes.values().any(|attribute| match &attribute.ty {
        AttributeType::Nested(_) => true,
        AttributeType::Plain(ty) => modern(ty),
    }) || schema.blocks.values().any(|nested| is_modern(&nested.block))
}

/// Reports what is missing and what does not belong.
pub(super) fn check(evaluator: &mut Evaluator<'_>, body: &Body, schema: &Block, forms: &Forms<'_>) {
    for (name, attribute) in &schema.attributes {
        if attribute.required && !forms.as_blocks(name) && body.attribute(name).is_none() {
            let detail = format!("The argument {name:?} is required, but no definition was found.");
            evaluator.diagnostics.push(
                Diagnostic::error("Missing required argument", detail).at(body.missing_item_span()),
            );
        }
    }
    for attribute in &body.attributes {
        let known = schema.attributes.contains_key(&attribute.name);
        if !known {
            evaluator.diagnostics.push(unsupported_argument(attribute, body, schema));
        }
    }
    for block in &body.blocks {
        check_block(evaluator, block, schema, forms);
    }
}

fn unsupported_argument(attribute: &ast::Attribute, body: &Body, schema: &Block) -> Diagnostic {
    let name = &attribute.name;
    let absent = schema
        .attributes
        .keys()
        .map(|name| &**name)
        .filter(|candidate| body.attribute(candidate).is_none());
    let hint = match suggest(name, absent) {
        Some(near) => format!(" Did you mean {near:?}?"),
        None if schema.blocks.contains_key(name) => {
            format!(" Did you mean to define a block of type {name:?}?")
        }
        None => String::new(),
    };
    Diagnostic::error(
        "Unsupported argument",
        format!("An argument named {name:?} is not expected here.{hint}"),
    )
    .at(attribute.name_span)
}

fn check_block(
    evaluator: &mut Evaluator<'_>,
    block: &ast::Block,
    schema: &Block,
    forms: &Forms<'_>,
) {
    let name = &block.type_name;
    let is_block = |name: &Arc<str>| schema.blocks.contains_key(name) || forms.as_blocks(name);
    if &**name == "dynamic" {
        match block.labels.first() {
            Some(label) if !is_block(&label.text) => evaluator.diagnostics.push(
                Diagnostic::error(
                    "Unsupported block type",
                    format!("Blocks of type {:?} are not expected here.", label.text),
                )
                .at(label.span),
            ),
            _ => check_labels(evaluator, block, &["type"]),
        }
        return;
    }
    if is_block(name) {
        let keyed = schema.blocks.get(name).is_some_and(|nested| nested.nesting == Nesting::Map);
        check_labels(evaluator, block, if keyed { &["key"] } else { &[] });
        return;
    }
    let types = schema.blocks.keys().chain(forms.as_blocks.iter().copied());
    let types = types.map(|name| &**name).chain(["dynamic"]);
    let mut hint = did_you_mean(name, types);
    if hint.is_empty() && schema.attributes.contains_key(name) {
        hint = format!(
            " Did you mean to define argument {name:?}? If so, use the equals sign to assign it a value."
        );
    }
    evaluator.diagnostics.push(
        Diagnostic::error(
            "Unsupported block type",
            format!("Blocks of type {name:?} are not expected here.{hint}"),
        )
        .at(block.type_span),
    );
}

fn check_labels(evaluator: &mut Evaluator<'_>, block: &ast::Block, names: &[&str]) {
    if has_labels(block, names.len()) {
        return;
    }
    let name = &block.type_name;
    let context = block.type_span.to(block.open_brace_span);
    let wanted = names.join(", ");
    let error = match (block.labels.get(names.len()), names.get(block.labels.len())) {
        (Some(extra), _) => {
            let detail = match names.len() {
                0 => format!("No labels are expected for {name} blocks."),
                count => {
                    format!("Only {count} labels ({wanted}) are expected for {name} blocks.")
                }
            };
            Diagnostic::error(format!("Extraneous label for {name}"), detail).at(extra.span)
        }
        (None, missing) => Diagnostic::error(
            format!("Missing {} for {name}", missing.unwrap_or(&"label")),
            format!("All {name} blocks must have {} labels ({wanted}).", names.len()),
        )
        .at(block.open_brace_span),
    };
    evaluator.diagnostics.push(error.within(context));
}

/// Whether a block has as many labels as it must; others are left out of the result.
pub(super) fn has_labels(block: &ast::Block, count: usize) -> bool {
    block.labels.len() == count
}
