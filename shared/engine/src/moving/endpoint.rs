//! The ends of a move: what they select, and how two of them lie to each other.

use language::module::MoveSubject;
use std::fmt;
use std::sync::Arc;
use values::address::{
    AbsoluteResource, InstanceKey, ModuleInstance, ModulePath, ModuleStep, Resource,
    ResourceInstance,
};

/// One end of a move, relative to the module that declares the move or absolute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Endpoint {
    /// All instances of a module call.
    Call(ModuleInstance, Arc<str>),
    /// One instance of a module.
    Module(ModuleInstance),
    /// All instances of a resource.
    Resource(AbsoluteResource),
    /// One instance of a resource.
    Instance(ResourceInstance),
}

/// The steps to a module; without a key, any instance.
pub(super) type Steps = Vec<(Arc<str>, Option<InstanceKey>)>;

impl Endpoint {
    /// Both ends of a block. Whole resources and whole calls only where both ends name them so,
    /// instances otherwise.
    pub(super) fn unify(from: &MoveSubject, to: &MoveSubject) -> Option<(Endpoint, Endpoint)> {
        let call = |module: &ModuleInstance| {
            let (last, _) = module.0.split_last()?;
            let whole = last.key == InstanceKey::None;
            whole.then(|| Some(Endpoint::Call(module.parent()?, last.name.clone()))).flatten()
        };
        let instance = |subject: &MoveSubject| match subject {
            MoveSubject::Resource(resource) => {
                Some(Endpoint::Instance(resource.instance(InstanceKey::None)))
            }
            MoveSubject::Instance(instance) => Some(Endpoint::Instance(instance.clone())),
            MoveSubject::Module(_) => None,
        };
        match (from, to) {
            (MoveSubject::Module(from), MoveSubject::Module(to)) => match (call(from), call(to)) {
                (Some(from), Some(to)) => Some((from, to)),
                _ => Some((Endpoint::Module(from.clone()), Endpoint::Module(to.clone()))),
            },
            (MoveSubject::Resource(from), MoveSubject::Resource(to)) => {
                Some((Endpoint::Resource(from.clone()), Endpoint::Resource(to.clone())))
            }
            (from, to) => Some((instance(from)?, instance(to)?)),
        }
    }

    /// The same in one instance of the declaring module.
    pub(super) fn within(&self, module: &ModuleInstance) -> Endpoint {
        let inside = |rest: &ModuleInstance| joined(&module.0, &rest.0);
        match self {
            Endpoint::Call(caller, name) => Endpoint::Call(inside(caller), name.clone()),
            Endpoint::Module(rest) => Endpoint::Module(inside(rest)),
            Endpoint::Resource(r) => Endpoint::Resource(r.resource.absolute(&inside(&r.module))),
            Endpoint::Instance(i) => {
                Endpoint::Instance(i.resource.absolute(&inside(&i.module)).instance(i.key.clone()))
            }
        }
    }

    pub(super) fn is_module(&self) -> bool {
        matches!(self, Endpoint::Call(..) | Endpoint::Module(_))
    }

    /// The resource, where it is one or an instance of one.
    pub(super) fn resource(&self) -> Option<&Resource> {
        match self {
            Endpoint::Resource(r) => Some(&r.resource),
            Endpoint::Instance(i) => Some(&i.resource),
            Endpoint::Call(..) | Endpoint::Module(_) => None,
        }
    }

    /// The module that a resource is in, or that a module endpoint is, as seen from the declaring
    /// module.
    fn module_steps(&self) -> Steps {
        let exact = |module: &ModuleInstance| -> Steps {
            module.0.iter().map(|step| (step.name.clone(), Some(step.key.clone()))).collect()
        };
        match self {
            Endpoint::Call(caller, name) => {
                let mut steps = exact(caller);
                steps.push((name.clone(), None));
                steps
            }
            Endpoint::Module(module) => exact(module),
            Endpoint::Resource(r) => exact(&r.module),
            Endpoint::Instance(i) => exact(&i.module),
        }
    }

    /// The module steps from the root, of an end that `declaring` declares.
    pub(super) fn steps(&self, declaring: &ModulePath) -> Steps {
        let any = declaring.0.iter().map(|name| (name.clone(), None));
        any.chain(self.module_steps()).collect()
    }

    /// `resource`, `module instance`, ... and the short form of it.
    pub(super) fn nouns(&self) -> (&'static str, &'static str) {
        match self {
            Endpoint::Call(..) => ("module call", "call"),
            Endpoint::Module(_) => ("module instance", "instance"),
            Endpoint::Resource(_) => ("resource", "resource"),
            Endpoint::Instance(_) => ("resource instance", "instance"),
        }
    }

    /// Whether the other end is the same module call or an instance of it.
    pub(super) fn is_same_call(&self, other: &Endpoint) -> bool {
        match (self, other) {
            (Endpoint::Call(..), Endpoint::Call(..)) => false,
            (a, b) if a.is_module() && b.is_module() => {
                let names = |e: &Endpoint| -> Vec<Arc<str>> {
                    e.module_steps().into_iter().map(|(name, _)| name).collect()
                };
                names(a) == names(b)
            }
            _ => false,
        }
    }
}

fn joined(before: &[ModuleStep], after: &[ModuleStep]) -> ModuleInstance {
    ModuleInstance(before.iter().chain(after).cloned().collect())
}

/// Whether there is a module instance that the first steps lead to and the second pass through.
pub(super) fn can_contain(outer: &Steps, inner: &Steps) -> bool {
    outer.len() <= inner.len()
        && outer.iter().zip(inner).all(|((name, key), (other_name, other_key))| {
            let keys = match (key, other_key) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            };
            name == other_name && keys
        })
}

/// Whether these steps lead to a module instance, or past it.
pub(super) fn selects_prefix(steps: &Steps, module: &[ModuleStep]) -> bool {
    steps.len() <= module.len()
        && steps.iter().zip(module).all(|((name, key), step)| {
            *name == step.name && key.as_ref().is_none_or(|key| *key == step.key)
        })
}

/// As addresses are written, for messages.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Call(caller, name) if caller.is_root() => write!(f, "module.{name}"),
            Endpoint::Call(caller, name) => write!(f, "{caller}.module.{name}"),
            Endpoint::Module(module) => write!(f, "{module}"),
            Endpoint::Resource(resource) => write!(f, "{resource}"),
            Endpoint::Instance(instance) => write!(f, "{instance}"),
        }
    }
}
