use crate::failure;
use simulation::breakage::Breakage;

/// Within so many seeds each of these is noticed.
const SEEDS: u64 = 120;

#[test]
fn rules_that_are_taken_away_are_missed() {
    let noticed = |breakage| (1..=SEEDS).find_map(|seed| failure(seed, Some(breakage)));
    let unnoticed: Vec<Breakage> = [Breakage::DropRefusedResult, Breakage::SkipLeaseCheck, Breakage::TakeOverLiveLease, Breakage::SettleWithinMargin]
        .into_iter()
        .filter(|breakage| {
            let found = noticed(*breakage);
            println!("{breakage:?}: {found:?}");
            found.is_none()
        })
        .collect();
    assert_eq!(unnoticed, []);
}
