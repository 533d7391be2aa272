//! Copying an estate to another store.

use crate::support::{clock, estate_with};
use engine::estate::{CopyError, EstateError};
use futures::FutureExt;
use records::testing::{Answer, ObservedStore};
use records::{Key, MemoryStore, Record, RecordStore};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Notify;

const RECORDS: [&str; 4] = ["r/i/a", "r/i/b", "r/o/out", "t/plan"];

fn key(rest: &str) -> Key {
    Key::new(format!("state/prod/{rest}")).unwrap()
}

async fn filled() -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    estate_with(store.clone(), clock(), 1).create_if_absent().await.unwrap();
    for rest in RECORDS {
        store.put_if_absent(&key(rest), format!("body of {rest}").into()).await.unwrap();
    }
    store
}

async fn bodies(store: &MemoryStore) -> BTreeMap<Key, bytes::Bytes> {
    let all = store.get_all("").await.unwrap().into_iter();
    let body = |(key, record): (Key, Record)| (key, record.body);
    all.map(body).filter(|(k, _)| *k != key("estate")).collect()
}

fn is_sealed<T: std::fmt::Debug>(answer: &Result<T, EstateError>) -> bool {
    matches!(answer, Err(EstateError::Sealed { .. }))
}

#[tokio::test]
async fn everything_is_copied_and_only_the_copy_is_open() {
    let (old, new) = (filled().await, Arc::new(MemoryStore::new()));
    let (from, to) = (estate_with(old.clone(), clock(), 2), estate_with(new.clone(), clock(), 3));
    let before = from.read_header().await.unwrap().unwrap();
    assert_eq!(from.copy_to(&to).await.unwrap(), Some(RECORDS.len()));
    assert_eq!(bodies(&old).await, bodies(&new).await);
    let after = to.read_header().await.unwrap().unwrap();
    assert_eq!((after.lineage, after.serial), (before.lineage, before.serial));
    let refused = from.read_header().await;
    assert!(is_sealed(&refused), "{refused:?}");
    assert!(is_sealed(&from.create_if_absent().await));
    // Once more is harmless; going back is not.
    assert_eq!(from.copy_to(&to).await.unwrap(), None);
    assert!(matches!(from.abandon_copy_to(&to).await, Err(CopyError::Finished { .. })));
}

#[tokio::test]
async fn killed_after_any_write_the_same_call_goes_on() {
    let full = bodies(&*filled().await).await;
    // The seal, the target's own record, each record, and the opening.
    let writes = RECORDS.len() as u64 + 3;
    for last in 1..=writes {
        let (old, new) = (filled().await, Arc::new(MemoryStore::new()));
        let killed = Arc::new(Notify::new());
        let dying = |store: Arc<MemoryStore>, at: u64| {
            let killed = killed.clone();
            Arc::new(ObservedStore::new(store, move |write| match write.number == at {
                true => {
                    killed.notify_one();
                    Answer::Withhold
                }
                false => Answer::Deliver,
            }))
        };
        // The first write is the source's, all others are the target's.
        let from = estate_with(dying(old.clone(), last), clock(), 2);
        let to = estate_with(dying(new.clone(), last - 1), clock(), 3);
        tokio::select! {
            _ = from.copy_to(&to) => panic!("not killed at write {last}"),
            () = killed.notified() => {}
        }
        let (from, to) =
            (estate_with(old.clone(), clock(), 4), estate_with(new.clone(), clock(), 5));
        assert!(is_sealed(&from.read_header().await), "{last}");
        let opened = last == writes;
        assert_eq!(matches!(to.read_header().await, Ok(Some(_))), opened, "{last}");
        from.copy_to(&to).await.unwrap();
        assert_eq!(bodies(&new).await, full, "{last}");
        assert!(to.read_header().await.unwrap().is_some(), "{last}");
    }
}

