use crate::support::{DAY, NOW, clock, estate_with, executing, request};
use engine::identifiers::PlanId;
use engine::record::body::Phase;
use engine::transaction::{Transaction, TransactionError};
use records::MemoryStore;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn a_plan_is_used_once() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate_with(store, clock(), 1);
    let run = executing(&estate, "p1").await;
    let reading = estate.read().await.unwrap();
    let plan = PlanId::from_stored("p1");
    assert_eq!(reading.header.clone().unwrap().under_way, std::slice::from_ref(&plan));
    assert_eq!(reading.state.serial, 1);
    let again = Transaction::begin(&estate, request("p1", "r2"), &reading).await;
    assert!(matches!(again, Err(TransactionError::Used { phase: Phase::Executing, .. })));
    let header = run.commit(DAY).await.unwrap();
    assert_eq!((header.serial, header.under_way.len()), (2, 0));
    let error = Transaction::begin(&estate, request("p1", "r2"), &reading).await.err().unwrap();
    let text = error.to_string();
    assert!(text.contains("run-p1 of ada left it done"), "{text}");
    assert!(text.contains("plumb plan"), "{text}");
    let found = Transaction::find(&estate, &plan).await.unwrap().unwrap();
    assert_eq!((found.phase, found.attempt), (Phase::Done, 1));
}

#[tokio::test]
async fn a_live_lease_answers_busy_and_a_dead_one_is_taken_over() {
    let store = Arc::new(MemoryStore::new());
    let clock = clock();
    let estate = estate_with(store, clock.clone(), 1);
    let reading = estate.read().await.unwrap();
    let dead = Transaction::begin(&estate, request("p1", "r1"), &reading).await.unwrap();
    let busy = Transaction::begin(&estate, request("p1", "r2"), &reading).await;
    assert!(matches!(busy, Err(TransactionError::Busy { until, .. }) if until == NOW + 900));
    clock.0.store(NOW + 901, Ordering::Relaxed);
    let mut next = request("p1", "r2");
    next.lease_until = NOW + 2000;
    let next = Transaction::begin(&estate, next, &reading).await.unwrap();
    // Whoever was only slow finds out before anything is changed.
    let late = dead.execute(reading.clone(), None).await;
    assert!(matches!(late, Err(TransactionError::TakenOver { .. })));
    let next = next.execute(reading, None).await.unwrap();
    let found = Transaction::find(&estate, &PlanId::from_stored("p1")).await.unwrap().unwrap();
    assert_eq!((found.attempt, found.phase), (2, Phase::Executing));
    assert!(next.commit(DAY).await.unwrap().under_way.is_empty());
}

#[tokio::test]
async fn what_is_put_off_may_be_tried_again_and_what_is_rejected_may_not() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate_with(store, clock(), 1);
    let reading = estate.read().await.unwrap();
    let begun = Transaction::begin(&estate, request("p1", "r1"), &reading).await.unwrap();
    begun.put_off().await.unwrap();
    assert!(estate.read_header().await.unwrap().unwrap().under_way.is_empty());
    let begun = Transaction::begin(&estate, request("p1", "r2"), &reading).await.unwrap();
    begun.reject().await.unwrap();
    let again = Transaction::begin(&estate, request("p1", "r3"), &reading).await;
    assert!(matches!(again, Err(TransactionError::Used { phase: Phase::Rejected, .. })));
}

#[tokio::test]
async fn another_plan_of_the_same_name_is_not_taken_over() {
    let estate = estate_with(Arc::new(MemoryStore::new()), clock(), 1);
    let reading = estate.read().await.unwrap();
    let begun = Transaction::begin(&estate, request("p1", "r1"), &reading).await.unwrap();
    begun.put_off().await.unwrap();
    let mut forged = request("p1", "r2");
    forged.plan_digest = "other".into();
    let again = Transaction::begin(&estate, forged, &reading).await;
    assert!(matches!(again, Err(TransactionError::Used { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_transactions_raise_the_serial_together() {
    let store = Arc::new(MemoryStore::new());
    let reading = estate_with(store.clone(), clock(), 1).read().await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let (store, reading) = (store.clone(), reading.clone());
            tokio::spawn(async move {
                let estate = estate_with(store, clock(), 10 + n);
                let request = request(&format!("p{n}"), "r");
                let begun = Transaction::begin(&estate, request, &reading).await.unwrap();
                begun.execute(reading, None).await.unwrap().commit(DAY).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let header = estate_with(store, clock(), 99).read_header().await.unwrap().unwrap();
    assert_eq!((header.serial, header.under_way.len()), (16, 0));
}
