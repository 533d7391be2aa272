//! The configuration as programs read it: the `configuration` object of a plan's JSON.
//!
//! Expressions are not evaluated: each has its constant value, if it is one, and its references.

mod expressions;
mod providers;

use crate::json::Json;
use crate::value_json::known;
use engine::plan::Schemas;
use expressions::{arguments, body, expression, is_empty, reference_text};
use language::module::{
    Configuration, DependsOn, ModuleCall, ModuleNode, Output, Provisioner, Repetition,
    ResourceBlock, Variable,
};
use language::reference::Reference;
use providers::ProviderConfigs;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ResourceMode;
use values::schema::Schema;

type Object = BTreeMap<Arc<str>, Json>;

/// The representation of a configuration. Schemas say which part of a body is an argument and which
/// a block; a body whose type has none there is represented as it is written.
pub fn configuration(configuration: &Configuration, schemas: &Schemas) -> Json {
    let providers = ProviderConfigs::of(configuration);
    let root = Writer { configuration, schemas, providers: &providers }.module(&configuration.root);
    let mut object = Object::new();
    set(&mut object, "provider_config", providers.to_json());
    object.insert("root_module".into(), root);
    Json::object(object)
}

/// Sets a field, unless it is an empty array or object.
fn set(object: &mut Object, name: &str, value: Json) {
    if !is_empty(&value) {
        object.insert(name.into(), value);
    }
}

fn set_text(object: &mut Object, name: &str, text: &str) {
    if !text.is_empty() {
        object.insert(name.into(), Json::string(text));
    }
}

struct Writer<'a> {
    configuration: &'a Configuration,
    schemas: &'a Schemas,
    providers: &'a ProviderConfigs,
}

impl Writer<'_> {
    fn module(&self, node: &ModuleNode) -> Json {
        let module = &node.module;
        let mut object = Object::new();
        let outputs = module.outputs.values().map(|o| (o.name.clone(), output(o)));
        set(&mut object, "outputs", Json::object(outputs));
        // Ephemeral resources are not shown, as in Terraform.
        let modes = [ResourceMode::Managed, ResourceMode::Data];
        let mut resources: Vec<(usize, String, &ResourceBlock)> = module
            .resources
            .values()
            .filter_map(|block| {
                let mode = modes.iter().position(|mode| *mode == block.address.mode)?;
                Some((mode, block.address.to_string(), block))
            })
            .collect();
        resources.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let resources =
            resources.iter().map(|(_, address, block)| self.resource(node, address, block));
        set(&mut object, "resources", Json::array(resources.collect()));
        let calls = module.module_calls.values().filter_map(|call| {
            let child = node.children.get(&call.name)?;
            Some((call.name.clone(), crate::json::deep(|| self.module_call(call, child))))
        });
        set(&mut object, "module_calls", Json::object(calls));
        let variables = module.variables.values().map(|v| (v.name.clone(), variable(v)));
        set(&mut object, "variables", Json::object(variables));
        Json::object(object)
    }

    fn resource(&self, node: &ModuleNode, address: &str, block: &ResourceBlock) -> Json {
        let mut object = Object::new();
        object.insert("address".into(), Json::string(address));
        object.insert("mode".into(), Json::string(block.address.mode.as_str()));
        object.insert("type".into(), Json::String(block.address.ty.clone()));
        object.insert("name".into(), Json::String(block.address.name.clone()));
        let key = self.providers.key_for(&node.path, &block.provider_config());
        object.insert("provider_config_key".into(), Json::string(key));
        let provisioners = block.provisioners.iter().map(provisioner).collect();
        set(&mut object, "provisioners", Json::array(provisioners));
        let schema = self.schema(node, block);
        let version = schema.map_or(0, |schema| schema.version);
        object.insert("schema_version".into(), Json::number(version));
        let arguments = body(&block.config, schema.map(|schema| &schema.block));
        set(&mut object, "expressions", arguments);
        set_repetition(&mut object, &block.repetition);
        set_depends_on(&mut object, &block.depends_on);
        Json::object(object)
    }

    fn schema(&self, node: &ModuleNode, block: &ResourceBlock) -> Option<&Arc<Schema>> {
        let address = block.address.clone().in_module(&node.path);
        let provider = self.configuration.provider_for(&address)?.provider;
        self.schemas.get(&provider, block.address.mode, &block.address.ty)
    }

    fn module_call(&self, call: &ModuleCall, child: &ModuleNode) -> Json {
        let mut object = Object::new();
        set_text(&mut object, "source", call.written_source.as_deref().unwrap_or_default());
        set(&mut object, "expressions", arguments(&call.config, &child.module.variables));
        set_repetition(&mut object, &call.repetition);
        object.insert("module".into(), self.module(child));
        if let Some(version) = &call.version {
            let terms: Vec<&str> = version.text.split(',').map(str::trim).collect();
            set_text(&mut object, "version_constraint", &terms.join(","));
        }
        set_depends_on(&mut object, &call.depends_on);
        Json::object(object)
    }
}

fn output(output: &Output) -> Json {
    let mut object = Object::new();
    if output.sensitive {
        object.insert("sensitive".into(), Json::Bool(true));
    }
    object.insert("expression".into(), expression(&output.expression));
    set_depends_on(&mut object, &output.depends_on);
    set_text(&mut object, "description", output.description.as_deref().unwrap_or_default());
    Json::object(object)
}

fn variable(variable: &Variable) -> Json {
    let mut object = Object::new();
    if let Some(default) = &variable.default {
        object.insert("default".into(), known(default));
    }
    set_text(&mut object, "description", variable.description.as_deref().unwrap_or_default());
    if variable.sensitive {
        object.insert("sensitive".into(), Json::Bool(true));
    }
    Json::object(object)
}

fn provisioner(provisioner: &Provisioner) -> Json {
    let mut object = Object::new();
    object.insert("type".into(), Json::String(provisioner.kind.clone()));
    set(&mut object, "expressions", body(&provisioner.config, None));
    Json::object(object)
}

fn set_repetition(object: &mut Object, repetition: &Repetition) {
    match repetition {
        Repetition::Single => {}
        Repetition::Count(count) => set(object, "count_expression", expression(count)),
        Repetition::ForEach(each) => set(object, "for_each_expression", expression(each)),
    }
}

fn set_depends_on(object: &mut Object, depends_on: &DependsOn) {
    let references = depends_on.iter().filter_map(|traversal| Reference::parse(traversal).ok());
    let texts = references.map(|reference| Json::string(reference_text(&reference)));
    set(object, "depends_on", Json::array(texts.collect()));
}
