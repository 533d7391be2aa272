//! What all conditions came to, once a plan is made.

use super::{EvalContext, Named};
use crate::checks::{
    BlockResult, CheckResult, CheckResults, CheckedBlock, CheckedInstance, CheckedName,
    blocks_with_rules,
};
use crate::plan::PlanMode;
use values::address::{InstanceKey, ModuleInstance};

/// The results of a planning walk: what it has not come to is unknown.
pub(crate) fn planned_checks(context: &EvalContext, mode: PlanMode) -> CheckResults {
    let blocks = blocks_with_rules(&context.configuration);
    let result = |(block, rules): (CheckedBlock, usize)| {
        let instances = match mode {
            PlanMode::Normal | PlanMode::RefreshOnly => instances(context, &block),
            // What is about to go is not checked. As in Terraform, root outputs are there all the same.
            PlanMode::Destroy => root_output(&block).map(|output| vec![output]),
        };
        let found = |instance: CheckedInstance| {
            let object = block.checkable(&instance);
            let found = match mode {
                PlanMode::Destroy => None,
                _ => context.checks.result(&instance.module, object, rules),
            };
            (instance, found.unwrap_or_else(CheckResult::unknown))
        };
        let instances = instances.map(|all| all.into_iter().map(found).collect());
        (block, BlockResult { instances })
    };
    blocks.into_iter().map(result).collect()
}

/// The objects of a block; `None` where the walk has not come to it in every instance of its module.
fn instances(context: &EvalContext, block: &CheckedBlock) -> Option<Vec<CheckedInstance>> {
    let working = &context.working;
    if !working.has_expanded(&block.module) {
        return None;
    }
    let mut found = Vec::new();
    for module in working.module_instances(&block.module).iter() {
        let of = |key| CheckedInstance { module: module.clone(), key };
        if let CheckedName::Resource(resource) = &block.name {
            let expansion = working.expansion(&resource.absolute(module))?;
            found.extend(expansion.keys().into_iter().map(of));
            continue;
        }
        let instance = of(InstanceKey::None);
        let has_value = match &block.name {
            CheckedName::Variable(name) => {
                working.named(module, Named::Variable(name.clone())).is_some()
            }
            CheckedName::Output(name) => {
                working.named(module, Named::Output(name.clone())).is_some()
            }
            CheckedName::Check(_) | CheckedName::Resource(_) => false,
        };
        let is_evaluated = context.checks.result(module, block.checkable(&instance), 0).is_some();
        if !has_value && !is_evaluated {
            return None;
        }
        found.push(instance);
    }
    Some(found)
}

fn root_output(block: &CheckedBlock) -> Option<CheckedInstance> {
    let is_output = matches!(block.name, CheckedName::Output(_));
    (is_output && block.module.is_root())
        .then(|| CheckedInstance { module: ModuleInstance::root(), key: InstanceKey::None })
}
