//! Several processes at one store, and what is left when one is killed.
//!
//! The tests start this binary again as a child whose only test is a writer.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use records::testing::{Answer, ObservedStore, Write};
use records::{DirectoryStore, RecordStore, Version};

use crate::{created, key};

const ROOT: &str = "RECORDS_TEST_ROOT";
const WORK: &str = "RECORDS_TEST_WORK";

/// Starts a child that does `work` in the store at `root`.
fn child(root: &Path, work: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::as_a_child", "--nocapture", "--ignored"])
        .env(ROOT, root)
        .env(WORK, work)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The lines that a child says after a mark that sets them off from the test runner's.
fn said(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .filter_map(|line| line.split_once("child: ").map(|(_, said)| said.to_owned()))
}

/// Its size differs from body to body, and every byte tells which it is.
fn body(number: u64) -> Bytes {
    let line = format!("{number}\n");
    Bytes::from(line.repeat(20_000 + usize::try_from(number % 7).unwrap() * 1_000))
}

fn number_of(body: &[u8]) -> u64 {
    let text = std::str::from_utf8(body).unwrap();
    let number = text.lines().next().unwrap().parse().unwrap();
    assert!(self::body(number) == body, "half a body was kept");
    number
}

#[test]
#[ignore = "the part of the other tests that runs in a process of its own"]
fn as_a_child() {
    let (Ok(root), Ok(work)) = (std::env::var(ROOT), std::env::var(WORK)) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = created(Path::new(&root)).await;
        match work.as_str() {
            "write" => write_on(store).await,
            "lock" => {
                let held = store.try_process_lock(&key("t/1")).await.unwrap();
                println!("child: {}", if held.is_some() { "held" } else { "refused" });
                std::future::pending().await
            }
            "count" => {
                for _ in 0..COUNTED {
                    count(&store).await;
                }
                println!("child: counted");
            }
            "abort" => {
                let abort = |write: &Write| {
                    if write.number == 3 { std::process::abort() } else { Answer::Deliver }
                };
                write_on(ObservedStore::new(store, abort)).await
            }
            other => panic!("{other}"),
        }
    });
}

/// How far each process counts.
const COUNTED: u64 = 60;

/// Adds one to a record that others add to.
async fn count(store: &DirectoryStore) {
    loop {
        let record = store.get(&key("counter")).await.unwrap();
        let (sum, version) = match &record {
            Some(record) => (sum_in(&record.body), record.version.clone()),
            None => (0, Version::absent()),
        };
        let body = format!("{} by {}", sum + 1, std::process::id());
        match store.put_if_version(&key("counter"), body.into(), &version).await {
            Err(error) if error.is_conflict() => {}
            written => return drop(written.unwrap()),
        }
    }
}

fn sum_in(body: &[u8]) -> u64 {
    std::str::from_utf8(body).unwrap().split(' ').next().unwrap().parse().unwrap()
}

/// Writes one body after the other, and says when each was answered.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn write_on(store: impl RecordStore) {
    let (mut next, mut version) = match store.get(&key("r/a")).await.unwrap() {
        Some(record) => (number_of(&record.body) + 1, record.version),
        None => (1, Version::absent()),
    };
    loop {
        version = store.put_if_version(&key("r/a"), body(next), &version).await.unwrap();
        println!("child: {next}");
        next += 1;
    }
}

async fn stored(store: &DirectoryStore) -> u64 {
    let listed = store.list("").await.unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    let record = store.get(&key("r/a")).await.unwrap().unwrap();
    assert_eq!((&listed[0].version, listed[0].size), (&record.version, record.body.len() as u64));
    number_of(&record.body)
}

#[tokio::test]
async fn processes_lose_no_update_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let mut children: Vec<_> = (0..4).map(|_| child(folder.path(), "count")).collect();
    for child in &mut children {
        assert_eq!(said(child).collect::<Vec<_>>(), ["counted"]);
        assert!(child.wait().unwrap().success());
    }
    let record = store.get(&key("counter")).await.unwrap().unwrap();
    assert_eq!(sum_in(&record.body), 4 * COUNTED);
}

#[tokio::test]
async fn a_killed_write_leaves_the_old_or_the_new() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    for round in 0..25 {
        let mut child = child(folder.path(), "write");
        let mut lines = said(&mut child);
        let mut answered = 0;
        // The kill falls anywhere into the next write, since the writer does not wait for us.
        for _ in 0..=round % 3 {
            answered = lines.next().unwrap().parse().unwrap();
        }
        child.kill().unwrap();
        let last = lines.filter_map(|line| line.parse().ok()).last().unwrap_or(answered);
        child.wait().unwrap();
        let stored = stored(&store).await;
        assert!(stored == last || stored == last + 1, "{last} was answered, {stored} is stored");
    }
    // Nothing of the dead is in the way of the living, and their leftovers go with the next write.
    let store = created(folder.path()).await;
    let record = store.get(&key("r/a")).await.unwrap().unwrap();
    store.put_if_version(&key("r/a"), body(1), &record.version).await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("staging")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_process_may_end_after_any_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let mut child = child(folder.path(), "abort");
    assert_eq!(said(&mut child).collect::<Vec<_>>(), ["1", "2"]);
    assert!(!child.wait().unwrap().success());
    assert_eq!(stored(&store).await, 3);
}

#[tokio::test]
async fn a_lock_dies_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let mut child = child(folder.path(), "lock");
    assert_eq!(said(&mut child).next().as_deref(), Some("held"));
    assert!(store.try_process_lock(&key("t/1")).await.unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(store.try_process_lock(&key("t/1")).await.unwrap().is_some());
}

#[tokio::test]
async fn what_a_living_process_is_writing_is_not_swept() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path()).await;
    let staging = folder.path().join("staging");
    std::fs::write(staging.join("1-1"), "left by the dead").unwrap();
    let living = std::fs::File::create(staging.join("1-2")).unwrap();
    living.lock().unwrap();
    // The first write of another opening sweeps.
    let other = created(folder.path()).await;
    other.put_if_absent(&key("r/a"), body(1)).await.unwrap();
    drop(store);
    let left: Vec<_> =
        std::fs::read_dir(&staging).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["1-2"]);
}
