//! How a body is stored: compressed where that helps, and in parts only where it must not be lost.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// Bytes that one Secret holds, its values together: the API server's own limit. With names, labels and
/// annotations it stays below the 1.5 MiB that etcd takes in one request.
pub const MAX_STORED_SIZE: usize = 1024 * 1024;

/// Bytes that a body may take when a change of it begins: a quarter is left for what comes back from it.
pub const MAX_CLAIMED_SIZE: usize = MAX_STORED_SIZE / 4 * 3;

/// The most Secrets one body is ever spread over.
pub(super) const MAX_PARTS: usize = 32;

/// The largest body that is unpacked. Packed by this store a body is a fraction of it; what unpacks to more
/// was put there to exhaust a reader's memory.
const MAX_UNPACKED_SIZE: u64 = 256 * 1024 * 1024;

/// The value of a Secret that holds a compressed body.
const COMPRESSED: &str = "body.gz";
/// The value of a Secret that holds a body as it is.
const PLAIN: &str = "body";

/// A body as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// The name of the value.
    pub(super) name: &'static str,
    /// Its bytes.
    pub(super) content: Vec<u8>,
}

impl Packed {
    /// Compresses a body, unless it grows by that: the same bytes for the same body always.
    pub(super) fn new(body: &[u8]) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        match encoder.write_all(body).and_then(|()| encoder.finish()) {
            Ok(content) if content.len() < body.len() => Self { name: COMPRESSED, content },
            _ => Self { name: PLAIN, content: body.to_vec() },
        }
    }

    pub(super) fn digest(&self) -> String {
        hex::encode(Sha256::digest(&self.content))
    }
}

/// The value of a record's Secret, by name and bytes; none where it has neither or both.
pub(super) fn stored_value<'v>(
    values: impl IntoIterator<Item = (&'v str, &'v [u8])>,
) -> Option<(&'static str, &'v [u8])> {
    let mut found = None;
    for (name, content) in values {
        let name = match name {
            COMPRESSED => COMPRESSED,
            PLAIN => PLAIN,
            // What others add to a Secret is theirs.
            _ => continue,
        };
        if found.replace((name, content)).is_some() {
            return None;
        }
    }
    found
}

/// Unpacks what [`Packed::new`] packed.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub(super) fn unpack(name: &str, content: Vec<u8>) -> Result<Bytes, &'static str> {
    if name == PLAIN {
        return Ok(Bytes::from(content));
    }
    let mut body = Vec::new();
    let mut decoder = GzDecoder::new(content.as_slice()).take(MAX_UNPACKED_SIZE + 1);
    match decoder.read_to_end(&mut body) {
        Err(_) => Err("its body is not compressed as it says"),
        Ok(_) if body.len() as u64 > MAX_UNPACKED_SIZE => {
            Err("its body unpacks to more than 256 MiB")
        }
        Ok(_) => Ok(Bytes::from(body)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packing_is_reversible(body in proptest::collection::vec(any::<u8>(), 0..2000), times in 1_usize..20) {
            let body = body.repeat(times);
            let packed = Packed::new(&body);
            prop_assert!(packed.content.len() <= body.len());
            prop_assert_eq!(unpack(packed.name, packed.content), Ok(Bytes::from(body)));
        }
    }

    #[test]
    fn what_unpacks_without_end_is_refused() {
        let packed = Packed::new(&vec![0; 257 * 1024 * 1024]);
        assert!(packed.content.len() < MAX_STORED_SIZE);
        assert_eq!(
            unpack(packed.name, packed.content),
            Err("its body unpacks to more than 256 MiB")
        );
    }

    #[test]
    fn a_value_that_is_there_twice_is_none() {
        let (a, b): (&[u8], &[u8]) = (b"a", b"b");
        assert_eq!(stored_value([("body", a), ("note", b)]), Some(("body", a)));
        assert_eq!(stored_value([("body", a), ("body.gz", b)]), None);
        assert_eq!(stored_value([("note", b)]), None);
    }
}
