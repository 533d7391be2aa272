//! The cases by name.

use crate::case::{Action, Case, Member, Plan};
use crate::state::Faults;

fn plan(members: &[(u8, Action, u8)], reads: &[u8]) -> Plan {
    Plan {
        members: members
            .iter()
            .map(|&(record, action, dependencies)| Member { record, action, dependencies })
            .collect(),
        reads: reads.to_vec(),
        invocations: 1,
        late: false,
    }
}

impl Plan {
    fn invoked(self, invocations: u8) -> Self {
        Self { invocations, ..self }
    }

    fn late(self) -> Self {
        Self { late: true, ..self }
    }
}

const NONE: Faults = Faults {
    crashes: 0,
    lost_answers: 0,
    delayed_writes: 0,
    thaws: 0,
    refusals: 0,
    interferences: 0,
};
const ONE_OF_EACH: Faults =
    Faults { crashes: 1, lost_answers: 1, delayed_writes: 1, thaws: 1, ..NONE };

const TWICE: Faults = Faults { crashes: 2, thaws: 1, ..NONE };
const TWINS: Faults = Faults { crashes: 2, ..ONE_OF_EACH };

/// The cases that every change has to pass.
pub fn cases() -> Vec<Case> {
    use Action::{Create, Delete, MoveFrom, MoveTo, Replace, Update, UpdateRecord};
    let case = |name, about, existing, faults, plans| Case {
        name,
        about,
        plans,
        existing,
        tokens: false,
        faults,
    };
    vec![
        case(
            "disjoint",
            "two transactions that share one record which both read and neither changes",
            0b111,
            Faults { crashes: 1, lost_answers: 1, ..NONE },
            vec![plan(&[(0, Update, 0)], &[2]), plan(&[(1, Update, 0)], &[2])],
        ),
        case(
            "same-record",
            "two transactions that update one record",
            0b001,
            ONE_OF_EACH,
            vec![plan(&[(0, Update, 0)], &[]), plan(&[(0, Update, 0)], &[])],
        ),
        case(
            "write-skew",
            "two transactions, each of which reads what the other changes",
            0b011,
            Faults { crashes: 1, thaws: 1, delayed_writes: 1, ..NONE },
            vec![plan(&[(0, Update, 0)], &[1]), plan(&[(1, Update, 0)], &[0])],
        ),
        case(
            "read-of-change",
            "one transaction reads what the other changes",
            0b011,
            Faults { crashes: 1, ..NONE },
            vec![plan(&[(0, Update, 0)], &[1]).invoked(2), plan(&[(1, Update, 0)], &[])],
        ),
        case(
            "same-create",
            "two transactions that create one record",
            0b000,
            ONE_OF_EACH,
            vec![plan(&[(0, Create, 0)], &[]), plan(&[(0, Create, 0)], &[])],
        ),
        case(
            "twins",
            "one transaction of two creates in two invocations, at once or one after the other",
            0b000,
            Faults { crashes: 1, lost_answers: 1, delayed_writes: 1, thaws: 1, ..NONE },
            vec![plan(&[(0, Create, 0), (1, Create, 0b001)], &[]).invoked(2)],
        ),
        Case {
            tokens: true,
            ..case(
                "twins-with-tokens",
                "the same at a provider that finds a create again by its request token",
                0b000,
                Faults { crashes: 1, lost_answers: 1, delayed_writes: 1, thaws: 1, ..NONE },
                vec![plan(&[(0, Create, 0), (1, Create, 0b001)], &[]).invoked(2)],
            )
        },
        case(
            "phantom",
            "one transaction deletes what another's new record refers to",
            0b001,
            Faults { crashes: 1, thaws: 1, delayed_writes: 1, ..NONE },
            vec![plan(&[(0, Delete, 0)], &[]), plan(&[(1, Create, 0b001)], &[0])],
        ),
        case(
            "move",
            "a move, and an update of its source",
            0b001,
            ONE_OF_EACH,
            vec![
                plan(&[(1, MoveFrom(0), 0), (0, MoveTo(1), 0)], &[]),
                plan(&[(0, Update, 0)], &[]),
            ],
        ),
        case(
            "move-resumed",
            "a move in two invocations, and a later transaction that updates its target",
            0b001,
            Faults { crashes: 2, thaws: 1, ..NONE },
            vec![
                plan(&[(1, MoveFrom(0), 0), (0, MoveTo(1), 0)], &[]).invoked(2),
                plan(&[(1, Update, 0)], &[]).late(),
            ],
        ),
        case(
            "replace",
            "a replacement in two invocations, and a transaction that reads what is replaced",
            0b011,
            Faults { crashes: 1, thaws: 1, ..NONE },
            vec![plan(&[(0, Replace, 0)], &[]).invoked(2), plan(&[(1, Update, 0)], &[0])],
        ),
        case(
            "record-alone",
            "changes of records alone, which no lease guards, and one that is skipped",
            0b011,
            Faults { thaws: 1, refusals: 1, ..NONE },
            vec![
                plan(&[(0, Update, 0), (1, UpdateRecord, 0b001)], &[]).invoked(2),
                plan(&[(1, UpdateRecord, 0)], &[]),
            ],
        ),
        case(
            "by-hand",
            "somebody changes or deletes a resource by hand, between any two slices",
            0b011,
            Faults { crashes: 1, thaws: 1, interferences: 1, ..NONE },
            vec![plan(&[(0, Update, 0), (1, Delete, 0)], &[]).invoked(2)],
        ),
        case(
            "delete-and-create",
            "a record is deleted and created anew between two slices of a transaction that updates it",
            0b001,
            Faults { crashes: 1, ..NONE },
            vec![
                plan(&[(0, Update, 0)], &[]).invoked(2),
                plan(&[(0, Delete, 0)], &[]),
                plan(&[(0, Create, 0)], &[]).late(),
            ],
        ),
        case(
            "revived",
            "a transaction gives way to another, whose change the provider refuses, and tries again",
            0b011,
            Faults { refusals: 1, ..NONE },
            vec![
                plan(&[(0, Update, 0), (1, Update, 0)], &[]).invoked(2),
                plan(&[(1, Update, 0)], &[]),
            ],
        ),
        case(
            "suspended",
            "an invocation is suspended while it claims; the next goes on, decides and changes",
            0b011,
            Faults { crashes: 1, thaws: 1, delayed_writes: 1, ..NONE },
            vec![plan(&[(0, Update, 0), (1, Update, 0)], &[]).invoked(2)],
        ),
        case(
            "skew-of-three",
            "three transactions in a ring, each of which reads what the next changes",
            0b111,
            Faults { crashes: 1, ..NONE },
            vec![
                plan(&[(0, Update, 0)], &[1]),
                plan(&[(1, Update, 0)], &[2]),
                plan(&[(2, Update, 0)], &[0]),
            ],
        ),
        case(
            "taker-dies",
            "a transaction dies, who takes it over dies as well",
            0b011,
            Faults { crashes: 2, ..NONE },
            vec![
                plan(&[(0, Update, 0), (1, Update, 0)], &[]),
                plan(&[(0, Update, 0)], &[]),
                plan(&[(1, Update, 0)], &[]),
            ],
        ),
    ]
}

