//! `removed` blocks: what is deleted with its block, and what is only forgotten.

use super::PlanWalk;
use crate::changes::{Action, ResourceInstanceChange};
use crate::hashing::HashSet;
use crate::plan::PlanMode;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::{Configuration, RemovedSubject};
use values::address::{ConfigResource, ModulePath, ResourceInstance};

/// What is left alone in the world when its record goes.
#[derive(Default)]
pub(crate) struct Forgotten {
    resources: HashSet<ConfigResource>,
    modules: HashSet<ModulePath>,
}

/// What a block names, from the root.
pub(crate) fn subject(declaring: &ModulePath, subject: &RemovedSubject) -> RemovedSubject {
    let inside =
        |rest: &ModulePath| ModulePath(declaring.0.iter().chain(rest.0.iter()).cloned().collect());
    match subject {
        RemovedSubject::Module(module) => RemovedSubject::Module(inside(module)),
        RemovedSubject::Resource(resource) => {
            RemovedSubject::Resource(resource.resource.in_module(&inside(&resource.module)))
        }
    }
}

impl Forgotten {
    pub(crate) fn find(configuration: &Configuration) -> Forgotten {
        let mut forgotten = Forgotten::default();
        for node in configuration.modules() {
            for removed in node.module.removed.iter().filter(|removed| !removed.destroy) {
                match subject(&node.path, &removed.from) {
                    RemovedSubject::Module(module) => forgotten.modules.insert(module),
                    RemovedSubject::Resource(resource) => forgotten.resources.insert(resource),
                };
            }
        }
        forgotten
    }

    fn contains(&self, address: &ResourceInstance) -> bool {
        let resource = address.config();
        let path = &resource.module.0;
        self.resources.contains(&resource)
            || (1..=path.len()).any(|n| self.modules.contains(&ModulePath(path[..n].into())))
    }
}

/// What becomes of an object that nothing declares.
pub(crate) fn action(walk: &PlanWalk, address: &ResourceInstance) -> Action {
    let declared = walk.context.configuration.resource(&address.config()).is_some();
    // Whoever destroys everything means this too.
    let forgets = !declared && walk.options.mode == PlanMode::Normal;
    match forgets && walk.forgotten.contains(address) {
        true => Action::Forget,
        false => Action::Delete,
    }
}

/// Blocks that name what is still declared.
pub(crate) fn still_declared(configuration: &Configuration) -> Diagnostics {
    let mut found = Diagnostics::new();
    for node in configuration.modules() {
        for removed in &node.module.removed {
            let subject = subject(&node.path, &removed.from);
            let (what, name, place) = match &subject {
                RemovedSubject::Resource(resource) => {
                    let block = configuration.resource(resource);
                    ("resource", resource.to_string(), block.map(|block| block.span))
                }
                RemovedSubject::Module(module) => {
                    let node = configuration.get(module);
                    ("module", module.to_string(), node.and_then(|node| node.call_span))
                }
            };
            if let Some(place) = place {
                let detail = format!(
                    "This statement declares that {name} was removed, but it is still declared in configuration."
                );
                let summary = format!("Removed {what} still exists");
                found.push(Diagnostic::error(summary, detail).at(place));
            }
        }
    }
    found
}

/// The warning that names what nobody will manage any more.
pub(crate) fn warning(changes: &[ResourceInstanceChange]) -> Option<Diagnostic> {
    let forgotten = changes.iter().filter(|change| change.action == Action::Forget);
    let mut names: Vec<String> = forgotten
        .map(|change| match &change.deposed {
            None => format!("\n - {}", change.address),
            Some(key) => format!("\n - {} (deposed object {key})", change.address),
        })
        .collect();
    names.sort();
    (!names.is_empty()).then(|| {
        Diagnostic::warning(
            "Some objects will no longer be managed by Plumbline",
            format!(
                "If you apply this plan, Plumbline will discard its tracking information for the following objects, but it will not delete them:{}\n\nAfter applying this plan, Plumbline will no longer manage these objects. You will need to import them into Plumbline to manage them again.",
                names.concat()
            ),
        )
    })
}
