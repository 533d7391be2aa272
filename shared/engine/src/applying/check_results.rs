//! What all conditions came to, once a plan is applied; and those of what does not change, where the plan could not
//! know them.

use super::ApplyWalk;
use crate::changes::Action;
use crate::checks::{
    BlockResult, CheckResult, CheckResults, CheckStatus, CheckedBlock, CheckedInstance,
    CheckedName, blocks_with_rules,
};
use crate::evaluation::{CheckedObject, check_rules};
use crate::graph::Walked;
use crate::plan::{Plan, PlanMode};
use crate::transaction::Standing;
use std::collections::{BTreeMap, HashSet};
use values::address::{ConfigResource, ResourceInstance, ResourceMode};

/// Instances that stay as they are, and whose conditions depend on what changes.
pub(super) type Unchecked = BTreeMap<ConfigResource, Vec<ResourceInstance>>;

pub(super) fn unchecked(plan: &Plan) -> Unchecked {
    let mut unknown = HashSet::new();
    for (block, result) in &plan.checks {
        let CheckedName::Resource(resource) = &block.name else { continue };
        if resource.mode != ResourceMode::Managed || plan.mode != PlanMode::Normal {
            continue;
        }
        let instances = result.instances.iter().flatten();
        let instances = instances.filter(|(_, result)| result.status == CheckStatus::Unknown);
        unknown.extend(instances.map(|(instance, _)| {
            resource.absolute(&instance.module).instance(instance.key.clone())
        }));
    }
    let mut found = Unchecked::new();
    if unknown.is_empty() {
        return found;
    }
    let current = plan.changes.resources.iter().filter(|change| change.deposed.is_none());
    for change in current.filter(|change| change.action == Action::NoOp) {
        if unknown.contains(&change.address) {
            found.entry(change.address.config()).or_default().push(change.address.clone());
        }
    }
    found
}

/// Evaluates the conditions of instances that stay as they are, once all that they refer to is known.
pub(super) fn check_unchanged(walk: &ApplyWalk, resource: &ConfigResource) -> Walked {
    let context = &walk.context;
    let Some(block) = context.configuration.resource(resource) else { return Walked::Done };
    let (before, after) = (&block.lifecycle.preconditions, &block.lifecycle.postconditions);
    let mut hold = true;
    for address in walk.unchecked(resource) {
        let Some(expansion) = context.working.expansion(&address.containing()) else { continue };
        let (module, data) = (&address.module, expansion.data(&address.key));
        let this = context.working.instance(address);
        let precondition = CheckedObject::ResourcePrecondition(address);
        let postcondition = CheckedObject::ResourcePostcondition(address);
        hold &= check_rules(context, module, &data, None, precondition, before)
            && check_rules(context, module, &data, this.as_ref(), postcondition, after);
    }
    if hold { Walked::Done } else { Walked::Failed }
}

/// The results of an apply: of the objects that the plan knows, what they are now.
pub(super) fn results(walk: &ApplyWalk) -> CheckResults {
    let plan = &walk.plan;
    if plan.mode == PlanMode::RefreshOnly {
        // Nothing changes, so that the plan has said all.
        return plan.checks.clone();
    }
    let rules = blocks_with_rules(&walk.context.configuration);
    let result = |(block, planned): (&CheckedBlock, &BlockResult)| {
        let rules = rules.get(block).copied().unwrap_or_default();
        let instances = planned.instances.as_ref().map(|instances| {
            let found = |(instance, planned): (&CheckedInstance, &CheckResult)| {
                let object = block.checkable(instance);
                let found = walk.context.checks.result(&instance.module, object, rules);
                let result = found.unwrap_or_else(|| not_evaluated(walk, block, instance, planned));
                (instance.clone(), result)
            };
            instances.iter().map(found).collect()
        });
        (block.clone(), BlockResult { instances })
    };
    plan.checks.iter().map(result).collect()
}

/// Of what this invocation had no reason to look at.
fn not_evaluated(
    walk: &ApplyWalk,
    block: &CheckedBlock,
    instance: &CheckedInstance,
    planned: &CheckResult,
) -> CheckResult {
    let CheckedName::Resource(resource) = &block.name else { return CheckResult::unknown() };
    let address = resource.absolute(&instance.module).instance(instance.key.clone());
    let Some(change) = walk.change(&address) else { return CheckResult::unknown() };
    if change.action == Action::NoOp {
        return planned.clone();
    }
    let members = walk.members.resumed().map(|progress| &progress.members);
    match members.and_then(|members| members.get(&address)).map(|member| &member.standing) {
        // Else an earlier invocation would have noted that something failed.
        Some(Standing::Done { failed: false }) => CheckResult::default(),
        _ => CheckResult::unknown(),
    }
}
