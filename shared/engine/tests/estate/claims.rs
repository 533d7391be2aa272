//! Transactions that meet.

use crate::support::{
    address, call, claiming, clock, estate, estate_with, executing, instance, members_now, request,
    undecided,
};
use engine::estate::Estate;
use engine::record::body::{ClaimedAction, RecordKind};
use engine::recorder::{Recorder, Step};
use engine::transaction::{Executing, Terms, is_only_busy};
use engine::verdict::RejectCode;
use records::{CountingStore, MemoryStore, RecordStore};
use std::sync::Arc;
use std::time::Duration;

const A: (&str, ClaimedAction) = ("test_thing.a", ClaimedAction::Update);
const B: (&str, ClaimedAction) = ("test_thing.b", ClaimedAction::Update);

/// Two clients of an estate that has `a` and `b`.
async fn two() -> (Arc<CountingStore<MemoryStore>>, Estate, Estate) {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let clock = clock();
    let first = estate_with(store.clone(), clock.clone(), 1);
    let second = estate_with(store.clone(), clock, 2);
    let run = executing(&first, "p0").await;
    for (name, _) in [A, B] {
        run.recorder().write(&address(name), &instance("old"), Step::Done).await.unwrap();
    }
    run.commit().await.unwrap();
    (store, first, second)
}

async fn update(run: &Executing, name: &str) {
    let a = address(name);
    run.recorder().begin(&a, &call(ClaimedAction::Update)).await.unwrap();
    run.recorder().write(&a, &instance("new"), Step::Done).await.unwrap();
}

#[tokio::test]
async fn transactions_that_do_not_touch_both_commit_at_once() {
    let (_, first, second) = two().await;
    let one = claiming(&first, "p1", &[A]).await;
    let other = claiming(&second, "p2", &[B]).await;
    update(&one, A.0).await;
    update(&other, B.0).await;
    one.commit().await.unwrap();
    let header = other.commit().await.unwrap();
    assert!(header.under_way.is_empty());
    let reading = first.read().await.unwrap();
    assert!(reading.state.instances.values().all(|i| i.same_objects(&instance("new"))));
    assert!(reading.strays.is_empty());
}

#[tokio::test]
async fn a_claim_keeps_revision_and_writer_and_is_given_back_without_a_trace() {
    let (_, first, _) = two().await;
    let before = first.read().await.unwrap();
    let members = members_now(&first, &[A, ("test_thing.new", ClaimedAction::Create)]).await;
    let mut begun = undecided(&first, request("p1", "r1")).await;
    assert_eq!(begun.claim(members.clone(), None).await.unwrap(), []);
    let a = address(A.0);
    let claimed = first.read().await.unwrap();
    assert!(claimed.records[&a].claim.is_some());
    assert_eq!(claimed.records[&a].revision, before.records[&a].revision);
    assert_eq!(claimed.records[&a].written_by, before.records[&a].written_by);
    assert_eq!(claimed.records[&address("test_thing.new")].kind, RecordKind::Shell);
    begun.put_off().await.unwrap();
    let after = first.read().await.unwrap();
    assert!(after.records.values().all(|facts| facts.claim.is_none()));
    assert_eq!(after.state.instances.len(), 2);
    // The same plan may be tried again, over its own shell.
    let mut again = undecided(&first, request("p1", "r2")).await;
    assert_eq!(again.claim(members, None).await.unwrap(), []);
}

#[tokio::test]
async fn of_two_that_meet_the_larger_is_busy_and_then_stale() {
    let (_, first, second) = two().await;
    let members = members_now(&second, &[A]).await;
    let one = claiming(&first, "p1", &[A]).await;
    let mut other = undecided(&second, request("p2", "r2")).await;
    let verdicts = other.claim(members.clone(), None).await.unwrap();
    assert!(is_only_busy(&verdicts));
    let text = verdicts[0].to_string();
    assert!(text.contains("test_thing.a: the run run-p1 of ada (plan p1)"), "{text}");
    other.put_off().await.unwrap();
    update(&one, A.0).await;
    one.commit().await.unwrap();
    let mut other = undecided(&second, request("p2", "r2")).await;
    let verdicts = other.claim(members, None).await.unwrap();
    assert_eq!(verdicts[0].code, Some(RejectCode::Stale));
    assert!(verdicts[0].to_string().contains("the run run-p1 of ada wrote it"), "{}", verdicts[0]);
    other.reject().await.unwrap();
    assert!(second.read_header().await.unwrap().unwrap().under_way.is_empty());
}

