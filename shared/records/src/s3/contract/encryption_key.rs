//! Whether the key that a bucket names can be used, and will be.

use aws_sdk_kms::types::{KeyMetadata, OriginType};

use crate::contract::{Finding, Remedy, Setting};
use crate::s3::commands::Commands;
use crate::s3::key_remedy::remedy;
use crate::service_refusal::KeyProblem;

/// The rotation of a key, as far as it can be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// KMS makes new material by itself.
    On,
    /// It does not.
    Off,
    /// The key is of a sort that KMS does not rotate.
    Unsupported,
    /// It could not be read, for this reason.
    Unknown(String),
}

/// The finding for a bucket that names a key which KMS knows.
#[must_use]
pub fn judge(
    key: &str,
    metadata: &KeyMetadata,
    rotation: &Rotation,
    commands: &Commands,
) -> Finding {
    let bucket = &commands.bucket;
    if let Some(problem) = problem(metadata) {
        return unusable(key, &problem, commands);
    }
    let named = format!("The bucket {bucket} names the KMS key {key}, which is enabled");
    match rotation {
        Rotation::On => Finding::passed(Setting::EncryptionKey, format!("{named} and rotated.")),
        Rotation::Unsupported => Finding::passed(
            Setting::EncryptionKey,
            format!("{named}; KMS does not rotate keys of its sort."),
        ),
        Rotation::Off => Finding::warned(
            Setting::EncryptionKey,
            format!("{named}, but its rotation is off."),
            Remedy::command(
                "Let KMS make new key material every year; what is encrypted stays readable.",
                commands.kms("enable-key-rotation", metadata.arn().unwrap_or(key)),
            ),
        ),
        Rotation::Unknown(reason) => Finding::not_checked(
            Setting::EncryptionKey,
            format!("{named}; whether it is rotated could not be read: {reason}."),
        ),
    }
}

/// The finding for a key that cannot be used.
pub(super) fn unusable(key: &str, problem: &KeyProblem, commands: &Commands) -> Finding {
    let found = format!("The bucket {} names the KMS key {key}, which {problem}.", commands.bucket);
    Finding::failed(Setting::EncryptionKey, found, remedy(Some(key), problem, commands))
        .never_waived()
}

/// The finding for a bucket that names no key of its own.
pub(super) fn none_named(bucket: &str, algorithm: Option<&str>) -> Finding {
    let with = match algorithm {
        Some("aws:kms" | "aws:kms:dsse") => "the key that KMS manages for S3",
        _ => "keys that S3 manages",
    };
    Finding::passed(
        Setting::EncryptionKey,
        format!("The bucket {bucket} names no KMS key; objects are encrypted with {with}."),
    )
}

/// Whether KMS rotates keys of this sort by itself.
pub(super) fn is_rotated_by_kms(metadata: &KeyMetadata) -> bool {
    let symmetric = metadata.key_spec().is_none_or(|spec| spec.as_str() == "SYMMETRIC_DEFAULT");
    let of_kms = metadata.origin().is_none_or(|origin| *origin == OriginType::AwsKms);
    symmetric && of_kms
}

fn problem(metadata: &KeyMetadata) -> Option<KeyProblem> {
    let Some(state) = metadata.key_state() else {
        return (!metadata.enabled()).then_some(KeyProblem::Disabled);
    };
    Some(match state.as_str() {
        "Enabled" | "Updating" => return None,
        "Disabled" => KeyProblem::Disabled,
        "PendingDeletion" | "PendingReplicaDeletion" => {
            KeyProblem::PendingDeletion { date: metadata.deletion_date().map(ToString::to_string) }
        }
        other => KeyProblem::InvalidState { state: Some(other.to_owned()) },
    })
}
