//! `plumb refresh`

use super::apply::{self, Kind};
use super::operation;
use crate::environment::ProcessEnvironment;
use crate::flags::Flag;
use crate::invocation::Invocation;

/// Those of a plan that only refreshes.
const KNOWN: [&str; 15] = [
    "json",
    "no-color",
    "compact-warnings",
    "input",
    "new-estate",
    "var",
    "var-file",
    "parallelism",
    "target",
    "lock",
    "lock-timeout",
    "allow-deferral",
    "state",
    "state-out",
    "backup",
];

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let known: Vec<Flag> =
        operation::FLAGS.iter().filter(|flag| KNOWN.contains(&flag.name())).copied().collect();
    match super::begin(invocation, environment, &known) {
        Ok((session, flags)) => {
            let result = apply::apply(&session, &flags, Kind::Refresh).await;
            session.conclude(result, "refresh")
        }
        Err(code) => code,
    }
}
