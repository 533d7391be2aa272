//! What a process works with: its clock, its randomness, its view of the stores and of the providers.

use crate::breakage::Breakage;
use crate::dice::Dice;
use crate::provider::SimulatedProviders;
use crate::request::ProcessId;
use crate::scheduler::Scheduler;
use crate::store::SimulatedStore;
use crate::things::PlanNumber;
use engine::clock::Clock;
use engine::estate::Estate;
use engine::random::Random;
use engine::record::key::EstateName;
use engine::transaction::Terms;
use engine::{Environment, Stop};
use jiff::{SignedDuration, Timestamp};
use language::files::Memory;
use records::{BulkRead, StoreError};
use runs::Workplace;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// When simulations begin, in seconds since the epoch.
const BEGINNING: i64 = 1_700_000_000;

struct SimulatedClock {
    scheduler: Scheduler,
    process: ProcessId,
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        let begun = Timestamp::from_second(BEGINNING).unwrap_or(Timestamp::UNIX_EPOCH);
        let since = SignedDuration::from_millis(self.scheduler.wall(self.process));
        begun.checked_add(since).unwrap_or(Timestamp::MAX)
    }
    fn elapsed(&self) -> Duration {
        self.scheduler.elapsed(self.process)
    }
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (scheduler, process) = (self.scheduler.clone(), self.process);
        Box::pin(async move { scheduler.sleep(process, duration).await })
    }
}

struct SimulatedRandom(Mutex<Dice>);

impl Random for SimulatedRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let mut dice = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for part in bytes.chunks_mut(8) {
            let roll = dice.roll().to_le_bytes();
            part.iter_mut().zip(roll).for_each(|(byte, roll)| *byte = roll);
        }
    }
}

/// How all processes of a simulation work.
#[derive(Clone)]
pub struct Habits {
    /// The times and numbers that transactions go by.
    pub terms: Terms,
    /// How the store reads many bodies.
    pub bulk_read: BulkRead,
    /// How many instances are worked on at once.
    pub parallelism: usize,
}

/// The workplace of a process.
///
/// # Errors
/// Never: what names the estate is fixed.
pub fn workplace(
    scheduler: &Scheduler,
    process: ProcessId,
    plan: Option<PlanNumber>,
    habits: &Habits,
    files: Memory,
) -> Result<Workplace, StoreError> {
    let clock: Arc<dyn Clock> = Arc::new(SimulatedClock { scheduler: scheduler.clone(), process });
    let random: Arc<dyn Random> = Arc::new(SimulatedRandom(Mutex::new(scheduler.dice())));
    let store = SimulatedStore::new(scheduler.clone(), process, habits.bulk_read);
    let name = EstateName::new("e").map_err(|_| StoreError::RootMissing { root: "e".into() })?;
    let estate = Estate::open(Arc::new(store.clone()), "", name, clock.clone(), random.clone())?;
    let estate = estate.with_artifacts(Arc::new(store));
    let providers = SimulatedProviders::new(scheduler.clone(), process, plan, random.clone());
    let environment = Environment {
        files: Arc::new(files),
        working_directory: PathBuf::from("/"),
        home_directory: None,
        clock,
        random,
        providers: Arc::new(providers),
        hooks: Vec::new(),
        parallelism: habits.parallelism,
        workspace: "default".into(),
    };
    Ok(Workplace {
        estate,
        contract: None,
        environment,
        stop: Stop::new(),
        terms: habits.terms,
        locked: BTreeMap::new(),
    })
}

/// Whether clocks of processes stand still while these are suspended.
#[must_use]
pub(crate) fn clocks_stand(breakage: Option<Breakage>) -> bool {
    breakage == Some(Breakage::SkipLeaseCheck)
}
