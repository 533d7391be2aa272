//! What is said at the end of what earlier invocations left.

use super::ApplyWalk;
use language::diagnostics::Diagnostic;
use std::collections::BTreeSet;
use values::address::ResourceInstance;

impl ApplyWalk {
    /// What failed in earlier invocations, in one error, and what is in doubt since, in another.
    pub(super) fn tell_of_earlier_failures(&self) {
        let (doubted, failed): (BTreeSet<_>, BTreeSet<_>) = self
            .members
            .earlier_failures()
            .into_iter()
            .partition(|address| self.in_doubt.contains(address));
        if !failed.is_empty() {
            let detail = format!(
                "These failed in an earlier part of this apply, which said why:\n{}\n\nThey are not tried again by this plan, and what depends on them was left. Run \"plumb plan\" to see what is left.",
                list(&failed)
            );
            self.context
                .report([Diagnostic::error("An earlier part of this apply failed", detail)]);
        }
        if !doubted.is_empty() {
            self.context.report(in_doubt(&doubted));
        }
    }
}

fn list(addresses: &BTreeSet<ResourceInstance>) -> String {
    let lines: Vec<String> = addresses.iter().map(|address| format!("  - {address}")).collect();
    lines.join("\n")
}

/// Objects may exist, and nothing tells which.
pub(super) fn in_doubt(addresses: &BTreeSet<ResourceInstance>) -> Option<Diagnostic> {
    let example = addresses.first()?;
    let detail = format!(
        "Calls that create these were cut off, and their provider cannot tell what came of it:\n{}\n\nSo that nothing is made twice, they are not made again, and plans that touch them are refused. Look for each object: where it exists, run \"plumb adopt ADDRESS ID\", where it does not, \"plumb dismiss ADDRESS\" (\"plumb dismiss {example}\").",
        list(addresses)
    );
    let error = Diagnostic::error("An object may exist that no record describes", detail);
    Some(match addresses.len() {
        1 => error.for_address(example.to_string()),
        _ => error,
    })
}
