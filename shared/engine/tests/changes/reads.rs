//! What the changes of a plan looked at.

use crate::harness::TestEstate;
use engine::plan::{Plan, PlanMode};
use engine::reads::LookedAt;
use engine::state::{InstanceState, State};
use proptest::prelude::*;
use std::sync::Arc;
use values::Value;

/// One line for each instance that is not changed itself.
fn looked_at(plan: &Plan) -> Vec<String> {
    let changed: Vec<_> = plan
        .changes
        .resources
        .iter()
        .filter(|c| c.action != engine::changes::Action::NoOp)
        .map(|c| c.address.clone())
        .collect();
    let read = plan.reads.instances.iter().filter(|(address, _)| !changed.contains(address));
    read.map(|(address, looked_at)| match looked_at {
        LookedAt::Whole => address.to_string(),
        LookedAt::Paths(paths) => {
            let paths: Vec<_> = paths.iter().map(|read| read.path.to_string()).collect();
            format!("{address} [{}]", paths.join(" "))
        }
        LookedAt::Configuring(_) => format!("{address} (configuring)"),
    })
    .collect()
}

const BASE: &str = r#"
resource "terraform_data" "vpc" {
  input = { id = "vpc-1", cidr = "10", tags = { team = "a", env = "b" } }
}
resource "terraform_data" "other" {
  input = { id = "other-1", zone = "z" }
}
resource "terraform_data" "many" {
  for_each = toset(["a", "b"])
  input    = { id = "many-${each.key}", size = 1 }
}
"#;

async fn after_base() -> TestEstate {
    let estate = TestEstate::new();
    estate.apply(BASE).await;
    estate
}

/// What a new instance looks at, given as its arguments and what else stands in the configuration.
async fn assert_reads(more: &str, arguments: &str, expected: &[&str]) {
    let estate = after_base().await;
    let text = format!("{BASE}{more}\nresource \"terraform_data\" \"new\" {{\n{arguments}\n}}\n");
    assert_eq!(looked_at(&estate.plan(&text).await), expected, "{more}{arguments}");
}

#[tokio::test]
async fn what_a_command_is_run_with_once_the_instance_is_made() {
    let provisioners = r#"
  provisioner "local-exec" {
    command     = "${self.id} ${terraform_data.vpc.output.id}"
    environment = { ZONE = terraform_data.other.output.zone }
  }
  provisioner "local-exec" {
    when    = destroy
    command = self.id
  }
"#;
    let expected = ["terraform_data.other [.output.zone]", "terraform_data.vpc [.output.id]"];
    assert_reads("", provisioners, &expected).await;
}

#[tokio::test]
async fn attributes_by_their_paths() {
    let vpc = "input = terraform_data.vpc.output.id";
    assert_reads("", vpc, &["terraform_data.vpc [.output.id]"]).await;
    let tags = "input = [terraform_data.vpc.output.tags.team, terraform_data.vpc.output.tags]";
    assert_reads("", tags, &["terraform_data.vpc [.output.tags]"]).await;
    let one = "input = terraform_data.many[\"a\"].output.id";
    assert_reads("", one, &["terraform_data.many[\"a\"] [.output.id]"]).await;
    let absent = "input = try(terraform_data.vpc.output.nothing, 1)";
    assert_reads("", absent, &["terraform_data.vpc [.output.nothing]"]).await;
    assert_reads("", "input = 1\ndepends_on = [terraform_data.vpc]", &[]).await;
}

#[tokio::test]
async fn the_branch_taken() {
    let condition = "input = terraform_data.vpc.output.cidr == \"10\" ? terraform_data.other.id : terraform_data.many[\"a\"].id";
    assert_reads(
        "",
        condition,
        &["terraform_data.other [.id]", "terraform_data.vpc [.output.cidr]"],
    )
    .await;
}

#[tokio::test]
async fn through_locals_with_the_path_used() {
    let locals = r#"
locals {
  alias = terraform_data.vpc
  built = { vpc = local.alias.output, other = terraform_data.other.output, n = "${terraform_data.many["b"].id}" }
  last  = local.built
}
"#;
    let vpc = "input = local.last.vpc.id";
    assert_reads(locals, vpc, &["terraform_data.vpc [.output.id]"]).await;
    let n = "input = \"${local.last.n}\"";
    assert_reads(locals, n, &["terraform_data.many[\"b\"] [.id]"]).await;
    assert_reads(
        locals,
        "input = local.last",
        &[
            "terraform_data.many[\"b\"] [.id]",
            "terraform_data.other [.output]",
            "terraform_data.vpc [.output]",
        ],
    )
    .await;
}

