use crate::support::{
    Counter, NOW, address, call, claiming, clock, estate_with, executing, instance, members_now,
    request, undecided,
};
use engine::clock::Clock;
use engine::estate::Estate;
use engine::identifiers::PlanId;
use engine::record::body::{ClaimState, ClaimedAction, Phase};
use engine::record::key::EstateName;
use engine::recorder::{Call, CallRefused, NothingMore, Recorder, Step};
use engine::transaction::{Begun, Standing, Terms, Transaction, TransactionError, is_only_busy};
use records::testing::{Answer, ObservedStore, Write};
use records::{MemoryStore, RecordStore};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

#[tokio::test]
async fn a_plan_is_used_once() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate_with(store, clock(), 1);
    let run = executing(&estate, "p1").await;
    let reading = estate.read().await.unwrap();
    let plan = PlanId::from_stored("p1");
    assert_eq!(reading.header.unwrap().under_way, std::slice::from_ref(&plan));
    assert_eq!(reading.state.serial, 1);
    let again = Transaction::begin(&estate, request("p1", "r2")).await;
    assert!(matches!(again, Err(TransactionError::Busy { until, .. }) if until == NOW + 60));
    let header = run.commit().await.unwrap();
    assert_eq!((header.serial, header.under_way.len()), (2, 0));
    let error = Transaction::begin(&estate, request("p1", "r2")).await.err().unwrap();
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
    let dead = undecided(&estate, request("p1", "r1")).await;
    let busy = Transaction::begin(&estate, request("p1", "r2")).await.err().unwrap();
    assert!(busy.to_string().contains("applied by the run r1 of ada"), "{busy}");
    clock.0.store(NOW + 66, Ordering::Relaxed);
    let next = undecided(&estate, request("p1", "r2")).await;
    // Whoever was only slow finds out before anything is changed.
    let reading = estate.read().await.unwrap();
    let late = dead.execute(reading.clone(), None).await;
    assert!(matches!(late, Err(TransactionError::TakenOver { .. })));
    let next = next.execute(reading, None).await.unwrap();
    let found = Transaction::find(&estate, &PlanId::from_stored("p1")).await.unwrap().unwrap();
    assert_eq!((found.attempt, found.phase), (2, Phase::Executing));
    assert!(next.commit().await.unwrap().under_way.is_empty());
}

#[tokio::test]
async fn what_was_decided_goes_on_in_another_invocation_from_the_records_alone() {
    let store = Arc::new(MemoryStore::new());
    let clock = clock();
    let estate = estate_with(store.clone(), clock.clone(), 1);
    let names = ["done", "failed", "flying", "open", "unfinished", "within"]
        .map(|n| format!("test_thing.{n}"));
    let creates: Vec<_> = names.iter().map(|n| (n.as_str(), ClaimedAction::Create)).collect();
    let members = members_now(&estate, &creates).await;
    let run = claiming(&estate, "p1", &creates).await;
    assert!(run.progress().is_fresh());
    let recorder = run.recorder();
    for (name, step) in [
        ("done", Some(Step::Done)),
        ("failed", Some(Step::Failed)),
        ("flying", None),
        ("unfinished", Some(Step::Unfinished)),
    ] {
        let a = address(&format!("test_thing.{name}"));
        recorder.begin(&a, &call(ClaimedAction::Create)).await.unwrap();
        if let Some(step) = step {
            recorder.write(&a, &instance(name), step).await.unwrap();
        }
    }
    let within = Call { reaches_outside: false, ..call(ClaimedAction::Create) };
    recorder.begin(&address("test_thing.within"), &within).await.unwrap();
    // The process dies; the next one has nothing but the store.
    drop((run, recorder));
    clock.0.store(NOW + 66, Ordering::Relaxed);
    let estate = estate_with(store, clock, 2);
    let Begun::Decided(resumed) = Transaction::begin(&estate, request("p1", "r2")).await.unwrap()
    else {
        panic!("it was decided")
    };
    assert_eq!(resumed.attempt().await, 2);
    let run = resumed.go_on(members, None).await.unwrap();
    let progress = run.progress();
    assert!(!progress.is_fresh());
    let standing =
        |name: &str| progress.members[&address(&format!("test_thing.{name}"))].standing.clone();
    assert_eq!(standing("done"), Standing::Done { failed: false });
    assert_eq!(standing("failed"), Standing::Done { failed: true });
    assert!(matches!(standing("flying"), Standing::InFlight(_)));
    assert!(matches!(standing("unfinished"), Standing::Unfinished(_)));
    for to_do in ["open", "within"] {
        assert!(matches!(standing(to_do), Standing::ToDo(claim) if !claim.begun), "{to_do}");
    }
    let done = &progress.members[&address("test_thing.done")].state;
    assert!(done.same_objects(&instance("done")));
    // What the first run could not know is written by the second, as the same run.
    let flying = address("test_thing.flying");
    run.recorder().write(&flying, &instance("adopted"), Step::Done).await.unwrap();
    run.commit().await.unwrap();
    let reading = estate.read().await.unwrap();
    assert_eq!(reading.records[&flying].written_by.run.as_str(), "run-p1");
    assert!(reading.records.values().all(|facts| facts.doubt.is_none()));
}

