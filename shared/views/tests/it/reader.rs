//! Reads plans and schemas that were recorded as Terraform's JSON.

use engine::changes::{Action, ActionReason, Changes, OutputChange, ResourceInstanceChange};
use engine::object::{DeposedKey, Object, ObjectStatus};
use engine::plan::{Plan, PlanMode, Schemas};
use engine::state::State;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{
    InstanceKey, ModuleInstance, ModulePath, ProviderAddress, ProviderConfigAddress, Resource,
    ResourceInstance, ResourceMode,
};
use values::schema::{
    Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting, Schema,
};
use values::{Kind, Marks, Number, Path, PathStep, Type, Value};
use views::{ShownInstance, ShownState};

pub(crate) fn read_plan(plan: &Json, schemas: &Json) -> Plan {
    let schemas = read_schemas(schemas);
    let changes = |key: &str| {
        let list = plan[key].as_array().cloned().unwrap_or_default();
        list.iter().map(|c| read_change(c, &schemas)).collect::<Vec<_>>()
    };
    let outputs = plan["output_changes"].as_object().cloned().unwrap_or_default();
    let read_output = |name: &String, o: &Json| {
        let ty = |key: &str| match key {
            "after" => {
                let ty = &plan["planned_values"]["outputs"][name]["type"];
                if ty.is_null() { Type::Dynamic } else { read_type(ty) }
            }
            _ => Type::Dynamic,
        };
        OutputChange {
            action: read_action(&o["actions"]),
            before: read_value(&o["before"], &ty("before"), &Json::Bool(false)),
            after: read_value(&o["after"], &ty("after"), &o["after_unknown"]),
            sensitive: o["after_sensitive"] == Json::Bool(true),
        }
    };
    Plan {
        mode: PlanMode::Normal,
        timestamp: plan["timestamp"]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
            .as_second(),
        variables: read_variables(&plan["variables"]),
        changes: Changes {
            resources: changes("resource_changes"),
            outputs: outputs.iter().map(|(k, o)| (k.as_str().into(), read_output(k, o))).collect(),
        },
        drift: changes("resource_drift"),
        previous: Arc::new(State::default()),
        prior: Arc::new(State::default()),
        targeted: false,
        moves: Arc::default(),
        imports: Default::default(),
        checks: Default::default(),
        reads: Default::default(),
        refreshed: BTreeMap::new(),
        schemas,
        complete: plan["errored"] != Json::Bool(true),
    }
}

fn read_variables(variables: &Json) -> BTreeMap<Arc<str>, Value> {
    let all = variables.as_object().cloned().unwrap_or_default();
    let of = |v: &Json| read_value(&v["value"], &Type::Dynamic, &Json::Bool(false));
    all.iter().map(|(k, v)| (k.as_str().into(), of(v))).collect()
}

fn read_change(change: &Json, schemas: &Schemas) -> ResourceInstanceChange {
    let module = read_module(change["module_address"].as_str().unwrap_or_default());
    let text = |key: &str| change[key].as_str().unwrap_or_default();
    let mode = match text("mode") {
        "data" => ResourceMode::Data,
        _ => ResourceMode::Managed,
    };
    let ty: Arc<str> = text("type").into();
    let key = match &change["index"] {
        Json::Null => InstanceKey::None,
        Json::String(s) => InstanceKey::String(s.as_str().into()),
        n => InstanceKey::Int(n.as_u64().unwrap()),
    };
    let resource = Resource { mode, ty: ty.clone(), name: text("name").into() };
    let provider = read_provider(text("provider_name"));
    let schema = schemas.get(&provider, mode, &ty).unwrap();
    let implied = schema.block.implied_type();
    let c = &change["change"];
    let known = Json::Object(serde_json::Map::new());
    let value = |key: &str, unknown: &Json, sensitive: &str| {
        mark(&read_value(&c[key], &implied, unknown), &c[sensitive])
    };
    let paths = c["replace_paths"].as_array().cloned().unwrap_or_default();
    ResourceInstanceChange {
        previous_address: change["previous_address"].as_str().map(|previous| {
            let (module, rest) = split_module(previous);
            let (ty, name) = rest.split_once('.').unwrap();
            ResourceInstance {
                module,
                resource: Resource { mode, ty: ty.into(), name: name.into() },
                key: InstanceKey::None,
            }
        }),
        address: ResourceInstance { module, resource, key },
        deposed: change["deposed"].as_str().map(DeposedKey::from_stored),
        provider: ProviderConfigAddress { module: ModulePath::root(), provider, alias: None },
        action: read_action(&c["actions"]),
        reason: change["action_reason"].as_str().map(read_reason),
        before: value("before", &known, "before_sensitive"),
        after: value("after", &c["after_unknown"], "after_sensitive"),
        requires_replace: paths.iter().map(read_path).collect(),
        private: Arc::from([]),
        dependencies: Arc::from([]),
        create_before_destroy: false,
    }
}

