//! `plumb refresh`

use super::apply::{self, Kind};
use crate::environment::ProcessEnvironment;
use crate::flags::Flags;
use crate::invocation::Invocation;
use crate::session::Session;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let work =
        async |session: &Session, flags: &Flags| apply::apply(session, flags, Kind::Refresh).await;
    super::carry_out(invocation, environment, work).await
}
