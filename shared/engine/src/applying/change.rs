//! Making one change: create, update, or read while applying.

use super::ApplyWalk;
use super::instance_records::{put, stored};
use crate::changes::{Action, ResourceInstanceChange};
use crate::evaluation::{CheckedObject, RepetitionData, check_rules, report_unread_data};
use crate::graph::Walked;
use crate::hooks::HookObject;
use crate::object::{Object, ObjectStatus, StoredObject};
use crate::object_change::{
    assert_object_compatible, ignore_changes, proposed_new, without_unknowns,
};
use crate::object_codec::{mark_by_schema, resource_schema};
use crate::planning::{blocking, ignored_paths, read_data_source, unread};
use crate::provider_diagnostics::{failed_call, in_body};
use crate::record::body::ClaimedObject;
use crate::recorder::{Call, CallRefused, Step};
use language::diagnostics::Diagnostic;
use language::module::{ModuleNode, ResourceBlock};
use language::source::Span;
use language::syntax::ast::Body;
use providers::{
    ApplyResourceRequest, PlanResourceRequest, Provider, ProviderDiagnostic, TypedSchema,
};
use std::sync::Arc;
use values::address::{ResourceInstance, ResourceMode};
use values::{Marks, Value};

pub(crate) async fn visit(walk: Arc<ApplyWalk>, address: ResourceInstance) -> Walked {
    let Some(_permit) = walk.context.permit().await else { return Walked::Failed };
    if !walk.may_begin() {
        return Walked::Failed;
    }
    let Some(target) = Target::of(&walk, &address) else { return Walked::Failed };
    let done = match address.resource.mode {
        ResourceMode::Managed => target.apply().await,
        _ => target.read().await,
    };
    if done { Walked::Done } else { Walked::Failed }
}

/// One planned change with all that making it needs.
struct Target {
    walk: Arc<ApplyWalk>,
    address: ResourceInstance,
    node: Arc<ModuleNode>,
    provider: Arc<dyn Provider>,
    schema: TypedSchema,
    data: RepetitionData,
}

impl Target {
    fn of(walk: &Arc<ApplyWalk>, address: &ResourceInstance) -> Option<Target> {
        let context = &walk.context;
        let change = walk.change(address)?;
        let node = context.node(&address.module.path())?.clone();
        let provider = context.pool.running(&change.provider)?;
        let schemas = context.pool.schema(&change.provider.provider)?;
        let schema = resource_schema(&schemas, address.resource.mode, &address.resource.ty)?;
        let expansion = context.working.expansion(&address.containing())?;
        if !expansion.contains(&address.key) {
            context.report([Diagnostic::error(
                "Configuration contradicts the plan",
                format!("The plan has a change for {address}, but with the values known now the configuration has no such instance. Plan again."),
            )]);
            return None;
        }
        Some(Target {
            walk: walk.clone(),
            address: address.clone(),
            node,
            provider,
            schema: schema.clone(),
            data: expansion.data(&address.key),
        })
    }

    fn change(&self) -> Option<&ResourceInstanceChange> {
        self.walk.change(&self.address)
    }
    fn block(&self) -> Option<&ResourceBlock> {
        self.node.module.resources.get(&self.address.resource)
    }
    fn body(&self) -> Option<&Body> {
        self.block().map(|b| &*b.config)
    }
    fn place(&self) -> Option<Span> {
        self.block().map(|b| b.span)
    }
    fn report(&self, diagnostics: Vec<ProviderDiagnostic>) -> bool {
        let placed = in_body(diagnostics, self.body(), self.place(), &self.address.to_string());
        self.walk.context.report(placed)
    }
    fn fail(&self, summary: &str, detail: String) {
        let mut diagnostic =
            Diagnostic::error(summary, detail).for_address(self.address.to_string());
        if let Some(place) = self.place() {
            diagnostic = diagnostic.at(place);
        }
        self.walk.context.report([diagnostic]);
    }
    fn provider_name(&self) -> String {
        self.provider.address().to_string()
    }

    /// Preconditions and configuration, with what is known now.
    async fn configuration(self: &Arc<Self>) -> Option<Value> {
        let this = self.clone();
        blocking(move || {
            let block = this.block()?;
            let (context, module) = (&this.walk.context, &this.address.module);
            let rules = &block.lifecycle.preconditions;
            let object = CheckedObject::ResourcePrecondition;
            if !check_rules(context, module, &this.data, None, object, rules) {
                return None;
            }
            context
                .evaluate(module, &this.data, None, |e| e.body(&block.config, &this.schema.block))
        })
        .await
    }

    async fn postconditions(self: &Arc<Self>, value: Value) -> bool {
        let this = self.clone();
        blocking(move || {
            let Some(block) = this.block() else { return false };
            let rules = &block.lifecycle.postconditions;
            let object = CheckedObject::ResourcePostcondition;
            let module = &this.address.module;
            check_rules(&this.walk.context, module, &this.data, Some(&value), object, rules)
        })
        .await
    }

