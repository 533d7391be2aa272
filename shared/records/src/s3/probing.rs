//! Whether another server than AWS keeps what its conditional requests promise.
//!
//! Some servers take a condition and ignore it, and some look first and write later. With either, two
//! applies would each believe to be the only one. What a server does is seen only by trying.

use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use tokio::task::JoinSet;

use super::answer::{Failure, Meaning};
use super::objects::{Condition, Objects};
use crate::{Key, StoreError, Version};

/// Where the probes are written, and the mark of a server that has passed.
const FOLDER: &str = "~probe/";
const PASSED: &str = "~probe/passed";
/// Those who create one object at once, and how often.
const RACERS: usize = 12;
const RACES: usize = 4;

/// Whether a key is of a probe, and so of nobody's records.
pub(super) fn is_probe(key: &Key) -> bool {
    key.as_str().starts_with(FOLDER)
}

/// Refuses a server that only pretends. It is tried once, and a mark beside the records says that it passed.
pub(super) async fn require_honesty(objects: &Objects) -> Result<(), StoreError> {
    let connection = &objects.connection;
    let Some(endpoint) = connection.other_server() else { return Ok(()) };
    connection.honesty().get_or_try_init(|| established(objects, endpoint)).await.map(drop)
}

async fn established(objects: &Objects, endpoint: &str) -> Result<(), StoreError> {
    let mark = Key::new(PASSED)?;
    let body = Bytes::from(format!("{endpoint} keeps conditions, as tried by version 1\n"));
    if objects.get(&mark).await?.is_some_and(|present| present.body == body) {
        return Ok(());
    }
    let key = Key::new(format!("{FOLDER}{:016x}", RandomState::new().hash_one(endpoint)))?;
    let probe = Probe { objects, name: objects.name(&key)?, key };
    let outcome = probe.run().await;
    probe.remove().await;
    outcome?;
    let name = objects.name(&mark)?;
    objects
        .put_once(&name, &body, None)
        .await
        .map(drop)
        .map_err(|failure| objects.error("PutObject", Some(&mark), true, failure))
}

struct Probe<'a> {
    objects: &'a Objects,
    key: Key,
    name: String,
}

impl Probe<'_> {
    async fn run(&self) -> Result<(), StoreError> {
        let wrong = Condition::Is(Version::new("00000000000000000000000000000000"));
        let first = self.done(self.put("1", &Condition::Absent).await)?;
        self.refused(self.put("2", &Condition::Absent).await, "PUT with If-None-Match: *")?;
        self.refused(self.put("3", &wrong).await, "PUT with If-Match")?;
        let first = Condition::Is(first);
        let second = self.done(self.put("4", &first).await)?;
        self.refused(self.put("5", &first).await, "PUT with If-Match")?;
        let stale = self.objects.delete_once(&self.name, Some(&first.version())).await;
        self.refused(stale, "DELETE with If-Match")?;
        match self.objects.get(&self.key).await? {
            Some(present) if present.body == "4" && present.version == second => {}
            Some(_) => return Err(self.pretends("a write that it refused was done")),
            None => return Err(self.pretends("a DELETE that it refused was done")),
        }
        let deleted = self.objects.delete_once(&self.name, Some(&second)).await;
        deleted.map_err(|failure| self.failed("DeleteObject", failure))?;
        if self.objects.get(&self.key).await?.is_some() {
            return Err(self.pretends("a DELETE with If-Match was answered but not done"));
        }
        let again = self.objects.delete_once(&self.name, Some(&second)).await;
        self.refused(again, "DELETE with If-Match of what is deleted already")?;
        self.race().await
    }

    /// Of those who create one object at once, one may succeed.
    async fn race(&self) -> Result<(), StoreError> {
        for round in 0..RACES {
            let mut racers = JoinSet::new();
            let name = format!("{}-{round}", self.name);
            for racer in 0..RACERS {
                let (objects, name) = (self.objects.clone(), name.clone());
                racers.spawn(async move {
                    let body = Bytes::from(format!("{racer}"));
                    objects.put_once(&name, &body, Some(&Condition::Absent)).await
                });
            }
            let outcomes = racers.join_all().await;
            // The answers count, not what is there: what is there is always of one of them.
            let winners = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            let _ = self.objects.delete_once(&name, None).await;
            if winners > 1 {
                return Err(self.pretends(&format!(
                    "{winners} of {RACERS} requests at once created the same object"
                )));
            }
        }
        Ok(())
    }

    async fn put(&self, body: &'static str, condition: &Condition) -> Result<Version, Failure> {
        self.objects
            .put_once(&self.name, &Bytes::from_static(body.as_bytes()), Some(condition))
            .await
    }

    fn done(&self, result: Result<Version, Failure>) -> Result<Version, StoreError> {
        result.map_err(|failure| match (failure.status, failure.meaning) {
            (Some(501), _) => self.pretends("PUT with a condition is not implemented"),
            (_, Meaning::Precondition | Meaning::NoSuchKey) => {
                self.pretends("PUT with a condition that holds is refused")
            }
            _ => self.failed("PutObject", failure),
        })
    }

    fn refused<T>(&self, result: Result<T, Failure>, what: &str) -> Result<(), StoreError> {
        match result {
            Ok(_) => Err(self.pretends(&format!("{what} ignores its condition"))),
            Err(failure)
                if matches!(failure.meaning, Meaning::Precondition | Meaning::NoSuchKey) =>
            {
                Ok(())
            }
            Err(failure) if failure.status == Some(501) => {
                Err(self.pretends(&format!("{what} is not implemented")))
            }
            Err(failure) => Err(self.failed(
                if what.starts_with("PUT") { "PutObject" } else { "DeleteObject" },
                failure,
            )),
        }
    }

    fn failed(&self, operation: &'static str, failure: Failure) -> StoreError {
        self.objects.error(operation, Some(&self.key), false, failure)
    }

    fn pretends(&self, how: &str) -> StoreError {
        let connection = &self.objects.connection;
        StoreError::Unsuitable {
            location: connection.location(),
            problem: format!(
                "the server at {} does not keep conditional requests: {how}. Two applies at once would \
                 overwrite each other's records. Use AWS, another server, or a newer version of this one",
                connection.other_server().unwrap_or_default()
            ),
        }
    }

    /// What is left behind is in nobody's way.
    async fn remove(&self) {
        let _ = self.objects.delete_once(&self.name, None).await;
    }
}
