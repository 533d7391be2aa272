//! The configuration in a plan's JSON.

use engine::plan::Schemas;
use language::files::Memory;
use language::module::{LoadOptions, load};
use language::source::Sources;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;
use values::Type;
use values::address::{ProviderAddress, ResourceMode};
use values::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use views::configuration_json::configuration;
use views::{Escape, relevant_attributes};

fn schemas() -> Schemas {
    let optional = |ty| Attribute::plain(ty).optional();
    let rule =
        Block { attributes: [("port".into(), optional(Type::Number))].into(), ..Block::default() };
    let nested = |nesting| NestedBlock { nesting, min_items: 0, max_items: 0, block: rule.clone() };
    let block = Block {
        attributes: [("input".into(), optional(Type::Dynamic))].into(),
        blocks: [
            ("rule".into(), nested(Nesting::List)),
            ("one".into(), nested(Nesting::Single)),
            ("keyed".into(), nested(Nesting::Map)),
        ]
        .into(),
        ..Block::default()
    };
    let provider = ProviderAddress::implied("x");
    let key = (provider, ResourceMode::Managed, "x_vm".into());
    Schemas([(key, Arc::new(Schema { version: 3, block }))].into())
}

fn shown(files: &[(&str, &str)]) -> Json {
    let files: Memory = files.iter().copied().collect();
    let (loaded, diagnostics) =
        load(&files, Path::new("."), Arc::new(Sources::new()), LoadOptions::default());
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let text = configuration(&loaded, &schemas()).to_text(Escape::Html);
    serde_json::from_str(&text).unwrap()
}

fn output(expression: &str) -> Json {
    let declared =
        "variable \"v\" {}\nmodule \"m\" {\n source = \"./m\"\n}\nresource \"x_vm\" \"a\" {}\n";
    let text = format!("{declared}output \"o\" {{\n value = {expression}\n}}\n");
    let shown = shown(&[("main.tf", &text), ("m/main.tf", "output \"x\" {\n value = 1\n}\n")]);
    shown["root_module"]["outputs"]["o"]["expression"].clone()
}

#[test]
fn constants_are_values() {
    let constant = |value: Json| json!({"constant_value": value});
    assert_eq!(output("1 + 1"), constant(json!(2)));
    assert_eq!(output("null"), constant(Json::Null));
    assert_eq!(output("\"a${1}b\""), constant(json!("a1b")));
    assert_eq!(output("{ a = [1, null] }"), constant(json!({"a": [1, null]})));
    assert_eq!(output("[for x in [1, 2] : x]"), constant(json!([1, 2])));
    assert_eq!(output("upper(\"a\")"), json!({}));
}

#[test]
fn references_with_all_that_they_are_part_of() {
    let references = |texts: &[&str]| json!({"references": texts});
    assert_eq!(output("var.v.a[0]"), references(&["var.v.a[0]", "var.v.a", "var.v"]));
    assert_eq!(
        output("x_vm.a[0].output[\"k\"]"),
        references(&["x_vm.a[0].output[\"k\"]", "x_vm.a[0].output", "x_vm.a[0]", "x_vm.a"])
    );
    assert_eq!(output("x_vm.a[*].id"), references(&["x_vm.a"]));
    assert_eq!(
        output("try(module.m[\"a\"].x.y, module.m[\"a\"], module.m)"),
        references(&[
            "module.m[\"a\"].x.y",
            "module.m[\"a\"].x",
            "module.m[\"a\"]",
            "module.m[\"a\"]",
            "module.m",
            "module.m",
        ])
    );
    assert_eq!(output("path.module"), references(&["path.module"]));
}

const RESOURCE: &str = r#"
resource "x_vm" "b" {
  count      = var.n
  depends_on = [x_vm.a, module.m]
  input      = var.n
  rule {
    port = 1
  }
  rule {}
  one {
    port = var.n
  }
  keyed "k" {}
  dynamic "rule" {
    for_each = var.n
    content {}
  }
}
resource "x_vm" "a" {}
data "y_thing" "d" {
  name = "x"
}
variable "n" {
  default     = [1, null]
  description = "count"
  sensitive   = true
}
module "m" {
  source = "././m"
  a      = 1
}
output "o" {
  value       = 1
  sensitive   = true
  depends_on  = [x_vm.b[0]]
  description = "text"
}
"#;

#[test]
fn blocks_by_schema() {
    let shown = shown(&[
        ("main.tf", RESOURCE),
        ("m/main.tf", "variable \"a\" {}\nresource \"x_vm\" \"c\" {}\n"),
    ]);
    let vm = |name: &str, key: &str| {
        json!({"address": format!("x_vm.{name}"), "mode": "managed", "type": "x_vm", "name": name,
            "provider_config_key": key, "schema_version": 3})
    };
    let mut b = vm("b", "x");
    b["expressions"] = json!({
        "input": {"references": ["var.n"]},
        "rule": [{"port": {"constant_value": 1}}, {}],
        "one": {"port": {"references": ["var.n"]}},
        "keyed": {"k": {}},
    });
    b["count_expression"] = json!({"references": ["var.n"]});
    b["depends_on"] = json!(["x_vm.a", "module.m"]);
    let provider = |name: &str| json!({"name": name, "full_name": format!("registry.terraform.io/hashicorp/{name}")});
    let expected = json!({
        "provider_config": {"x": provider("x"), "y": provider("y")},
        "root_module": {
            "outputs": {"o": {"expression": {"constant_value": 1}, "sensitive": true,
                "depends_on": ["x_vm.b[0]"], "description": "text"}},
            "resources": [vm("a", "x"), b, {
                "address": "data.y_thing.d", "mode": "data", "type": "y_thing", "name": "d",
                "provider_config_key": "y", "schema_version": 0,
                "expressions": {"name": {"constant_value": "x"}}}],
            "module_calls": {"m": {"source": "././m",
                "expressions": {"a": {"constant_value": 1}},
                "module": {"resources": [vm("c", "x")], "variables": {"a": {}}}}},
            "variables": {"n": {"default": [1, null], "description": "count", "sensitive": true}},
        },
    });
    assert_eq!(shown, expected);
}

