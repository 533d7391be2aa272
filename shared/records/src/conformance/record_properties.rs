//! The properties of a [`RecordStore`].

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinSet;

use super::{
    KEYS, KEYS_WITH_BACKSLASHES, MANY_KEYS, PREFIXES_OF_NOTHING, Report, Subject, Violation,
    bodies, finished, in_order, refused_keys, require,
};
use crate::{Key, MAX_KEY_LENGTH, Record, RecordStore, StoreError, Version};

type Store = Arc<dyn RecordStore>;
type Outcome = Result<(), Violation>;

/// Checks every property. `store` opens the store, once for each of them; keys below `conformance/` must
/// be free. Runs on a Tokio runtime, and tells more about races on one with several threads.
pub async fn records<F, O>(store: F) -> Report
where
    F: Fn() -> O,
    O: Future<Output = Store>,
{
    let mut report = Report::default();
    macro_rules! check {
        ($($property:ident),+ $(,)?) => {
            $({
                let name = stringify!($property);
                report.add(name, $property(Subject::new(store().await, name)).await);
            })+
        };
    }
    check!(
        absent_is_nothing,
        bodies_round_trip,
        keys_round_trip,
        backslashes_round_trip,
        long_keys,
        refused_texts,
        create_twice,
        update_matched,
        update_stale,
        update_missing,
        absent_version_creates,
        delete_matched,
        delete_stale,
        delete_absent,
        recreate,
        answer_lost,
        versions_never_come_back,
        list_by_plain_prefix,
        list_of_nothing,
        many_keys,
        one_winner_creates,
        one_winner_updates,
        one_winner_deletes,
        no_lost_update,
        reads_are_whole,
    );
    report
}

