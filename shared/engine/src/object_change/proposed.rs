//! The proposed new state: configuration where it says something, the prior object where the
//! provider computes.

use super::{attribute, same, unrefined};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use values::{Kind, Path, PathStep, Value};

/// What the object should become, before its provider is asked: `prior` may be null.
pub(crate) fn proposed_new(schema: &Block, prior: &Value, config: &Value) -> Value {
    match (config.is_null(), prior.is_null()) {
        (true, true) => prior.clone(),
        (_, true) => merge_block(schema, &schema.empty_value(), config),
        _ => merge_block(schema, prior, config),
    }
}

/// What a data source or a resource that cannot be asked about becomes: configuration, and unknown
/// where the provider computes.
pub(crate) fn planned_unknown(schema: &Block, config: &Value) -> Value {
    merge_block(schema, &Value::unknown(schema.implied_type()), config)
}

/// What has a schema of attributes: a block, or an attribute with attributes of its own.
#[derive(Clone, Copy)]
enum Shape<'s> {
    Block(&'s Block),
    Object(&'s NestedAttributes),
}

impl<'s> Shape<'s> {
    fn merge(self, prior: &Value, config: &Value) -> Value {
        match self {
            Shape::Block(block) => proposed_new(block, prior, config),
            Shape::Object(_) if config.is_null() => config.clone(),
            Shape::Object(nested) => {
                Value::object(merge_attributes(&nested.attributes, prior, config))
            }
        }
    }
    /// The attribute that a path inside leads to, if it leads to one.
    fn attribute_at(self, path: &[PathStep]) -> Option<&'s Attribute> {
        let (name, rest) = match path.split_first()? {
            (PathStep::Attribute(name), rest) => (name, rest),
            (_, rest) => return self.attribute_at(rest),
        };
        let (attributes, blocks) = match self {
            Shape::Block(b) => (&b.attributes, Some(&b.blocks)),
            Shape::Object(n) => (&n.attributes, None),
        };
        if let Some(found) = attributes.get(name) {
            return match (&found.ty, rest.iter().any(|s| matches!(s, PathStep::Attribute(_)))) {
                (AttributeType::Nested(n), true) => Shape::Object(n).attribute_at(rest),
                _ => Some(found),
            };
        }
        Shape::Block(&blocks?.get(name)?.block).attribute_at(rest)
    }
}

fn merge_block(schema: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() || !config.is_known() {
        return prior.clone();
    }
    let mut new = merge_attributes(&schema.attributes, prior, config);
    for (name, block) in &schema.blocks {
        let value = nested_block(block, &attribute(prior, name), &attribute(config, name));
        new.insert(name.clone(), value);
    }
    Value::object(new)
}

fn merge_attributes(
    attributes: &BTreeMap<Arc<str>, Attribute>,
    prior: &Value,
    config: &Value,
) -> BTreeMap<Arc<str>, Value> {
    let merge = |(name, schema): (&Arc<str>, &Attribute)| {
        let before = attribute(prior, name);
        let configured = attribute(config, name);
        let new = match &schema.ty {
            _ if schema.computed && configured.is_null() => {
                match holds_configured(schema, &before) {
                    true => configured,
                    false => before,
                }
            }
            AttributeType::Nested(nested) => nested_attribute(nested, &before, &configured),
            AttributeType::Plain(_) => configured,
        };
        (name.clone(), new)
    };
    attributes.iter().map(merge).collect()
}

/// Whether an optional and computed nested attribute holds something that only configuration can
/// have put there: then it is not the provider's, and taking it out of the configuration removes it.
fn holds_configured(schema: &Attribute, value: &Value) -> bool {
    let AttributeType::Nested(nested) = &schema.ty else { return false };
    if !schema.optional {
        return false;
    }
    let mut found = false;
    walk(value, &mut Vec::new(), &mut |path, v| {
        if found || v.is_null() {
            return !found;
        }
        if let Some(attribute) = Shape::Object(nested).attribute_at(path) {
            found |= !attribute.computed;
        }
        !found
    });
    found
}

