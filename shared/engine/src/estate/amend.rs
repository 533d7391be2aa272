use super::{Estate, EstateError, Swapped, swap_instance};
use crate::identifiers::WriteId;
use crate::record::body::{InstanceBody, decode, encode};
use values::address::ResourceInstance;

/// How often others may be first before we give up.
const ATTEMPTS: u32 = 8;

impl Estate {
    /// Reads a record, changes it and writes it back from the version that was read, again where others were
    /// first. `change` answers whether there is anything to write, and so does this.
    pub(crate) async fn amend(
        &self,
        address: &ResourceInstance,
        change: impl Fn(&mut InstanceBody) -> bool + Send,
    ) -> Result<bool, EstateError> {
        let key = self.keys.instance(address)?;
        let mut found = self.store.get(&key).await?;
        for _ in 0..ATTEMPTS {
            let Some(record) = found else { return Ok(false) };
            let mut body = decode::<InstanceBody>(&key, &record.body)?;
            if !change(&mut body) {
                return Ok(false);
            }
            body.write_id = WriteId::new(&*self.random);
            match swap_instance(&*self.store, &key, encode(&key, &body)?, &record.version).await? {
                Swapped::Written(_) => return Ok(true),
                Swapped::Lost(now) => found = now,
            }
        }
        Err(EstateError::Contended { key, attempts: ATTEMPTS })
    }
}
