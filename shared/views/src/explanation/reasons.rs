//! Why, in sentences: the reason of an action, and what is checked before it is carried out.

use super::ExplainedAttribute;
use super::origins::{Scope, fates, repetition_expression};
use super::scene::Scene;
use engine::changes::{Action, ActionReason, ResourceInstanceChange};
use engine::plan::PlanMode;
use engine::reads::LookedAt;
use engine::verdict::Stage;
use language::reference::Reference;
use values::address::{InstanceKey, ModuleInstance, ResourceInstance, ResourceMode};

/// How many names a sentence holds.
const NAMED: usize = 6;

/// Why an instance is changed as it is, or not at all.
pub(super) fn because(
    scene: &Scene<'_>,
    address: &ResourceInstance,
    change: Option<&ResourceInstanceChange>,
    attributes: &[ExplainedAttribute],
) -> Vec<String> {
    let mut said = Vec::new();
    match change {
        None => not_planned(scene, address, &mut said),
        Some(_) if scene.saved.plan.mode == PlanMode::RefreshOnly => said.push(
            "the plan is to bring the records up to the world, and this is how the object is found there"
                .to_owned(),
        ),
        Some(change) => match change.action {
            Action::NoOp => unchanged(scene, change, &mut said),
            Action::Create => created(scene, change, &mut said),
            Action::Read => read(scene, change, &mut said),
            Action::Update => said.push(differs(attributes, "the object differs from the configuration in")),
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                replaced(scene, change, attributes, &mut said);
            }
            Action::Delete => deleted(scene, change, &mut said),
            Action::Forget => said.push(
                "the configuration has it no more, and a removed block says to leave the object alone"
                    .to_owned(),
            ),
        },
    }
    if let Some(change) = change {
        if change.action == Action::NoOp {
            said.extend(change.previous_address.as_ref().filter(|from| *from != address).map(|_| {
                "a moved block, or what count and for_each have become, gives its object another address".to_owned()
            }));
        } else {
            moved(change, &mut said);
        }
        if let Some(id) = scene.saved.plan.imports.get(address) {
            said.push(format!("an import block takes over the existing object {id:?}"));
        }
        let outside = attributes.iter().filter(|attribute| attribute.outside.is_some()).count();
        if outside > 0 && change.action != Action::NoOp {
            said.push(format!(
                "{} changed outside of this configuration since the object was recorded",
                parts(outside)
            ));
        }
    }
    for other in scene.saved.plan.changes.resources.iter().filter(|c| c.address == *address) {
        let fate = match other.action {
            Action::Delete => "deleted",
            Action::Forget => "forgotten",
            _ => continue,
        };
        if let Some(key) = &other.deposed {
            said.push(format!(
                "its deposed object {key}, which an earlier replacement left behind, will be {fate}"
            ));
        }
    }
    said
}

fn parts(count: usize) -> String {
    match count {
        1 => "one of these attributes was".to_owned(),
        count => format!("{count} of these attributes were"),
    }
}

fn moved(change: &ResourceInstanceChange, said: &mut Vec<String>) {
    if let Some(from) = change.previous_address.as_ref().filter(|from| **from != change.address) {
        said.push(format!("it is recorded as {from}, and moves here"));
    }
}

fn not_planned(scene: &Scene<'_>, address: &ResourceInstance, said: &mut Vec<String>) {
    let plan = &scene.saved.plan;
    let block = scene.block(&address.config());
    let recorded = plan.prior.instances.contains_key(address);
    if plan.mode == PlanMode::RefreshOnly {
        said.push(
            "the plan is only to bring the records up to the world, and it is as recorded".into(),
        );
    } else if plan.targeted {
        said.push("the plan is restricted by -target, and this was left out".into());
    } else if address.resource.mode == ResourceMode::Data {
        said.push("it is a data source, and was read while planning".into());
    } else if address.resource.mode == ResourceMode::Ephemeral {
        said.push(
            "it is an ephemeral resource: opened and closed by each run, and never recorded".into(),
        );
    } else if let Some(block) = block.filter(|_| !recorded) {
        match repetition_expression(&block.repetition) {
            Some(expression) => said.push(format!(
                "it is declared, and its {} gives no such instance ({})",
                if block.count().is_some() { "count" } else { "for_each" },
                scene.place(expression.span)
            )),
            None => said.push("its module has no instance here".into()),
        }
    } else {
        said.push("nothing that is planned concerns it".into());
    }
}

