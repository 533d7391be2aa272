//! What one invocation does: each call takes one request to the store or to the provider, and all that follows from its
//! answer without another request.

use crate::model::{Model, Step, refers_to};
use crate::rules::{Invariant, Mutation};
use crate::state::{
    Body, Claim, ClaimState, Ending, Phase, Position, Purpose, Record, State, Status, Write,
};

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// It is done and answered.
    Given,
    /// It is done; the answer is lost.
    Lost,
    /// It is under way and may be done later, or never.
    Delayed,
    /// The invocation gives up waiting.
    GivenUp,
}

impl Model {
    /// The requests that an invocation may take now.
    pub(crate) fn answers(&self, state: &State, index: usize) -> Vec<Answer> {
        let invocation = &state.invocations[index];
        if invocation.status != Status::Running {
            return Vec::new();
        }
        match invocation.position {
            Position::Nowhere | Position::Await => Vec::new(),
            Position::Write(write) => {
                let mut answers = vec![Answer::Given];
                if state.faults.lost_answers > 0 && state.stored(write.body) == write.expected {
                    answers.push(Answer::Lost);
                }
                if state.faults.delayed_writes > 0 && state.delayed.iter().any(Option::is_none) {
                    answers.push(Answer::Delayed);
                }
                answers
            }
            Position::Wait { seen, rival } => {
                let moved = seen.claim.is_none_or(|claim| {
                    state.transactions[claim.plan as usize] != rival
                        || !state.lease_runs(claim.plan)
                }) || state.records[self.record_of(state, index) as usize] != seen;
                if moved { vec![Answer::Given, Answer::GivenUp] } else { vec![Answer::GivenUp] }
            }
            Position::SettleByReading { seen } => {
                let open = seen
                    .claim
                    .is_some_and(|claim| state.may_take_effect(claim.plan, claim.attempt));
                if open && !self.without(Mutation::SettleWithinMargin) {
                    Vec::new()
                } else {
                    vec![Answer::Given]
                }
            }
            _ => vec![Answer::Given],
        }
    }

    /// Takes the request of an invocation.
    pub(crate) fn take(
        &self,
        state: &mut State,
        index: usize,
        answer: Answer,
    ) -> Result<(), Invariant> {
        match state.invocations[index].position {
            Position::Nowhere | Position::Await => {}
            Position::ReadTransaction => self.take_lease(state, index)?,
            Position::Step => self.request(state, index)?,
            Position::AskRival { seen } => self.judge_rival(state, index, seen)?,
            Position::Wait { .. } if answer == Answer::GivenUp => {
                self.give_up(state, index, Phase::Waiting)
            }
            Position::Wait { .. } => state.invocations[index].position = Position::Step,
            Position::AskPartner { seen } => self.settle_move(state, index, seen)?,
            Position::SettleByReading { seen } => self.settle_by_reading(state, index, seen),
            Position::ReadAgain { seen } => self.read_again(state, index, seen),
            Position::Write(write) => match answer {
                Answer::Given if self.land(state, &write)? => self.landed(state, index, write)?,
                Answer::Given | Answer::GivenUp => {
                    state.invocations[index].position = Position::ReadBack(write)
                }
                Answer::Lost => {
                    state.faults.lost_answers -= 1;
                    self.land(state, &write)?;
                    state.invocations[index].position = Position::ReadBack(write);
                }
                Answer::Delayed => {
                    state.faults.delayed_writes -= 1;
                    if let Some(place) = state.delayed.iter_mut().find(|place| place.is_none()) {
                        *place = Some(write);
                    }
                    state.invocations[index].position = Position::ReadBack(write);
                }
            },
            Position::ReadBack(write) => {
                let current = state.stored(write.body);
                if current == write.body {
                    self.landed(state, index, write)?;
                } else if current == write.expected {
                    // Sent again as it was, so that it is known whichever copy lands.
                    state.invocations[index].position = Position::Write(write);
                } else {
                    self.refused(state, index, write, current)?;
                }
            }
            Position::Call => self.call(state, index)?,
            Position::WriteStray => {
                let invocation = &state.invocations[index];
                let (plan, record) = (invocation.plan, self.record_of(state, index) as usize);
                state.strays[record] |= 1 << plan;
                state.invocations[index].stop(Status::Ended(Ending::Superseded));
            }
            Position::Strip { member, then } => self.strip(state, index, member, then),
        }
        Ok(())
    }

