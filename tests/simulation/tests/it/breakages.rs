use crate::failures;
use simulation::breakage::Breakage;

/// Within so many seeds each rule that is taken away is missed.
const SEEDS: u64 = 2000;

#[test]
fn every_rule_that_is_taken_away_is_missed() {
    let unnoticed: Vec<Breakage> = Breakage::ALL
        .into_iter()
        .filter(|breakage| failures(1..1 + SEEDS, Some(*breakage)).next().is_none())
        .collect();
    assert_eq!(unnoticed, []);
}
