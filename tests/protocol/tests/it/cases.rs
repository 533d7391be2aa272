//! Every interleaving of every case keeps every invariant.

use protocol::{Case, Faults, Model, Outcome, cases, large_cases};
use std::sync::Mutex;

fn named(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).expect("a case of that name")
}

fn explore(case: Case) -> Outcome {
    let name = case.name;
    let outcome = Model::new(case, None).explore();
    if let Some(violation) = outcome.violation {
        panic!("{name}: {:?} after\n{}", violation.invariant, violation.trace.join("\n"));
    }
    outcome
}

#[test]
fn every_case_keeps_every_invariant() {
    let cases = Mutex::new(cases().into_iter());
    let next = || cases.lock().unwrap().next();
    let work = || {
        while let Some(case) = next() {
            keeps_every_invariant(case);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

fn keeps_every_invariant(case: Case) {
    let name = case.name;
    let outcome = explore(case);
    assert!(outcome.finals > 0 && outcome.states > 1_000, "{name}: {outcome:?}");
    match name {
        "twins" => assert!(
            outcome.doubts > 0,
            "a create in flight is in doubt where nobody can identify it"
        ),
        "twins-with-tokens" => {
            assert_eq!(outcome.doubts, 0, "a create that can be identified never is")
        }
        _ => {}
    }
}

/// States of one large case, beyond which memory and patience end.
const MOST: u64 = 150_000_000;

/// Hours rather than minutes: scripts/soak asks for them.
#[test]
fn every_large_case_keeps_every_invariant() {
    if std::env::var_os("PLUMBLINE_LARGE_MODEL").is_none() {
        return;
    }
    for case in large_cases() {
        let name = case.name;
        let outcome = Model::new(case, None).explore_up_to(MOST);
        let extent = if outcome.states < MOST { "whole" } else { "in part" };
        println!("{name}: explored {extent}, {} states", outcome.states);
        let violation = outcome.violation.map(|found| (found.invariant, found.trace.join("\n")));
        assert!(violation.is_none(), "{name}: {violation:?}");
    }
}

#[test]
fn without_faults_disjoint_transactions_both_succeed() {
    let outcome = explore(Case { faults: Faults::default(), ..named("disjoint") });
    assert_eq!(outcome.winners.into_iter().collect::<Vec<_>>(), [0b11]);
}

#[test]
fn of_two_that_conflict_either_may_win_and_never_both() {
    for name in ["same-record", "write-skew", "same-create"] {
        let outcome = explore(Case { faults: Faults::default(), ..named(name) });
        assert!(
            outcome.winners.contains(&0b01) && outcome.winners.contains(&0b10),
            "{name}: {outcome:?}"
        );
        assert!(!outcome.winners.contains(&0b11), "{name}: {outcome:?}");
    }
}

#[test]
fn a_read_orders_two_transactions_and_both_may_succeed() {
    let outcome = explore(Case { faults: Faults::default(), ..named("read-of-change") });
    assert!(outcome.winners.contains(&0b11), "{outcome:?}");
}
