//! Ephemeral resources: open around what uses them, in plan and apply; kept nowhere.

use crate::harness::{TestEstate, actions};
use crate::tokens::{Tokens, World};
use engine::plan::PlanMode;
use engine::state::State;
use language::diagnostics::Diagnostics;
use values::Value;

const REQUIRED: &str = r#"
    terraform {
      required_providers {
        test = {
          source = "example.com/test/test"
        }
      }
    }
"#;

struct Scene {
    estate: TestEstate,
    world: World,
}

impl Scene {
    fn new() -> Scene {
        let world = World::default();
        let estate = TestEstate::with(world.clock.clone(), |random| {
            std::sync::Arc::new(Tokens { world: world.clone(), random })
        });
        Scene { estate, world }
    }

    /// The calls of a plan.
    #[track_caller]
    fn none_of(&self, words: &[&str]) {
        let calls = self.world.take();
        let found = calls.iter().any(|call| words.iter().any(|word| call.starts_with(word)));
        assert!(!found, "{calls:?}");
    }

    async fn plan(&self, text: &str) -> (engine::plan::Plan, Diagnostics) {
        let text = format!("{REQUIRED}{text}");
        let files = [("main.tf", text.as_str())];
        let (_, plan, diagnostics) = self.estate.plan_in(&files, &[], PlanMode::Normal).await;
        (plan, diagnostics)
    }

    /// The calls of a plan and an apply, without what is the same everywhere.
    async fn apply(&self, text: &str, mode: PlanMode) -> (Vec<String>, Vec<String>, Diagnostics) {
        let text = format!("{REQUIRED}{text}");
        let files = [("main.tf", text.as_str())];
        self.world.take();
        let (configuration, plan, diagnostics) = self.estate.plan_in(&files, &[], mode).await;
        assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
        let planned = self.world.take();
        let (_, diagnostics) = self.estate.apply_plan(&files, &configuration, plan).await;
        (planned, self.world.take(), diagnostics)
    }
}

fn summaries(diagnostics: &Diagnostics) -> Vec<&str> {
    diagnostics.iter().map(|d| d.summary.as_str()).collect()
}

fn position(calls: &[String], call: &str) -> usize {
    let found = calls.iter().position(|c| c.starts_with(call));
    found.unwrap_or_else(|| panic!("no {call:?} in {calls:?}"))
}

fn state_has(state: &State, text: &str) -> bool {
    format!("{state:?}").contains(text)
}

#[tokio::test]
async fn it_is_open_around_what_uses_it_and_no_longer() {
    let scene = Scene::new();
    let text = r#"
        ephemeral "test_token" "t" { name = "t" }
        resource "test_thing" "user" {
          name     = "user"
          password = ephemeral.test_token.t.value
        }
        resource "test_thing" "later" {
          name = test_thing.user.id
        }
    "#;
    let (planned, applied, diagnostics) = scene.apply(text, PlanMode::Normal).await;
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    assert_eq!(planned, ["configure ", "open t", "close t"]);
    let used = position(&applied, "apply user with \"token of t\"");
    assert!(position(&applied, "open t") < used);
    let closed = position(&applied, "close t");
    assert!(position(&applied, "apply user done") < closed);
    assert_eq!(applied.iter().filter(|call| call.contains("open")).count(), 1);
    assert!(!state_has(&scene.estate.state(), "token of t"));
    assert!(!state_has(&scene.estate.state(), "test_token"));
}

#[tokio::test]
async fn instances_are_opened_one_by_one_and_closed_together() {
    let scene = Scene::new();
    let text = r#"
        ephemeral "test_token" "many" {
          for_each = toset(["a", "b"])
          name     = each.key
        }
        ephemeral "test_token" "counted" {
          count = 2
          name  = "n${count.index}"
        }
        locals {
          all = join(",", [for t in ephemeral.test_token.many : t.value])
        }
        resource "test_thing" "user" {
          name     = "user"
          password = "${local.all},${ephemeral.test_token.counted[1].value}"
        }
    "#;
    let (planned, applied, _) = scene.apply(text, PlanMode::Normal).await;
    for call in ["open a", "open b", "open n0", "open n1", "close a", "close b", "close n0"] {
        position(&planned, call);
        position(&applied, call);
    }
    position(&applied, "apply user with \"token of a,token of b,token of n1\"");
}

