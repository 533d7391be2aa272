//! What was done to an estate, and by whom: from transactions and the journal.

use super::{Estate, EstateError};
use crate::identifiers::RunId;
use crate::record::body::{DecisionBody, JournalBody, TransactionBody, decode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// One run: applies of a plan, or one decision of a person.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHistory {
    /// The run.
    pub run: RunId,
    /// Its transaction, as long as that is kept: until its plan has expired.
    pub transaction: Option<TransactionBody>,
    /// What each attempt that ended in order has done, by number. One that died has none.
    pub attempts: Vec<JournalBody>,
    /// What a person decided.
    pub decision: Option<DecisionBody>,
}

impl RunHistory {
    fn new(run: RunId) -> RunHistory {
        RunHistory { run, transaction: None, attempts: Vec::new(), decision: None }
    }

    /// When it began, seconds since the epoch; `None` where no attempt has ended yet.
    pub fn began(&self) -> Option<i64> {
        let decided = self.decision.as_ref().map(|decision| decision.decided);
        decided.or_else(|| self.attempts.first().map(|attempt| attempt.started))
    }
}

/// Tells a decision from what an attempt did, whatever else is in them.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    decision: Option<IgnoredAny>,
}

impl Estate {
    /// Every run that is known, the first to begin first; those that have not ended are last. Two requests, and one
    /// for each run and attempt where the store lists no bodies.
    ///
    /// # Errors
    /// Where the store fails or a record cannot be read.
    pub async fn history(&self) -> Result<Vec<RunHistory>, EstateError> {
        let mut runs = BTreeMap::<RunId, RunHistory>::new();
        let empty = |run: &RunId| RunHistory::new(run.clone());
        for (key, record) in self.store.get_all(&self.keys.transactions()).await? {
            let body = decode::<TransactionBody>(&key, &record.body)?;
            let run = runs.entry(body.run.clone()).or_insert_with(|| empty(&body.run));
            run.transaction = Some(body);
        }
        for (key, journal) in self.journals().await? {
            let kind = serde_json::from_slice::<Kind>(&journal);
            if kind.is_ok_and(|kind| kind.decision.is_some()) {
                let body = decode::<DecisionBody>(&key, &journal)?;
                let run = runs.entry(body.run.clone()).or_insert_with(|| empty(&body.run));
                run.decision = Some(body);
            } else {
                let body = decode::<JournalBody>(&key, &journal)?;
                let run = runs.entry(body.run.clone()).or_insert_with(|| empty(&body.run));
                run.attempts.push(body);
            }
        }
        let mut runs: Vec<RunHistory> = runs.into_values().collect();
        for run in &mut runs {
            run.attempts.sort_by_key(|attempt| attempt.attempt);
        }
        runs.sort_by(|a, b| {
            let began = |run: &RunHistory| run.began().unwrap_or(i64::MAX);
            (began(a), &a.run).cmp(&(began(b), &b.run))
        });
        Ok(runs)
    }
}