    async fn read(self) -> bool {
        let this = Arc::new(self);
        let Some(config) = this.configuration().await else { return false };
        let Some(change) = this.change() else { return false };
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

    async fn record(&self, object: &Object, step: Step) -> bool {
        let Some(change) = self.change() else { return false };
        let encoded = stored(&change.provider, &self.schema, object);
        let written = match encoded {
            Ok(object) => {
                let recorder = &*self.walk.recorder;
                let put = |state: &mut _| put(state, None, Some(object));
                self.walk.records.write(recorder, &self.address, step, put).await
            }
            Err(e) => Err(e),
        };
        match written {
            Ok(()) => true,
            Err(e) => {
                self.fail(&e.summary, e.detail);
                false
            }
        }
    }

    async fn apply(self) -> bool {
        let this = Arc::new(self);
        let Some(config) = this.configuration().await else { return false };
        let Some(change) = this.change() else { return false };
        let Some(final_plan) = this.final_plan(change, &config).await else { return false };
        if change.action == Action::CreateThenDelete && !this.depose().await {
            return false;
        }
        let creating = change.action != Action::Update;
        let action = if creating { Action::Create } else { Action::Update };
        let environment = &this.walk.context.environment;
        let object = HookObject { address: &this.address, deposed: None };
        environment.hook(|h| h.pre_apply(&object, action, &final_plan.prior, &final_plan.planned));
        let call = Call::new(ClaimedObject::Current, action.into());
        match this.walk.recorder.begin(&this.address, &call).await {
            Ok(()) => {}
            Err(CallRefused::Unrecorded(e)) => {
                this.fail(&e.summary, e.detail);
                return false;
            }
            Err(CallRefused::NothingMore(_)) => return false,
        }
        let request = ApplyResourceRequest {
            ty: this.address.resource.ty.clone(),
            prior_state: final_plan.prior.unmark_deep(),
            planned_state: final_plan.planned.unmark_deep(),
            config: config.unmark_deep(),
            planned_private: final_plan.private.clone(),
            provider_meta: None,
            planned_identity: None,
        };
        let answer = this.provider.apply_resource(request).await;
        let (ok, value, error) = this.take_answer(change, &final_plan, creating, answer).await;
        environment.hook(|h| h.post_apply(&object, action, &value, error.as_deref()));
        if !ok {
            return false;
        }
        this.walk.count(|s| if creating { s.add += 1 } else { s.change += 1 });
        this.walk.context.working.set_instance(&this.address, value.clone());
        this.postconditions(value).await
    }

    /// What the change is now that everything is known, checked against what was planned.
    async fn final_plan(
        &self,
        change: &ResourceInstanceChange,
        config: &Value,
    ) -> Option<FinalPlan> {
        let block = self.block()?;
        let schema = &self.schema;
        let prior = match change.action {
            Action::Update => change.before.clone(),
            _ => schema.null(),
        };
        let ignored = ignored_paths(&block.lifecycle.ignore_changes, &schema.block, &prior);
        let effective = ignore_changes(&prior, config, &ignored);
        let (plain_prior, plain_config) = (prior.unmark_deep(), effective.unmark_deep());
        let request = PlanResourceRequest {
            ty: self.address.resource.ty.clone(),
            proposed_new_state: proposed_new(&schema.block, &plain_prior, &plain_config),
            prior_state: plain_prior.clone(),
            config: plain_config.clone(),
            prior_private: self.prior_private(change),
            provider_meta: None,
            prior_identity: None,
            deferral_allowed: false,
        };
        let answer = match self.provider.plan_resource(request).await {
            Ok(response) => match response.into_result() {
                Ok((answer, warnings)) => {
                    self.report(warnings);
                    answer
                }
                Err(errors) => {
                    self.report(errors);
                    return None;
                }
            },
            Err(e) => {
                let shown = self.address.to_string();
                self.walk.context.report([failed_call(&e, self.place(), &shown)]);
                return None;
            }
        };
        let mut planned_state = answer.planned_state;
        if answer.legacy_type_system {
            planned_state = ignore_changes(&plain_prior, &planned_state, &ignored);
        }
        let violations = assert_object_compatible(&schema.block, &change.after, &planned_state);
        if !violations.is_empty() && !answer.legacy_type_system {
            for violation in violations {
                self.fail(
                    "Provider produced inconsistent final plan",
                    format!(
                        "When expanding the plan for {} to include new values learned so far during apply, provider {:?} produced an invalid new value for {violation}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
                        self.address,
                        self.provider_name(),
                    ),
                );
            }
            return None;
        }
        Some(FinalPlan {
            prior,
            planned: self.marked(&effective, &planned_state),
            private: answer.planned_private,
        })
    }

    fn prior_private(&self, change: &ResourceInstanceChange) -> Arc<[u8]> {
        let refreshed = self.walk.plan.refreshed.get(&self.address);
        match (change.action, refreshed.and_then(|r| r.current.as_ref())) {
            (Action::Update, Some(object)) => object.private.clone(),
            (Action::Update | Action::Create, _) => Arc::default(),
            _ => change.private.clone(),
        }
    }

    fn marked(&self, config: &Value, value: &Value) -> Value {
        let paths = config.marked_paths();
        let marked =
            value.mark_paths(paths.iter().map(|(p, m)| (p, m.intersection(Marks::SENSITIVE))));
        mark_by_schema(&self.schema, &marked)
    }

    /// Puts the current object aside, so that its replacement can be created first.
    async fn depose(&self) -> bool {
        let Some(key) = self.walk.deposed_key(&self.address) else { return false };
        let written = self
            .walk
            .records
            .write(&*self.walk.recorder, &self.address, Step::Between, |state| {
                if let Some(object) = state.current.take() {
                    state.deposed.insert(key.clone(), object);
                }
            })
            .await;
        if let Err(e) = written {
            self.fail(&e.summary, e.detail);
            return false;
        }
        true
    }

    /// Checks and records what the provider returned. Whether the change was made, the value
    /// afterwards, and an error for hooks.
    async fn take_answer(
        &self,
        change: &ResourceInstanceChange,
        plan: &FinalPlan,
        creating: bool,
        answer: Result<
            providers::Response<providers::ApplyResourceResponse>,
            providers::ProviderError,
        >,
    ) -> (bool, Value, Option<String>) {
        let (mut ok, mut error) = (true, None);
        let mut new_state = None;
        let mut private: Arc<[u8]> = plan.private.clone();
        let mut legacy = false;
        match answer {
            Err(e) => {
                let shown = self.address.to_string();
                self.walk.context.report([failed_call(&e, self.place(), &shown)]);
                (ok, error) = (false, Some(e.to_string()));
            }
            Ok(response) => {
                if response.has_errors() {
                    ok = false;
                    error = response
                        .diagnostics
                        .iter()
                        .find(|d| d.is_error())
                        .map(|d| d.summary.clone());
                }
                self.report(response.diagnostics);
                if let Some(value) = response.value {
                    (private, legacy) = (value.private, value.legacy_type_system);
                    new_state = value.new_state;
                }
            }
        }
        let Some(state) = new_state else {
            // Nothing came back: an update leaves what was there, a create nothing that is known.
            self.restore(creating).await;
            return (
                false,
                plan.prior.clone(),
                error.or_else(|| Some("no object returned".into())),
            );
        };
        let mut state = self.marked(&plan.planned, &state);
        if !state.is_wholly_known() {
            self.fail(
                "Provider returned invalid result object after apply",
                format!("After the apply operation, the provider still indicated an unknown value for {}. All values must be known after apply, so this is always a bug in the provider and should be reported in the provider's own repository. The other values are recorded all the same.", self.address),
            );
            state = without_unknowns(&state);
            ok = false;
        }
        if ok {
            let violations = assert_object_compatible(&self.schema.block, &plan.planned, &state);
            if !legacy {
                for violation in &violations {
                    self.fail(
                        "Provider produced inconsistent result after apply",
                        format!(
                            "When applying changes to {}, provider {:?} produced an unexpected new value: {violation}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
                            self.address,
                            self.provider_name(),
                        ),
                    );
                    ok = false;
                }
            }
        }
        if state.is_null() {
            self.restore(creating).await;
            return (false, state, error);
        }
        let object = Object {
            value: state.clone(),
            identity: None,
            private,
            dependencies: change.dependencies.clone(),
            create_before_destroy: change.create_before_destroy,
            prevent_destroy: self.block().and_then(|b| b.lifecycle.prevent_destroy) == Some(true),
            status: match !ok && creating {
                true => ObjectStatus::Tainted,
                false => ObjectStatus::Ready,
            },
        };
        let step = match (ok, change.action) {
            (false, _) => Step::Failed,
            (true, Action::CreateThenDelete) => Step::Between,
            (true, _) => Step::Done,
        };
        ok &= self.record(&object, step).await;
        (ok, state, error)
    }

    /// After a create that made nothing: an object that was put aside for it is current again.
    async fn restore(&self, creating: bool) {
        let Some(key) = self.walk.deposed_key(&self.address).filter(|_| creating) else { return };
        let written = self
            .walk
            .records
            .write(&*self.walk.recorder, &self.address, Step::Failed, |state| {
                let aside: Option<StoredObject> = state.deposed.remove(key);
                state.current = state.current.take().or(aside);
            })
            .await;
        if let Err(e) = written {
            self.fail(&e.summary, e.detail);
        }
    }
}

/// A change that only waits to be made.
struct FinalPlan {
    prior: Value,
    planned: Value,
    private: Arc<[u8]>,
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
