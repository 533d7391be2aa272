//! States, outputs and verdicts.

use engine::object::{DeposedKey, Object, ObjectStatus};
use engine::verdict::{Outcome, RejectCode, Stage, Verdict};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{
    ConfigResource, InstanceKey, ModuleInstance, ModulePath, ProviderAddress,
    ProviderConfigAddress, Resource,
};
use values::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use values::{Type, Value};
use views::verdicts::PlanVerdicts;
use views::{Colour, ShownInstance, ShownState};

fn schema() -> Arc<Schema> {
    let mut password = Attribute::plain(Type::String).optional();
    password.sensitive = true;
    let disk = Block {
        attributes: [("size".into(), Attribute::plain(Type::Number).required())].into(),
        ..Block::default()
    };
    let disk = NestedBlock { nesting: Nesting::List, min_items: 0, max_items: 0, block: disk };
    Arc::new(Schema {
        version: 1,
        block: Block {
            attributes: [
                ("id".into(), Attribute::plain(Type::String).computed()),
                ("labels".into(), Attribute::plain(Type::map(Type::String)).optional()),
                ("password".into(), password),
            ]
            .into(),
            blocks: [("disk".into(), disk)].into(),
            ..Block::default()
        },
    })
}

fn object(id: &str, dependencies: &[ConfigResource]) -> Object {
    let disk = Value::object([("size", Value::number(10i64))]);
    Object {
        value: Value::object([
            ("id", Value::string(id)),
            ("labels", Value::map(Type::String, [("a b", Value::string("c").sensitive())])),
            ("password", Value::string("hunter2")),
            ("disk", Value::list(disk.ty(), vec![disk])),
        ]),
        identity: None,
        private: Arc::from([]),
        dependencies: dependencies.into(),
        create_before_destroy: false,
        prevent_destroy: false,
        status: ObjectStatus::Ready,
    }
}

fn state() -> ShownState {
    let config = |name: &str| Resource::managed("x_vm", name).in_module(&ModulePath::root());
    let instance = |module: &ModuleInstance, name: &str, key, object: Object| ShownInstance {
        address: Resource::managed("x_vm", name).absolute(module).instance(key),
        provider: ProviderConfigAddress {
            module: ModulePath::root(),
            provider: ProviderAddress::implied("x"),
            alias: None,
        },
        schema: schema(),
        current: Some(object),
        deposed: BTreeMap::new(),
    };
    let root = ModuleInstance::root();
    let child = root.child("m", InstanceKey::Int(1)).child("n", InstanceKey::None);
    let mut replaced = instance(&root, "b", InstanceKey::None, object("2", &[config("a")]));
    replaced.deposed.insert(DeposedKey::from_stored("0000000a"), object("1", &[]));
    let mut tainted = object("4", &[config("c")]);
    tainted.status = ObjectStatus::Tainted;
    ShownState {
        instances: vec![
            instance(&child, "d", InstanceKey::String("k".into()), tainted),
            instance(&root, "c", InstanceKey::Int(0), object("3", &[config("b")])),
            replaced,
            instance(&root, "a", InstanceKey::None, object("0", &[])),
        ],
        outputs: outputs(),
        ..ShownState::default()
    }
}

