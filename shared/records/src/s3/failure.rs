//! Names the cause of what a service refused.
//!
//! Codes decide where there are codes. What AWS says in words alone, such as the policy that denies, is read in
//! `denial`, and whatever does not match is a cause with less detail, never another cause.
//!
//! Keys come first: S3 answers for KMS too, and a denial of the key is no denial of the bucket, nor a sign that the
//! bucket is somebody else's.

use std::error::Error as StdError;
use std::fmt;

use aws_credential_types::provider::error::CredentialsError;

use super::answer::{Failure, Meaning};
use super::commands::Commands;
use super::connection::S3Connection;
use super::denial;
use super::denied_remedy::{bucket_remedy, key_remedy};
use super::key_remedy::remedy as unusable_key_remedy;
use super::settings::S3Settings;
use crate::contract::Remedy;
use crate::service_refusal::{Denial, KeyProblem, RefusalCause, ServiceRefusal};
use crate::{Key, StoreError};

/// What was asked of the service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The operation, in the service's own words: `GetObject`.
    pub(crate) operation: &'static str,
    /// The key it was for, where it was for one.
    pub(crate) key: Option<&'a Key>,
    /// Whether it would have changed something.
    pub(crate) is_write: bool,
}

/// The error that a caller gets for a failure that is final.
///
/// Absence and conflicts are told apart before: what comes here is neither, unless its meaning is
/// unexpected for the operation.
pub(crate) fn named(
    connection: &S3Connection,
    request: Request<'_>,
    failure: Failure,
) -> StoreError {
    if failure.says("NoSuchBucket") {
        let region = connection.region().unwrap_or_else(|| "us-east-1".to_owned());
        let remedy = Commands::for_connection(connection).create_bucket(&region);
        let root = format!("s3://{} ({remedy})", connection.bucket());
        return StoreError::RootMissing { root };
    }
    // A write that may have been done is told as such, whatever the cause.
    let in_doubt = request.key.filter(|_| request.is_write && failure.meaning.leaves_doubt());
    match (cause(connection, request, &failure), in_doubt) {
        (Some(cause), None) => {
            StoreError::Refused(Box::new(refusal(connection, request, cause, failure)))
        }
        (Some(cause), Some(key)) => {
            unanswered(key, Box::new(refusal(connection, request, cause, failure)))
        }
        (None, Some(key)) => unanswered(key, Box::new(Answer::of(failure))),
        (None, None) => StoreError::Service {
            service: connection.location(),
            operation: request.operation.to_owned(),
            source: Box::new(Answer::of(failure)),
        },
    }
}

fn unanswered(key: &Key, source: Box<dyn StdError + Send + Sync>) -> StoreError {
    StoreError::Unanswered { key: key.clone(), source: Some(source) }
}

/// The error for a connection that has no region to sign requests for.
pub(crate) fn no_region(settings: &S3Settings) -> StoreError {
    StoreError::Refused(Box::new(ServiceRefusal {
        location: settings.location(),
        operation: "Connecting".to_owned(),
        cause: RefusalCause::NoRegion,
        remedy: no_region_remedy(&Commands::for_settings(settings)),
        said: None,
        source: None,
    }))
}

fn cause(
    connection: &S3Connection,
    request: Request<'_>,
    failure: &Failure,
) -> Option<RefusalCause> {
    if let Some(problem) = credentials_problem(&*failure.source) {
        return Some(problem);
    }
    let code = failure.code.as_deref();
    let words = failure.message.as_deref().unwrap_or_default();
    if let Some(cause) = key_cause(request, code, words) {
        return Some(cause);
    }
    Some(match code {
        Some("RequestTimeTooSkewed" | "RequestExpired" | "RequestInTheFuture") => {
            RefusalCause::ClockSkew
        }
        Some("ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired") => {
            RefusalCause::ExpiredCredentials
        }
        Some(
            "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "InvalidToken"
            | "InvalidClientTokenId"
            | "UnrecognizedClientException"
            | "InvalidSignatureException"
            | "MissingAuthenticationTokenException",
        ) => RefusalCause::UnknownCredentials,
        Some(
            "PermanentRedirect"
            | "TemporaryRedirect"
            | "AuthorizationHeaderMalformed"
            | "IllegalLocationConstraintException",
        ) => RefusalCause::OtherRegion { asked: connection.region() },
        // A HEAD has no body to say a code in.
        None if failure.status == Some(301) => {
            RefusalCause::OtherRegion { asked: connection.region() }
        }
        Some("AccessDenied" | "AccessDeniedException" | "AllAccessDisabled" | "Forbidden") => {
            denied(connection, request, words)
        }
        None if failure.status == Some(403) => denied(connection, request, words),
        _ if failure.meaning == Meaning::Throttled => RefusalCause::Throttled,
        _ => return None,
    })
}

