//! The model: a case, the rules that are in force, and what each step of an invocation is.

use crate::case::{Action, Case, Member, Plan};
use crate::rules::{Invariant, Mutation};
use crate::state::{
    Body, Claim, ClaimState, PLANS, Phase, Planned, RECORDS, Record, State, TRANSACTIONS,
    Transaction, Write,
};

/// One step of a transaction's script, in the order in which an invocation takes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Reads a member and claims it.
    Claim(u8),
    /// Verifies a record of the read set.
    Read(u8),
    /// Verifies that a record refers to nothing that is deleted.
    Dependents(u8),
    /// Lists the results that could not be recorded in their place.
    Strays,
    /// Reads a member's resource.
    World(u8),
    Decide,
    Execute(u8),
    Finish,
}

/// A case under the rules of the protocol, or under all but one.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) case: Case,
    pub(crate) mutation: Option<Mutation>,
    /// The transactions of the case, and behind them one probe for each record.
    pub(crate) plans: Vec<Plan>,
    pub(crate) scripts: Vec<Vec<Step>>,
}

impl Model {
    /// The model of `case`, with one rule taken away if `mutation` names one.
    pub fn new(case: Case, mutation: Option<Mutation>) -> Self {
        let mut plans = case.plans.clone();
        plans.resize(PLANS, Plan::default());
        let mut scripts: Vec<Vec<Step>> = plans.iter().map(|plan| script(plan, mutation)).collect();
        for record in 0..RECORDS as u8 {
            plans.push(Plan {
                members: vec![Member { record, action: Action::UpdateRecord, dependencies: 0 }],
                invocations: 1,
                late: true,
                ..Plan::default()
            });
            scripts.push(vec![Step::Claim(0)]);
        }
        debug_assert_eq!(plans.len(), TRANSACTIONS);
        Self { case, mutation, plans, scripts }
    }

