use super::{Estate, EstateReading, RecordFacts};
use crate::record::body::RecordKind;
use std::collections::BTreeSet;
use values::address::ResourceInstance;

/// The most tombstones that one transaction sweeps.
const MOST: usize = 1000;

impl Estate {
    /// Removes tombstones that no living plan can know: older than `expiry` seconds, and not written
    /// since the reading. Failures are left for the next sweep. Answers how many were removed.
    pub(crate) async fn sweep(
        &self,
        reading: &EstateReading,
        written: &BTreeSet<ResourceInstance>,
        expiry: i64,
    ) -> usize {
        let before = self.clock.seconds().saturating_sub(expiry);
        // The tombstone of a move's target keeps its source void for as long as that is there.
        let keeps_void = |facts: &RecordFacts| {
            let source = facts.moved_from.as_ref().and_then(|from| from.address.parse().ok());
            let source = source.and_then(|source: ResourceInstance| reading.records.get(&source));
            source.is_some_and(RecordFacts::is_void)
        };
        let old = reading.records.iter().filter(|(address, facts)| {
            facts.kind == RecordKind::Tombstone
                && facts.claim.is_none()
                && facts.doubt.is_none()
                && facts.written_at < before
                && !written.contains(address)
                && !keeps_void(facts)
        });
        let mut swept = 0;
        for (address, facts) in old.take(MOST) {
            if let Ok(key) = self.keys.instance(address)
                && self.store.delete(&key, &facts.version).await.is_ok()
            {
                swept += 1;
            }
        }
        swept
    }
}
