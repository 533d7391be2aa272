//! One instance that changes, with all that changing it needs, and what its change comes to now that
//! everything is known.

use super::ApplyWalk;
use crate::changes::{Action, ResourceInstanceChange};
use crate::evaluation::{CheckedObject, RepetitionData, blocking, check_rules};
use crate::hooks::HookObject;
use crate::object::Object;
use crate::object_change::{PlanRequest, assert_object_compatible, same_marks};
use crate::object_codec::{decode, mark_by_configuration, resource_schema};
use crate::object_read::read_object;
use crate::planning::ignored_paths;
use crate::provider_diagnostics::{CallFailure, in_body};
use crate::provider_meta::running_at;
use language::diagnostics::Diagnostic;
use language::module::{ModuleNode, ResourceBlock};
use language::source::Span;
use language::syntax::ast::Body;
use providers::{Provider, ProviderDiagnostic, TypedSchema};
use std::sync::Arc;
use values::address::ResourceInstance;
use values::{Path, Value};

/// One planned change with all that making it needs.
pub(super) struct Target {
    pub(super) walk: Arc<ApplyWalk>,
    pub(super) address: ResourceInstance,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) schema: TypedSchema,
    node: Arc<ModuleNode>,
    pub(super) data: RepetitionData,
}

/// Something went wrong, which was reported.
pub(super) struct Reported;

/// What a change starts from.
pub(super) enum Basis<'a> {
    /// What the plan saw, which is what there is.
    Planned,
    /// What a read of the world has just given: an earlier call got so far.
    World(&'a Object),
}

/// A change that only waits to be made.
pub(super) struct FinalPlan {
    pub(super) prior: Value,
    pub(super) planned: Value,
    pub(super) private: Arc<[u8]>,
    /// Paths whose change the provider cannot make in place.
    pub(super) requires_replace: Vec<Path>,
}

impl FinalPlan {
    /// Whether nothing is left to be done.
    pub(super) fn changes_nothing(&self) -> bool {
        self.requires_replace.is_empty() && self.planned.unmark_deep() == self.prior.unmark_deep()
    }
    /// Whether what there is stays as it is, also in what of it is sensitive.
    pub(super) fn is_no_change(&self) -> bool {
        self.changes_nothing() && same_marks(&self.planned, &self.prior)
    }
    /// Whether this makes an object.
    pub(super) fn creates(&self) -> bool {
        self.prior.is_null()
    }
}

