//! Writes whose answers are lost, delayed, doubled or overtaken, and bodies that grow too large.

use bytes::Bytes;
use records::kubernetes::{MAX_CLAIMED_SIZE, MAX_STORED_SIZE};
use records::{RecordStore, StoreError, Version};
use serde_json::json;

use super::strict::{Fault, StrictServer};
use super::{key, put, store};

/// Bytes that do not compress, the same for the same seed.
pub(crate) fn noise(size: usize, seed: u64) -> Bytes {
    let mut state = seed | 1;
    let words = std::iter::repeat_with(|| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    });
    words.take(size).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn a_create_whose_answer_was_lost_is_known_by_its_bytes() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    for fault in
        [Fault::LoseAnswer, Fault::CutBefore, Fault::AnswerWith(504), Fault::AnswerWith(500)]
    {
        let key = key(&format!("prod/r/i/{fault:?}"));
        server.world.fail([fault]);
        let version = store.put_if_absent(&key, Bytes::from_static(b"mine")).await.unwrap();
        let read = store.get(&key).await.unwrap().unwrap();
        assert_eq!((read.body.as_ref(), &read.version), (b"mine".as_ref(), &version));
        server.world.fail([Fault::LoseAnswer]);
        let next = store.put_if_version(&key, Bytes::from_static(b"next"), &version).await.unwrap();
        server.world.fail([Fault::LoseAnswer]);
        store.delete(&key, &next).await.unwrap();
        assert!(store.get(&key).await.unwrap().is_none());
        assert_eq!(server.world.faults_left(), 0);
    }
}

#[tokio::test]
async fn a_request_that_is_never_answered_is_settled_too() {
    let server = StrictServer::start().await;
    let mut options = records::kubernetes::KubernetesOptions::new("team", "prod", key("prod"));
    options.request_time_out = std::time::Duration::from_millis(200);
    let cluster = server.cluster().await;
    let store = records::kubernetes::KubernetesStore::new(&cluster, options).unwrap();
    server.world.fail([Fault::WithholdAnswer]);
    let version = store.put_if_absent(&key("prod/a"), Bytes::from_static(b"mine")).await.unwrap();
    assert_eq!(store.get(&key("prod/a")).await.unwrap().unwrap().version, version);
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    server.world.fail([Fault::RefuseWith(429), Fault::RefuseWith(429)]);
    let version = put(&store, "prod/a", "body").await;
    server.world.fail([Fault::RefuseWith(503), Fault::RefuseWith(429)]);
    assert_eq!(store.get(&key("prod/a")).await.unwrap().unwrap().version, version);
    server.world.fail([Fault::RefuseWith(500)]);
    assert_eq!(store.list("prod/").await.unwrap().len(), 1);
    server.world.fail(vec![Fault::RefuseWith(429); 10]);
    let busy = store.get(&key("prod/a")).await.unwrap_err();
    assert!(matches!(busy, StoreError::Service { .. }), "{busy}");
}

#[tokio::test]
async fn no_write_is_without_its_condition_and_nothing_is_read_before_it() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let first = put(&store, "prod/a", "first").await;
    let second = store.put_if_version(&key("prod/a"), Bytes::from_static(b"second"), &first).await;
    store.delete(&key("prod/a"), &second.unwrap()).await.unwrap();
    let methods: Vec<_> = server.world.take_log().iter().map(|it| it[..4].to_owned()).collect();
    assert_eq!(methods, ["POST", "PUT ", "DELE"]);
}

#[tokio::test]
async fn a_writer_that_was_overtaken_conflicts_with_what_is_there() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let seen = put(&store, "prod/a", "first").await;
    let theirs = json!({ "body": "dGhlaXJz" });
    server.world.fail([Fault::OvertakenBy(theirs.clone())]);
    let lost = store.put_if_version(&key("prod/a"), Bytes::from_static(b"mine"), &seen).await;
    let there = store.get(&key("prod/a")).await.unwrap().unwrap();
    assert_eq!(there.body, "theirs");
    match lost.unwrap_err() {
        StoreError::Conflict { expected, actual, .. } => {
            assert_eq!((expected, actual), (seen, there.version.clone()));
        }
        other => panic!("{other}"),
    }
    server.world.fail([Fault::OvertakenBy(theirs)]);
    let lost = store.delete(&key("prod/a"), &there.version).await;
    assert!(lost.unwrap_err().is_conflict());
    assert!(store.get(&key("prod/a")).await.unwrap().is_some());
}