#[tokio::test]
async fn of_elements_what_is_used() {
    let ids = "input = [for k, v in terraform_data.many : v.output.id]";
    let each =
        &["terraform_data.many[\"a\"] [.output.id]", "terraform_data.many[\"b\"] [.output.id]"];
    assert_reads("", ids, each).await;
    let local = "locals {\n  all = { many = terraform_data.many }\n}\n";
    assert_reads(
        local,
        "input = values(local.all.many)[*].output.id",
        &["terraform_data.many[\"a\"]", "terraform_data.many[\"b\"]"],
    )
    .await;
    let keys = "for_each = terraform_data.many\ninput = each.key";
    let there = &["terraform_data.many[\"a\"] []", "terraform_data.many[\"b\"] []"];
    assert_reads("", keys, there).await;
    let values = "for_each = terraform_data.many\ninput = each.value.output.size";
    let sizes =
        &["terraform_data.many[\"a\"] [.output.size]", "terraform_data.many[\"b\"] [.output.size]"];
    assert_reads("", values, sizes).await;
}

#[tokio::test]
async fn which_instances_there_are_of_a_resource_used_whole() {
    let estate = after_base().await;
    let new = |input: &str| {
        format!("{BASE}resource \"terraform_data\" \"new\" {{\n  input = {input}\n}}\n")
    };
    let sets =
        |plan: &Plan| plan.reads.key_sets.iter().map(ToString::to_string).collect::<Vec<_>>();
    let whole = estate.plan(&new("length(terraform_data.many)")).await;
    assert_eq!(sets(&whole), ["terraform_data.many"]);
    let one = estate.plan(&new("terraform_data.many[\"a\"].id")).await;
    assert!(sets(&one).is_empty());
}

#[tokio::test]
async fn through_modules_and_their_expansion() {
    let estate = after_base().await;
    let root = r#"
module "m" {
  source   = "./m"
  for_each = { x = terraform_data.vpc, y = terraform_data.other }
  passed   = each.value
  narrow   = { id = terraform_data.many["a"].output.id }
}
resource "terraform_data" "new" {
  input = module.m["x"].id
}
"#;
    let module = r#"
variable "passed" {}
variable "narrow" {
  type = map(string)
}
output "id" {
  value = var.passed.output.id
}
output "narrow" {
  value = var.narrow["id"]
}
resource "terraform_data" "inside" {
  input = var.narrow
}
"#;
    let root = format!("{BASE}{root}");
    let files = [("main.tf", root.as_str()), ("m/main.tf", module)];
    let (_, _, diagnostics) = estate.apply_in(&files, &[], PlanMode::Normal).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    let changed = root.replace("module.m[\"x\"].id", "\"${module.m[\"x\"].id}!\"");
    let files = [("main.tf", changed.as_str()), ("m/main.tf", module)];
    let (_, plan, _) = estate.plan_in(&files, &[], PlanMode::Normal).await;
    assert_eq!(looked_at(&plan), ["terraform_data.vpc [.output.id]"]);
    let inside = module.replace("input = var.narrow", "input = [var.narrow]");
    let files = [("main.tf", root.as_str()), ("m/main.tf", inside.as_str())];
    let (_, plan, _) = estate.plan_in(&files, &[], PlanMode::Normal).await;
    // The keys of the call are written down: they rest on nothing.
    assert_eq!(looked_at(&plan), ["terraform_data.many[\"a\"] [.output.id]"]);
}

#[tokio::test]
async fn expansions_also_of_what_they_no_longer_want() {
    let estate = TestEstate::new();
    let text = |count: &str| {
        format!(
            "{BASE}resource \"terraform_data\" \"counted\" {{\n  count = {count}\n  input = count.index\n}}\n"
        )
    };
    estate.apply(&text("terraform_data.many[\"a\"].input.size + 1")).await;
    let fewer = estate.plan(&text("terraform_data.many[\"a\"].input.size")).await;
    assert_eq!(looked_at(&fewer), ["terraform_data.many[\"a\"] [.input.size]"]);
}

#[tokio::test]
async fn conditions_and_triggers_of_what_changes() {
    let lifecycle = r#"
  input = 1
  lifecycle {
    precondition {
      condition     = terraform_data.vpc.output.cidr == "10"
      error_message = "Not ${terraform_data.other.id}."
    }
    postcondition {
      condition     = self.input == 1 && terraform_data.many["a"].output.size == 1
      error_message = "No."
    }
  }
"#;
    assert_reads(
        "",
        lifecycle,
        &["terraform_data.many[\"a\"] [.output.size]", "terraform_data.vpc [.output.cidr]"],
    )
    .await;
    let estate = TestEstate::new();
    let text = |input: u8| {
        format!(
            "{BASE}resource \"terraform_data\" \"new\" {{\n  input = {input}\n  lifecycle {{\n    replace_triggered_by = [terraform_data.many[\"b\"].output, terraform_data.other]\n  }}\n}}\n"
        )
    };
    estate.apply(&text(1)).await;
    let plan = estate.plan(&text(2)).await;
    assert_eq!(looked_at(&plan), ["terraform_data.many[\"b\"] [.output]", "terraform_data.other"]);
}

