//! Reads a bucket's configuration, and tells what is not set from what may not be read.

use aws_sdk_kms::types::KeyMetadata;
use aws_sdk_s3::config::Region;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::types::{BucketVersioningStatus, PublicAccessBlockConfiguration};

use super::bucket_policy::BucketPolicy;
use super::encryption_key::{Rotation, is_rotated_by_kms};
use super::lifecycle::Rule;
use crate::StoreError;
use crate::contract::{Finding, Remedy, Setting};
use crate::s3::answer::Failure;
use crate::s3::commands::{self, Commands};
use crate::s3::connection::S3Connection;
use crate::s3::failure::{self, Request};
use crate::service_refusal::{KeyProblem, RefusalCause, ServiceRefusal};

/// Attempts at a read before it counts as unreadable.
const ATTEMPTS: u32 = 4;

/// Reads with a client that repeats what was throttled: reads change nothing.
pub(super) struct Reader<'a> {
    connection: &'a S3Connection,
    commands: &'a Commands,
    s3: aws_sdk_s3::Client,
}

/// The key that a bucket names, and what KMS says of it.
pub(super) enum KeyReading {
    /// The bucket names none.
    NoneNamed { algorithm: Option<String> },
    /// KMS cannot be asked.
    Elsewhere { key: String },
    /// KMS does not know it, or not any more.
    Unusable { key: String, problem: KeyProblem },
    /// KMS knows it.
    Read { key: String, metadata: Box<KeyMetadata>, rotation: Rotation },
}