fn expect_conflict<T>(
    result: Result<T, StoreError>,
    key: &Key,
    expected: &Version,
    actual: &Version,
) -> Outcome {
    match result {
        Err(StoreError::Conflict { key: named, expected: seen, actual: found }) => {
            require!(named == *key, "the conflict on {key} names {named}");
            require!(
                seen == *expected,
                "the conflict names {seen:?} as expected, not {expected:?}"
            );
            require!(found == *actual, "the conflict names {found:?} as actual, not {actual:?}");
            Ok(())
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err(Violation::Wrong(format!("a write of {key} succeeded that had to conflict"))),
    }
}

async fn expect_record(store: &Store, key: &Key, body: &[u8], version: &Version) -> Outcome {
    let Some(record) = store.get(key).await? else {
        return Err(Violation::Wrong(format!("{key} is absent")));
    };
    require!(record.body == body, "{key} has another body than was written");
    require!(
        record.version == *version,
        "{key} is read at another version than its write answered"
    );
    Ok(())
}

async fn expect_absent(store: &Store, key: &Key) -> Outcome {
    require!(store.get(key).await?.is_none(), "{key} is there, and should not be");
    Ok(())
}

async fn absent_is_nothing(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    expect_absent(store, &subject.key("nothing")?).await?;
    expect_absent(store, &subject.key("no/such/folder")?).await?;
    require!(store.list(&subject.prefix).await?.is_empty(), "an empty prefix lists something");
    require!(store.get_all(&subject.prefix).await?.is_empty(), "an empty prefix has bodies");
    Ok(())
}

async fn bodies_round_trip(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    for (name, body) in bodies() {
        let key = subject.key(name)?;
        let version = store.put_if_absent(&key, Bytes::from(body.clone())).await?;
        require!(!version.is_absent(), "the version of {key} is the absent one");
        expect_record(store, &key, &body, &version).await?;
        let listed = store.list(key.as_str()).await?;
        let sizes: Vec<_> = listed.iter().map(|entry| (&entry.version, entry.size)).collect();
        require!(sizes == [(&version, body.len() as u64)], "{key} is listed as {listed:?}");
    }
    Ok(())
}

async fn keys_round_trip(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    let mut written = Vec::new();
    for text in KEYS {
        let key = subject.key(text)?;
        let body = Bytes::from(format!("body of {text}"));
        let version = store.put_if_absent(&key, body.clone()).await?;
        written.push((key, Record { body, version }));
    }
    for (key, record) in &written {
        expect_record(store, key, &record.body, &record.version).await?;
    }
    written
        .sort_by(|(left, _), (right, _)| left.as_str().as_bytes().cmp(right.as_str().as_bytes()));
    require!(
        store.get_all(&subject.prefix).await? == written,
        "get_all differs from what was written"
    );
    for (key, record) in written {
        store.delete(&key, &record.version).await?;
        expect_absent(store, &key).await?;
    }
    require!(store.list(&subject.prefix).await?.is_empty(), "deleted keys are listed");
    Ok(())
}

async fn backslashes_round_trip(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    let mut versions = Vec::new();
    for text in KEYS_WITH_BACKSLASHES {
        versions.push(store.put_if_absent(&subject.key(text)?, Bytes::from(text)).await?);
    }
    for (text, version) in KEYS_WITH_BACKSLASHES.into_iter().zip(&versions) {
        expect_record(store, &subject.key(text)?, text.as_bytes(), version).await?;
    }
    let listed = store.list(&subject.prefix).await?.into_iter().map(|entry| entry.key);
    let keys: Vec<_> = KEYS_WITH_BACKSLASHES
        .into_iter()
        .map(|text| subject.key(text))
        .collect::<Result<_, _>>()?;
    require!(listed.eq(in_order(keys)), "the list is not what was written");
    Ok(())
}

/// A key of the greatest length is kept, or refused for what it is: never cut short, and no other failure.
async fn long_keys(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    let room = MAX_KEY_LENGTH - subject.prefix.len();
    let mut long: String =
        std::iter::repeat_n("segment-".repeat(24), 6).collect::<Vec<_>>().join("/");
    long.truncate(room);
    let (longest, shorter) = (subject.key(&long)?, subject.key(long.split_at(room - 1).0)?);
    for key in [&longest, &shorter] {
        match store.put_if_absent(key, Bytes::from(key.as_str().to_owned())).await {
            Ok(version) => expect_record(store, key, key.as_str().as_bytes(), &version).await?,
            Err(StoreError::InvalidKey { .. }) => expect_none_listed(store, key).await?,
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

async fn expect_none_listed(store: &Store, key: &Key) -> Outcome {
    let listed = store.list(key.as_str()).await?;
    require!(listed.is_empty(), "a key that was refused is listed");
    Ok(())
}

async fn refused_texts(_: Subject<Store>) -> Outcome {
    for text in refused_keys() {
        let refused = matches!(Key::new(text.as_str()), Err(StoreError::InvalidKey { .. }));
        require!(refused, "{text:?} is taken for a key");
    }
    Ok(())
}

async fn create_twice(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    let version = store.put_if_absent(&key, Bytes::from_static(b"first")).await?;
    let again = store.put_if_absent(&key, Bytes::from_static(b"second")).await;
    expect_conflict(again, &key, &Version::absent(), &version)?;
    expect_record(store, &key, b"first", &version).await
}

/// A writer to whom the answer never came writes the same again. It is told that its body is there, or of
/// a conflict with just that body; and it is there once.
async fn answer_lost(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    let mut seen = Version::absent();
    for round in 0..3 {
        let body = Bytes::from(format!("round {round}, of one writer"));
        let written = store.put_if_version(&key, body.clone(), &seen).await?;
        match store.put_if_version(&key, body.clone(), &seen).await {
            Ok(version) => require!(version == written, "the same body has got another version"),
            Err(StoreError::Conflict { actual, .. }) => {
                require!(actual == written, "the conflict is not with what was written");
            }
            Err(other) => return Err(other.into()),
        }
        expect_record(store, &key, &body, &written).await?;
        // Another body from the same start is another's write, and too late.
        let late = store.put_if_version(&key, Bytes::from_static(b"too late"), &seen).await;
        expect_conflict(late, &key, &seen, &written)?;
        expect_record(store, &key, &body, &written).await?;
        seen = written;
    }
    Ok(())
}

/// Of bodies that differ no two have a version in common, also across a removal.
async fn versions_never_come_back(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    let mut seen = HashSet::new();
    let mut present = Version::absent();
    for round in 0..40 {
        if round % 8 == 7 {
            store.delete(&key, &present).await?;
            present = Version::absent();
        }
        // The content comes back, as a resource's does; what makes bodies unique is beside it.
        let body = Bytes::from(format!("{{\"content\": {}, \"write\": {round}}}", round % 2));
        present = store.put_if_version(&key, body, &present).await?;
        require!(seen.insert(present.clone()), "the version {present} came back in round {round}");
    }
    Ok(())
}

async fn update_matched(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    let first = store.put_if_absent(&key, Bytes::from_static(b"first")).await?;
    let second = store.put_if_version(&key, Bytes::from_static(b"second"), &first).await?;
    require!(first != second, "two bodies have one version");
    expect_record(store, &key, b"second", &second).await
}

async fn update_stale(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    let first = store.put_if_absent(&key, Bytes::from_static(b"first")).await?;
    let second = store.put_if_version(&key, Bytes::from_static(b"second"), &first).await?;
    let stale = store.put_if_version(&key, Bytes::from_static(b"third"), &first).await;
    expect_conflict(stale, &key, &first, &second)?;
    expect_record(store, &key, b"second", &second).await
}

async fn update_missing(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    let version = store.put_if_absent(&key, Bytes::from_static(b"first")).await?;
    store.delete(&key, &version).await?;
    let missing = store.put_if_version(&key, Bytes::from_static(b"second"), &version).await;
    expect_conflict(missing, &key, &version, &Version::absent())?;
    expect_absent(store, &key).await
}

async fn absent_version_creates(subject: Subject<Store>) -> Outcome {
    let (store, key, absent) = (&subject.store, subject.key("key")?, Version::absent());
    let version = store.put_if_version(&key, Bytes::from_static(b"first"), &absent).await?;
    let again = store.put_if_version(&key, Bytes::from_static(b"second"), &absent).await;
    expect_conflict(again, &key, &absent, &version)?;
    expect_record(store, &key, b"first", &version).await
}

async fn delete_matched(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("a/key")?);
    let neighbour = subject.key("a/neighbour")?;
    let version = store.put_if_absent(&key, Bytes::from_static(b"first")).await?;
    let kept = store.put_if_absent(&neighbour, Bytes::from_static(b"kept")).await?;
    store.delete(&key, &version).await?;
    expect_absent(store, &key).await?;
    expect_record(store, &neighbour, b"kept", &kept).await
}

async fn delete_stale(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    let first = store.put_if_absent(&key, Bytes::from_static(b"first")).await?;
    let second = store.put_if_version(&key, Bytes::from_static(b"second"), &first).await?;
    expect_conflict(store.delete(&key, &first).await, &key, &first, &second)?;
    let absent = Version::absent();
    expect_conflict(store.delete(&key, &absent).await, &key, &absent, &second)?;
    expect_record(store, &key, b"second", &second).await
}

async fn delete_absent(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("key")?);
    store.delete(&key, &Version::absent()).await?;
    let version = store.put_if_absent(&key, Bytes::from_static(b"first")).await?;
    store.delete(&key, &version).await?;
    store.delete(&key, &Version::absent()).await?;
    expect_conflict(store.delete(&key, &version).await, &key, &version, &Version::absent())
}

async fn recreate(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("deep/er/key")?);
    for round in 0..3 {
        let body = Bytes::from(format!("round {round}"));
        let version = store.put_if_absent(&key, body.clone()).await?;
        expect_record(store, &key, &body, &version).await?;
        store.delete(&key, &version).await?;
        expect_absent(store, &key).await?;
    }
    Ok(())
}

async fn list_by_plain_prefix(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    let mut keys = Vec::new();
    for text in KEYS {
        let key = subject.key(text)?;
        store.put_if_absent(&key, Bytes::from(format!("body of {text}"))).await?;
        keys.push(key);
    }
    let keys = in_order(keys);
    let prefixes = KEYS.into_iter().flat_map(|text| {
        // Every prefix that ends between two characters, and the whole as a folder.
        let cuts = text.char_indices().map(move |(index, _)| text.split_at(index).0.to_owned());
        cuts.chain([text.to_owned(), format!("{text}/")])
    });
    for prefix in prefixes.map(|prefix| subject.below(&prefix)) {
        let matching: Vec<_> =
            keys.iter().filter(|key| key.as_str().starts_with(&prefix)).cloned().collect();
        let listed: Vec<_> =
            store.list(&prefix).await?.into_iter().map(|entry| entry.key).collect();
        require!(listed == matching, "{prefix:?} lists {listed:?} instead of {matching:?}");
        let read: Vec<_> = store.get_all(&prefix).await?.into_iter().map(|(key, _)| key).collect();
        require!(read == matching, "{prefix:?} reads {read:?} instead of {matching:?}");
    }
    Ok(())
}

async fn list_of_nothing(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    store.put_if_absent(&subject.key("key")?, Bytes::from_static(b"body")).await?;
    for prefix in PREFIXES_OF_NOTHING {
        for prefix in [prefix.to_owned(), subject.below(prefix)] {
            let listed = store.list(&prefix).await?;
            require!(listed.is_empty(), "{prefix:?} lists {listed:?}");
            require!(store.get_all(&prefix).await?.is_empty(), "{prefix:?} has bodies");
        }
    }
    Ok(())
}

/// More keys than a page of any store's list.
async fn many_keys(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    let mut tasks = JoinSet::new();
    for number in 0..MANY_KEYS {
        let (store, key) = (Arc::clone(store), subject.key(&format!("{}/{number}", number % 3))?);
        if tasks.len() >= 32 {
            finished(tasks.join_next().await)?;
        }
        tasks.spawn(async move {
            store.put_if_absent(&key, Bytes::from(format!("body {number}"))).await.map(drop)
        });
    }
    while let Some(task) = tasks.join_next().await {
        finished(Some(task))?;
    }
    let keys = (0..MANY_KEYS).map(|number| subject.key(&format!("{}/{number}", number % 3)));
    let keys = in_order(keys.collect::<Result<Vec<_>, _>>()?);
    let listed = store.list(&subject.prefix).await?;
    let read = store.get_all(&subject.prefix).await?;
    require!(listed.iter().map(|entry| &entry.key).eq(&keys), "the list is not what was written");
    require!(read.iter().map(|(key, _)| key).eq(&keys), "get_all is not what was written");
    let versions_agree = listed
        .iter()
        .map(|entry| &entry.version)
        .eq(read.iter().map(|(_, record)| &record.version));
    require!(versions_agree, "list and get_all differ in versions");
    Ok(())
}

/// Runs 16 writers at once; the one that wins answers its version, all others conflict.
async fn race<F, O>(key: &Key, write: F) -> Result<(usize, Version), Violation>
where
    F: Fn(usize) -> O,
    O: Future<Output = Result<Version, StoreError>> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for writer in 0..16 {
        let write = write(writer);
        tasks.spawn(async move { Ok((writer, write.await)) });
    }
    let (mut winners, mut losers) = (Vec::new(), Vec::new());
    while let Some(task) = tasks.join_next().await {
        match finished(Some(task))? {
            Some((writer, Ok(version))) => winners.push((writer, version)),
            Some((_, Err(StoreError::Conflict { actual, .. }))) => losers.push(actual),
            Some((_, Err(other))) => return Err(other.into()),
            None => {}
        }
    }
    require!(winners.len() == 1, "{} of 16 racing writers of {key} won", winners.len());
    let Some((winner, version)) = winners.pop() else {
        return Err(Violation::Wrong("nobody won".to_owned()));
    };
    let told = losers.iter().all(|actual| *actual == version);
    require!(told, "a loser was told another version than the winner's");
    Ok((winner, version))
}

