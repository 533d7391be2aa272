//! Planning one instance of a managed resource.

use super::ignored::ignored_paths;
use super::import::{self, ImportedObjects};
use super::refresh::{self, Refreshed, note_drift, refresh};
use super::resource::{configuration, validate_configuration};
use super::{PlanWalk, deletion, replace_triggers, type_change};
use crate::changes::{Action, ActionReason, ResourceInstanceChange};
use crate::declared::Declared;
use crate::evaluation::{
    CheckedObject, EvalContext, Reader, RepetitionData, blocking, check_rules, check_rules_for,
};
use crate::hooks::HookObject;
use crate::object::{Object, ObjectStatus};
use crate::object_change::{PlanRequest, Violation, assert_plan_valid, same_marks};
use crate::object_codec::mark_by_configuration;
use crate::plan::{PlanMode, RefreshedInstance};
use crate::provisioning;
use language::diagnostics::Diagnostic;
use language::module::{ProvisionerWhen, ResourceBlock};
use providers::PlanResourceResponse;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ResourceInstance;
use values::{Path, PathStep, Type, Value};

/// Reads, evaluates and plans one instance; whether that worked.
pub(crate) async fn plan(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    address: &ResourceInstance,
    data: &RepetitionData,
    imports: &ImportedObjects,
) -> bool {
    let recorded = walk.prior.instances.get(address).map(|s| (**s).clone()).unwrap_or_default();
    let Some(stored) = type_change::of_own_type(walk, declared, address, recorded).await else {
        return false;
    };
    let mut current = None;
    if let Some(stored) = &stored.current {
        let found = refresh(
            walk,
            Some(declared),
            &*declared.provider_of(&walk.context, address),
            &declared.schema,
            address,
            None,
            stored,
        )
        .await;
        let Some(found) = found else { return false };
        note_drift(walk, &declared.provider_address, &declared.schema, address, &found);
        current = Some(found);
    } else if let Some(id) = imports.get(address) {
        let Some(found) = import::read(walk, declared, address, id).await else { return false };
        walk.outcome.imported(address.clone(), id.clone());
        current = Some(found);
    }
    let Some(deposed) = deletion::plan_deposed(walk, Some(declared), address, &stored).await else {
        return false;
    };
    let now = current.as_ref().and_then(|c| c.now.clone());
    if current.is_some() || !deposed.is_empty() {
        walk.outcome.refreshed(
            address.clone(),
            RefreshedInstance {
                provider: declared.provider_address.clone(),
                seen: walk.seen(),
                configuration: None,
                current: now.clone(),
                deposed,
            },
        );
    }
    if walk.options.mode == PlanMode::RefreshOnly {
        let value = match &now {
            Some(object) => object.value.clone(),
            None => Value::unknown(declared.schema.ty().clone()),
        };
        walk.context.working.set_instance(address, value.clone());
        return check_conditions(walk, declared, address, data, value).await;
    }
    let change = plan_change(walk, declared, address, data, current.as_ref()).await;
    let Some(change) = change else { return false };
    let after = change.after.clone();
    walk.context.environment.hook(|h| h.post_diff(&change));
    walk.context.working.set_instance(address, after.clone());
    let kept = match change.action {
        // Nothing changes: postconditions see the object as it is.
        Action::NoOp => now.map_or(after, |object| object.value),
        _ => after,
    };
    let changes = change.action != Action::NoOp || change.previous_address.is_some();
    let creates = change.action.creates();
    walk.outcome.change(change);
    let (walk, declared, address, data) =
        (walk.clone(), declared.clone(), address.clone(), data.clone());
    blocking(move || {
        let Some(block) = declared.block() else { return false };
        let rules = &block.lifecycle.postconditions;
        let object = CheckedObject::ResourcePostcondition(&address);
        let (reader, context) = (Reader::Instance(address.clone()), &walk.context);
        if !changes {
            // Nothing rests on what led to no change.
            context.logs.forget(&reader);
            return check_rules(context, &address.module, &data, Some(&kept), object, rules);
        }
        if creates {
            look_at_provisioners(context, &reader, &address, &data, block, &kept);
        }
        check_rules_for(&reader, context, &address.module, &data, Some(&kept), object, rules)
    })
    .await
}

/// Where nothing is planned, what an instance promises is checked against what is there.
async fn check_conditions(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    address: &ResourceInstance,
    data: &RepetitionData,
    value: Value,
) -> bool {
    let (walk, declared, address, data) =
        (walk.clone(), declared.clone(), address.clone(), data.clone());
    blocking(move || {
        let Some(block) = declared.block() else { return false };
        let (context, module) = (&walk.context, &address.module);
        let object = CheckedObject::ResourcePrecondition(&address);
        let before = &block.lifecycle.preconditions;
        let promised = check_rules(context, module, &data, None, object, before);
        let object = CheckedObject::ResourcePostcondition(&address);
        let after = &block.lifecycle.postconditions;
        check_rules(context, module, &data, Some(&value), object, after) && promised
    })
    .await
}

