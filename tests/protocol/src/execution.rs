//! How a decided transaction changes its members, afresh or where an earlier attempt stopped.

use crate::case::{Action, Call};
use crate::model::{Model, Step, after_step};
use crate::rules::{Invariant, Mutation};
use crate::state::{
    Claim, ClaimState, Ending, FOREIGN, GONE, NEVER, OBJECTS, Phase, Position, Purpose, Record,
    State, Status, created_object, home, value_of,
};

impl Model {
    /// The first request of a member's execution, where its record is known.
    pub(crate) fn execute(
        &self,
        state: &mut State,
        index: usize,
        member: u8,
    ) -> Result<(), Invariant> {
        let member = self.member(state, index, member);
        let known = state.invocations[index].known[member.record as usize];
        let Some(claim) = self.own(state, index, &known) else {
            state.invocations[index].position = Position::Step;
            return Ok(());
        };
        match claim.state {
            ClaimState::Done => self.advance(state, index),
            ClaimState::Failed => {
                state.invocations[index].failed |= 1 << member.record;
                self.advance(state, index)
            }
            ClaimState::Applying => {
                state.invocations[index].position = Position::Step;
                Ok(())
            }
            ClaimState::Claimed => {
                let failed = state.invocations[index].failed;
                let attempt = state.invocations[index].attempt;
                let source_failed =
                    matches!(member.action, Action::MoveTo(target) if failed & 1 << target != 0);
                if failed & member.dependencies != 0 || source_failed {
                    // Skipped without a write: the end of the transaction ends this claim too.
                    state.invocations[index].failed |= 1 << member.record;
                    return self.advance(state, index);
                } else if member.action.calls().is_empty() {
                    let plan = state.invocations[index].plan;
                    let result = after_step(self, state, plan, &member, known);
                    self.send_record(state, index, Purpose::Result, member.record, known, result);
                } else {
                    let marked = Claim { state: ClaimState::Applying, attempt, ..claim };
                    let marked = Record { claim: Some(marked), ..known };
                    self.send_record(state, index, Purpose::Mark, member.record, known, marked);
                }
                Ok(())
            }
        }
    }

    /// A member whose change failed keeps its claim until the transaction ends, so that who resumes knows.
    fn write_off(&self, state: &mut State, index: usize, key: u8, known: Record) {
        let claim = known.claim.map(|claim| Claim { state: ClaimState::Failed, ..claim });
        self.send_record(state, index, Purpose::Result, key, known, Record { claim, ..known });
    }

    pub(crate) fn step_member_is_record_alone(&self, state: &State, index: usize) -> bool {
        match self.step_of(state, index) {
            Step::Execute(member) => self.member(state, index, member).action.calls().is_empty(),
            _ => true,
        }
    }

    /// A claim of its own is gone: only a fence or another attempt may have done that.
    pub(crate) fn lost(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        let invocation = &state.invocations[index];
        let stored = state.transactions[invocation.plan as usize];
        if stored.phase == Phase::Executing && stored.attempt == invocation.attempt {
            return Err(Invariant::ClaimsHeld);
        }
        self.stop(state, index, Ending::Lost);
        Ok(())
    }

    /// Goes on with a member of which only the record is known.
    pub(crate) fn resume_member(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        let key = self.record_of(state, index);
        let record = state.records[key as usize];
        let Some(claim) = self.own(state, index, &record) else { return self.lost(state, index) };
        match claim.state {
            _ if claim.attempt > state.invocations[index].attempt => {
                self.stop(state, index, Ending::Superseded)
            }
            ClaimState::Applying => {
                state.invocations[index].position = Position::SettleByReading { seen: record }
            }
            ClaimState::Claimed => {
                state.invocations[index].position = Position::ReadAgain { seen: record }
            }
            ClaimState::Done | ClaimState::Failed => {
                state.invocations[index].known[key as usize] = record;
                return self.arrive(state, index);
            }
        }
        Ok(())
    }

    /// Before an earlier attempt's member is changed, its resource has to be what it was while planning.
    pub(crate) fn read_again(&self, state: &mut State, index: usize, seen: Record) {
        let key = self.record_of(state, index);
        let begun = seen.claim.is_some_and(|claim| claim.step > 0);
        if begun
            || self.step_member_is_record_alone(state, index)
            || self.as_planned(state, index, key)
        {
            state.invocations[index].known[key as usize] = seen;
            let arrived = self.arrive(state, index);
            debug_assert!(arrived.is_ok());
        } else {
            self.write_off(state, index, key, seen);
        }
    }

    /// The lease is looked at, and the call begins, within the margin: as one step.
    pub(crate) fn call(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        let key = self.record_of(state, index);
        let invocation = &mut state.invocations[index];
        let step = invocation.known[key as usize].claim.map_or(0, |claim| claim.step);
        if !invocation.lease && !self.without(Mutation::CallWithoutLease) {
            self.stop(state, index, Ending::Continue);
            return Ok(());
        }
        invocation.in_flight = Some((key, step));
        invocation.position = Position::Await;
        Ok(())
    }

    /// A provider call takes effect, and is answered where its caller still lives.
    pub(crate) fn take_effect(
        &self,
        state: &mut State,
        index: usize,
        refused: bool,
    ) -> Result<(), Invariant> {
        let Some((key, step)) = state.invocations[index].in_flight.take() else { return Ok(()) };
        let plan = state.invocations[index].plan;
        let Some(&member) = self.plans[plan as usize].member(key) else { return Ok(()) };
        let succeeded =
            !refused && self.effect(state, plan, key, member.action.calls()[step as usize])?;
        if state.invocations[index].status != Status::Running {
            return Ok(());
        }
        let known = state.invocations[index].known[key as usize];
        if succeeded {
            let result = after_step(self, state, plan, &member, known);
            self.send_record(state, index, Purpose::Result, key, known, result);
        } else {
            self.write_off(state, index, key, known);
        }
        Ok(())
    }

    fn effect(&self, state: &mut State, plan: u8, key: u8, call: Call) -> Result<bool, Invariant> {
        if call == Call::Create {
            let identity = created_object(plan, key);
            if state.world[identity as usize] != NEVER {
                return Err(Invariant::Repeated);
            }
            let twin = (0..OBJECTS as u8).any(|other| {
                let value = state.world[other as usize];
                let elsewhere = state.records.iter().enumerate().any(|(record, body)| {
                    record != key as usize
                        && body.object.is_some_and(|object| object.identity == other)
                });
                home(other) == key && value != NEVER && value != GONE && !elsewhere
            });
            if twin {
                return Err(Invariant::SameState);
            }
            state.world[identity as usize] = value_of(plan);
            return self.observe_change(state, plan, key).map(|()| true);
        }
        let Some(object) = state.planned[plan as usize].object[key as usize] else {
            return Ok(false);
        };
        let value = state.world[object.identity as usize];
        let interfered = state.interfered & 1 << object.identity != 0;
        if value == GONE {
            return if interfered { Ok(false) } else { Err(Invariant::SameState) };
        }
        if value == value_of(plan) {
            return Err(Invariant::Repeated);
        }
        if value != object.value && value != FOREIGN {
            return Err(Invariant::SameState);
        }
        state.world[object.identity as usize] =
            if call == Call::Delete { GONE } else { value_of(plan) };
        self.observe_change(state, plan, key).map(|()| true)
    }
}
