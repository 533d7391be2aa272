//! Configuration for an object that exists: what an import block without a resource block lacks.

use language::formatting::format;
use language::module::LocalProviderConfig;
use language::rendering::{expression_text, string_literal};
use language::source::Sources;
use language::syntax::is_identifier;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::Resource;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use values::{Type, Value};

/// A resource block, without a newline at its end, that says what can be configured as the object has it. What is
/// sensitive is left to a person. `provider` is the provider configuration where it is not the one that the type implies.
pub(super) fn resource_block(
    resource: &Resource,
    provider: Option<&LocalProviderConfig>,
    schema: &Block,
    object: &Value,
) -> String {
    let (ty, name) = (string_literal(&resource.ty), string_literal(&resource.name));
    let mut text = format!("resource {ty} {name} {{\n");
    let mut writer = Writer { out: &mut text };
    if let Some(provider) = provider {
        writer.line(&format!("provider = {provider}"));
    }
    // Providers of the older kind call this configurable in every resource type.
    let is_id = |name: &str, attribute: &Attribute| {
        name == "id" && attribute.optional && attribute.computed
    };
    let own = schema.attributes.iter().filter(|(name, attribute)| !is_id(name, attribute));
    own.for_each(|(name, attribute)| writer.attribute(name, attribute, object));
    writer.blocks(&schema.blocks, object);
    text.push('}');
    let sources = Sources::new();
    let file = sources.add("", text.as_bytes());
    let formatted = format(&sources, file).ok().and_then(|text| String::from_utf8(text).ok());
    formatted.map_or(text, |formatted| formatted.trim_end().to_owned())
}

struct Writer<'a> {
    out: &'a mut String,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn attributes(&mut self, attributes: &BTreeMap<Arc<str>, Attribute>, of: &Value) {
        attributes.iter().for_each(|(name, attribute)| self.attribute(name, attribute, of));
    }

    fn attribute(&mut self, name: &str, attribute: &Attribute, of: &Value) {
        if attribute.deprecated || !(attribute.required || attribute.optional) {
            return;
        }
        let value = of.attribute(name).unwrap_or_else(|| Value::null(Type::Dynamic));
        let sensitive = attribute.sensitive || value.deep_marks().is_sensitive();
        if let AttributeType::Nested(nested) = &attribute.ty {
            return self.nested(name, nested, &value, sensitive);
        }
        if sensitive {
            return self.line(&format!("{name} = null # sensitive"));
        }
        let text = match value.as_str() {
            // Providers of the older kind have no null.
            Some("") if attribute.optional => "null".to_owned(),
            Some(text) => json_call(text).unwrap_or_else(|| expression_text(&value)),
            None => expression_text(&value),
        };
        self.line(&format!("{name} = {text}"));
    }

    fn nested(&mut self, name: &str, nested: &NestedAttributes, value: &Value, sensitive: bool) {
        let is_sequence = matches!(nested.nesting, Nesting::List | Nesting::Set);
        if sensitive {
            let empty = if is_sequence { "[]" } else { "{}" };
            return self.line(&format!("{name} = {empty} # sensitive"));
        }
        if value.is_null() || !value.is_known() {
            return self.line(&format!("{name} = null"));
        }
        match nested.nesting {
            Nesting::Single | Nesting::Group => {
                self.line(&format!("{name} = {{"));
                self.attributes(&nested.attributes, value);
                self.line("}");
            }
            Nesting::List | Nesting::Set => {
                self.line(&format!("{name} = ["));
                for element in value.as_slice().unwrap_or_default() {
                    self.line("{");
                    self.attributes(&nested.attributes, element);
                    self.line("},");
                }
                self.line("]");
            }
            Nesting::Map => {
                self.line(&format!("{name} = {{"));
                for (key, element) in value.as_map().into_iter().flat_map(|map| map.iter()) {
                    let key = match is_identifier(key) {
                        true => key.to_string(),
                        false => string_literal(key),
                    };
                    self.line(&format!("{key} = {{"));
                    self.attributes(&nested.attributes, element);
                    self.line("}");
                }
                self.line("}");
            }
        }
    }

    fn blocks(&mut self, blocks: &BTreeMap<Arc<str>, NestedBlock>, of: &Value) {
        for (name, block) in blocks.iter().filter(|(_, block)| !block.block.deprecated) {
            let Some(value) = of.attribute(name) else { continue };
            if value.is_null() || !value.is_known() {
                continue;
            }
            if value.marks().is_sensitive() {
                self.line(&format!("{name} {{}} # sensitive"));
                continue;
            }
            match block.nesting {
                Nesting::Single | Nesting::Group => self.block(name, &block.block, &value),
                Nesting::List | Nesting::Set => {
                    let elements = value.as_slice().unwrap_or_default();
                    elements.iter().for_each(|element| self.block(name, &block.block, element));
                }
                Nesting::Map => {
                    for (key, element) in value.as_map().into_iter().flat_map(|map| map.iter()) {
                        let header = format!("{name} {}", string_literal(key));
                        self.block(&header, &block.block, element);
                    }
                }
            }
        }
    }

    fn block(&mut self, header: &str, block: &Block, value: &Value) {
        if value.marks().is_sensitive() {
            return self.line(&format!("{header} {{}} # sensitive"));
        }
        self.line(&format!("{header} {{"));
        self.attributes(&block.attributes, value);
        self.blocks(&block.blocks, value);
        self.line("}");
    }
}

/// Where a text is a JSON object or array, the call that gives it: people can read that.
fn json_call(text: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value = values::json::decode(text.as_bytes()).ok()?;
    Some(format!("jsonencode({})", expression_text(&value)))
}
