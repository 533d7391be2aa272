//! What became of the provider calls that a dead transaction had in flight.

use crate::record::body::Claim;
use crate::state::InstanceState;
use async_trait::async_trait;
use values::address::ResourceInstance;

/// A provider call whose answer is not recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct InFlight {
    /// The instance.
    pub address: ResourceInstance,
    /// Which object, what was to be done with it, and how it may be found.
    pub claim: Claim,
    /// What is recorded.
    pub recorded: InstanceState,
    /// Until then, seconds since the epoch, it may still come to pass.
    pub quiet: i64,
}

/// What became of a call in flight.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// The instance consists of this: read, adopted, or proven never to have been made.
    Known(Box<InstanceState>),
    /// It may have been made, and nothing can tell.
    InDoubt,
    /// The provider could not be asked now. Nothing is decided, and it is asked again later.
    NotNow(String),
}

/// Finds out from providers what became of calls in flight.
#[async_trait]
pub trait Settler: Send + Sync {
    /// Waits until the call can come to pass no more. Reads the object of an update or a delete; adopts what a create made,
    /// where the provider can prove which object that is; [`Settled::InDoubt`] otherwise.
    async fn settle(&self, in_flight: &InFlight) -> Settled;
}
