//! Making one change: create, update, or read while applying.

use super::members::{Part, Place};
use super::settling::{Outcome, Settling, import_identity};
use super::target::{Basis, FinalPlan, Target};
use super::telling::in_doubt;
use super::{ApplyWalk, request_token};
use crate::changes::{Action, ResourceInstanceChange};
use crate::evaluation::report_unread_data;
use crate::graph::Walked;
use crate::hooks::HookObject;
use crate::object::{Object, ObjectStatus};
use crate::planning::{read_data_source, unread};
use crate::record::body::{Claim, ClaimedAction, ClaimedObject};
use crate::recorder::{Call, CallRefused, Step};
use crate::stop::StopLevel;
use providers::{ApplyResourceRequest, ProviderSchema};
use std::sync::Arc;
use values::Value;
use values::address::{ResourceInstance, ResourceMode};

pub(crate) async fn visit(walk: Arc<ApplyWalk>, address: ResourceInstance) -> Walked {
    let _turn = walk.members.turn(&address).await;
    let Some(_permit) = walk.context.permit().await else { return Walked::Failed };
    if !walk.may_begin() {
        return Walked::Failed;
    }
    let done = change(&walk, &address).await;
    walk.members.end_part(&address);
    if done { Walked::Done } else { Walked::Failed }
}

async fn change(walk: &Arc<ApplyWalk>, address: &ResourceInstance) -> bool {
    let Some(target) = Target::of(walk, address).map(Arc::new) else { return false };
    let Some(change) = walk.change(address) else { return false };
    let place = walk.place(change, Part::Change);
    match (place, address.resource.mode) {
        (Place::Failed, _) => {
            walk.members.note_earlier_failure(address);
            false
        }
        (Place::Done, _) => target.take_recorded(change).await,
        (Place::ToProvision, _) => target.provision_left(change).await,
        (Place::Provisioning(claim), _) => {
            target.provisioners_were_cut_off(&claim).await;
            false
        }
        (place, ResourceMode::Managed) => target.apply(change, place).await,
        _ => target.read(change).await,
    }
}

/// What is left to do for a change.
enum Work {
    /// A call of the provider.
    Call { plan: FinalPlan, token: Option<String> },
    /// To record what the world has: an earlier call came to it.
    Accept(Box<Object>),
    /// None: what was not known while planning came to what there is.
    Nothing(FinalPlan),
}

impl Target {
    async fn read(self: &Arc<Self>, change: &ResourceInstanceChange) -> bool {
        let this = self;
        let Some(config) = this.configuration().await else { return false };
        let environment = &this.walk.context.environment;
        environment.hook(|h| h.pre_read(&this.address));
        let answer = read_data_source(&*this.provider, &this.schema, &this.address, &config).await;
        let value = match answer {
            Ok((value, warnings)) => {
                this.report(warnings);
                value
            }
            Err(failure) => {
                environment.hook(|h| h.post_read(&this.address, Err(failure.summary())));
                let diagnostics =
                    failure.into_diagnostics(this.body(), this.place(), &this.address);
                let context = &this.walk.context;
                let Some(check) = this.block().and_then(|b| b.check.as_ref()) else {
                    context.report(diagnostics);
                    return false;
                };
                report_unread_data(context, &this.address.module, check, diagnostics);
                let value = unread(&this.schema, &config);
                context.working.set_instance(&this.address, value.clone());
                return this.record(&read_object(value, change), Step::Done).await;
            }
        };
        environment.hook(|h| h.post_read(&this.address, Ok(&value)));
        if !this.record(&read_object(value.clone(), change), Step::Done).await {
            return false;
        }
        this.walk.context.working.set_instance(&this.address, value.clone());
        this.postconditions(value).await
    }

    pub(super) async fn record(&self, object: &Object, step: Step) -> bool {
        let Some(change) = self.change() else { return false };
        let written = self.walk.record(change, &self.schema, None, Some(object), step).await;
        match written {
            Ok(()) => true,
            Err(e) => {
                self.fail(&e.summary, e.detail);
                false
            }
        }
    }

