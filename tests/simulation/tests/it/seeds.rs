use crate::failures;
use simulation::Simulation;

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
    let failures: Vec<String> = failures(first..first + seeds, None).take(5).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
