//! Every interleaving of every case keeps every invariant.

use protocol::{Case, Faults, Model, Outcome, cases, large_cases};

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
    for case in cases() {
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
}

/// Hours rather than minutes: scripts/soak asks for them.
#[test]
fn every_large_case_keeps_every_invariant() {
    if std::env::var_os("PLUMBLINE_LARGE_MODEL").is_none() {
        return;
    }
    large_cases().into_iter().for_each(|case| drop(explore(case)));
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