    /// Another invocation made the change: its result is what dependents need.
    async fn take_recorded(self: &Arc<Self>, change: &ResourceInstanceChange) -> bool {
        let Ok(Some(object)) = self.recorded().await else { return false };
        self.made(change, object.value).await
    }

    fn count(&self, change: &ResourceInstanceChange) {
        self.walk.count(|summary| match change.action {
            Action::Read => {}
            Action::Update => summary.change += 1,
            _ => summary.add += 1,
        });
    }

    async fn apply(self: &Arc<Self>, change: &ResourceInstanceChange, place: Place) -> bool {
        let Some(config) = self.configuration().await else { return false };
        let work = match place {
            Place::ToDo { again } => {
                if again && !self.is_as_planned().await {
                    return false;
                }
                self.as_planned(change, &config, None).await
            }
            Place::InFlight(claim) => self.settle(change, &config, &claim).await,
            Place::Unfinished(claim) => self.poll(change, &config, &claim).await,
            Place::Done | Place::Failed | Place::ToProvision | Place::Provisioning(_) => None,
        };
        match work {
            None => false,
            Some(Work::Call { plan, token }) => self.call(change, &config, plan, token).await,
            Some(Work::Accept(object)) => self.accept(change, *object).await,
            Some(Work::Nothing(plan)) => self.keep(change, plan).await,
        }
    }

    /// The change as it was planned, with what is known now.
    async fn as_planned(
        &self,
        change: &ResourceInstanceChange,
        config: &Value,
        token: Option<String>,
    ) -> Option<Work> {
        let plan = self.final_plan(change, config, &Basis::Planned).await?;
        Some(match change.action == Action::Update && plan.is_no_change() {
            true => Work::Nothing(plan),
            false => Work::Call { plan, token },
        })
    }

    /// Finds out what became of the call that an earlier invocation had in flight.
    async fn settle(
        &self,
        change: &ResourceInstanceChange,
        config: &Value,
        claim: &Claim,
    ) -> Option<Work> {
        let context = &self.walk.context;
        let schemas = context.pool.schema(&change.provider.provider)?;
        let settling = Settling {
            environment: &context.environment,
            provider: &*self.provider,
            schemas: &schemas,
            schema: &self.schema,
            configured: &change.provider,
            address: &self.address,
        };
        if !self.walk.may_settle(&self.address, claim).await {
            return None;
        }
        let recorded = self.walk.records.get(&self.address).current;
        match settling.settle(claim, recorded.as_ref()).await {
            Outcome::There(object) => {
                let plan = self.final_plan(change, config, &Basis::World(&object)).await?;
                match plan.changes_nothing() {
                    true => Some(Work::Accept(object)),
                    false => self.finish_in_place(change, plan, &object).await,
                }
            }
            Outcome::NotThere if claim.action == ClaimedAction::Create => {
                self.as_planned(change, config, claim.token.clone()).await
            }
            Outcome::NotThere => {
                self.is_gone().await;
                None
            }
            Outcome::InDoubt(said) => {
                context.report(said);
                self.doubt(claim).await;
                None
            }
            Outcome::NotNow(said) => {
                context.report(said);
                // Asked again by the next invocation.
                self.walk.leave();
                None
            }
        }
    }

    /// Waits for an object whose provider was stopped at it: until a second read says the same as the one
    /// before, and either nothing is left to do, or nothing has moved for so long that it is updated again.
    async fn poll(
        &self,
        change: &ResourceInstanceChange,
        config: &Value,
        claim: &Claim,
    ) -> Option<Work> {
        let (clock, patience) = (&self.walk.context.environment.clock, &self.walk.patience);
        let mut known = self.recorded().await.ok().flatten()?;
        let mut since = clock.elapsed();
        let mut pause = patience.shortest_pause;
        loop {
            let now = match self.read_world(&known).await {
                Ok(Some(now)) => now,
                Ok(None) => {
                    self.is_gone().await;
                    return None;
                }
                Err(failure) => {
                    self.report_failure(failure);
                    self.walk.leave();
                    return None;
                }
            };
            let moved = now.value.unmark_deep() != known.value.unmark_deep();
            if moved {
                if !self.record(&now, Step::Unfinished).await {
                    return None;
                }
                (known, since, pause) = (now, clock.elapsed(), patience.shortest_pause);
            } else {
                let plan = self.final_plan(change, config, &Basis::World(&now)).await?;
                if plan.changes_nothing() {
                    return Some(Work::Accept(Box::new(now)));
                }
                if clock.elapsed().saturating_sub(since) >= patience.quiet {
                    return self.finish_in_place(change, plan, &now).await;
                }
                if self.walk.is_hopeless(claim) {
                    self.doubt(claim).await;
                    return None;
                }
            }
            tokio::select! {
                biased;
                () = clock.sleep(pause) => {}
                () = self.walk.context.stop.reached(StopLevel::Draining) => {}
            }
            if !self.walk.may_begin() {
                return None;
            }
            pause = (pause * 2).min(patience.longest_pause);
        }
    }

