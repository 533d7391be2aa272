//! Decodes bodies by schema, dynamic blocks expanded.

mod attributes;
mod blocks;
mod content;
mod dynamic;
mod interpret;
mod references;

use values::schema::Block;
use values::{Marks, Value};

use crate::diagnostics::Diagnostics;
use crate::evaluate::{Evaluator, Locals};
use crate::source::Sources;
use crate::syntax::ast::{Body, with_stack};

pub use interpret::interpreted;
pub use references::{references_in_body, traversals_in_body};

/// Where in the expansion of dynamic blocks a body stands.
#[derive(Clone, Copy)]
struct Place<'l> {
    /// Iterators of the dynamic blocks around it.
    locals: Locals<'l>,
    /// Whether it stands for an unknown number of blocks, so that all in it is unknown.
    unknown: bool,
    /// Marks of the collection that it was generated from.
    marks: Marks,
}

/// The object that a body gives; unknown where a reference in it is refused.
pub(crate) fn body(evaluator: &mut Evaluator<'_>, body: &Body, schema: &Block) -> Value {
    for traversal in traversals_in_body(body, schema) {
        evaluator.check_reference(&traversal);
    }
    if !evaluator.refused.is_empty() {
        return Value::unknown(schema.implied_type());
    }
    let nowhere = Sources::new();
    let sources = evaluator.scope.map_or(&nowhere, |scope| scope.sources());
    let mut misplaced = Diagnostics::new();
    let body = interpret::interpret(body, schema, sources, &mut misplaced);
    evaluator.diagnostics.extend(misplaced);
    let place = Place { locals: Locals::Outermost, unknown: false, marks: Marks::NONE };
    block(evaluator, &body, schema, place)
}

fn block(evaluator: &mut Evaluator<'_>, body: &Body, schema: &Block, place: Place<'_>) -> Value {
    with_stack(|| {
        let forms = content::Forms::of(body, schema);
        content::check(evaluator, body, schema, &forms);
        let attributes = schema.attributes.iter().map(|(name, attribute)| {
            let value = match forms.as_blocks(name) {
                true => attributes::from_blocks(evaluator, body, name, attribute, place),
                false => attributes::value(evaluator, body, name, attribute, place),
            };
            (name.clone(), value)
        });
        let attributes: Vec<_> = attributes.collect();
        let blocks = schema.blocks.iter().map(|(name, nested)| {
            (name.clone(), blocks::value(evaluator, body, name, nested, place))
        });
        Value::object(attributes.into_iter().chain(blocks.collect::<Vec<_>>()))
    })
}