fn unchanged(scene: &Scene<'_>, change: &ResourceInstanceChange, said: &mut Vec<String>) {
    if change.previous_address.as_ref().is_some_and(|from| *from != change.address) {
        return;
    }
    said.push(match scene.drift(&change.address) {
        Some(_) => {
            "it was changed outside of this configuration, in nothing that the configuration says \
                    otherwise"
                .to_owned()
        }
        None => "the object is as the configuration has it".to_owned(),
    });
}

fn created(scene: &Scene<'_>, change: &ResourceInstanceChange, said: &mut Vec<String>) {
    let gone = scene.drift(&change.address).is_some_and(|drift| drift.action == Action::Delete);
    if gone {
        return said.push(
            "its object is recorded, and exists no more: it was deleted outside of this configuration".into(),
        );
    }
    if !scene.saved.plan.imports.contains_key(&change.address) {
        said.push("the configuration has it, and no object of it is recorded".to_owned());
    }
}

fn read(scene: &Scene<'_>, change: &ResourceInstanceChange, said: &mut Vec<String>) {
    let address = &change.address;
    let resource = address.config();
    match change.reason {
        Some(ActionReason::ReadBecauseDependencyPending) => {
            let scope = Scope::of(&address.module, &address.resource);
            let references = scene
                .block(&resource)
                .into_iter()
                .flat_map(|block| block.depends_on.iter().map(Reference::parse))
                .collect();
            let mut names = named_fates(scene, &scope, references);
            names.extend(calls_that_wait(scene, &address.module));
            said.push(match names.is_empty() {
                true => "depends_on names something that changes first".to_owned(),
                false => format!("it depends_on what changes first: {}", listed(&names)),
            });
        }
        Some(ActionReason::ReadBecauseCheckNested) => {
            said.push("it belongs to a check block, and is read again once all is applied".into());
        }
        _ => {
            said.push("its configuration is not known before something else is applied".to_owned())
        }
    }
}

/// What the depends_on of the modules around a resource name that changes.
fn calls_that_wait(scene: &Scene<'_>, module: &ModuleInstance) -> Vec<String> {
    let mut found = Vec::new();
    let mut module = module.clone();
    while let (Some(step), Some(caller)) = (module.0.last().cloned(), module.parent()) {
        let call = scene.module(&caller.path()).and_then(|m| m.module_calls.get(&step.name));
        if let Some(call) = call {
            let references = call.depends_on.iter().map(Reference::parse).collect();
            found.extend(named_fates(scene, &Scope::module(&caller), references));
        }
        module = caller;
    }
    found
}

type References = Vec<Result<Reference, Box<language::diagnostics::Diagnostic>>>;

fn named_fates(scene: &Scene<'_>, scope: &Scope, references: References) -> Vec<String> {
    let origins = scene.trace(scope, references);
    let changing = fates(&origins).into_iter().filter(|(_, fate)| !fate.outside);
    let mut names: Vec<String> = changing.map(|(_, fate)| fate.address.to_string()).collect();
    names.sort();
    names.dedup();
    names
}

fn replaced(
    scene: &Scene<'_>,
    change: &ResourceInstanceChange,
    attributes: &[ExplainedAttribute],
    said: &mut Vec<String>,
) {
    let address = &change.address;
    match change.reason {
        Some(ActionReason::ReplaceBecauseTainted) => said.push(
            "its object is tainted: it was not made whole, or somebody said so with \"plumb taint\"".into(),
        ),
        Some(ActionReason::ReplaceByRequest) => said.push("-replace asked for it".to_owned()),
        Some(ActionReason::ReplaceByTriggers) => {
            let scope = Scope::of(&address.module, &address.resource);
            let triggers = scene.block(&address.config()).map(|b| &b.lifecycle.replace_triggered_by);
            let references = triggers
                .into_iter()
                .flatten()
                .flat_map(language::reference::references_in)
                .collect();
            let names = named_fates(scene, &scope, references);
            said.push(match names.is_empty() {
                true => "replace_triggered_by names something that changes".to_owned(),
                false => format!("replace_triggered_by names what changes: {}", listed(&names)),
            });
        }
        _ => {
            let forced = attributes.iter().filter(|a| a.difference.forces_replacement);
            let names: Vec<String> = forced.map(name).collect();
            said.push(match names.is_empty() {
                true => "the provider cannot change it in place".to_owned(),
                false => format!("the provider cannot change in place: {}", listed(&names)),
            });
        }
    }
    let order = match change.action {
        Action::CreateThenDelete => {
            "the new object is created before the old one is deleted (create_before_destroy)"
        }
        _ => "the old object is deleted before the new one is created",
    };
    said.push(order.to_owned());
}

