//! A transaction: the one attempt to apply one plan.
//!
//! [`Transaction::begin`] takes the lease of `t/<plan id>`, which is why a plan is used once, and enters the
//! estate's list of transactions under way. [`Transaction::claim`] marks every record of the write set, and
//! [`Transaction::verify`] looks at the read set. [`Transaction::execute`] is the decision; what it gives writes
//! records. [`Executing::commit`] ends it. Dropping one at any point leaves a trace that says how far it was, and
//! [`Transaction::begin`] for the same plan goes on from there.

mod claiming;
mod error;
mod lease;
mod members;
mod others;
mod progress;
mod settling;
mod takeover;
mod terms;
mod verify;

pub use claiming::is_only_busy;
pub use error::{Holder, TransactionError};
pub(crate) use lease::Lease;
pub use members::{Member, members};
pub use others::{Fate, Others};
pub use progress::{MemberProgress, Progress, Standing};
pub use settling::{InFlight, Settled, Settler};
pub use terms::Terms;

use crate::estate::{Estate, EstateHeader, EstateReading, EstateRecorder, RecorderStart, Spill};
use crate::identifiers::{PlanId, Principal, RunId, WriteId};
use crate::record::body::{
    FORMAT, JournalBody, Phase, TransactionBody, UnknownFields, WrittenBy, encode,
};
use crate::stop::Deadline;
use crate::unanswered::Unanswered;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use values::address::ResourceInstance;

/// Who applies which plan.
#[derive(Clone, Debug)]
pub struct TransactionRequest {
    /// The plan.
    pub plan: PlanId,
    /// Its digest, in hexadecimal.
    pub plan_digest: String,
    /// When it expires, seconds since the epoch.
    pub expires: i64,
    /// The run.
    pub run: RunId,
    /// Who started it.
    pub principal: Principal,
    /// Who approved it.
    pub approved_by: Option<Principal>,
    /// When this invocation must have ended; `None` where it goes on for as long as it takes.
    pub deadline: Option<Deadline>,
    /// The times and numbers to go by.
    pub terms: Terms,
}

/// A transaction of which this invocation holds the lease.
pub enum Begun {
    /// Nothing was changed yet: claim, verify, decide.
    Undecided(Box<Transaction>),
    /// An earlier invocation has decided: nothing is checked again, and what is left is done.
    Decided(Box<Resumed>),
}

/// A transaction that has begun and not decided: nothing is changed yet.
pub struct Transaction {
    estate: Estate,
    plan: PlanId,
    principal: Principal,
    terms: Terms,
    lease: Arc<Lease>,
    header: EstateHeader,
    members: Arc<BTreeMap<ResourceInstance, Member>>,
    waited: Duration,
    started: i64,
    waived: Vec<String>,
}

/// A transaction that an earlier invocation has decided, and that goes on.
pub struct Resumed {
    transaction: Transaction,
}

/// A transaction that changes things.
pub struct Executing {
    transaction: Transaction,
    recorder: Arc<EstateRecorder>,
    reading: EstateReading,
    /// When what was asked of providers can come to pass no more, on the clock that counts suspension. Fixed when it is first
    /// asked for: by then they have ended.
    quiet: OnceLock<Duration>,
}

impl Transaction {
    /// Takes the lease, and enters the estate's list: two writes. The serial is raised, since from here on records
    /// may be written.
    ///
    /// # Errors
    /// Where the plan was used, is in use, or the store fails.
    pub async fn begin(
        estate: &Estate,
        request: TransactionRequest,
    ) -> Result<Begun, TransactionError> {
        let lease = Arc::new(Lease::take(estate, &request).await?);
        let plan = request.plan;
        let phase = lease.body().await.phase;
        let header = estate
            .change_header(estate.read_header().await?, |header| {
                if !header.under_way.contains(&plan) {
                    header.serial += 1;
                    header.under_way.push(plan.clone());
                }
            })
            .await?;
        let transaction = Transaction {
            estate: estate.clone(),
            plan,
            principal: request.principal,
            terms: request.terms,
            lease,
            header,
            members: Arc::default(),
            waited: Duration::ZERO,
            started: estate.clock.seconds(),
            waived: Vec::new(),
        };
        Ok(match phase {
            Phase::Executing => Begun::Decided(Box::new(Resumed { transaction })),
            _ => Begun::Undecided(Box::new(transaction)),
        })
    }

