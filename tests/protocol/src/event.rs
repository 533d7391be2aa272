//! All that can happen next: steps of invocations, and what the world around them does.

use crate::case::planned_now;
use crate::invocation::Answer;
use crate::model::Model;
use crate::rules::Invariant;
use crate::state::{
    FOREIGN, GONE, INVOCATIONS, Invocation, NEVER, OBJECTS, PLANS, Phase, Planned, Position,
    RECORDS, State, Status,
};

/// One step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Plan(u8),
    Begin {
        plan: u8,
        index: u8,
    },
    Take {
        index: u8,
        answer: Answer,
    },
    TakeEffect {
        index: u8,
        refused: bool,
    },
    /// A call of a dead invocation never reaches the provider.
    NeverReached(u8),
    Crash(u8),
    LeaseEnds(u8),
    Arrives(u8),
    Interfere {
        object: u8,
        value: u8,
    },
}

impl Model {
    /// Every step from a state.
    pub(crate) fn steps(&self, state: &State) -> Vec<(Event, Result<State, Invariant>)> {
        let mut steps = Vec::with_capacity(12);
        let mut push = |event: Event, change: &dyn Fn(&mut State) -> Result<(), Invariant>| {
            let mut next = state.clone();
            let result = change(&mut next).map(|()| next);
            steps.push((event, result));
        };
        for (plan, planned) in self.case.plans.iter().enumerate() {
            let index =
                state.invocations.iter().position(|invocation| invocation.status == Status::Unborn);
            let begun = state
                .invocations
                .iter()
                .filter(|invocation| {
                    invocation.status != Status::Unborn && invocation.plan as usize == plan
                })
                .count();
            if !state.planned[plan].made {
                if self.can_be_planned(state, plan) {
                    push(Event::Plan(plan as u8), &|next| {
                        next.planned[plan] = Planned { late: true, ..planned_now(next) };
                        Ok(())
                    });
                }
            } else if let Some(index) = index.filter(|&index| index < INVOCATIONS - 1)
                && begun < planned.invocations as usize
            {
                push(Event::Begin { plan: plan as u8, index: index as u8 }, &|next| {
                    next.invocations[index] = Invocation {
                        plan: plan as u8,
                        status: Status::Running,
                        position: Position::ReadTransaction,
                        ..Invocation::UNBORN
                    };
                    Ok(())
                });
            }
        }
        for (index, invocation) in state.invocations.iter().enumerate() {
            let name = index as u8;
            for answer in self.answers(state, index) {
                push(Event::Take { index: name, answer }, &|next| self.take(next, index, answer));
            }
            let running = invocation.status == Status::Running;
            if invocation.in_flight.is_some() {
                push(Event::TakeEffect { index: name, refused: false }, &|next| {
                    self.take_effect(next, index, false)
                });
                if running && state.faults.refusals > 0 {
                    push(Event::TakeEffect { index: name, refused: true }, &|next| {
                        next.faults.refusals -= 1;
                        self.take_effect(next, index, true)
                    });
                }
                if !running {
                    push(Event::NeverReached(name), &|next| {
                        next.invocations[index].in_flight = None;
                        Ok(())
                    });
                }
            }
            if running && state.faults.crashes > 0 {
                push(Event::Crash(name), &|next| {
                    next.faults.crashes -= 1;
                    next.invocations[index].stop(Status::Dead);
                    Ok(())
                });
            }
            if invocation.lease && (!running || state.faults.thaws > 0) {
                push(Event::LeaseEnds(name), &|next| {
                    if running {
                        next.faults.thaws -= 1;
                    }
                    next.invocations[index].lease = false;
                    Ok(())
                });
            }
        }
        for (place, _) in state.delayed.iter().enumerate().filter(|(_, write)| write.is_some()) {
            push(Event::Arrives(place as u8), &|next| {
                let Some(write) = next.delayed[place].take() else { return Ok(()) };
                self.land(next, &write).map(|_| ())
            });
        }
        if state.faults.interferences > 0 {
            for object in (0..OBJECTS)
                .filter(|&object| ![NEVER, GONE, FOREIGN].contains(&state.world[object]))
            {
                for value in [FOREIGN, GONE] {
                    push(Event::Interfere { object: object as u8, value }, &|next| {
                        next.faults.interferences -= 1;
                        next.interfered |= 1 << object;
                        next.world[object] = value;
                        Ok(())
                    });
                }
            }
        }
        steps
    }

    fn can_be_planned(&self, state: &State, plan: usize) -> bool {
        let plan = &self.plans[plan];
        let clear = |record: usize| !state.records[record].doubt && state.strays[record] == 0;
        plan.reads.iter().all(|&record| clear(record as usize))
            && plan.members.iter().all(|member| {
                let object = state.records[member.record as usize].object;
                let exists =
                    object.is_some_and(|object| state.world[object.identity as usize] != GONE);
                clear(member.record as usize)
                    && member.action.needs_object() == exists
                    && member.action.needs_object() == object.is_some()
            })
    }

    /// Nothing moves any more: a probe per record has to get it, and after that nothing may be lost.
    pub(crate) fn judge_end(&self, state: &State) -> Result<(), Invariant> {
        let mut state = state.clone();
        state.faults = crate::state::Faults::default();
        for record in 0..RECORDS {
            // A settled change moves the record, and the probe plans once more.
            let mut got = false;
            for _ in 0..3 {
                let doubted = state.records[record].doubt;
                if self.probe(&mut state, record)? || doubted {
                    got = true;
                    break;
                }
            }
            if !got && !state.records[record].doubt {
                return Err(Invariant::ClaimedForever);
            }
        }
        crate::invariants::settled(self, &state)
    }

    /// Plans and claims one record, alone.
    fn probe(&self, state: &mut State, record: usize) -> Result<bool, Invariant> {
        let plan = PLANS + record;
        let index = INVOCATIONS - 1;
        state.planned[plan] = planned_now(state);
        state.transactions[plan] = Default::default();
        state.invocations[index] = Invocation {
            plan: plan as u8,
            status: Status::Running,
            position: Position::ReadTransaction,
            ..Invocation::UNBORN
        };
        // Far more steps than any takeover takes: who needs more has no end.
        for _ in 0..200 {
            for invocation in
                state.invocations.iter_mut().filter(|one| one.status != Status::Running)
            {
                invocation.lease = false;
            }
            let answers = self.answers(state, index);
            let Some(&answer) = answers.first() else { break };
            self.take(state, index, answer)?;
        }
        let got = state.invocations[index].status == Status::Ended(crate::state::Ending::Claimed);
        state.transactions[plan].phase = Phase::Rejected;
        state.invocations[index] = Invocation::UNBORN;
        Ok(got)
    }

    /// A step in words.
    pub(crate) fn describe(&self, state: &State, event: Event) -> String {
        let Event::Take { index, answer } = event else { return format!("{event:?}") };
        let invocation = &state.invocations[index as usize];
        let request = match invocation.position {
            Position::Step => format!("{:?}", self.step_of(state, index as usize)),
            Position::Write(write) => {
                let holds = if state.stored(write.body) == write.expected {
                    "as expected"
                } else {
                    "moved"
                };
                format!("write {:?}, {holds}: {:?}", write.purpose, write.body)
            }
            Position::ReadBack(write) => format!("read back {:?}", write.purpose),
            position => format!("{position:?}"),
        };
        format!(
            "invocation {index}, plan {}, attempt {}: {request} -> {answer:?}",
            invocation.plan, invocation.attempt
        )
    }
}
