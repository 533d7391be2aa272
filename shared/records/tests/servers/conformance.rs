//! The conformance suite on servers that really race.

use std::sync::Arc;

use records::conformance::{Report, artifacts, records};
use records::s3::{S3Artifacts, S3Store};
use records::{ArtifactStore, RecordStore};

use crate::server::{Server, connection};

/// What a server breaks, by its nature and not by ours: SeaweedFS takes `\` for `/`. Keys of estates have none.
#[track_caller]
fn assert_breaks_only(report: &Report, known: &[&str]) {
    let violated: Vec<_> = report.violations().map(|(property, _)| property).collect();
    assert_eq!(violated, known, "\n{report}");
}

async fn records_on(server: Server) -> Report {
    let connection = connection(server.bucket().await);
    let prefixed = connection.at_prefix("team/a b").unwrap();
    let store = S3Store::new(prefixed).unwrap();
    records(|| async { Arc::new(store.clone()) as Arc<dyn RecordStore> }).await
}

async fn artifacts_on(server: Server) -> Report {
    let store = S3Artifacts::new(connection(server.bucket().await)).unwrap();
    artifacts(|| async { Arc::new(store.clone()) as Arc<dyn ArtifactStore> }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn records_on_seaweedfs() {
    assert_breaks_only(&records_on(Server::SeaweedFs).await, &["backslashes_round_trip"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn records_on_ministack() {
    assert_breaks_only(&records_on(Server::MiniStack).await, &[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn artifacts_on_seaweedfs() {
    assert_breaks_only(&artifacts_on(Server::SeaweedFs).await, &["backslashes_round_trip"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn artifacts_on_ministack() {
    assert_breaks_only(&artifacts_on(Server::MiniStack).await, &[]);
}
