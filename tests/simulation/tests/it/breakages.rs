use crate::failure;
use simulation::breakage::Breakage;

/// Within so many seeds each of these is missed.
const SEEDS: u64 = 50;

/// Those that are missed so soon. The others of [`Breakage::ALL`] can be tried by hand.
const MISSED: [Breakage; 1] = [Breakage::WriteUnconditionally];

#[test]
fn rules_that_are_taken_away_are_missed() {
    let unnoticed: Vec<Breakage> = MISSED
        .into_iter()
        .filter(|breakage| (1..=SEEDS).all(|seed| failure(seed, Some(*breakage)).is_none()))
        .collect();
    assert_eq!(unnoticed, []);
}
