//! What is told of a plan.

use super::{
    ChangeReport, Counts, Danger, OutputReport, PlanKind, PlanReport, ResourceReport, stateful,
};
use crate::diff::{Change, Diff, Paths, of_block, of_dynamic};
use crate::plan_text::because;
use crate::plan_view::{PlanView, is_moved, output_difference};
use crate::value_json::known;
use engine::changes::{Action, ActionReason, ResourceInstanceChange};
use engine::plan::PlanMode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{ConfigResource, ResourceMode};
use values::schema::Block;
use values::{Path, Value};

impl PlanReport {
    /// Of a plan.
    pub fn new(view: &PlanView<'_>) -> PlanReport {
        let interesting = |c: &&ResourceInstanceChange| {
            c.action != Action::NoOp || is_moved(c) || view.import(c).is_some()
        };
        let changes: Vec<_> = view.changes().into_iter().filter(interesting).collect();
        let (resources, positions) = resources(&changes);
        let refresh_only = view.plan.mode == PlanMode::RefreshOnly;
        let drift = view.drift().into_iter().filter_map(|change| {
            let relevant = view.relevant_paths(&change.address);
            let quiet = change.action == Action::NoOp && !is_moved(change);
            if quiet || !relevant.leads_here() {
                return None;
            }
            let diff = difference(view, change, relevant);
            (refresh_only || diff.action != Action::NoOp)
                .then(|| report(view, change, &diff, Danger::None))
        });
        let mut counts = Counts::default();
        let change = |change: &&ResourceInstanceChange| {
            count(&mut counts, view, change);
            let diff = difference(view, change, Paths::All);
            let holds = holds(change).is_some();
            let danger = Danger::of(change.action, holds, change.deposed.is_some());
            ChangeReport {
                resource: positions.get(&change.address.config()).copied(),
                ..report(view, change, &diff, danger)
            }
        };
        PlanReport {
            id: None,
            kind: match view.plan.mode {
                PlanMode::Normal => PlanKind::Normal,
                PlanMode::Destroy => PlanKind::Destroy,
                PlanMode::RefreshOnly => PlanKind::RefreshOnly,
            },
            made: view.plan.timestamp,
            expires: None,
            complete: view.plan.complete,
            targeted: view.targeted,
            changes: changes.iter().map(change).collect(),
            counts,
            drift: drift.collect(),
            outputs: outputs(view),
            resources,
        }
    }
}

impl OutputReport {
    /// The outputs as they are, sensitive ones without their values.
    pub fn current(outputs: &BTreeMap<Arc<str>, Value>) -> Vec<OutputReport> {
        let report = |(name, value): (&Arc<str>, &Value)| {
            // Something sensitive inside makes the whole so, as for outputs of a plan.
            let sensitive = value.deep_marks().is_sensitive();
            let change = Change::shown(known(value), crate::json::Json::Bool(sensitive));
            OutputReport { name: name.to_string(), rows: of_dynamic(&change).rows("", true) }
        };
        outputs.iter().map(report).collect()
    }
}

fn difference(view: &PlanView<'_>, change: &ResourceInstanceChange, relevant: Paths) -> Diff {
    let difference = view.difference(change, relevant);
    match view.block(change) {
        Some(block) => of_block(&difference, block),
        None => of_block(&difference, &Block::default()),
    }
}

fn holds(change: &ResourceInstanceChange) -> Option<&'static str> {
    let resource = &change.address.resource;
    (resource.mode == ResourceMode::Managed).then(|| stateful(&resource.ty)).flatten()
}

fn report(
    view: &PlanView<'_>,
    change: &ResourceInstanceChange,
    diff: &Diff,
    danger: Danger,
) -> ChangeReport {
    let (address, resource) = (&change.address, &change.address.resource);
    let import = view.import(change);
    let moved = change.previous_address.as_ref().filter(|_| is_moved(change));
    ChangeReport {
        address: address.to_string(),
        module: address.module.to_string(),
        ty: resource.ty.to_string(),
        data: resource.mode == ResourceMode::Data,
        action: change.action,
        moved_from: moved.map(ToString::to_string),
        deposed: change.deposed.as_ref().map(ToString::to_string),
        imported: import.map(|import| import.id.clone().unwrap_or_default()),
        reason: reason(change),
        danger,
        holds: holds(change).map(str::to_owned),
        resource: None,
        rows: diff.rows("", import.is_some()),
    }
}

