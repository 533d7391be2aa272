//! States of runs and approvals.

use crate::deployment::DEPLOYMENT;
use crate::surroundings::{Counter, SetClock};
use engine::identifiers::{PlanId, Principal, RunId};
use engine::record::key::EstateName;
use records::MemoryStore;
use runs::approval::{self, ApprovalError, Decision};
use runs::artifact::ArtifactReference;
use runs::deployment::Deployment;
use runs::project::Approvals;
use runs::run_reference::{EstateReference, Mode, PlanReference};
use runs::run_state::{
    Author, Begun, Commit, NewRun, RunSource, RunState, RunStateError, RunStates, Status,
};
use std::collections::BTreeSet;
use std::sync::Arc;

const DIGEST: &str = "5eb63bbbe01eeda093cb22bb8f5acdc3";

fn states() -> (RunStates, Arc<SetClock>) {
    let clock = Arc::new(SetClock::at(1_000_000));
    let store = Arc::new(MemoryStore::new());
    (RunStates::new(store, clock.clone(), Arc::new(Counter::default())), clock)
}

fn estate(name: &str) -> EstateReference {
    EstateReference(EstateName::new(name).unwrap())
}

fn new(run: &str, estate_name: &str, author: Author) -> NewRun {
    let commit = Commit {
        repository: "github.com/acme/infra".into(),
        sha: "1a2b".into(),
        branch: "main".into(),
        pull_request: None,
    };
    NewRun {
        run: RunId::from_stored(run),
        estate: estate(estate_name),
        mode: Mode::Deploy,
        source: RunSource::Commit(commit),
        author,
        authors: BTreeSet::new(),
        bundle: None,
        plan: None,
    }
}

fn plan() -> PlanReference {
    PlanReference {
        id: PlanId::from_stored("p1"),
        plan_digest: DIGEST.into(),
        artifact: ArtifactReference { key: "network/plans/p1".into(), digest: "00".into() },
    }
}

async fn waiting(states: &RunStates, estate_name: &str, author: Author) -> RunState {
    let (state, _) = states.begin(new("r1", estate_name, author)).await.unwrap();
    let wait = |state: &mut RunState| {
        state.plan = Some(plan());
        state.status = Status::WaitingForApproval;
        state.task_token = Some("token".into());
    };
    states.change(&state.estate, &state.run, wait).await.unwrap()
}

#[tokio::test]
async fn the_same_run_begins_once() {
    let (states, clock) = states();
    let author = Author::Login("ada".into());
    let (first, begun) = states.begin(new("r1", "network", author.clone())).await.unwrap();
    assert_eq!((begun, first.status), (Begun::New, Status::Requested));
    clock.advance(60);
    let (again, begun) = states.begin(new("r1", "network", author)).await.unwrap();
    assert_eq!((begun, &again), (Begun::Repeated, &first));
}

#[tokio::test]
async fn what_ended_stays_as_it_ended() {
    let (states, _) = states();
    let state = waiting(&states, "network", Author::Schedule).await;
    let end = |status| move |state: &mut RunState| state.status = status;
    let ended = states.change(&state.estate, &state.run, end(Status::Superseded)).await.unwrap();
    assert_eq!(ended.task_token, None, "nobody waits any more");
    let refused = states.change(&state.estate, &state.run, end(Status::Applied)).await;
    assert!(matches!(refused, Err(RunStateError::Ended { status: Status::Superseded, .. })));
    let other = states.read(&state.estate, &RunId::from_stored("r2")).await;
    assert!(matches!(other, Err(RunStateError::Absent { .. })));
}

#[tokio::test]
async fn changes_at_the_same_time_are_all_kept() {
    let (states, _) = states();
    let (state, _) = states.begin(new("r1", "network", Author::Schedule)).await.unwrap();
    let change = |n: usize| {
        let (states, state) = (states.clone(), state.clone());
        async move {
            let note = ArtifactReference { key: format!("notes/{n}"), digest: n.to_string() };
            let add = |state: &mut RunState| state.notes.push(note.clone());
            states.change(&state.estate, &state.run, add).await.unwrap();
        }
    };
    tokio::join!(change(1), change(2), change(3), change(4));
    assert_eq!(states.read(&state.estate, &state.run).await.unwrap().notes.len(), 4);
}