/// What provisioners will be run with is looked at now, so that the plan rests on it. `this` is `self`.
fn look_at_provisioners(
    context: &EvalContext,
    reader: &Reader,
    address: &ResourceInstance,
    data: &RepetitionData,
    block: &ResourceBlock,
    this: &Value,
) {
    for provisioner in block.provisioners.iter().filter(|p| p.when == ProvisionerWhen::Create) {
        let Some(schema) = provisioning::schema(&provisioner.kind) else { continue };
        context.look_for(reader, &address.module, data, Some(this.clone()), |evaluation| {
            evaluation.body(&provisioner.config, schema);
        });
    }
}

async fn plan_change(
    walk: &Arc<PlanWalk>,
    declared: &Arc<Declared>,
    address: &ResourceInstance,
    data: &RepetitionData,
    current: Option<&Refreshed>,
) -> Option<ResourceInstanceChange> {
    let config = {
        let (walk, declared, address, data) =
            (walk.clone(), declared.clone(), address.clone(), data.clone());
        blocking(move || {
            let block = declared.block()?;
            let rules = &block.lifecycle.preconditions;
            let object = CheckedObject::ResourcePrecondition(&address);
            let (reader, context) = (Reader::Instance(address.clone()), &walk.context);
            if !check_rules_for(&reader, context, &address.module, &data, None, object, rules) {
                return None;
            }
            configuration(&walk, &declared, &address, &data)
        })
        .await?
    };
    if !validate_configuration(walk, declared, address, &config).await {
        return None;
    }
    let block = declared.block()?;
    let schema = &declared.schema;
    let now = current.and_then(|c| c.now.as_ref());
    let tainted = now.filter(|object| object.status == ObjectStatus::Tainted);
    let prior = match now {
        Some(object) if tainted.is_none() => object.value.clone(),
        _ => schema.null(),
    };
    let ignored = ignored_paths(&block.lifecycle.ignore_changes, &schema.block, &prior);
    let request = Request { walk, declared, address };
    let hooks = &walk.context.environment;
    hooks.hook(|h| h.pre_diff(&HookObject { address, deposed: None }));
    let private = now.filter(|_| tainted.is_none()).map(|o| o.private.clone()).unwrap_or_default();
    let (mut answer, mut planned) = request.ask(&prior, &config, private, &ignored).await?;
    let requires_replace = request.requires_replace(&prior, &planned, &answer)?;
    let triggered = !prior.is_null() && {
        let (walk, declared, address, data) =
            (walk.clone(), declared.clone(), address.clone(), data.clone());
        blocking(move || replace_triggers::triggered(&walk, &declared, &address, &data)).await?
    };
    let create_before_destroy = walk.plan_graph.create_before_destroy.contains(&declared.resource);
    let replace = match create_before_destroy {
        true => Action::CreateThenDelete,
        false => Action::DeleteThenCreate,
    };
    let requested = walk.options.replace.contains(address);
    let unchanged = planned.unmark_deep() == prior.unmark_deep();
    let (mut action, mut reason) = if prior.is_null() {
        (Action::Create, None)
    } else if triggered {
        (replace, Some(ActionReason::ReplaceByTriggers))
    } else if requested {
        (replace, Some(ActionReason::ReplaceByRequest))
    } else if unchanged && requires_replace.is_empty() {
        (Action::NoOp, None)
    } else if !requires_replace.is_empty() {
        (replace, Some(ActionReason::ReplaceBecauseCannotUpdate))
    } else {
        (Action::Update, None)
    };
    let mut before = prior.clone();
    if action.is_replace() {
        // The object to create is planned from nothing, so that what the provider computes is
        // unknown again. What is ignored counts for an existing object only.
        let private = answer.planned_private.clone();
        (answer, planned) = request.ask(&schema.null(), &config, private, &[]).await?;
    }
    if let (Action::Create, Some(object)) = (action, tainted) {
        action = replace;
        reason = Some(ActionReason::ReplaceBecauseTainted);
        before = object.value.clone();
    }
    if action == Action::NoOp && !same_marks(&before, &planned) {
        action = Action::Update;
    }
    if action.is_replace() && block.lifecycle.prevent_destroy == Some(true) {
        deletion::refuse_prevented(walk, address, Some(block.span));
        return None;
    }
    let dependencies =
        walk.plan_graph.dependencies.get(&declared.resource).cloned().unwrap_or_default();
    Some(ResourceInstanceChange {
        address: address.clone(),
        previous_address: walk.origin(address),
        deposed: None,
        provider: declared.provider_address.clone(),
        action,
        reason,
        before,
        after: planned,
        requires_replace,
        private: answer.planned_private,
        dependencies,
        create_before_destroy,
    })
}