#[tokio::test]
async fn a_copy_that_was_never_finished_can_be_given_up() {
    let (old, new) = (filled().await, Arc::new(MemoryStore::new()));
    new.put_if_absent(&key("elsewhere"), "x".into()).await.unwrap();
    let from = estate_with(old.clone(), clock(), 2);
    let to = estate_with(new.clone(), clock(), 3);
    // What is in the way is found before anything is sealed.
    assert!(matches!(from.copy_to(&to).await, Err(CopyError::Occupied { .. })));
    assert!(from.read_header().await.unwrap().is_some());
    let [entry] = &new.list("").await.unwrap()[..] else { panic!("more than one") };
    new.delete(&entry.key, &entry.version).await.unwrap();

    let lossy = ObservedStore::new(new.clone(), |write| match write.number {
        1..=3 => Answer::Deliver,
        _ => Answer::Withhold,
    });
    let dying = estate_with(Arc::new(lossy), clock(), 4);
    let killed = tokio::time::timeout(std::time::Duration::from_millis(50), from.copy_to(&dying));
    assert!(killed.await.is_err());
    from.abandon_copy_to(&to).await.unwrap();
    assert!(new.list("").await.unwrap().is_empty());
    assert!(from.read_header().await.unwrap().is_some());
    assert_eq!(from.copy_to(&to).await.unwrap(), Some(RECORDS.len()));
}

#[tokio::test]
async fn another_estate_is_never_written_over_and_a_changed_copy_is_noticed() {
    let (old, new) = (filled().await, Arc::new(MemoryStore::new()));
    let (from, to) = (estate_with(old.clone(), clock(), 2), estate_with(new.clone(), clock(), 3));
    to.create_if_absent().await.unwrap();
    assert!(matches!(from.copy_to(&to).await, Err(CopyError::Occupied { .. })));
    assert!(from.read_header().await.unwrap().is_some());

    let meddled = Arc::new(MemoryStore::new());
    let other = meddled.clone();
    let meddling = ObservedStore::new(meddled, move |write| {
        if write.number == 2 {
            let key = key("r/i/zz");
            let put = other.put_if_absent(&key, "not ours".into());
            put.now_or_never().unwrap().unwrap();
        }
        Answer::Deliver
    });
    let to = estate_with(Arc::new(meddling), clock(), 5);
    let refused = from.copy_to(&to).await;
    assert!(matches!(&refused, Err(CopyError::Different { key: k, .. }) if *k == key("r/i/zz")));
    assert!(is_sealed(&to.read_header().await));
}

#[tokio::test]
async fn an_estate_is_not_copied_onto_itself() {
    let store = filled().await;
    let (one, same) =
        (estate_with(store.clone(), clock(), 2), estate_with(store.clone(), clock(), 3));
    let refused = one.copy_to(&same).await;
    assert!(matches!(refused, Err(CopyError::BothOpen { .. })), "{refused:?}");
    let refused = one.abandon_copy_to(&same).await;
    assert!(matches!(refused, Err(CopyError::Finished { .. })), "{refused:?}");
    assert!(one.read_header().await.unwrap().is_some());
    assert_eq!(bodies(&store).await.len(), RECORDS.len());
}

#[tokio::test]
async fn a_copy_that_has_gone_on_to_a_third_place_is_neither_made_again_nor_given_up() {
    let (old, new) = (filled().await, Arc::new(MemoryStore::new()));
    let (from, to) = (estate_with(old.clone(), clock(), 2), estate_with(new.clone(), clock(), 3));
    from.copy_to(&to).await.unwrap();
    let lineage = to.read_header().await.unwrap().unwrap().lineage.0;
    let header = new.get(&key("estate")).await.unwrap().unwrap();
    let gone = format!(
        r#"{{"format":1,"write_id":"w","lineage":"{lineage}","serial":3,"sealed":{{"moved_to":"a third place"}}}}"#
    );
    new.put_if_version(&key("estate"), gone.into(), &header.version).await.unwrap();

    let refused = from.copy_to(&to).await;
    assert!(matches!(refused, Err(CopyError::Estate(EstateError::Sealed { .. }))), "{refused:?}");
    let refused = from.abandon_copy_to(&to).await;
    assert!(matches!(refused, Err(CopyError::Finished { .. })), "{refused:?}");
    assert!(is_sealed(&from.read_header().await) && is_sealed(&to.read_header().await));
    assert_eq!(bodies(&old).await, bodies(&new).await);
}

#[tokio::test]
async fn an_estate_under_way_is_not_copied() {
    let body = r#"{"format":1,"write_id":"w","lineage":"l","serial":3,"under_way":["p1"]}"#;
    let store = Arc::new(MemoryStore::new());
    store.put_if_absent(&key("estate"), body.into()).await.unwrap();
    let busy = estate_with(store, clock(), 6);
    let refused = busy.copy_to(&estate_with(Arc::new(MemoryStore::new()), clock(), 3)).await;
    assert!(matches!(refused, Err(CopyError::UnderWay { .. })));
    assert!(busy.read_header().await.unwrap().is_some());
}
