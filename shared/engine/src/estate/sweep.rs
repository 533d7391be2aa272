use super::{Estate, EstateHeader, EstateReading, RecordFacts};
use crate::record::body::{RecordKind, TransactionBody, decode};
use std::collections::BTreeSet;
use values::address::ResourceInstance;

/// The most tombstones and shells that one transaction sweeps.
const MOST: usize = 1000;
/// The most transactions that one looks at: each is a request.
const LOOKED_AT: usize = 8;

impl Estate {
    /// Removes what no living plan can know: tombstones and shells older than `expiry` seconds that were not
    /// written since the reading, and ended transactions of expired plans. Failures are left for the next sweep.
    /// Answers how many were removed.
    pub(crate) async fn sweep(
        &self,
        reading: &EstateReading,
        header: &EstateHeader,
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
        // A claim ends with its transaction.
        let claimed = |facts: &RecordFacts| {
            facts.claim.as_ref().is_some_and(|c| header.under_way.contains(&c.transaction))
        };
        let old = reading.records.iter().filter(|(address, facts)| {
            facts.kind != RecordKind::Live
                && !claimed(facts)
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
        swept += self.store.sweep_leftovers(before).await.unwrap_or(0);
        swept + self.sweep_transactions(header).await
    }

    /// Looks at a few transactions, beginning anywhere, so that all are looked at sooner or later.
    async fn sweep_transactions(&self, header: &EstateHeader) -> usize {
        let Ok(entries) = self.store.list(&self.keys.transactions()).await else { return 0 };
        let mut start = [0; 8];
        self.random.fill(&mut start);
        let start = usize::from_le_bytes(start) % entries.len().max(1);
        let now = self.clock.seconds();
        let mut swept = 0;
        for entry in entries.iter().cycle().skip(start).take(entries.len().min(LOOKED_AT)) {
            let Ok(Some(record)) = self.store.get(&entry.key).await else { continue };
            let Ok(body) = decode::<TransactionBody>(&entry.key, &record.body) else { continue };
            let ended = body.phase.is_ended() && !header.under_way.contains(&body.plan);
            if ended
                && body.expires < now
                && self.store.delete(&entry.key, &record.version).await.is_ok()
            {
                swept += 1;
            }
        }
        swept
    }
}
