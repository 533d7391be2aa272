//! The key that authenticates plans, wherever it is kept.

use crate::kms_key::KmsKey;
use async_trait::async_trait;
use engine::saved_plan::{
    HmacKey, PlanDigest, PlanSignature, PlanSigner, PlanVerifier, SigningError,
};

/// A key that makes MACs and verifies them.
#[derive(Clone, Debug)]
pub enum PlanKey {
    /// In a file.
    File(HmacKey),
    /// In AWS KMS.
    Kms(KmsKey),
}

#[async_trait]
impl PlanSigner for PlanKey {
    async fn sign(&self, digest: &PlanDigest) -> Result<PlanSignature, SigningError> {
        match self {
            PlanKey::File(key) => key.sign(digest).await,
            PlanKey::Kms(key) => key.sign(digest).await,
        }
    }
}

#[async_trait]
impl PlanVerifier for PlanKey {
    async fn verify(
        &self,
        digest: &PlanDigest,
        signature: &PlanSignature,
    ) -> Result<bool, SigningError> {
        match self {
            PlanKey::File(key) => key.verify(digest, signature).await,
            PlanKey::Kms(key) => key.verify(digest, signature).await,
        }
    }
}
