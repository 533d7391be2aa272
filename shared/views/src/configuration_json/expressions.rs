//! Expressions and bodies.

use super::{Object, set};
use crate::json::{Json, deep};
use crate::value_json::known;
use indexmap::IndexMap;
use language::decode::interpreted;
use language::evaluate::constant;
use language::module::Variable;
use language::reference::{Reference, Subject, references_in};
use language::syntax::ast::{Block, Body, Expression, TraversalStep};
use std::sync::Arc;
use values::schema;
use values::schema::Nesting;

pub(super) fn is_empty(json: &Json) -> bool {
    match json {
        Json::Array(items) => items.is_empty(),
        Json::Object(items) => items.is_empty(),
        _ => false,
    }
}

/// The constant value of an expression and what it refers to; empty where it has neither.
pub(super) fn expression(expression: &Expression) -> Json {
    let mut object = Object::new();
    let (value, diagnostics) = constant(expression);
    if !diagnostics.has_errors() && value.is_wholly_known() {
        object.insert("constant_value".into(), known(&value));
    }
    let references = references_in(expression).into_iter().flatten();
    let texts = references.flat_map(|reference| texts(&reference)).map(Json::string);
    set(&mut object, "references", Json::array(texts.collect()));
    Json::object(object)
}

/// What a reference names, with the instance's key or the module's output, and nothing beyond.
pub(super) fn reference_text(reference: &Reference) -> String {
    let subject = reference.subject.to_string();
    let (named, _) = named(reference);
    named.iter().fold(subject, |text, step| text + &step.to_string())
}

/// The reference and what remains of it as steps are taken off its end.
fn texts(reference: &Reference) -> Vec<String> {
    let (named, beyond) = named(reference);
    let object = reference_text(reference);
    let mut texts = Vec::with_capacity(beyond.len() + 2);
    for length in (1..=beyond.len()).rev() {
        let steps = &beyond[..length];
        texts.push(steps.iter().fold(object.clone(), |text, step| text + &step.to_string()));
    }
    texts.push(object);
    if let [before @ .., _] = named {
        let subject = reference.subject.to_string();
        texts.push(before.iter().fold(subject, |text, step| text + &step.to_string()));
    }
    texts
}

/// The steps that still name an object (a key, a module's output), and those beyond it.
fn named(reference: &Reference) -> (&[TraversalStep], &[TraversalStep]) {
    let steps = reference.remaining();
    let key = usize::from(matches!(steps.first(), Some(TraversalStep::Index { .. })));
    let count = match reference.subject {
        Subject::Resource(_) => key,
        Subject::ModuleCall(_) => {
            key + usize::from(matches!(steps.get(key), Some(TraversalStep::Attribute { .. })))
        }
        _ => 0,
    };
    steps.split_at(count)
}

/// The arguments of a module call that name variables of the module.
pub(super) fn arguments(body: &Body, variables: &IndexMap<Arc<str>, Variable>) -> Json {
    let given = body.attributes.iter().filter(|a| variables.contains_key(&a.name));
    Json::object(given.map(|a| (a.name.clone(), expression(&a.expression))))
}

/// The arguments and blocks of a body, as far as its schema has a place for them. Generated blocks
/// are left out.
pub(super) fn body(body: &Body, schema: Option<&schema::Block>) -> Json {
    deep(|| match schema {
        Some(schema) => by_schema(&interpreted(body, schema), schema),
        None => as_written(body),
    })
}

fn by_schema(given: &Body, schema: &schema::Block) -> Json {
    let mut object = Object::new();
    for attribute in &given.attributes {
        if schema.attributes.contains_key(&attribute.name) {
            object.insert(attribute.name.clone(), expression(&attribute.expression));
        }
    }
    for (name, nested) in &schema.blocks {
        let mut blocks = given.blocks.iter().filter(|block| block.type_name == *name).peekable();
        if blocks.peek().is_none() {
            continue;
        }
        let content = |block: &Block| body(&block.body, Some(&nested.block));
        let json = match nested.nesting {
            Nesting::Single | Nesting::Group => blocks.last().map_or(Json::Null, content),
            Nesting::List | Nesting::Set => Json::array(blocks.map(content).collect()),
            Nesting::Map => Json::object(
                blocks
                    .filter_map(|block| Some((block.labels.first()?.text.clone(), content(block)))),
            ),
        };
        object.insert(name.clone(), json);
    }
    // An attribute whose objects are written as blocks.
    for block in &given.blocks {
        if schema.attributes.contains_key(&block.type_name) {
            let references = references_in_block(block);
            let earlier = object.remove(&block.type_name);
            let earlier = earlier.as_ref().and_then(|json| json.as_object()?.get("references"));
            let all = earlier.and_then(Json::as_array).unwrap_or_default().iter().cloned();
            let all: Vec<Json> = all.chain(references).collect();
            let mut expression = Object::new();
            set(&mut expression, "references", Json::array(all));
            object.insert(block.type_name.clone(), Json::object(expression));
        }
    }
    Json::object(object)
}

fn references_in_block(block: &Block) -> Vec<Json> {
    let attributes = block.body.attributes.iter();
    let references = attributes.flat_map(|a| references_in(&a.expression)).flatten();
    references.flat_map(|reference| texts(&reference)).map(Json::string).collect()
}

fn as_written(given: &Body) -> Json {
    let mut object: Object =
        given.attributes.iter().map(|a| (a.name.clone(), expression(&a.expression))).collect();
    let mut blocks: std::collections::BTreeMap<Arc<str>, Vec<Json>> = Default::default();
    for block in given.blocks.iter().filter(|block| &*block.type_name != "dynamic") {
        blocks.entry(block.type_name.clone()).or_default().push(body(&block.body, None));
    }
    object.extend(blocks.into_iter().map(|(name, blocks)| (name, Json::array(blocks))));
    Json::object(object)
}