#[test]
fn providers() {
    let shown = shown(&[
        (
            "main.tf",
            r#"
terraform {
  required_providers {
    l = {
      source  = "example/lxd"
      version = ">= 1.0,< 2"
    }
  }
}
provider "l" {
  accept = true
  remote {
    name = var.a
  }
}
provider "l" {
  alias = "w"
}
variable "a" {}
module "m" {
  source = "./m"
  providers = {
    lxd = l.w
  }
}
"#,
        ),
        (
            "m/main.tf",
            "terraform {\n required_providers {\n  lxd = {\n   source = \"example/lxd\"\n  }\n }\n}\nresource \"lxd_a\" \"a\" {}\nresource \"z_a\" \"a\" {}\n",
        ),
    ]);
    let lxd = "registry.terraform.io/example/lxd";
    let expected = json!({
        "l": {"name": "l", "full_name": lxd, "version_constraint": ">= 1.0.0, < 2.0.0",
            "expressions": {"accept": {"constant_value": true},
                "remote": [{"name": {"references": ["var.a"]}}]}},
        "l.w": {"name": "l", "full_name": lxd, "alias": "w", "version_constraint": ">= 1.0.0, < 2.0.0"},
        "lxd": {"name": "lxd", "full_name": lxd},
        "module.m:z": {"name": "z", "full_name": "registry.terraform.io/hashicorp/z", "module_address": "module.m"},
    });
    assert_eq!(shown["provider_config"], expected);
    let resources = &shown["root_module"]["module_calls"]["m"]["module"]["resources"];
    assert_eq!(resources[0]["provider_config_key"], "l.w");
    assert_eq!(resources[1]["provider_config_key"], "module.m:z");
}

#[test]
fn strings_of_the_json_syntax_are_texts_and_templates() {
    let text = r#"{"variable": {"n": {}}, "output": {"o": {"value": "${var.n}"}},
        "resource": {"x_vm": {"a": {"rule": {"port": "1"}, "input": {"//": "k"}}}}}"#;
    let shown = shown(&[("main.tf.json", text)]);
    let root = &shown["root_module"];
    assert_eq!(
        root["outputs"]["o"]["expression"],
        json!({"constant_value": "${var.n}", "references": ["var.n"]})
    );
    assert_eq!(
        root["resources"][0]["expressions"],
        json!({"rule": [{"port": {"constant_value": "1"}}], "input": {"constant_value": {"//": "k"}}})
    );
}

#[test]
fn relevant_attributes_are_followed_through_names() {
    let files: Memory = [
        (
            "main.tf",
            r#"
locals {
  l = x_vm.a.one.port
}
module "m" {
  source = "./m"
  a      = x_vm.a.id
}
resource "x_vm" "a" {
  input = "x"
  rule {
    port = x_vm.b[0].port
  }
}
resource "x_vm" "b" {
  count = x_vm.c["k"].n
  input = count.index
}
resource "x_vm" "c" {
  for_each = { k = 1 }
}
output "o" {
  value = [local.l, module.m.o, x_vm.a.rule, x_vm.b[*].input]
}
output "same" {
  value = x_vm.c
}
"#,
        ),
        (
            "m/main.tf",
            "variable \"a\" {}\nresource \"x_vm\" \"i\" {\n input = var.a\n}\noutput \"o\" {\n value = x_vm.i.input\n}\n",
        ),
    ]
    .into_iter()
    .collect();
    let (loaded, _) =
        load(&files, Path::new("."), Arc::new(Sources::new()), LoadOptions::default());
    let plan = json!({
        "timestamp": "2026-01-01T00:00:00Z", "resource_changes": [], "resource_drift": [],
        "output_changes": {
            "o": {"actions": ["create"], "before": null, "after_unknown": true,
                "before_sensitive": false, "after_sensitive": false},
        },
    });
    let mut plan = crate::reader::read_plan(&plan, &json!({"provider_schemas": {}}));
    plan.schemas = schemas();
    let found = relevant_attributes(&loaded, &plan);
    let found: Vec<String> =
        found.iter().map(|found| format!("{} {}", found.resource, found.path)).collect();
    assert_eq!(
        found,
        [
            "module.m.x_vm.i .input",
            "x_vm.a .id",
            "x_vm.a .one.port",
            "x_vm.a .rule",
            "x_vm.b ",
            "x_vm.b[0] .port",
            "x_vm.c[\"k\"] .n",
        ]
    );
}
