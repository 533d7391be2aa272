use crate::failure;
use simulation::Simulation;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many seeds are tried where nothing else is said.
const SEEDS: u64 = 2000;

#[test]
fn the_same_seed_takes_the_same_course() {
    for seed in 0..30 {
        let run = || Simulation::new(seed).run().unwrap();
        let (one, other) = (run(), run());
        assert_eq!(one.steps, other.steps, "seed {seed}");
        assert_eq!(one.trace.fingerprint(), other.trace.fingerprint(), "seed {seed}");
    }
}

#[test]
fn what_must_always_hold_holds_for_every_seed() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("SIMULATION_FIRST").unwrap_or(1);
    let seeds = number("SIMULATION_SEEDS").unwrap_or(SEEDS);
    let (next, failures) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds || failures.lock().unwrap().len() >= 5 {
                return;
            }
            let found = failure(seed, None);
            failures.lock().unwrap().extend(found);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