    /// The update that brings an object that an earlier call left half way to what was planned.
    async fn finish_in_place(
        &self,
        change: &ResourceInstanceChange,
        plan: FinalPlan,
        object: &Object,
    ) -> Option<Work> {
        if plan.requires_replace.is_empty() {
            return Some(Work::Call { plan, token: None });
        }
        let status = match change.action {
            Action::Update => ObjectStatus::Ready,
            _ => ObjectStatus::Tainted,
        };
        let object = self.object(change, object.value.clone(), object.private.clone(), status);
        self.record(&object, self.walk.members.step(&self.address, false)).await;
        self.fail(
            "An interrupted change cannot be finished",
            format!("A call of the provider for {} was cut off, and what it left can only be replaced. It is recorded as it is; run \"plumb plan\" to see what is left.", self.address),
        );
        None
    }

    /// An object that an earlier call was changing is no more there.
    async fn is_gone(&self) {
        let Some(change) = self.change() else { return };
        let step = self.walk.members.step(&self.address, false);
        if let Err(e) = self.walk.record(change, &self.schema, None, None, step).await {
            self.fail(&e.summary, e.detail);
        }
        self.fail(
            "The object is gone",
            format!("A call of the provider for {} was cut off, and the object is not there any more. That is recorded; run \"plumb plan\" to see what is left.", self.address),
        );
    }

    /// An object may exist, and nothing tells which.
    async fn doubt(&self, claim: &Claim) {
        let token = claim.token.as_deref();
        let recorder = &self.walk.recorder;
        self.walk.members.step(&self.address, false);
        if let Err(e) = recorder.doubt(&self.address, &claim.object, token).await {
            self.fail(&e.summary, e.detail);
        }
        self.walk.context.report(in_doubt(&[self.address.clone()].into()));
    }

    /// Records what an earlier call came to.
    async fn accept(self: &Arc<Self>, change: &ResourceInstanceChange, found: Object) -> bool {
        let action = match change.action {
            Action::Update => Action::Update,
            _ => Action::Create,
        };
        let hooked = HookObject { address: &self.address, deposed: None };
        let environment = &self.walk.context.environment;
        environment.hook(|h| h.pre_apply(&hooked, action, &change.before, &found.value));
        let object = self.object(change, found.value, found.private, ObjectStatus::Ready);
        let value = object.value.clone();
        let made = self.record_made(change, object).await;
        let error = made.as_ref().err().and_then(Option::as_deref);
        environment.hook(|h| h.post_apply(&hooked, action, &value, error));
        made.is_ok() && self.made(change, value).await
    }

    /// Records an object that stays as it is; nobody is told of a change.
    async fn keep(self: &Arc<Self>, change: &ResourceInstanceChange, plan: FinalPlan) -> bool {
        let object = self.object(change, plan.planned.clone(), plan.private, ObjectStatus::Ready);
        if self.record_made(change, object).await.is_err() {
            return false;
        }
        self.walk.context.working.set_instance(&self.address, plan.planned.clone());
        self.postconditions(plan.planned).await
    }