#[tokio::test]
async fn a_provider_is_used_as_long_as_anything_of_it_is_done() {
    let scene = Scene::new();
    let text = r#"
        ephemeral "test_token" "t" { name = "t" }
        provider "test" {
          alias = "by_token"
          token = ephemeral.test_token.t.value
        }
        resource "test_thing" "user" {
          provider = test.by_token
          name     = "user"
        }
    "#;
    let (planned, applied, _) = scene.apply(text, PlanMode::Normal).await;
    for calls in [&planned, &applied] {
        let configured = position(calls, "configure token of t");
        assert!(position(calls, "open t") < configured);
        assert!(configured < position(calls, "close t"), "{calls:?}");
    }
    assert!(position(&applied, "apply user done") < position(&applied, "close t"));
    let (_, applied, diagnostics) = scene.apply(text, PlanMode::Destroy).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert!(position(&applied, "open t") < position(&applied, "delete user"));
    assert!(position(&applied, "delete user done") < position(&applied, "close t"));
}

#[tokio::test]
async fn one_that_is_made_of_another_is_closed_first() {
    let scene = Scene::new();
    let text = r#"
        ephemeral "test_token" "outer" { name = "outer" }
        ephemeral "test_token" "inner" { name = ephemeral.test_token.outer.value }
        resource "test_thing" "user" {
          name     = "user"
          password = ephemeral.test_token.inner.value
        }
    "#;
    let (_, applied, _) = scene.apply(text, PlanMode::Normal).await;
    let order =
        ["open outer", "open token of outer", "apply user done", "close token", "close outer"];
    let places: Vec<_> = order.iter().map(|call| position(&applied, call)).collect();
    assert!(places.is_sorted(), "{applied:?}");
}

#[tokio::test]
async fn what_is_not_known_yet_is_opened_while_applying() {
    let scene = Scene::new();
    let text = r#"
        resource "test_thing" "first" { name = "first" }
        ephemeral "test_token" "t" { name = test_thing.first.id }
        resource "test_thing" "user" {
          name     = "user"
          password = ephemeral.test_token.t.value
        }
    "#;
    let (planned, applied, diagnostics) = scene.apply(text, PlanMode::Normal).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(planned, ["configure "]);
    position(&applied, "apply user with \"token of id-first\"");
    position(&applied, "close id-first");
    // What a thing depends on through what was open is recorded, since it is deleted in that order.
    let state = scene.estate.state();
    let user = state.instances.iter().find(|(address, _)| &*address.resource.name == "user");
    let dependencies = &user.unwrap().1.current.as_ref().unwrap().dependencies;
    assert_eq!(
        dependencies.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["test_thing.first"]
    );
}

#[tokio::test]
async fn it_is_renewed_in_time_and_not_after_it_was_closed() {
    let scene = Scene::new();
    let text = r#"
        ephemeral "test_token" "t" {
          name  = "t"
          renew = 60
        }
        resource "test_thing" "user" {
          name     = "slow"
          password = ephemeral.test_token.t.value
        }
        resource "test_thing" "later" { name = "slow ${test_thing.user.id}" }
    "#;
    let (planned, applied, diagnostics) = scene.apply(text, PlanMode::Normal).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert!(!planned.iter().any(|call| call.starts_with("renew")), "{planned:?}");
    let renewed: Vec<_> = applied.iter().filter(|call| call.starts_with("renew")).collect();
    assert_eq!(renewed, ["renew t at 60", "renew t at 120", "renew t at 180"], "{applied:?}");
}

#[tokio::test]
async fn a_renewal_that_fails_spoils_what_comes_after() {
    let scene = Scene::new();
    let text = r#"
        ephemeral "test_token" "t" {
          name    = "t"
          renew   = 60
          fail_on = "renew"
        }
        resource "test_thing" "slow" { name = "slow" }
        resource "test_thing" "user" {
          name       = "user"
          password   = ephemeral.test_token.t.value
          depends_on = [test_thing.slow]
        }
    "#;
    let (_, applied, diagnostics) = scene.apply(text, PlanMode::Normal).await;
    assert_eq!(
        summaries(&diagnostics),
        ["Ephemeral resource instance has expired", "Renewal refused"]
    );
    assert_eq!(applied.iter().filter(|call| call.starts_with("renew")).count(), 1);
    position(&applied, "close t");
    assert!(!applied.iter().any(|call| call.starts_with("apply user")), "{applied:?}");
}