fn deleted(scene: &Scene<'_>, change: &ResourceInstanceChange, said: &mut Vec<String>) {
    let address = &change.address;
    let repetition = scene.block(&address.config()).map(|block| &block.repetition);
    let place = repetition
        .and_then(repetition_expression)
        .map(|expression| format!(" ({})", scene.place(expression.span)))
        .unwrap_or_default();
    said.push(match change.reason {
        Some(ActionReason::DeleteBecauseNoResourceConfig) => {
            format!("{} is not in the configuration", address.containing())
        }
        Some(ActionReason::DeleteBecauseNoModule) => {
            format!("{} is not in the configuration", address.module)
        }
        Some(ActionReason::DeleteBecauseWrongRepetition) => match address.key {
            InstanceKey::None => format!("the resource has count or for_each now{place}"),
            InstanceKey::Int(_) => format!("the resource does not use count{place}"),
            InstanceKey::String(_) => format!("the resource does not use for_each{place}"),
        },
        Some(ActionReason::DeleteBecauseCountIndex) => {
            format!("the index {} is beyond count{place}", address.key)
        }
        Some(ActionReason::DeleteBecauseEachKey) => {
            format!("the key {} is not in for_each{place}", address.key)
        }
        Some(ActionReason::DeleteBecauseNoMoveTarget) => {
            format!("it was moved to {address}, which is not in the configuration")
        }
        _ if scene.saved.plan.mode == PlanMode::Destroy => "the plan is to destroy".to_owned(),
        _ => "the configuration has it no more".to_owned(),
    });
}

fn name(attribute: &ExplainedAttribute) -> String {
    attribute.difference.path.to_string().trim_start_matches('.').to_owned()
}

fn differs(attributes: &[ExplainedAttribute], what: &str) -> String {
    let configured = attributes.iter().filter(|a| a.decided != Some("decided by the provider"));
    let mut names: Vec<String> = configured.map(name).collect();
    if names.is_empty() {
        names = attributes.iter().map(name).collect();
    }
    match names.is_empty() {
        true => "what is sensitive in it changes, or what the provider keeps".to_owned(),
        false => format!("{what} {}", listed(&names)),
    }
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len() > NAMED {
        true => format!("{shown} and {} more", names.len() - NAMED),
        false => shown,
    }
}

/// What the stages will compare of an instance before anything is applied.
pub(super) fn checks(scene: &Scene<'_>, address: &ResourceInstance) -> Vec<(Stage, String)> {
    let saved = scene.saved;
    let (written, read) = (saved.write_set.get(address), saved.read_set.get(address));
    let Some(member) = written.or(read) else { return Vec::new() };
    let managed = address.resource.mode == ResourceMode::Managed;
    let mut checks = Vec::new();
    if written.is_some() || managed {
        let record = match member.revision.0.is_empty() {
            true => "that nobody has recorded an object of it meanwhile".to_owned(),
            false => format!("that its record is still at revision {}", member.revision.0),
        };
        checks.push((Stage::Records, record));
    }
    let compared = member.looked_at.is_compared();
    if saved.plan.refreshed.contains_key(address) && (written.is_some() || compared) {
        let what = match (&member.looked_at, written) {
            (_, Some(_)) | (LookedAt::Whole, None) => {
                "that the object is as it was read".to_owned()
            }
            (LookedAt::Paths(paths), None) if paths.is_empty() => {
                "that the object exists".to_owned()
            }
            (LookedAt::Paths(paths), None) => {
                let names: Vec<String> = paths
                    .iter()
                    .map(|read| read.path.to_string().trim_start_matches('.').to_owned())
                    .collect();
                format!("that what the plan looked at is as it was read: {}", listed(&names))
            }
            (LookedAt::Configuring(_), None) => return checks,
        };
        checks.push((Stage::Resources, what));
    }
    checks
}