#[tokio::test]
async fn dependents_of_what_goes_for_being_there() {
    let estate = TestEstate::new();
    let text = |keep: &str| {
        format!(
            "{BASE}resource \"terraform_data\" \"gone\" {{\n  triggers_replace = \"{keep}\"\n}}\nresource \"terraform_data\" \"dependent\" {{\n  input = terraform_data.gone.triggers_replace == null ? 1 : 1\n}}\n"
        )
    };
    estate.apply(&text("1")).await;
    let replaced = estate.plan(&text("2")).await;
    assert_eq!(looked_at(&replaced), ["terraform_data.dependent []"]);
}

#[tokio::test]
async fn what_changes_nothing_looks_at_nothing() {
    let estate = TestEstate::new();
    let text = format!(
        "{BASE}resource \"terraform_data\" \"new\" {{\n  input = terraform_data.vpc.id\n}}\noutput \"o\" {{\n  value = terraform_data.other.id\n}}\n"
    );
    estate.apply(&text).await;
    let plan = estate.plan(&text.replace("terraform_data.other.id", "1")).await;
    assert!(plan.reads.instances.is_empty() && plan.reads.key_sets.is_empty());
}

#[tokio::test]
async fn a_long_chain_and_many_readers_cost_no_more_than_their_number() {
    let mut text = BASE.to_owned();
    text.push_str("locals {\n  l0 = terraform_data.vpc.output.id\n");
    for i in 1..2000 {
        text.push_str(&format!(
            "  l{i} = local.l{} == \"\" ? 1 : terraform_data.other.id\n",
            i - 1
        ));
    }
    text.push_str(
        "}\nresource \"terraform_data\" \"new\" {\n  count = 2000\n  input = local.l1999\n}\n",
    );
    let estate = after_base().await;
    let plan = estate.plan(&text).await;
    assert_eq!(looked_at(&plan), ["terraform_data.other [.id]", "terraform_data.vpc [.output.id]"]);
}

/// Configuration made at random: values that refer to each other and to resources in all ways.
#[derive(Clone, Debug)]
struct Made {
    locals: Vec<String>,
    wanted: Vec<String>,
}

fn attribute() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("c")]
}

fn text(locals: usize) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        (0..4, attribute()).prop_map(|(i, a)| format!("terraform_data.s{i}.output.{a}")),
        (0..2, attribute()).prop_map(|(k, a)| format!("terraform_data.m[\"k{k}\"].output.{a}")),
        (0..2, attribute()).prop_map(|(k, a)| format!("terraform_data.n[{k}].output.{a}")),
        attribute().prop_map(|a| format!("module.x.{a}")),
        attribute().prop_map(|a| format!("module.x.whole.output.{a}")),
        attribute()
            .prop_map(|a| format!("join(\"\", [for k, v in terraform_data.m : v.output.{a}])")),
        attribute().prop_map(|a| format!("join(\"\", terraform_data.n[*].output.{a})")),
        Just("join(\"\", keys(terraform_data.m))".to_owned()),
        (0..locals.max(1)).prop_map(move |i| match locals {
            0 => "\"constant\"".to_owned(),
            _ => format!("local.t{i}.text"),
        }),
        (0..locals.max(1), attribute()).prop_map(move |(i, a)| match locals {
            0 => "\"constant\"".to_owned(),
            _ => format!("local.t{i}.alias.output.{a}"),
        }),
        (0..locals.max(1), attribute()).prop_map(move |(i, a)| match locals {
            0 => "\"constant\"".to_owned(),
            _ => format!("[for v in local.t{i}.list : v.{a}][1]"),
        }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\"${{{a}}}-${{{b}}}\"")),
            (inner.clone(), inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c, d)| format!("(length({a}) == length({b}) ? {c} : {d})")),
            inner.clone().prop_map(|a| format!("try(terraform_data.s0.output.nope, {a})")),
            inner.clone().prop_map(|a| format!("{{ x = {a}, y = 1 }}.x")),
            inner.prop_map(|a| format!("upper({a})")),
        ]
    })
    .boxed()
}

