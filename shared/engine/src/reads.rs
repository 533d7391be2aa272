//! What the changes of a plan looked at, by path.

use std::collections::{BTreeMap, BTreeSet};
use values::address::{AbsoluteResource, ResourceInstance};
use values::{Path, Value};

/// What the changes of a plan looked at. Instances that change themselves are among it; what they
/// looked at through values, modules and data sources is, too, and what other resources looked at is not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    /// Instances, with what was looked at.
    pub instances: BTreeMap<ResourceInstance, LookedAt>,
    /// Resources of which it was looked at which instances there are.
    pub key_sets: BTreeSet<AbsoluteResource>,
}

/// What was looked at of one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LookedAt {
    /// All of it.
    #[default]
    Whole,
    /// These parts, in the order of their paths, none inside another; where there are none, only whether the
    /// instance is there.
    Paths(Vec<ReadPath>),
    /// These parts, which flow into nothing but providers' configurations and ephemeral values: they are
    /// evaluated again, and never compared.
    Configuring(Vec<Path>),
}

/// One part that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPath {
    /// Where it is in the object.
    pub path: Path,
    /// Its value as the plan knows it; `None` where there is nothing, or nothing that may be kept.
    pub planned: Option<Value>,
}

impl LookedAt {
    /// Whether the instance's record alone was looked at.
    pub fn is_existence(&self) -> bool {
        matches!(self, LookedAt::Paths(paths) if paths.is_empty())
    }

    /// Whether values of the instance decide what is planned, so that they are compared with the world.
    pub fn is_compared(&self) -> bool {
        match self {
            LookedAt::Whole => true,
            LookedAt::Paths(paths) => !paths.is_empty(),
            LookedAt::Configuring(_) => false,
        }
    }

    /// Whether what is at a path, or around it, or inside it, was looked at.
    pub fn covers(&self, path: &Path) -> bool {
        match self {
            LookedAt::Whole => true,
            LookedAt::Paths(paths) => {
                paths.iter().any(|read| read.path.starts_with(path) || path.starts_with(&read.path))
            }
            LookedAt::Configuring(_) => false,
        }
    }
}