fn nested_block(schema: &NestedBlock, prior: &Value, config: &Value) -> Value {
    let shape = Shape::Block(&schema.block);
    match schema.nesting {
        _ if !config.is_known() => config.clone(),
        Nesting::Single if config.is_null() => config.clone(),
        Nesting::Single | Nesting::Group => shape.merge(prior, config),
        nesting => collection(nesting, shape, prior, config),
    }
}

fn nested_attribute(schema: &NestedAttributes, prior: &Value, config: &Value) -> Value {
    let shape = Shape::Object(schema);
    match schema.nesting {
        _ if !config.is_known() || config.is_null() => config.clone(),
        Nesting::Single | Nesting::Group => shape.merge(prior, config),
        nesting => collection(nesting, shape, prior, config),
    }
}

fn collection(nesting: Nesting, shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    match nesting {
        Nesting::List => list(shape, prior, config),
        Nesting::Map => map(shape, prior, config),
        Nesting::Set => set(shape, prior, config),
        Nesting::Single | Nesting::Group => shape.merge(prior, config),
    }
}

fn list(shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    config.map_children(&mut |step, element| match &step {
        PathStep::Index(_) if !prior.is_known() => {
            shape.merge(&Value::unknown(element.ty()), element)
        }
        PathStep::Index(i) => match prior.as_slice().and_then(|p| p.get(*i)) {
            Some(before) => shape.merge(before, element),
            None => element.clone(),
        },
        _ => element.clone(),
    })
}

fn map(shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    config.map_children(&mut |step, element| match &step {
        PathStep::Key(k) | PathStep::Attribute(k) => match prior.as_map().and_then(|p| p.get(k)) {
            Some(before) => shape.merge(before, element),
            None => element.clone(),
        },
        _ => element.clone(),
    })
}

fn set(shape: Shape<'_>, prior: &Value, config: &Value) -> Value {
    let Kind::Set(element_type, elements) = config.kind() else { return config.clone() };
    let before = prior.as_slice().unwrap_or(&[]);
    let mut used = vec![false; before.len()];
    let merged = elements
        .iter()
        .map(|element| {
            let found = (0..before.len())
                .find(|i| !used[*i] && may_have_come_from(shape, &before[*i], element));
            match found {
                Some(i) => {
                    used[i] = true;
                    shape.merge(&before[i], element)
                }
                None => shape.merge(&Value::null(element_type.clone()), element),
            }
        })
        .collect();
    Value::set(element_type.clone(), merged)
}

/// Whether the prior element differs from the configured one only where the provider computes.
fn may_have_come_from(shape: Shape<'_>, prior: &Value, config: &Value) -> bool {
    if same(prior, config) {
        return true;
    }
    let mut valid = true;
    walk(prior, &mut Vec::new(), &mut |path, before| {
        if !valid {
            return false;
        }
        let Some(configured) = Path(path.to_vec()).get(config) else {
            valid = false;
            return false;
        };
        if unrefined(&configured) == unrefined(before) {
            return false;
        }
        if matches!(configured.ty(), values::Type::Set(_)) {
            valid = false;
            return false;
        }
        match shape.attribute_at(path) {
            None => true,
            Some(Attribute { ty: AttributeType::Nested(_), .. }) => true,
            Some(attribute) => {
                valid = attribute.computed && configured.is_null();
                false
            }
        }
    });
    valid
}

/// Visits a value and what it holds, going down where `visit` says so.
fn walk(
    value: &Value,
    path: &mut Vec<PathStep>,
    visit: &mut dyn FnMut(&[PathStep], &Value) -> bool,
) {
    if !visit(path, value) {
        return;
    }
    value.for_each_child(|step, child| {
        path.push(step);
        walk(child, path, visit);
        path.pop();
    });
}