/// What is said of the key: by S3, which answers for KMS with codes of its own, or by KMS itself.
fn key_cause(request: Request<'_>, code: Option<&str>, words: &str) -> Option<RefusalCause> {
    let of_kms = action(request.operation).starts_with("kms:");
    let code = code?;
    let kms_code = match code.strip_prefix("KMS.") {
        Some(code) => code,
        None if of_kms => code,
        // S3 has one code for a denial of its own and one of the key; the action in its words tells them apart.
        None if code == "AccessDenied" => {
            let denial = denial::parse(words)?;
            let is_key = denial.action.as_deref().is_some_and(|action| action.starts_with("kms:"));
            return is_key.then_some(RefusalCause::KeyDenied(denial));
        }
        None => return None,
    };
    let unusable = |problem| RefusalCause::KeyUnusable { key: key_arn(words), problem };
    Some(match kms_code {
        "DisabledException" => unusable(KeyProblem::Disabled),
        "NotFoundException" => unusable(KeyProblem::NotFound),
        "KMSInvalidStateException" | "InvalidStateException" => unusable(state(words)),
        "KeyUnavailableException" => unusable(KeyProblem::InvalidState { state: None }),
        "AccessDeniedException" | "AccessDenied" => {
            RefusalCause::KeyDenied(denial::parse(words).unwrap_or_else(|| Denial {
                action: of_kms.then(|| action(request.operation)),
                ..Denial::default()
            }))
        }
        "ThrottlingException" | "LimitExceededException" => RefusalCause::Throttled,
        _ => return None,
    })
}

/// KMS has one code for every state in which a key does nothing, and names the state in its words.
fn state(words: &str) -> KeyProblem {
    let words = words.trim_end().trim_end_matches('.');
    if words.ends_with(" is pending deletion") {
        return KeyProblem::PendingDeletion { date: None };
    }
    let state = words.ends_with(" is pending import").then(|| "PendingImport".to_owned());
    KeyProblem::InvalidState { state }
}

/// The ARN of a key among words.
fn key_arn(words: &str) -> Option<String> {
    let word = |c: char| c.is_ascii_whitespace() || matches!(c, '\'' | '"' | ',');
    let is_key = |word: &&str| {
        let mut parts = word.split(':');
        parts.next() == Some("arn") && parts.nth(1) == Some("kms")
    };
    words.split(word).find(is_key).map(|arn| arn.trim_end_matches('.').to_owned())
}

/// A denial. Where it names neither action nor policy, no request has passed with this owner yet, and an owner is
/// pinned, the owner may be the reason: S3 answers a wrong owner and an unknown guest alike.
fn denied(connection: &S3Connection, request: Request<'_>, words: &str) -> RefusalCause {
    if let Some(denial) = denial::parse(words) {
        return RefusalCause::AccessDenied(denial);
    }
    match connection.expected_bucket_owner() {
        Some(pinned) if !connection.owner_has_passed() => {
            RefusalCause::OwnerMismatch { bucket: connection.bucket().to_owned(), pinned }
        }
        _ => {
            let bucket = Commands::for_connection(connection).bucket_arn();
            let resource = match request.key {
                Some(key) => format!("{bucket}/{}{key}", connection.settings().prefix),
                None => bucket,
            };
            RefusalCause::AccessDenied(Denial {
                action: Some(action(request.operation)),
                resource: Some(resource),
                ..Denial::default()
            })
        }
    }
}

