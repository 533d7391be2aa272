//! What only a directory store does.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bytes::Bytes;
use records::testing::{Answer, ObservedStore, Write};
use records::{
    ArtifactStore, CountingStore, DirectoryArtifacts, DirectoryStore, Hold, KeyFault, MemoryStore,
    Opening, PutMode, RecordStore, StoreError, Version,
};

use crate::{created, key};

const BODY: Bytes = Bytes::from_static(b"body");

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        }
        files.push(path);
    }
    files
}

#[tokio::test]
async fn only_creating_makes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".plumb");
    let missing = DirectoryStore::open(&root, Opening::Existing).await.unwrap_err();
    assert!(matches!(missing, StoreError::RootMissing { .. }), "{missing}");
    assert!(missing.to_string().contains(".plumb"), "{missing}");
    assert!(!root.exists());

    let made = created(&root).await;
    made.put_if_absent(&key("a"), BODY).await.unwrap();
    let again = DirectoryStore::open(&root, Opening::Existing).await.unwrap();
    assert_eq!(again.get(&key("a")).await.unwrap().unwrap().body, BODY);
    let again = created(&root).await;
    assert_eq!(again.list("").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_folder_that_is_no_store_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("providers")).unwrap();
    let missing = DirectoryStore::open(folder.path(), Opening::Existing).await.unwrap_err();
    assert!(matches!(missing, StoreError::RootMissing { .. }), "{missing}");
}

#[tokio::test]
async fn an_unknown_layout_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    created(folder.path()).await;
    fs::write(folder.path().join("layout"), "plumbline directory store 2\n").unwrap();
    for opening in [Opening::Existing, Opening::Create] {
        let refused = DirectoryStore::open(folder.path(), opening).await.unwrap_err();
        assert!(matches!(refused, StoreError::UnsupportedLayout { .. }), "{refused}");
    }
}

#[tokio::test]
async fn a_store_that_vanishes_is_missing_and_not_empty() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".plumb");
    let store = created(&root).await;
    let version = store.put_if_absent(&key("a"), BODY).await.unwrap();
    fs::remove_dir_all(&root).unwrap();
    let missing = |error: StoreError| matches!(error, StoreError::RootMissing { .. });
    assert!(missing(store.get(&key("a")).await.unwrap_err()));
    assert!(missing(store.list("").await.unwrap_err()));
    assert!(missing(store.get_all("").await.unwrap_err()));
    assert!(missing(store.put_if_absent(&key("a"), BODY).await.unwrap_err()));
    assert!(missing(store.put_if_version(&key("a"), BODY, &version).await.unwrap_err()));
    assert!(missing(store.delete(&key("a"), &version).await.unwrap_err()));
    assert!(missing(store.delete(&key("a"), &Version::absent()).await.unwrap_err()));
    assert!(missing(store.try_process_lock(&key("t")).await.unwrap_err()));
    assert!(!root.exists());
}

#[tokio::test]
async fn a_copy_without_empty_folders_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    store.put_if_absent(&key("a"), BODY).await.unwrap();
    for empty in ["staging", "locks", "artifacts"] {
        fs::remove_dir(folder.path().join(empty)).unwrap();
    }
    let store = created(folder.path()).await;
    store.put_if_absent(&key("b"), BODY).await.unwrap();
    assert_eq!(store.list("").await.unwrap().len(), 2);
}

#[tokio::test]
async fn files_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".plumb");
    let store = created(&root).await;
    store.put_if_absent(&key("prod/r/i/a"), BODY).await.unwrap();
    let artifacts = DirectoryArtifacts::open(&root, Opening::Existing).await.unwrap();
    artifacts.put(&key("prod/plans/1"), BODY, PutMode::Create).await.unwrap();
    let _lock = store.try_process_lock(&key("prod/t/1")).await.unwrap().unwrap();
    for path in [vec![root.clone()], files_below(&root)].concat() {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[tokio::test]
async fn records_and_artifacts_share_a_root_and_no_keys() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let artifacts = DirectoryArtifacts::open(folder.path(), Opening::Existing).await.unwrap();
    store.put_if_absent(&key("a"), Bytes::from_static(b"record")).await.unwrap();
    artifacts.put(&key("a"), Bytes::from_static(b"artifact"), PutMode::Create).await.unwrap();
    assert_eq!(store.get(&key("a")).await.unwrap().unwrap().body, "record");
    assert_eq!(artifacts.get(&key("a")).await.unwrap().unwrap(), "artifact");
}

#[tokio::test]
async fn what_other_programs_leave_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    store.put_if_absent(&key("r/a"), BODY).await.unwrap();
    let records = folder.path().join("records");
    for name in [".DS_Store", "r/a.record~", "r/.a.record.swp", "r/B.record", "README"] {
        fs::write(records.join(name), "foreign").unwrap();
    }
    fs::create_dir(records.join(".git")).unwrap();
    fs::create_dir(records.join("r/folder.record")).unwrap();
    assert_eq!(store.list("").await.unwrap().len(), 1);
    assert_eq!(store.get_all("r/").await.unwrap().len(), 1);
}