#[tokio::test]
async fn runs_are_listed_by_estate_the_newest_first() {
    let (states, clock) = states();
    for (run, name) in [("r1", "network"), ("r2", "network/a"), ("r3", "network")] {
        states.begin(new(run, name, Author::Schedule)).await.unwrap();
        clock.advance(1);
    }
    // The same request again is no newer run.
    states.begin(new("r1", "network", Author::Schedule)).await.unwrap();
    let newest = |most| {
        let states = states.clone();
        async move {
            let listed = states.newest(&estate("network"), most).await.unwrap();
            listed.iter().map(|state| state.run.to_string()).collect::<Vec<_>>().join(" ")
        }
    };
    assert_eq!(newest(10).await, "r3 r1");
    assert_eq!(newest(1).await, "r3");
}

fn ada() -> Principal {
    Principal::from_stored("arn:aws:iam::111122223333:user/ada")
}

#[tokio::test]
async fn an_approval_names_the_plan_that_was_looked_at() {
    let (states, _) = states();
    let deployment = Deployment::parse(DEPLOYMENT).unwrap();
    let state = waiting(&states, "network", Author::Login("grace".into())).await;
    let check = async |digest| {
        let approved = Decision::Approved;
        approval::check(&states, &deployment, &state, approved, &ada(), digest).await.map(drop)
    };
    assert!(check(DIGEST).await.is_ok());
    assert!(matches!(check("other").await, Err(ApprovalError::OtherPlan { .. })));
    assert!(matches!(check("").await, Err(ApprovalError::OtherPlan { .. })));
}

/// Whether somebody may decide so about a run.
async fn decide(
    states: &RunStates,
    state: &RunState,
    decision: Decision,
    who: &Principal,
) -> Result<(), ApprovalError> {
    let deployment = Deployment::parse(DEPLOYMENT).unwrap();
    approval::check(states, &deployment, state, decision, who, DIGEST).await.map(drop)
}

#[tokio::test]
async fn an_author_does_not_approve_a_change_of_their_own() {
    let (states, _) = states();
    let state = waiting(&states, "network", Author::Login("Ada".into())).await;
    let refused = decide(&states, &state, Decision::Approved, &ada()).await;
    assert!(matches!(refused, Err(ApprovalError::OwnChange { .. })));
    let declined = decide(&states, &state, Decision::Declined, &ada()).await;
    assert!(declined.is_ok(), "no harm is done by it");
    // Nobody knows that this is not the author.
    let unmapped = Principal::from_stored("arn:aws:sts::111122223333:assumed-role/Deployer/x");
    let refused = decide(&states, &state, Decision::Approved, &unmapped).await;
    assert!(matches!(refused, Err(ApprovalError::UnmappedApprover { .. })));

    let mut own = state.clone();
    own.author = Author::Principal(ada());
    let refused = decide(&states, &own, Decision::Approved, &ada()).await;
    assert!(matches!(refused, Err(ApprovalError::OwnChange { .. })));
    // Where the estate says so.
    own.estate = estate("service");
    assert!(decide(&states, &own, Decision::Approved, &ada()).await.is_ok());
}

