//! The contract of a bucket and of the key it names.
//!
//! | room | what it judges |
//! |---|---|
//! | `reading` | reads the bucket's configuration, and tells what is not set from what may not be read |
//! | `lifecycle` | rules that remove old versions, artifacts, or records |
//! | `encryption_key` | the key's state and rotation |
//! | `bucket_policy` | statements that refuse requests without TLS, and writes without a condition |

mod bucket_policy;
mod encryption_key;
mod lifecycle;
mod prefixes;
mod reading;

use async_trait::async_trait;
use aws_sdk_s3::types::{BucketVersioningStatus, PublicAccessBlockConfiguration};

pub use bucket_policy::{BucketPolicy, judge_conditional_writes, judge_tls_only};
pub use encryption_key::{Rotation, judge as judge_key};
pub use lifecycle::{Expiry, Rule, judge as judge_lifecycle};
pub use prefixes::Prefixes;

use self::reading::{KeyReading, Reader, Unread};
use super::commands::Commands;
use super::connection::S3Connection;
use crate::contract::{Access, Finding, Remedy, Setting, StoreContract, StoreKind};

/// The contract of one bucket, for what is kept in it: records, artifacts or both.
#[derive(Clone, Debug)]
pub struct BucketContract {
    connection: S3Connection,
    prefixes: Prefixes,
    commands: Commands,
}

impl BucketContract {
    /// The contract of the connection's bucket for what is under the prefixes. Sends nothing.
    #[must_use]
    pub fn new(connection: S3Connection, prefixes: Prefixes) -> Self {
        let commands = Commands::for_connection(&connection);
        Self { connection, prefixes, commands }
    }

    fn versioning(&self, read: Result<Option<BucketVersioningStatus>, Unread>) -> Finding {
        let bucket = &self.commands.bucket;
        if self.prefixes.records().is_empty() {
            return Finding::passed(
                Setting::Versioning,
                format!("The bucket {bucket} holds no records, and artifacts need no versions."),
            );
        }
        let status = match read {
            Ok(status) => status,
            Err(unread) => return unread.finding(Setting::Versioning),
        };
        let found = match status {
            Some(BucketVersioningStatus::Enabled) => {
                return Finding::passed(
                    Setting::Versioning,
                    format!("The bucket {bucket} keeps versions."),
                );
            }
            Some(_) => format!("Versioning of the bucket {bucket} is suspended."),
            None => format!("Versioning of the bucket {bucket} was never enabled."),
        };
        let command = self
            .commands
            .s3api("put-bucket-versioning", "--versioning-configuration Status=Enabled");
        Finding::failed(Setting::Versioning, found, Remedy::command("Enable versioning.", command))
    }

    fn lifecycle(&self, read: Result<Vec<Rule>, Unread>) -> Finding {
        match read {
            Ok(rules) => judge_lifecycle(&rules, &self.prefixes, &self.commands),
            Err(unread) => unread.finding(Setting::Lifecycle),
        }
    }

    fn public_access_block(
        &self,
        read: Result<Option<PublicAccessBlockConfiguration>, Unread>,
    ) -> Finding {
        let block = match read {
            Ok(block) => block,
            Err(unread) => return unread.finding(Setting::PublicAccessBlock),
        };
        let bucket = &self.commands.bucket;
        let settings = |block: &PublicAccessBlockConfiguration| {
            [
                ("BlockPublicAcls", block.block_public_acls),
                ("IgnorePublicAcls", block.ignore_public_acls),
                ("BlockPublicPolicy", block.block_public_policy),
                ("RestrictPublicBuckets", block.restrict_public_buckets),
            ]
        };
        let off: Option<Vec<&str>> = block.as_ref().map(|block| {
            let off = settings(block).into_iter().filter(|(_, on)| *on != Some(true));
            off.map(|(name, _)| name).collect()
        });
        let found = match off {
            None => format!("The bucket {bucket} has no public access block."),
            Some(off) if off.is_empty() => {
                return Finding::passed(
                    Setting::PublicAccessBlock,
                    format!(
                        "The public access block of the bucket {bucket} has all four settings."
                    ),
                );
            }
            Some(off) => format!(
                "The public access block of the bucket {bucket} does not have {}.",
                off.join(", ")
            ),
        };
        let command = self.commands.s3api(
            "put-public-access-block",
            "--public-access-block-configuration \
             BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true",
        );
        Finding::failed(
            Setting::PublicAccessBlock,
            found,
            Remedy::command("Turn on all four settings.", command),
        )
    }

    fn encryption_key(&self, read: Result<KeyReading, Unread>) -> Finding {
        let bucket = &self.commands.bucket;
        match read {
            Err(unread) => unread.finding(Setting::EncryptionKey),
            Ok(KeyReading::NoneNamed { algorithm }) => {
                encryption_key::none_named(bucket, algorithm.as_deref())
            }
            Ok(KeyReading::Unusable { key, problem }) => {
                encryption_key::unusable(&key, &problem, &self.commands)
            }
            Ok(KeyReading::Elsewhere { key }) => Finding::not_checked(
                Setting::EncryptionKey,
                format!(
                    "The bucket {bucket} names the key {key}; no KMS is configured for this server, so its \
                     state was not read."
                ),
            ),
            Ok(KeyReading::Read { key, metadata, rotation }) => {
                judge_key(&key, &metadata, &rotation, &self.commands)
            }
        }
    }

    fn policy(&self, read: Result<BucketPolicy, Unread>) -> [Finding; 2] {
        let Self { prefixes, commands, .. } = self;
        match read {
            Ok(policy) => [
                judge_tls_only(&policy, prefixes, commands),
                judge_conditional_writes(&policy, prefixes, commands),
            ],
            Err(unread) => {
                [unread.finding(Setting::TlsOnly), unread.finding(Setting::ConditionalWrites)]
            }
        }
    }
}

#[async_trait]
impl StoreContract for BucketContract {
    fn location(&self) -> String {
        self.connection.location()
    }

    fn settings(&self) -> Vec<Setting> {
        StoreKind::S3.settings()
    }

    async fn check(&self, _access: Access) -> Vec<Finding> {
        let reader = Reader::new(&self.connection, &self.commands);
        let (versioning, lifecycle, block, key, policy) = tokio::join!(
            reader.versioning(),
            reader.lifecycle(),
            reader.public_access_block(),
            reader.encryption_key(),
            reader.policy(),
        );
        let mut findings = vec![
            self.versioning(versioning),
            self.lifecycle(lifecycle),
            self.public_access_block(block),
            self.encryption_key(key),
        ];
        findings.extend(self.policy(policy));
        findings
    }
}