/// Nobody can say whether the write was there before another one replaced it.
#[tokio::test]
async fn doubt_that_reading_cannot_settle_stays_doubt() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let seen = put(&store, "prod/a", "first").await;
    server.world.fail([Fault::CutBefore, Fault::OvertakenBy(json!({ "body": "dGhlaXJz" }))]);
    let lost = store.put_if_version(&key("prod/a"), Bytes::from_static(b"mine"), &seen).await;
    assert!(matches!(lost, Err(StoreError::Unanswered { .. })), "{lost:?}");

    // The second attempt is refused; the first may have been carried out.
    server.world.fail([Fault::CutBefore]);
    let key = key("prod/b");
    let cut = store.put_if_absent(&key, Bytes::from_static(b"mine"));
    let denied = async {
        while server.world.faults_left() > 0 {
            tokio::task::yield_now().await;
        }
        server.world.deny("create", "secrets");
    };
    let (cut, ()) = tokio::join!(cut, denied);
    assert!(matches!(cut, Err(StoreError::Unanswered { .. })), "{cut:?}");
}

#[tokio::test]
async fn a_version_never_comes_back() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let first = put(&store, "prod/a", "body").await;
    store.delete(&key("prod/a"), &first).await.unwrap();
    let second = put(&store, "prod/a", "body").await;
    assert_ne!(first, second);
    // As after etcd was restored from a backup and counts again: the same number, another Secret.
    let name = server.world.secrets("team")[0]["metadata"]["name"].as_str().unwrap().to_owned();
    let version = second.as_str().split_once('@').unwrap().0.to_owned();
    server.world.edit("team", &name, |secret| secret["metadata"]["uid"] = json!("uid-restored"));
    server.world.edit("team", &name, |_| {});
    let restored = store.get(&key("prod/a")).await.unwrap().unwrap().version;
    let (now, _) = restored.as_str().split_once('@').unwrap();
    let forged = Version::new(second.as_str().replacen(&version, now, 1));
    let stale = store.put_if_version(&key("prod/a"), Bytes::from_static(b"x"), &forged).await;
    assert!(stale.unwrap_err().is_conflict());
    assert!(store.delete(&key("prod/a"), &forged).await.unwrap_err().is_conflict());
}

#[tokio::test]
async fn versions_of_other_stores_match_nothing() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let actual = put(&store, "prod/a", "body").await;
    let other = Version::new("\"0123456789abcdef\"");
    for refused in [
        store.put_if_version(&key("prod/a"), Bytes::from_static(b"x"), &other).await.map(drop),
        store.delete(&key("prod/a"), &other).await,
    ] {
        match refused.unwrap_err() {
            StoreError::Conflict { actual: told, .. } => assert_eq!(told, actual),
            error => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn bodies_are_compressed_where_that_helps() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let body = Bytes::from("{\"name\": \"value\"}\n".repeat(200_000));
    assert!(body.len() > 3 * MAX_STORED_SIZE);
    store.put_if_absent(&key("prod/text"), body.clone()).await.unwrap();
    assert_eq!(store.get(&key("prod/text")).await.unwrap().unwrap().body, body);
    assert_eq!(store.list("prod/text").await.unwrap()[0].size, body.len() as u64);
    store.put_if_absent(&key("prod/noise"), noise(MAX_STORED_SIZE, 1)).await.unwrap();
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_sent() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let (key, large) = (key("prod/a"), noise(MAX_STORED_SIZE + 1, 1));
    assert_eq!(store.max_body_size(), Some(1_048_576));
    let refused = store.put_if_absent(&key, large.clone()).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::TooLarge { size: 1_048_577, limit: 1_048_576, .. }),
        "{refused}"
    );
    assert!(!refused.leaves_doubt());
    store.check_claim_size(&key, &noise(MAX_CLAIMED_SIZE, 1)).unwrap();
    let claim = store.check_claim_size(&key, &noise(MAX_CLAIMED_SIZE + 1, 1)).unwrap_err();
    assert!(matches!(claim, StoreError::TooLarge { limit: 786_432, .. }), "{claim}");
    assert_eq!(server.world.take_log(), [""; 0]);
}

