//! Whether provisioners can be carried out as they are written.

use super::schemas::{CONNECTION, FILE, REMOTE_EXEC, schema};
use crate::evaluation::{EvalContext, RepetitionData};
use crate::plan::PlanMode;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::{Configuration, Provisioner, ProvisionerWhen, ResourceBlock};
use language::reference::{Subject, references_in};
use std::collections::BTreeSet;
use values::Value;
use values::address::ModuleInstance;

/// Provisioners of resources that nobody offers.
pub(crate) fn unavailable(configuration: &Configuration) -> Diagnostics {
    let blocks = configuration.modules().flat_map(|node| node.module.resources.values());
    let all = blocks.flat_map(|block| &block.provisioners);
    let missing: BTreeSet<&str> =
        all.map(|p| &*p.kind).filter(|kind| schema(kind).is_none()).collect();
    missing.into_iter().map(not_available).collect()
}

fn not_available(kind: &str) -> Diagnostic {
    Diagnostic::error(
        "Missing required provisioner plugin",
        format!(
            "This configuration requires provisioner plugin {kind:?}, which isn't available. The only provisioner that can be run is \"local-exec\"; external provisioner plugins are not supported."
        ),
    )
}

/// Provisioners that a plan in this mode may come to and that cannot be run: refused before anything is planned, since an
/// object without them would be another one than the configuration says.
pub(crate) fn unsupported(configuration: &Configuration, mode: PlanMode) -> Diagnostics {
    let may_run = |p: &&Provisioner| match mode {
        PlanMode::Normal => true,
        PlanMode::Destroy => p.when == ProvisionerWhen::Destroy,
        PlanMode::RefreshOnly => false,
    };
    let refused = |provisioner: &Provisioner| match &*provisioner.kind {
        kind @ (FILE | REMOTE_EXEC) => Some(not_supported(kind)),
        kind if schema(kind).is_none() => Some(not_available(kind)),
        _ => None,
    };
    let all = configuration.modules().flat_map(|node| {
        let module = &node.module;
        let declared = module.resources.values().flat_map(|block| &block.provisioners);
        declared.chain(module.removed.iter().flat_map(|removed| &removed.provisioners))
    });
    let refused = all.filter(may_run).filter_map(|p| Some(refused(p)?.at(p.kind_span)));
    let mut refused: Diagnostics = refused.collect();
    if mode == PlanMode::Normal {
        let blocks = configuration.modules().flat_map(|node| node.module.resources.values());
        refused.extend(blocks.flat_map(referring_to_themselves));
    }
    refused
}

/// What provisioners of a create refer to their own resource by: it has no value before they have run.
fn referring_to_themselves(block: &ResourceBlock) -> Vec<Diagnostic> {
    let created = block.provisioners.iter().filter(|p| p.when == ProvisionerWhen::Create);
    let references = created
        .flat_map(|p| &p.config.attributes)
        .flat_map(|attribute| references_in(&attribute.expression).into_iter().flatten());
    let own = references.filter(
        |r| matches!(&r.subject, Subject::Resource(resource) if *resource == block.address),
    );
    let detail = format!(
        "Provisioners run before {} can be referred to by its name. Use \"self\", which is the object that they run on.",
        block.address
    );
    own.map(|reference| {
        Diagnostic::error("Self-referential block", detail.clone()).at(reference.span)
    })
    .collect()
}

fn not_supported(kind: &str) -> Diagnostic {
    Diagnostic::error(
        format!("Not supported: the {kind:?} provisioner"),
        format!(
            "This configuration uses the {kind:?} provisioner, which works through a connection to another machine and is not supported. It is refused as a whole, because leaving this out would do something else than what is written. Use \"local-exec\", or what the provider offers for preparing a machine."
        ),
    )
}

/// Checks the provisioners of a resource as far as that is possible before anything is planned; after the first with
/// errors, no other is looked at. `this` is `self`.
pub(crate) fn validate(
    context: &EvalContext,
    module: &ModuleInstance,
    data: &RepetitionData,
    block: &ResourceBlock,
    this: &Value,
) -> bool {
    block.provisioners.iter().all(|provisioner| {
        let Some(schema) = schema(&provisioner.kind) else { return false };
        let this = || Some(this.clone());
        let config = context.evaluate(module, data, this(), |evaluation| {
            evaluation.body(&provisioner.config, schema)
        });
        let mut ok = match &config {
            Some(config) => !context.report(contradiction(&provisioner.kind, config)),
            None => false,
        };
        if let Some(connection) = provisioner.connection_within(block.connection.as_ref()) {
            let connected = context.evaluate(module, data, this(), |evaluation| {
                evaluation.body(&connection, &CONNECTION)
            });
            ok &= connected.is_some();
        }
        ok
    })
}

/// Arguments that exclude each other, or of which one is missing.
fn contradiction(kind: &str, config: &Value) -> Option<Diagnostic> {
    let set = |name: &str| config.attribute(name).is_some_and(|value| !value.is_null());
    match kind {
        FILE => match (set("source"), set("content")) {
            (true, true) => Some(Diagnostic::error("Cannot set both 'source' and 'content'", "")),
            (false, false) => {
                Some(Diagnostic::error("Must provide one of 'source' or 'content'", ""))
            }
            _ => None,
        },
        REMOTE_EXEC => {
            let given = ["inline", "script", "scripts"].into_iter().filter(|name| set(name));
            (given.count() != 1).then(|| {
                Diagnostic::error(
                    "Invalid remote-exec provisioner configuration",
                    "Only one of \"inline\", \"script\", or \"scripts\" must be set",
                )
            })
        }
        _ => None,
    }
}
