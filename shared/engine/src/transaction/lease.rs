//! The lease: one invocation at a time works on a transaction, and knows when it must stop.

use super::{Holder, Terms, TransactionError, TransactionRequest};
use crate::estate::{Estate, Swapped, swap};
use crate::identifiers::{PlanId, WriteId};
use crate::record::body::{FORMAT, Phase, TransactionBody, UnknownFields, decode, encode};
use crate::recorder::NothingMore;
use crate::stop::Deadline;
use records::{Hold, HoldGuard, Key, StoreError, Version};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

/// How often a lock that somebody may hold for a glance only is asked for again.
const GLANCES: u32 = 10;
/// How long a glance may take.
const GLANCE: Duration = Duration::from_millis(50);

/// The right to work on a transaction. Dropping it ends the heartbeat and the process's hold, as dying does.
pub(crate) struct Lease {
    shared: Arc<Shared>,
    heartbeat: Option<AbortHandle>,
}

struct Shared {
    estate: Estate,
    key: Key,
    terms: Terms,
    /// When this invocation must have ended.
    deadline: Option<Deadline>,
    /// With it no clock needs to be asked: while this process lives, nobody else begins.
    hold: Option<HoldGuard>,
    current: Mutex<(TransactionBody, Version)>,
    ends: StdMutex<Ends>,
    lost: AtomicBool,
    renewals: AtomicU64,
}

/// When the lease ends, on both clocks.
#[derive(Clone, Copy)]
struct Ends {
    wall: i64,
    elapsed: Duration,
}

impl Lease {
    /// Takes the lease of a plan's transaction, which is created where it is not there: one write, with the
    /// number of the attempt raised.
    pub(crate) async fn take(
        estate: &Estate,
        request: &TransactionRequest,
    ) -> Result<Lease, TransactionError> {
        let key = estate.keys.transaction(&request.plan)?;
        let hold = hold(estate, &key, request).await?;
        if hold.is_none() {
            check_clocks(estate, &key, &request.terms).await?;
        }
        let began = clocks(estate);
        let mut body = TransactionBody {
            format: FORMAT,
            write_id: WriteId::new(&*estate.random),
            plan: request.plan.clone(),
            plan_digest: request.plan_digest.clone(),
            run: request.run.clone(),
            principal: request.principal.clone(),
            approved_by: request.approved_by.clone(),
            attempt: 1,
            lease_until: match request.deadline {
                // Begun seconds count.
                Some(deadline) => deadline.end.as_second() + 1,
                None => began.0 + request.terms.lease,
            },
            released: false,
            phase: Phase::Claiming,
            progressless_attempts: 0,
            quiet_from: BTreeMap::new(),
            expires: request.expires,
            unknown: UnknownFields::new(),
        };
        let mut expected = Version::absent();
        let version = loop {
            match swap(&*estate.store, &key, encode(&key, &body)?, &expected).await? {
                Swapped::Written(version) => break version,
                Swapped::Lost(None) => expected = Version::absent(),
                Swapped::Lost(Some(record)) => {
                    let found = decode::<TransactionBody>(&key, &record.body)?;
                    // A process that is gone may have sent a request that has not arrived.
                    let ended = match hold.is_some() && !found.released {
                        true => began.0,
                        // As another machine's clock has it, perhaps, and begun seconds count.
                        false => found.lease_until + request.terms.skew + 1,
                    };
                    let mut quiet_from = found.quiet_from.clone();
                    quiet_from.retain(|_, quiet| *quiet > began.0);
                    quiet_from.insert(found.attempt, ended + request.terms.margin);
                    body = next_attempt(estate, request, body, found, hold.is_some())?;
                    body.quiet_from = quiet_from;
                    expected = record.version;
                }
            }
        };
        let ends = ends(began, body.lease_until);
        let shared = Arc::new(Shared {
            estate: estate.clone(),
            key,
            terms: request.terms,
            deadline: request.deadline,
            hold,
            current: Mutex::new((body, version)),
            ends: StdMutex::new(ends),
            lost: AtomicBool::new(false),
            renewals: AtomicU64::new(0),
        });
        let heartbeat = request.deadline.is_none().then(|| {
            let shared = shared.clone();
            tokio::spawn(async move { shared.beat().await }).abort_handle()
        });
        Ok(Lease { shared, heartbeat })
    }

    /// Whether a provider call may begin. Asks both clocks, since a suspended machine sets neither right at once.
    pub(crate) fn may_begin(&self) -> Result<(), NothingMore> {
        let shared = &*self.shared;
        if shared.lost.load(Ordering::Acquire) {
            return Err(NothingMore::TakenOver);
        }
        let (wall, elapsed) = clocks(&shared.estate);
        if shared.deadline.is_some_and(|deadline| deadline.is_near(&*shared.estate.clock)) {
            return Err(NothingMore::TimeIsUp);
        }
        if shared.hold.is_some() {
            return Ok(());
        }
        let ends = *shared.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let skew = shared.terms.skew;
        let skewed = elapsed + Duration::from_secs(skew.unsigned_abs());
        match wall + skew >= ends.wall || skewed >= ends.elapsed {
            true => Err(NothingMore::LeaseEnded),
            false => Ok(()),
        }
    }