    pub(crate) fn without(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    pub(crate) fn plan(&self, state: &State, invocation: usize) -> &Plan {
        &self.plans[state.invocations[invocation].plan as usize]
    }

    pub(crate) fn member(&self, state: &State, invocation: usize, index: u8) -> Member {
        self.plan(state, invocation).members[index as usize]
    }

    pub(crate) fn step_of(&self, state: &State, invocation: usize) -> Step {
        let invocation = &state.invocations[invocation];
        self.scripts[invocation.plan as usize][invocation.at as usize]
    }

    /// The record that the invocation's current step is about.
    pub(crate) fn record_of(&self, state: &State, invocation: usize) -> u8 {
        match self.step_of(state, invocation) {
            Step::Claim(member) | Step::World(member) | Step::Execute(member) => {
                self.member(state, invocation, member).record
            }
            Step::Read(record) | Step::Dependents(record) => record,
            Step::Strays | Step::Decide | Step::Finish => 0,
        }
    }

    /// `record` with a fresh write id: the body of a write that is about to be sent.
    pub(crate) fn fresh_record(&self, state: &mut State, key: u8, record: Record) -> Body {
        let write_id = if self.without(Mutation::ForgetWriteId) {
            0
        } else {
            state.record_writes[key as usize] += 1;
            state.record_writes[key as usize]
        };
        Body::Record(key, Record { write_id, ..record })
    }

    pub(crate) fn fresh_transaction(
        &self,
        state: &mut State,
        plan: u8,
        phase: Phase,
        attempt: u8,
    ) -> Body {
        let write_id = if self.without(Mutation::ForgetWriteId) {
            0
        } else {
            state.transaction_writes[plan as usize] += 1;
            state.transaction_writes[plan as usize]
        };
        Body::Transaction(plan, Transaction { write_id, phase, attempt })
    }

    pub(crate) fn fresh_revision(&self, state: &mut State, record: u8) -> u8 {
        state.revisions[record as usize] += 1;
        state.revisions[record as usize]
    }

    /// A conditional write reaches the store. Answers whether its condition held.
    pub(crate) fn land(&self, state: &mut State, write: &Write) -> Result<bool, Invariant> {
        if state.stored(write.body) != write.expected {
            return Ok(false);
        }
        match write.body {
            Body::Transaction(plan, transaction) => state.transactions[plan as usize] = transaction,
            Body::Record(key, record) => {
                state.records[key as usize] = record;
                if (write.plan as usize) < PLANS {
                    self.observe(state, write, key, record)?;
                }
                crate::invariants::one_record_per_object(state)?;
            }
        }
        Ok(true)
    }

    fn observe(
        &self,
        state: &mut State,
        write: &Write,
        key: u8,
        record: Record,
    ) -> Result<(), Invariant> {
        use crate::state::Purpose;
        match write.purpose {
            Purpose::Claim => self.observe_claim(state, write.plan),
            Purpose::Result => {
                let member = self.plans[write.plan as usize].member(key);
                let record_alone = member.is_some_and(|member| member.action.calls().is_empty());
                let failed = matches!(record.claim, Some(Claim { state: ClaimState::Failed, .. }));
                if record_alone && !failed {
                    if matches!(
                        state.transactions[write.plan as usize].phase,
                        Phase::Done | Phase::Rejected
                    ) {
                        return Err(Invariant::ChangedAfterEnd);
                    }
                    return self.observe_change(state, write.plan, key);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Once the last claim has landed: whether what the transaction reads is still as it was planned.
    fn observe_claim(&self, state: &mut State, plan: u8) {
        let Plan { members, reads, .. } = &self.plans[plan as usize];
        let complete = members.iter().all(|member| {
            state.records[member.record as usize].claim.is_some_and(|claim| claim.plan == plan)
        });
        if !complete {
            return;
        }
        let planned = &state.planned[plan as usize];
        let deleted = self.plans[plan as usize].deleted();
        let held = reads
            .iter()
            .all(|&read| state.records[read as usize].revision == planned.revision[read as usize])
            && (0..RECORDS as u8)
                .filter(|&record| self.plans[plan as usize].member(record).is_none())
                .all(|record| !refers_to(&state.records[record as usize], deleted));
        if held {
            state.reads_held |= 1 << plan;
        } else {
            state.reads_held &= !(1 << plan);
        }
    }

    /// A change takes effect: in the world, or in a record where the record is all that there is.
    pub(crate) fn observe_change(
        &self,
        state: &mut State,
        plan: u8,
        record: u8,
    ) -> Result<(), Invariant> {
        if state.reads_held & 1 << plan == 0 {
            return Err(Invariant::ReadMoved);
        }
        let (transaction, key) = (plan as usize, record as usize);
        if state.changed[transaction][key] == 0 {
            if state.changes[key] != state.planned[transaction].changes[key] {
                return Err(Invariant::SameState);
            }
            state.changes[key] += 1;
            state.changed[transaction][key] = state.changes[key];
        }
        crate::invariants::serializable(self, state)
    }
}

/// Whether what a record holds refers to one of the records of `mask`.
pub(crate) fn refers_to(record: &Record, mask: u8) -> bool {
    record.object.is_some_and(|object| object.dependencies & mask != 0)
}

fn script(plan: &Plan, mutation: Option<Mutation>) -> Vec<Step> {
    let members = 0..plan.members.len() as u8;
    let claims = members.clone().map(Step::Claim);
    let mut verification: Vec<Step> = plan.reads.iter().copied().map(Step::Read).collect();
    if plan.deleted() != 0 && mutation != Some(Mutation::NoDependentsCheck) {
        let others = (0..RECORDS as u8).filter(|&record| plan.member(record).is_none());
        verification.extend(others.map(Step::Dependents));
    }
    verification.push(Step::Strays);
    verification.extend(
        members
            .clone()
            .filter(|&member| !plan.members[member as usize].action.calls().is_empty())
            .map(Step::World),
    );
    let mut steps: Vec<Step> = match mutation {
        Some(Mutation::DropVerify) => claims.collect(),
        Some(Mutation::VerifyBeforeClaim) => verification.into_iter().chain(claims).collect(),
        _ => claims.chain(verification).collect(),
    };
    steps.push(Step::Decide);
    steps.extend(members.map(Step::Execute));
    steps.push(Step::Finish);
    steps
}

/// What a member's record holds after the step that `claim` names has succeeded, with the claim as it is then.
pub(crate) fn after_step(
    model: &Model,
    state: &mut State,
    plan: u8,
    member: &Member,
    marked: Record,
) -> Record {
    use crate::case::Call;
    use crate::state::{Object, created_object, value_of};
    let Some(claim) = marked.claim else { return marked };
    let planned: Planned = state.planned[plan as usize];
    let calls = member.action.calls();
    let last = claim.step as usize + 1 >= calls.len();
    let object = match (member.action, calls.get(claim.step as usize)) {
        (_, Some(Call::Create)) => Some(Object {
            identity: created_object(plan, member.record),
            value: value_of(plan),
            dependencies: member.dependencies,
        }),
        (Action::UpdateRecord, _) | (_, Some(Call::Update)) => marked.object.map(|object| Object {
            value: if calls.is_empty() { object.value } else { value_of(plan) },
            dependencies: member.dependencies,
            ..object
        }),
        (Action::MoveFrom(source), _) => planned.object[source as usize],
        (_, Some(Call::Delete) | None) => None,
    };
    let revision = if object.is_some() { model.fresh_revision(state, member.record) } else { 0 };
    let moved_from = match member.action {
        Action::MoveFrom(source) => Some((source, planned.revision[source as usize])),
        _ => marked.moved_from,
    };
    let claim = if last {
        (!model.without(Mutation::ClearClaimWithResult))
            .then_some(Claim { state: ClaimState::Done, ..claim })
    } else {
        Some(Claim { state: ClaimState::Claimed, step: claim.step + 1, ..claim })
    };
    Record { revision, object, moved_from, claim, ..marked }
}
