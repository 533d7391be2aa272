//! What the records say while provisioners run, and what becomes of it.

use crate::support::{
    NOW, address, call, claiming, clock, estate_with, instance, members_now, object, request,
    undecided,
};
use engine::estate::{Estate, EstateReading};
use engine::identifiers::Principal;
use engine::object::ObjectStatus;
use engine::record::body::{ClaimState, ClaimedAction, ProvisionersStanding};
use engine::recorder::{Call, Recorder, Step};
use engine::state::InstanceState;
use engine::transaction::{Begun, Executing, Standing, Transaction};
use records::{CountingStore, MemoryStore};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const A: &str = "test_thing.a";
const CREATE: (&str, ClaimedAction) = (A, ClaimedAction::Create);

fn create() -> Call {
    Call { provisioners: Some(ProvisionersStanding::Pending), ..call(ClaimedAction::Create) }
}

fn made(status: ObjectStatus) -> InstanceState {
    let mut state = instance("made");
    state.current.as_mut().unwrap().status = status;
    state
}

fn status(reading: &EstateReading) -> Option<ObjectStatus> {
    Some(reading.state.instances.get(&address(A))?.current.as_ref()?.status)
}

struct Scene {
    store: Arc<CountingStore<MemoryStore>>,
    clock: Arc<crate::support::TestClock>,
    estate: Estate,
    run: Executing,
}

/// A transaction that has one thing to make, on which provisioners run.
async fn scene() -> Scene {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let clock = clock();
    let estate = estate_with(store.clone(), clock.clone(), 1);
    let run = claiming(&estate, "p1", &[CREATE]).await;
    Scene { store, clock, estate, run }
}

impl Scene {
    async fn begin(&self) {
        self.run.recorder().begin(&address(A), &create()).await.unwrap();
    }
    async fn write(&self, status: ObjectStatus, step: Step) {
        self.run.recorder().write(&address(A), &made(status), step).await.unwrap();
    }
    fn after(&self, seconds: i64) {
        self.clock.0.store(NOW + seconds, Ordering::Relaxed);
    }
    async fn reading(&self) -> EstateReading {
        self.estate.read().await.unwrap()
    }
    /// The next invocation of the same plan.
    async fn resumed(&self) -> Executing {
        self.after(66);
        let estate = estate_with(self.store.clone(), self.clock.clone(), 2);
        let members = members_now(&estate, &[CREATE]).await;
        let begun = Transaction::begin(&estate, request("p1", "r2")).await.unwrap();
        let Begun::Decided(resumed) = begun else { panic!("it was decided") };
        resumed.go_on(members, None).await.unwrap()
    }
}

fn standing(run: &Executing) -> Standing {
    run.progress().members[&address(A)].standing.clone()
}

#[tokio::test]
async fn what_is_made_is_tainted_until_its_provisioners_have_ended_for_one_write_more() {
    let scene = scene().await;
    scene.store.reset();
    scene.begin().await;
    assert_eq!(status(&scene.reading().await), None);
    scene.write(ObjectStatus::Tainted, Step::Provisioning).await;
    let reading = scene.reading().await;
    assert_eq!(status(&reading), Some(ObjectStatus::Tainted));
    let claim = reading.records[&address(A)].claim.clone().unwrap();
    assert_eq!(claim.state, ClaimState::Applying, "it is in flight as a call is");
    assert_eq!(claim.provisioners, Some(ProvisionersStanding::Begun));
    scene.write(ObjectStatus::Ready, Step::Done).await;
    assert_eq!(scene.store.reset().writes(), 3, "begun, made, ready");
    assert_eq!(status(&scene.reading().await), Some(ObjectStatus::Ready));
    assert_eq!(standing(&scene.run), Standing::Done { failed: false });
    scene.run.commit().await.unwrap();
}

#[tokio::test]
async fn the_next_invocation_learns_how_far_provisioners_were() {
    let scene = scene().await;
    scene.begin().await;
    scene.write(ObjectStatus::Tainted, Step::BeforeProvisioners).await;
    let run = scene.resumed().await;
    let left = standing(&run);
    assert!(
        matches!(&left, Standing::ToDo(claim) if claim.provisioners == Some(ProvisionersStanding::Pending)),
        "{left:?}"
    );

    // It announces them as a call, and dies.
    let announced = Call { provisioners: Some(ProvisionersStanding::Begun), ..create() };
    run.recorder().begin(&address(A), &announced).await.unwrap();
    assert_eq!(status(&scene.reading().await), Some(ObjectStatus::Tainted));
    let cut_off = standing(&run);
    assert!(
        matches!(&cut_off, Standing::InFlight(claim) if claim.provisioners == Some(ProvisionersStanding::Begun)),
        "{cut_off:?}"
    );
}

#[tokio::test]
async fn provisioners_that_died_are_no_doubt_and_the_object_stays_tainted() {
    let scene = scene().await;
    scene.begin().await;
    scene.write(ObjectStatus::Tainted, Step::Provisioning).await;
    let before = scene.reading().await;

    scene.after(96);
    let other = estate_with(scene.store.clone(), scene.clock.clone(), 2);
    let members = members_now(&other, &[(A, ClaimedAction::DeleteThenCreate)]).await;
    let mut next = undecided(&other, request("p2", "r2")).await;
    assert_eq!(next.claim(members, None).await.unwrap(), [], "its plan holds");
    next.put_off().await.unwrap();
    let after = scene.reading().await;
    let (was, is) = (&before.records[&address(A)], &after.records[&address(A)]);
    assert_eq!((&is.doubt, &is.revision), (&None, &was.revision));
    assert_eq!(status(&after), Some(ObjectStatus::Tainted));

    // The late result of whoever was taken over is no object that anybody has to look for.
    scene.after(0);
    let late = scene.run.recorder();
    let late = late.write(&address(A), &made(ObjectStatus::Ready), Step::Done).await;
    assert!(late.unwrap_err().detail.contains("tainted"));
    let after = scene.reading().await;
    assert!(after.strays.is_empty());
    assert_eq!(status(&after), Some(ObjectStatus::Tainted));
}

#[tokio::test]
async fn a_transaction_that_ends_without_a_result_counts_them_as_failed() {
    let scene = scene().await;
    scene.begin().await;
    scene.write(ObjectStatus::Tainted, Step::Provisioning).await;
    let estate = scene.estate.clone();
    scene.run.commit().await.unwrap();
    let reading = estate.read().await.unwrap();
    let facts = &reading.records[&address(A)];
    assert_eq!(facts.doubt, None);
    let claim = facts.claim.as_ref().unwrap();
    assert_eq!((claim.state, claim.failed), (ClaimState::Done, true));
    assert_eq!(status(&reading), Some(ObjectStatus::Tainted));
}

#[tokio::test]
async fn an_object_in_doubt_is_adopted_as_tainted_where_provisioners_were_to_run() {
    let scene = scene().await;
    scene.begin().await;
    let estate = scene.estate.clone();
    scene.run.commit().await.unwrap();
    let a = address(A);
    let reading = estate.read().await.unwrap();
    assert!(reading.records[&a].doubt.as_ref().unwrap().unprovisioned);
    let by = Principal::from_stored("ada");
    estate.adopt_object(&a, "i-1", &object("i-1"), &by).await.unwrap();
    assert_eq!(status(&estate.read().await.unwrap()), Some(ObjectStatus::Tainted));
}
