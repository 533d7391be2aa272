//! Whose record a Secret is. Nothing is taken on trust: a listing has no selector, and everything in the
//! namespace that could be a record of this estate is either one without fault or refused.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;

use super::names::{
    ESTATE, EstateLabel, KEY, MANAGED_BY, NameKind, PART_TYPE, PLUMBLINE, RECORD_TYPE, kind_of,
    secret_name,
};
use super::{Place, Refusal};
use crate::Key;

/// The estate that a store is for.
#[derive(Clone, Debug)]
pub(super) struct Estate {
    pub(super) label: EstateLabel,
    /// What its keys are below.
    pub(super) root: Key,
    pub(super) place: Arc<Place>,
}

/// What a Secret of the namespace is to an estate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attribution {
    /// A record of it.
    Record(Key),
    /// A further part of some record.
    Part,
    /// A record of another estate.
    Foreign(String),
    /// Nothing of Plumbline's.
    Unrelated,
}

impl Estate {
    /// Whether a key is one of this estate's.
    pub(super) fn owns(&self, key: &Key) -> bool {
        let rest = key.as_str().strip_prefix(self.root.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// # Errors
    /// [`Refusal::KeyOutsideEstate`] where the key is not.
    pub(super) fn check_key(&self, key: &Key) -> Result<(), Refusal> {
        if self.owns(key) { Ok(()) } else { Err(self.outside(key, None)) }
    }

    fn outside(&self, key: &Key, secret: Option<&str>) -> Refusal {
        Refusal::KeyOutsideEstate {
            key: key.clone(),
            root: self.root.to_string(),
            estate: self.label.as_str().to_owned(),
            secret: secret.map(str::to_owned),
        }
    }

    /// Whose a listed Secret is. Its key is told even where the name is not the key's, since what is wrong is
    /// better said once all copies of the key are known.
    ///
    /// # Errors
    /// Where it is a record that is, or may be, this estate's, and not without fault.
    pub(super) fn attribute(&self, secret: &Secret) -> Result<Attribution, Refusal> {
        let facts = Facts::of(secret);
        let claims_a_key = facts.key.is_some();
        match kind_of(facts.name) {
            NameKind::Part if facts.kind != Some(RECORD_TYPE) => return Ok(Attribution::Part),
            _ if facts.kind == Some(PART_TYPE) => return Ok(Attribution::Part),
            NameKind::Other | NameKind::Part => {
                let looks_like_one = claims_a_key
                    || facts.kind == Some(RECORD_TYPE)
                    || (facts.managed_by == Some(PLUMBLINE) && facts.estate.is_some());
                if !looks_like_one {
                    return Ok(Attribution::Unrelated);
                }
            }
            NameKind::Record => {}
        }
        let key = facts.key.map(|text| Key::new(text).map_err(|_| text)).transpose();
        let key = match key {
            Ok(key) => key,
            // Of another estate it is that estate's to refuse.
            Err(_) if facts.is_foreign(&self.label) => None,
            Err(text) => return Err(self.unannotated(facts.name, Some(text))),
        };
        let ours = key.as_ref().is_some_and(|key| self.owns(key));
        match facts.estate {
            Some(estate) if estate != self.label.as_str() => match key {
                Some(key) if ours => Err(self.foreign(facts.name, key, estate)),
                _ => Ok(Attribution::Foreign(estate.to_owned())),
            },
            None if key.is_some() && !ours => Ok(Attribution::Foreign(String::new())),
            None => Err(self.unlabelled(facts.name, ESTATE, None)),
            Some(_) => {
                let Some(key) = key else { return Err(self.unannotated(facts.name, None)) };
                if !ours {
                    return Err(self.outside(&key, Some(facts.name)));
                }
                self.check_managed_by(&facts)?;
                self.check_staying(&facts, &key)?;
                Ok(Attribution::Record(key))
            }
        }
    }

    /// Whether a Secret that was read by a key's name is that key's record.
    ///
    /// # Errors
    /// Where it is anything else: under that name nothing else can be tolerated.
    pub(super) fn check_read(&self, key: &Key, secret: &Secret) -> Result<(), Refusal> {
        let facts = Facts::of(secret);
        match facts.estate {
            None => return Err(self.unlabelled(facts.name, ESTATE, None)),
            Some(estate) if estate != self.label.as_str() => {
                return Err(self.foreign(facts.name, key.clone(), estate));
            }
            Some(_) => {}
        }
        self.check_managed_by(&facts)?;
        let Some(text) = facts.key else { return Err(self.unannotated(facts.name, None)) };
        if text != key.as_str() {
            let Ok(found) = Key::new(text) else {
                return Err(self.unannotated(facts.name, Some(text)));
            };
            return Err(Refusal::KeyCollision {
                secret: facts.name.to_owned(),
                key: key.clone(),
                found,
                place: self.place.clone(),
            });
        }
        self.check_staying(&facts, key)
    }

    /// The refusal of two Secrets with one key.
    pub(super) fn duplicate(&self, key: &Key, one: &str, other: &str) -> Refusal {
        let (right, other) = if other == secret_name(key) { (other, one) } else { (one, other) };
        Refusal::DuplicateKey {
            key: key.clone(),
            right: right.to_owned(),
            other: other.to_owned(),
            place: self.place.clone(),
        }
    }

    /// # Errors
    /// [`Refusal::Misnamed`] where the name is not the key's.
    pub(super) fn check_name(&self, key: &Key, secret: &str) -> Result<(), Refusal> {
        let expected = secret_name(key);
        if expected == secret {
            return Ok(());
        }
        let (secret, key, place) = (secret.to_owned(), key.clone(), self.place.clone());
        Err(Refusal::Misnamed { secret, key, expected, place })
    }

    fn check_managed_by(&self, facts: &Facts<'_>) -> Result<(), Refusal> {
        if facts.managed_by == Some(PLUMBLINE) {
            return Ok(());
        }
        Err(self.unlabelled(facts.name, MANAGED_BY, facts.managed_by))
    }

    fn check_staying(&self, facts: &Facts<'_>, key: &Key) -> Result<(), Refusal> {
        if !facts.is_leaving {
            return Ok(());
        }
        Err(Refusal::BeingDeleted {
            secret: facts.name.to_owned(),
            key: key.clone(),
            finalizers: facts.finalizers.to_vec(),
            place: self.place.clone(),
        })
    }

    fn foreign(&self, secret: &str, key: Key, found: &str) -> Refusal {
        Refusal::ForeignEstate {
            secret: secret.to_owned(),
            key,
            found: found.to_owned(),
            ours: self.label.as_str().to_owned(),
            place: self.place.clone(),
        }
    }

    fn unlabelled(&self, secret: &str, label: &'static str, found: Option<&str>) -> Refusal {
        Refusal::Unlabelled {
            secret: secret.to_owned(),
            label,
            found: found.map(str::to_owned),
            estate: self.label.as_str().to_owned(),
            place: self.place.clone(),
        }
    }

    fn unannotated(&self, secret: &str, found: Option<&str>) -> Refusal {
        let (secret, found) = (secret.to_owned(), found.map(str::to_owned));
        Refusal::Unannotated { secret, found, place: self.place.clone() }
    }
}

/// What a Secret says of itself.
struct Facts<'s> {
    name: &'s str,
    kind: Option<&'s str>,
    managed_by: Option<&'s str>,
    estate: Option<&'s str>,
    key: Option<&'s str>,
    is_leaving: bool,
    finalizers: &'s [String],
}

impl<'s> Facts<'s> {
    fn of(secret: &'s Secret) -> Self {
        let metadata = &secret.metadata;
        let label = |name| metadata.labels.as_ref()?.get(name).map(String::as_str);
        let annotation = |name| metadata.annotations.as_ref()?.get(name).map(String::as_str);
        Self {
            name: metadata.name.as_deref().unwrap_or_default(),
            kind: secret.type_.as_deref(),
            managed_by: label(MANAGED_BY),
            estate: label(ESTATE),
            key: annotation(KEY),
            is_leaving: metadata.deletion_timestamp.is_some(),
            finalizers: metadata.finalizers.as_deref().unwrap_or_default(),
        }
    }

    fn is_foreign(&self, estate: &EstateLabel) -> bool {
        self.estate.is_some_and(|found| found != estate.as_str())
    }
}