    /// What the store says of the transaction, as far as this invocation knows.
    pub(crate) async fn body(&self) -> TransactionBody {
        self.shared.current.lock().await.0.clone()
    }

    /// Changes the transaction's record: one write.
    ///
    /// # Errors
    /// Where another invocation took over, or the store fails.
    pub(crate) async fn change(
        &self,
        change: impl FnOnce(&mut TransactionBody) + Send,
    ) -> Result<TransactionBody, TransactionError> {
        let mut current = self.shared.current.lock().await;
        self.write(&mut current, change).await
    }

    /// Ends the lease with a last change: the transaction is free for the next invocation at once.
    ///
    /// # Errors
    /// As [`Lease::change`].
    pub(crate) async fn release(
        &self,
        change: impl FnOnce(&mut TransactionBody) + Send,
    ) -> Result<TransactionBody, TransactionError> {
        let mut current = self.shared.current.lock().await;
        // Under the lock, so that no renewal is cut off in the middle of its write.
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.abort();
        }
        let now = self.shared.estate.clock.seconds();
        let end = |body: &mut TransactionBody| {
            body.lease_until = body.lease_until.min(now);
            body.released = true;
            change(body);
        };
        self.write(&mut current, end).await
    }

    async fn write(
        &self,
        current: &mut (TransactionBody, Version),
        change: impl FnOnce(&mut TransactionBody) + Send,
    ) -> Result<TransactionBody, TransactionError> {
        let mut body = current.0.clone();
        change(&mut body);
        match self.shared.write(current, body).await? {
            true => Ok(current.0.clone()),
            false => Err(TransactionError::TakenOver { plan: current.0.plan.clone() }),
        }
    }

    /// Whether the store still says that this invocation is at work. One request.
    pub(crate) async fn is_still_ours(&self) -> bool {
        let shared = &*self.shared;
        let (attempt, phase) = {
            let current = shared.current.lock().await;
            (current.0.attempt, current.0.phase)
        };
        let found = shared.estate.store.get(&shared.key).await.ok().flatten();
        let found = found.and_then(|r| decode::<TransactionBody>(&shared.key, &r.body).ok());
        let ours = found.is_some_and(|body| (body.attempt, body.phase) == (attempt, phase));
        if !ours {
            shared.lost.store(true, Ordering::Release);
        }
        ours
    }

    /// How often the lease was renewed: writes that depend on time alone.
    pub(crate) fn renewals(&self) -> u64 {
        self.shared.renewals.load(Ordering::Relaxed)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.abort();
        }
    }
}

impl Shared {
    /// Writes the body; `false` where another invocation was first.
    async fn write(
        &self,
        current: &mut (TransactionBody, Version),
        mut body: TransactionBody,
    ) -> Result<bool, TransactionError> {
        body.write_id = WriteId::new(&*self.estate.random);
        let began = clocks(&self.estate);
        let bytes = encode(&self.key, &body)?;
        match swap(&*self.estate.store, &self.key, bytes, &current.1).await? {
            Swapped::Written(version) => {
                *self.ends.lock().unwrap_or_else(PoisonError::into_inner) =
                    ends(began, body.lease_until);
                *current = (body, version);
                Ok(true)
            }
            Swapped::Lost(_) => {
                self.lost.store(true, Ordering::Release);
                Ok(false)
            }
        }
    }

    /// Renews the lease until it is lost. A store that fails is asked again; if it stays away, the lease ends.
    async fn beat(&self) {
        let pause = Duration::from_secs(self.terms.lease.unsigned_abs()) / 3;
        loop {
            self.estate.clock.sleep(pause).await;
            let mut current = self.current.lock().await;
            let mut body = current.0.clone();
            body.lease_until = self.estate.clock.seconds() + self.terms.lease;
            match self.write(&mut current, body).await {
                Ok(true) => self.renewals.fetch_add(1, Ordering::Relaxed),
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!("the lease could not be renewed: {error}");
                    continue;
                }
            };
        }
    }
}

/// What a store tells of its clock is as old as its answer, and in whole seconds.
const INEXACTNESS: i64 = 2;

/// A lease says by its writer's clock when it ends, and others judge that by theirs: all have to agree with the store's.
async fn check_clocks(estate: &Estate, key: &Key, terms: &Terms) -> Result<(), TransactionError> {
    let too_far = |ahead: &i64| ahead.abs() > terms.skew + INEXACTNESS;
    if estate.store.clock_ahead().filter(too_far).is_none() {
        return Ok(());
    }
    // The last answer may have been long on its way.
    estate.store.get(key).await?;
    match estate.store.clock_ahead().filter(too_far) {
        None => Ok(()),
        Some(ahead) => Err(TransactionError::Clocks { ahead, skew: terms.skew }),
    }
}

