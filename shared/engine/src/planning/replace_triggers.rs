//! `replace_triggered_by`: whether what it names is about to change.

use super::PlanWalk;
use crate::changes::Action;
use crate::declared::Declared;
use crate::evaluation::{EvalContext, Operation, Reader, RepetitionData, unsupported_attribute};
use language::diagnostics::Diagnostic;
use language::reads::{Extent, Read, ReadLog, ReadStep};
use language::reference::{Reference, Subject, references_in};
use language::syntax::ast::{Expression, ExpressionKind, IndexKey, TraversalStep};
use values::address::{AbsoluteResource, InstanceKey, ResourceInstance};
use values::{Path, PathStep};

/// Whether what triggers a replacement exists in its schema; what does not is reported.
pub(super) fn check(context: &EvalContext, declared: &Declared) -> bool {
    let Some(block) = declared.block() else { return true };
    let unsupported = block.lifecycle.replace_triggered_by.iter().filter_map(|expression| {
        let (base, key, rest) = peel(expression);
        if !matches!(base.kind, ExpressionKind::ScopeTraversal(_))
            && context.operation != Operation::Validate
        {
            let refused = Diagnostic::error(
                "Invalid replace_triggered_by expression",
                "Unexpected expression found in replace_triggered_by.",
            );
            return Some(refused.at(expression.span));
        }
        let reference = references_in(base).into_iter().next()?.ok()?;
        let Subject::Resource(resource) = &reference.subject else { return None };
        let steps = match key {
            Some(_) => rest,
            None => reference.remaining(),
        };
        unsupported_attribute(context, &declared.node, resource, steps)
    });
    !context.report(unsupported.collect::<Vec<_>>())
}

/// `None` after an error.
pub(crate) fn triggered(
    walk: &PlanWalk,
    declared: &Declared,
    address: &ResourceInstance,
    data: &RepetitionData,
) -> Option<bool> {
    let mut any = false;
    for expression in &declared.block()?.lifecycle.replace_triggered_by {
        any |= triggered_by(walk, address, data, expression)?;
    }
    Some(any)
}

fn triggered_by(
    walk: &PlanWalk,
    address: &ResourceInstance,
    data: &RepetitionData,
    expression: &Expression,
) -> Option<bool> {
    let (reference, computed_key, rest) = match resolve(walk, address, data, expression) {
        Ok(resolved) => resolved,
        Err(diagnostic) => {
            walk.fail(address, *diagnostic);
            return None;
        }
    };
    let Subject::Resource(resource) = &reference.subject else { return Some(false) };
    note_read(walk, address, &reference, computed_key.as_ref(), &rest);
    let resource = resource.absolute(&address.module);
    let (key, path) = match computed_key {
        Some(key) => (Some(key), rest),
        None => split_key(walk, &resource, &rest),
    };
    let instances: Vec<ResourceInstance> = match key {
        Some(key) => vec![resource.instance(key)],
        None => {
            let expansion = walk.context.working.expansion(&resource)?;
            expansion.keys().into_iter().map(|key| resource.instance(key)).collect()
        }
    };
    Some(instances.iter().any(|instance| {
        let Some(change) = walk.outcome.planned(instance) else { return false };
        // What is made or deleted has not changed: it was not there before, or is not there afterwards.
        if change.action != Action::Update && !change.action.is_replace() {
            return false;
        }
        if path.is_root() {
            return true;
        }
        match (path.get(&change.before), path.get(&change.after)) {
            (Some(b), Some(a)) => !a.is_wholly_known() || a.unmark_deep() != b.unmark_deep(),
            (None, None) => false,
            _ => true,
        }
    }))
}

