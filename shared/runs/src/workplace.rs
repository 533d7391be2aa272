use crate::contract::ContractTerms;
use engine::estate::Estate;
use engine::saved_plan::LockedProvider;
use engine::transaction::Terms;
use engine::{Context, Environment, Stop};
use providers::install::Locks;
use std::collections::BTreeMap;
use values::address::ProviderAddress;

/// What a handler works in: an estate, the engine's surroundings, and the installed providers.
#[derive(Clone)]
pub struct Workplace {
    /// Where the records are.
    pub estate: Estate,
    /// What the store of the records has to guarantee; nothing, where it is a directory.
    pub contract: Option<ContractTerms>,
    /// Clock, files, providers and observers.
    pub environment: Environment,
    /// Where somebody may ask to stop.
    pub stop: Stop,
    /// The times and numbers that transactions go by.
    pub terms: Terms,
    /// What the lock file selects.
    pub locked: BTreeMap<ProviderAddress, LockedProvider>,
}

/// What a lock file selects, as plans name it.
pub fn locked_providers(locks: &Locks) -> BTreeMap<ProviderAddress, LockedProvider> {
    let locked = locks.0.iter().map(|(address, lock)| {
        let hashes = lock.hashes.iter().map(ToString::to_string).collect();
        (address.clone(), LockedProvider { version: lock.version.to_string(), hashes })
    });
    locked.collect()
}

impl Workplace {
    /// The engine with all observers.
    pub(crate) fn context(&self) -> Context {
        Context::new(self.environment.clone(), self.stop.clone())
    }

    /// The engine without observers, for reads that are no part of what a person follows.
    pub(crate) fn unobserved(&self) -> Context {
        self.context().unobserved()
    }

    /// Seconds since the epoch.
    pub(crate) fn now(&self) -> i64 {
        self.environment.clock.seconds()
    }
}
