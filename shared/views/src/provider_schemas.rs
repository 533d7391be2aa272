//! The JSON of `providers schema`: what providers say of their resource types, in format version 1.0 of Terraform's.

use crate::json::{Escape, Fields, Json};
use crate::value_json::type_json;
use providers::{
    FunctionParameter, FunctionSignature, IdentitySchema, ProviderSchema, TypedSchema,
};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use values::address::ProviderAddress;
use values::schema::{Attribute, AttributeType, Block, Description, NestedBlock, Nesting};

/// Version of the format.
pub const FORMAT_VERSION: &str = "1.0";

/// Writes the schemas of providers and a newline.
///
/// # Errors
/// Those of the writer.
pub fn write_provider_schemas(
    schemas: &BTreeMap<ProviderAddress, Arc<ProviderSchema>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = String::new();
    let mut fields = Fields::begin(&mut text, Escape::Html);
    fields.string("format_version", FORMAT_VERSION);
    if !schemas.is_empty() {
        let mut providers = Fields::begin(fields.key("provider_schemas"), Escape::Html);
        for (address, schema) in schemas {
            push_provider(address, schema, providers.key(&address.to_string()));
        }
        providers.end();
    }
    fields.end();
    text.push('\n');
    out.write_all(text.as_bytes())
}

fn push_provider(address: &ProviderAddress, schema: &ProviderSchema, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    match address.is_builtin() {
        // It takes no configuration at all, where others may take an empty one.
        true => fields.key("provider").push_str("{\"version\":0}"),
        false => push_schema(&schema.provider, fields.key("provider")),
    }
    let kinds = [
        ("resource_schemas", &schema.resources),
        ("data_source_schemas", &schema.data_sources),
        ("ephemeral_resource_schemas", &schema.ephemeral),
    ];
    for (name, schemas) in kinds {
        push_all(&mut fields, name, schemas, push_schema);
    }
    push_all(&mut fields, "functions", &schema.functions, push_function);
    push_all(&mut fields, "resource_identity_schemas", &schema.identities, push_identity);
    fields.end();
}

/// An object with an entry for each, unless there are none.
fn push_all<T>(
    fields: &mut Fields<'_>,
    name: &str,
    all: &BTreeMap<Arc<str>, T>,
    push: impl Fn(&T, &mut String),
) {
    if all.is_empty() {
        return;
    }
    let mut entries = Fields::begin(fields.key(name), Escape::Html);
    for (name, one) in all {
        push(one, entries.key(name));
    }
    entries.end();
}

fn push_schema(schema: &TypedSchema, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    fields.raw("version", schema.version);
    push_block(&schema.block, fields.key("block"));
    fields.end();
}

fn push_block(block: &Block, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    push_all(&mut fields, "attributes", &block.attributes, push_attribute);
    push_all(&mut fields, "block_types", &block.blocks, push_nested_block);
    push_description(&mut fields, block.description.as_ref());
    push_true(&mut fields, "deprecated", block.deprecated);
    fields.end();
}

fn push_nested_block(nested: &NestedBlock, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    fields.string("nesting_mode", nesting(nested.nesting));
    push_block(&nested.block, fields.key("block"));
    for (name, items) in [("min_items", nested.min_items), ("max_items", nested.max_items)] {
        if items > 0 {
            fields.raw(name, items);
        }
    }
    fields.end();
}

fn push_attribute(attribute: &Attribute, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    match &attribute.ty {
        AttributeType::Plain(ty) => fields.json("type", &type_json(ty)),
        AttributeType::Nested(nested) => {
            let mut inner = Fields::begin(fields.key("nested_type"), Escape::Html);
            push_all(&mut inner, "attributes", &nested.attributes, push_attribute);
            inner.string("nesting_mode", nesting(nested.nesting));
            inner.end();
        }
    }
    push_description(&mut fields, attribute.description.as_ref());
    push_true(&mut fields, "deprecated", attribute.deprecated);
    push_true(&mut fields, "required", attribute.required);
    push_true(&mut fields, "optional", attribute.optional);
    push_true(&mut fields, "computed", attribute.computed);
    push_true(&mut fields, "sensitive", attribute.sensitive);
    push_true(&mut fields, "write_only", attribute.write_only);
    fields.end();
}

fn push_description(fields: &mut Fields<'_>, description: Option<&Description>) {
    let (kind, text) = match description {
        None => ("plain", None),
        Some(Description::Plain(text)) => ("plain", Some(text)),
        Some(Description::Markdown(text)) => ("markdown", Some(text)),
    };
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        fields.string("description", text);
    }
    fields.string("description_kind", kind);
}

fn push_true(fields: &mut Fields<'_>, name: &str, value: bool) {
    if value {
        fields.bool(name, true);
    }
}

fn nesting(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    }
}

fn push_function(function: &FunctionSignature, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    let description = function.description.as_ref().map(text);
    let texts = [
        ("description", description),
        ("summary", function.summary.as_deref()),
        ("deprecation_message", function.deprecation.as_deref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            fields.string(name, text);
        }
    }
    fields.json("return_type", &type_json(&function.returns));
    if !function.parameters.is_empty() {
        let parameters = function.parameters.iter().map(parameter).collect();
        fields.json("parameters", &Json::array(parameters));
    }
    if let Some(variadic) = &function.variadic {
        fields.json("variadic_parameter", &parameter(variadic));
    }
    fields.end();
}

fn parameter(parameter: &FunctionParameter) -> Json {
    let mut items = vec![("name", Json::string(&parameter.name))];
    let description = parameter.description.as_ref().map(text);
    if let Some(description) = description.filter(|text| !text.is_empty()) {
        items.push(("description", Json::string(description)));
    }
    if parameter.allow_null {
        items.push(("is_nullable", Json::Bool(true)));
    }
    items.push(("type", type_json(&parameter.ty)));
    Json::object(items)
}

fn text(description: &Description) -> &str {
    match description {
        Description::Plain(text) | Description::Markdown(text) => text,
    }
}

fn push_identity(schema: &IdentitySchema, out: &mut String) {
    let mut fields = Fields::begin(out, Escape::Html);
    fields.raw("version", schema.version);
    push_all(&mut fields, "attributes", &schema.attributes, |attribute, out| {
        let mut fields = Fields::begin(out, Escape::Html);
        fields.json("type", &type_json(&attribute.ty));
        if let Some(text) = attribute.description.as_deref().filter(|text| !text.is_empty()) {
            fields.string("description", text);
        }
        push_true(&mut fields, "required_for_import", attribute.required_for_import);
        push_true(&mut fields, "optional_for_import", attribute.optional_for_import);
        fields.end();
    });
    fields.end();
}