/// The same with more invocations and faults, for an hour rather than a minute.
pub fn large_cases() -> Vec<Case> {
    let enlarged = |case: Case| -> Option<Case> {
        let (name, faults, invocations): (_, _, &[u8]) = match case.name {
            "write-skew" => ("write-skew-large", ONE_OF_EACH, &[1, 1]),
            "read-of-change" => {
                ("read-of-change-large", Faults { crashes: 1, thaws: 1, ..NONE }, &[2, 1])
            }
            "twins" => ("twins-large", TWINS, &[3]),
            "twins-with-tokens" => ("twins-with-tokens-large", TWINS, &[3]),
            "phantom" => {
                ("phantom-large", Faults { crashes: 2, thaws: 1, lost_answers: 1, ..NONE }, &[1, 2])
            }
            "move-resumed" => {
                ("move-resumed-large", Faults { delayed_writes: 1, ..TWICE }, &[2, 1])
            }
            "replace" => ("replace-large", TWICE, &[2, 1]),
            "record-alone" => (
                "record-alone-large",
                Faults { crashes: 1, refusals: 1, thaws: 1, ..NONE },
                &[2, 1],
            ),
            "by-hand" => ("by-hand-large", Faults { interferences: 1, ..TWICE }, &[3]),
            "skew-of-three" => {
                ("skew-of-three-large", Faults { crashes: 1, thaws: 1, ..NONE }, &[1, 1, 1])
            }
            "revived" => ("revived-large", Faults { crashes: 1, refusals: 1, ..NONE }, &[2, 1]),
            _ => return None,
        };
        let plans = case
            .plans
            .into_iter()
            .zip(invocations)
            .map(|(plan, &count)| plan.invoked(count))
            .collect();
        Some(Case { name, faults, plans, ..case })
    };
    cases().into_iter().filter_map(enlarged).collect()
}