    /// The change is made and recorded: others may use its result.
    pub(super) async fn made(
        self: &Arc<Self>,
        change: &ResourceInstanceChange,
        value: Value,
    ) -> bool {
        self.count(change);
        self.walk.context.working.set_instance(&self.address, value.clone());
        self.postconditions(value).await
    }

    /// Announces a call; `false` where it must not be made.
    pub(super) async fn begin(&self, call: &Call) -> bool {
        match self.walk.recorder.begin(&self.address, call).await {
            Ok(()) => true,
            Err(CallRefused::Unrecorded(e)) => {
                self.fail(&e.summary, e.detail);
                false
            }
            Err(CallRefused::NothingMore(_)) => {
                self.walk.leave();
                false
            }
        }
    }

    async fn call(
        self: &Arc<Self>,
        change: &ResourceInstanceChange,
        config: &Value,
        plan: FinalPlan,
        token: Option<String>,
    ) -> bool {
        let Some(schemas) = self.walk.context.pool.schema(&change.provider.provider) else {
            return false;
        };
        let call = self.described(change, &plan, config, &schemas, token);
        if !self.begin(&call).await {
            return false;
        }
        if let Some(key) = &call.put_aside {
            self.walk.records.put_aside(&self.address, key);
        }
        let action = if plan.creates() { Action::Create } else { Action::Update };
        let object = HookObject { address: &self.address, deposed: None };
        let environment = &self.walk.context.environment;
        environment.hook(|h| h.pre_apply(&object, action, &plan.prior, &plan.planned));
        let request = ApplyResourceRequest {
            ty: self.address.resource.ty.clone(),
            prior_state: plan.prior.unmark_deep(),
            planned_state: plan.planned.unmark_deep(),
            config: config.unmark_deep(),
            planned_private: plan.private.clone(),
            provider_meta: call.token.and_then(|token| request_token::meta(&schemas, &token)),
            planned_identity: None,
        };
        let answer = self.walk.answer(self.provider.apply_resource(request)).await;
        let taken = self.take_answer(change, &plan, answer).await;
        environment.hook(|h| h.post_apply(&object, action, &taken.value, taken.error.as_deref()));
        taken.ok && self.made(change, taken.value).await
    }

    /// A call with all by which its outcome can be found out later.
    fn described(
        &self,
        change: &ResourceInstanceChange,
        plan: &FinalPlan,
        config: &Value,
        schemas: &ProviderSchema,
        token: Option<String>,
    ) -> Call {
        let provisioners = self.provisioners_standing(change);
        let reaches_outside = self.provider.reaches_outside();
        if !plan.creates() {
            let update = Call::new(ClaimedObject::Current, ClaimedAction::Update);
            return Call { provisioners, reaches_outside, ..update };
        }
        let random = &*self.walk.context.environment.random;
        let identity = schemas.identities.get(&self.address.resource.ty);
        let replaces = change.action == Action::CreateThenDelete;
        let current = self.walk.records.get(&self.address).current;
        Call {
            put_aside: current
                .filter(|_| replaces)
                .and_then(|_| self.walk.deposed_key(&self.address).cloned()),
            token: token
                .or_else(|| request_token::is_known(schemas).then(|| request_token::new(random))),
            import_identity: import_identity(identity, &self.schema, config),
            provisioners,
            reaches_outside,
            ..Call::new(ClaimedObject::Current, ClaimedAction::Create)
        }
    }

    /// An object to be recorded for this change.
    pub(super) fn object(
        &self,
        change: &ResourceInstanceChange,
        value: Value,
        private: Arc<[u8]>,
        status: ObjectStatus,
    ) -> Object {
        Object {
            value,
            identity: None,
            private,
            dependencies: change.dependencies.clone(),
            create_before_destroy: change.create_before_destroy,
            prevent_destroy: self.block().and_then(|b| b.lifecycle.prevent_destroy) == Some(true),
            status,
        }
    }
}

/// What is recorded of a data source.
fn read_object(value: Value, change: &ResourceInstanceChange) -> Object {
    Object {
        value,
        identity: None,
        private: Arc::default(),
        dependencies: change.dependencies.clone(),
        create_before_destroy: false,
        prevent_destroy: false,
        status: ObjectStatus::Ready,
    }
}
