//! A check that cannot fail is no check: the model without one of its rules breaks an invariant.

use protocol::{Invariant, Model, Mutation, cases};

/// The case that shows best what each rule is for, and the invariant that breaks there first.
const MISSED: [(Mutation, &str, Invariant); 16] = [
    (Mutation::DropVerify, "write-skew", Invariant::Serializable),
    (Mutation::VerifyBeforeClaim, "write-skew", Invariant::Serializable),
    (Mutation::ForgetWriteId, "twins", Invariant::Repeated),
    (Mutation::NoLease, "revived", Invariant::Repeated),
    (Mutation::TakeOverLiveLease, "same-record", Invariant::ResultLost),
    (Mutation::TakeoverWithoutStripping, "move", Invariant::TwoRecords),
    (Mutation::ClearClaimWithResult, "twins", Invariant::ClaimsHeld),
    (Mutation::NoDependentsCheck, "phantom", Invariant::ReadMoved),
    (Mutation::SettleWithinMargin, "record-alone", Invariant::Repeated),
    (Mutation::KeepOlderClaims, "revived", Invariant::ClaimsHeld),
    (Mutation::StripBeforePhase, "suspended", Invariant::ResultLost),
    (Mutation::TrustBodyReadBeforeEnd, "write-skew", Invariant::Serializable),
    (Mutation::StripSourceAlone, "move", Invariant::TwoRecords),
    (Mutation::DropRefusedResult, "same-create", Invariant::ResultLost),
    (Mutation::ForgetDoubt, "twins", Invariant::ResultLost),
    (Mutation::CallWithoutLease, "same-record", Invariant::SameState),
];

#[test]
fn every_rule_that_is_taken_away_is_missed() {
    for (mutation, name, invariant) in MISSED {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let outcome = Model::new(case, Some(mutation)).explore();
        let found = outcome.violation.map(|violation| violation.invariant);
        assert_eq!(
            found,
            Some(invariant),
            "{mutation:?} in {name}, after {} states",
            outcome.states
        );
    }
}

#[test]
fn no_mutation_is_left_out() {
    assert!(
        Mutation::ALL.iter().all(|mutation| MISSED.iter().any(|(missed, ..)| missed == mutation))
    );
}
