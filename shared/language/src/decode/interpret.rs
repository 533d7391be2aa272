//! Tells arguments from blocks in bodies of the JSON syntax, by schema.

use std::borrow::Cow;

use values::schema::{AttributeType, Block, Nesting};

use super::attributes::element_schema;
use crate::diagnostics::Diagnostics;
use crate::source::Sources;
use crate::syntax::ast::{self, Attribute, Body, Syntax, with_stack};
use crate::syntax::json::{duplicate_argument, extraneous_property, unpack};

/// A body whose arguments and blocks are told apart at all levels, as those of the native syntax
/// are; what does not fit the schema is left out.
pub fn interpreted<'b>(body: &'b Body, schema: &Block) -> Cow<'b, Body> {
    interpret(body, schema, &Sources::new(), &mut Diagnostics::new())
}

/// As [`interpreted`], with what does not fit reported.
pub(super) fn interpret<'b>(
    body: &'b Body,
    schema: &Block,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Cow<'b, Body> {
    let json = |attribute: &Attribute| attribute.syntax == Syntax::Json;
    match body.attributes.iter().any(json) {
        true => Cow::Owned(Interpreter { sources, diagnostics }.body(body, schema)),
        false => Cow::Borrowed(body),
    }
}

struct Interpreter<'i> {
    sources: &'i Sources,
    diagnostics: &'i mut Diagnostics,
}

impl Interpreter<'_> {
    fn body(&mut self, body: &Body, schema: &Block) -> Body {
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut blocks: Vec<ast::Block> = Vec::new();
        for attribute in &body.attributes {
            let name = &attribute.name;
            if attribute.syntax == Syntax::Native {
                attributes.push(attribute.clone());
            } else if schema.attributes.contains_key(name) {
                self.argument(attribute, &mut attributes);
            } else if let Some(nested) = schema.blocks.get(name) {
                let labels: &[&str] = if nested.nesting == Nesting::Map { &["key"] } else { &[] };
                let found = unpack(attribute, labels, self.diagnostics);
                blocks.extend(found.into_iter().map(|block| self.block(block, &nested.block)));
            } else if &**name == "dynamic" {
                let found = unpack(attribute, &["type"], self.diagnostics);
                blocks.extend(found.into_iter().map(|block| self.generator(block, schema)));
            } else {
                let unused = schema.attributes.keys().filter(|name| body.attribute(name).is_none());
                let candidates = unused.chain(schema.blocks.keys()).map(|name| &**name);
                self.diagnostics
                    .push(extraneous_property(attribute, candidates.chain(["dynamic"])));
            }
        }
        // Blocks of the native syntax beside such members are those that an override replaces.
        let replaced = |name: &str| {
            body.attributes.iter().any(|a| a.syntax == Syntax::Json && &*a.name == name)
        };
        let native = body.blocks.iter().filter(|block| !replaced(&block.type_name));
        blocks.extend(native.cloned());
        let Body { syntax, span, end_span, .. } = *body;
        Body { attributes, blocks, syntax, span, end_span }
    }

    fn argument(&mut self, attribute: &Attribute, attributes: &mut Vec<Attribute>) {
        match attributes.iter().find(|first| first.name == attribute.name) {
            Some(first) => {
                self.diagnostics.push(duplicate_argument(attribute, first, self.sources));
            }
            None => attributes.push(attribute.clone()),
        }
    }

    fn block(&mut self, block: ast::Block, schema: &Block) -> ast::Block {
        let body = with_stack(|| self.body(&block.body, schema));
        ast::Block { body, ..block }
    }

    /// A `dynamic` block: its own arguments, and content by the schema of what it generates.
    fn generator(&mut self, block: ast::Block, schema: &Block) -> ast::Block {
        const ARGUMENTS: [&str; 3] = ["for_each", "iterator", "labels"];
        let label = block.labels.first().map(|label| label.text.clone());
        let as_attribute;
        let nested = match label.as_ref().map(|name| {
            (schema.blocks.get(name), schema.attributes.get(name).map(|attribute| &attribute.ty))
        }) {
            Some((Some(nested), _)) => &nested.block,
            Some((None, Some(AttributeType::Plain(ty)))) if ty.element().is_some() => {
                as_attribute = ty.element().map(element_schema).unwrap_or_default();
                &as_attribute
            }
            // That there is no such block is reported where the block is checked.
            _ => return block,
        };
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut blocks = Vec::new();
        for attribute in &block.body.attributes {
            if ARGUMENTS.contains(&&*attribute.name) {
                self.argument(attribute, &mut attributes);
            } else if &*attribute.name == "content" {
                let found = unpack(attribute, &[], self.diagnostics);
                blocks.extend(found.into_iter().map(|content| self.block(content, nested)));
            } else {
                let unused = ARGUMENTS.into_iter().filter(|n| block.body.attribute(n).is_none());
                let extraneous = extraneous_property(attribute, unused.chain(["content"]));
                self.diagnostics.push(extraneous);
            }
        }
        let Body { syntax, span, end_span, .. } = block.body;
        let body = Body { attributes, blocks, syntax, span, end_span };
        ast::Block { body, ..block }
    }
}