fn outputs() -> BTreeMap<Arc<str>, Value> {
    let nested = Value::object([
        ("list", Value::list(Type::String, vec![Value::string("x\ny"), Value::null(Type::String)])),
        ("none", Value::dynamic_null()),
        ("number", Value::number(7i64)),
    ]);
    BTreeMap::from([
        ("nested".into(), nested),
        ("secret".into(), Value::string("hunter2").sensitive()),
        ("set".into(), Value::set(Type::String, vec![Value::string("b"), Value::string("a")])),
        ("text".into(), Value::string("<one>\ntwo\n")),
    ])
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn people_read_a_state() {
    let text = written(|out| views::state_text::write_state(&state(), Colour::Plain, out));
    assert!(!text.contains("hunter2"));
    insta::assert_snapshot!(text);
}

#[test]
fn programs_read_a_state() {
    let text = written(|out| views::state_json::write_state(&state(), out));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let module = &json["values"]["root_module"];
    let c = module["resources"].as_array().unwrap().iter().find(|r| r["name"] == "c").unwrap();
    assert_eq!(c["depends_on"], serde_json::json!(["x_vm.a", "x_vm.b"]));
    assert_eq!(
        c["sensitive_values"],
        serde_json::json!({"disk": [{}], "labels": {"a b": true}, "password": true})
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_state_is_shown_as_terraform_shows_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/state");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let json = |file: &str| serde_json::from_str::<serde_json::Value>(&read(file)).unwrap();
    let state = crate::reader::read_state(&json("state.json"), &json("schema.json"));
    let text = written(|out| views::state_text::write_state(&state, Colour::Plain, out));
    assert_eq!(text, read("state.txt"));
    let text = written(|out| views::state_json::write_state(&state, out));
    assert_eq!(text, read("state.json"));
}

#[test]
fn an_empty_state_has_no_values() {
    let state = ShownState::default();
    let text = written(|out| views::state_json::write_state(&state, out));
    assert_eq!(text, "{\"format_version\":\"1.0\"}\n");
    let text = written(|out| views::state_text::write_state(&state, Colour::Plain, out));
    assert_eq!(text, "The state file is empty. No resources are represented.\n");
}

#[test]
fn addresses_are_listed_in_order() {
    let text = written(|out| views::state_text::write_list(&state(), out));
    assert_eq!(text, "x_vm.a\nx_vm.b\nx_vm.c[0]\nmodule.m[1].module.n.x_vm.d[\"k\"]\n");
}

#[test]
fn outputs_are_shown_as_expressions() {
    insta::assert_snapshot!(written(|out| views::outputs::write_all(&outputs(), out)));
}

#[test]
fn outputs_are_shown_as_json() {
    insta::assert_snapshot!(written(|out| views::outputs::write_all_json(&outputs(), out)));
}

#[test]
fn only_primitive_outputs_are_raw() {
    let raw = |value: Value| views::outputs::raw("o", &value);
    assert_eq!(raw(Value::string("a\"b")), Ok("a\"b".to_owned()));
    assert_eq!(raw(Value::number(3i64)), Ok("3".to_owned()));
    assert_eq!(raw(Value::bool(true)), Ok("true".to_owned()));
    assert!(raw(Value::null(Type::String)).is_err());
    assert!(raw(Value::tuple([])).is_err());
}

#[test]
fn deep_values_are_written() {
    let mut value = Value::string("x");
    for _ in 0..2_000 {
        value = Value::tuple([value]);
    }
    let text = views::outputs::format_value(&value);
    assert!(text.starts_with("[\n  [\n"));
}

#[test]
fn verdicts_name_finding_and_remedy() {
    let verdicts = [
        Verdict::new(Stage::Authenticity, Outcome::Pass, "signed, unexpired and unused"),
        Verdict::new(Stage::Lineage, Outcome::Pass, "lineage 7f3a"),
        Verdict::new(Stage::Serial, Outcome::Warn, "serial 4 is 6 now: runs r-2 and r-3 wrote"),
        Verdict {
            code: Some(RejectCode::Drifted),
            address: Some("x_vm.a".into()),
            path: Some(".size".into()),
            planned: Some("10".into()),
            actual: Some("20".into()),
            remedy: Some("plan again".into()),
            ..Verdict::new(Stage::Resources, Outcome::Reject, "changed since the plan was made")
        },
        Verdict::new(Stage::Upstream, Outcome::NotChecked, "no other estate was read"),
    ];
    let view = PlanVerdicts { plan: "p-1", verdicts: &verdicts };
    assert_eq!(view.result(), Outcome::Reject);
    assert_eq!(view.code(), Some(RejectCode::Drifted));
    insta::assert_snapshot!(written(|out| view.write_text(Colour::Plain, out)));
    insta::assert_snapshot!(written(|out| view.write_json(out)));
}
