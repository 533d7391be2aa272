//! What is in a namespace: our records and their parts, and other estates' records.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::Secret;

use super::KubernetesStore;
use super::attribution::Attribution;
use super::listing::all_secrets;
use crate::{Key, StoreError};

/// What a listing of the namespace shows.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) records: Vec<(Key, Secret)>,
    pub(super) parts: HashMap<String, Secret>,
    /// The estates of records that are another's, once for each record.
    pub(super) foreign: Vec<String>,
}

impl KubernetesStore {
    /// Lists the namespace and attributes everything in it.
    pub(super) async fn survey(&self) -> Result<Survey, StoreError> {
        let keep = |mut secret: Secret| match self.estate.attribute(&secret) {
            Ok(Attribution::Unrelated) => None,
            Ok(Attribution::Foreign(_)) => {
                secret.data = None;
                Some(secret)
            }
            Ok(Attribution::Record(_) | Attribution::Part) | Err(_) => Some(secret),
        };
        let listing = all_secrets(&self.requests, self.page_size, keep).await?;
        match listing.count {
            0 => self.check_namespace().await?,
            _ => self.used(),
        }
        let mut survey = Survey::default();
        let mut names: HashMap<Key, String> = HashMap::new();
        let mut misnamed = None;
        for secret in listing.kept {
            let name = secret.metadata.name.clone().unwrap_or_default();
            match self.estate.attribute(&secret)? {
                Attribution::Record(key) => {
                    if let Some(other) = names.insert(key.clone(), name.clone()) {
                        return Err(self.estate.duplicate(&key, &other, &name).into());
                    }
                    if let Err(refusal) = self.estate.check_name(&key, &name) {
                        misnamed.get_or_insert(refusal);
                    }
                    survey.records.push((key, secret));
                }
                Attribution::Part => {
                    survey.parts.insert(name, secret);
                }
                Attribution::Foreign(estate) => {
                    survey.foreign.push(estate);
                }
                Attribution::Unrelated => {}
            }
        }
        // A copy is told as one: only without the original is the name what is wrong.
        match misnamed {
            Some(refusal) => Err(refusal.into()),
            None => Ok(survey),
        }
    }
}