#[tokio::test]
async fn a_result_that_grew_too_large_is_kept_in_parts_that_nobody_sees() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let record = key("prod/r/i/a");
    let claimed = put(&store, "prod/r/i/a", "claimed").await;
    let large = noise(5 * MAX_STORED_SIZE / 2, 1);
    server.world.fail([Fault::LoseAnswer]);
    let version = store.put_in_parts(&record, large.clone(), &claimed).await.unwrap();
    assert_eq!(server.world.secrets("team").len(), 3);

    let read = store.get(&record).await.unwrap().unwrap();
    assert!(read.body == large && read.version == version);
    let listed = store.list("").await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].size, &listed[0].version), (large.len() as u64, &version));
    assert!(store.get_all("").await.unwrap() == [(record.clone(), read)]);

    // Of two writers one wins, and the loser's parts are gone.
    let lost = store.put_in_parts(&record, noise(2 * MAX_STORED_SIZE, 2), &claimed).await;
    assert!(lost.unwrap_err().is_conflict());
    assert_eq!(server.world.secrets("team").len(), 3);

    // A writer that sends the same body again does not take away what it had written.
    let again = store.put_in_parts(&record, large.clone(), &claimed).await;
    assert!(again.unwrap_err().is_conflict());
    let version = store.put_in_parts(&record, large.clone(), &version).await.unwrap();
    assert!(store.get(&record).await.unwrap().unwrap().body == large);

    let other = noise(4 * MAX_STORED_SIZE, 3);
    let version = store.put_in_parts(&record, other.clone(), &version).await.unwrap();
    assert!(store.get(&record).await.unwrap().unwrap().body == other);
    assert_eq!(server.world.secrets("team").len(), 4);
    let small =
        store.put_if_version(&record, Bytes::from_static(b"small"), &version).await.unwrap();
    assert_eq!(server.world.secrets("team").len(), 1);
    let version = store.put_in_parts(&record, large, &small).await.unwrap();
    store.delete(&record, &version).await.unwrap();
    assert_eq!(server.world.secrets("team").len(), 0);
}

#[tokio::test]
async fn a_part_that_is_missing_or_another_is_told() {
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let claimed = put(&store, "prod/a", "claimed").await;
    store.put_in_parts(&key("prod/a"), noise(2 * MAX_STORED_SIZE, 1), &claimed).await.unwrap();
    let secrets = server.world.secrets("team");
    let names = secrets.iter().map(|it| it["metadata"]["name"].as_str().unwrap());
    let part = names.max_by_key(|name| name.len()).unwrap().to_owned();
    assert!(part.ends_with("-part-2"), "{part}");
    server.world.edit("team", &part, |secret| secret["data"]["part"] = json!("AAAA"));
    for error in [store.get(&key("prod/a")).await.unwrap_err(), store.list("").await.unwrap_err()] {
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
        assert!(error.to_string().contains("parts are not those that were written"), "{error}");
    }
    server.world.edit("team", &part, |secret| secret["metadata"]["name"] = json!("elsewhere"));
    for error in [store.get(&key("prod/a")).await.unwrap_err(), store.list("").await.unwrap_err()] {
        assert!(error.to_string().contains("missing"), "{error}");
    }
}

#[tokio::test]
async fn parts_that_nobody_names_are_swept_once_they_are_old() {
    const MADE: i64 = 1_767_225_600;
    let server = StrictServer::start().await;
    let store = store(&server.cluster().await);
    let claimed = put(&store, "prod/a", "claimed").await;
    let large = noise(2 * MAX_STORED_SIZE, 1);
    store.put_in_parts(&key("prod/a"), large.clone(), &claimed).await.unwrap();
    let name = |secret: &serde_json::Value| secret["metadata"]["name"].as_str().unwrap().to_owned();
    let secrets = server.world.secrets("team");
    let part = secrets.iter().find(|it| name(it).ends_with("-part-2")).unwrap();
    // As a writer leaves it that is killed before it writes its record.
    let digits = "0".repeat(8);
    let left =
        name(part).replacen(&name(part)[name(part).len() - 15..name(part).len() - 7], &digits, 1);
    assert_ne!(left, name(part));
    server.world.plant("team", &left, part.clone());
    let count = || server.world.secrets("team").len();
    let before = count();

    assert_eq!(store.get_all("").await.unwrap().len(), 1);
    assert_eq!(store.sweep_leftovers(MADE).await.unwrap(), 0);
    assert_eq!(store.sweep_leftovers(MADE + 1).await.unwrap(), 1);
    assert_eq!(store.sweep_leftovers(MADE + 1).await.unwrap(), 0);
    assert_eq!(count(), before - 1);
    assert_eq!(store.get(&key("prod/a")).await.unwrap().unwrap().body, large);
}
