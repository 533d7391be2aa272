//! What the language has and this engine has not yet: refused, never ignored.

use super::tree::Configuration;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;

fn not_supported(what: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        format!("Not supported yet: {what}"),
        format!(
            "This configuration uses {what}, which cannot be carried out yet. It is refused as a whole, because leaving this out would do something else than what is written."
        ),
    )
    .at(at)
}

/// A module that is not a local path.
pub(super) fn module_source(at: Span) -> Diagnostic {
    not_supported("module sources other than local paths", at)
}

/// Everything that was understood but cannot be carried out.
pub(super) fn refuse(configuration: &Configuration) -> Diagnostics {
    let mut refused = Diagnostics::new();
    let mut refuse = |what: &str, at: Span| refused.push(not_supported(what, at));
    for node in configuration.modules() {
        let module = &node.module;
        for resource in module.resources.values() {
            if let Some(connection) = &resource.connection {
                refuse("connection blocks", connection.span);
            }
            for provisioner in &resource.provisioners {
                refuse("provisioners", provisioner.span);
            }
        }
        for removed in &module.removed {
            for provisioner in &removed.provisioners {
                refuse("provisioners", provisioner.span);
            }
        }
    }
    refused
}
