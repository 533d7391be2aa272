//! Random faults between writers and their server: nothing is lost, and every conflict is honest.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use records::s3::S3Store;
use records::{Key, RecordStore, Version};

use crate::proxy::{Fate, Proxy, Seen, slow_down};
use crate::server::{Server, connection};

const WRITERS: u64 = 4;
const WRITES: u64 = 12;

/// A number that a seed and a request determine.
fn mixed(seed: u64, number: usize) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number as u64 + 1);
    for _ in 0..3 {
        state ^= state >> 30;
        state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 27;
    }
    state
}

fn fate_of(seed: u64, seen: &Seen) -> Fate {
    let chance = mixed(seed, seen.number);
    match chance % 100 {
        0..=5 => Fate::CutBefore,
        6..=13 => Fate::AnswerLost,
        14..=17 => Fate::AnswerCut,
        18..=22 => slow_down(),
        23..=27 => Fate::Delayed(Duration::from_millis(chance / 100 % 120)),
        28 => Fate::Swallowed,
        _ => Fate::Passes,
    }
}

/// What a writer knows of its additions.
#[derive(Default)]
struct Account {
    done: Vec<String>,
    in_doubt: Vec<String>,
}

/// Adds a line to one record that all add to.
async fn add(store: &S3Store, line: &str, account: &mut Account) {
    let shared = Key::new("shared").unwrap();
    for _ in 0..200 {
        let Ok(present) = store.get(&shared).await else { continue };
        let (text, version) = match &present {
            Some(record) => {
                (std::str::from_utf8(&record.body).unwrap().to_owned(), record.version.clone())
            }
            None => (String::new(), Version::absent()),
        };
        let body = Bytes::from(format!("{text}{line}\n"));
        match store.put_if_version(&shared, body, &version).await {
            Ok(_) => return account.done.push(line.to_owned()),
            // Nothing was changed, which the end of the test verifies.
            Err(error) if error.is_conflict() => {}
            Err(error) => {
                assert!(error.leaves_doubt(), "{error:?}");
                return account.in_doubt.push(line.to_owned());
            }
        }
    }
    panic!("{line} was never written");
}

/// How long an answer is waited for: far longer than one takes on this machine, as busy as it is now, and not so long
/// that answers which never come make the test slow.
async fn patience(direct: &S3Store) -> Duration {
    let key = Key::new("shared").unwrap();
    let mut slowest = Duration::ZERO;
    for _ in 0..5 {
        let asked = Instant::now();
        direct.get(&key).await.unwrap();
        slowest = slowest.max(asked.elapsed());
    }
    (slowest * 10).max(Duration::from_millis(700))
}

async fn round(seed: u64) {
    let mut settings = Server::SeaweedFs.bucket().await;
    // The probe is no part of this, and passes the real server.
    let direct = S3Store::new(connection(settings.clone())).unwrap();
    let proxy = Proxy::before(&Server::SeaweedFs.endpoint(), move |seen| {
        if seen.target.contains("probe") { Fate::Passes } else { fate_of(seed, seen) }
    })
    .await;
    settings.endpoint = Some(proxy.endpoint());
    settings.timeouts.answer = patience(&direct).await;
    let store = S3Store::new(connection(settings)).unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = store.clone();
        writers.spawn(async move {
            let mut account = Account::default();
            for write in 0..WRITES {
                add(&store, &format!("{writer}-{write}"), &mut account).await;
            }
            account
        });
    }
    let accounts = writers.join_all().await;
    let record = direct.get(&Key::new("shared").unwrap()).await.unwrap().unwrap();
    let text = std::str::from_utf8(&record.body).unwrap();
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let there: HashSet<_> = lines.iter().cloned().collect();
    assert_eq!(lines.len(), there.len(), "seed {seed}: something was written twice: {lines:?}");
    let mut known = HashSet::new();
    for account in &accounts {
        for line in &account.done {
            assert!(there.contains(line), "seed {seed}: {line} was acknowledged and is lost");
        }
        known.extend(account.done.iter().chain(&account.in_doubt).cloned());
    }
    assert!(
        there.is_subset(&known),
        "seed {seed}: a write was kept that its writer was told was not"
    );
    let sure: usize = accounts.iter().map(|account| account.done.len()).sum();
    assert!(
        sure * 2 > usize::try_from(WRITERS * WRITES).unwrap(),
        "seed {seed}: only {sure} are sure"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_and_conflicts_are_honest() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = number("FAULT_SEED").unwrap_or(0);
    for seed in first..first + number("FAULT_ROUNDS").unwrap_or(20) {
        round(seed).await;
    }
}