    pub(crate) fn send(
        &self,
        state: &mut State,
        index: usize,
        purpose: Purpose,
        expected: Body,
        body: Body,
    ) {
        let plan = state.invocations[index].plan;
        state.invocations[index].position =
            Position::Write(Write { plan, purpose, expected, body });
    }

    pub(crate) fn send_record(
        &self,
        state: &mut State,
        index: usize,
        purpose: Purpose,
        key: u8,
        from: Record,
        to: Record,
    ) {
        let body = self.fresh_record(state, key, to);
        self.send(state, index, purpose, Body::Record(key, from), body);
    }

    pub(crate) fn stop(&self, state: &mut State, index: usize, ending: Ending) {
        state.invocations[index].stop(Status::Ended(ending));
    }

    /// The claim, where it is one of this invocation's transaction.
    pub(crate) fn own(&self, state: &State, index: usize, record: &Record) -> Option<Claim> {
        record.claim.filter(|claim| claim.plan == state.invocations[index].plan)
    }

    fn take_lease(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        let plan = state.invocations[index].plan;
        let stored = state.transactions[plan as usize];
        let no_lease = self.without(Mutation::NoLease);
        let phase = match stored.phase {
            Phase::Done | Phase::Rejected | Phase::Fenced => {
                self.stop(state, index, Ending::Superseded);
                return Ok(());
            }
            Phase::Claiming | Phase::Executing if no_lease => {
                let invocation = &mut state.invocations[index];
                invocation.attempt = stored.attempt;
                invocation.transaction = stored;
                invocation.lease = true;
                return self.begin(state, index);
            }
            Phase::Claiming | Phase::Executing => {
                if state.lease_runs(plan) && !self.without(Mutation::TakeOverLiveLease) {
                    self.stop(state, index, Ending::Busy);
                    return Ok(());
                }
                stored.phase
            }
            Phase::Absent | Phase::Waiting => Phase::Claiming,
        };
        let attempt = if no_lease { 1 } else { stored.attempt + 1 };
        let body = self.fresh_transaction(state, plan, phase, attempt);
        let invocation = &mut state.invocations[index];
        invocation.attempt = attempt;
        invocation.lease = true;
        self.send(state, index, Purpose::Lease, Body::Transaction(plan, stored), body);
        Ok(())
    }

    fn begin(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        let invocation = &mut state.invocations[index];
        invocation.at = 0;
        if invocation.transaction.phase == Phase::Executing {
            let script = &self.scripts[invocation.plan as usize];
            let first = script.iter().position(|step| matches!(step, Step::Execute(_)));
            invocation.at = first.unwrap_or_default() as u8;
        }
        self.arrive(state, index)
    }

    pub(crate) fn advance(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        state.invocations[index].at += 1;
        self.arrive(state, index)
    }

    /// Prepares the request of the current step.
    pub(crate) fn arrive(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        let invocation = state.invocations[index];
        let own_transaction = Body::Transaction(invocation.plan, invocation.transaction);
        match self.step_of(state, index) {
            Step::Decide => {
                let body = self.fresh_transaction(
                    state,
                    invocation.plan,
                    Phase::Executing,
                    invocation.attempt,
                );
                self.send(state, index, Purpose::Decide, own_transaction, body);
            }
            Step::Finish => {
                let body =
                    self.fresh_transaction(state, invocation.plan, Phase::Done, invocation.attempt);
                self.send(state, index, Purpose::End, own_transaction, body);
            }
            Step::Execute(member) => return self.execute(state, index, member),
            _ => state.invocations[index].position = Position::Step,
        }
        Ok(())
    }

    fn request(&self, state: &mut State, index: usize) -> Result<(), Invariant> {
        match self.step_of(state, index) {
            Step::Claim(_) | Step::Read(_) | Step::Dependents(_) => {
                let record = state.records[self.record_of(state, index) as usize];
                self.meet(state, index, record)
            }
            Step::Strays => {
                let plan = self.plan(state, index);
                let touched = plan
                    .members
                    .iter()
                    .map(|member| member.record)
                    .chain(plan.reads.iter().copied());
                let found = touched.into_iter().any(|record| state.strays[record as usize] != 0);
                if found {
                    self.give_up(state, index, Phase::Rejected);
                    return Ok(());
                }
                self.advance(state, index)
            }
            Step::World(member) => {
                let member = self.member(state, index, member);
                if self.as_planned(state, index, member.record) {
                    return self.advance(state, index);
                }
                self.give_up(state, index, Phase::Rejected);
                Ok(())
            }
            Step::Execute(_) => self.resume_member(state, index),
            Step::Decide | Step::Finish => Ok(()),
        }
    }