    /// What the store says of a plan's transaction; `None` where the plan was never used.
    ///
    /// # Errors
    /// Where the store fails or the record cannot be read.
    pub async fn find(
        estate: &Estate,
        plan: &PlanId,
    ) -> Result<Option<TransactionBody>, TransactionError> {
        Ok(estate.transaction(plan).await?)
    }

    /// The plan whose transaction this is.
    pub fn plan(&self) -> &PlanId {
        &self.plan
    }

    /// The estate's lineage and serial since this transaction began.
    pub fn header(&self) -> &EstateHeader {
        &self.header
    }

    /// Findings that a person has accepted, for the journal.
    pub fn waive(&mut self, waived: impl IntoIterator<Item = String>) {
        self.waived.extend(waived);
    }

    fn written_by_of(&self, body: &TransactionBody) -> WrittenBy {
        WrittenBy {
            transaction: Some(self.plan.clone()),
            run: body.run.clone(),
            principal: self.principal.clone(),
        }
    }

    /// Decides to change: one write. All checks have passed, and none is asked again.
    /// `reading` is what the checks looked at, after claiming.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn execute(
        self,
        reading: EstateReading,
        spill: Option<Arc<dyn Spill>>,
    ) -> Result<Executing, TransactionError> {
        self.lease.change(|body| body.phase = Phase::Executing).await?;
        Ok(self.executing(reading, spill).await)
    }

    async fn executing(self, reading: EstateReading, spill: Option<Arc<dyn Spill>>) -> Executing {
        let body = self.lease.body().await;
        let recorder = Arc::new(EstateRecorder::new(RecorderStart {
            estate: self.estate.clone(),
            reading: &reading,
            serial: self.header.serial,
            written_by: self.written_by_of(&body),
            spill,
            plan: self.plan.clone(),
            attempt: body.attempt,
            members: self.members.clone(),
            lease: self.lease.clone(),
        }));
        Executing { transaction: self, recorder, reading, quiet: OnceLock::new() }
    }

    /// Refuses for good: the claims are taken back, and the plan cannot be used again.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn reject(mut self) -> Result<(), TransactionError> {
        let body = self.lease.release(|body| body.phase = Phase::Rejected).await?;
        self.strip(body.attempt).await;
        self.leave().await
    }

    /// Gives up for now: the claims are taken back, and the plan may be tried again.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn put_off(mut self) -> Result<(), TransactionError> {
        let body = self.lease.release(|body| body.phase = Phase::Waiting).await?;
        self.strip(body.attempt).await;
        self.leave().await
    }

    /// Leaves the estate's list, and raises the serial.
    async fn leave(&mut self) -> Result<(), TransactionError> {
        self.leave_with(&[]).await
    }

    async fn leave_with(&mut self, finished: &[PlanId]) -> Result<(), TransactionError> {
        let plan = self.plan.clone();
        let change = |header: &mut EstateHeader| {
            if header.under_way.contains(&plan) {
                let before = header.under_way.len();
                header.under_way.retain(|other| *other != plan && !finished.contains(other));
                // For each that ends, whoever strikes it off.
                header.serial += (before - header.under_way.len()) as u64;
            }
        };
        self.header = self.estate.change_header(Some(self.header.clone()), change).await?;
        Ok(())
    }
}

impl Resumed {
    /// Goes on: reads all records, of which the claims say what is done.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn go_on(
        mut self,
        members: BTreeMap<ResourceInstance, Member>,
        spill: Option<Arc<dyn Spill>>,
    ) -> Result<Executing, TransactionError> {
        self.transaction.members = Arc::new(members);
        let reading = self.transaction.estate.read().await?;
        Ok(self.transaction.executing(reading, spill).await)
    }

    /// Which invocation of the transaction this is, from 2.
    pub async fn attempt(&self) -> u32 {
        self.transaction.lease.body().await.attempt
    }
}

impl Executing {
    /// Where results go.
    pub fn recorder(&self) -> Arc<EstateRecorder> {
        self.recorder.clone()
    }

    /// What the records said when this invocation began to change them.
    pub fn reading(&self) -> &EstateReading {
        &self.reading
    }

    /// How far every member of the write set is, as the records say.
    pub fn progress(&self) -> Progress {
        self.recorder.progress()
    }

