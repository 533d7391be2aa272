//! Edits: what they claim, and what of a half done move is left to do.

use crate::support::{address, claiming, estate, executing, instance, object, request, undecided};
use engine::Target;
use engine::editing::{EditError, Edits, forget, relocate, taint};
use engine::estate::Estate;
use engine::identifiers::PlanId;
use engine::record::body::ClaimedAction;
use engine::recorder::{Recorder, Step};
use engine::state::InstanceState;
use engine::verdict::RejectCode;
use records::MemoryStore;
use std::sync::Arc;

fn target(text: &str) -> Target {
    text.parse().unwrap()
}

async fn recorded(names: &[&str]) -> Estate {
    let estate = estate(Arc::new(MemoryStore::new()));
    let run = executing(&estate, "p0").await;
    for name in names {
        run.recorder().write(&address(name), &instance(name), Step::Done).await.unwrap();
    }
    run.commit().await.unwrap();
    estate
}

async fn carry_out(estate: &Estate, plan: &str, edits: &Edits) {
    let reading = estate.read().await.unwrap();
    let mut begun = undecided(estate, request(plan, &format!("run-{plan}"))).await;
    assert_eq!(begun.claim(edits.members(&reading), None).await.unwrap(), []);
    let plan = edits.as_plan(PlanId::from_stored(plan), estate, &reading);
    let (reading, verdicts) = begun.verify(&plan, None).await.unwrap();
    assert!(verdicts.iter().all(|verdict| !verdict.is_reject()), "{verdicts:?}");
    let executing = begun.execute(reading, None).await.unwrap();
    assert_eq!(edits.carry_out(&executing).await, []);
    executing.commit().await.unwrap();
}

async fn there(estate: &Estate) -> Vec<String> {
    let state = estate.read().await.unwrap().state;
    state.instances.keys().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_module_goes_with_what_is_below_it_and_dependents_follow() {
    let estate = recorded(&[
        "module.a.test_thing.base",
        "module.a.module.in[0].test_thing.x",
        "test_thing.y",
    ])
    .await;
    let reading = estate.read().await.unwrap();
    let (told, edits) =
        relocate(&reading, &target("module.a"), &target("module.b[\"k\"]")).unwrap();
    let told: Vec<&str> = told.iter().map(|one| &*one.to).collect();
    assert_eq!(told, ["module.b[\"k\"]", "module.b[\"k\"].module.in[0]"]);
    carry_out(&estate, "p1", &edits).await;
    assert_eq!(
        there(&estate).await,
        [
            "test_thing.y",
            "module.b[\"k\"].test_thing.base",
            "module.b[\"k\"].module.in[0].test_thing.x"
        ]
    );
    let reading = estate.read().await.unwrap();
    let dependencies = |name: &str| {
        let instance = &reading.state.instances[&address(name)];
        instance.current.as_ref().unwrap().dependencies[0].to_string()
    };
    // Whoever referred to module.a.test_thing.base, also from outside, where no claim is held.
    for name in ["test_thing.y", "module.b[\"k\"].module.in[0].test_thing.x"] {
        assert_eq!(dependencies(name), "module.b.test_thing.base", "{name}");
    }
    let kept = reading.records[&address("test_thing.y")].written_by.run.as_str();
    assert_eq!(kept, "run-p1");
}

#[tokio::test]
async fn a_move_goes_on_where_an_earlier_one_died() {
    let estate = recorded(&["test_thing.a[0]", "test_thing.a[1]", "test_thing.a[2]"]).await;
    let half = recorded_move(&estate, "test_thing.a[1]", "test_thing.b[1]").await;
    carry_out(&estate, "p1", &half).await;
    let reading = estate.read().await.unwrap();
    let (_, rest) = relocate(&reading, &target("test_thing.a"), &target("test_thing.b")).unwrap();
    carry_out(&estate, "p2", &rest).await;
    assert_eq!(there(&estate).await, ["test_thing.b[0]", "test_thing.b[1]", "test_thing.b[2]"]);
    // What came from elsewhere is in the way.
    let reading = estate.read().await.unwrap();
    let other = relocate(&reading, &target("test_thing.b[0]"), &target("test_thing.b[1]"));
    assert!(matches!(other, Err(EditError::InstanceExists(_))));
}

async fn recorded_move(estate: &Estate, from: &str, to: &str) -> Edits {
    let reading = estate.read().await.unwrap();
    relocate(&reading, &target(from), &target(to)).unwrap().1
}

#[tokio::test]
async fn what_an_apply_works_on_is_not_edited() {
    let estate = recorded(&["test_thing.a[0]", "test_thing.a[1]"]).await;
    let apply = claiming(&estate, "p9", &[("test_thing.a[1]", ClaimedAction::Update)]).await;
    let reading = estate.read().await.unwrap();
    for (edits, busy) in [
        (taint(&reading.state, &address("test_thing.a[0]")).unwrap(), false),
        (taint(&reading.state, &address("test_thing.a[1]")).unwrap(), true),
        (forget(&reading.state, &[target("test_thing.a")]).unwrap().1, true),
    ] {
        let name = format!("p{busy}-{}", edits.members(&reading).len());
        let begun = &mut undecided(&estate, request(&name, &name)).await;
        let mut verdicts = begun.claim(edits.members(&reading), None).await.unwrap();
        if verdicts.is_empty() {
            let plan = edits.as_plan(PlanId::from_stored(name.as_str()), &estate, &reading);
            verdicts = begun.verify(&plan, None).await.unwrap().1;
        }
        let refused = verdicts.iter().any(|v| v.code == Some(RejectCode::Busy));
        assert_eq!(refused, busy, "{verdicts:?}");
    }
    drop(apply);
}

#[tokio::test]
async fn a_resource_that_is_meant_as_a_whole_must_not_grow_meanwhile() {
    let estate = recorded(&["test_thing.a[0]"]).await;
    let reading = estate.read().await.unwrap();
    let (_, edits) = forget(&reading.state, &[target("test_thing.a")]).unwrap();
    let run = executing(&estate, "p1").await;
    run.recorder().write(&address("test_thing.a[1]"), &instance("x"), Step::Done).await.unwrap();
    run.commit().await.unwrap();
    let mut begun = undecided(&estate, request("p2", "r2")).await;
    assert_eq!(begun.claim(edits.members(&reading), None).await.unwrap(), []);
    let plan = edits.as_plan(PlanId::from_stored("p2"), &estate, &reading);
    let (_, verdicts) = begun.verify(&plan, None).await.unwrap();
    assert_eq!(verdicts[0].code, Some(RejectCode::Stale), "{verdicts:?}");
}

#[tokio::test]
async fn deposed_objects_go_with_their_instance_and_are_not_tainted() {
    let estate = estate(Arc::new(MemoryStore::new()));
    let run = executing(&estate, "p0").await;
    let key = engine::object::DeposedKey::from_stored("00000001");
    let only = InstanceState { deposed: [(key, object("old"))].into(), ..InstanceState::default() };
    run.recorder().write(&address("test_thing.a"), &only, Step::Done).await.unwrap();
    run.commit().await.unwrap();
    let reading = estate.read().await.unwrap();
    let tainted = taint(&reading.state, &address("test_thing.a"));
    assert!(matches!(tainted, Err(EditError::OnlyDeposed(..))));
    let edits = recorded_move(&estate, "test_thing.a", "test_thing.b").await;
    carry_out(&estate, "p1", &edits).await;
    let reading = estate.read().await.unwrap();
    assert!(reading.state.instances[&address("test_thing.b")].same_objects(&only));
}
