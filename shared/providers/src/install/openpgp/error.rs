/// A signature proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// None of the keys has made it.
    #[error("authentication signature from unknown issuer")]
    UnknownIssuer,
    /// It is not of this document, or not by that key.
    #[error("error checking signature: it does not match the document")]
    Mismatch,
    /// It held for a time that is over.
    #[error("error checking signature: it has expired")]
    Expired,
    /// The key was revoked.
    #[error("error checking signature: the key was revoked by its owner")]
    Revoked,
    /// A part of a key does not belong to it, or is not meant for signing.
    #[error(
        "error checking signature: the subkey that made it is not bound to its key for signing"
    )]
    Unbound,
    /// It cannot be read.
    #[error("error checking signature: {0}")]
    Malformed(String),
    /// It is made in a way that is not supported.
    #[error(
        "error checking signature: {0} is not supported: version 4 signatures with RSA or Ed25519 and SHA-2 are"
    )]
    Unsupported(String),
}

impl SignatureError {
    pub(super) fn malformed(detail: &str) -> SignatureError {
        SignatureError::Malformed(detail.to_owned())
    }
    pub(super) fn cut_off() -> SignatureError {
        SignatureError::malformed("a packet is cut off")
    }
}