/// Why a setting was not read.
pub(super) enum Unread {
    /// The server has no such setting.
    Unsupported { operation: &'static str, location: String },
    /// There is no such bucket.
    NoBucket { bucket: String, command: String },
    /// The service refused, most often because the identity may not read it.
    Refused { refusal: Box<ServiceRefusal>, action: &'static str, resource: String },
    /// Something else went wrong.
    Failed { problem: String, remedy: Remedy },
}

impl Unread {
    /// The finding for a setting that was not read.
    pub(super) fn finding(&self, setting: Setting) -> Finding {
        match self {
            Self::Unsupported { operation, location } => Finding::not_checked(
                setting,
                format!(
                    "The server of {location} does not know {operation}, so there is no telling."
                ),
            ),
            Self::NoBucket { bucket, command } => Finding::failed(
                setting,
                format!("There is no bucket {bucket}."),
                Remedy::command("Check the name, or create the bucket.", command),
            )
            .never_waived(),
            Self::Refused { refusal, action, resource } => {
                let found = format!("{}. {}", refusal.headline(), refusal.explanation());
                // Without a word from AWS about it, the action that reads the setting is the one to allow.
                let remedy = match &refusal.cause {
                    RefusalCause::AccessDenied(denial) if denial.action.is_none() => {
                        Remedy::command(
                            format!("Allow {action} on {resource} to the identity."),
                            commands::allow(denial.principal.as_deref(), action, resource),
                        )
                    }
                    _ => refusal.remedy.clone(),
                };
                Finding::unreadable(setting, found, remedy)
            }
            Self::Failed { problem, remedy } => {
                Finding::unreadable(setting, problem.clone(), remedy.clone())
            }
        }
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(connection: &'a S3Connection, commands: &'a Commands) -> Self {
        let retries = RetryConfig::standard().with_max_attempts(ATTEMPTS);
        let config = connection.s3().config().to_builder().retry_config(retries).build();
        Self { connection, commands, s3: aws_sdk_s3::Client::from_conf(config) }
    }

    pub(super) async fn versioning(&self) -> Result<Option<BucketVersioningStatus>, Unread> {
        let answer = self
            .s3
            .get_bucket_versioning()
            .bucket(self.connection.bucket())
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await;
        match answer {
            Ok(answer) => {
                self.connection.owner_passes();
                Ok(answer.status)
            }
            Err(error) => {
                Err(self.unread("GetBucketVersioning", "s3:GetBucketVersioning", error.into()))
            }
        }
    }

    pub(super) async fn lifecycle(&self) -> Result<Vec<Rule>, Unread> {
        let answer = self
            .s3
            .get_bucket_lifecycle_configuration()
            .bucket(self.connection.bucket())
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await;
        match answer {
            Ok(answer) => Ok(answer.rules().iter().map(Rule::read).collect()),
            Err(error) => {
                let operation = ("GetBucketLifecycleConfiguration", "s3:GetLifecycleConfiguration");
                self.not_set("NoSuchLifecycleConfiguration", operation, error.into())?;
                Ok(Vec::new())
            }
        }
    }

    pub(super) async fn public_access_block(
        &self,
    ) -> Result<Option<PublicAccessBlockConfiguration>, Unread> {
        let answer = self
            .s3
            .get_public_access_block()
            .bucket(self.connection.bucket())
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await;
        match answer {
            Ok(answer) => Ok(answer.public_access_block_configuration),
            Err(error) => {
                let operation = ("GetPublicAccessBlock", "s3:GetBucketPublicAccessBlock");
                self.not_set("NoSuchPublicAccessBlockConfiguration", operation, error.into())?;
                Ok(None)
            }
        }
    }

    pub(super) async fn policy(&self) -> Result<BucketPolicy, Unread> {
        let answer = self
            .s3
            .get_bucket_policy()
            .bucket(self.connection.bucket())
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await;
        match answer {
            Ok(answer) => {
                let text = answer.policy().unwrap_or_default();
                BucketPolicy::parse(text).ok_or_else(|| Unread::Failed {
                    problem: format!(
                        "The policy of the bucket {} is no policy document.",
                        self.connection.bucket()
                    ),
                    remedy: Remedy::command(
                        "See what the server keeps in its place, and put a policy there.",
                        self.commands.s3api("get-bucket-policy", "--query Policy --output text"),
                    ),
                })
            }
            Err(error) => {
                let operation = ("GetBucketPolicy", "s3:GetBucketPolicy");
                self.not_set("NoSuchBucketPolicy", operation, error.into())?;
                Ok(BucketPolicy::none())
            }
        }
    }

    pub(super) async fn encryption_key(&self) -> Result<KeyReading, Unread> {
        let answer = self
            .s3
            .get_bucket_encryption()
            .bucket(self.connection.bucket())
            .set_expected_bucket_owner(self.connection.expected_bucket_owner())
            .send()
            .await;
        let configuration = match answer {
            Ok(answer) => answer.server_side_encryption_configuration,
            Err(error) => {
                let operation = ("GetBucketEncryption", "s3:GetEncryptionConfiguration");
                let code = "ServerSideEncryptionConfigurationNotFoundError";
                self.not_set(code, operation, error.into())?;
                None
            }
        };
        let default = configuration
            .and_then(|configuration| configuration.rules.into_iter().next())
            .and_then(|rule| rule.apply_server_side_encryption_by_default);
        let algorithm = default.as_ref().map(|default| default.sse_algorithm.as_str().to_owned());
        match default.and_then(|default| default.kms_master_key_id).filter(|key| !key.is_empty()) {
            Some(key) => self.key(key).await,
            None => Ok(KeyReading::NoneNamed { algorithm }),
        }
    }

    async fn key(&self, key: String) -> Result<KeyReading, Unread> {
        if !self.connection.has_kms() {
            return Ok(KeyReading::Elsewhere { key });
        }
        let retries = RetryConfig::standard().with_max_attempts(ATTEMPTS);
        let mut config = self.connection.kms().config().to_builder().retry_config(retries);
        if let Some(region) = commands::region_of(&key) {
            config = config.region(Region::new(region.to_owned()));
        }
        let kms = aws_sdk_kms::Client::from_conf(config.build());
        let metadata = match kms.describe_key().key_id(&key).send().await {
            Ok(answer) => answer.key_metadata,
            Err(error) => {
                let failure = Failure::from(error);
                if failure.says("NotFoundException") {
                    return Ok(KeyReading::Unusable { key, problem: KeyProblem::NotFound });
                }
                return Err(self.unread_key("DescribeKey", "kms:DescribeKey", &key, failure));
            }
        };
        let Some(metadata) = metadata else {
            let problem = format!("KMS said nothing of the key {key}.");
            let remedy = Remedy::command(
                "See what KMS says of it.",
                self.commands.kms("describe-key", &key),
            );
            return Err(Unread::Failed { problem, remedy });
        };
        let rotation = match is_rotated_by_kms(&metadata) {
            true => self.rotation(&kms, &key, &metadata).await,
            false => Rotation::Unsupported,
        };
        Ok(KeyReading::Read { key, metadata: Box::new(metadata), rotation })
    }

    async fn rotation(
        &self,
        kms: &aws_sdk_kms::Client,
        key: &str,
        metadata: &KeyMetadata,
    ) -> Rotation {
        // An alias is no name for this request.
        let id = metadata.arn().unwrap_or(key);
        match kms.get_key_rotation_status().key_id(id).send().await {
            Ok(answer) if answer.key_rotation_enabled() => Rotation::On,
            Ok(_) => Rotation::Off,
            Err(error) => {
                let failure = Failure::from(error);
                if failure.says("UnsupportedOperationException") {
                    return Rotation::Unsupported;
                }
                let request = read_request("GetKeyRotationStatus");
                Rotation::Unknown(match failure::named(self.connection, request, failure) {
                    StoreError::Refused(refusal) => refusal.headline(),
                    other => other.to_string(),
                })
            }
        }
    }

    /// Fails unless the service has said, with this code, that the setting is not set. The operation is named with the
    /// action that allows it.
    fn not_set(
        &self,
        code: &str,
        (operation, action): (&'static str, &'static str),
        failure: Failure,
    ) -> Result<(), Unread> {
        match failure.says(code) {
            true => Ok(()),
            false => Err(self.unread(operation, action, failure)),
        }
    }

    fn unread(&self, operation: &'static str, action: &'static str, failure: Failure) -> Unread {
        self.unread_of(operation, action, self.commands.bucket_arn(), failure)
    }

    fn unread_key(
        &self,
        operation: &'static str,
        action: &'static str,
        key: &str,
        failure: Failure,
    ) -> Unread {
        self.unread_of(operation, action, key.to_owned(), failure)
    }

    fn unread_of(
        &self,
        operation: &'static str,
        action: &'static str,
        resource: String,
        failure: Failure,
    ) -> Unread {
        let location = self.connection.location();
        if failure.says("NoSuchBucket") {
            let region = self.s3.config().region().map_or("us-east-1", |region| region.as_ref());
            return Unread::NoBucket {
                bucket: self.connection.bucket().to_owned(),
                command: self.commands.create_bucket(region),
            };
        }
        // Not what AWS answers to any of these: the server is another one.
        if matches!(failure.status, Some(405 | 501)) || failure.says("NotImplemented") {
            return Unread::Unsupported { operation, location };
        }
        let request = read_request(operation);
        match failure::named(self.connection, request, failure) {
            StoreError::Refused(refusal) => Unread::Refused { refusal, action, resource },
            other => Unread::Failed {
                problem: format!("{}.", other.with_source()),
                remedy: Remedy::advice(
                    "See that the service can be reached from here, and run again.",
                ),
            },
        }
    }
}

fn read_request(operation: &'static str) -> Request<'static> {
    Request { operation, key: None, is_write: false }
}
