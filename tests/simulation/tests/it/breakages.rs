use crate::failure;
use simulation::breakage::Breakage;
use std::sync::Mutex;

/// Within so many seeds each of these is noticed.
const SEEDS: u64 = 200;

#[test]
fn rules_that_are_taken_away_are_missed() {
    let unnoticed = Mutex::new(Vec::new());
    let look = |breakage: Breakage| {
        if (1..=SEEDS).all(|seed| failure(seed, Some(breakage)).is_none()) {
            unnoticed.lock().unwrap().push(breakage);
        }
    };
    std::thread::scope(|scope| {
        for breakage in Breakage::ALL.into_iter().filter(|breakage| breakage.is_noticed()) {
            let look = &look;
            scope.spawn(move || look(breakage));
        }
    });
    assert_eq!(unnoticed.into_inner().unwrap(), []);
}
