//! Secrets by reference: names and ARNs travel, and what they stand for is read where it is used.

use async_trait::async_trait;
use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::{DisplayErrorContext, ProvideErrorMetadata};
use std::fmt;

/// Something that must not be shown. It has no text form.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }
    /// What it is, for whoever uses it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A secret cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the secret {name} cannot be read: {problem}")]
pub struct SecretError {
    /// Its name or ARN.
    pub name: String,
    /// Why, and what mends it.
    pub problem: String,
}

/// Reads secrets.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// The secret with this name or ARN.
    ///
    /// # Errors
    /// Where it does not exist, is empty, or may not be read.
    async fn read(&self, name: &str) -> Result<Secret, SecretError>;
}

/// Secrets of AWS Secrets Manager.
#[derive(Clone, Debug)]
pub struct SecretsManager(Client);

impl SecretsManager {
    /// In the account and region of a configuration.
    pub fn of(sdk: &aws_config::SdkConfig) -> SecretsManager {
        SecretsManager(Client::new(sdk))
    }
}

#[async_trait]
impl Secrets for SecretsManager {
    async fn read(&self, name: &str) -> Result<Secret, SecretError> {
        let refused = |problem: String| SecretError { name: name.to_owned(), problem };
        let answer = self.0.get_secret_value().secret_id(name).send().await;
        let answer = answer.map_err(|error| {
            refused(match error.code() {
                Some("ResourceNotFoundException") => {
                    "there is none of that name in this account and region; create it, or correct deployment.toml".to_owned()
                }
                Some("AccessDeniedException") => {
                    "the function's role may not read it; list its ARN in the stack's parameter WebhookSecretArns or TokenSecretArns"
                        .to_owned()
                }
                _ => format!("secretsmanager:GetSecretValue failed: {}", DisplayErrorContext(&error)),
            })
        })?;
        match answer.secret_string {
            Some(text) if !text.trim().is_empty() => Ok(Secret::new(text.trim())),
            _ => Err(refused("it holds no text".to_owned())),
        }
    }
}
