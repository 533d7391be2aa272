//! What stands in for providers and resources: what a test gives, and what is made up.

use crate::harness::{Counter, Fixed, TestEstate, actions};
use crate::schematic::{Schematic, attributes, flat, typed};
use async_trait::async_trait;
use engine::PlanOptions;
use engine::doubles::{DoubleValues, Doubles, MockedProvider};
use engine::plan::PlanMode;
use providers::{Provider, ProviderError, ProviderSchema, Providers};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ModulePath, ProviderAddress, ProviderConfigAddress, ResourceMode};
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use values::{Type, Value};

/// Starts providers whose world nobody may reach.
struct Schematics;

#[async_trait]
impl Providers for Schematics {
    async fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, ProviderError> {
        Ok(Arc::new(Schematic::new(address, schema())))
    }
}

fn schema() -> ProviderSchema {
    let plain = Attribute::plain;
    let inner = || {
        attributes([
            ("value", plain(Type::String).optional()),
            ("computed", plain(Type::String).optional().computed()),
        ])
    };
    let nested = NestedAttributes { nesting: Nesting::Map, attributes: inner() };
    let nested = Attribute { ty: AttributeType::Nested(nested), ..plain(Type::String).optional() };
    let block = NestedBlock {
        nesting: Nesting::List,
        min_items: 0,
        max_items: 0,
        block: Block { attributes: inner(), ..Block::default() },
    };
    let thing = Block {
        attributes: attributes([
            ("name", plain(Type::String).required()),
            ("id", plain(Type::String).computed()),
            ("revision", plain(Type::Number).computed()),
            ("ready", plain(Type::Bool).computed()),
            ("tags", plain(Type::map(Type::String)).computed()),
            ("zone", plain(Type::String).optional().computed()),
            ("any", plain(Type::Dynamic).computed()),
            ("nested", nested),
        ]),
        blocks: [("block".into(), block)].into(),
        ..Block::default()
    };
    let thing = typed(thing);
    ProviderSchema {
        provider: flat([("key", plain(Type::String).required())]),
        resources: [("test_thing".into(), thing.clone())].into(),
        data_sources: [("test_thing".into(), thing)].into(),
        ..ProviderSchema::default()
    }
}

const TEXT: &str = r#"
    resource "test_thing" "a" {
      name   = "a"
      nested = { k = { value = "v" } }
      block { value = "one" }
      block {
        value    = "two"
        computed = "own"
      }
    }
    data "test_thing" "d" { name = test_thing.a.id }
    output "a" { value = test_thing.a }
    output "d" { value = data.test_thing.d }
"#;

fn given(values: Value, known_in_plan: bool) -> DoubleValues {
    DoubleValues { values, known_in_plan, place: "here".into() }
}

fn mocked(types: &[((ResourceMode, &str), DoubleValues)]) -> Doubles {
    let mut doubles = Doubles::new(&Counter::default());
    let types = types.iter().map(|((mode, ty), values)| ((*mode, Arc::from(*ty)), values.clone()));
    let mock = MockedProvider { types: types.collect(), instances: BTreeMap::new() };
    let address = ProviderConfigAddress {
        module: ModulePath::root(),
        provider: ProviderAddress::implied("test"),
        alias: None,
    };
    doubles.providers.insert(address, Arc::new(mock));
    doubles
}

fn estate(doubles: Doubles) -> TestEstate {
    let mut estate = TestEstate::with(Arc::new(Fixed), |_| Arc::new(Schematics));
    estate.doubles = Arc::new(doubles);
    estate
}

