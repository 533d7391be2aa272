//! The layers over a store.

use std::sync::Arc;
use std::sync::Mutex;

use bytes::Bytes;
use records::testing::{Answer, ObservedStore};
use records::{
    Account, ArtifactStore, CountingStore, MemoryArtifacts, MemoryStore, Method, PutMode,
    RecordStore, StoreError, Version,
};

use crate::key;

fn body(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[tokio::test]
async fn counts_are_by_method_and_start_anew() {
    let store = CountingStore::new(MemoryStore::new());
    let version = store.put_if_absent(&key("a"), body("1")).await.unwrap();
    store.put_if_version(&key("a"), body("2"), &version).await.unwrap();
    store.put_if_version(&key("a"), body("3"), &version).await.unwrap_err();
    store.get(&key("a")).await.unwrap();
    let counts = store.counts();
    assert_eq!(counts.of(Method::PutIfVersion), 2);
    assert_eq!(counts.of(Method::List), 0);
    assert_eq!((counts.writes(), counts.total()), (3, 4));
    assert_eq!(counts.to_string(), "get 1, put_if_absent 1, put_if_version 2");
    assert_eq!(store.reset(), counts);
    assert_eq!(store.counts().to_string(), "none");
}

#[tokio::test]
async fn an_account_says_who_asked_for_what_and_how_often() {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let (planning, line) = (store.accessor("planning"), line!());
    let applying = store.accessor("apply\tand %more\n");
    planning.list("r/").await.unwrap();
    for _ in 0..3 {
        planning.get(&key("r/a")).await.unwrap();
    }
    applying.get(&key("r/a")).await.unwrap();
    applying.put_if_absent(&key("r/a"), body("1")).await.unwrap();
    store.get(&key("r/b")).await.unwrap();
    let account = store.account();
    let repeats: Vec<_> = account.repeats().into_iter().collect();
    assert_eq!(repeats, [((Method::Get, "r/a".into()), 4)]);
    let of = |accessor: &str| account.by_accessor().get(&(accessor.into(), Method::Get)).copied();
    assert_eq!((of("planning"), of("apply\tand %more\n"), of("")), (Some(3), Some(1), Some(1)));
    let site = format!("{}:{line}", file!());
    assert_eq!(&*account.calls[0].site, site);
    assert_eq!(account.by_site()[&(site.into(), Method::Get)], 3);

    let log = account.to_string();
    assert_eq!(log.lines().count(), 7);
    assert!(log.starts_with("list\tr/\tplanning\t"), "{log}");
    assert_eq!(log.parse::<Account>().unwrap(), account);
    for wrong in ["\n", "get\tr/a\n", "got\tr/a\t\t\n", "get\t%zz\t\t\n", "get\ta\t\t\t\n"] {
        assert_eq!(format!("{log}{wrong}").parse::<Account>().unwrap_err().line, 8, "{wrong:?}");
    }
}

#[tokio::test]
async fn artifacts_are_counted() {
    let store = CountingStore::new(MemoryArtifacts::new());
    store.put(&key("a"), body("1"), PutMode::Create).await.unwrap();
    store.delete(&key("a")).await.unwrap();
    assert_eq!(store.counts().to_string(), "put 1, delete 1");
}

#[tokio::test]
async fn every_write_is_shown_after_it_was_done() {
    let shown = Mutex::new(Vec::new());
    let store = ObservedStore::new(MemoryStore::new(), |write: &records::testing::Write| {
        shown.lock().unwrap().push((write.number, write.method, write.succeeded));
        if write.number == 2 { Answer::Lose } else { Answer::Deliver }
    });
    let version = store.put_if_absent(&key("a"), body("1")).await.unwrap();
    let lost = store.put_if_version(&key("a"), body("2"), &version).await.unwrap_err();
    assert!(matches!(&lost, StoreError::Unanswered { key, .. } if key.as_str() == "a"), "{lost}");
    assert!(lost.leaves_doubt());
    assert_eq!(store.get(&key("a")).await.unwrap().unwrap().body, "2");
    store.delete(&key("a"), &Version::absent()).await.unwrap_err();
    assert_eq!(
        *shown.lock().unwrap(),
        [
            (1, Method::PutIfAbsent, true),
            (2, Method::PutIfVersion, true),
            (3, Method::Delete, false)
        ]
    );
}

#[tokio::test]
async fn a_withheld_answer_never_comes() {
    let store = ObservedStore::new(MemoryStore::new(), |_: &_| Answer::Withhold);
    let written = key("a");
    tokio::select! {
        biased;
        answer = store.put_if_absent(&written, body("1")) => panic!("{answer:?}"),
        () = std::future::ready(()) => {}
    }
    assert!(store.get(&key("a")).await.unwrap().is_some());
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused() {
    let store = MemoryStore::with_max_body_size(3);
    assert_eq!(store.max_body_size(), Some(3));
    store.put_if_absent(&key("a"), body("123")).await.unwrap();
    let refused = store.put_if_absent(&key("b"), body("1234")).await.unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { size: 4, limit: 3, .. }), "{refused}");
    assert!(store.get(&key("b")).await.unwrap().is_none());
}

#[tokio::test]
async fn secrets_stay_out_of_debug_output() {
    let store = MemoryStore::new();
    store.put_if_absent(&key("a"), body("hunter2")).await.unwrap();
    let artifacts = MemoryArtifacts::new();
    artifacts.put(&key("a"), body("hunter2"), PutMode::Create).await.unwrap();
    let shown = format!("{store:?} {:?} {artifacts:?}", store.get_all("").await.unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}