fn read_path(path: &Json) -> Path {
    let step = |s: &Json| match s {
        Json::String(s) => PathStep::Attribute(s.as_str().into()),
        n => PathStep::Index(n.as_u64().unwrap() as usize),
    };
    Path(path.as_array().unwrap().iter().map(step).collect())
}

fn read_module(text: &str) -> ModuleInstance {
    split_module(&format!("{text}.")).0
}

fn split_module(text: &str) -> (ModuleInstance, &str) {
    let mut module = ModuleInstance::root();
    let mut rest = text;
    while let Some(after) = rest.strip_prefix("module.") {
        let end = after.find(['.', '[']).unwrap();
        let name = &after[..end];
        rest = &after[end..];
        let mut key = InstanceKey::None;
        if let Some(inner) = rest.strip_prefix('[') {
            let close = inner.find(']').unwrap();
            key = match inner[..close].trim_matches('"') {
                k if inner.starts_with('"') => InstanceKey::String(k.into()),
                k => InstanceKey::Int(k.parse().unwrap()),
            };
            rest = &inner[close + 1..];
        }
        module = module.child(name, key);
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    (module, rest)
}

fn read_provider(name: &str) -> ProviderAddress {
    let mut parts = name.split('/').map(Arc::from);
    let mut next = || parts.next().unwrap();
    ProviderAddress { host: next(), namespace: next(), ty: next() }
}

fn read_action(actions: &Json) -> Action {
    let all = [
        Action::NoOp,
        Action::Create,
        Action::Read,
        Action::Update,
        Action::DeleteThenCreate,
        Action::CreateThenDelete,
        Action::Delete,
        Action::Forget,
    ];
    all.into_iter().find(|a| serde_json::json!(a.as_json()) == *actions).unwrap()
}

fn read_reason(word: &str) -> ActionReason {
    let reason: ActionReason = serde_json::from_value(Json::from(word)).unwrap();
    assert_eq!(reason.as_str(), word);
    reason
}

/// A value of a type, from what is known of it and from where it is unknown.
pub(crate) fn read_value(known: &Json, ty: &Type, unknown: &Json) -> Value {
    if *unknown == Json::Bool(true) {
        return Value::unknown(ty.clone());
    }
    let none = Json::Null;
    let (map, list) = (known.as_object(), known.as_array());
    let unknown_at = |i: usize| unknown.get(i).unwrap_or(&none);
    let sequence = |element: &Type| -> Vec<Value> {
        let items = list.into_iter().flatten().enumerate();
        items.map(|(i, v)| read_value(v, element, unknown_at(i))).collect()
    };
    match (ty, known) {
        (_, Json::Null) => Value::null(ty.clone()),
        (Type::Bool, Json::Bool(b)) => Value::bool(*b),
        (Type::Number, Json::Number(n)) => Value::number(Number::parse(&n.to_string()).unwrap()),
        (Type::String, Json::String(s)) => Value::string(s),
        (Type::List(t), Json::Array(_)) => Value::list((**t).clone(), sequence(t)),
        (Type::Set(t), Json::Array(_)) => Value::set((**t).clone(), sequence(t)),
        (Type::Tuple(ts), Json::Array(items)) => Value::tuple(
            items
                .iter()
                .zip(ts.iter())
                .enumerate()
                .map(|(i, (v, t))| read_value(v, t, unknown_at(i)))
                .collect::<Vec<_>>(),
        ),
        (Type::Map(t), Json::Object(items)) => {
            let unknown_keys = unknown.as_object().into_iter().flatten();
            let keys = items.keys().chain(unknown_keys.map(|(k, _)| k));
            Value::map(
                (**t).clone(),
                keys.map(|k| {
                    let unknown = unknown.get(k).unwrap_or(&none);
                    (k.as_str(), read_value(items.get(k).unwrap_or(&none), t, unknown))
                }),
            )
        }
        (Type::Object(object), _) => Value::object(object.attributes.iter().map(|(k, t)| {
            let known = map.and_then(|m| m.get(&**k)).unwrap_or(&none);
            (k.clone(), read_value(known, t, unknown.get(&**k).unwrap_or(&none)))
        })),
        (Type::Dynamic, Json::Array(_)) => Value::tuple(sequence(&Type::Dynamic)),
        (Type::Dynamic, Json::Object(items)) => {
            let unknown_keys = unknown.as_object().into_iter().flatten().map(|(k, _)| k);
            Value::object(items.keys().chain(unknown_keys).map(|k| {
                let unknown = unknown.get(k).unwrap_or(&none);
                let known = items.get(k).unwrap_or(&none);
                (k.as_str(), read_value(known, &Type::Dynamic, unknown))
            }))
        }
        (Type::Dynamic, Json::Bool(_)) => read_value(known, &Type::Bool, unknown),
        (Type::Dynamic, Json::Number(_)) => read_value(known, &Type::Number, unknown),
        (Type::Dynamic, Json::String(_)) => read_value(known, &Type::String, unknown),
        (ty, known) => panic!("{known} is no {ty}"),
    }
}

/// Marks what a tree says is sensitive.
pub(crate) fn mark(value: &Value, sensitive: &Json) -> Value {
    // A declared type of any says nothing of the type that is unknown; this does.
    if let (Kind::Unknown(Type::Dynamic, _), Some(ty)) = (value.kind(), unknown_type(sensitive)) {
        return Value::unknown(ty);
    }
    match sensitive {
        Json::Bool(true) => value.clone().with_marks(Marks::SENSITIVE),
        Json::Object(of) => value.map_children(&mut |step, child| {
            let key = match &step {
                PathStep::Attribute(k) | PathStep::Key(k) => k.clone(),
                _ => return child.clone(),
            };
            of.get(&*key).map_or_else(|| child.clone(), |s| mark(child, s))
        }),
        Json::Array(of) => {
            let mut i = 0;
            value.map_children(&mut |_, child| {
                i += 1;
                of.get(i - 1).map_or_else(|| child.clone(), |s| mark(child, s))
            })
        }
        _ => value.clone(),
    }
}

fn unknown_type(sensitive: &Json) -> Option<Type> {
    match sensitive {
        Json::Object(_) => Some(Type::empty_object()),
        Json::Array(_) => Some(Type::empty_tuple()),
        _ => None,
    }
}

pub(crate) fn read_type(ty: &Json) -> Type {
    match ty {
        Json::String(s) => match s.as_str() {
            "bool" => Type::Bool,
            "number" => Type::Number,
            "string" => Type::String,
            _ => Type::Dynamic,
        },
        Json::Array(a) => match a[0].as_str().unwrap() {
            "list" => Type::list(read_type(&a[1])),
            "set" => Type::set(read_type(&a[1])),
            "map" => Type::map(read_type(&a[1])),
            "tuple" => {
                Type::tuple(a[1].as_array().unwrap().iter().map(read_type).collect::<Vec<_>>())
            }
            _ => {
                let attributes = a[1].as_object().unwrap();
                Type::object(attributes.iter().map(|(k, t)| (k.as_str(), read_type(t))))
            }
        },
        other => panic!("no type: {other}"),
    }
}

/// A state without modules, as Terraform's JSON has it. Dependencies are left out: the JSON has all,
/// objects have the direct ones.
pub(crate) fn read_state(state: &Json, schemas: &Json) -> ShownState {
    let schemas = read_schemas(schemas);
    let mut instances = BTreeMap::<String, ShownInstance>::new();
    for r in state["values"]["root_module"]["resources"].as_array().unwrap() {
        let resource = Resource::managed(r["type"].as_str().unwrap(), r["name"].as_str().unwrap());
        let provider = read_provider(r["provider_name"].as_str().unwrap());
        let schema = schemas.get(&provider, ResourceMode::Managed, &resource.ty).unwrap();
        let value = read_value(&r["values"], &schema.block.implied_type(), &Json::Bool(false));
        let object = Object {
            value: mark(&value, &r["sensitive_values"]),
            identity: None,
            private: Arc::from([]),
            dependencies: Arc::from([]),
            create_before_destroy: false,
            prevent_destroy: false,
            status: match r["tainted"] == Json::Bool(true) {
                true => ObjectStatus::Tainted,
                false => ObjectStatus::Ready,
            },
        };
        let key = r["index"].as_u64().map_or(InstanceKey::None, InstanceKey::Int);
        let address = r["address"].as_str().unwrap().to_owned();
        let instance = instances.entry(address).or_insert_with(|| ShownInstance {
            address: resource.absolute(&ModuleInstance::root()).instance(key),
            provider: ProviderConfigAddress { module: ModulePath::root(), provider, alias: None },
            schema: schema.clone(),
            current: None,
            deposed: BTreeMap::new(),
        });
        match r["deposed_key"].as_str() {
            Some(key) => {
                instance.deposed.insert(DeposedKey::from_stored(key), object);
            }
            None => instance.current = Some(object),
        }
    }
    ShownState { instances: instances.into_values().collect(), ..ShownState::default() }
}

fn read_schemas(schemas: &Json) -> Schemas {
    let mut all = BTreeMap::new();
    let kinds =
        [("resource_schemas", ResourceMode::Managed), ("data_source_schemas", ResourceMode::Data)];
    for (provider, of) in schemas["provider_schemas"].as_object().unwrap() {
        for (key, mode) in kinds {
            for (ty, schema) in of[key].as_object().into_iter().flatten() {
                let schema = Schema {
                    version: schema["version"].as_u64().unwrap_or_default(),
                    block: read_block(&schema["block"]),
                };
                let key = (read_provider(provider), mode, Arc::from(ty.as_str()));
                all.insert(key, Arc::new(schema));
            }
        }
    }
    Schemas(all)
}

fn read_block(block: &Json) -> Block {
    let attributes = block["attributes"].as_object().into_iter().flatten();
    let blocks = block["block_types"].as_object().into_iter().flatten();
    Block {
        attributes: attributes.map(|(k, a)| (k.as_str().into(), read_attribute(a))).collect(),
        blocks: blocks
            .map(|(k, b)| {
                let nested = NestedBlock {
                    nesting: read_nesting(&b["nesting_mode"]),
                    min_items: b["min_items"].as_u64().unwrap_or_default(),
                    max_items: b["max_items"].as_u64().unwrap_or_default(),
                    block: read_block(&b["block"]),
                };
                (k.as_str().into(), nested)
            })
            .collect(),
        ..Block::default()
    }
}

fn read_attribute(a: &Json) -> Attribute {
    let flag = |key: &str| a[key] == Json::Bool(true);
    let nested = &a["nested_type"];
    Attribute {
        ty: match nested {
            Json::Null => AttributeType::Plain(read_type(&a["type"])),
            _ => AttributeType::Nested(NestedAttributes {
                nesting: read_nesting(&nested["nesting_mode"]),
                attributes: nested["attributes"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(k, a)| (k.as_str().into(), read_attribute(a)))
                    .collect(),
            }),
        },
        required: flag("required"),
        optional: flag("optional"),
        computed: flag("computed"),
        sensitive: flag("sensitive"),
        write_only: flag("write_only"),
        deprecated: flag("deprecated"),
        description: None,
    }
}

fn read_nesting(mode: &Json) -> Nesting {
    match mode.as_str().unwrap() {
        "single" => Nesting::Single,
        "group" => Nesting::Group,
        "list" => Nesting::List,
        "set" => Nesting::Set,
        _ => Nesting::Map,
    }
}