    /// Whether a member's resource is what it was while planning.
    pub(crate) fn as_planned(&self, state: &State, index: usize, record: u8) -> bool {
        let plan = state.invocations[index].plan as usize;
        state.planned[plan].object[record as usize]
            .is_none_or(|object| state.world[object.identity as usize] == object.value)
    }

    /// Judges a record that was read for claiming or verifying.
    pub(crate) fn meet(
        &self,
        state: &mut State,
        index: usize,
        record: Record,
    ) -> Result<(), Invariant> {
        let invocation = state.invocations[index];
        let planned = state.planned[invocation.plan as usize];
        let key = self.record_of(state, index);
        let step = self.step_of(state, index);
        let deleted = self.plan(state, index).deleted();
        if let Some(claim) = record.claim {
            if claim.plan == invocation.plan {
                if claim.attempt > invocation.attempt {
                    self.stop(state, index, Ending::Superseded);
                    return Ok(());
                }
                if claim.attempt == invocation.attempt || self.without(Mutation::KeepOlderClaims) {
                    state.invocations[index].known[key as usize] = record;
                    return self.advance(state, index);
                }
            } else {
                let ended = invocation.ended == Some((claim.plan, claim.attempt));
                let matters = match step {
                    Step::Dependents(_) => self.plans[claim.plan as usize]
                        .member(key)
                        .is_some_and(|member| member.dependencies & deleted != 0),
                    _ => true,
                };
                if matters && !ended {
                    state.invocations[index].position = Position::AskRival { seen: record };
                    return Ok(());
                }
            }
        }
        if let Step::Dependents(_) = step {
            if refers_to(&record, deleted) {
                self.give_up(state, index, Phase::Rejected);
                return Ok(());
            }
            return self.advance(state, index);
        }
        if record.revision != planned.revision[key as usize] || record.doubt {
            self.give_up(state, index, Phase::Rejected);
            return Ok(());
        }
        if matches!(step, Step::Read(_)) {
            return self.advance(state, index);
        }
        let claim = Claim {
            plan: invocation.plan,
            attempt: invocation.attempt,
            step: 0,
            state: ClaimState::Claimed,
        };
        self.send_record(
            state,
            index,
            Purpose::Claim,
            key,
            record,
            Record { claim: Some(claim), ..record },
        );
        Ok(())
    }

    /// Ends the attempt without a change: the phase first, so that an attempt which is no longer the last strips nothing.
    pub(crate) fn give_up(&self, state: &mut State, index: usize, phase: Phase) {
        if self.without(Mutation::StripBeforePhase) {
            state.invocations[index].position = Position::Strip { member: 0, then: Some(phase) };
            return;
        }
        self.end_as(state, index, phase);
    }

    fn end_as(&self, state: &mut State, index: usize, phase: Phase) {
        let invocation = state.invocations[index];
        let body = self.fresh_transaction(state, invocation.plan, phase, invocation.attempt);
        let expected = Body::Transaction(invocation.plan, invocation.transaction);
        self.send(state, index, Purpose::End, expected, body);
    }

    fn strip(&self, state: &mut State, index: usize, member: u8, then: Option<Phase>) {
        let Some(&member_of_plan) = self.plan(state, index).members.get(member as usize) else {
            if let Some(phase) = then {
                return self.end_as(state, index, phase);
            }
            let waiting = state.invocations[index].transaction.phase == Phase::Waiting;
            return self.stop(state, index, if waiting { Ending::Busy } else { Ending::Rejected });
        };
        let key = member_of_plan.record;
        let record = state.records[key as usize];
        match self.own(state, index, &record) {
            Some(claim) if claim.attempt <= state.invocations[index].attempt || then.is_some() => {
                let purpose = Purpose::Strip { member, then };
                self.send_record(
                    state,
                    index,
                    purpose,
                    key,
                    record,
                    Record { claim: None, ..record },
                );
            }
            _ => state.invocations[index].position = Position::Strip { member: member + 1, then },
        }
    }

