//! What the language has and this engine has not yet: refused, never ignored.

use values::address::ResourceMode;

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

/// Everything that was understood but cannot be carried out.
pub(super) fn refuse(configuration: &Configuration) -> Diagnostics {
    let mut refused = Diagnostics::new();
    let mut refuse = |what: &str, at: Span| refused.push(not_supported(what, at));
    for node in configuration.modules() {
        let module = &node.module;
        for resource in module.resources.values() {
            if resource.address.mode == ResourceMode::Ephemeral {
                refuse("ephemeral resources", resource.span);
            }
        }
        for import in module.imports.iter().filter(|import| import.provider.is_some()) {
            refuse(
                "providers of import blocks, which are for generated configuration",
                import.span,
            );
        }
        for meta in module.settings.provider_metas.values() {
            refuse("provider_meta blocks", meta.span);
        }
    }
    refused
}