fn text(value: &Value, path: &[&str]) -> String {
    let found = path.iter().fold(value.clone(), |value, step| match step.parse::<usize>() {
        Ok(index) => value.as_slice().unwrap()[index].clone(),
        Err(_) => value.attribute(step).unwrap(),
    });
    found.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_nobody_gives_is_made_up_by_its_type() {
    let estate = estate(mocked(&[]));
    let plan = estate.plan(TEXT).await;
    assert_eq!(
        actions(&plan),
        ["test_thing.a Create", "data.test_thing.d Read (read_because_config_unknown)"]
    );
    let outputs = estate.apply(TEXT).await.outputs.unwrap();
    let a = &outputs["a"];
    assert_eq!(text(a, &["id"]).len(), 8);
    assert_ne!(text(a, &["id"]), text(a, &["zone"]));
    assert_eq!(a.attribute("revision"), Some(Value::number(0_i64)));
    assert_eq!(a.attribute("ready"), Some(Value::bool(false)));
    assert_eq!(a.attribute("tags").unwrap().as_map().unwrap().len(), 0);
    assert!(a.attribute("any").unwrap().is_null());
    assert_eq!(text(a, &["nested", "k", "computed"]).len(), 8);
    assert_eq!(text(a, &["block", "0", "computed"]).len(), 8);
    assert_eq!(text(a, &["block", "1", "computed"]), "own");
    assert_eq!(text(&outputs["d"], &["name"]), text(a, &["id"]));
    // What was made up once stays.
    let again = estate.plan(TEXT).await;
    assert_eq!(actions(&again), Vec::<String>::new());
    let changed = TEXT.replace("name   = \"a\"", "name   = \"b\"");
    assert_eq!(actions(&estate.plan(&changed).await), ["test_thing.a Update"]);
    let updated = estate.apply(&changed).await.outputs.unwrap();
    assert_eq!(text(&updated["a"], &["id"]), text(a, &["id"]));
}

#[tokio::test]
async fn what_is_given_counts_in_every_nested_object() {
    let inner = || Value::object([("computed", Value::string("given"))]);
    let values = Value::object([
        ("id", Value::string("fixed")),
        ("revision", Value::string("5")),
        ("name", Value::string("configured anyway")),
        ("tags", Value::object([("a", Value::string("b"))])),
        ("nested", inner()),
        ("block", inner()),
    ]);
    let thing = ((ResourceMode::Managed, "test_thing"), given(values, false));
    let data = Value::object([("id", Value::string("read"))]);
    let data = ((ResourceMode::Data, "test_thing"), given(data, false));
    let outputs = estate(mocked(&[thing, data])).apply(TEXT).await.outputs.unwrap();
    let a = &outputs["a"];
    assert_eq!((text(a, &["id"]).as_str(), text(a, &["name"]).as_str()), ("fixed", "a"));
    assert_eq!(a.attribute("revision"), Some(Value::number(5_i64)));
    assert_eq!(text(a, &["tags", "a"]), "b");
    assert_eq!(text(a, &["nested", "k", "computed"]), "given");
    assert_eq!(text(a, &["block", "0", "computed"]), "given");
    assert_eq!(text(a, &["block", "1", "computed"]), "own");
    assert_eq!(text(&outputs["d"], &["id"]), "read");
}

#[tokio::test]
async fn values_may_be_known_while_planning_and_stay_what_they_are() {
    let values = Value::object([("id", Value::string("fixed"))]);
    let thing = ((ResourceMode::Managed, "test_thing"), given(values, true));
    let estate = estate(mocked(&[thing]));
    let plan = estate.plan(TEXT).await;
    assert_eq!(
        actions(&plan),
        ["test_thing.a Create", "data.test_thing.d Read (read_because_dependency_pending)"],
        "what the data source names is not made yet"
    );
    let planned = plan
        .changes
        .resources
        .iter()
        .find(|c| c.address.resource.ty.as_ref() == "test_thing")
        .unwrap();
    let zone = text(&planned.after, &["zone"]);
    assert_eq!((text(&planned.after, &["id"]).as_str(), zone.len()), ("fixed", 8));
    let outputs = estate.apply(TEXT).await.outputs.unwrap();
    assert_eq!(text(&outputs["a"], &["zone"]), zone);
}

#[tokio::test]
async fn an_override_counts_for_its_instance_before_that_of_the_resource() {
    let id = |text: &str| given(Value::object([("id", Value::string(text))]), false);
    let mut doubles = mocked(&[((ResourceMode::Managed, "test_thing"), id("type"))]);
    doubles.instances.insert("test_thing.a".parse().unwrap(), id("all"));
    doubles.instances.insert("test_thing.a[1]".parse().unwrap(), id("one"));
    let text = r#"
        resource "test_thing" "a" {
          count = 2
          name  = "a"
        }
        resource "test_thing" "b" { name = "b" }
        output "ids" { value = [test_thing.a[0].id, test_thing.a[1].id, test_thing.b.id] }
    "#;
    let outputs = estate(doubles).apply(text).await.outputs.unwrap();
    let ids: Vec<_> = outputs["ids"].as_slice().unwrap().iter().map(Value::as_str).collect();
    assert_eq!(ids, [Some("all"), Some("one"), Some("type")]);
}

#[tokio::test]
async fn a_value_that_does_not_fit_is_an_error_of_the_test() {
    let values = Value::object([("id", Value::tuple(Vec::new()))]);
    let thing = ((ResourceMode::Managed, "test_thing"), given(values, true));
    let errors = estate(mocked(&[thing])).errors(TEXT).await;
    assert_eq!(errors, ["Failed to compute attribute"]);
}

const NAMED: &str = r#"
    resource "test_thing" "a" { name = "a" }
    data "test_thing" "d" { name = test_thing.a.name }
    resource "test_thing" "user" { name = data.test_thing.d.id }
"#;

#[tokio::test]
async fn a_data_source_waits_for_what_it_names_though_all_is_known() {
    let estate = estate(mocked(&[]));
    let plan = estate.plan(NAMED).await;
    assert_eq!(
        actions(&plan),
        [
            "test_thing.a Create",
            "test_thing.user Create",
            "data.test_thing.d Read (read_because_dependency_pending)",
        ]
    );
    estate.apply(NAMED).await;
    assert_eq!(actions(&estate.plan(NAMED).await), Vec::<String>::new());
}

#[tokio::test]
async fn destroying_for_a_data_source_leaves_what_it_reads() {
    let estate = estate(mocked(&[]));
    estate.apply(NAMED).await;
    let targets = vec!["data.test_thing.d".parse().unwrap()];
    let options = PlanOptions { mode: PlanMode::Destroy, targets, ..PlanOptions::default() };
    let (_, plan, diagnostics) = estate.plan_with(&[("main.tf", NAMED)], &[], options).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(actions(&plan), ["test_thing.user Delete"]);
}