    pub(crate) fn landed(
        &self,
        state: &mut State,
        index: usize,
        write: Write,
    ) -> Result<(), Invariant> {
        let invocation = &mut state.invocations[index];
        if let Body::Record(key, record) = write.body
            && matches!(write.purpose, Purpose::Claim | Purpose::Mark | Purpose::Result)
        {
            invocation.known[key as usize] = record;
        }
        if let Body::Transaction(_, transaction) = write.body
            && write.purpose != Purpose::Fence
        {
            invocation.transaction = transaction;
        }
        match write.purpose {
            Purpose::Lease => return self.begin(state, index),
            Purpose::Claim if invocation.plan as usize >= crate::state::PLANS => {
                self.stop(state, index, Ending::Claimed);
            }
            Purpose::Claim | Purpose::Decide => return self.advance(state, index),
            Purpose::Mark => invocation.position = Position::Call,
            Purpose::Result => {
                let Body::Record(key, record) = write.body else { return Ok(()) };
                match record.claim {
                    Some(Claim { state: ClaimState::Claimed, .. }) => {
                        return self.arrive(state, index);
                    }
                    Some(Claim { state: ClaimState::Failed, .. }) => invocation.failed |= 1 << key,
                    _ => {}
                }
                return self.advance(state, index);
            }
            Purpose::End if invocation.transaction.phase == Phase::Done => {
                self.stop(state, index, Ending::Done)
            }
            Purpose::End => {
                match (invocation.transaction.phase, self.without(Mutation::StripBeforePhase)) {
                    (Phase::Done, _) => self.stop(state, index, Ending::Done),
                    (_, true) => self.stop(state, index, Ending::Busy),
                    (_, false) => invocation.position = Position::Strip { member: 0, then: None },
                }
            }
            Purpose::Strip { member, then } => {
                invocation.position = Position::Strip { member: member + 1, then };
            }
            Purpose::Fence | Purpose::Settle => invocation.position = Position::Step,
        }
        Ok(())
    }

    fn refused(
        &self,
        state: &mut State,
        index: usize,
        write: Write,
        current: Body,
    ) -> Result<(), Invariant> {
        let attempt = state.invocations[index].attempt;
        match (write.purpose, current) {
            (Purpose::Lease, _) => {
                let invocation = &mut state.invocations[index];
                invocation.lease = false;
                invocation.attempt = 0;
                invocation.position = Position::ReadTransaction;
            }
            (Purpose::Claim, Body::Record(_, record)) => return self.meet(state, index, record),
            (Purpose::Mark, Body::Record(key, record)) => match self.own(state, index, &record) {
                Some(Claim { state: ClaimState::Done | ClaimState::Failed, .. }) => {
                    state.invocations[index].known[key as usize] = record;
                    return self.arrive(state, index);
                }
                Some(claim) if claim.attempt > attempt => {
                    self.stop(state, index, Ending::Superseded)
                }
                Some(_) => {
                    state.invocations[index].known[key as usize] = Record::default();
                    state.invocations[index].position = Position::Step;
                }
                None => return self.lost(state, index),
            },
            (Purpose::Result, Body::Record(key, record)) => {
                let Body::Record(_, result) = write.body else { return Ok(()) };
                let failed = matches!(result.claim, Some(Claim { state: ClaimState::Failed, .. }));
                let called = !self.step_member_is_record_alone(state, index);
                if called && !failed {
                    if !self.without(Mutation::DropRefusedResult) {
                        state.invocations[index].position = Position::WriteStray;
                    } else if record.object == result.object {
                        self.stop(state, index, Ending::Superseded);
                    } else {
                        return Err(Invariant::ResultLost);
                    }
                    return Ok(());
                }
                match self.own(state, index, &record) {
                    Some(Claim { state: ClaimState::Done | ClaimState::Failed, .. }) => {
                        state.invocations[index].known[key as usize] = record;
                        return self.arrive(state, index);
                    }
                    Some(_) => self.stop(state, index, Ending::Superseded),
                    None => return self.lost(state, index),
                }
            }
            (Purpose::Strip { member, then }, _) => {
                state.invocations[index].position = Position::Strip { member, then };
            }
            (Purpose::Fence | Purpose::Settle, _) => {
                state.invocations[index].position = Position::Step
            }
            (Purpose::Decide | Purpose::End, _) | (_, Body::Transaction(..)) => {
                self.stop(state, index, Ending::Superseded);
            }
        }
        Ok(())
    }
}
