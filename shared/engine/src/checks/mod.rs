//! What the conditions of a configuration came to: those of variables, resources and outputs, and `check` blocks.

mod collected;
mod form;

pub(crate) use collected::{Collected, Rule};
pub(crate) use form::{CheckForm, from_forms, to_forms};

use language::diagnostics::Checkable;
use language::module::Configuration;
use language::variables::RuleOutcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use values::address::{InstanceKey, ModuleInstance, ModulePath, Resource};

/// Whether what is checked is as it should be. Worse comes later.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// All conditions hold.
    #[default]
    Pass,
    /// Some have not been evaluated, or cannot be before apply.
    Unknown,
    /// Some do not hold, or the data source could not be read.
    Fail,
    /// Some could not be evaluated.
    Error,
}

/// What the conditions of one object came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckResult {
    /// The worst of its conditions.
    pub status: CheckStatus,
    /// What is wrong, in the words of the configuration, in the order of the alphabet.
    pub problems: Vec<String>,
}

/// What has conditions, by its name within a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckedName {
    /// A variable with validations.
    Variable(Arc<str>),
    /// A resource or data source with preconditions or postconditions.
    Resource(Resource),
    /// An output with preconditions.
    Output(Arc<str>),
    /// A check block.
    Check(Arc<str>),
}

/// What has conditions, as a configuration declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckedBlock {
    /// Where it is declared.
    pub module: ModulePath,
    /// What it is there.
    pub name: CheckedName,
}

/// One of the objects that a block with conditions stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckedInstance {
    /// Its instance of the module.
    pub module: ModuleInstance,
    /// Which instance of a resource; none for all else.
    pub key: InstanceKey,
}

/// What a block with conditions came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockResult {
    /// Its objects; `None` where nobody has asked yet which there are.
    pub instances: Option<BTreeMap<CheckedInstance, CheckResult>>,
}

/// What all conditions of a configuration came to.
pub type CheckResults = BTreeMap<CheckedBlock, BlockResult>;

impl CheckStatus {
    /// What a condition came to, and its message where it does not hold.
    pub(crate) fn of(outcome: &RuleOutcome) -> (CheckStatus, Option<String>) {
        match outcome {
            RuleOutcome::Pass => (CheckStatus::Pass, None),
            RuleOutcome::Unknown => (CheckStatus::Unknown, None),
            RuleOutcome::Fail(message) => (CheckStatus::Fail, Some(message.clone())),
            RuleOutcome::Error => (CheckStatus::Error, None),
        }
    }
}

impl BlockResult {
    /// The worst of its objects.
    pub fn status(&self) -> CheckStatus {
        match &self.instances {
            None => CheckStatus::Unknown,
            Some(all) => all.values().map(|result| result.status).max().unwrap_or_default(),
        }
    }
}

impl CheckResult {
    /// Of conditions that nobody has evaluated.
    pub(crate) fn unknown() -> CheckResult {
        CheckResult { status: CheckStatus::Unknown, problems: Vec::new() }
    }
}

impl CheckedBlock {
    /// The address of one of its objects.
    pub fn address(&self, instance: &CheckedInstance) -> String {
        let CheckedInstance { module, key } = instance;
        match module.is_root() {
            true => format!("{}{key}", self.name),
            false => format!("{module}.{}{key}", self.name),
        }
    }

    /// What diagnostics call one of its objects, within its instance of the module.
    pub(crate) fn checkable(&self, instance: &CheckedInstance) -> Checkable {
        match &self.name {
            CheckedName::Variable(name) => Checkable::Variable(name.clone()),
            CheckedName::Output(name) => Checkable::Output(name.clone()),
            CheckedName::Check(name) => Checkable::Check(name.clone()),
            CheckedName::Resource(resource) => Checkable::Resource(
                resource.absolute(&instance.module).instance(instance.key.clone()),
            ),
        }
    }
}

impl fmt::Display for CheckedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckedName::Variable(name) => write!(f, "var.{name}"),
            CheckedName::Resource(resource) => write!(f, "{resource}"),
            CheckedName::Output(name) => write!(f, "output.{name}"),
            CheckedName::Check(name) => write!(f, "check.{name}"),
        }
    }
}

impl fmt::Display for CheckedBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.module.is_root() {
            true => write!(f, "{}", self.name),
            false => write!(f, "{}.{}", self.module, self.name),
        }
    }
}

/// All blocks of a configuration that have conditions, each with how many.
pub(crate) fn blocks_with_rules(configuration: &Configuration) -> BTreeMap<CheckedBlock, usize> {
    let mut blocks = BTreeMap::new();
    for node in configuration.modules() {
        let module = &node.module;
        let variables = module.variables.iter();
        let variables =
            variables.map(|(name, v)| (CheckedName::Variable(name.clone()), v.validations.len()));
        let resources = module.resources.iter().map(|(resource, block)| {
            let lifecycle = &block.lifecycle;
            let rules = lifecycle.preconditions.len() + lifecycle.postconditions.len();
            (CheckedName::Resource(resource.clone()), rules)
        });
        let outputs = module.outputs.iter();
        let outputs =
            outputs.map(|(name, o)| (CheckedName::Output(name.clone()), o.preconditions.len()));
        let checks = module.checks.iter();
        let checks = checks.map(|(name, c)| (CheckedName::Check(name.clone()), c.asserts.len()));
        let all = variables.chain(resources).chain(outputs).chain(checks);
        blocks.extend(
            all.filter(|(_, rules)| *rules > 0)
                .map(|(name, rules)| (CheckedBlock { module: node.path.clone(), name }, rules)),
        );
    }
    blocks
}