#[tokio::test]
async fn it_is_closed_whatever_fails() {
    let scene = Scene::new();
    let failing = r#"
        ephemeral "test_token" "t" { name = "t" }
        resource "test_thing" "user" {
          name     = "fails"
          password = ephemeral.test_token.t.value
        }
    "#;
    let (_, applied, diagnostics) = scene.apply(failing, PlanMode::Normal).await;
    assert_eq!(summaries(&diagnostics), ["Apply refused"]);
    position(&applied, "close t");

    let refused = r#"
        ephemeral "test_token" "good" { name = "good" }
        ephemeral "test_token" "bad" {
          name    = "bad"
          fail_on = "open"
        }
        resource "test_thing" "user" {
          name     = "user"
          password = "${ephemeral.test_token.good.value}${ephemeral.test_token.bad.value}"
        }
    "#;
    let (_, diagnostics) = scene.plan(refused).await;
    assert_eq!(summaries(&diagnostics), ["Open refused"]);
    let calls = scene.world.take();
    position(&calls, "close good");
    assert!(!calls.iter().any(|call| call == "close bad"), "{calls:?}");

    let spoilt = r#"
        ephemeral "test_token" "t" {
          name = "t"
          lifecycle {
            postcondition {
              condition     = self.value == "another"
              error_message = "Not this one."
            }
          }
        }
        ephemeral "test_token" "u" {
          name = "u"
          lifecycle {
            precondition {
              condition     = ephemeral.test_token.t.value == "another"
              error_message = "Never asked."
            }
          }
        }
    "#;
    let (_, diagnostics) = scene.plan(spoilt).await;
    assert_eq!(summaries(&diagnostics), ["Resource postcondition failed"]);
    assert_eq!(scene.world.take(), ["configure ", "open t", "close t"]);
}

#[tokio::test]
async fn it_is_closed_when_the_operation_is_stopped() {
    let scene = Scene::new();
    let stop = scene.estate.stop.clone();
    *scene.world.meanwhile.lock().unwrap() = Some(Box::new(move || {
        stop.request();
    }));
    let text = r#"
        ephemeral "test_token" "t" { name = "t" }
        resource "test_thing" "user" {
          name     = "slow"
          password = ephemeral.test_token.t.value
        }
        resource "test_thing" "never" {
          name     = test_thing.user.id
          password = ephemeral.test_token.t.value
        }
    "#;
    let (_, applied, _) = scene.apply(text, PlanMode::Normal).await;
    position(&applied, "close t");
    assert!(!applied.iter().any(|call| call.starts_with("apply id-slow")), "{applied:?}");
}

#[tokio::test]
async fn a_failure_to_close_is_reported() {
    let scene = Scene::new();
    let text = r#"
        ephemeral "test_token" "t" {
          name    = "t"
          fail_on = "close"
        }
    "#;
    let (_, diagnostics) = scene.plan(text).await;
    assert_eq!(summaries(&diagnostics), ["Close refused"]);
    let error = diagnostics.iter().next().unwrap();
    assert_eq!(error.address.as_deref(), Some("ephemeral.test_token.t"));
}