/// What is asked of the provider for one instance.
struct Request<'a> {
    walk: &'a PlanWalk,
    declared: &'a Declared,
    address: &'a ResourceInstance,
}

impl Request<'_> {
    /// Has the provider plan from a prior object to a configuration, and checks its answer; the planned
    /// object has the marks of the configuration that it came from, and its schema's.
    async fn ask(
        &self,
        prior: &Value,
        config: &Value,
        private: Arc<[u8]>,
        ignored: &[Path],
    ) -> Option<(PlanResourceResponse, Value)> {
        let schema = &self.declared.schema;
        let ty = &self.address.resource.ty;
        let provider = &*self.declared.provider_of(&self.walk.context, self.address);
        let request = PlanRequest { provider, schema, ty, prior, config, ignored, private };
        let answer = match request.ask().await {
            Ok(answer) => answer,
            Err(failure) => {
                let block = self.declared.block();
                let (body, place) = (block.map(|b| &*b.config), block.map(|b| b.span));
                let errors = failure.into_diagnostics(body, place, &self.address.to_string());
                self.walk.context.report(errors);
                return None;
            }
        };
        refresh::report(self.walk, self.declared, self.address, answer.warnings);
        let (response, effective) = (answer.response, answer.effective);
        let (plain_prior, plain_config) = (prior.unmark_deep(), effective.unmark_deep());
        let planned = &response.planned_state;
        let violations = assert_plan_valid(&schema.block, &plain_prior, &plain_config, planned);
        if !violations.is_empty() {
            if !response.legacy_type_system {
                self.invalid_plan(&violations);
                return None;
            }
            tracing::warn!(
                address = %self.address,
                provider = %self.declared.provider_address,
                problems = violations.len(),
                "the provider's plan breaks the protocol's rules; tolerated, since it uses the legacy SDK"
            );
        }
        let planned = mark_by_configuration(schema, &effective, planned);
        Some((response, planned))
    }

    fn invalid_plan(&self, violations: &[Violation]) {
        for violation in violations {
            let detail = format!(
                "Provider {:?} planned an invalid value for {}{}{}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
                self.declared.provider_address.provider.to_string(),
                self.address,
                if violation.path.is_root() { ": " } else { "" },
                violation
            );
            self.walk
                .fail(self.address, Diagnostic::error("Provider produced invalid plan", detail));
        }
    }

    /// The paths among those that the provider named which really change.
    fn requires_replace(
        &self,
        prior: &Value,
        planned: &Value,
        answer: &PlanResourceResponse,
    ) -> Option<Vec<Path>> {
        if prior.is_null() {
            return Some(Vec::new());
        }
        let (prior, planned) = (prior.unmark_deep(), planned.unmark_deep());
        let mut found = Vec::new();
        for path in &answer.requires_replace {
            let (before, after) = (path.get(&prior), path.get(&planned));
            if before.is_none() && after.is_none() {
                let detail = format!(
                    "Provider {:?} has indicated \"requires replacement\" on {} for a non-existent attribute path {path}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
                    self.declared.provider_address.provider.to_string(),
                    self.address,
                );
                self.walk.fail(
                    self.address,
                    Diagnostic::error("Provider produced invalid plan", detail),
                );
                return None;
            }
            let null = |other: &Option<Value>| {
                Value::null(other.as_ref().map_or(Type::Dynamic, Value::ty))
            };
            let (b, a) = (
                before.clone().unwrap_or_else(|| null(&after)),
                after.clone().unwrap_or_else(|| null(&before)),
            );
            let same = a.is_wholly_known() && a == b;
            if !same || is_write_only(&self.declared.schema.block, path) {
                found.push(path.clone());
            }
        }
        Some(found)
    }
}

/// Whether a path leads to, or into, an attribute that is never stored.
fn is_write_only(block: &values::schema::Block, path: &Path) -> bool {
    match path.0.first() {
        Some(PathStep::Attribute(name)) => {
            block.attributes.get(name).is_some_and(|attribute| attribute.write_only)
        }
        _ => false,
    }
}

/// The objects of an instance that a plan leaves as they are.
pub(crate) type DeposedObjects = BTreeMap<crate::object::DeposedKey, Object>;