async fn one_winner_creates(subject: Subject<Store>) -> Outcome {
    for round in 0..20 {
        let key = subject.key(&round.to_string())?;
        let (winner, version) = race(&key, |writer| {
            let (store, key) = (Arc::clone(&subject.store), key.clone());
            async move { store.put_if_absent(&key, Bytes::from(format!("by {writer}"))).await }
        })
        .await?;
        expect_record(&subject.store, &key, format!("by {winner}").as_bytes(), &version).await?;
    }
    Ok(())
}

async fn one_winner_updates(subject: Subject<Store>) -> Outcome {
    let key = subject.key("key")?;
    let mut version = subject.store.put_if_absent(&key, Bytes::from_static(b"start")).await?;
    for round in 0..20 {
        let (winner, won) = race(&key, |writer| {
            let (store, key, seen) = (Arc::clone(&subject.store), key.clone(), version.clone());
            let body = Bytes::from(format!("round {round} by {writer}"));
            async move { store.put_if_version(&key, body, &seen).await }
        })
        .await?;
        let body = format!("round {round} by {winner}");
        expect_record(&subject.store, &key, body.as_bytes(), &won).await?;
        version = won;
    }
    Ok(())
}

async fn one_winner_deletes(subject: Subject<Store>) -> Outcome {
    for round in 0..20 {
        let key = subject.key(&format!("{round}/key"))?;
        let version = subject.store.put_if_absent(&key, Bytes::from_static(b"body")).await?;
        race(&key, |_| {
            let (store, key, seen) = (Arc::clone(&subject.store), key.clone(), version.clone());
            async move { store.delete(&key, &seen).await.map(|()| Version::absent()) }
        })
        .await?;
        expect_absent(&subject.store, &key).await?;
    }
    Ok(())
}