/// The process's own lock on the transaction, where the store has such locks.
async fn hold(
    estate: &Estate,
    key: &Key,
    request: &TransactionRequest,
) -> Result<Option<HoldGuard>, TransactionError> {
    for _ in 0..GLANCES {
        match estate.store.try_hold(key).await? {
            Hold::Held(guard) => return Ok(Some(guard)),
            Hold::NotOffered => return Ok(None),
            // Whoever only looks whether we live lets go at once.
            Hold::Taken => estate.clock.sleep(GLANCE).await,
        }
    }
    let found = match estate.store.get(key).await? {
        None => None,
        Some(record) => Some(decode::<TransactionBody>(key, &record.body)?),
    };
    if let Some(found) = &found
        && found.phase.is_ended()
    {
        return Err(used(found));
    }
    Err(TransactionError::Busy {
        plan: request.plan.clone(),
        holder: found.as_ref().map_or(Holder::Process, Holder::of),
        until: found.map_or(estate.clock.seconds() + request.terms.lease, |f| f.lease_until),
    })
}

fn used(found: &TransactionBody) -> TransactionError {
    TransactionError::Used {
        plan: found.plan.clone(),
        phase: found.phase,
        run: found.run.clone(),
        principal: found.principal.clone(),
    }
}

/// The next attempt on a transaction that was found, where nobody is on it.
fn next_attempt(
    estate: &Estate,
    request: &TransactionRequest,
    ours: TransactionBody,
    found: TransactionBody,
    held: bool,
) -> Result<TransactionBody, TransactionError> {
    if found.phase.is_ended() || found.plan_digest != ours.plan_digest {
        return Err(used(&found));
    }
    let live = found.lease_until + request.terms.skew > estate.clock.seconds();
    if live && !held && !found.released {
        return Err(TransactionError::Busy {
            plan: found.plan.clone(),
            holder: Holder::of(&found),
            until: found.lease_until,
        });
    }
    let attempt = found.attempt + 1;
    let write_id = WriteId::new(&*estate.random);
    Ok(match found.phase {
        // Nothing was changed: it is this run's from now on.
        Phase::Claiming | Phase::Waiting => TransactionBody {
            write_id,
            attempt,
            progressless_attempts: found.progressless_attempts,
            unknown: found.unknown,
            ..ours
        },
        // What goes on is the run that began.
        _ => TransactionBody {
            write_id,
            attempt,
            lease_until: ours.lease_until,
            released: false,
            ..found
        },
    })
}

/// What the store's locks say of who works on a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    Nobody,
    /// A process on this machine.
    Somebody,
    /// There are no such locks.
    Unknown,
}

/// How long to wait after each time that a transaction's hold was found taken.
const PROBE_PAUSES: [Duration; 5] = [
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::ZERO,
];

async fn watch(estate: &Estate, plan: &PlanId) -> Result<Watch, StoreError> {
    let key = estate.keys.transaction(plan)?;
    let _looking = estate.looking.lock().await;
    for pause in PROBE_PAUSES {
        match estate.store.try_hold(&key).await? {
            Hold::Held(_) => return Ok(Watch::Nobody),
            Hold::NotOffered => return Ok(Watch::Unknown),
            // By who works on it, or by another process that only looks as we do, and lets go at once.
            Hold::Taken => estate.clock.sleep(pause).await,
        }
    }
    Ok(Watch::Somebody)
}

/// Whether a process on this machine works on a transaction, as far as its store can tell.
pub(crate) async fn is_held(estate: &Estate, plan: &PlanId) -> Result<bool, StoreError> {
    Ok(watch(estate, plan).await? == Watch::Somebody)
}

/// Whether nobody works on a transaction any more.
pub(crate) async fn is_dead(
    estate: &Estate,
    body: &TransactionBody,
    terms: &Terms,
) -> Result<bool, StoreError> {
    Ok(death(estate, body, terms).await?.is_some())
}

/// When whoever worked on a transaction was gone, seconds since the epoch; `None` where somebody may work on it still. One that
/// was left to its next invocation has as long to begin that as a lease has to end, unless nobody can go on with it.
pub(super) async fn death(
    estate: &Estate,
    body: &TransactionBody,
    terms: &Terms,
) -> Result<Option<i64>, StoreError> {
    if body.released && !body.is_saved() {
        // As another machine's clock has it, perhaps.
        return Ok(Some(body.lease_until + terms.skew));
    }
    let now = estate.clock.seconds();
    let over = body.lease_until + terms.margin + terms.skew < now;
    Ok(match watch(estate, &body.plan).await? {
        Watch::Somebody => None,
        Watch::Nobody | Watch::Unknown if over => Some(body.lease_until),
        // A process that is gone may have gone just now.
        Watch::Nobody => (!body.released).then_some(now),
        Watch::Unknown => None,
    })
}

fn clocks(estate: &Estate) -> (i64, Duration) {
    (estate.clock.seconds(), estate.clock.elapsed())
}

fn ends((wall, elapsed): (i64, Duration), until: i64) -> Ends {
    let left = Duration::from_secs(u64::try_from(until - wall).unwrap_or(0));
    Ends { wall: until, elapsed: elapsed + left }
}
