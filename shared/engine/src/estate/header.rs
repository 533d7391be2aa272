use super::{Estate, EstateError, Swapped, swap};
use crate::identifiers::{PlanId, WriteId, hexadecimal};
use crate::record::body::{EstateBody, FORMAT, Seal, UnknownFields, decode, encode};
use crate::state::Lineage;
use records::contract::{self, ContractError, Note, StoreContract, Waivers};
use records::{StoreError, Version};

/// How often others may be first before we give up.
const ATTEMPTS: u32 = 32;

/// First contact came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum FirstContactError {
    /// The store does not keep its contract.
    #[error(transparent)]
    Refused(#[from] ContractError),
    /// The estate's record cannot be written.
    #[error(transparent)]
    Estate(#[from] EstateError),
}

impl From<StoreError> for FirstContactError {
    fn from(error: StoreError) -> FirstContactError {
        FirstContactError::Estate(error.into())
    }
}

/// What the estate's own record says.
#[derive(Clone, Debug, PartialEq)]
pub struct EstateHeader {
    /// The estate's identity.
    pub lineage: Lineage,
    /// Raised when a transaction begins to write and when it ends.
    pub serial: u64,
    /// Transactions that have begun and not ended.
    pub under_way: Vec<PlanId>,
    pub(crate) sealed: Option<Seal>,
    pub(crate) version: Version,
    pub(crate) unknown: UnknownFields,
}

impl EstateHeader {
    fn from_body(body: EstateBody, version: Version) -> EstateHeader {
        EstateHeader {
            lineage: Lineage(body.lineage.into()),
            serial: body.serial,
            under_way: body.under_way,
            sealed: body.sealed,
            version,
            unknown: body.unknown,
        }
    }
    pub(super) fn to_body(&self, write_id: WriteId) -> EstateBody {
        EstateBody {
            format: FORMAT,
            write_id,
            lineage: self.lineage.0.to_string(),
            serial: self.serial,
            under_way: self.under_way.clone(),
            sealed: self.sealed.clone(),
            unknown: self.unknown.clone(),
        }
    }
}

impl Estate {
    /// Lineage, serial and transactions under way; `None` before first contact. One request.
    ///
    /// # Errors
    /// Where the store fails, the record cannot be read, or the estate is sealed.
    pub async fn read_header(&self) -> Result<Option<EstateHeader>, EstateError> {
        let header = self.read_header_of_sealed().await?;
        header.map(|header| self.unsealed(header)).transpose()
    }

    /// The same, also where nothing may be planned or changed.
    pub(crate) async fn read_header_of_sealed(&self) -> Result<Option<EstateHeader>, EstateError> {
        let key = self.keys.estate()?;
        match self.store.get(&key).await? {
            None => Ok(None),
            Some(record) => {
                let body = decode::<EstateBody>(&key, &record.body)?;
                Ok(Some(EstateHeader::from_body(body, record.version)))
            }
        }
    }

    pub(super) fn unsealed(&self, header: EstateHeader) -> Result<EstateHeader, EstateError> {
        match header.sealed {
            None => Ok(header),
            Some(seal) => {
                Err(EstateError::Sealed { estate: self.name.clone(), place: self.location(), seal })
            }
        }
    }

    /// First contact: gives the estate its lineage, unless it has one already.
    ///
    /// # Errors
    /// Where the store refuses; a planner that may only read goes on without a lineage.
    pub async fn create_if_absent(&self) -> Result<EstateHeader, EstateError> {
        self.change_header(None, |_| {}).await
    }

    /// First contact with a store that has a contract: the estate's record is made, has to be listed, and is
    /// taken away again where the contract is not kept. The lines that the run has to show.
    ///
    /// # Errors
    /// Where the store is refused, or fails.
    pub async fn first_contact(
        &self,
        contract: &dyn StoreContract,
        waivers: &Waivers,
    ) -> Result<Vec<Note>, FirstContactError> {
        let key = self.keys.estate()?;
        let body = encode(&key, &self.fresh_header().to_body(WriteId::new(&*self.random)))
            .map_err(EstateError::from)?;
        match contract::first_contact(&*self.store, contract, waivers, &key, body).await {
            Ok(contact) => Ok(contact.notes),
            // Another run was first, and asserted the contract itself.
            Err(ContractError::Store(error)) if error.is_conflict() => Ok(Vec::new()),
            Err(ContractError::Store(error)) => Err(EstateError::from(error).into()),
            Err(refused) => Err(refused.into()),
        }
    }

    pub(super) fn fresh_header(&self) -> EstateHeader {
        EstateHeader {
            lineage: Lineage(hexadecimal(&*self.random).into()),
            serial: 0,
            under_way: Vec::new(),
            sealed: None,
            version: Version::absent(),
            unknown: UnknownFields::new(),
        }
    }

    /// Changes the estate's record, from `known` if that is what the store still holds and from what
    /// it holds otherwise. Creates it where there is none.
    pub(crate) async fn change_header(
        &self,
        known: Option<EstateHeader>,
        change: impl Fn(&mut EstateHeader) + Send,
    ) -> Result<EstateHeader, EstateError> {
        let key = self.keys.estate()?;
        let mut current = known;
        for _ in 0..ATTEMPTS {
            let mut header = current.unwrap_or_else(|| self.fresh_header());
            let before = header.clone();
            change(&mut header);
            if header == before && !header.version.is_absent() {
                return Ok(header);
            }
            let body = encode(&key, &header.to_body(WriteId::new(&*self.random)))?;
            match swap(&*self.store, &key, body, &header.version).await? {
                Swapped::Written(version) => {
                    header.version = version;
                    return Ok(header);
                }
                Swapped::Lost(None) => current = None,
                Swapped::Lost(Some(record)) => {
                    let body = decode::<EstateBody>(&key, &record.body)?;
                    current = Some(self.unsealed(EstateHeader::from_body(body, record.version))?);
                }
            }
        }
        Err(EstateError::Contended { key, attempts: ATTEMPTS })
    }
}
