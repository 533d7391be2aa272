//! Detached OpenPGP signatures, as registries sign checksums of packages: version 4 of RFC 4880, with RSA or Ed25519. Whatever
//! else there is, is refused by name.

mod armor;
mod certificate;
mod error;
mod packet;
mod public_key;
mod signature;

pub use error::SignatureError;

use certificate::Certificate;
use packet::{Packet, SIGNATURE, packets};
use signature::{BINARY, Signature};
use std::fmt;

/// Whose signature it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Signer {
    fingerprint: [u8; 20],
}

/// Bytes that a signature may have: real ones have below one thousand.
const SIGNATURE_LIMIT: usize = 1 << 16;

impl Signer {
    /// The key's short name, as registries show it.
    pub fn key_id(&self) -> String {
        hex::encode_upper(&self.fingerprint[12..])
    }
    /// What identifies the key.
    pub fn fingerprint(&self) -> String {
        hex::encode_upper(self.fingerprint)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint())
    }
}

/// Verifies that one of `keys` (public keys in ASCII armor) has signed a document, at a time (in seconds since 1970) when the
/// signature was valid. That a key itself has expired since does not matter, as Terraform has it: releases stay, and their
/// authors prolong keys without signing again.
///
/// # Errors
/// Where none has, or the first that claims to have has not.
pub fn verify_detached<'k>(
    document: &[u8],
    signature: &[u8],
    keys: impl IntoIterator<Item = &'k str>,
    now: i64,
) -> Result<Signer, SignatureError> {
    if signature.len() > SIGNATURE_LIMIT {
        return Err(SignatureError::malformed("it is too large for a signature"));
    }
    let mut signatures = Vec::new();
    for packet in packets(signature) {
        let Packet { tag, body } = packet?;
        if tag == SIGNATURE {
            signatures.push(Signature::parse(body)?);
        }
    }
    if signatures.is_empty() {
        return Err(SignatureError::malformed("it holds no signature"));
    }
    let mut certificates = Vec::new();
    for armored in keys {
        certificates.extend(Certificate::parse_all(&armor::public_key_block(armored)?)?);
    }
    for signature in &signatures {
        for certificate in &certificates {
            let Some(key) = certificate.signer(signature)? else { continue };
            if signature.kind != BINARY {
                return Err(SignatureError::Unsupported(format!(
                    "a signature of type 0x{:02x}",
                    signature.kind
                )));
            }
            signature.verify_document(document, key)?;
            if signature.has_expired(now) {
                return Err(SignatureError::Expired);
            }
            return Ok(Signer { fingerprint: certificate.primary.fingerprint });
        }
    }
    Err(SignatureError::UnknownIssuer)
}
