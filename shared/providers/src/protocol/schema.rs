use super::{tfplugin5, tfplugin6 as wire};
use crate::{
    Capabilities, FunctionParameter, FunctionSignature, IdentityAttribute, IdentitySchema,
    ProviderSchema, TypedSchema,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use values::schema::{
    Attribute, AttributeType, Block, Description, NestedAttributes, NestedBlock, Nesting, Schema,
};

/// Blocks and attributes nest no deeper than this.
const MAX_DEPTH: usize = 256;

/// What is wrong with a schema.
type Invalid = String;

pub(crate) fn provider_schema(
    answer: wire::get_provider_schema::Response,
    identities: HashMap<String, wire::ResourceIdentitySchema>,
) -> Result<ProviderSchema, Invalid> {
    let capabilities = answer.server_capabilities.unwrap_or_default();
    Ok(ProviderSchema {
        provider: answer.provider.map(schema).transpose()?.unwrap_or_default(),
        provider_meta: answer.provider_meta.map(schema).transpose()?,
        resources: named(answer.resource_schemas, schema)?,
        data_sources: named(answer.data_source_schemas, schema)?,
        ephemeral: named(answer.ephemeral_resource_schemas, schema)?,
        identities: named(identities, identity_schema)?,
        functions: named(answer.functions, function)?,
        capabilities: Capabilities {
            plan_destroy: capabilities.plan_destroy,
            get_provider_schema_optional: capabilities.get_provider_schema_optional,
            move_resource_state: capabilities.move_resource_state,
        },
    })
}

fn named<W, T>(
    items: HashMap<String, W>,
    convert: impl Fn(W) -> Result<T, Invalid>,
) -> Result<BTreeMap<Arc<str>, T>, Invalid> {
    items
        .into_iter()
        .map(|(name, item)| {
            let item = convert(item).map_err(|e| format!("{name}: {e}"))?;
            Ok((Arc::from(name), item))
        })
        .collect()
}

fn schema(wire: wire::Schema) -> Result<TypedSchema, Invalid> {
    let version = u64::try_from(wire.version)
        .map_err(|_| format!("schema version {} is negative", wire.version))?;
    let block = block(wire.block.unwrap_or_default(), 0)?;
    Ok(TypedSchema::from(Schema { version, block }))
}

fn block(wire: wire::schema::Block, depth: usize) -> Result<Block, Invalid> {
    if depth > MAX_DEPTH {
        return Err(format!("blocks nest deeper than {MAX_DEPTH} levels"));
    }
    let kind = wire.description_kind();
    let mut blocks = BTreeMap::new();
    for nested in wire.block_types {
        let name: Arc<str> = Arc::from(nested.type_name.as_str());
        let nested = nested_block(nested, depth).map_err(|e| format!("block {name:?}: {e}"))?;
        blocks.insert(name, nested);
    }
    Ok(Block {
        attributes: attributes(wire.attributes, depth)?,
        blocks,
        description: description(wire.description, kind),
        deprecated: wire.deprecated,
    })
}

fn nested_block(wire: wire::schema::NestedBlock, depth: usize) -> Result<NestedBlock, Invalid> {
    use wire::schema::nested_block::NestingMode;
    let nesting = match wire.nesting() {
        NestingMode::Invalid => return Err("invalid nesting mode".into()),
        NestingMode::Single => Nesting::Single,
        NestingMode::Group => Nesting::Group,
        NestingMode::List => Nesting::List,
        NestingMode::Set => Nesting::Set,
        NestingMode::Map => Nesting::Map,
    };
    Ok(NestedBlock {
        nesting,
        min_items: u64::try_from(wire.min_items).unwrap_or(0),
        max_items: u64::try_from(wire.max_items).unwrap_or(0),
        block: block(wire.block.unwrap_or_default(), depth + 1)?,
    })
}

fn attributes(
    wire: Vec<wire::schema::Attribute>,
    depth: usize,
) -> Result<BTreeMap<Arc<str>, Attribute>, Invalid> {
    wire.into_iter()
        .map(|a| {
            let name: Arc<str> = Arc::from(a.name.as_str());
            let attribute = attribute(a, depth).map_err(|e| format!("attribute {name:?}: {e}"))?;
            Ok((name, attribute))
        })
        .collect()
}

fn type_of(json: &[u8]) -> Result<values::Type, Invalid> {
    values::json::type_from_json(json).map_err(|e| e.to_string())
}

fn attribute(wire: wire::schema::Attribute, depth: usize) -> Result<Attribute, Invalid> {
    let kind = wire.description_kind();
    let ty = match wire.nested_type {
        Some(object) => AttributeType::Nested(nested_attributes(object, depth)?),
        None => AttributeType::Plain(type_of(&wire.r#type)?),
    };
    Ok(Attribute {
        ty,
        required: wire.required,
        optional: wire.optional,
        computed: wire.computed,
        sensitive: wire.sensitive,
        write_only: wire.write_only,
        deprecated: wire.deprecated,
        description: description(wire.description, kind),
    })
}

fn nested_attributes(
    wire: wire::schema::Object,
    depth: usize,
) -> Result<NestedAttributes, Invalid> {
    use wire::schema::object::NestingMode;
    if depth > MAX_DEPTH {
        return Err(format!("attributes nest deeper than {MAX_DEPTH} levels"));
    }
    let nesting = match wire.nesting() {
        NestingMode::Invalid => return Err("invalid nesting mode".into()),
        NestingMode::Single => Nesting::Single,
        NestingMode::List => Nesting::List,
        NestingMode::Set => Nesting::Set,
        NestingMode::Map => Nesting::Map,
    };
    Ok(NestedAttributes { nesting, attributes: attributes(wire.attributes, depth + 1)? })
}

fn identity_schema(wire: wire::ResourceIdentitySchema) -> Result<IdentitySchema, Invalid> {
    let version = u64::try_from(wire.version)
        .map_err(|_| format!("identity schema version {} is negative", wire.version))?;
    let attributes = wire
        .identity_attributes
        .into_iter()
        .map(|a| {
            let attribute = IdentityAttribute {
                ty: type_of(&a.r#type).map_err(|e| format!("{:?}: {e}", a.name))?,
                required_for_import: a.required_for_import,
                optional_for_import: a.optional_for_import,
                description: text(a.description),
            };
            Ok((Arc::from(a.name), attribute))
        })
        .collect::<Result<_, Invalid>>()?;
    Ok(IdentitySchema::new(version, attributes))
}

fn function(wire: wire::Function) -> Result<FunctionSignature, Invalid> {
    let kind = wire.description_kind();
    let returns = wire.r#return.ok_or("a function has no return type")?;
    Ok(FunctionSignature {
        parameters: wire.parameters.into_iter().map(parameter).collect::<Result<_, _>>()?,
        variadic: wire.variadic_parameter.map(parameter).transpose()?,
        returns: type_of(&returns.r#type)?,
        summary: text(wire.summary),
        description: description(wire.description, kind),
        deprecation: text(wire.deprecation_message),
    })
}

fn parameter(wire: wire::function::Parameter) -> Result<FunctionParameter, Invalid> {
    let kind = wire.description_kind();
    Ok(FunctionParameter {
        ty: type_of(&wire.r#type)?,
        name: Arc::from(wire.name),
        allow_null: wire.allow_null_value,
        allow_unknown: wire.allow_unknown_values,
        description: description(wire.description, kind),
    })
}

fn description(text: String, kind: wire::StringKind) -> Option<Description> {
    let text = self::text(text)?;
    Some(match kind {
        wire::StringKind::Plain => Description::Plain(text),
        wire::StringKind::Markdown => Description::Markdown(text),
    })
}

fn text(text: String) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| Arc::from(text))
}

/// The answer to protocol 5's GetSchema as one of protocol 6.
pub(crate) fn from_protocol_5(
    answer: tfplugin5::get_provider_schema::Response,
) -> wire::get_provider_schema::Response {
    fn schemas(map: HashMap<String, tfplugin5::Schema>) -> HashMap<String, wire::Schema> {
        map.into_iter().map(|(name, s)| (name, schema_of_5(s))).collect()
    }
    wire::get_provider_schema::Response {
        provider: answer.provider.map(schema_of_5),
        resource_schemas: schemas(answer.resource_schemas),
        data_source_schemas: schemas(answer.data_source_schemas),
        diagnostics: answer.diagnostics,
        provider_meta: answer.provider_meta.map(schema_of_5),
        server_capabilities: answer.server_capabilities,
        functions: answer.functions,
        ephemeral_resource_schemas: schemas(answer.ephemeral_resource_schemas),
    }
}

fn schema_of_5(s: tfplugin5::Schema) -> wire::Schema {
    wire::Schema { version: s.version, block: s.block.map(block_of_5) }
}

fn block_of_5(b: tfplugin5::schema::Block) -> wire::schema::Block {
    wire::schema::Block {
        version: b.version,
        attributes: b.attributes.into_iter().map(attribute_of_5).collect(),
        block_types: b
            .block_types
            .into_iter()
            .map(|n| wire::schema::NestedBlock {
                type_name: n.type_name,
                block: n.block.map(block_of_5),
                nesting: n.nesting,
                min_items: n.min_items,
                max_items: n.max_items,
            })
            .collect(),
        description: b.description,
        description_kind: b.description_kind,
        deprecated: b.deprecated,
    }
}

fn attribute_of_5(a: tfplugin5::schema::Attribute) -> wire::schema::Attribute {
    wire::schema::Attribute {
        name: a.name,
        r#type: a.r#type,
        description: a.description,
        required: a.required,
        optional: a.optional,
        computed: a.computed,
        sensitive: a.sensitive,
        description_kind: a.description_kind,
        deprecated: a.deprecated,
        nested_type: None,
        write_only: a.write_only,
    }
}