#[tokio::test]
async fn what_would_be_stored_is_refused() {
    let scene = Scene::new();
    let with = |more: &str| format!("ephemeral \"test_token\" \"t\" {{ name = \"t\" }}\n{more}");
    let refused = [
        (
            r#"resource "test_thing" "x" { name = ephemeral.test_token.t.value }"#,
            "Invalid use of ephemeral value",
        ),
        (r#"output "o" { value = ephemeral.test_token.t.value }"#, "Ephemeral value not allowed"),
        (
            r#"resource "test_thing" "x" {
                 count = ephemeral.test_token.t.value == "" ? 0 : 1
                 name  = "x"
               }"#,
            "Invalid count argument",
        ),
        (
            r#"resource "test_thing" "x" {
                 for_each = toset([ephemeral.test_token.t.value])
                 name     = "x"
               }"#,
            "Invalid for_each argument",
        ),
        (
            r#"ephemeral "test_token" "x" {
                 count = ephemeral.test_token.t.value == "" ? 0 : 1
                 name  = "x"
               }"#,
            "Invalid count argument",
        ),
        (r#"ephemeral "test_thing" "x" { name = "x" }"#, "Invalid ephemeral resource"),
        (
            r#"ephemeral "test_token" "x" { name = ephemeral.test_token.x.value }"#,
            "Self-referential block",
        ),
        (
            r#"ephemeral "test_token" "x" { name = ephemeral.test_token.t.nothing }"#,
            "Unsupported attribute",
        ),
    ];
    for (more, summary) in refused {
        let (_, diagnostics) = scene.plan(&with(more)).await;
        assert_eq!(summaries(&diagnostics), [summary], "{more}");
        scene.none_of(&["open"]);
    }
}

#[tokio::test]
async fn nothing_of_it_decides_what_a_plan_rests_on() {
    let scene = Scene::new();
    let base = r#"resource "test_thing" "base" { name = "base" }"#;
    scene.apply(base, PlanMode::Normal).await;
    let text = format!(
        r#"{base}
        ephemeral "test_token" "t" {{ name = test_thing.base.id }}
        resource "test_thing" "user" {{
          name     = "user"
          password = ephemeral.test_token.t.value
        }}"#
    );
    let (plan, diagnostics) = scene.plan(&text).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(actions(&plan), ["test_thing.user Create"]);
    let looked_at: Vec<_> =
        plan.reads.instances.iter().map(|(a, l)| format!("{a} {l:?}")).collect();
    assert_eq!(looked_at.len(), 1, "{looked_at:?}");
    assert!(looked_at[0].starts_with("test_thing.base Configuring"), "{looked_at:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_of_providers_are_called() {
    let scene = Scene::new();
    let text = r#"
        resource "terraform_data" "a" { input = provider::test::join("-", "x", 1) }
        output "known" { value = provider::test::join("+", terraform_data.a.input, "y") }
        output "unknown" { value = provider::test::join("+", terraform_data.a.id) }
        output "tried" { value = try(provider::test::join("", ""), "nothing") }
    "#;
    let (plan, diagnostics) = scene.plan(text).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:#?}");
    assert_eq!(plan.changes.outputs["known"].after, Value::string("x-1+y"));
    assert!(!plan.changes.outputs["unknown"].after.is_known());
    assert_eq!(plan.changes.outputs["tried"].after, Value::string("nothing"));
    let calls = scene.world.take();
    assert!(!calls.iter().any(|call| call.starts_with("configure")), "{calls:?}");

    let refused = [
        (
            "provider::test::join()",
            "Not enough function arguments",
            "Missing value for \"separator\".",
        ),
        ("provider::test::join(null)", "Invalid function argument", "argument must not be null"),
        (
            "provider::test::join([])",
            "Invalid function argument",
            "\"separator\" parameter: string required",
        ),
        (
            "provider::test::join(\"\", \"a\", \"\")",
            "Invalid function argument",
            "Invalid value for \"parts\" parameter: a part must not be empty.",
        ),
        (
            "provider::test::split()",
            "Unknown provider function",
            "The function \"split\" is not available from the provider \"test\".",
        ),
        (
            "provider::other::join()",
            "Unknown provider function",
            "There is no function named \"provider::other::join\".",
        ),
        (
            "provider::test::x::join()",
            "Unknown provider function",
            "There is no function named \"provider::test::x::join\".",
        ),
        ("provider::join()", "Unknown provider function", "must include the provider name"),
    ];
    for (call, summary, detail) in refused {
        let (_, diagnostics) = scene.plan(&format!("output \"o\" {{ value = {call} }}")).await;
        assert_eq!(summaries(&diagnostics), [summary], "{call}");
        let found = &diagnostics.iter().next().unwrap().detail;
        assert!(found.contains(detail), "{call}: {found}");
    }
}
