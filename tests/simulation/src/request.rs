//! Requests: who asks for what, how far that has come, and how its answer gets back.

use crate::world::World;
use std::time::Duration;
use tokio::sync::oneshot;

/// A process: one invocation, or [`OUTSIDE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessId(pub(crate) usize);

/// Whoever starts processes. Nothing happens to it.
pub const OUTSIDE: ProcessId = ProcessId(0);

/// What a request may do, and so what may befall it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Changes nothing.
    Read,
    /// A conditional write: whatever befalls it, it finds out by itself whether it still holds.
    Write,
    /// A provider changes the real world. It takes effect within [`World::margin`], or never.
    Call,
}

/// Something that a process asks for.
pub(crate) struct Request {
    pub(crate) process: ProcessId,
    pub(crate) kind: Kind,
    pub(crate) what: String,
    pub(crate) stage: Stage,
    pub(crate) not_before: Duration,
    /// When a call has taken effect at the latest.
    pub(crate) lands_by: Duration,
    pub(crate) delayed: bool,
    pub(crate) again: bool,
    pub(crate) exchange: Box<dyn Exchange>,
}

/// How far a request has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// On its way, and its sender waits.
    Sent,
    /// On its way, and nobody waits.
    Forgotten,
    /// Done, and its answer on the way back.
    Answered,
}

/// A request with its answer's way back.
pub(crate) trait Exchange: Send {
    /// Does what is asked; a few words on what came of it.
    fn perform(&mut self, world: &mut World) -> String;
    /// Tells its sender what came of it.
    fn answer(&mut self, world: &mut World);
    /// Tells its sender that no answer comes.
    fn lose(&mut self);
}

/// How something is done (`perform`) and told of (`answer`), and what is told instead where nothing is (`lost`).
pub(crate) struct Typed<E, T, P, A> {
    perform: P,
    answer: Option<A>,
    effect: Option<E>,
    lost: Option<T>,
    sender: Option<oneshot::Sender<T>>,
}

impl<E, T, P, A> Typed<E, T, P, A> {
    pub(crate) fn new(perform: P, answer: A, lost: T, sender: oneshot::Sender<T>) -> Self {
        let (answer, lost, sender) = (Some(answer), Some(lost), Some(sender));
        Self { perform, answer, effect: None, lost, sender }
    }
}

impl<E, T, P, A> Exchange for Typed<E, T, P, A>
where
    E: Send,
    T: Send,
    P: FnMut(&mut World) -> (E, String) + Send,
    A: FnOnce(E, &mut World) -> T + Send,
{
    fn perform(&mut self, world: &mut World) -> String {
        let (effect, words) = (self.perform)(world);
        self.effect = Some(effect);
        words
    }
    fn answer(&mut self, world: &mut World) {
        if let (Some(sender), Some(answer), Some(effect)) =
            (self.sender.take(), self.answer.take(), self.effect.take())
        {
            // Who is gone needs no answer.
            let _ = sender.send(answer(effect, world));
        }
    }
    fn lose(&mut self) {
        if let (Some(sender), Some(lost)) = (self.sender.take(), self.lost.take()) {
            let _ = sender.send(lost);
        }
    }
}
