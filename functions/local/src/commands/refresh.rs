//! `plumb refresh`

use super::apply::{self, Kind};
use crate::environment::ProcessEnvironment;
use crate::invocation::Invocation;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    match super::begin(invocation, environment) {
        Ok((session, flags)) => {
            let result = apply::apply(&session, &flags, Kind::Refresh).await;
            session.conclude(result, "refresh")
        }
        Err(code) => code,
    }
}