impl Target {
    pub(super) fn of(walk: &Arc<ApplyWalk>, address: &ResourceInstance) -> Option<Target> {
        let context = &walk.context;
        let change = walk.change(address)?;
        let node = context.node(&address.module.path())?.clone();
        let provider = running_at(context, &change.provider, address)?;
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

    pub(super) fn change(&self) -> Option<&ResourceInstanceChange> {
        self.walk.change(&self.address)
    }
    pub(super) fn block(&self) -> Option<&ResourceBlock> {
        self.node.module.resources.get(&self.address.resource)
    }
    pub(super) fn body(&self) -> Option<&Body> {
        self.block().map(|b| &*b.config)
    }
    pub(super) fn place(&self) -> Option<Span> {
        self.block().map(|b| b.span)
    }
    pub(super) fn report(&self, diagnostics: Vec<ProviderDiagnostic>) -> bool {
        let placed = in_body(diagnostics, self.body(), self.place(), &self.address.to_string());
        self.walk.context.report(placed)
    }
    pub(super) fn report_failure(&self, failure: CallFailure) {
        let shown = self.address.to_string();
        self.walk.context.report(failure.into_diagnostics(self.body(), self.place(), &shown));
    }
    pub(super) fn fail(&self, summary: &str, detail: String) {
        let mut diagnostic =
            Diagnostic::error(summary, detail).for_address(self.address.to_string());
        if let Some(place) = self.place() {
            diagnostic = diagnostic.at(place);
        }
        self.walk.context.report([diagnostic]);
    }
    pub(super) fn provider_name(&self) -> String {
        self.provider.address().to_string()
    }

    /// Preconditions and configuration, with what is known now.
    pub(super) async fn configuration(self: &Arc<Self>) -> Option<Value> {
        let this = self.clone();
        blocking(move || {
            let block = this.block()?;
            let (context, module) = (&this.walk.context, &this.address.module);
            let rules = &block.lifecycle.preconditions;
            let object = CheckedObject::ResourcePrecondition(&this.address);
            if !check_rules(context, module, &this.data, None, object, rules) {
                return None;
            }
            context
                .evaluate(module, &this.data, None, |e| e.body(&block.config, &this.schema.block))
        })
        .await
    }

    pub(super) async fn postconditions(self: &Arc<Self>, value: Value) -> bool {
        let this = self.clone();
        blocking(move || {
            let Some(block) = this.block() else { return false };
            let rules = &block.lifecycle.postconditions;
            let object = CheckedObject::ResourcePostcondition(&this.address);
            let module = &this.address.module;
            check_rules(&this.walk.context, module, &this.data, Some(&value), object, rules)
        })
        .await
    }

    /// What the change is now that everything is known. One from what was planned is checked against
    /// that.
    pub(super) async fn final_plan(
        &self,
        change: &ResourceInstanceChange,
        config: &Value,
        basis: &Basis<'_>,
    ) -> Option<FinalPlan> {
        let block = self.block()?;
        let schema = &self.schema;
        let (prior, private) = match (basis, change.action) {
            (Basis::World(object), _) => (object.value.clone(), object.private.clone()),
            (Basis::Planned, Action::Update) => {
                (change.before.clone(), self.planned_private(change))
            }
            (Basis::Planned, Action::Create) => (schema.null(), Arc::default()),
            (Basis::Planned, _) => (schema.null(), change.private.clone()),
        };
        let ignored = ignored_paths(&block.lifecycle.ignore_changes, &schema.block, &prior);
        let request = PlanRequest {
            provider: &*self.provider,
            schema,
            ty: &self.address.resource.ty,
            prior: &prior,
            config,
            ignored: &ignored,
            private,
        };
        let answer = match request.ask().await {
            Ok(answer) => answer,
            Err(failure) => {
                self.report_failure(failure);
                return None;
            }
        };
        self.report(answer.warnings);
        let response = answer.response;
        if matches!(basis, Basis::Planned) && !response.legacy_type_system {
            let planned = &response.planned_state;
            let violations = assert_object_compatible(&schema.block, &change.after, planned);
            for violation in &violations {
                self.fail(
                    "Provider produced inconsistent final plan",
                    format!(
                        "When expanding the plan for {} to include new values learned so far during apply, provider {:?} produced an invalid new value for {violation}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
                        self.address,
                        self.provider_name(),
                    ),
                );
            }
            if !violations.is_empty() {
                return None;
            }
        }
        let planned = mark_by_configuration(schema, &answer.effective, &response.planned_state);
        let requires_replace = match prior.is_null() {
            true => Vec::new(),
            false => really_changing(&response.requires_replace, &prior, &planned),
        };
        Some(FinalPlan { prior, planned, private: response.planned_private, requires_replace })
    }

    fn planned_private(&self, change: &ResourceInstanceChange) -> Arc<[u8]> {
        let refreshed = self.walk.plan.refreshed.get(&change.address);
        let current = refreshed.and_then(|r| r.current.as_ref());
        current.map(|object| object.private.clone()).unwrap_or_default()
    }

    /// The current object as it is recorded, where there is one.
    pub(super) async fn recorded(&self) -> Result<Option<Object>, Reported> {
        let Some(recorded) = self.walk.records.get(&self.address).current else { return Ok(None) };
        match decode(&*self.provider, &self.schema, &self.address, &recorded).await {
            Ok((object, warnings)) => {
                self.walk.context.report(warnings);
                Ok(Some(object))
            }
            Err(errors) => {
                self.walk.context.report(errors);
                Err(Reported)
            }
        }
    }

    /// What the world has where `known` was.
    pub(super) async fn read_world(&self, known: &Object) -> Result<Option<Object>, CallFailure> {
        let object = HookObject { address: &self.address, deposed: None };
        let environment = &self.walk.context.environment;
        let read = read_object(environment, &*self.provider, &self.schema, &object, known);
        let (now, warnings) = read.await?;
        self.report(warnings);
        Ok(now)
    }

    /// Whether the world is still as the plan saw it; what is not was reported.
    pub(super) async fn is_as_planned(&self) -> bool {
        let refreshed = self.walk.plan.refreshed.get(&self.address);
        let Some(planned) = refreshed.and_then(|r| r.current.as_ref()) else { return true };
        let recorded = match self.recorded().await {
            Ok(Some(recorded)) => recorded,
            // Another part of the change has deleted it, having looked at it before.
            Ok(None) => return true,
            Err(Reported) => return false,
        };
        let actual = match self.read_world(&recorded).await {
            Ok(actual) => actual,
            Err(failure) => {
                self.report_failure(failure);
                return false;
            }
        };
        !self.walk.has_moved(&self.address, None, &self.schema, planned, actual.as_ref())
    }
}

/// The paths that the provider named which really change.
fn really_changing(named: &[Path], prior: &Value, planned: &Value) -> Vec<Path> {
    let (prior, planned) = (prior.unmark_deep(), planned.unmark_deep());
    let changes = |path: &&Path| {
        let (before, after) = (path.get(&prior), path.get(&planned));
        before != after || after.is_some_and(|after| !after.is_wholly_known())
    };
    named.iter().filter(changes).cloned().collect()
}
