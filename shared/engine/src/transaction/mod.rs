//! A transaction: the one attempt to apply one plan.
//!
//! [`Transaction::begin`] creates `t/<plan id>`, which is why a plan is used once, and enters the
//! estate's list of transactions under way. [`Transaction::execute`] is the decision; what it gives writes
//! records. [`Executing::commit`] ends it. Dropping one at any point leaves a trace that says how far it was.

mod progress;
mod settling;

pub use progress::{MemberProgress, Progress, Standing};
pub use settling::{InFlight, Settled, Settler};

use crate::estate::{
    Estate, EstateError, EstateHeader, EstateReading, EstateRecorder, RecorderStart, Spill,
    Swapped, swap,
};
use crate::identifiers::{PlanId, Principal, RunId, WriteId};
use crate::record::body::{
    BodyError, FORMAT, JournalBody, Phase, TransactionBody, UnknownFields, WrittenBy, decode,
    encode,
};
use records::{Key, StoreError, Version};
use std::sync::Arc;

/// Who applies which plan.
#[derive(Clone, Debug)]
pub struct TransactionRequest {
    /// The plan.
    pub plan: PlanId,
    /// Its digest, in hexadecimal.
    pub plan_digest: String,
    /// The run.
    pub run: RunId,
    /// Who started it.
    pub principal: Principal,
    /// Who approved it.
    pub approved_by: Option<Principal>,
    /// When this invocation must have ended, seconds since the epoch.
    pub lease_until: i64,
}

/// A transaction cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransactionError {
    /// The plan was applied, refused or given up before.
    #[error(
        "the plan {plan} was used already: the run {run} of {principal} left it {phase}. A plan is applied once, so \
         that nothing is made twice; make a new one with `plumb plan`"
    )]
    Used {
        /// The plan.
        plan: PlanId,
        /// How far it got.
        phase: Phase,
        /// The run that used it.
        run: RunId,
        /// Who started that run.
        principal: Principal,
    },
    /// Another invocation works on this plan.
    #[error(
        "the plan {plan} is being applied by the run {run} of {principal}; its lease ends at {until}"
    )]
    Busy {
        /// The plan.
        plan: PlanId,
        /// The run.
        run: RunId,
        /// Who started it.
        principal: Principal,
        /// When its lease ends, seconds since the epoch.
        until: i64,
    },
    /// Another invocation took this transaction over.
    #[error(
        "the transaction of the plan {plan} was taken over by another invocation, which goes on with it; nothing more \
         is begun here"
    )]
    TakenOver {
        /// The plan.
        plan: PlanId,
    },
    /// The estate cannot be read or written.
    #[error(transparent)]
    Estate(#[from] EstateError),
}

impl From<StoreError> for TransactionError {
    fn from(error: StoreError) -> TransactionError {
        TransactionError::Estate(error.into())
    }
}
impl From<BodyError> for TransactionError {
    fn from(error: BodyError) -> TransactionError {
        TransactionError::Estate(error.into())
    }
}

/// A transaction that has begun and not decided: nothing is changed yet.
pub struct Transaction {
    estate: Estate,
    key: Key,
    body: TransactionBody,
    version: Version,
    header: EstateHeader,
    started: i64,
}

/// A transaction that changes things.
pub struct Executing {
    transaction: Transaction,
    recorder: Arc<EstateRecorder>,
    reading: EstateReading,
}

impl Transaction {
    /// Begins: two writes. The serial is raised, since from here on records may be written.
    ///
    /// # Errors
    /// Where the plan was used, is in use, or the store fails.
    pub async fn begin(
        estate: &Estate,
        request: TransactionRequest,
        reading: &EstateReading,
    ) -> Result<Transaction, TransactionError> {
        let key = estate.keys.transaction(&request.plan)?;
        let mut body = TransactionBody {
            format: FORMAT,
            write_id: WriteId::new(&*estate.random),
            plan: request.plan,
            plan_digest: request.plan_digest,
            run: request.run,
            principal: request.principal,
            approved_by: request.approved_by,
            attempt: 1,
            lease_until: request.lease_until,
            phase: Phase::Claiming,
            progressless_attempts: 0,
            unknown: UnknownFields::new(),
        };
        let mut expected = Version::absent();
        let version = loop {
            match swap(&*estate.store, &key, encode(&key, &body)?, &expected).await? {
                Swapped::Written(version) => break version,
                Swapped::Lost(None) => expected = Version::absent(),
                Swapped::Lost(Some(record)) => {
                    let found = decode::<TransactionBody>(&key, &record.body)?;
                    body = take_over(estate, body, found)?;
                    expected = record.version;
                }
            }
        };
        let plan = body.plan.clone();
        let header = estate
            .change_header(reading.header.clone(), |header| {
                header.serial += 1;
                if !header.under_way.contains(&plan) {
                    header.under_way.push(plan.clone());
                }
            })
            .await?;
        let started = estate.clock.seconds();
        Ok(Transaction { estate: estate.clone(), key, body, version, header, started })
    }

