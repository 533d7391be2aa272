//! Removing an estate with all that is recorded of it: sealed first, its own record last.

use super::{Estate, EstateError};
use crate::identifiers::PlanId;
use crate::record::body::Seal;
use records::StoreError;

/// An estate is not removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemovalError {
    /// Somebody is changing it.
    #[error(
        "the plan {plan} is being applied to it. Nothing was removed: wait until it ends; if it has died, end it with \
         `plumb force-release {plan}`"
    )]
    UnderWay {
        /// The plan.
        plan: PlanId,
    },
    /// The records cannot be read or removed.
    #[error(transparent)]
    Estate(#[from] EstateError),
}

impl From<StoreError> for RemovalError {
    fn from(error: StoreError) -> RemovalError {
        RemovalError::Estate(error.into())
    }
}

impl Estate {
    /// Removes every record. The objects that they describe are left to themselves. Killed anywhere, the same call goes on.
    ///
    /// # Errors
    /// Where somebody works on the estate, it is sealed for another reason, or the store fails.
    pub async fn remove(&self) -> Result<(), RemovalError> {
        if let Some(header) = self.read_header_of_sealed().await? {
            let header = match header.sealed {
                Some(Seal::Removing) => header,
                _ => self.unsealed(header)?,
            };
            if let Some(plan) = header.under_way.first() {
                return Err(RemovalError::UnderWay { plan: plan.clone() });
            }
            let header = match header.sealed {
                Some(_) => header,
                None => self.set_seal(header, Some(Seal::Removing)).await?,
            };
            self.remove_records(&self.keys.all()).await?;
            self.store.delete(&self.keys.estate()?, &header.version).await?;
        }
        if let Some(artifacts) = &self.artifacts {
            // It holds what the records did.
            artifacts.delete(&self.keys.snapshot()?).await?;
        }
        Ok(())
    }
}
