//! What an invocation does about claims of others, and about changes in flight of a dead transaction or attempt.

use crate::case::{Action, Call};
use crate::model::{Model, Step};
use crate::rules::{Invariant, Mutation};
use crate::state::{
    Body, Claim, ClaimState, GONE, NEVER, Object, Phase, Position, Purpose, Record, State,
    created_object, value_of,
};

impl Model {
    /// The rival's transaction has been read: yields, waits, takes over, or goes on.
    pub(crate) fn judge_rival(
        &self,
        state: &mut State,
        index: usize,
        seen: Record,
    ) -> Result<(), Invariant> {
        let Some(claim) = seen.claim else { return Ok(()) };
        let rival = state.transactions[claim.plan as usize];
        let own = state.invocations[index].plan;
        match rival.phase {
            Phase::Absent | Phase::Done | Phase::Waiting | Phase::Rejected => {
                self.rival_ended(state, index, seen)
            }
            Phase::Fenced => self.settle(state, index, seen),
            Phase::Claiming | Phase::Executing => {
                let alive =
                    state.lease_runs(claim.plan) && !self.without(Mutation::TakeOverLiveLease);
                if !alive {
                    let body =
                        self.fresh_transaction(state, claim.plan, Phase::Fenced, rival.attempt);
                    self.send(
                        state,
                        index,
                        Purpose::Fence,
                        Body::Transaction(claim.plan, rival),
                        body,
                    );
                } else if rival.phase == Phase::Claiming && own < claim.plan {
                    state.invocations[index].position = Position::Wait { seen, rival };
                } else {
                    self.give_up(state, index, Phase::Waiting);
                }
                Ok(())
            }
        }
    }

    fn rival_ended(&self, state: &mut State, index: usize, seen: Record) -> Result<(), Invariant> {
        state.invocations[index].ended = seen.claim.map(|claim| (claim.plan, claim.attempt));
        // A claim is written from the version that was read before; what is only verified may have moved since.
        let written_from = matches!(self.step_of(state, index), Step::Claim(_));
        if written_from || self.without(Mutation::TrustBodyReadBeforeEnd) {
            return self.meet(state, index, seen);
        }
        state.invocations[index].position = Position::Step;
        Ok(())
    }

    /// A fence ends nothing by itself: its claims are taken back by writes, so that what the dead one still sends fails.
    fn settle(&self, state: &mut State, index: usize, seen: Record) -> Result<(), Invariant> {
        let Some(claim) = seen.claim else { return Ok(()) };
        let key = self.record_of(state, index);
        let action = self.plans[claim.plan as usize].member(key).map(|member| member.action);
        match (claim.state, action) {
            (ClaimState::Applying, _) => {
                state.invocations[index].position = Position::SettleByReading { seen };
                Ok(())
            }
            (ClaimState::Claimed, _) if self.without(Mutation::TakeoverWithoutStripping) => {
                self.rival_ended(state, index, seen)
            }
            (ClaimState::Claimed, Some(Action::MoveTo(_)))
                if !self.without(Mutation::StripSourceAlone) =>
            {
                state.invocations[index].position = Position::AskPartner { seen };
                Ok(())
            }
            (ClaimState::Claimed, _) => {
                self.send_record(
                    state,
                    index,
                    Purpose::Settle,
                    key,
                    seen,
                    Record { claim: None, ..seen },
                );
                Ok(())
            }
            (ClaimState::Done, Some(Action::MoveFrom(_))) => {
                state.invocations[index].position = Position::AskPartner { seen };
                Ok(())
            }
            (ClaimState::Done | ClaimState::Failed, _) => self.rival_ended(state, index, seen),
        }
    }

    /// A move half done is finished; one not begun is undone from its target, so that it cannot begin any more.
    pub(crate) fn settle_move(
        &self,
        state: &mut State,
        index: usize,
        seen: Record,
    ) -> Result<(), Invariant> {
        let Some(claim) = seen.claim else { return Ok(()) };
        let key = self.record_of(state, index);
        let action = self.plans[claim.plan as usize].member(key).map(|member| member.action);
        match action {
            Some(Action::MoveTo(target)) => {
                let other = state.records[target as usize];
                let begins = other.claim.is_some_and(|found| {
                    found.plan == claim.plan && found.state == ClaimState::Claimed
                });
                if other.moved_from == Some((key, seen.revision)) {
                    self.send_record(state, index, Purpose::Settle, key, seen, void(seen));
                } else if begins {
                    let stripped = Record { claim: None, ..other };
                    self.send_record(state, index, Purpose::Settle, target, other, stripped);
                } else {
                    self.send_record(
                        state,
                        index,
                        Purpose::Settle,
                        key,
                        seen,
                        Record { claim: None, ..seen },
                    );
                }
                Ok(())
            }
            Some(Action::MoveFrom(source)) => {
                let other = state.records[source as usize];
                if other.object.is_some() && seen.moved_from == Some((source, other.revision)) {
                    self.send_record(state, index, Purpose::Settle, source, other, void(other));
                    return Ok(());
                }
                self.rival_ended(state, index, seen)
            }
            _ => Ok(()),
        }
    }

    /// What was in flight is read from the world, after the margin in which its call may still take effect.
    pub(crate) fn settle_by_reading(&self, state: &mut State, index: usize, seen: Record) {
        let Some(claim) = seen.claim else { return };
        let key = self.record_of(state, index);
        let Some(&member) = self.plans[claim.plan as usize].member(key) else { return };
        let own = claim.plan == state.invocations[index].plan;
        let attempt = if own { state.invocations[index].attempt } else { claim.attempt };
        let call = member.action.calls().get(claim.step as usize).copied();
        let last = claim.step as usize + 1 >= member.action.calls().len();
        let todo = Claim { state: ClaimState::Claimed, attempt, ..claim };
        let finished = if last {
            Claim { state: ClaimState::Done, ..claim }
        } else {
            Claim { state: ClaimState::Claimed, step: claim.step + 1, attempt, ..claim }
        };
        let mut record = Record { claim: Some(todo), ..seen };
        match call {
            Some(Call::Create) => {
                let identity = created_object(claim.plan, key);
                let value = state.world[identity as usize];
                if !self.case.tokens && !self.without(Mutation::ForgetDoubt) {
                    record.doubt = true;
                    record.claim = Some(Claim { state: ClaimState::Failed, ..claim });
                } else if self.case.tokens && value != NEVER && value != GONE {
                    record.object =
                        Some(Object { identity, value, dependencies: member.dependencies });
                    record.revision = self.fresh_revision(state, key);
                    record.claim = Some(finished);
                }
            }
            Some(Call::Delete | Call::Update) => {
                if let Some(object) = seen.object {
                    let value = state.world[object.identity as usize];
                    if value == GONE {
                        record.object = None;
                        record.revision = 0;
                        record.claim = Some(finished);
                    } else if value != object.value {
                        let landed = value == value_of(claim.plan);
                        record.object = Some(Object { value, ..object });
                        record.revision = self.fresh_revision(state, key);
                        record.claim = Some(if landed {
                            finished
                        } else {
                            Claim { state: ClaimState::Failed, ..claim }
                        });
                    }
                }
            }
            None => {}
        }
        if !own {
            record.claim = None;
        }
        self.send_record(state, index, Purpose::Settle, key, seen, record);
    }
}

/// A source after its move: a tombstone, which ends whatever claim was in it.
fn void(source: Record) -> Record {
    Record { object: None, revision: 0, claim: None, ..source }
}
