//! What the stores send, and what they make of each answer that S3 documents.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use bytes::Bytes;
use records::s3::{S3Artifacts, S3Settings, S3Store};
use records::{ArtifactStore, Key, PutMode, RecordStore, StoreError, Version};

use crate::proxy::{Fate, Proxy, Seen, error, slow_down};
use crate::server::{Server, connection};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn body(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

/// A store in a new bucket, behind a proxy that is told what to do once the store's server has passed its
/// probe.
async fn behind(
    server: Server,
    change: impl FnOnce(&mut S3Settings),
    choose: impl Fn(&Seen) -> Fate + Send + Sync + 'static,
) -> (S3Store, Proxy) {
    let mut settings = server.bucket().await;
    let proxy = Proxy::before(&server.endpoint(), move |seen| {
        if seen.target.contains("probe") || seen.target.contains("warm") {
            Fate::Passes
        } else {
            choose(seen)
        }
    })
    .await;
    settings.endpoint = Some(proxy.endpoint());
    change(&mut settings);
    let store = S3Store::new(connection(settings)).unwrap();
    store.put_if_absent(&key("warm"), body("up")).await.unwrap();
    proxy.take_seen();
    (store, proxy)
}

fn nothing(_: &mut S3Settings) {}

fn methods(proxy: &Proxy) -> Vec<String> {
    proxy.take_seen().into_iter().map(|seen| seen.method).collect()
}

/// The first write whose target has this text meets a fate, and all else passes.
fn first_write(text: &'static str, fate: Fate) -> impl Fn(&Seen) -> Fate + Send + Sync + 'static {
    let met = std::sync::atomic::AtomicBool::new(false);
    move |seen| {
        let is_it = seen.is_write() && seen.target.contains(text);
        if is_it && !met.swap(true, std::sync::atomic::Ordering::SeqCst) {
            fate.clone()
        } else {
            Fate::Passes
        }
    }
}

#[tokio::test]
async fn each_write_is_one_request_that_carries_its_condition() {
    let (store, proxy) = behind(Server::SeaweedFs, nothing, |_| Fate::Passes).await;
    let first = store.put_if_absent(&key("a"), body("1")).await.unwrap();
    let second = store.put_if_version(&key("a"), body("2"), &first).await.unwrap();
    store.delete(&key("a"), &second).await.unwrap();
    let seen = proxy.take_seen();
    let conditions: Vec<_> = seen
        .iter()
        .map(|seen| {
            (seen.method.as_str(), seen.headers.get("if-none-match"), seen.headers.get("if-match"))
        })
        .collect();
    let quoted = |version: &Version| format!("\"{}\"", version.as_str());
    assert_eq!(
        conditions,
        [
            ("PUT", Some(&"*".to_owned()), None),
            ("PUT", None, Some(&quoted(&first))),
            ("DELETE", None, Some(&quoted(&second))),
        ]
    );
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_reading_back() {
    for fate in [Fate::AnswerLost, Fate::AnswerCut] {
        let (store, proxy) =
            behind(Server::SeaweedFs, nothing, first_write("/a", fate.clone())).await;
        let version = store.put_if_absent(&key("a"), body("mine")).await.unwrap();
        assert_eq!(methods(&proxy), ["PUT", "GET"], "{fate:?}");
        let record = store.get(&key("a")).await.unwrap().unwrap();
        assert_eq!((record.body, record.version), (body("mine"), version));
    }
}

#[tokio::test]
async fn a_write_that_never_arrived_is_sent_again() {
    let (store, proxy) =
        behind(Server::SeaweedFs, nothing, first_write("/a", Fate::CutBefore)).await;
    let version = store.put_if_absent(&key("a"), body("mine")).await.unwrap();
    assert_eq!(methods(&proxy), ["PUT", "GET", "PUT"]);
    assert_eq!(store.get(&key("a")).await.unwrap().unwrap().version, version);
}

#[tokio::test]
async fn a_refusal_is_with_oneself_or_a_conflict() {
    // An earlier attempt of which the client knows nothing, as an HTTP proxy may make one.
    let refused =
        error("412 Precondition Failed", "PreconditionFailed", "At least one did not hold");
    let (store, proxy) = behind(Server::SeaweedFs, nothing, |_| Fate::Passes).await;
    let version = store.put_if_absent(&key("a"), body("mine")).await.unwrap();
    assert_eq!(store.put_if_absent(&key("a"), body("mine")).await.unwrap(), version);
    let conflict = store.put_if_absent(&key("a"), body("other")).await.unwrap_err();
    let StoreError::Conflict { actual, .. } = &conflict else { panic!("{conflict:?}") };
    assert_eq!(*actual, version);
    drop(proxy);
    // A refusal although the condition holds: another write came and went.
    let (store, proxy) = behind(Server::SeaweedFs, nothing, first_write("/b", refused)).await;
    store.put_if_absent(&key("b"), body("mine")).await.unwrap();
    assert_eq!(methods(&proxy), ["PUT", "GET", "PUT"]);
}

#[tokio::test]
async fn a_concurrent_request_is_waited_out() {
    let busy = error(
        "409 Conflict",
        "ConditionalRequestConflict",
        "The conditional request cannot succeed due to a conflicting operation against this resource.",
    );
    let (store, proxy) = behind(Server::SeaweedFs, nothing, first_write("/a", busy.clone())).await;
    let first = store.put_if_absent(&key("a"), body("1")).await.unwrap();
    let seen = proxy.take_seen();
    let again: Vec<_> =
        seen.iter().map(|seen| seen.headers.contains_key("if-none-match")).collect();
    assert_eq!(again, [true, false, true]);
    drop(proxy);
    let (store, proxy) = behind(Server::SeaweedFs, nothing, first_write("/d", busy)).await;
    let _ = first;
    store.put_if_absent(&key("c"), body("1")).await.unwrap();
    proxy.take_seen();
}

#[tokio::test]
async fn a_deletion_of_what_is_gone_is_a_conflict_whatever_the_answer() {
    for (status, code) in
        [("404 Not Found", "NoSuchKey"), ("412 Precondition Failed", "PreconditionFailed")]
    {
        // As a delete marker answers.
        let (store, _proxy) = behind(Server::SeaweedFs, nothing, move |seen| {
            if seen.method == "DELETE" { error(status, code, "no") } else { Fate::Passes }
        })
        .await;
        let expected = Version::new("0123456789abcdef0123456789abcdef");
        let conflict = store.delete(&key("a"), &expected).await.unwrap_err();
        let StoreError::Conflict { actual, .. } = &conflict else { panic!("{conflict:?}") };
        assert!(actual.is_absent());
        let conflict = store.put_if_version(&key("a"), body("1"), &expected).await.unwrap_err();
        assert!(conflict.is_conflict(), "{conflict:?}");
    }
}

#[tokio::test]
async fn a_deletion_that_may_have_been_anothers_is_left_in_doubt() {
    let (store, _proxy) =
        behind(Server::SeaweedFs, nothing, first_write("/a?x-id=Del", Fate::AnswerLost)).await;
    let version = store.put_if_absent(&key("a"), body("1")).await.unwrap();
    let doubt = store.delete(&key("a"), &version).await.unwrap_err();
    assert!(doubt.leaves_doubt(), "{doubt:?}");
    assert!(store.get(&key("a")).await.unwrap().is_none());
}

#[tokio::test]
async fn a_missing_bucket_is_not_absence() {
    for server in [Server::SeaweedFs, Server::MiniStack] {
        let store = S3Store::new(connection(server.settings("nobody-made-this"))).unwrap();
        let artifacts = S3Artifacts::new(connection(server.settings("nobody-made-this"))).unwrap();
        let version = Version::new("0123456789abcdef0123456789abcdef");
        let errors = [
            store.get(&key("a")).await.map(drop),
            store.list("").await.map(drop),
            store.get_all("").await.map(drop),
            store.put_if_absent(&key("a"), body("1")).await.map(drop),
            store.put_if_version(&key("a"), body("1"), &version).await.map(drop),
            store.delete(&key("a"), &version).await,
            store.delete(&key("a"), &Version::absent()).await,
            artifacts.get(&key("a")).await.map(drop),
            artifacts.list("").await.map(drop),
            artifacts.put(&key("a"), body("1"), PutMode::Create).await,
        ];
        let wrong: Vec<_> = errors
            .iter()
            .enumerate()
            .filter(|(_, outcome)| !matches!(outcome, Err(StoreError::RootMissing { .. })))
            .collect();
        assert!(wrong.is_empty(), "{server:?}: {wrong:?}");
    }
}

#[tokio::test]
async fn every_request_names_the_owner_and_every_write_the_tags() {
    let with_owner = |settings: &mut S3Settings| {
        settings.expected_bucket_owner = Some("111122223333".to_owned());
        settings.tags = BTreeMap::from([
            ("team".to_owned(), "a & b".to_owned()),
            ("kind".to_owned(), "base".to_owned()),
        ]);
    };
    // As S3 answers where the owner is another.
    let (store, proxy) = behind(Server::MiniStack, with_owner, |seen| {
        match seen.headers.get("x-amz-expected-bucket-owner").map(String::as_str) {
            Some("111122223333") => Fate::Passes,
            _ => error("403 Forbidden", "AccessDenied", "Access Denied"),
        }
    })
    .await;
    let own = BTreeMap::from([
        ("kind".to_owned(), "record".to_owned()),
        ("estate".to_owned(), "prod".to_owned()),
    ]);
    let store = S3Store::with_tags(store.connection().clone(), own).unwrap();
    let version = store.put_if_absent(&key("r/a"), body("1")).await.unwrap();
    let version = store.put_if_version(&key("r/a"), body("2"), &version).await.unwrap();
    assert_eq!(store.list("r/").await.unwrap().len(), 1);
    assert_eq!(store.get_all("").await.unwrap().len(), 2);
    store.delete(&key("r/a"), &version).await.unwrap();
    let artifacts = S3Artifacts::new(store.connection().at_prefix("artifacts").unwrap()).unwrap();
    artifacts.put(&key("p"), body("1"), PutMode::Overwrite).await.unwrap();
    artifacts.put(&key("q"), body("1"), PutMode::Create).await.unwrap();
    artifacts.delete(&key("p")).await.unwrap();
    for seen in proxy.take_seen() {
        assert_eq!(
            seen.headers.get("x-amz-expected-bucket-owner").unwrap(),
            "111122223333",
            "{seen:?}"
        );
        if seen.method == "PUT" && seen.target.contains("r/a") {
            assert_eq!(seen.headers["x-amz-tagging"], "estate=prod&kind=base&team=a%20%26%20b");
        }
    }
}

#[tokio::test]
async fn many_bodies_are_read_in_parallel_and_within_the_bound() {
    const BODIES: usize = 1_100;
    let narrow = |settings: &mut S3Settings| settings.parallelism = NonZeroUsize::new(6);
    let (store, proxy) = behind(Server::MiniStack, narrow, |_| Fate::Passes).await;
    let mut writes = tokio::task::JoinSet::new();
    for number in 0..BODIES {
        let store = store.clone();
        writes.spawn(async move {
            store.put_if_absent(&key(&format!("r/i/{number:05}")), body("1")).await.unwrap();
        });
    }
    writes.join_all().await;
    proxy.take_seen();
    assert_eq!(store.list("r/").await.unwrap().len(), BODIES);
    let pages = proxy.take_seen();
    assert_eq!(pages.len(), 2);
    assert!(pages.iter().all(Seen::is_list));
    assert_eq!(store.get_all("r/").await.unwrap().len(), BODIES);
    let seen = proxy.take_seen();
    assert_eq!(seen.iter().filter(|seen| seen.is_list()).count(), 2);
    assert_eq!(seen.iter().filter(|seen| seen.is_read()).count(), BODIES);
    assert_eq!(proxy.most_under_way(), 6);
}

#[tokio::test]
async fn all_bodies_or_an_error() {
    let (store, _proxy) = behind(Server::SeaweedFs, nothing, |seen| {
        match seen.is_read() && seen.target.contains("/r/17") {
            true => error(
                "500 Internal Server Error",
                "InternalError",
                "We encountered an internal error.",
            ),
            false => Fate::Passes,
        }
    })
    .await;
    for number in 0..30 {
        store.put_if_absent(&key(&format!("r/{number}")), body("1")).await.unwrap();
    }
    let error = store.get_all("r/").await.unwrap_err();
    assert!(!matches!(error, StoreError::RootMissing { .. }), "{error:?}");
    assert_eq!(store.list("r/").await.unwrap().len(), 30);
}

#[tokio::test]
async fn a_throttled_store_goes_on_more_slowly() {
    let (store, proxy) = behind(Server::SeaweedFs, nothing, |seen| {
        if seen.number % 3 == 0 { slow_down() } else { Fate::Passes }
    })
    .await;
    for number in 0..40 {
        store.put_if_absent(&key(&format!("r/{number}")), body("1")).await.unwrap();
    }
    assert_eq!(store.get_all("r/").await.unwrap().len(), 40);
    assert!(proxy.take_seen().len() > 81);
}

#[tokio::test]
async fn no_answer_at_all_ends_in_time() {
    let hasty = |settings: &mut S3Settings| settings.timeouts.answer = Duration::from_millis(800);
    let (store, _proxy) = behind(Server::SeaweedFs, hasty, |_| Fate::Swallowed).await;
    let began = Instant::now();
    store.get(&key("a")).await.unwrap_err();
    let doubt = store.put_if_absent(&key("a"), body("hunter2")).await.unwrap_err();
    assert!(
        matches!(&doubt, StoreError::Unanswered { key, .. } if key.as_str() == "a"),
        "{doubt:?}"
    );
    assert!(!format!("{doubt:?} {doubt}").contains("hunter2"));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_server_that_only_pretends_is_refused() {
    for (header, method) in [("if-match", "DELETE"), ("if-match", "PUT"), ("if-none-match", "PUT")]
    {
        let mut settings = Server::MiniStack.bucket().await;
        let proxy = Proxy::before(&Server::MiniStack.endpoint(), move |seen| {
            if seen.method == method { Fate::Without(header) } else { Fate::Passes }
        })
        .await;
        settings.endpoint = Some(proxy.endpoint());
        let store = S3Store::new(connection(settings)).unwrap();
        let refused = store.put_if_absent(&key("a"), body("1")).await.unwrap_err();
        assert!(matches!(refused, StoreError::Unsuitable { .. }), "{refused:?}");
        let said = refused.to_string();
        assert!(said.contains(&format!("{method} with If-")), "{said}");
        assert!(store.list("").await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn an_honest_server_is_asked_once() {
    let mut settings = Server::SeaweedFs.bucket().await;
    let proxy = Proxy::before(&Server::SeaweedFs.endpoint(), |_| Fate::Passes).await;
    settings.endpoint = Some(proxy.endpoint());
    let store = S3Store::new(connection(settings.clone())).unwrap();
    store.list("").await.unwrap();
    assert_eq!(methods(&proxy).len(), 1, "who only reads asks nothing");
    store.put_if_absent(&key("a"), body("1")).await.unwrap();
    proxy.take_seen();
    store.put_if_absent(&key("b"), body("1")).await.unwrap();
    assert_eq!(methods(&proxy), ["PUT"]);
    // Another process finds the mark.
    let other = S3Store::new(connection(settings)).unwrap();
    other.put_if_absent(&key("c"), body("1")).await.unwrap();
    assert_eq!(methods(&proxy), ["GET", "PUT"]);
    let keys: Vec<_> = store.list("").await.unwrap().into_iter().map(|it| it.key).collect();
    assert_eq!(keys, [key("a"), key("b"), key("c")]);
}
