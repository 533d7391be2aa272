//! `test_nested`: every way to nest blocks and attributes.

use crate::schemas::{attributes, plain};
use crate::service::Failure;
use crate::world::World;
use std::sync::Arc;
use values::schema::{
    Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting, Schema,
};
use values::{Type, Value};

pub(crate) const TYPE: &str = "test_nested";

/// What the provider fills computed attributes with.
const COMPUTED: &str = "computed";

fn item() -> std::collections::BTreeMap<Arc<str>, Attribute> {
    attributes([
        ("value", plain(Type::String).optional()),
        ("computed", plain(Type::String).optional().computed()),
    ])
}

/// Blocks `single`, `group`, `list`, `set` and `map`, and attributes of the same nestings with
/// `_attribute` behind; each object has `value` and `computed`.
pub(crate) fn schema() -> Schema {
    let kinds = [
        ("single", Nesting::Single),
        ("group", Nesting::Group),
        ("list", Nesting::List),
        ("set", Nesting::Set),
        ("map", Nesting::Map),
    ];
    let mut block = Block {
        attributes: attributes([("id", plain(Type::String).computed())]),
        ..Block::default()
    };
    for (name, nesting) in kinds {
        let inner = Block { attributes: item(), ..Block::default() };
        let nested = NestedBlock { nesting, min_items: 0, max_items: 0, block: inner };
        block.blocks.insert(name.into(), nested);
        if nesting != Nesting::Group {
            let ty = AttributeType::Nested(NestedAttributes { nesting, attributes: item() });
            let attribute = Attribute { ty, ..plain(Type::String).optional() };
            block.attributes.insert(format!("{name}_attribute").into(), attribute);
        }
    }
    Schema { version: 0, block }
}

pub(crate) fn plan(prior: &Value, proposed: &Value) -> Value {
    if proposed == prior {
        return proposed.clone();
    }
    let planned = open(proposed);
    match prior.attribute("id").filter(|_| !prior.is_null()) {
        Some(id) => with_id(&planned, id),
        None => with_id(&planned, Value::unknown(Type::String)),
    }
}

fn with_id(object: &Value, id: Value) -> Value {
    let mut map = object.as_map().cloned().unwrap_or_default();
    map.insert("id".into(), id);
    Value::object(map)
}

/// Computed attributes that nobody set become unknown.
fn open(value: &Value) -> Value {
    value.map_children(&mut |step, child| {
        let computed = matches!(&step, values::PathStep::Attribute(n) if &**n == "computed");
        match computed && child.is_null() {
            true => Value::unknown(Type::String),
            false => open(child),
        }
    })
}

/// Unknown attributes get their values.
fn fill(value: &Value) -> Value {
    match value.is_known() {
        true => value.map_children(&mut |_, child| fill(child)),
        false => Value::string(COMPUTED),
    }
}

pub(crate) fn write(world: &World, planned: &Value, ty: &Type) -> Result<Value, Failure> {
    let id = match planned.attribute("id").as_ref().and_then(Value::as_str) {
        Some(id) => id.to_owned(),
        None => uuid::Uuid::new_v4().to_string(),
    };
    let object = fill(&with_id(planned, Value::string(&*id)));
    world.write(TYPE, &id, &object, ty)?;
    Ok(object)
}