/// The client has no credentials, or none that are good: it says so by types of its own.
fn credentials_problem(error: &(dyn StdError + 'static)) -> Option<RefusalCause> {
    let mut next = Some(error);
    while let Some(error) = next {
        match error.downcast_ref::<CredentialsError>() {
            Some(CredentialsError::CredentialsNotLoaded(_)) => {
                return Some(RefusalCause::NoCredentials);
            }
            Some(_) => return None,
            None => next = error.source(),
        }
    }
    None
}

/// The action that IAM knows an operation by.
fn action(operation: &str) -> String {
    let action = match operation {
        "HeadObject" => "GetObject",
        "ListObjects" | "ListObjectsV2" | "HeadBucket" => "ListBucket",
        "ListObjectVersions" => "ListBucketVersions",
        "CreateMultipartUpload" | "UploadPart" | "CompleteMultipartUpload" => "PutObject",
        "DeleteObjects" => "DeleteObject",
        "GetBucketLifecycleConfiguration" => "GetLifecycleConfiguration",
        "GetPublicAccessBlock" => "GetBucketPublicAccessBlock",
        "GetBucketEncryption" => "GetEncryptionConfiguration",
        "DescribeKey"
        | "GetKeyRotationStatus"
        | "GenerateDataKey"
        | "Decrypt"
        | "GenerateMac"
        | "VerifyMac" => return format!("kms:{operation}"),
        "GetCallerIdentity" => return format!("sts:{operation}"),
        other => other,
    };
    format!("s3:{action}")
}

fn refusal(
    connection: &S3Connection,
    request: Request<'_>,
    cause: RefusalCause,
    failure: Failure,
) -> ServiceRefusal {
    let commands = Commands::for_connection(connection);
    ServiceRefusal {
        location: connection.location(),
        operation: request.operation.to_owned(),
        remedy: remedy(&cause, &commands),
        cause,
        said: said(&failure),
        // Where there was an answer, the client's error says less than its words.
        source: failure.status.is_none().then_some(failure.source),
    }
}

/// The service's code and words, and its name for the request, which its support asks for.
fn said(failure: &Failure) -> Option<String> {
    let status = failure.status.map(|status| format!("status {status}"));
    let code = failure.code.clone().or(status)?;
    let request = failure.request_id.as_ref().map(|id| format!("request {id}"));
    let parts = [Some(code), failure.message.clone(), request];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// What the service said, in its own words, where nothing more is known.
#[derive(Debug)]
struct Answer {
    said: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Answer {
    fn of(failure: Failure) -> Self {
        match said(&failure) {
            Some(said) => Self { said, source: None },
            None => Self {
                said: "no answer that could be read".to_owned(),
                source: Some(failure.source),
            },
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl StdError for Answer {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

fn remedy(cause: &RefusalCause, commands: &Commands) -> Remedy {
    const WHO: &str = "aws sts get-caller-identity";
    match cause {
        RefusalCause::KeyDenied(denial) => key_remedy(denial, commands),
        RefusalCause::AccessDenied(denial) => bucket_remedy(denial, commands),
        RefusalCause::KeyUnusable { key, problem } => {
            unusable_key_remedy(key.as_deref(), problem, commands)
        }
        RefusalCause::OwnerMismatch { .. } => Remedy::command(
            "Check the bucket's name and the pinned account, and see whether the bucket answers to it. \
             Change the pin only if you know the account that answers; never take it away to get past this.",
            commands.s3api("head-bucket", ""),
        )
        .and(WHO),
        RefusalCause::Throttled => Remedy::advice(
            "Run again later, let fewer runs work at once, or lower the store's parallelism in plumb.toml.",
        ),
        RefusalCause::ClockSkew => {
            Remedy::command("Set the clock by the network.", "sudo timedatectl set-ntp true")
        }
        RefusalCause::ExpiredCredentials => Remedy::command(
            "Get new ones the way these were got: sign in again, assume the role again, or renew the \
             environment variables.",
            WHO,
        ),
        RefusalCause::UnknownCredentials => Remedy::command(
            "See where the credentials come from, and give the right ones.",
            "aws configure list",
        ),
        RefusalCause::NoCredentials => Remedy::command(
            "Sign in, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
            "aws configure list",
        ),
        RefusalCause::NoRegion => no_region_remedy(commands),
        RefusalCause::OtherRegion { .. } => Remedy::command(
            "Name the bucket's own region in the store's configuration.",
            commands.s3api("get-bucket-location", ""),
        ),
    }
}

fn no_region_remedy(commands: &Commands) -> Remedy {
    Remedy::command(
        "Name the bucket's region in the store's configuration, or set AWS_REGION; the bucket says where it is.",
        format!("{} --region us-east-1", commands.s3api("get-bucket-location", "")),
    )
}
