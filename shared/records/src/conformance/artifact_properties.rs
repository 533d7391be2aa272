//! The properties of an [`ArtifactStore`].

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinSet;

use super::{
    KEYS, KEYS_WITH_BACKSLASHES, MANY_KEYS, PREFIXES_OF_NOTHING, Report, Subject, Violation,
    bodies, finished, in_order, require,
};
use crate::{ArtifactStore, PutMode, StoreError};

type Store = Arc<dyn ArtifactStore>;
type Outcome = Result<(), Violation>;

/// Checks every property. `store` opens the store, once for each of them; keys below `conformance/` must
/// be free.
pub async fn artifacts<F, O>(store: F) -> Report
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
        contents_round_trip,
        keys_round_trip,
        backslashes_round_trip,
        create_once,
        overwrite,
        many_keys,
        one_creator
    );
    report
}

async fn absent_is_nothing(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("no/thing")?);
    require!(store.get(&key).await?.is_none(), "{key} is there, and should not be");
    store.delete(&key).await?;
    require!(store.list(&subject.prefix).await?.is_empty(), "an empty prefix lists something");
    Ok(())
}

async fn contents_round_trip(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    for (name, content) in bodies() {
        let key = subject.key(name)?;
        store.put(&key, Bytes::from(content.clone()), PutMode::Create).await?;
        require!(
            store.get(&key).await?.is_some_and(|read| read == content),
            "{key} has another content than was written"
        );
        let listed = store.list(key.as_str()).await?;
        let sizes: Vec<_> = listed.iter().map(|entry| entry.size).collect();
        require!(sizes == [content.len() as u64], "{key} is listed as {listed:?}");
    }
    Ok(())
}

async fn keys_round_trip(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    let mut keys = Vec::new();
    for text in KEYS {
        let key = subject.key(text)?;
        store.put(&key, Bytes::from(text), PutMode::Create).await?;
        keys.push(key);
    }
    let keys = in_order(keys);
    for prefix in ["", "a", "a/", "a.", "estate/r/i/aws", "caf"].map(|rest| subject.below(rest)) {
        let matching: Vec<_> =
            keys.iter().filter(|key| key.as_str().starts_with(&prefix)).cloned().collect();
        let listed: Vec<_> =
            store.list(&prefix).await?.into_iter().map(|entry| entry.key).collect();
        require!(listed == matching, "{prefix:?} lists {listed:?} instead of {matching:?}");
    }
    for prefix in PREFIXES_OF_NOTHING {
        let listed = store.list(prefix).await?;
        require!(listed.is_empty(), "{prefix:?} lists {listed:?}");
    }
    for key in &keys {
        store.delete(key).await?;
        require!(store.get(key).await?.is_none(), "{key} is there after it was deleted");
    }
    require!(store.list(&subject.prefix).await?.is_empty(), "deleted keys are listed");
    Ok(())
}

async fn backslashes_round_trip(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    for text in KEYS_WITH_BACKSLASHES {
        store.put(&subject.key(text)?, Bytes::from(text), PutMode::Create).await?;
    }
    for text in KEYS_WITH_BACKSLASHES {
        let read = store.get(&subject.key(text)?).await?;
        require!(read.is_some_and(|read| read == text), "{text:?} has another content");
    }
    let listed = store.list(&subject.prefix).await?.into_iter().map(|entry| entry.key);
    let keys: Vec<_> = KEYS_WITH_BACKSLASHES
        .into_iter()
        .map(|text| subject.key(text))
        .collect::<Result<_, _>>()?;
    require!(listed.eq(in_order(keys)), "the list is not what was written");
    Ok(())
}

async fn create_once(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("plan")?);
    store.put(&key, Bytes::from_static(b"first"), PutMode::Create).await?;
    store.put(&key, Bytes::from_static(b"first"), PutMode::Create).await?;
    match store.put(&key, Bytes::from_static(b"second"), PutMode::Create).await {
        Err(StoreError::AlreadyExists { key: named }) => {
            require!(named == key, "the refusal of {key} names {named}");
        }
        Err(other) => return Err(other.into()),
        Ok(()) => return Err(Violation::Wrong("an artifact was created twice".to_owned())),
    }
    let read = store.get(&key).await?;
    require!(read.is_some_and(|read| read == "first"), "a refused create changed the content");
    Ok(())
}

async fn overwrite(subject: Subject<Store>) -> Outcome {
    let (store, key) = (&subject.store, subject.key("snapshot")?);
    for content in ["first", "second, and longer", "3rd"] {
        store.put(&key, Bytes::from(content), PutMode::Overwrite).await?;
        let read = store.get(&key).await?;
        require!(read.is_some_and(|read| read == content), "an overwritten content is the old one");
    }
    Ok(())
}

/// More keys than a page of any store's list.
async fn many_keys(subject: Subject<Store>) -> Outcome {
    let store = &subject.store;
    let name = |number: usize| subject.key(&format!("{}/{number}", number % 3));
    let mut tasks = JoinSet::new();
    for number in 0..MANY_KEYS {
        let (store, key) = (Arc::clone(store), name(number)?);
        if tasks.len() >= 32 {
            finished(tasks.join_next().await)?;
        }
        tasks.spawn(async move {
            store.put(&key, Bytes::from(format!("content {number}")), PutMode::Create).await
        });
    }
    while let Some(task) = tasks.join_next().await {
        finished(Some(task))?;
    }
    let keys = in_order((0..MANY_KEYS).map(name).collect::<Result<Vec<_>, _>>()?);
    let listed = store.list(&subject.prefix).await?;
    require!(listed.iter().map(|entry| &entry.key).eq(&keys), "the list is not what was written");
    Ok(())
}

async fn one_creator(subject: Subject<Store>) -> Outcome {
    let key = subject.key("plan")?;
    let mut writers = Vec::new();
    for writer in 0..16 {
        let (store, key) = (Arc::clone(&subject.store), key.clone());
        let content = Bytes::from(format!("by {writer}"));
        writers.push((
            content.clone(),
            tokio::spawn(async move { store.put(&key, content, PutMode::Create).await }),
        ));
    }
    let mut winners = Vec::new();
    for (content, writer) in writers {
        match writer.await {
            Ok(Ok(())) => winners.push(content),
            Ok(Err(StoreError::AlreadyExists { .. })) => {}
            Ok(Err(other)) => return Err(other.into()),
            Err(failure) => return Err(Violation::Wrong(format!("a task ended early: {failure}"))),
        }
    }
    require!(winners.len() == 1, "{} of 16 racing creators won", winners.len());
    require!(subject.store.get(&key).await? == winners.pop(), "the winner's content is not there");
    Ok(())
}