fn made() -> impl Strategy<Value = Made> {
    let local = |i: usize| {
        (text(i), 0..4, 0..4).prop_map(|(text, s, n)| {
            format!("{{ text = {text}, alias = terraform_data.s{s}, list = [terraform_data.s{n}.output, terraform_data.s{s}.output] }}")
        })
    };
    let locals = (local(0), local(1), local(2)).prop_map(|(a, b, c)| vec![a, b, c]);
    (locals, prop::collection::vec(text(3), 1..3))
        .prop_map(|(locals, wanted)| Made { locals, wanted })
}

const SOURCES: &str = r#"
resource "terraform_data" "s0" {
  input = { a = "s0a", b = "s0b", c = "s0c" }
}
resource "terraform_data" "s1" {
  input = { a = "s1a", b = "s1b", c = "s1c" }
}
resource "terraform_data" "s2" {
  input = { a = "s2a", b = "s2b", c = "s2c" }
}
resource "terraform_data" "s3" {
  input = { a = "s3a", b = "s3b", c = "s3c" }
}
resource "terraform_data" "m" {
  for_each = toset(["k0", "k1"])
  input    = { a = "m${each.key}a", b = "m${each.key}b", c = "m${each.key}c" }
}
resource "terraform_data" "n" {
  count = 2
  input = { a = "n${count.index}a", b = "n${count.index}b", c = "n${count.index}c" }
}
module "x" {
  source = "./x"
  one    = terraform_data.s1.output.a
  whole  = terraform_data.s2
  object = { c = terraform_data.s3.output.c }
}
"#;

const MODULE: &str = r#"
variable "one" {}
variable "whole" {}
variable "object" {}
output "a" {
  value = var.one
}
output "b" {
  value = "${var.whole.output.b}${var.one}"
}
output "c" {
  value = var.object.c
}
output "whole" {
  value = var.whole
}
"#;

impl Made {
    fn configuration(&self) -> String {
        let mut text = SOURCES.to_owned();
        text.push_str("locals {\n");
        for (i, local) in self.locals.iter().enumerate() {
            text.push_str(&format!("  t{i} = {local}\n"));
        }
        text.push_str("}\n");
        for (i, wanted) in self.wanted.iter().enumerate() {
            text.push_str(&format!(
                "resource \"terraform_data\" \"wanted{i}\" {{\n  input = {wanted}\n}}\n"
            ));
        }
        text
    }
}

/// What is planned for the wanted instances.
fn wanted(plan: &Plan) -> Vec<Value> {
    let changes = plan.changes.resources.iter();
    changes
        .filter(|c| c.address.resource.name.starts_with("wanted"))
        .map(|c| c.after.attribute("input").unwrap())
        .collect()
}

/// Another state, in which everything that was not looked at is different.
fn perturbed(state: &State, plan: &Plan) -> State {
    let mut state = state.clone();
    for (address, instance) in &mut state.instances {
        let looked_at = plan.reads.instances.get(address);
        let mut changed = InstanceState::clone(instance);
        let Some(object) = &mut changed.current else { continue };
        let mut attributes: serde_json::Value = serde_json::from_str(&object.attributes).unwrap();
        for name in ["a", "b", "c"] {
            let path =
                values::Path::attribute("output").child(values::PathStep::Attribute(name.into()));
            if !looked_at.is_some_and(|looked_at| looked_at.covers(&path)) {
                let old = attributes["output"]["value"][name].as_str().unwrap();
                attributes["output"]["value"][name] = format!("{old}, changed").into();
            }
        }
        object.attributes = attributes.to_string().into();
        *instance = Arc::new(changed);
    }
    state
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_was_not_looked_at_changes_nothing(made in made()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let estate = TestEstate::new();
            let files = [("main.tf", SOURCES), ("x/main.tf", MODULE)];
            let (_, _, errors) = estate.apply_in(&files, &[], PlanMode::Normal).await;
            assert!(!errors.has_errors(), "{errors:#?}");
            let text = made.configuration();
            let files = [("main.tf", text.as_str()), ("x/main.tf", MODULE)];
            let (_, plan, errors) = estate.plan_in(&files, &[], PlanMode::Normal).await;
            assert!(!errors.has_errors(), "{text}\n{errors:#?}");
            let before = wanted(&plan);
            assert!(before.iter().all(Value::is_wholly_known));
            estate.set_state(perturbed(&estate.state(), &plan));
            let (_, again, errors) = estate.plan_in(&files, &[], PlanMode::Normal).await;
            assert!(!errors.has_errors(), "{text}\n{errors:#?}");
            assert_eq!(before, wanted(&again), "{}\n{:#?}", text, plan.reads);
        });
    }
}
