//! Copying an estate to another store: sealed at both ends while it is on its way, verified before the copy is
//! opened, and gone on with from wherever it stopped.

use super::{Estate, EstateError, EstateHeader, Journals, Swapped, swap, swap_instance};
use crate::identifiers::{PlanId, WriteId};
use crate::record::body::{Seal, encode};
use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use records::{Key, Record, StoreError, Version};
use std::collections::BTreeMap;

/// How many records are copied at once.
const PARALLELISM: usize = 16;

/// An estate cannot be copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// There is nothing to copy.
    #[error(
        "there is no estate {estate} in {place}; check the place that the records should be copied from"
    )]
    NoSource {
        /// The estate.
        estate: String,
        /// Its store.
        place: String,
    },
    /// It was moved to a third place.
    #[error("the records in {place} were moved already, and not to here: {seal}")]
    MovedElsewhere {
        /// The store.
        place: String,
        /// Where they are.
        seal: Seal,
    },
    /// Somebody is changing it.
    #[error(
        "the plan {plan} is being applied to the estate in {place}, and its results would be missing in the copy; \
         wait until it ends; if it has died, apply it again there, or end it with `plumb force-release {plan}`"
    )]
    UnderWay {
        /// The plan.
        plan: PlanId,
        /// The store.
        place: String,
    },
    /// The target is in use.
    #[error(
        "{place} holds an estate {estate} already, which is not this one; choose another name or place. Nothing \
         was changed there"
    )]
    Occupied {
        /// The estate.
        estate: String,
        /// The store.
        place: String,
    },
    /// The estate is open at both ends, and neither was copied to the other.
    #[error(
        "the same estate is open in {source_place} and in {place}: they are one place under two names, or one is a copy \
         made by other means, and what only one of them has would be lost. Nothing was changed; name the new store in \
         plumb.toml and the old one with -from, and of two copies remove the one that is out of date"
    )]
    BothOpen {
        /// The target.
        place: String,
        /// Where it should be copied from.
        source_place: String,
    },
    /// A record at the target is not what it should be.
    #[error(
        "the copy of {key} in {place} is not what was copied: {problem}. The copy stays sealed and the \
         records in {source_place} are intact; find out who else writes to {place}, empty it, and run the same command again"
    )]
    Different {
        /// The record, at the target.
        key: Key,
        /// The target.
        place: String,
        /// Where it was copied from.
        source_place: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// It is finished, and cannot be given up any more.
    #[error(
        "the copy in {place} was finished and may have been changed since: it is not given up. To move the records \
         back, name {source_place} in plumb.toml and copy them from {place}"
    )]
    Finished {
        /// The target.
        place: String,
        /// Where it was copied from.
        source_place: String,
    },
    /// A store failed.
    #[error(transparent)]
    Estate(#[from] EstateError),
}

impl From<StoreError> for CopyError {
    fn from(error: StoreError) -> CopyError {
        CopyError::Estate(error.into())
    }
}

impl Estate {
    /// Copies every record of this estate to `target`, byte for byte, so that revisions stay. This one is sealed
    /// for good first; the target's own record is written sealed before all others and opened when all
    /// were read back and found to be the same. Killed anywhere, the same call goes on. How many records there
    /// are, the estate's own aside; nothing where the copy was finished before.
    ///
    /// # Errors
    /// Where either end is in use, or a store fails. Records here are never changed but for the seal.
    pub async fn copy_to(&self, target: &Estate) -> Result<Option<usize>, CopyError> {
        let source = self.sealed_for(target).await?;
        let Some(arriving) = self.target_of(target, &source).await? else {
            return Ok(None);
        };
        let estate_key = self.keys.estate()?;
        let mut bodies: BTreeMap<Key, Record> =
            self.store.get_all(&self.keys.all()).await?.into_iter().collect();
        bodies.remove(&estate_key);
        // Which workspaces there are may be known at the target before their default one arrives.
        let listed = self.keys.workspaces();
        bodies.retain(|key, _| !key.as_str().starts_with(&listed));
        let journals = self.take_journals(target, &mut bodies).await?;
        stream::iter(&bodies)
            .map(|(key, record)| self.copy_one(target, key, record))
            .buffer_unordered(PARALLELISM)
            .try_collect::<()>()
            .await?;
        self.verify(target, &bodies).await?;
        for (key, body) in &journals {
            // What an earlier attempt wrote is the same.
            target.put_journal(&target.keys.relocate(&self.keys, key)?, body.clone()).await?;
        }
        for name in self.workspaces().await? {
            target.note_workspace(&name).await?;
        }
        target.set_seal(arriving, None).await?;
        Ok(Some(bodies.len() + journals.len()))
    }

