//! A transaction that dies after each of its writes, and the one that comes after it.

use crate::support::{
    NOW, TestClock, address, call, clock, estate_with, instance, members_now, request, undecided,
};
use engine::estate::Estate;
use engine::record::body::{ClaimState, ClaimedAction};
use engine::recorder::{Recorder, Step};
use engine::transaction::{Begun, Transaction};
use engine::verdict::RejectCode;
use records::testing::{Answer, ObservedStore, Write};
use records::{MemoryStore, RecordStore};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

const CREATE: (&str, ClaimedAction) = ("test_thing.a", ClaimedAction::Create);
const UPDATE: (&str, ClaimedAction) = ("test_thing.b", ClaimedAction::Update);

/// Everything that an apply does. Says what was asked of the provider and not recorded yet.
async fn apply(estate: &Estate, plan: &str, asked: &AtomicBool) {
    let members = members_now(estate, &[CREATE, UPDATE]).await;
    let begun = Transaction::begin(estate, request(plan, "r1")).await.unwrap();
    let Begun::Undecided(mut begun) = begun else { panic!("decided before") };
    assert_eq!(begun.claim(members, None).await.unwrap(), []);
    let reading = estate.read().await.unwrap();
    let run = begun.execute(reading, None).await.unwrap();
    for (name, action) in [CREATE, UPDATE] {
        let a = address(name);
        run.recorder().begin(&a, &call(action)).await.unwrap();
        asked.store(action == ClaimedAction::Create, Ordering::SeqCst);
        run.recorder().write(&a, &instance("new"), Step::Done).await.unwrap();
        asked.store(false, Ordering::SeqCst);
    }
    run.commit().await.unwrap();
}

async fn prepared(store: Arc<MemoryStore>, clock: Arc<TestClock>) {
    let estate = estate_with(store, clock, 9);
    let begun = undecided(&estate, request("p0", "r0")).await;
    let reading = estate.read().await.unwrap();
    let run = begun.execute(reading, None).await.unwrap();
    run.recorder().write(&address(UPDATE.0), &instance("old"), Step::Done).await.unwrap();
    run.commit().await.unwrap();
}

/// `false` once the transaction ended before its last write.
async fn dies_after(last: u64, lose_answers: bool) -> bool {
    let (below, clock) = (Arc::new(MemoryStore::new()), clock());
    prepared(below.clone(), clock.clone()).await;
    let died = Arc::new(Notify::new());
    let observer = died.clone();
    let store = ObservedStore::new(below.clone(), move |write: &Write| {
        if write.number >= last {
            observer.notify_one();
            return Answer::Withhold;
        }
        if lose_answers { Answer::Lose } else { Answer::Deliver }
    });
    let asked = AtomicBool::new(false);
    let dying = estate_with(Arc::new(store), clock.clone(), 1);
    let is_dead = tokio::select! {
        () = apply(&dying, "p1", &asked) => false,
        () = died.notified() => true,
    };
    clock.0.store(NOW + 200, Ordering::Relaxed);
    let estate = estate_with(below.clone(), clock.clone(), 2);
    let reading = estate.read().await.unwrap();
    let claim = reading.records.get(&address(CREATE.0)).and_then(|f| f.claim.clone());
    let was_in_flight = claim.is_some_and(|claim| claim.state == ClaimState::Applying);
    let recorded = reading.state.instances.contains_key(&address(CREATE.0));
    // What was asked has left its trace before it was asked, or its result.
    assert!(!asked.load(Ordering::SeqCst) || was_in_flight || recorded, "after {last}");
    let members = members_now(&estate, &[CREATE, UPDATE]).await;
    let mut next = undecided(&estate, request("p2", "r2")).await;
    let mut verdicts = next.claim(members, None).await.unwrap();
    if !verdicts.is_empty() && verdicts.iter().all(|v| v.code == Some(RejectCode::Stale)) {
        // The takeover itself has moved what was in flight: a plan of what is recorded now holds.
        next.reject().await.unwrap();
        let members = members_now(&estate, &[CREATE, UPDATE]).await;
        next = undecided(&estate, request("p3", "r3")).await;
        verdicts = next.claim(members, None).await.unwrap();
    }
    let doubted = verdicts.iter().any(|v| v.code == Some(RejectCode::InDoubt));
    assert_eq!(doubted, was_in_flight, "after {last}: {verdicts:?}");
    match doubted {
        true => next.reject().await.unwrap(),
        false => {
            assert_eq!(verdicts, [], "after {last}");
            let reading = estate.read().await.unwrap();
            let run = next.execute(reading, None).await.unwrap();
            run.commit().await.unwrap();
        }
    }
    let reading = estate.read().await.unwrap();
    assert!(reading.strays.is_empty(), "after {last}");
    assert_eq!(reading.header.unwrap().under_way, [], "after {last}: nothing is claimed forever");
    assert!(!below.list("").await.unwrap().is_empty());
    is_dead
}

#[tokio::test]
async fn whatever_the_last_write_was_nothing_is_lost_repeated_or_claimed_forever() {
    for lose_answers in [false, true] {
        let mut last = 1;
        while dies_after(last, lose_answers).await {
            last += 1;
        }
        assert!(last > 10, "{last} writes");
    }
}
