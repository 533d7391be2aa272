//! What becomes of transactions that died.

use crate::support::{
    NOW, TestClock, address, call, claiming, clock, estate_with, executing, instance, members_now,
    object, request, undecided,
};
use async_trait::async_trait;
use engine::estate::Estate;
use engine::identifiers::PlanId;
use engine::record::body::{ClaimState, ClaimedAction, Phase, RecordKind};
use engine::recorder::{CallRefused, NothingMore, Recorder, Step};
use engine::state::InstanceState;
use engine::transaction::{
    Executing, InFlight, Settled, Settler, Terms, Transaction, TransactionError,
};
use engine::verdict::RejectCode;
use records::MemoryStore;
use records::testing::{Answer, ObservedStore, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

const CREATED: (&str, ClaimedAction) = ("test_thing.created", ClaimedAction::Create);
const OPEN: (&str, ClaimedAction) = ("test_thing.open", ClaimedAction::Create);
const UPDATED: (&str, ClaimedAction) = ("test_thing.updated", ClaimedAction::Update);
const A: &str = "test_thing.a";
const B: &str = "test_thing.b";
const DONE: (&str, ClaimedAction) = ("test_thing.done", ClaimedAction::Create);

struct Scene {
    clock: Arc<TestClock>,
    ours: Estate,
    theirs: Estate,
    dead: Executing,
}

/// A transaction that has one thing done, one to do, and a create and an update in flight; its lease is over.
async fn scene() -> Scene {
    let store = Arc::new(MemoryStore::new());
    let clock = clock();
    let theirs = estate_with(store.clone(), clock.clone(), 1);
    let ours = estate_with(store, clock.clone(), 2);
    let run = executing(&theirs, "p0").await;
    run.recorder().write(&address(UPDATED.0), &instance("old"), Step::Done).await.unwrap();
    run.commit().await.unwrap();
    let dead = claiming(&theirs, "p1", &[CREATED, OPEN, UPDATED, DONE]).await;
    let recorder = dead.recorder();
    for (name, action) in [CREATED, UPDATED, DONE] {
        recorder.begin(&address(name), &call(action)).await.unwrap();
    }
    recorder.write(&address(DONE.0), &instance("done"), Step::Done).await.unwrap();
    Scene { clock, ours, theirs, dead }
}

impl Scene {
    fn after(&self, seconds: i64) {
        self.clock.0.store(NOW + seconds, Ordering::Relaxed);
    }
    async fn phase(&self) -> Phase {
        let plan = PlanId::from_stored("p1");
        Transaction::find(&self.ours, &plan).await.unwrap().unwrap().phase
    }
}

#[tokio::test]
async fn nobody_is_taken_over_before_the_lease_and_the_margin_are_over() {
    let scene = scene().await;
    let members = members_now(&scene.ours, &[OPEN]).await;
    for seconds in [0, 60, 95] {
        scene.after(seconds);
        let mut next = undecided(&scene.ours, request("p2", "r2")).await;
        let verdicts = next.claim(members.clone(), None).await.unwrap();
        assert_eq!(verdicts[0].code, Some(RejectCode::Busy), "{seconds}");
        next.put_off().await.unwrap();
    }
    assert_eq!(scene.phase().await, Phase::Executing);
    scene.after(96);
    let mut next = undecided(&scene.ours, request("p2", "r2")).await;
    assert_eq!(next.claim(members, None).await.unwrap(), []);
    assert_eq!(scene.phase().await, Phase::Fenced);
}

#[tokio::test]
async fn what_was_to_do_is_given_back_what_was_in_flight_is_in_doubt_or_read_again() {
    let scene = scene().await;
    scene.after(96);
    let before = scene.ours.read().await.unwrap();
    let mut next = undecided(&scene.ours, request("p2", "r2")).await;
    let members = members_now(&scene.ours, &[OPEN]).await;
    assert_eq!(next.claim(members, None).await.unwrap(), []);
    next.put_off().await.unwrap();
    let reading = scene.ours.read().await.unwrap();
    let facts = |name: &str| &reading.records[&address(name)];
    assert!(facts(CREATED.0).doubt.is_some() && facts(CREATED.0).claim.is_none());
    assert!(facts(OPEN.0).claim.is_none() && facts(OPEN.0).doubt.is_none());
    assert!(facts(UPDATED.0).claim.is_none() && facts(UPDATED.0).doubt.is_none());
    let old = &before.records[&address(UPDATED.0)].revision;
    assert_ne!(facts(UPDATED.0).revision, *old, "plans that rest on it are stale");
    let done = facts(DONE.0).claim.as_ref().unwrap();
    assert_eq!(done.state, ClaimState::Done);
    assert!(reading.header.unwrap().under_way.is_empty());

    // Whoever died comes back: it begins nothing more, and its late result is not lost.
    let recorder = scene.dead.recorder();
    scene.after(0);
    let refused = recorder.begin(&address(OPEN.0), &call(OPEN.1)).await.unwrap_err();
    assert!(matches!(refused, CallRefused::NothingMore(NothingMore::TakenOver)), "{refused}");
    let late = recorder.write(&address(CREATED.0), &instance("late"), Step::Done).await;
    assert!(late.unwrap_err().detail.contains("plumb adopt"));
    assert_eq!(scene.ours.read().await.unwrap().strays.len(), 1);
    let end = scene.dead.commit().await;
    assert!(matches!(end, Err(TransactionError::TakenOver { .. })));
    let again = Transaction::begin(&scene.theirs, request("p1", "r1")).await.err().unwrap();
    assert!(matches!(again, TransactionError::Used { phase: Phase::Fenced, .. }), "{again}");
}

/// Knows what became of everything.
struct Knows;

#[async_trait]
impl Settler for Knows {
    async fn settle(&self, in_flight: &InFlight) -> Settled {
        Settled::Known(Box::new(match in_flight.claim.action {
            ClaimedAction::Create => {
                InstanceState { current: Some(object("adopted")), ..InstanceState::default() }
            }
            _ => in_flight.recorded.clone(),
        }))
    }
}

/// Cannot be asked.
struct Away;

#[async_trait]
impl Settler for Away {
    async fn settle(&self, _: &InFlight) -> Settled {
        Settled::NotNow("the provider does not answer".into())
    }
}

#[tokio::test]
async fn a_provider_settles_what_was_in_flight_and_is_asked_again_where_it_could_not() {
    let scene = scene().await;
    scene.after(96);
    let before = scene.ours.read().await.unwrap();
    let updated = address(UPDATED.0);
    let members = members_now(&scene.ours, &[UPDATED]).await;
    let mut next = undecided(&scene.ours, request("p2", "r2")).await;
    let error = next.claim(members.clone(), Some(&Away)).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("run-p1 of ada") && text.contains("does not answer"), "{text}");
    next.put_off().await.unwrap();
    // The takeover that died is gone on with.
    assert_eq!(scene.phase().await, Phase::Fenced);
    let under_way = scene.ours.read_header().await.unwrap().unwrap().under_way;
    assert_eq!(under_way, [PlanId::from_stored("p1")], "until all is settled");
    let mut next = undecided(&scene.ours, request("p2", "r2")).await;
    assert_eq!(next.claim(members, Some(&Knows)).await.unwrap(), []);
    let reading = scene.ours.read().await.unwrap();
    assert_eq!(reading.records[&updated].revision, before.records[&updated].revision);
    let created = &reading.state.instances[&address(CREATED.0)];
    assert_eq!(created.current, Some(object("adopted")));
    assert_eq!(reading.header.unwrap().under_way, [PlanId::from_stored("p2")]);
}