    /// The journals that are no records at one end or the other; those of `bodies` are taken out.
    async fn take_journals(
        &self,
        target: &Estate,
        bodies: &mut BTreeMap<Key, Record>,
    ) -> Result<Vec<(Key, Bytes)>, StoreError> {
        let mut journals = self.journals_beside().await?;
        if target.journals == Journals::Artifacts {
            let prefix = self.keys.journals();
            let all = std::mem::take(bodies).into_iter();
            let (beside, records) = all.partition(|(key, _)| key.as_str().starts_with(&prefix));
            *bodies = records;
            let beside: BTreeMap<Key, Record> = beside;
            journals.extend(beside.into_iter().map(|(key, record)| (key, record.body)));
        }
        Ok(journals)
    }

    /// Gives a copy up that was never finished: removes it, and opens this estate again.
    ///
    /// # Errors
    /// Where the copy was finished, or a store fails.
    pub async fn abandon_copy_to(&self, target: &Estate) -> Result<(), CopyError> {
        let Some(source) = self.read_header_of_sealed().await? else {
            return Err(self.no_source());
        };
        if let Some(seal) = source.sealed.clone().filter(|seal| *seal != moved_to(target)) {
            return Err(CopyError::MovedElsewhere { place: self.place(), seal });
        }
        let copy = target.read_header_of_sealed().await?;
        let ours = copy.filter(|copy| copy.lineage == source.lineage);
        if let Some(copy) = ours {
            match &copy.sealed {
                Some(Seal::ArrivingFrom(_)) => target.remove_copy(copy).await?,
                // The records were there before, and never came back.
                Some(Seal::MovedTo(place)) if *place == self.place() => {}
                _ => {
                    let (place, source_place) = (target.place(), self.place());
                    return Err(CopyError::Finished { place, source_place });
                }
            }
        }
        if source.sealed.is_some() {
            self.set_seal(source, None).await?;
        }
        Ok(())
    }

    /// Removes all records of a sealed estate, its own last.
    async fn remove_copy(&self, header: EstateHeader) -> Result<(), CopyError> {
        self.remove_records(&self.keys.all()).await?;
        Ok(self.store.delete(&self.keys.estate()?, &header.version).await?)
    }

    /// Removes what a sealed estate holds below a prefix, but for its own record.
    pub(super) async fn remove_records(&self, prefix: &str) -> Result<(), StoreError> {
        let estate_key = self.keys.estate()?;
        let entries = self.store.list(prefix).await?;
        stream::iter(entries.into_iter().filter(|entry| entry.key != estate_key))
            .map(|entry| async move { self.store.delete(&entry.key, &entry.version).await })
            .buffer_unordered(PARALLELISM)
            .try_collect::<()>()
            .await
    }

    fn place(&self) -> String {
        format!("{} (estate {})", self.location(), self.name)
    }

    fn no_source(&self) -> CopyError {
        CopyError::NoSource { estate: self.name.to_string(), place: self.location() }
    }

    /// Closes this estate, if it is not closed yet.
    async fn sealed_for(&self, target: &Estate) -> Result<EstateHeader, CopyError> {
        let Some(header) = self.read_header_of_sealed().await? else {
            return Err(self.no_source());
        };
        match &header.sealed {
            Some(seal) if *seal == moved_to(target) => return Ok(header),
            Some(seal) => {
                return Err(CopyError::MovedElsewhere { place: self.place(), seal: seal.clone() });
            }
            None => {}
        }
        if let Some(plan) = header.under_way.first() {
            return Err(CopyError::UnderWay { plan: plan.clone(), place: self.place() });
        }
        // What the target holds decides whether this one may be closed at all.
        let there = self.check_target(target, &header).await?;
        if there.is_some_and(|there| there.sealed.is_none()) {
            let (place, source_place) = (target.place(), self.place());
            return Err(CopyError::BothOpen { place, source_place });
        }
        Ok(self.set_seal(header, Some(moved_to(target))).await?)
    }