/// Eight writers add up to a thousand in one record; every addition has to be in the sum.
async fn no_lost_update(subject: Subject<Store>) -> Outcome {
    let key = subject.key("counter")?;
    let mut tasks = JoinSet::new();
    for writer in 0..8 {
        let (store, key) = (Arc::clone(&subject.store), key.clone());
        tasks.spawn(async move {
            let mut attempt = 0_u32;
            for _ in 0..125 {
                loop {
                    attempt += 1;
                    let record = store.get(&key).await?;
                    let (sum, version) = match &record {
                        None => (0, Version::absent()),
                        Some(record) => (sum_in(record), record.version.clone()),
                    };
                    let body = Bytes::from(format!("{} by {writer} at {attempt}", sum + 1));
                    match store.put_if_version(&key, body, &version).await {
                        Ok(_) => break,
                        Err(StoreError::Conflict { .. }) => tokio::task::yield_now().await,
                        Err(other) => return Err(other),
                    }
                }
            }
            Ok(())
        });
    }
    while let Some(task) = tasks.join_next().await {
        finished(Some(task))?;
    }
    let sum = subject.store.get(&key).await?.as_ref().map_or(0, sum_in);
    require!(sum == 1_000, "1000 additions came to {sum}");
    Ok(())
}

fn sum_in(record: &Record) -> u64 {
    let text = std::str::from_utf8(&record.body).unwrap_or_default();
    text.split(' ').next().and_then(|sum| sum.parse().ok()).unwrap_or_default()
}

/// A reader beside a writer sees one body or the other, never parts of both.
async fn reads_are_whole(subject: Subject<Store>) -> Outcome {
    let key = subject.key("key")?;
    let body = |round: u8| Bytes::from(vec![round; 100_000 + usize::from(round)]);
    let first = subject.store.put_if_absent(&key, body(0)).await?;
    let writer = {
        let (store, key) = (Arc::clone(&subject.store), key.clone());
        tokio::spawn(async move {
            let mut version = first;
            for round in 1..=50 {
                version = store.put_if_version(&key, body(round), &version).await?;
            }
            Ok::<_, StoreError>(())
        })
    };
    while !writer.is_finished() {
        let Some(record) = subject.store.get(&key).await? else {
            return Err(Violation::Wrong("a replaced record was absent for a moment".to_owned()));
        };
        let round = record.body.first().copied().unwrap_or_default();
        require!(record.body == body(round), "a read saw parts of two bodies");
        let listed = subject.store.list(&subject.prefix).await?;
        require!(listed.len() == 1, "a list beside a writer has {} keys", listed.len());
        tokio::task::yield_now().await;
    }
    finished(Some(writer.await))?;
    Ok(())
}
