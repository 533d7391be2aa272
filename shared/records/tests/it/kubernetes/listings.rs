//! Listings: whole, of one time, or an error.

use records::RecordStore;
use records::kubernetes::{KubernetesOptions, KubernetesStore, ListingProblem, Refusal};

use super::strict::{Fault, StrictServer};
use super::{key, put, refusal};

async fn ten_records(server: &StrictServer) -> KubernetesStore {
    let mut options = KubernetesOptions::new("team", "prod", key("prod"));
    options.page_size = 3;
    let store = KubernetesStore::new(&server.cluster().await, options).unwrap();
    for number in 0..10 {
        put(&store, &format!("prod/{number}"), "body").await;
    }
    server.world.take_log();
    store
}

#[tokio::test]
async fn pages_make_one_listing_of_the_newest_state() {
    let server = StrictServer::start().await;
    let store = ten_records(&server).await;
    assert_eq!(store.list("prod/").await.unwrap().len(), 10);
    let queries = server.world.queries();
    assert_eq!(queries.len(), 4);
    for query in queries {
        assert!(!query.contains("resourceVersion") && !query.contains("elector"), "{query}");
    }
}

#[tokio::test]
async fn a_listing_that_is_cut_off_as_too_old_begins_again() {
    let server = StrictServer::start().await;
    let store = ten_records(&server).await;
    server.world.fail([Fault::Gone, Fault::Gone]);
    assert_eq!(store.list("prod/").await.unwrap().len(), 10);
    assert_eq!(server.world.faults_left(), 0);
    server.world.fail(vec![Fault::Gone; 10]);
    match refusal(store.list("prod/").await) {
        Refusal::ListingWithoutEnd {
            problem: ListingProblem::AlwaysGone { starts: 5 }, ..
        } => {}
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_listing_that_does_not_end_fails() {
    let server = StrictServer::start().await;
    let store = ten_records(&server).await;
    server.world.fail([Fault::Endless]);
    match refusal(store.get_all("prod/").await) {
        Refusal::ListingWithoutEnd {
            problem: ListingProblem::RemainderStays { remaining: 1_000 },
            ..
        } => {}
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_listing_that_ends_early_fails() {
    let server = StrictServer::start().await;
    let store = ten_records(&server).await;
    server.world.fail([Fault::EndsEarly]);
    match refusal(store.list("prod/").await) {
        Refusal::ListingWithoutEnd {
            problem: ListingProblem::EndsEarly { remaining: 7 }, ..
        } => {}
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn pages_that_do_not_make_one_listing_fail() {
    let server = StrictServer::start().await;
    let store = ten_records(&server).await;
    for (fault, expected) in [
        (Fault::EmptyPage, ListingProblem::EmptyPage),
        (Fault::SameToken, ListingProblem::SameToken),
        (Fault::VersionMoves, ListingProblem::VersionMoves),
    ] {
        server.world.fail([fault]);
        match refusal(store.list("prod/").await) {
            Refusal::ListingWithoutEnd { problem, .. } => assert_eq!(problem, expected),
            other => panic!("{other}"),
        }
        assert_eq!(store.list("prod/").await.unwrap().len(), 10);
    }
}