/// Hears until when each call may still come to pass.
#[derive(Default)]
struct Hears(Mutex<Vec<i64>>);

#[async_trait]
impl Settler for Hears {
    async fn settle(&self, in_flight: &InFlight) -> Settled {
        self.0.lock().unwrap().push(in_flight.quiet);
        Settled::Known(Box::new(in_flight.recorded.clone()))
    }
}

#[tokio::test]
async fn what_is_left_and_nobody_can_go_on_with_is_taken_over_at_once() {
    let Terms { margin, skew, .. } = Terms::default();
    for (digest, refused, quiet) in [
        ("unsaved", vec![], vec![NOW + skew + margin]),
        ("that of a file", vec![Some(RejectCode::Busy)], vec![]),
    ] {
        let (store, clock) = (Arc::new(MemoryStore::new()), clock());
        let theirs = estate_with(store.clone(), clock.clone(), 1);
        let ours = estate_with(store, clock, 2);
        let mut first = request("p1", "r1");
        first.plan_digest = digest.into();
        let mut begun = undecided(&theirs, first).await;
        let members = members_now(&theirs, &[UPDATED]).await;
        assert_eq!(begun.claim(members, None).await.unwrap(), []);
        let left = begun.execute(theirs.read().await.unwrap(), None).await.unwrap();
        left.recorder().begin(&address(UPDATED.0), &call(UPDATED.1)).await.unwrap();
        left.pause().await.unwrap();

        let hears = Hears::default();
        let members = members_now(&ours, &[UPDATED]).await;
        let mut next = undecided(&ours, request("p2", "r2")).await;
        let verdicts = next.claim(members, Some(&hears)).await.unwrap();
        let codes: Vec<_> = verdicts.iter().map(|verdict| verdict.code).collect();
        assert_eq!((codes, hears.0.into_inner().unwrap()), (refused, quiet), "{digest}");
        next.put_off().await.unwrap();
    }
}

