//! An exhaustive model of the transaction protocol, as docs/design.md section 6 describes it.
//!
//! A case is a few transactions over at most three records; the model takes every step that the protocol allows, one request
//! to the store or the provider at a time, in every order, with crashes, lost and late answers, leases that end and changes
//! by hand in between. docs/protocol.md explains the protocol, the invariants and what was found.

mod case;
mod cases;
mod event;
mod execution;
mod explore;
mod invariants;
mod invocation;
mod model;
mod rules;
mod state;
mod takeover;

pub use case::{Action, Case, Member, Plan};
pub use cases::{cases, large_cases};
pub use explore::{Outcome, Violation};
pub use model::Model;
pub use rules::{Invariant, Mutation};
pub use state::Faults;
