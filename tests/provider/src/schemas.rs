//! Schemas, and their way onto the wire.

use crate::request_tokens;
use providers::protocol::tfplugin6 as wire;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Type;
use values::json::type_to_json;
use values::schema::{
    Attribute, AttributeType, Block, Description, NestedAttributes, NestedBlock, Nesting, Schema,
};

pub(crate) fn attributes<const N: usize>(
    items: [(&str, Attribute); N],
) -> BTreeMap<Arc<str>, Attribute> {
    items.into_iter().map(|(name, a)| (Arc::from(name), a)).collect()
}

pub(crate) fn plain(ty: Type) -> Attribute {
    Attribute::plain(ty)
}

/// The provider's own configuration.
pub(crate) fn provider() -> Schema {
    let world = Attribute {
        description: Some(Description::Plain("The folder that stands for the world.".into())),
        ..plain(Type::String).required()
    };
    let block = Block { attributes: attributes([("world", world)]), ..Block::default() };
    Schema { version: 0, block }
}

/// Attributes beside the provider's own: the module that uses it.
pub(crate) fn provider_meta() -> Schema {
    let mut attributes = attributes([("module", plain(Type::String).optional())]);
    attributes.extend(request_tokens::attribute());
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

pub(crate) fn to_wire(schema: &Schema) -> wire::Schema {
    wire::Schema {
        version: i64::try_from(schema.version).unwrap_or(i64::MAX),
        block: Some(block(&schema.block)),
    }
}

fn block(b: &Block) -> wire::schema::Block {
    let (description, description_kind) = description(b.description.as_ref());
    wire::schema::Block {
        version: 0,
        attributes: b.attributes.iter().map(|(name, a)| attribute(name, a)).collect(),
        block_types: b.blocks.iter().map(|(name, n)| nested_block(name, n)).collect(),
        description,
        description_kind,
        deprecated: b.deprecated,
    }
}

fn nested_block(name: &str, n: &NestedBlock) -> wire::schema::NestedBlock {
    use wire::schema::nested_block::NestingMode;
    let nesting = match n.nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::Group => NestingMode::Group,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    wire::schema::NestedBlock {
        type_name: name.into(),
        block: Some(block(&n.block)),
        nesting: nesting.into(),
        min_items: i64::try_from(n.min_items).unwrap_or(i64::MAX),
        max_items: i64::try_from(n.max_items).unwrap_or(i64::MAX),
    }
}

fn attribute(name: &str, a: &Attribute) -> wire::schema::Attribute {
    let (ty, nested_type) = match &a.ty {
        AttributeType::Plain(ty) => (type_to_json(ty).into_bytes(), None),
        AttributeType::Nested(n) => (Vec::new(), Some(nested_attributes(n))),
    };
    let (description, description_kind) = description(a.description.as_ref());
    wire::schema::Attribute {
        name: name.into(),
        r#type: ty,
        description,
        required: a.required,
        optional: a.optional,
        computed: a.computed,
        sensitive: a.sensitive,
        description_kind,
        deprecated: a.deprecated,
        nested_type,
        write_only: a.write_only,
    }
}

fn nested_attributes(n: &NestedAttributes) -> wire::schema::Object {
    use wire::schema::object::NestingMode;
    let nesting = match n.nesting {
        Nesting::Single | Nesting::Group => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    wire::schema::Object {
        attributes: n.attributes.iter().map(|(name, a)| attribute(name, a)).collect(),
        nesting: nesting.into(),
    }
}

fn description(d: Option<&Description>) -> (String, i32) {
    match d {
        None => (String::new(), wire::StringKind::Plain.into()),
        Some(Description::Plain(text)) => (text.to_string(), wire::StringKind::Plain.into()),
        Some(Description::Markdown(text)) => (text.to_string(), wire::StringKind::Markdown.into()),
    }
}
