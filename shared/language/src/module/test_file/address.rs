//! What a run's options and expectations name.

use std::sync::Arc;

use values::address::{InstanceKey, ModuleInstance, ResourceInstance, ResourceMode};

use super::super::address::{AddressOf, Target, parse_target};
use super::OverrideTarget;
use crate::diagnostics::{Checkable, Diagnostic};
use crate::reference::{Reference, Subject};
use crate::source::Span;
use crate::syntax::ast::{IndexKey, Traversal, TraversalStep};

/// What an element of `target` names.
///
/// # Errors
/// Where it is no address.
pub fn parse_targeted(traversal: &Traversal) -> Result<OverrideTarget, Box<Diagnostic>> {
    Ok(match parse_target(traversal, AddressOf::Object)?.target {
        Target::Module(module) => OverrideTarget::Module(module),
        Target::Resource(resource) => OverrideTarget::Resource(resource),
    })
}

/// What an element of `replace` names.
///
/// # Errors
/// Where it is no address of a managed resource's instance.
pub fn parse_replaced(traversal: &Traversal) -> Result<ResourceInstance, Box<Diagnostic>> {
    let refused = |summary: &str, detail: String| {
        Err(Box::new(Diagnostic::error(summary, detail).at(traversal.span())))
    };
    match parse_targeted(traversal)? {
        OverrideTarget::Resource(address) if address.resource.mode == ResourceMode::Managed => {
            Ok(address)
        }
        OverrideTarget::Resource(address) => refused(
            "Can only target managed resources for forced replacements.",
            address.to_string(),
        ),
        OverrideTarget::Module(_) => {
            refused("Invalid address", "A resource address is required here.".to_owned())
        }
    }
}

/// What an element of `expect_failures` names, and where: an instance of a resource, or all of them where it has no
/// key.
///
/// # Errors
/// Where nothing can be expected to fail there.
pub fn parse_expected_failure(
    traversal: &Arc<Traversal>,
) -> Result<(Checkable, Span), Box<Diagnostic>> {
    let reference = Reference::parse_in_test(traversal)?;
    let checkable = match &reference.subject {
        Subject::Variable(name) => Checkable::Variable(name.clone()),
        Subject::Output(name) => Checkable::Output(name.clone()),
        Subject::Resource(resource)
            if resource.mode == ResourceMode::Managed && &*resource.ty == "check" =>
        {
            Checkable::Check(resource.name.clone())
        }
        Subject::Resource(resource) => {
            let key = match reference.remaining().first() {
                Some(TraversalStep::Index { key: IndexKey::String(text), .. }) => {
                    InstanceKey::String(text.clone())
                }
                Some(TraversalStep::Index { key: IndexKey::Number(digits), .. }) => {
                    digits.parse().map_or(InstanceKey::None, InstanceKey::Int)
                }
                _ => InstanceKey::None,
            };
            let module = ModuleInstance::root();
            Checkable::Resource(ResourceInstance { module, resource: resource.clone(), key })
        }
        other => {
            let detail = format!(
                "You cannot expect failures from {other}. You can only expect failures from checkable objects such as input variables, output values, check blocks, managed resources and data sources."
            );
            let error = Diagnostic::error("Invalid `expect_failures` reference", detail);
            return Err(Box::new(error.at(reference.span)));
        }
    };
    Ok((checkable, reference.span))
}
