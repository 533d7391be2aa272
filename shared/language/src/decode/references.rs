//! The references in a body, as far as its schema has a place for them.

use std::sync::Arc;

use values::schema::{AttributeType, Block};

use super::attributes::element_schema;
use super::content::Forms;
use super::{dynamic, interpreted};
use crate::diagnostics::Diagnostic;
use crate::reference::{Bound, Reference, Visit, visit_traversals};
use crate::syntax::ast::{self, Body, Expression, Traversal, with_stack};

/// Every reference in a body, dynamic blocks included, but for their iterators.
pub fn references_in_body(body: &Body, schema: &Block) -> Vec<Result<Reference, Box<Diagnostic>>> {
    traversals_in_body(body, schema).iter().map(Reference::parse).collect()
}

/// Every traversal in a body, dynamic blocks included, but for those from their iterators.
pub fn traversals_in_body(body: &Body, schema: &Block) -> Vec<Arc<Traversal>> {
    let mut found = Vec::new();
    walk(&interpreted(body, schema), schema, None, &mut found);
    found
}

fn walk(body: &Body, schema: &Block, bound: Option<&Bound<'_>>, found: &mut Vec<Arc<Traversal>>) {
    for attribute in &body.attributes {
        if schema.attributes.contains_key(&attribute.name) {
            expression(&attribute.expression, bound, found);
        }
    }
    if body.blocks.is_empty() {
        return;
    }
    let forms = Forms::of(body, schema);
    for block in &body.blocks {
        let name = match (&*block.type_name, block.labels.as_slice()) {
            ("dynamic", [label]) => &label.text,
            _ => &block.type_name,
        };
        let as_attribute;
        let nested = match (schema.blocks.get(name), schema.attributes.get(name)) {
            (Some(nested), _) => &nested.block,
            (None, Some(attribute)) if forms.as_blocks(name) => {
                let AttributeType::Plain(ty) = &attribute.ty else { continue };
                let Some(element) = ty.element() else { continue };
                as_attribute = element_schema(element);
                &as_attribute
            }
            _ => continue,
        };
        with_stack(|| match dynamic::generates(block, name) {
            true => generator(block, name, nested, bound, found),
            false => walk(&block.body, nested, bound, found),
        });
    }
}

fn generator(
    block: &ast::Block,
    name: &str,
    schema: &Block,
    bound: Option<&Bound<'_>>,
    found: &mut Vec<Arc<Traversal>>,
) {
    if let Some(for_each) = block.body.attribute("for_each") {
        expression(&for_each.expression, bound, found);
    }
    let iterator = dynamic::iterator(block, name).unwrap_or(name);
    let inner = Bound::new(None, iterator, bound);
    if let Some(labels) = block.body.attribute("labels") {
        expression(&labels.expression, Some(&inner), found);
    }
    for content in &block.body.blocks {
        if &*content.type_name == "content" {
            walk(&content.body, schema, Some(&inner), found);
        }
    }
}

fn expression(expression: &Expression, bound: Option<&Bound<'_>>, found: &mut Vec<Arc<Traversal>>) {
    visit_traversals(expression, bound, &mut |visit| {
        if let Visit::Traversal(traversal) = visit {
            found.push(traversal.clone());
        }
    });
}