    /// By attempt: before this, seconds since the epoch, a request of it may still reach its provider, and what it
    /// had in flight must not be settled.
    pub async fn settle_not_before(&self) -> BTreeMap<u32, i64> {
        self.transaction.lease.body().await.quiet_from
    }

    /// How often the lease was renewed so far: writes that depend on time alone.
    pub fn renewals(&self) -> u64 {
        self.transaction.lease.renewals()
    }

    /// Leaves what is left to the next invocation: two writes, and the lease is free at once. Answers how many
    /// invocations in a row have brought nothing forward.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn pause(self) -> Result<u32, TransactionError> {
        self.write_journal().await?;
        let progress = self.recorder.has_finished_anything();
        let body = self
            .transaction
            .lease
            .release(|body| {
                body.progressless_attempts =
                    if progress { 0 } else { body.progressless_attempts.saturating_add(1) };
            })
            .await?;
        Ok(body.progressless_attempts)
    }

    /// How many invocations before this one have, in a row, brought nothing forward.
    pub async fn attempts_without_progress(&self) -> u32 {
        self.transaction.lease.body().await.progressless_attempts
    }

    /// Settles what dead transactions left on records that no plan touches any more: requests only where one is on the
    /// estate's list.
    pub async fn settle_others(&self, settler: &dyn Settler) {
        self.transaction.settle_others(settler).await;
    }

    /// Updates and deletes that were begun and never answered, and may still come to pass: with them it does not end, and they
    /// may be outlasted before. To be asked once the providers have ended.
    pub fn unanswered(&self) -> Option<Unanswered> {
        let addresses = self.recorder.unanswered_changes();
        if addresses.is_empty() {
            return None;
        }
        let clock = &self.transaction.estate.clock;
        let margin = Duration::from_secs(self.transaction.terms.margin.max(0).unsigned_abs());
        let quiet = *self.quiet.get_or_init(|| clock.elapsed() + margin);
        let left = quiet.saturating_sub(clock.elapsed());
        Some(Unanswered::new(addresses, clock.now(), left))
    }

    /// Ends: three writes, one for each move that an earlier transaction left half done and for each call that was
    /// begun and never answered, and the sweep of what no living plan can know. What [`Executing::unanswered`] names is
    /// outlasted first, as far as nobody has done that yet.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub async fn commit(mut self) -> Result<EstateHeader, TransactionError> {
        let estate = self.transaction.estate.clone();
        self.recorder.settle_moves(&self.reading).await;
        if let Some(unanswered) = self.unanswered() {
            unanswered.outlast_in_silence(&*estate.clock).await;
        }
        self.recorder.doubt_what_was_not_answered().await?;
        let outputs = self.write_journal().await?;
        let finished = self.transaction.finished_others().await;
        // Done before it leaves the list: whoever reads in between sees that its claims have ended.
        self.transaction.lease.release(|body| body.phase = Phase::Done).await?;
        self.transaction.leave_with(&finished).await?;
        let expiry = self.transaction.terms.plan_expiry;
        let header = &self.transaction.header;
        let written = self.recorder.written();
        estate.sweep(&self.reading, header, &written, expiry).await;
        estate.renew_snapshot(&self.reading, written.len() + outputs).await;
        Ok(self.transaction.header)
    }

    /// Says what this attempt did; answers how many outputs it wrote.
    async fn write_journal(&self) -> Result<usize, TransactionError> {
        let transaction = &self.transaction;
        let estate = &transaction.estate;
        let body = transaction.lease.body().await;
        let (entries, outputs) = self.recorder.journal();
        let outputs_written = outputs.len();
        let journal = JournalBody {
            format: FORMAT,
            write_id: WriteId::new(&*estate.random),
            run: body.run.clone(),
            attempt: body.attempt,
            plan: body.plan.clone(),
            principal: transaction.principal.clone(),
            approved_by: body.approved_by.clone(),
            waived: transaction.waived.clone(),
            started: transaction.started,
            ended: estate.clock.seconds(),
            entries,
            outputs,
            unknown: UnknownFields::new(),
        };
        let key = estate.keys.journal(&body.run, body.attempt)?;
        // A journal that is there already was written by an earlier end of this same attempt.
        estate.put_journal(&key, encode(&key, &journal)?).await?;
        Ok(outputs_written)
    }
}
