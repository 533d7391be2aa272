//! What `ignore_changes` names, in terms of a resource type's schema.

use crate::declared::Declared;
use crate::evaluation::{EvalContext, unsupported};
use crate::object_change::all_configurable;
use language::diagnostics::Diagnostic;
use language::module::IgnoreChanges;
use language::syntax::ast::{IndexKey, TraversalStep};
use values::schema::{AttributeType, Block};
use values::{Path, PathStep, Type, Value};

/// Whether the resource type has all that its block wants ignored; what it has not is reported.
pub(super) fn check(context: &EvalContext, declared: &Declared) -> bool {
    let Some(block) = declared.block() else { return true };
    let IgnoreChanges::Paths(paths) = &block.lifecycle.ignore_changes else { return true };
    let schema = &declared.schema.block;
    let wrong = paths.iter().filter_map(|path| {
        let refused = refused(&path.steps, schema);
        refused.or_else(|| {
            let name = redundant(&path.steps, schema)?;
            Some(Diagnostic::warning(
                "Redundant ignore_changes element",
                format!(
                    "The provider alone decides about {name}: no configuration can set it, so that there are no changes of configuration to ignore. Take it out of ignore_changes."
                ),
            ).at(block.span))
        })
    });
    !context.report(wrong.collect::<Vec<_>>())
}

/// The attribute that is meant, where no configuration could set it.
fn redundant<'s>(steps: &'s [TraversalStep], schema: &Block) -> Option<&'s str> {
    let [TraversalStep::Attribute { name, .. }] = steps else { return None };
    let attribute = schema.attributes.get(name)?;
    (attribute.computed && !attribute.optional).then_some(&**name)
}

fn refused(steps: &[TraversalStep], schema: &Block) -> Option<Diagnostic> {
    let (TraversalStep::Attribute { name, span }, rest) = steps.split_first()? else { return None };
    let unknown = unsupported(name, *span, schema.attributes.keys().chain(schema.blocks.keys()));
    if unknown.is_some() {
        return unknown;
    }
    let AttributeType::Plain(ty) = &schema.attributes.get(name)?.ty else { return None };
    match rest.first()? {
        TraversalStep::Attribute { span, .. } if ty.is_primitive() => {
            let ty = ty.friendly_name();
            let detail = format!("Can't access attributes on a primitive-typed value ({ty}).");
            Some(Diagnostic::error("Unsupported attribute", detail).at(*span))
        }
        _ => None,
    }
}

/// The paths whose configuration gives way to the prior object.
pub fn ignored_paths(ignore: &IgnoreChanges, schema: &Block, prior: &Value) -> Vec<Path> {
    match ignore {
        _ if prior.is_null() => Vec::new(),
        IgnoreChanges::None => Vec::new(),
        IgnoreChanges::All => all_configurable(schema),
        IgnoreChanges::Paths(paths) => {
            let ty = schema.implied_type();
            paths.iter().filter_map(|path| typed_path(&path.steps, &ty)).collect()
        }
    }
}

/// A traversal as a path. As in Terraform, `.k` names an attribute alone: in a map it leads nowhere.
fn typed_path(steps: &[TraversalStep], ty: &Type) -> Option<Path> {
    let mut path = Vec::new();
    let mut ty = ty.clone();
    for step in steps {
        let (step, next) = match (step, &ty) {
            (TraversalStep::Attribute { .. }, Type::Map(_)) => return None,
            (TraversalStep::Attribute { name, .. }, Type::Object(object)) => {
                (PathStep::Attribute(name.clone()), object.attributes.get(name)?.clone())
            }
            (TraversalStep::Index { key: IndexKey::String(name), .. }, Type::Map(element)) => {
                (PathStep::Key(name.clone()), (**element).clone())
            }
            (TraversalStep::Index { key: IndexKey::String(name), .. }, Type::Object(object)) => {
                (PathStep::Key(name.clone()), object.attributes.get(name)?.clone())
            }
            (TraversalStep::Index { key: IndexKey::Number(n), .. }, _) => {
                let element = match &ty {
                    Type::List(element) => (**element).clone(),
                    _ => Type::Dynamic,
                };
                (PathStep::Index(n.parse().ok()?), element)
            }
            (TraversalStep::Attribute { name, .. }, _) => {
                (PathStep::Attribute(name.clone()), Type::Dynamic)
            }
            (TraversalStep::Index { key: IndexKey::String(name), .. }, _) => {
                (PathStep::Key(name.clone()), Type::Dynamic)
            }
            (TraversalStep::Index { .. } | TraversalStep::Splat { .. }, _) => return None,
        };
        path.push(step);
        ty = next;
    }
    Some(Path(path))
}
