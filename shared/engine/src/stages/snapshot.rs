use crate::estate::{Estate, EstateHeader, EstateReading};
use crate::verdict::{Outcome, Stage, Verdict};
use records::Version;
use std::collections::BTreeSet;
use values::address::ResourceInstance;

const REMEDY: &str = "run `plumb plan` again for a plan of the present records";

/// Planning's own stage: did the records hold still between its reading and now? One request, and a second
/// reading only where the estate says that somebody wrote.
pub async fn check_snapshot(estate: &Estate, before: &EstateReading) -> Vec<Verdict> {
    let Some(known) = &before.header else {
        let message = "the estate has no records yet; there is nothing to compare";
        return vec![Verdict::new(Stage::Snapshot, Outcome::NotChecked, message)];
    };
    let not_checked = |error: String| {
        let message = format!("the records could not be read again after planning: {error}");
        vec![Verdict::new(Stage::Snapshot, Outcome::Warn, message).remedy(REMEDY)]
    };
    let now = match estate.read_header().await {
        Ok(now) => now,
        Err(error) => return not_checked(error.to_string()),
    };
    if let Some(now) = &now
        && !needs_second_reading(known, now)
    {
        return vec![still(known.serial)];
    }
    if now.is_none() {
        return compare_snapshot(before, &EstateReading::default());
    }
    match estate.read().await {
        Ok(after) => compare_snapshot(before, &after),
        Err(error) => not_checked(error.to_string()),
    }
}

fn needs_second_reading(before: &EstateHeader, after: &EstateHeader) -> bool {
    before.lineage != after.lineage
        || before.serial != after.serial
        || !before.under_way.is_empty()
        || !after.under_way.is_empty()
}

fn still(serial: u64) -> Verdict {
    let message = format!("the records held still while planning, at serial {serial}");
    Verdict::new(Stage::Snapshot, Outcome::Pass, message)
}

/// Compares two readings: lineage first, then serial, then revisions.
pub fn compare_snapshot(before: &EstateReading, after: &EstateReading) -> Vec<Verdict> {
    let Some(t0) = &before.header else {
        let message = "the estate had no records when planning began; there is nothing to compare";
        return vec![Verdict::new(Stage::Snapshot, Outcome::NotChecked, message)];
    };
    let warn =
        |message: String| Verdict::new(Stage::Snapshot, Outcome::Warn, message).remedy(REMEDY);
    let Some(t1) = &after.header else {
        return vec![warn(format!(
            "the estate's records were removed while planning: it had the lineage {} and {} instances",
            t0.lineage.0,
            before.state.instances.len()
        ))];
    };
    if t0.lineage != t1.lineage {
        let message = "the estate's records were replaced by those of another while planning";
        return vec![warn(message.into()).compared(&t0.lineage.0, &t1.lineage.0)];
    }
    let addresses: BTreeSet<&ResourceInstance> =
        before.records.keys().chain(after.records.keys()).collect();
    let mut verdicts = Vec::new();
    for address in addresses {
        let ((version, planned), (now, actual)) =
            (before.version_and_revision(address), after.version_and_revision(address));
        if version == now || planned == actual {
            continue;
        }
        let by = after.records.get(address).map_or_else(
            || "and no record says by whom".to_owned(),
            |f| format!("by the run {} of {}", f.written_by.run, f.written_by.principal),
        );
        let what = match (planned.0.is_empty(), actual.0.is_empty()) {
            (true, _) => "the record was created while planning",
            (_, true) => "the record was removed while planning",
            _ => "the record was changed while planning",
        };
        verdicts.push(warn(format!("{what}, {by}")).on(address));
    }
    if verdicts.is_empty() {
        let message = match (t0.serial == t1.serial, versions_moved(before, after)) {
            (true, false) => return vec![still(t0.serial)],
            _ => format!(
                "other runs were under way (serial {} then, {} now), and changed no record while planning",
                t0.serial, t1.serial
            ),
        };
        verdicts.push(Verdict::new(Stage::Snapshot, Outcome::Pass, message));
    }
    verdicts
}

fn versions_moved(before: &EstateReading, after: &EstateReading) -> bool {
    let versions = |reading: &EstateReading| -> Vec<Version> {
        reading.records.values().map(|facts| facts.version.clone()).collect()
    };
    versions(before) != versions(after)
}
