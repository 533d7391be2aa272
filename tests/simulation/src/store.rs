//! The stores as a process sees them: each request waits for its turn, and may be lost.

use crate::request::{Kind, ProcessId};
use crate::scheduler::Scheduler;
use async_trait::async_trait;
use bytes::Bytes;
use records::{
    ArtifactEntry, ArtifactStore, BulkRead, Entry, Key, PutMode, Record, RecordStore, StoreError,
    Version,
};

/// Both stores of one process.
#[derive(Clone)]
pub struct SimulatedStore {
    scheduler: Scheduler,
    process: ProcessId,
    bulk_read: BulkRead,
}

impl SimulatedStore {
    /// The stores for a process.
    #[must_use]
    pub fn new(scheduler: Scheduler, process: ProcessId, bulk_read: BulkRead) -> Self {
        Self { scheduler, process, bulk_read }
    }

    async fn read<T: Send + 'static>(
        &self,
        what: String,
        read: impl Fn(&mut crate::world::World) -> (T, String) + Send + 'static,
    ) -> Result<T, StoreError> {
        let lost = StoreError::Service {
            service: "simulated store".into(),
            operation: what.clone(),
            source: "503 Slow Down".into(),
        };
        let answer = |found, _: &mut crate::world::World| Ok(found);
        self.scheduler.ask(self.process, Kind::Read, what, read, answer, Err(lost)).await
    }
}

fn version(record: Option<&Record>) -> String {
    record.map_or_else(|| "nothing".to_owned(), |record| record.version.as_str().to_owned())
}

/// A few words on what is written, for whoever reads a trace.
fn words(body: &[u8]) -> String {
    let Ok(json) = serde_json::from_slice::<serde_json::Value>(body) else { return String::new() };
    let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
    let mut words = match (&json["phase"], &json["kind"], &json["under_way"]) {
        (serde_json::Value::String(phase), _, _) => {
            let (attempt, until) = (&json["attempt"], &json["lease_until"]);
            let released = if json["released"] == true { " released" } else { "" };
            format!("{phase} attempt {attempt} until {until}{released}")
        }
        (_, serde_json::Value::String(kind), _) => format!(
            "{kind} revision {:.6} id {} stamp {}",
            text("revision"),
            json["object"]["values"]["id"],
            json["object"]["values"]["stamp"]
        ),
        (_, _, serde_json::Value::Array(under_way)) => {
            format!("serial {} under way {}", json["serial"], under_way.len())
        }
        _ => json["value"].to_string(),
    };
    if let Some(claim) = json.get("claim") {
        let (state, action) = (&claim["state"], &claim["action"]);
        let transaction = claim["transaction"].as_str().unwrap_or_default();
        words.push_str(&format!(" claim of {transaction:.6}: {action} {state}"));
        if claim["failed"] == true {
            words.push_str(" failed");
        }
    }
    for (name, key) in [("deposed", "deposed"), ("doubt", "doubt"), ("moved from", "moved_from")] {
        if json.get(key).is_some() {
            words.push_str(&format!(" ({name})"));
        }
    }
    words
}

#[async_trait]
impl RecordStore for SimulatedStore {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        let wanted = key.clone();
        self.read(format!("get {key}"), move |world| {
            let found = world.storage.records.get(&wanted).cloned();
            let words = version(found.as_ref());
            (found, words)
        })
        .await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        let words = match self.scheduler.lock().trace.is_kept() {
            true => words(&body),
            false => String::new(),
        };
        let what = format!("put {key} from {expected}: {words}");
        let lost = StoreError::Unanswered { key: key.clone(), source: None };
        let (key, expected) = (key.clone(), expected.clone());
        let put = move |world: &mut crate::world::World| {
            let put = world.storage.put(&key, &body, &expected, world.now);
            let words = match &put {
                Ok(version) => version.as_str().to_owned(),
                Err(_) => "conflict".to_owned(),
            };
            (put, words)
        };
        self.scheduler.ask(self.process, Kind::Write, what, put, |put, _| put, Err(lost)).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.put_if_version(key, body, &Version::absent()).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        let what = format!("delete {key} from {expected}");
        let lost = StoreError::Unanswered { key: key.clone(), source: None };
        let (key, expected) = (key.clone(), expected.clone());
        let delete = move |world: &mut crate::world::World| {
            let deleted = world.storage.delete(&key, &expected, world.now);
            let words = if deleted.is_ok() { "done" } else { "conflict" };
            (deleted, words.to_owned())
        };
        self.scheduler
            .ask(self.process, Kind::Write, what, delete, |deleted, _| deleted, Err(lost))
            .await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<Entry>, StoreError> {
        let wanted = prefix.to_owned();
        self.read(format!("list {prefix}"), move |world| {
            let found = world.storage.list(&wanted);
            let words = found.len().to_string();
            (found, words)
        })
        .await
    }

    async fn get_all(&self, prefix: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        if self.bulk_read == BulkRead::OneByOne {
            let mut all = Vec::new();
            for entry in RecordStore::list(self, prefix).await? {
                let found = RecordStore::get(self, &entry.key).await?;
                all.extend(found.map(|record| (entry.key, record)));
            }
            return Ok(all);
        }
        let wanted = prefix.to_owned();
        self.read(format!("get all {prefix}"), move |world| {
            let found = world.storage.get_all(&wanted);
            let words = found.len().to_string();
            (found, words)
        })
        .await
    }

    fn location(&self) -> String {
        "simulation".to_owned()
    }

    fn bulk_read(&self) -> BulkRead {
        self.bulk_read
    }

    fn max_body_size(&self) -> Option<u64> {
        None
    }
}

#[async_trait]
impl ArtifactStore for SimulatedStore {
    async fn put(&self, key: &Key, content: Bytes, _mode: PutMode) -> Result<(), StoreError> {
        let what = format!("put artifact {key}");
        let lost = StoreError::Unanswered { key: key.clone(), source: None };
        let key = key.clone();
        let put = move |world: &mut crate::world::World| {
            world.storage.artifacts.insert(key.clone(), content.clone());
            ((), "done".to_owned())
        };
        self.scheduler.ask(self.process, Kind::Write, what, put, |(), _| Ok(()), Err(lost)).await
    }

    async fn get(&self, key: &Key) -> Result<Option<Bytes>, StoreError> {
        let wanted = key.clone();
        self.read(format!("get artifact {key}"), move |world| {
            (world.storage.artifacts.get(&wanted).cloned(), String::new())
        })
        .await
    }

    async fn list(&self, _prefix: &str) -> Result<Vec<ArtifactEntry>, StoreError> {
        Ok(Vec::new())
    }

    async fn delete(&self, _key: &Key) -> Result<(), StoreError> {
        Ok(())
    }

    fn location(&self) -> String {
        "simulation".to_owned()
    }
}
