//! Results of conditions as they are stored: in the form of Terraform's state files.

use super::{BlockResult, CheckResult, CheckResults, CheckStatus};
use super::{CheckedBlock, CheckedInstance, CheckedName};
use serde::{Deserialize, Serialize};
use values::address::{ConfigResource, InstanceKey, ModuleInstance, ModulePath, ResourceInstance};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Resource,
    Output,
    Check,
    Var,
}

/// One block with conditions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckForm {
    object_kind: Kind,
    config_addr: String,
    status: CheckStatus,
    /// Also none where it is known that there are none: the status is no `unknown` then.
    objects: Option<Vec<ObjectForm>>,
}

/// One of its objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ObjectForm {
    object_addr: String,
    status: CheckStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failure_messages: Vec<String>,
}

pub(crate) fn to_forms(results: &CheckResults) -> Vec<CheckForm> {
    let form = |(block, result): (&CheckedBlock, &BlockResult)| {
        let instances = result.instances.iter().flatten();
        let objects = instances.map(|(instance, result)| ObjectForm {
            object_addr: block.address(instance),
            status: result.status,
            failure_messages: result.problems.clone(),
        });
        let objects: Vec<_> = objects.collect();
        CheckForm {
            object_kind: match &block.name {
                CheckedName::Variable(_) => Kind::Var,
                CheckedName::Resource(_) => Kind::Resource,
                CheckedName::Output(_) => Kind::Output,
                CheckedName::Check(_) => Kind::Check,
            },
            config_addr: block.to_string(),
            status: result.status(),
            objects: (!objects.is_empty()).then_some(objects),
        }
    };
    results.iter().map(form).collect()
}

/// `None` where an address cannot be read.
pub(crate) fn from_forms(forms: Vec<CheckForm>) -> Option<CheckResults> {
    forms.into_iter().map(read).collect()
}

fn read(form: CheckForm) -> Option<(CheckedBlock, BlockResult)> {
    let CheckForm { object_kind: kind, config_addr, status, objects } = form;
    let block = match kind {
        Kind::Resource => {
            let ConfigResource { module, resource } = config_addr.parse().ok()?;
            CheckedBlock { module, name: CheckedName::Resource(resource) }
        }
        Kind::Output | Kind::Check | Kind::Var => {
            let (module, name) = named(kind, &config_addr)?;
            let module = match module {
                "" => ModulePath::root(),
                text => text.parse().ok()?,
            };
            let name = name.into();
            let name = match kind {
                Kind::Output => CheckedName::Output(name),
                Kind::Check => CheckedName::Check(name),
                _ => CheckedName::Variable(name),
            };
            CheckedBlock { module, name }
        }
    };
    let object = |object: ObjectForm| {
        let result = CheckResult { status: object.status, problems: object.failure_messages };
        Some((instance(kind, &object.object_addr)?, result))
    };
    let instances = match objects {
        Some(objects) => Some(objects.into_iter().map(object).collect::<Option<_>>()?),
        None if status == CheckStatus::Unknown => None,
        None => Some(Default::default()),
    };
    Some((block, BlockResult { instances }))
}

fn instance(kind: Kind, text: &str) -> Option<CheckedInstance> {
    if kind == Kind::Resource {
        let ResourceInstance { module, key, .. } = text.parse().ok()?;
        return Some(CheckedInstance { module, key });
    }
    let module = match named(kind, text)?.0 {
        "" => ModuleInstance::root(),
        text => text.parse().ok()?,
    };
    Some(CheckedInstance { module, key: InstanceKey::None })
}

/// The module in an address, which is empty for the root, and the name. A name has no dots, whatever a module's key has.
fn named(kind: Kind, text: &str) -> Option<(&str, &str)> {
    let (before, name) = text.rsplit_once('.')?;
    let before = before.strip_suffix(match kind {
        Kind::Output => "output",
        Kind::Check => "check",
        Kind::Var => "var",
        Kind::Resource => return None,
    })?;
    match before {
        "" => Some(("", name)),
        module => Some((module.strip_suffix('.')?, name)),
    }
}