#[tokio::test]
async fn what_is_left_to_the_next_invocation_is_free_for_it_at_once_and_for_others_later() {
    let clock = clock();
    let estate = estate_with(Arc::new(MemoryStore::new()), clock.clone(), 1);
    let action = [("test_thing.a", ClaimedAction::Create)];
    let members = members_now(&estate, &action).await;
    let run = claiming(&estate, "p1", &action).await;
    assert_eq!(run.pause().await.unwrap(), 1, "nothing was brought forward");
    let mut other = undecided(&estate, request("p2", "r2")).await;
    let verdicts = other.claim(members.clone(), None).await.unwrap();
    assert!(is_only_busy(&verdicts), "{verdicts:?}");
    other.put_off().await.unwrap();
    let Begun::Decided(next) = Transaction::begin(&estate, request("p1", "r1")).await.unwrap()
    else {
        panic!("it was decided")
    };
    let next = next.go_on(members.clone(), None).await.unwrap();
    assert_eq!(next.attempts_without_progress().await, 1);
    let a = address("test_thing.a");
    next.recorder().begin(&a, &call(ClaimedAction::Create)).await.unwrap();
    next.recorder().write(&a, &instance("i"), Step::Done).await.unwrap();
    assert_eq!(next.pause().await.unwrap(), 0);
    // Nobody goes on with it: it is in nobody's way for ever.
    clock.0.store(NOW + 36, Ordering::Relaxed);
    let mut other = undecided(&estate, request("p3", "r3")).await;
    let members = members_now(&estate, &[("test_thing.a", ClaimedAction::Update)]).await;
    assert_eq!(other.claim(members, None).await.unwrap(), []);
}

#[tokio::test]
async fn a_later_attempt_makes_the_claims_its_own_and_an_earlier_one_takes_none_back() {
    let clock = clock();
    let estate = estate_with(Arc::new(MemoryStore::new()), clock.clone(), 1);
    let a = address("test_thing.a");
    let members = members_now(&estate, &[("test_thing.a", ClaimedAction::Create)]).await;
    let attempt = async || {
        let claim = estate.read().await.unwrap().records[&a].claim.clone();
        claim.map(|claim| claim.attempt)
    };
    let mut suspended = undecided(&estate, request("p1", "r1")).await;
    assert_eq!(suspended.claim(members.clone(), None).await.unwrap(), []);
    assert_eq!(attempt().await, Some(1));
    clock.0.store(NOW + 66, Ordering::Relaxed);
    let mut next = undecided(&estate, request("p1", "r1")).await;
    assert_eq!(next.claim(members, None).await.unwrap(), []);
    assert_eq!(attempt().await, Some(2));
    // It wakes up, and gives up.
    let late = suspended.put_off().await;
    assert!(matches!(late, Err(TransactionError::TakenOver { .. })));
    assert_eq!(attempt().await, Some(2));
}

#[tokio::test]
async fn a_lease_that_is_over_begins_nothing() {
    let clock = clock();
    let estate = estate_with(Arc::new(MemoryStore::new()), clock.clone(), 1);
    let run = claiming(&estate, "p1", &[("test_thing.a", ClaimedAction::Create)]).await;
    let a = address("test_thing.a");
    let begin = async || run.recorder().begin(&a, &call(ClaimedAction::Create)).await;
    clock.0.store(NOW + 55, Ordering::Relaxed);
    let refused = begin().await.unwrap_err();
    assert!(matches!(refused, CallRefused::NothingMore(NothingMore::LeaseEnded)), "{refused}");
    clock.0.store(NOW + 54, Ordering::Relaxed);
    begin().await.unwrap();
}

#[tokio::test]
async fn what_is_put_off_may_be_tried_again_and_what_is_rejected_may_not() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate_with(store, clock(), 1);
    let begun = undecided(&estate, request("p1", "r1")).await;
    begun.put_off().await.unwrap();
    assert!(estate.read_header().await.unwrap().unwrap().under_way.is_empty());
    let begun = undecided(&estate, request("p1", "r2")).await;
    begun.reject().await.unwrap();
    let again = Transaction::begin(&estate, request("p1", "r3")).await;
    assert!(matches!(again, Err(TransactionError::Used { phase: Phase::Rejected, .. })));
}