#[tokio::test]
async fn who_wrote_a_commit_that_somebody_else_pushed_does_not_approve_it() {
    let (states, _) = states();
    let mut state = waiting(&states, "network", Author::Login("grace".into())).await;
    assert!(decide(&states, &state, Decision::Approved, &ada()).await.is_ok());
    state.authors = ["eve", "ADA"].map(str::to_owned).into();
    let refused = decide(&states, &state, Decision::Approved, &ada()).await;
    let Err(ApprovalError::OwnChange { author, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(author, "ADA");
}

#[tokio::test]
async fn nor_who_wrote_what_an_older_push_brought_and_nobody_has_applied() {
    let by = |login: &str| Author::Login(login.to_owned());
    for (ended, refused) in [
        (Status::Superseded, true),
        (Status::Failed, true),
        (Status::Declined, true),
        (Status::Applied, false),
        (Status::NothingToDo, false),
    ] {
        let (states, clock) = states();
        let (older, _) = states.begin(new("r0", "network", by("ada"))).await.unwrap();
        let end = |state: &mut RunState| state.status = ended;
        states.change(&older.estate, &older.run, end).await.unwrap();
        // Neither a look for drift nor another branch brings changes.
        clock.advance(60);
        let mut drift = new("drift", "network", Author::Schedule);
        drift.mode = Mode::Drift;
        let (drift, _) = states.begin(drift).await.unwrap();
        let looked = |state: &mut RunState| state.status = Status::NothingToDo;
        states.change(&drift.estate, &drift.run, looked).await.unwrap();
        let mut elsewhere = new("elsewhere", "network", by("ada"));
        let RunSource::Commit(commit) = &mut elsewhere.source else { panic!("no commit") };
        commit.branch = "feature".into();
        states.begin(elsewhere).await.unwrap();
        clock.advance(60);
        let state = waiting(&states, "network", by("grace")).await;
        // A newer one is none of its plan's.
        clock.advance(60);
        states.begin(new("r2", "network", by("ada"))).await.unwrap();
        let decided = decide(&states, &state, Decision::Approved, &ada()).await;
        match refused {
            true => assert!(matches!(decided, Err(ApprovalError::OwnChange { .. })), "{ended}"),
            false => assert!(decided.is_ok(), "{ended}: {decided:?}"),
        }
    }
}

#[tokio::test]
async fn the_first_decision_counts() {
    let (states, _) = states();
    let state = waiting(&states, "network", Author::Login("grace".into())).await;
    let eve = Principal::from_stored("eve");
    let record = |decision, who| {
        let (states, state) = (states.clone(), state.clone());
        async move { approval::record(&states, &state, &plan(), decision, &who).await }
    };
    let first = record(Decision::Approved, ada()).await.unwrap();
    assert_eq!(record(Decision::Approved, ada()).await.unwrap(), first, "a repeated request");
    for (decision, who) in [(Decision::Declined, ada()), (Decision::Approved, eve)] {
        let refused = record(decision, who).await;
        assert!(matches!(refused, Err(ApprovalError::Decided(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn apply_believes_approvals_and_no_status() {
    let (states, _) = states();
    let state = waiting(&states, "network", Author::Login("grace".into())).await;
    let approve = |state: &mut RunState| state.status = Status::Approved;
    let state = states.change(&state.estate, &state.run, approve).await.unwrap();
    let policy = Approvals::default();
    let require = |plan: PlanReference| {
        let (states, policy, state) = (states.clone(), policy.clone(), state.clone());
        async move { approval::require(&states, &policy, &state.estate, &state.run, &plan).await }
    };
    assert!(matches!(require(plan()).await, Err(ApprovalError::Missing { .. })));
    approval::record(&states, &state, &plan(), Decision::Approved, &ada()).await.unwrap();
    assert_eq!(require(plan()).await.unwrap(), Some(ada()));
    let other = PlanReference { plan_digest: "other".into(), ..plan() };
    assert!(matches!(require(other).await, Err(ApprovalError::OtherPlan { .. })));
}

#[tokio::test]
async fn nobody_has_to_approve_where_the_policy_says_so() {
    let (states, _) = states();
    let policy = Approvals { required: false, ..Approvals::default() };
    let run = RunId::from_stored("r1");
    let required = approval::require(&states, &policy, &estate("network"), &run, &plan()).await;
    assert_eq!(required.unwrap(), None);
}
