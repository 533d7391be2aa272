//! What a person decides about a result or a create that the records leave open. Each decision is in the journal before
//! it is done, and each record is written by compare-and-swap, as by a transaction that reads nothing.

use super::{Estate, EstateError, Swapped, swap_instance};
use crate::clock::moment;
use crate::identifiers::{Principal, RunId, WriteId, hexadecimal};
use crate::object::StoredObject;
use crate::record::body::{
    ClaimState, Decided, DecisionBody, FORMAT, InstanceBody, ObjectBody, ObjectStatusBody, Phase,
    RecordKind, TransactionBody, UnknownFields, WrittenBy, decode, encode,
};
use crate::transaction::Terms;
use records::{Key, StoreError, Version};
use values::address::ResourceInstance;

/// A decision cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdoptionError {
    /// The records leave nothing open about the instance.
    #[error(
        "nothing about {address} is open: it has no result beside its record, and no create of it is in doubt. An \
         object that exists is taken over by an import block"
    )]
    NothingOpen {
        /// The instance.
        address: Box<ResourceInstance>,
    },
    /// Several results are kept for one instance.
    #[error(
        "several results are kept for {address}, of these runs: {runs}. Only one can be its record: name it with \
         -run=RUN"
    )]
    SeveralStrays {
        /// The instance.
        address: Box<ResourceInstance>,
        /// The runs.
        runs: String,
    },
    /// No result of that run is kept.
    #[error("no result of the run {run} is kept for {address}")]
    NoSuchStray {
        /// The instance.
        address: Box<ResourceInstance>,
        /// The run.
        run: RunId,
    },
    /// A create is in doubt, and nothing says which object it made.
    #[error(
        "a create of {address} is in doubt, and the records do not know which object it made. Look it up where its \
         provider keeps it: if it exists, run `plumb adopt '{address}' ID`, if not, `plumb dismiss '{address}'`"
    )]
    IdentityNeeded {
        /// The instance.
        address: Box<ResourceInstance>,
    },
    /// The instance has an object.
    #[error(
        "{address} has an object in its record already, which adopting another would leave to itself. Run \
         `plumb dismiss '{address}'` if what is in doubt does not exist, or delete it by hand first"
    )]
    Occupied {
        /// The instance.
        address: Box<ResourceInstance>,
    },
    /// A transaction works on the instance.
    #[error(
        "the run {run} of {principal} has claimed {address} and is {phase}. Nothing was changed: wait until it ends; \
         if it died, apply its plan again or plan and apply anew, which takes it over"
    )]
    Claimed {
        /// The instance.
        address: Box<ResourceInstance>,
        /// The run.
        run: RunId,
        /// Who started it.
        principal: Principal,
        /// How far it is.
        phase: Phase,
    },
    /// What is in doubt may still come to pass.
    #[error(
        "the create of {address} that is in doubt may still make its object until {}, and nobody would know of it then. \
         Nothing was dismissed: look for the object after that, and run `plumb dismiss '{address}'` again if there is none",
        moment(*until)
    )]
    TooEarly {
        /// The instance.
        address: Box<ResourceInstance>,
        /// When that is over, seconds since the epoch.
        until: i64,
    },
    /// The file is not a result for this instance.
    #[error("{file} is no result for {address}: {problem}")]
    OtherFile {
        /// The instance.
        address: Box<ResourceInstance>,
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The estate cannot be read or written.
    #[error(transparent)]
    Estate(#[from] EstateError),
}

impl From<StoreError> for AdoptionError {
    fn from(error: StoreError) -> AdoptionError {
        AdoptionError::Estate(error.into())
    }
}
impl From<crate::record::body::BodyError> for AdoptionError {
    fn from(error: crate::record::body::BodyError) -> AdoptionError {
        AdoptionError::Estate(error.into())
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Adopted {
    /// The run that the decision is in the journal as.
    pub run: RunId,
    /// Who had written the record that was replaced, where it held an object.
    pub replaced: Option<WrittenBy>,
}

/// A record as it was found.
struct Found {
    key: Key,
    body: Option<InstanceBody>,
    version: Version,
}

/// A result beside its record.
struct Stray {
    key: Key,
    body: InstanceBody,
    version: Version,
}

impl Estate {
    /// Records a result in its place that had been kept beside it.
    ///
    /// # Errors
    /// Where there is none, or several and no run is named; where a transaction works on the instance.
    pub async fn adopt_stray(
        &self,
        address: &ResourceInstance,
        run: Option<&RunId>,
        by: &Principal,
    ) -> Result<Adopted, AdoptionError> {
        let found = self.found(address).await?;
        let mut strays = self.strays_of(address, run).await?;
        let boxed = || Box::new(address.clone());
        let stray = match (strays.pop(), strays.is_empty()) {
            (Some(stray), true) => stray,
            (Some(last), false) => {
                let all = strays.iter().chain([&last]);
                let runs = all.map(|s| s.body.written_by.run.to_string()).collect::<Vec<_>>();
                return Err(AdoptionError::SeveralStrays {
                    address: boxed(),
                    runs: runs.join(", "),
                });
            }
            (None, _) if found.body.as_ref().is_some_and(|body| body.doubt.is_some()) => {
                return Err(AdoptionError::IdentityNeeded { address: boxed() });
            }
            (None, _) => return Err(AdoptionError::NothingOpen { address: boxed() }),
        };
        let of = stray.body.written_by.run.clone();
        let adopted = self.take(address, found, stray.body, Decided::AdoptStray(of), by).await?;
        self.store.delete(&stray.key, &stray.version).await?;
        Ok(adopted)
    }

    /// Records a result that the store had not taken and that was kept in a file.
    ///
    /// # Errors
    /// Where the file is something else; where a transaction works on the instance.
    pub async fn adopt_file(
        &self,
        address: &ResourceInstance,
        file: &str,
        content: &[u8],
        by: &Principal,
    ) -> Result<Adopted, AdoptionError> {
        let other = |problem: String| AdoptionError::OtherFile {
            address: Box::new(address.clone()),
            file: file.to_owned(),
            problem,
        };
        let found = self.found(address).await?;
        let kept: InstanceBody = serde_json::from_slice(content)
            .map_err(|_| other("it is not what a run keeps of a result".into()))?;
        if kept.format != FORMAT {
            return Err(other(format!(
                "it has format {}, and this version knows {FORMAT}",
                kept.format
            )));
        }
        if kept.address != address.to_string() {
            return Err(other(format!("it belongs to {}", kept.address)));
        }
        self.take(address, found, kept, Decided::AdoptFile(file.to_owned()), by).await
    }

    /// Records an object that a provider has found, where a create was in doubt: as tainted, where provisioners were to
    /// run on it and did not.
    ///
    /// # Errors
    /// Where nothing is in doubt, or the instance has an object; where a transaction works on it.
    pub async fn adopt_object(
        &self,
        address: &ResourceInstance,
        id: &str,
        object: &StoredObject,
        by: &Principal,
    ) -> Result<Adopted, AdoptionError> {
        let found = self.doubtful(address).await?;
        let mut object = ObjectBody::from_object(&found.key, object)?;
        let doubt = found.body.as_ref().and_then(|body| body.doubt.as_ref());
        if doubt.is_some_and(|doubt| doubt.unprovisioned) {
            object.status = ObjectStatusBody::Tainted;
        }
        let shell = self.shell(address, self.by(RunId::new(&*self.random), by));
        let body = InstanceBody { object: Some(object), ..shell };
        self.take(address, found, body, Decided::AdoptObject(id.to_owned()), by).await
    }

    /// That a create of the instance is in doubt and it has no object, so that one may be adopted.
    ///
    /// # Errors
    /// Where that is not so; where a transaction works on the instance.
    pub async fn check_doubtful(&self, address: &ResourceInstance) -> Result<(), AdoptionError> {
        self.doubtful(address).await.map(|_| ())
    }

    /// Drops what is open about an instance: the doubt and every result beside its record, or the result of one run.
    /// Answers how many things that were.
    ///
    /// # Errors
    /// Where nothing is open, or what is in doubt may still come to pass by `terms`; where a transaction works on the instance.
    pub async fn dismiss(
        &self,
        address: &ResourceInstance,
        run: Option<&RunId>,
        by: &Principal,
        terms: &Terms,
    ) -> Result<usize, AdoptionError> {
        let found = self.found(address).await?;
        let strays = self.strays_of(address, run).await?;
        let doubted = found.body.filter(|body| body.doubt.is_some() && run.is_none());
        if doubted.is_none() && strays.is_empty() {
            return Err(AdoptionError::NothingOpen { address: Box::new(address.clone()) });
        }
        if let Some(doubt) = doubted.as_ref().and_then(|body| body.doubt.as_ref()) {
            // The clock of whoever doubted it may be behind, and begun seconds count.
            let wait = terms.margin.saturating_add(terms.skew);
            let until = doubt.since.saturating_add(wait).saturating_add(i64::from(wait > 0));
            if self.clock.seconds() < until {
                return Err(AdoptionError::TooEarly { address: Box::new(address.clone()), until });
            }
        }
        let mut dismissed = 0;
        if let Some(mut body) = doubted {
            self.note(address, Decided::DismissDoubt, by).await?;
            body.doubt = None;
            body.write_id = WriteId::new(&*self.random);
            let bytes = encode(&found.key, &body)?;
            self.written(
                swap_instance(&*self.store, &found.key, bytes, &found.version).await?,
                &found.key,
            )?;
            dismissed += 1;
        }
        for stray in strays {
            self.note(address, Decided::DismissStray(stray.body.written_by.run), by).await?;
            self.store.delete(&stray.key, &stray.version).await?;
            dismissed += 1;
        }
        Ok(dismissed)
    }

    async fn doubtful(&self, address: &ResourceInstance) -> Result<Found, AdoptionError> {
        let found = self.found(address).await?;
        match &found.body {
            Some(body) if body.doubt.is_some() => match body.object {
                None => Ok(found),
                Some(_) => Err(AdoptionError::Occupied { address: Box::new(address.clone()) }),
            },
            _ => Err(AdoptionError::NothingOpen { address: Box::new(address.clone()) }),
        }
    }

    /// The record of an instance on which no transaction works.
    async fn found(&self, address: &ResourceInstance) -> Result<Found, AdoptionError> {
        // Where the estate is sealed, nothing is changed.
        self.read_header().await?;
        let key = self.keys.instance(address)?;
        let Some(record) = self.store.get(&key).await? else {
            return Ok(Found { key, body: None, version: Version::absent() });
        };
        let body = decode::<InstanceBody>(&key, &record.body)?;
        if let Some(claim) = &body.claim {
            let transaction = self.keys.transaction(&claim.transaction)?;
            if let Some(record) = self.store.get(&transaction).await? {
                let holder = decode::<TransactionBody>(&transaction, &record.body)?;
                let ended = match holder.phase {
                    Phase::Done | Phase::Rejected | Phase::Waiting => true,
                    Phase::Fenced => claim.state == ClaimState::Done,
                    Phase::Claiming | Phase::Executing => false,
                };
                if !ended {
                    return Err(AdoptionError::Claimed {
                        address: Box::new(address.clone()),
                        run: holder.run,
                        principal: holder.principal,
                        phase: holder.phase,
                    });
                }
            }
        }
        Ok(Found { key, body: Some(body), version: record.version })
    }

    async fn strays_of(
        &self,
        address: &ResourceInstance,
        run: Option<&RunId>,
    ) -> Result<Vec<Stray>, AdoptionError> {
        let mut strays = Vec::new();
        for (key, record) in self.store.get_all(&self.keys.strays(address)).await? {
            let body = decode::<InstanceBody>(&key, &record.body)?;
            if run.is_none_or(|run| *run == body.written_by.run) {
                strays.push(Stray { key, body, version: record.version });
            }
        }
        match run {
            Some(run) if strays.is_empty() => Err(AdoptionError::NoSuchStray {
                address: Box::new(address.clone()),
                run: run.clone(),
            }),
            _ => Ok(strays),
        }
    }

    /// Writes a body in place of the record that was found.
    async fn take(
        &self,
        address: &ResourceInstance,
        found: Found,
        body: InstanceBody,
        decision: Decided,
        by: &Principal,
    ) -> Result<Adopted, AdoptionError> {
        let settles = body.written_by.transaction.clone();
        let is_object = matches!(decision, Decided::AdoptObject(_));
        let run = self.note(address, decision, by).await?;
        let live = body.object.is_some() || !body.deposed.is_empty();
        let before = found.body;
        let replaced = before.as_ref().filter(|b| b.object.is_some()).map(|b| b.written_by.clone());
        // A result settles what its own transaction left in doubt, and says nothing of another's.
        let doubt = before.as_ref().and_then(|b| b.doubt.clone());
        let doubt = doubt.filter(|d| !is_object && settles.as_ref() != Some(&d.transaction));
        let adopted = InstanceBody {
            kind: if live { RecordKind::Live } else { RecordKind::Tombstone },
            revision: if live { hexadecimal(&*self.random) } else { String::new() },
            write_id: WriteId::new(&*self.random),
            written_at: self.clock.seconds(),
            written_by: self.by(run.clone(), by),
            claim: None,
            doubt,
            moved_from: body.moved_from.clone().or(before.and_then(|b| b.moved_from)),
            ..body
        };
        let bytes = encode(&found.key, &adopted)?;
        self.written(
            swap_instance(&*self.store, &found.key, bytes, &found.version).await?,
            &found.key,
        )?;
        Ok(Adopted { run, replaced })
    }

    fn written(&self, swapped: Swapped, key: &Key) -> Result<(), AdoptionError> {
        match swapped {
            Swapped::Written(_) => Ok(()),
            Swapped::Lost(_) => {
                Err(EstateError::Contended { key: key.clone(), attempts: 1 }.into())
            }
        }
    }

    fn by(&self, run: RunId, principal: &Principal) -> WrittenBy {
        WrittenBy { transaction: None, run, principal: principal.clone() }
    }

    async fn note(
        &self,
        address: &ResourceInstance,
        decision: Decided,
        by: &Principal,
    ) -> Result<RunId, AdoptionError> {
        let run = RunId::new(&*self.random);
        let key = self.keys.journal(&run, 1)?;
        let body = DecisionBody {
            format: FORMAT,
            write_id: WriteId::new(&*self.random),
            run: run.clone(),
            principal: by.clone(),
            decided: self.clock.seconds(),
            address: address.to_string(),
            decision,
            unknown: UnknownFields::new(),
        };
        match self.put_journal(&key, encode(&key, &body)?).await? {
            true => Ok(run),
            // The run's name is new, and so is the key.
            false => Err(EstateError::Contended { key, attempts: 1 }.into()),
        }
    }
}
