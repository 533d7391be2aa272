//! The workspaces of an estate: other estates of the same root module, listed beside its records.

use super::{Estate, EstateError, Swapped, swap};
use crate::identifiers::WriteId;
use crate::record::body::{FORMAT, UnknownFields, WorkspaceBody, decode, encode};
use records::Version;
use std::collections::BTreeSet;

/// How often a removal is sent whose answers are lost.
const ATTEMPTS: u32 = 8;

impl Estate {
    /// The names of its workspaces, without the default one, which is the estate itself.
    ///
    /// # Errors
    /// Where the store fails or a name cannot be read.
    pub async fn workspaces(&self) -> Result<BTreeSet<String>, EstateError> {
        let records = self.store.get_all(&self.keys.workspaces()).await?;
        let name = |(key, record): (records::Key, records::Record)| {
            Ok(decode::<WorkspaceBody>(&key, &record.body)?.name)
        };
        records.into_iter().map(name).collect()
    }

    /// Lists a workspace; `false` where it is listed already.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn note_workspace(&self, name: &str) -> Result<bool, EstateError> {
        let key = self.keys.workspace(name)?;
        if self.store.get(&key).await?.is_some() {
            return Ok(false);
        }
        let body = WorkspaceBody {
            format: FORMAT,
            write_id: WriteId::new(&*self.random),
            name: name.to_owned(),
            unknown: UnknownFields::new(),
        };
        let written = swap(&*self.store, &key, encode(&key, &body)?, &Version::absent()).await?;
        Ok(matches!(written, Swapped::Written(_)))
    }

    /// Lists a workspace no more.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn forget_workspace(&self, name: &str) -> Result<(), EstateError> {
        let key = self.keys.workspace(name)?;
        for _ in 0..ATTEMPTS {
            let Some(record) = self.store.get(&key).await? else { return Ok(()) };
            match self.store.delete(&key, &record.version).await {
                Ok(()) => return Ok(()),
                Err(error) if error.is_conflict() || error.leaves_doubt() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(EstateError::Contended { key, attempts: ATTEMPTS })
    }
}