    /// What the store says of a plan's transaction; `None` where the plan was never used.
    ///
    /// # Errors
    /// Where the store fails or the record cannot be read.
    pub async fn find(
        estate: &Estate,
        plan: &PlanId,
    ) -> Result<Option<TransactionBody>, TransactionError> {
        let key = estate.keys.transaction(plan)?;
        match estate.store.get(&key).await? {
            None => Ok(None),
            Some(record) => Ok(Some(decode(&key, &record.body)?)),
        }
    }

    /// The estate's lineage and serial since this transaction began.
    pub fn header(&self) -> &EstateHeader {
        &self.header
    }

    /// Who writes.
    pub fn written_by(&self) -> WrittenBy {
        WrittenBy {
            transaction: Some(self.body.plan.clone()),
            run: self.body.run.clone(),
            principal: self.body.principal.clone(),
        }
    }

    /// Decides to change: one write. All checks have passed, and none is asked again.
    /// `reading` is what the checks looked at.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn execute(
        mut self,
        reading: EstateReading,
        spill: Option<Arc<dyn Spill>>,
    ) -> Result<Executing, TransactionError> {
        self.set_phase(Phase::Executing).await?;
        let recorder = Arc::new(EstateRecorder::new(RecorderStart {
            estate: self.estate.clone(),
            reading: &reading,
            written_by: self.written_by(),
            spill,
        }));
        Ok(Executing { transaction: self, recorder, reading })
    }

    /// Refuses for good: two writes. The plan cannot be used again.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn reject(mut self) -> Result<(), TransactionError> {
        self.set_phase(Phase::Rejected).await?;
        self.leave().await
    }

    /// Gives up for now: two writes. The plan may be tried again.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn put_off(mut self) -> Result<(), TransactionError> {
        self.body.lease_until = self.estate.clock.seconds();
        self.set_phase(Phase::Waiting).await?;
        self.leave().await
    }

    async fn set_phase(&mut self, phase: Phase) -> Result<(), TransactionError> {
        self.body.phase = phase;
        self.body.write_id = WriteId::new(&*self.estate.random);
        let body = encode(&self.key, &self.body)?;
        match swap(&*self.estate.store, &self.key, body, &self.version).await? {
            Swapped::Written(version) => {
                self.version = version;
                Ok(())
            }
            Swapped::Lost(_) => Err(TransactionError::TakenOver { plan: self.body.plan.clone() }),
        }
    }

    /// Leaves the estate's list, and raises the serial.
    async fn leave(&mut self) -> Result<(), TransactionError> {
        let plan = self.body.plan.clone();
        let change = |header: &mut EstateHeader| {
            header.serial += 1;
            header.under_way.retain(|other| *other != plan);
        };
        self.header = self.estate.change_header(Some(self.header.clone()), change).await?;
        Ok(())
    }
}

/// The next attempt on a transaction that was found, where it has changed nothing and nobody is on it.
fn take_over(
    estate: &Estate,
    ours: TransactionBody,
    found: TransactionBody,
) -> Result<TransactionBody, TransactionError> {
    let TransactionBody { plan, run, principal, phase, .. } = found;
    if !phase.may_begin_again() || found.plan_digest != ours.plan_digest {
        return Err(TransactionError::Used { plan, phase, run, principal });
    }
    if phase == Phase::Claiming && found.lease_until > estate.clock.seconds() {
        return Err(TransactionError::Busy { plan, run, principal, until: found.lease_until });
    }
    Ok(TransactionBody {
        write_id: WriteId::new(&*estate.random),
        attempt: found.attempt + 1,
        progressless_attempts: found.progressless_attempts,
        unknown: found.unknown,
        ..ours
    })
}

impl Executing {
    /// Where results go.
    pub fn recorder(&self) -> Arc<EstateRecorder> {
        self.recorder.clone()
    }

    /// How far every member of the write set is, as the records say.
    pub fn progress(&self) -> Progress {
        self.recorder.progress()
    }

    /// Ends: three writes, one for each move that an earlier transaction left half done, and the sweep of
    /// tombstones that are older than `plan_expiry` seconds.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn commit(mut self, plan_expiry: i64) -> Result<EstateHeader, TransactionError> {
        let estate = self.transaction.estate.clone();
        self.recorder.settle_moves(&self.reading).await;
        self.transaction.leave().await?;
        let body = &self.transaction.body;
        let (entries, outputs) = self.recorder.journal();
        let outputs_written = outputs.len();
        let journal = JournalBody {
            format: FORMAT,
            write_id: WriteId::new(&*estate.random),
            run: body.run.clone(),
            attempt: body.attempt,
            plan: body.plan.clone(),
            principal: body.principal.clone(),
            approved_by: body.approved_by.clone(),
            started: self.transaction.started,
            ended: estate.clock.seconds(),
            entries,
            outputs,
            unknown: UnknownFields::new(),
        };
        let key = estate.keys.journal(&body.run, body.attempt)?;
        // A journal that is there already was written by an earlier end of this same attempt.
        swap(&*estate.store, &key, encode(&key, &journal)?, &Version::absent()).await?;
        self.transaction.set_phase(Phase::Done).await?;
        let written = self.recorder.written();
        estate.sweep(&self.reading, &written, plan_expiry).await;
        estate.renew_snapshot(&self.reading, written.len() + outputs_written).await;
        Ok(self.transaction.header)
    }
}