    async fn check_target(
        &self,
        target: &Estate,
        source: &EstateHeader,
    ) -> Result<Option<EstateHeader>, CopyError> {
        let occupied =
            || CopyError::Occupied { estate: target.name.to_string(), place: target.location() };
        match target.read_header_of_sealed().await? {
            Some(header) if header.lineage == source.lineage => match &header.sealed {
                Some(Seal::ArrivingFrom(_)) => Ok(Some(header)),
                // The records were there before, and come back.
                Some(Seal::MovedTo(place)) if *place == self.place() => Ok(Some(header)),
                // Where they have gone on from there, this copy would be a second estate.
                _ => Ok(Some(target.unsealed(header)?)),
            },
            Some(_) => Err(occupied()),
            None => {
                let entries = target.store.list(&target.keys.all()).await?;
                let listed = target.keys.workspaces();
                match entries.iter().all(|entry| entry.key.as_str().starts_with(&listed)) {
                    true => Ok(None),
                    false => Err(occupied()),
                }
            }
        }
    }

    /// The target's own record, still sealed; `None` where the copy is finished.
    async fn target_of(
        &self,
        target: &Estate,
        source: &EstateHeader,
    ) -> Result<Option<EstateHeader>, CopyError> {
        let seal = Some(Seal::ArrivingFrom(self.place()));
        match self.check_target(target, source).await? {
            Some(header) if header.sealed.is_none() => Ok(None),
            Some(header) if header.sealed == seal => Ok(Some(header)),
            Some(header) => Ok(Some(target.set_seal(header, seal).await?)),
            None => {
                let fresh = EstateHeader { version: Version::absent(), ..source.clone() };
                Ok(Some(target.set_seal(fresh, seal).await?))
            }
        }
    }

    /// Writes a header as it is but for its seal, if nobody has changed it since it was read.
    pub(super) async fn set_seal(
        &self,
        header: EstateHeader,
        seal: Option<Seal>,
    ) -> Result<EstateHeader, EstateError> {
        let key = self.keys.estate()?;
        let mut header = EstateHeader { sealed: seal, ..header };
        let body = encode(&key, &header.to_body(WriteId::new(&*self.random)))?;
        match swap(&*self.store, &key, body, &header.version).await? {
            Swapped::Written(version) => {
                header.version = version;
                Ok(header)
            }
            Swapped::Lost(_) => Err(EstateError::Contended { key, attempts: 1 }),
        }
    }

    async fn copy_one(&self, target: &Estate, key: &Key, record: &Record) -> Result<(), CopyError> {
        let key = target.keys.relocate(&self.keys, key)?;
        // What an earlier attempt wrote is the same to the byte, and so counts as written.
        match swap_instance(&*target.store, &key, record.body.clone(), &Version::absent()).await? {
            Swapped::Written(_) => Ok(()),
            Swapped::Lost(_) => {
                Err(self.different(target, key, "there is another record in its place"))
            }
        }
    }

    fn different(&self, target: &Estate, key: Key, problem: &'static str) -> CopyError {
        CopyError::Different { key, place: target.place(), source_place: self.place(), problem }
    }

    async fn verify(
        &self,
        target: &Estate,
        bodies: &BTreeMap<Key, Record>,
    ) -> Result<(), CopyError> {
        let mut copied: BTreeMap<Key, Record> =
            target.store.get_all(&target.keys.all()).await?.into_iter().collect();
        copied.remove(&target.keys.estate()?);
        let listed = target.keys.workspaces();
        copied.retain(|key, _| !key.as_str().starts_with(&listed));
        for (key, record) in bodies {
            let key = target.keys.relocate(&self.keys, key)?;
            match copied.remove(&key) {
                Some(found) if found.body == record.body => {}
                Some(_) => return Err(self.different(target, key, "its content differs")),
                None => return Err(self.different(target, key, "it is missing")),
            }
        }
        match copied.into_keys().next() {
            None => Ok(()),
            Some(key) => Err(self.different(target, key, "nothing was copied to it")),
        }
    }
}

fn moved_to(target: &Estate) -> Seal {
    Seal::MovedTo(target.place())
}