#[tokio::test]
async fn another_plan_of_the_same_name_is_not_taken_over() {
    let estate = estate_with(Arc::new(MemoryStore::new()), clock(), 1);
    let begun = undecided(&estate, request("p1", "r1")).await;
    begun.put_off().await.unwrap();
    let mut forged = request("p1", "r2");
    forged.plan_digest = "other".into();
    let again = Transaction::begin(&estate, forged).await;
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
                let begun = undecided(&estate, request(&format!("p{n}"), "r")).await;
                begun.execute(reading, None).await.unwrap().commit().await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let header = estate_with(store, clock(), 99).read_header().await.unwrap().unwrap();
    assert_eq!((header.serial, header.under_way.len()), (16, 0));
}

/// A clock on which only sleeping takes time, as long as it is allowed to.
#[derive(Clone)]
struct Pacemaker {
    now: Arc<AtomicI64>,
    beats: Arc<Semaphore>,
}

impl Clock for Pacemaker {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(self.now.load(Ordering::SeqCst)).unwrap()
    }
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.now.load(Ordering::SeqCst).unsigned_abs())
    }
    fn sleep(&self, pause: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let this = self.clone();
        Box::pin(async move {
            this.beats.acquire().await.unwrap().forget();
            this.now.fetch_add(i64::try_from(pause.as_secs()).unwrap(), Ordering::SeqCst);
        })
    }
}

#[tokio::test]
async fn a_heartbeat_renews_the_lease_for_as_long_as_its_process_lives() {
    let (now, beats) = (Arc::new(AtomicI64::new(NOW)), Arc::new(Semaphore::new(0)));
    let clock = Arc::new(Pacemaker { now, beats });
    let store = Arc::new(MemoryStore::new());
    let name = EstateName::new("prod").unwrap();
    let random = Arc::new(Counter(AtomicU64::new(1 << 32)));
    let estate = Estate::open(store.clone(), "state", name, clock.clone(), random).unwrap();
    let run = claiming(&estate, "p1", &[("test_thing.a", ClaimedAction::Create)]).await;
    clock.beats.add_permits(5);
    while run.renewals() < 5 {
        tokio::task::yield_now().await;
    }
    // A hundred seconds on, with a lease of sixty.
    assert_eq!(clock.seconds(), NOW + 100);
    let found = Transaction::find(&estate, &PlanId::from_stored("p1")).await.unwrap().unwrap();
    assert_eq!(found.lease_until, NOW + 160);
    let a = address("test_thing.a");
    run.recorder().begin(&a, &call(ClaimedAction::Create)).await.unwrap();
    let other = Transaction::begin(&estate, request("p1", "r2")).await;
    assert!(matches!(other, Err(TransactionError::Busy { until, .. }) if until == NOW + 160));
    // Its heart stops with it.
    drop(run);
    clock.beats.add_permits(5);
    clock.now.store(NOW + 300, Ordering::SeqCst);
    tokio::task::yield_now().await;
    let found = Transaction::find(&estate, &PlanId::from_stored("p1")).await.unwrap().unwrap();
    assert_eq!(found.lease_until, NOW + 160);
}

#[tokio::test]
async fn a_clock_that_is_not_the_stores_begins_nothing() {
    for (ahead, refused) in [(8, true), (-8, true), (7, false), (-7, false)] {
        let store = Arc::new(MemoryStore::with_clock_ahead(ahead));
        let estate = estate_with(store.clone(), clock(), 1);
        let begun = Transaction::begin(&estate, request("p1", "r1")).await;
        match begun.err() {
            None => assert!(!refused, "{ahead}"),
            Some(error) => {
                assert!(refused && matches!(error, TransactionError::Clocks { .. }), "{error}");
                let side = if ahead > 0 { "behind" } else { "ahead of" };
                let says = format!("8 seconds {side} the store's");
                assert!(error.to_string().contains(&says), "{error}");
                assert!(store.list("").await.unwrap().is_empty());
            }
        }
    }
}

#[tokio::test]
async fn a_lease_that_ends_while_a_call_is_announced_ends_the_call_too() {
    let clock = clock();
    let (slow, moved) = (Arc::new(AtomicBool::new(false)), clock.clone());
    let is_slow = slow.clone();
    let store = ObservedStore::new(MemoryStore::new(), move |_: &Write| {
        if is_slow.swap(false, Ordering::SeqCst) {
            moved.0.fetch_add(Terms::default().lease, Ordering::SeqCst);
        }
        Answer::Deliver
    });
    let estate = estate_with(Arc::new(store), clock, 1);
    let run = claiming(&estate, "p1", &[("test_thing.a", ClaimedAction::Create)]).await;
    slow.store(true, Ordering::SeqCst);
    let refused =
        run.recorder().begin(&address("test_thing.a"), &call(ClaimedAction::Create)).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, CallRefused::NothingMore(NothingMore::LeaseEnded)), "{refused}");
    let reading = estate.read().await.unwrap();
    let claim = reading.records[&address("test_thing.a")].claim.clone().unwrap();
    assert_eq!(claim.state, ClaimState::Claimed, "a call that was never made looks in flight");
}
