use async_trait::async_trait;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// SHA-256 over all that a plan file says.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlanDigest(pub [u8; 32]);

impl fmt::Display for PlanDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}
impl fmt::Debug for PlanDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A MAC over a plan's digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSignature {
    /// How it was made, e.g. `HMAC_SHA_256`.
    pub algorithm: String,
    /// Which key made it: a name or a fingerprint, never the key.
    pub key: String,
    /// The MAC, in hexadecimal.
    pub mac: String,
}

/// The keeper of the key could not be asked, or refused.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SigningError {
    /// What was refused and how to mend it.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Makes MACs over plans; only what plans has one.
#[async_trait]
pub trait PlanSigner: Send + Sync {
    /// A MAC over a digest.
    ///
    /// # Errors
    /// Where the key cannot be used.
    async fn sign(&self, digest: &PlanDigest) -> Result<PlanSignature, SigningError>;
}

/// Verifies MACs over plans, and can make none.
#[async_trait]
pub trait PlanVerifier: Send + Sync {
    /// Whether the MAC is this key's, over this digest. Takes the same time for every wrong MAC.
    ///
    /// # Errors
    /// Where the key cannot be used.
    async fn verify(
        &self,
        digest: &PlanDigest,
        signature: &PlanSignature,
    ) -> Result<bool, SigningError>;
}

/// HMAC-SHA256 with a key of our own.
#[derive(Clone)]
pub struct HmacKey {
    key: [u8; 32],
}

impl HmacKey {
    const ALGORITHM: &str = "HMAC_SHA_256";
    /// Keeps these MACs apart from any other use of the same key.
    const CONTEXT: &[u8] = b"plumbline saved plan\0";

    /// A key of 256 random bits.
    pub fn new(key: [u8; 32]) -> HmacKey {
        HmacKey { key }
    }
    /// A name for the key that does not give it away.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::new().chain_update(b"plumbline key\0").chain_update(self.key);
        hex::encode(&digest.finalize()[..8])
    }
    fn mac(&self, digest: &PlanDigest) -> Option<Hmac<Sha256>> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        Some(mac.chain_update(Self::CONTEXT).chain_update(digest.0))
    }
}

/// Never shows the key.
impl fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HmacKey({})", self.fingerprint())
    }
}

#[async_trait]
impl PlanSigner for HmacKey {
    async fn sign(&self, digest: &PlanDigest) -> Result<PlanSignature, SigningError> {
        let mac = self.mac(digest).ok_or_else(|| SigningError {
            message: "the key that authenticates plans has a length that HMAC cannot use".into(),
            source: None,
        })?;
        Ok(PlanSignature {
            algorithm: Self::ALGORITHM.into(),
            key: self.fingerprint(),
            mac: hex::encode(mac.finalize().into_bytes()),
        })
    }
}

#[async_trait]
impl PlanVerifier for HmacKey {
    async fn verify(
        &self,
        digest: &PlanDigest,
        signature: &PlanSignature,
    ) -> Result<bool, SigningError> {
        let Ok(claimed) = hex::decode(&signature.mac) else { return Ok(false) };
        Ok(signature.algorithm == Self::ALGORITHM
            && self.mac(digest).is_some_and(|mac| mac.verify_slice(&claimed).is_ok()))
    }
}
