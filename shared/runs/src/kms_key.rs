//! The key that authenticates plans, where AWS KMS keeps it: whoever plans may make MACs, whoever validates
//! and applies may only verify them, and nobody can read the key.

use async_trait::async_trait;
use aws_sdk_kms::Client;
use aws_sdk_kms::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_kms::operation::verify_mac::VerifyMacError;
use aws_sdk_kms::primitives::Blob;
use aws_sdk_kms::types::MacAlgorithmSpec;
use engine::saved_plan::{PlanDigest, PlanSignature, PlanSigner, PlanVerifier, SigningError};
use std::error::Error as StdError;

/// Keeps these MACs apart from any other use of the same key.
const CONTEXT: &[u8] = b"plumbline saved plan\0";
const ALGORITHM: &str = "HMAC_SHA_256";

/// An HMAC key of AWS KMS (key spec `HMAC_256`).
#[derive(Clone, Debug)]
pub struct KmsKey {
    client: Client,
    key: String,
}

impl KmsKey {
    /// The key, in the account and region of a configuration.
    pub fn of(sdk: &aws_config::SdkConfig, key: impl Into<String>) -> KmsKey {
        KmsKey::new(Client::new(sdk), key)
    }

    /// The key with this ARN, id or alias (`alias/...`). Sends nothing.
    pub fn new(client: Client, key: impl Into<String>) -> KmsKey {
        KmsKey { client, key: key.into() }
    }

    fn refused<E, R>(&self, action: &str, error: SdkError<E, R>) -> SigningError
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
        R: std::fmt::Debug + Send + Sync + 'static,
    {
        let key = &self.key;
        let message = match error.code() {
            Some("AccessDeniedException") => format!(
                "kms:{action} on {key} was denied: the caller's role needs that permission on the key, in its \
                 own policy or in the key's"
            ),
            Some("NotFoundException") => format!(
                "there is no key {key} in this account and region; set plans.hmac_key to the key's ARN, or \
                 make it with `aws kms create-key --key-usage GENERATE_VERIFY_MAC --key-spec HMAC_256`"
            ),
            Some("DisabledException") => {
                format!("the key {key} is disabled; run `aws kms enable-key --key-id {key}`")
            }
            Some("KMSInvalidStateException") => format!(
                "the key {key} cannot be used in its present state; if it is pending deletion, run `aws kms \
                 cancel-key-deletion --key-id {key}` and then `aws kms enable-key --key-id {key}`"
            ),
            Some("InvalidKeyUsageException") => format!(
                "the key {key} is no HMAC key of 256 bits, which kms:{action} needs; make one with `aws kms \
                 create-key --key-usage GENERATE_VERIFY_MAC --key-spec HMAC_256`"
            ),
            _ => format!("kms:{action} with {key} failed: {}", DisplayErrorContext(&error)),
        };
        SigningError { message, source: Some(Box::new(error)) }
    }
}

fn message(digest: &PlanDigest) -> Blob {
    Blob::new([CONTEXT, &digest.0].concat())
}

#[async_trait]
impl PlanSigner for KmsKey {
    async fn sign(&self, digest: &PlanDigest) -> Result<PlanSignature, SigningError> {
        let answer = self
            .client
            .generate_mac()
            .key_id(&self.key)
            .mac_algorithm(MacAlgorithmSpec::HmacSha256)
            .message(message(digest))
            .send()
            .await
            .map_err(|error| self.refused("GenerateMac", error))?;
        let mac = answer.mac.ok_or_else(|| SigningError {
            message: format!("kms:GenerateMac with {} answered no MAC", self.key),
            source: None,
        })?;
        Ok(PlanSignature {
            algorithm: ALGORITHM.into(),
            key: answer.key_id.unwrap_or_else(|| self.key.clone()),
            mac: hex::encode(mac),
        })
    }
}

#[async_trait]
impl PlanVerifier for KmsKey {
    /// With the key that is configured, whatever key a plan says it is from.
    async fn verify(
        &self,
        digest: &PlanDigest,
        signature: &PlanSignature,
    ) -> Result<bool, SigningError> {
        let Ok(mac) = hex::decode(&signature.mac) else { return Ok(false) };
        // KMS takes no empty MAC, and refuses it in other words than a wrong one.
        if signature.algorithm != ALGORITHM || mac.is_empty() {
            return Ok(false);
        }
        let answer = self
            .client
            .verify_mac()
            .key_id(&self.key)
            .mac_algorithm(MacAlgorithmSpec::HmacSha256)
            .message(message(digest))
            .mac(Blob::new(mac))
            .send()
            .await;
        match answer {
            Ok(answer) => Ok(answer.mac_valid),
            Err(error) => match error.as_service_error() {
                Some(VerifyMacError::KmsInvalidMacException(_)) => Ok(false),
                _ => Err(self.refused("VerifyMac", error)),
            },
        }
    }
}