#[tokio::test]
async fn folders_go_with_their_last_record() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let records = folder.path().join("records");
    let version = store.put_if_absent(&key("a/b/c"), BODY).await.unwrap();
    store.put_if_absent(&key("a/d"), BODY).await.unwrap();
    store.delete(&key("a/b/c"), &version).await.unwrap();
    assert!(!records.join("a/b").exists());
    assert!(records.join("a").exists());
    store.delete(&key("a/d"), &version).await.unwrap();
    assert!(records.exists() && fs::read_dir(&records).unwrap().next().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_and_deleters_of_one_folder_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let key = key(&format!("deep/er/folder/{writer}"));
            for round in 0..40 {
                let body = Bytes::from(format!("{writer} {round}"));
                let version = store.put_if_absent(&key, body).await.unwrap();
                store.delete(&key, &version).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert!(store.list("").await.unwrap().is_empty());
}

#[tokio::test]
async fn names_that_no_file_can_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    // The longest segment that the encoding of addresses makes.
    let longest = key(&format!("prod/r/i/{}", "a".repeat(200)));
    store.put_if_absent(&longest, BODY).await.unwrap();

    let long = key(&format!("prod/{}", "é".repeat(50)));
    let refused = store.put_if_absent(&long, BODY).await.unwrap_err();
    assert!(
        matches!(
            &refused,
            StoreError::InvalidKey { fault: KeyFault::SegmentTooLong { length: 307, .. }, .. }
        ),
        "{refused}"
    );
    assert!(store.get(&long).await.is_err());
    assert!(store.try_process_lock(&key(&"k".repeat(300))).await.is_err());

    // Every segment fits, and the path as a whole does not.
    let deep = ["É".repeat(41).as_str(); 12].join("/");
    let nested = tempfile::tempdir().unwrap();
    let mut root = nested.path().to_owned();
    for _ in 0..5 {
        root.push("d".repeat(250));
    }
    let store = created(&root).await;
    let refused = store.put_if_absent(&key(&deep), BODY).await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::InvalidKey { fault: KeyFault::PathTooLong, .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn refusals_of_the_system_name_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    store.put_if_absent(&key("r/a"), BODY).await.unwrap();
    // A folder in a record's place cannot be read as a file, whoever runs the test.
    let path = folder.path().join("records/r/b.record");
    fs::create_dir(&path).unwrap();
    let refused = store.get(&key("r/b")).await.unwrap_err();
    assert!(refused.to_string().contains("b.record"), "{refused}");
    let refused = store.put_if_absent(&key("r/b"), BODY).await.unwrap_err();
    assert!(matches!(refused, StoreError::Io { .. }), "{refused}");
    assert_eq!(fs::read_dir(folder.path().join("staging")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_file_where_the_root_should_be_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".plumb");
    fs::write(&root, "a file").unwrap();
    assert!(DirectoryStore::open(&root, Opening::Create).await.is_err());
}

#[tokio::test]
async fn a_process_lock_has_one_holder() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let other = created(folder.path()).await;
    let name = key("prod/t/plan-1");
    for _ in 0..3 {
        let held = store.try_process_lock(&name).await.unwrap().unwrap();
        assert!(store.try_process_lock(&name).await.unwrap().is_none());
        assert!(other.try_process_lock(&name).await.unwrap().is_none());
        assert!(other.try_process_lock(&key("prod/t/plan-2")).await.unwrap().is_some());
        // Holding it hinders no write.
        let version = other.put_if_absent(&name, BODY).await.unwrap();
        other.delete(&name, &version).await.unwrap();
        drop(held);
    }
    assert_eq!(fs::read_dir(folder.path().join("locks")).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn contended_process_locks_never_have_two_holders() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let (holders, taken) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, holders, taken) = (store.clone(), Arc::clone(&holders), Arc::clone(&taken));
        tasks.spawn(async move {
            while taken.load(Ordering::SeqCst) < 200 {
                if let Some(held) = store.try_process_lock(&key("t")).await.unwrap() {
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                    taken.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1);
                    drop(held);
                }
            }
        });
    }
    tasks.join_all().await;
}

#[tokio::test]
async fn a_hold_is_seen_through_every_layer_and_is_free_once_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let name = key("prod/t/1");
    let counted = CountingStore::new(store.clone());
    let observed = ObservedStore::new(store.clone(), |_: &Write| Answer::Deliver);
    let layers: [&dyn RecordStore; 3] = [&store, &counted, &observed];
    for layer in layers {
        let Hold::Held(guard) = layer.try_hold(&name).await.unwrap() else { panic!("it is free") };
        for other in layers {
            assert!(matches!(other.try_hold(&name).await.unwrap(), Hold::Taken));
        }
        drop(guard);
    }
    let memory = MemoryStore::new();
    assert!(matches!(memory.try_hold(&name).await.unwrap(), Hold::NotOffered));
}