#[tokio::test]
async fn of_two_that_still_claim_the_smaller_waits_for_the_larger_to_give_way() {
    let (_, first, second) = two().await;
    let members = members_now(&first, &[A, B]).await;
    let mut larger = undecided(&second, request("p2", "r2")).await;
    assert_eq!(larger.claim(members_now(&second, &[A]).await, None).await.unwrap(), []);
    let mut smaller = undecided(&first, request("p1", "r1")).await;
    let waiting = tokio::spawn(async move { smaller.claim(members, None).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    // It meets what the smaller one has claimed by now.
    let verdicts = larger.claim(members_now(&second, &[A, B]).await, None).await.unwrap();
    assert!(is_only_busy(&verdicts), "{verdicts:?}");
    larger.put_off().await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), []);
}

#[tokio::test]
async fn waiting_ends() {
    let (_, first, second) = two().await;
    let mut larger = undecided(&second, request("p2", "r2")).await;
    assert_eq!(larger.claim(members_now(&second, &[A]).await, None).await.unwrap(), []);
    let mut request = request("p1", "r1");
    request.terms = Terms { wait_for_busy: 0, ..Terms::default() };
    let mut smaller = undecided(&first, request).await;
    let verdicts = smaller.claim(members_now(&first, &[A]).await, None).await.unwrap();
    assert!(is_only_busy(&verdicts));
}

#[tokio::test]
async fn a_doubt_is_named_and_a_record_without_room_for_its_result_is_refused_before_anything_is_asked()
 {
    let (store, first, second) = two().await;
    let a = address(A.0);
    let run = claiming(&first, "p1", &[A]).await;
    run.recorder().begin(&a, &call(ClaimedAction::Create)).await.unwrap();
    run.commit().await.unwrap();
    let mut next = undecided(&second, request("p2", "r2")).await;
    let verdicts = next.claim(members_now(&second, &[A]).await, None).await.unwrap();
    assert_eq!(verdicts[0].code, Some(RejectCode::InDoubt));
    assert!(verdicts[0].to_string().contains("plumb dismiss 'test_thing.a'"), "{}", verdicts[0]);
    drop((next, store));

    let small = estate(Arc::new(MemoryStore::with_max_body_size(1000)));
    let members = members_now(&small, &[("test_thing.a", ClaimedAction::Create)]).await;
    let fits = members.clone();
    let mut begun = undecided(&small, request("p1", "r1")).await;
    assert_eq!(begun.claim(fits, None).await.unwrap(), []);
    begun.put_off().await.unwrap();
    let long = format!("test_thing.a[\"{}\"]", "x".repeat(500));
    let members = members_now(&small, &[(&long, ClaimedAction::Create)]).await;
    let mut begun = undecided(&small, request("p2", "r2")).await;
    let error = begun.claim(members, None).await.unwrap_err();
    assert!(error.to_string().contains("the store holds at most"), "{error}");
}

#[tokio::test]
async fn a_refreshed_value_gives_way_to_whoever_wrote_or_claimed_since_the_plan() {
    let (store, first, second) = two().await;
    let planned = first.read().await.unwrap();
    let b = address(B.0);
    let mut refreshed = instance("old, grown");
    refreshed.version = Some(planned.records[&b].version.clone());
    let other = claiming(&second, "p2", &[B]).await;
    let run = claiming(&first, "p1", &[A]).await;
    run.recorder().refresh(&b, &refreshed).await.unwrap();
    update(&other, B.0).await;
    other.commit().await.unwrap();
    run.recorder().refresh(&b, &refreshed).await.unwrap();
    run.commit().await.unwrap();
    let reading = first.read().await.unwrap();
    assert!(reading.state.instances[&b].same_objects(&instance("new")));
    assert!(store.get(&first.keys().instance(&b).unwrap()).await.unwrap().is_some());
}