/// Keeps that the instance looked at what triggers its replacement.
fn note_read(
    walk: &PlanWalk,
    address: &ResourceInstance,
    reference: &Reference,
    key: Option<&InstanceKey>,
    rest: &Path,
) {
    let key = key.and_then(|key| match key {
        InstanceKey::None => None,
        InstanceKey::Int(index) => Some(ReadStep::Index(*index)),
        InstanceKey::String(key) => Some(ReadStep::Name(key.clone())),
    });
    let steps = rest.0.iter().filter_map(|step| match step {
        PathStep::Attribute(name) | PathStep::Key(name) => Some(ReadStep::Name(name.clone())),
        PathStep::Index(index) => Some(ReadStep::Index(*index as u64)),
        PathStep::Element(_) => None,
    });
    let mut log = ReadLog::new();
    log.push(Read {
        subject: reference.subject.clone(),
        path: key.into_iter().chain(steps).collect(),
        extent: Extent::Value,
        span: reference.span,
    });
    walk.context.logs.add(&Reader::Instance(address.clone()), log);
}

/// The reference, an instance key that had to be evaluated, and the static rest.
type Resolved = (Reference, Option<InstanceKey>, Path);

fn resolve(
    walk: &PlanWalk,
    address: &ResourceInstance,
    data: &RepetitionData,
    expression: &Expression,
) -> Result<Resolved, Box<Diagnostic>> {
    let invalid = || {
        Box::new(
            Diagnostic::error(
                "Invalid reference in replace_triggered_by expression",
                "Only references to resources, count.index and each.key are allowed in replace_triggered_by.",
            )
            .at(expression.span),
        )
    };
    // aws_x.y[count.index].z: the index is evaluated, the rest is static.
    let (base, key, rest) = peel(expression);
    let reference = references_in(base).into_iter().next().ok_or_else(invalid)?;
    let reference = reference?;
    let key = match key {
        None => None,
        Some(key) => {
            let reader = Reader::Instance(address.clone());
            let value = walk
                .context
                .evaluate_for(&reader, &address.module, data, None, |e| e.expression(key))
                .ok_or_else(invalid)?;
            match (value.as_number().and_then(|n| n.to_u64()), value.as_str()) {
                (Some(n), _) => Some(InstanceKey::Int(n)),
                (None, Some(s)) => Some(InstanceKey::String(s.into())),
                _ => return Err(invalid()),
            }
        }
    };
    let steps = match key {
        Some(_) => rest.to_vec(),
        None => reference.remaining().to_vec(),
    };
    let path = steps_to_path(&steps);
    Ok((reference, key, path))
}

fn peel(expression: &Expression) -> (&Expression, Option<&Expression>, &[TraversalStep]) {
    match &expression.kind {
        ExpressionKind::Index(index) => (&index.collection, Some(&index.key), &[]),
        ExpressionKind::RelativeTraversal(relative) => {
            let (base, key, _) = peel(&relative.source);
            (base, key, &relative.steps)
        }
        _ => (expression, None, &[]),
    }
}

fn steps_to_path(steps: &[TraversalStep]) -> Path {
    Path(
        steps
            .iter()
            .filter_map(|step| match step {
                TraversalStep::Attribute { name, .. } => Some(PathStep::Attribute(name.clone())),
                TraversalStep::Index { key: IndexKey::String(name), .. } => {
                    Some(PathStep::Key(name.clone()))
                }
                TraversalStep::Index { key: IndexKey::Number(n), .. } => {
                    n.parse().ok().map(PathStep::Index)
                }
                TraversalStep::Index { .. } | TraversalStep::Splat { .. } => None,
            })
            .collect(),
    )
}

/// Takes the instance key off the front of a path, where the resource has several instances.
fn split_key(
    walk: &PlanWalk,
    resource: &AbsoluteResource,
    path: &Path,
) -> (Option<InstanceKey>, Path) {
    let several = walk
        .context
        .working
        .expansion(resource)
        .is_some_and(|expansion| !expansion.contains(&InstanceKey::None));
    match (several, path.0.split_first()) {
        (true, Some((PathStep::Index(i), rest))) => {
            (Some(InstanceKey::Int(*i as u64)), Path(rest.to_vec()))
        }
        (true, Some((PathStep::Key(k), rest))) => {
            (Some(InstanceKey::String(k.clone())), Path(rest.to_vec()))
        }
        (true, _) => (None, path.clone()),
        (false, _) => (Some(InstanceKey::None), path.clone()),
    }
}