fn count(counts: &mut Counts, view: &PlanView<'_>, change: &ResourceInstanceChange) {
    let import = view.import(change).is_some();
    counts.import += usize::from(import);
    match change.action {
        Action::NoOp => counts.moved += usize::from(!import),
        Action::Create => counts.create += 1,
        Action::Read => counts.read += 1,
        Action::Update => counts.update += 1,
        Action::DeleteThenCreate | Action::CreateThenDelete => counts.replace += 1,
        Action::Delete => counts.destroy += 1,
        Action::Forget => counts.forget += 1,
    }
}

/// Why, in a few words.
fn reason(change: &ResourceInstanceChange) -> Option<String> {
    if change.deposed.is_some() {
        return Some("left over from a replacement that failed half way".to_owned());
    }
    match (change.action, change.reason) {
        (Action::Forget, _) => Some("dropped from the records, and not destroyed".to_owned()),
        (_, Some(ActionReason::ReplaceBecauseTainted)) => Some("it is tainted".to_owned()),
        (_, Some(ActionReason::ReplaceByRequest)) => Some("as requested".to_owned()),
        (_, Some(ActionReason::ReplaceByTriggers)) => {
            Some("because of what replace_triggered_by names".to_owned())
        }
        (action, _) if action.is_replace() => cannot_update(&change.requires_replace),
        (_, Some(reason)) => because(change, reason),
        (_, None) => None,
    }
}

fn cannot_update(paths: &[Path]) -> Option<String> {
    const NAMED: usize = 3;
    let named: BTreeSet<String> =
        paths.iter().map(|path| path.to_string().trim_start_matches('.').to_owned()).collect();
    let rest = named.len().saturating_sub(NAMED);
    let mut shown: Vec<String> = named.into_iter().take(NAMED).collect();
    if rest > 0 {
        shown.push(format!("{rest} more"));
    }
    let last = shown.pop()?;
    let names = match shown.is_empty() {
        true => last,
        false => format!("{} and {last}", shown.join(", ")),
    };
    Some(format!("{names} cannot be changed in place"))
}

fn outputs(view: &PlanView<'_>) -> Vec<OutputReport> {
    let changed = view.plan.changes.outputs.iter().filter(|(_, o)| o.action != Action::NoOp);
    let report = |(name, output): (&Arc<str>, &engine::changes::OutputChange)| {
        let diff = of_dynamic(&output_difference(output));
        let report = OutputReport { name: name.to_string(), rows: diff.rows("", false) };
        (diff.action != Action::NoOp).then_some(report)
    };
    changed.filter_map(report).collect()
}

/// The resources that change, with what each refers to among them.
fn resources(
    changes: &[&ResourceInstanceChange],
) -> (Vec<ResourceReport>, BTreeMap<ConfigResource, usize>) {
    let mut depends = BTreeMap::<ConfigResource, BTreeSet<&ConfigResource>>::new();
    let mut last: Option<(ConfigResource, &Arc<[ConfigResource]>)> = None;
    for change in changes {
        let resource = change.address.config();
        // Instances of one resource stand together, and mostly share what they depend on.
        let same = |(before, dependencies): &(ConfigResource, &Arc<[ConfigResource]>)| {
            *before == resource && Arc::ptr_eq(dependencies, &change.dependencies)
        };
        if last.as_ref().is_some_and(same) {
            continue;
        }
        depends.entry(resource.clone()).or_default().extend(change.dependencies.iter());
        last = Some((resource, &change.dependencies));
    }
    let positions: BTreeMap<ConfigResource, usize> =
        depends.keys().enumerate().map(|(i, resource)| (resource.clone(), i)).collect();
    let report = |(resource, on): (&ConfigResource, &BTreeSet<&ConfigResource>)| {
        let own = positions.get(resource);
        let on = on.iter().filter_map(|on| positions.get(*on));
        ResourceReport {
            address: resource.to_string(),
            module: resource.module.to_string(),
            depends_on: on.filter(|on| Some(*on) != own).copied().collect(),
        }
    };
    (depends.iter().map(report).collect(), positions)
}