#[tokio::test]
async fn a_claim_that_arrives_after_the_takeover_is_taken_back_by_who_meets_it() {
    let scene = scene().await;
    let theirs = &scene.theirs;
    let mut slow = undecided(theirs, request("p4", "r4")).await;
    let first = members_now(theirs, &[("test_thing.x", ClaimedAction::Create)]).await;
    assert_eq!(slow.claim(first.clone(), None).await.unwrap(), []);
    scene.after(96);
    let mut next = undecided(&scene.ours, request("p5", "r5")).await;
    assert_eq!(next.claim(first, None).await.unwrap(), []);
    // A claim asks no lease, so this one is written.
    let late = members_now(theirs, &[("test_thing.y", ClaimedAction::Create)]).await;
    assert_eq!(slow.claim(late.clone(), None).await.unwrap(), []);
    let mut last = undecided(&scene.ours, request("p6", "r6")).await;
    assert_eq!(last.claim(late, None).await.unwrap(), []);
    let reading = scene.ours.read().await.unwrap();
    let claim = reading.records[&address("test_thing.y")].claim.as_ref().unwrap();
    assert_eq!(claim.transaction, PlanId::from_stored("p6"));
}

#[tokio::test]
async fn a_move_that_died_half_way_is_settled_from_its_target() {
    for written in 0..=1 {
        let (below, clock) = (Arc::new(MemoryStore::new()), clock());
        let estate = estate_with(below.clone(), clock.clone(), 1);
        let run = executing(&estate, "p0").await;
        run.recorder().write(&address("test_thing.a"), &instance("i"), Step::Done).await.unwrap();
        run.commit().await.unwrap();
        let (a, b) = (address("test_thing.a"), address("test_thing.b"));
        let both = [(A, ClaimedAction::Move), (B, ClaimedAction::Move)];
        let mut members = members_now(&estate, &both).await;
        members.get_mut(&a).unwrap().moves_to = Some(b.clone());

        // Two writes to begin, two claims, the decision, and then the two ends of the move.
        let died = Arc::new(Notify::new());
        let observer = died.clone();
        let store = ObservedStore::new(below.clone(), move |write: &Write| {
            if write.number == 5 + written {
                observer.notify_one();
                return Answer::Withhold;
            }
            Answer::Deliver
        });
        let dying = estate_with(Arc::new(store), clock.clone(), 2);
        let moving = async {
            let mut begun = undecided(&dying, request("p1", "r1")).await;
            assert_eq!(begun.claim(members, None).await.unwrap(), []);
            let reading = dying.read().await.unwrap();
            let run = begun.execute(reading, None).await.unwrap();
            run.recorder().write_moved(&a, &b, &instance("i"), Step::Done).await.unwrap();
        };
        tokio::select! {
            () = moving => panic!("it was to die"),
            () = died.notified() => {}
        }
        clock.0.store(NOW + 200, Ordering::Relaxed);
        let mut next = undecided(&estate, request("p2", "r2")).await;
        let members = members_now(&estate, &both).await;
        assert_eq!(next.claim(members, None).await.unwrap(), []);
        let reading = estate.read().await.unwrap();
        let there: Vec<_> = reading.state.instances.keys().cloned().collect();
        assert_eq!(there, [if written == 0 { a.clone() } else { b }], "{written}");
        let source = reading.records[&a].kind;
        assert_eq!(source == RecordKind::Tombstone, written == 1, "{written}");
    }
}

#[tokio::test]
async fn what_a_person_releases_is_free_before_its_lease_is_over() {
    let scene = scene().await;
    scene.after(1);
    let next = undecided(&scene.ours, request("p2", "r2")).await;
    let plan = PlanId::from_stored("p1");
    let doubted = next.force_release(&plan).await.unwrap();
    assert_eq!(doubted, [address(CREATED.0)]);
    assert_eq!(scene.phase().await, Phase::Fenced);
    next.put_off().await.unwrap();
    let reading = scene.ours.read().await.unwrap();
    assert_eq!(reading.header.unwrap().under_way, []);
    // What was updated may be another by now: plans that rest on it are stale.
    assert_ne!(reading.records[&address(UPDATED.0)].revision.0.as_ref(), "");
    // Who turns out to live begins nothing more, and what comes late is kept.
    let recorder = scene.dead.recorder();
    let refused = recorder.begin(&address(OPEN.0), &call(ClaimedAction::Create)).await;
    assert_eq!(refused, Err(CallRefused::NothingMore(NothingMore::TakenOver)));
    let late = recorder.write(&address(CREATED.0), &instance("late"), Step::Done).await;
    assert!(late.unwrap_err().detail.contains("plumb adopt"));
    assert_eq!(scene.ours.read().await.unwrap().strays.len(), 1);
    let again = undecided(&scene.ours, request("p3", "r3")).await;
    again.put_off().await.unwrap();
}

#[tokio::test]
async fn what_has_ended_has_nothing_to_be_released() {
    let scene = scene().await;
    let next = undecided(&scene.ours, request("p2", "r2")).await;
    let error = next.force_release(&PlanId::from_stored("p0")).await.unwrap_err();
    assert!(matches!(error, TransactionError::NotAtWork { phase: Phase::Done, .. }), "{error}");
}
