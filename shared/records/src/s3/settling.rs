//! Conditional writes whose answer may be lost.
//!
//! A condition makes a request safe to repeat, but not its answer: whoever repeats a write that was done
//! is told that the condition no longer holds. So every refusal and every lost answer is settled by reading
//! back and comparing with what was sent. Bodies are unique, and so is what is found.

use bytes::Bytes;

use super::answer::{Failure, Meaning};
use super::objects::{Condition, Objects};
use super::pacing::Retries;
use crate::{Key, StoreError, Version};

const PUT: &str = "PutObject";
const DELETE: &str = "DeleteObject";

/// What a key holds after a write that was refused or not answered.
enum Found {
    /// What the writer had expected: the write was not done, so far.
    Expected,
    /// Something else.
    Other(Version),
}

/// Writes a body if the condition holds, and answers its version.
pub(super) async fn put(
    objects: &Objects,
    key: &Key,
    body: &Bytes,
    condition: &Condition,
) -> Result<Version, StoreError> {
    let name = objects.name(key)?;
    let mut attempts = Attempts::new(objects);
    loop {
        let failure = match objects.put_once(&name, body, Some(condition)).await {
            Ok(version) => return Ok(version),
            Err(failure) => failure,
        };
        attempts.note(&failure);
        if !needs_settling(failure.meaning) {
            return Err(attempts.ended(objects, PUT, key, failure));
        }
        match objects.look(&name).await {
            Ok(Some(present)) if present.body == *body => return Ok(present.version),
            Ok(present) => {
                let actual = present.map_or_else(Version::absent, |present| present.version);
                attempts
                    .go_on(objects, PUT, key, condition, found(actual, condition), failure)
                    .await?;
            }
            Err(looking) => attempts.go_on_blindly(objects, PUT, key, looking, failure).await?,
        }
    }
}

/// Removes what is under the key if it has this version.
pub(super) async fn delete(
    objects: &Objects,
    key: &Key,
    expected: &Version,
) -> Result<(), StoreError> {
    let name = objects.name(key)?;
    let condition = Condition::of(expected);
    if let Condition::Absent = condition {
        return match objects.get(key).await? {
            None => Ok(()),
            Some(present) => Err(conflict(key, &condition, present.version)),
        };
    }
    let mut attempts = Attempts::new(objects);
    loop {
        let failure = match objects.delete_once(&name, Some(expected)).await {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        };
        attempts.note(&failure);
        if !needs_settling(failure.meaning) {
            return Err(attempts.ended(objects, DELETE, key, failure));
        }
        match objects.look(&name).await {
            Ok(present) => {
                let actual = present.map_or_else(Version::absent, |present| present.version);
                let found = found(actual, &condition);
                attempts.go_on(objects, DELETE, key, &condition, found, failure).await?;
            }
            Err(looking) => attempts.go_on_blindly(objects, DELETE, key, looking, failure).await?,
        }
    }
}

fn needs_settling(meaning: Meaning) -> bool {
    // A delete marker may answer either of the first two, and so may a key that is not there.
    matches!(meaning, Meaning::Precondition | Meaning::NoSuchKey) || meaning.is_passing()
}

fn found(actual: Version, condition: &Condition) -> Found {
    if actual == condition.version() { Found::Expected } else { Found::Other(actual) }
}

fn conflict(key: &Key, condition: &Condition, actual: Version) -> StoreError {
    StoreError::Conflict { key: key.clone(), expected: condition.version(), actual }
}

/// What is known of the attempts at one write.
#[derive(Debug)]
struct Attempts {
    /// Whether one of them may have been done without our knowing.
    doubt: bool,
    retries: Retries,
    /// Refusals of a condition that held when it was looked at: another write came and went.
    surprises: u32,
}

/// Refusals of a condition that seems to hold, before the service is not believed any more.
const MOST_SURPRISES: u32 = 10;

impl Attempts {
    fn new(objects: &Objects) -> Self {
        Self { doubt: false, retries: objects.retries(), surprises: 0 }
    }

    fn note(&mut self, failure: &Failure) {
        self.doubt |= failure.meaning.leaves_doubt();
    }

    /// Decides by what was found under the key whether the same request is sent again.
    async fn go_on(
        &mut self,
        objects: &Objects,
        operation: &'static str,
        key: &Key,
        condition: &Condition,
        found: Found,
        failure: Failure,
    ) -> Result<(), StoreError> {
        match found {
            // Ours may have been there before what is there now.
            Found::Other(_) if self.doubt => Err(self.unanswered(objects, operation, key, failure)),
            Found::Other(actual) => Err(conflict(key, condition, actual)),
            Found::Expected => self.wait(objects, operation, key, failure).await,
        }
    }

    /// Sends the request again although nobody knows what is under the key.
    async fn go_on_blindly(
        &mut self,
        objects: &Objects,
        operation: &'static str,
        key: &Key,
        looking: Failure,
        failure: Failure,
    ) -> Result<(), StoreError> {
        // With what a refusal was a conflict is not known as long as nothing can be read.
        let passing = if failure.meaning.is_passing() { failure } else { looking };
        self.wait(objects, operation, key, passing).await
    }

    async fn wait(
        &mut self,
        objects: &Objects,
        operation: &'static str,
        key: &Key,
        failure: Failure,
    ) -> Result<(), StoreError> {
        let meaning = match failure.meaning {
            Meaning::Precondition | Meaning::NoSuchKey if self.surprises < MOST_SURPRISES => {
                self.surprises += 1;
                Meaning::ConcurrentRequest
            }
            meaning => meaning,
        };
        match self.retries.after(meaning) {
            Some(wait) => {
                tokio::time::sleep(wait).await;
                Ok(())
            }
            None => Err(self.ended(objects, operation, key, failure)),
        }
    }

    /// The error of a write that is given up.
    fn ended(
        &self,
        objects: &Objects,
        operation: &'static str,
        key: &Key,
        failure: Failure,
    ) -> StoreError {
        // An attempt before the last may have been done, whatever the last one came to.
        if self.doubt {
            self.unanswered(objects, operation, key, failure)
        } else {
            objects.error(operation, Some(key), true, failure)
        }
    }

    fn unanswered(
        &self,
        objects: &Objects,
        operation: &'static str,
        key: &Key,
        failure: Failure,
    ) -> StoreError {
        match objects.error(operation, Some(key), true, failure) {
            error @ StoreError::Unanswered { .. } => error,
            error => unanswered(key, error),
        }
    }
}

fn unanswered(key: &Key, error: StoreError) -> StoreError {
    StoreError::Unanswered { key: key.clone(), source: Some(Box::new(error)) }
}
