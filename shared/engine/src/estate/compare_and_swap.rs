use bytes::Bytes;
use records::{Key, Record, RecordStore, StoreError, Version};

/// How often a write is sent again that got no answer and left no trace.
const ATTEMPTS: u32 = 3;

/// What a conditional write came to.
pub(crate) enum Swapped {
    /// The body is in the store, at this version.
    Written(Version),
    /// Another writer was first; this is what the key holds now.
    Lost(Option<Record>),
}

/// Writes `body` if the key has the version `expected`.
///
/// A write without an answer, or with a conflict that its own earlier attempt may have caused, is
/// settled by reading back: bodies are never alike, so equal bytes are ours.
pub(crate) async fn swap(
    store: &dyn RecordStore,
    key: &Key,
    body: Bytes,
    expected: &Version,
) -> Result<Swapped, StoreError> {
    swap_by(store, key, body, expected, false).await
}

/// The same for what an instance's record says, which must not be lost: too large for one body, it is kept in parts
/// where the store can do that.
pub(crate) async fn swap_instance(
    store: &dyn RecordStore,
    key: &Key,
    body: Bytes,
    expected: &Version,
) -> Result<Swapped, StoreError> {
    swap_by(store, key, body, expected, true).await
}

async fn swap_by(
    store: &dyn RecordStore,
    key: &Key,
    body: Bytes,
    expected: &Version,
    in_parts: bool,
) -> Result<Swapped, StoreError> {
    let mut attempt = 1;
    loop {
        let put = match in_parts {
            true => store.put_in_parts(key, body.clone(), expected).await,
            false => store.put_if_version(key, body.clone(), expected).await,
        };
        let error = match put {
            Ok(version) => return Ok(Swapped::Written(version)),
            Err(error) if error.is_conflict() || error.leaves_doubt() => error,
            Err(error) => return Err(error),
        };
        let Ok(found) = store.get(key).await else { return Err(error) };
        match found {
            Some(record) if record.body == body => return Ok(Swapped::Written(record.version)),
            found if error.is_conflict() => return Ok(Swapped::Lost(found)),
            found => {
                let present = found.as_ref().map_or_else(Version::absent, |r| r.version.clone());
                if present != *expected {
                    return Ok(Swapped::Lost(found));
                }
            }
        }
        if attempt == ATTEMPTS {
            return Err(error);
        }
        attempt += 1;
    }
}
