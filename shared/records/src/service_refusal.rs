//! Why a service refuses, told apart by what mends it.

use std::error::Error as StdError;
use std::fmt;

use crate::contract::Remedy;

/// A service's refusal with its cause and what mends it.
///
/// Displayed, it is a headline, the cause and the remedy with its commands, each on a line of its own.
#[derive(Debug)]
pub struct ServiceRefusal {
    /// The store, such as `s3://bucket/prefix`.
    pub location: String,
    /// The request, in the service's own words, such as `PutObject`.
    pub operation: String,
    /// Why it was refused.
    pub cause: RefusalCause,
    /// What mends it.
    pub remedy: Remedy,
    /// The service's code and words, and its name for the request, which its support asks for.
    pub said: Option<String>,
    /// Where no answer came: why.
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Why a service refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalCause {
    /// The identity may not use the key that objects are encrypted with.
    KeyDenied(Denial),
    /// The key that objects are encrypted with cannot be used by anybody.
    KeyUnusable {
        /// The key, where the service named it.
        key: Option<String>,
        /// What is wrong with it.
        problem: KeyProblem,
    },
    /// The request names an account as the bucket's owner, and the service refuses as it does where that is wrong.
    OwnerMismatch {
        /// The bucket.
        bucket: String,
        /// The account that is pinned.
        pinned: String,
    },
    /// The identity may not do it.
    AccessDenied(Denial),
    /// The service asks for fewer requests, and went on asking while they were repeated.
    Throttled,
    /// The clock of this machine is wrong by more than the service accepts.
    ClockSkew,
    /// The credentials were good once.
    ExpiredCredentials,
    /// The service does not know the credentials, or their secret is another.
    UnknownCredentials,
    /// There are no credentials.
    NoCredentials,
    /// No region is known.
    NoRegion,
    /// The bucket is in another region.
    OtherRegion {
        /// The one that the request was sent to.
        asked: Option<String>,
    },
}

/// Who was denied what, as far as the service says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denial {
    /// The action, such as `kms:GenerateDataKey`.
    pub action: Option<String>,
    /// The ARN of the key, bucket or object.
    pub resource: Option<String>,
    /// The ARN of the identity.
    pub principal: Option<String>,
    /// The policy that the service blames.
    pub blame: Option<Blame>,
}

/// The policy that a service blames for a denial. Others may deny too: it names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// What sort of policy.
    pub policy: PolicyKind,
    /// What it does.
    pub how: BlameKind,
    /// Its ARN, where the service names it.
    pub arn: Option<String>,
}

/// A sort of policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyKind {
    /// Attached to the identity.
    Identity,
    /// The policy of the bucket or the key.
    Resource,
    /// The most that the identity's policies may allow.
    PermissionsBoundary,
    /// Given when the role was assumed.
    Session,
    /// Of the organization, about its accounts.
    ServiceControl,
    /// Of the organization, about its resources.
    ResourceControl,
    /// Of the VPC endpoint that the request went through.
    VpcEndpoint,
}

/// What a blamed policy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlameKind {
    /// It has a statement that denies the action: no other policy can allow it.
    ExplicitDeny,
    /// It has no statement that allows the action.
    NoAllow,
    /// It does not allow the action, or denies it, or the resource does not exist: between accounts the service
    /// does not say.
    Undisclosed,
}

/// Why nobody can use a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyProblem {
    /// It was disabled.
    Disabled,
    /// It will be deleted.
    PendingDeletion {
        /// When, where that is known.
        date: Option<String>,
    },
    /// It is in another state in which it does nothing.
    InvalidState {
        /// KMS's name for the state, where that is known.
        state: Option<String>,
    },
    /// KMS knows no such key.
    NotFound,
}

impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("is disabled"),
            Self::PendingDeletion { date: Some(date) } => {
                write!(f, "will be deleted on {date} and is unusable until then")
            }
            Self::PendingDeletion { date: None } => {
                f.write_str("will be deleted and is unusable until then")
            }
            Self::InvalidState { state: Some(state) } => {
                write!(f, "is unusable in its state {state}")
            }
            Self::InvalidState { state: None } => {
                f.write_str("is in a state in which it is unusable")
            }
            Self::NotFound => f.write_str("does not exist there"),
        }
    }
}

impl ServiceRefusal {
    /// What was refused, and why, in one line.
    #[must_use]
    pub fn headline(&self) -> String {
        let Self { location, operation, .. } = self;
        match &self.cause {
            RefusalCause::KeyDenied(denial) => format!(
                "{operation} on {location} was refused: {} may not use the KMS key {}",
                denial.principal.as_deref().unwrap_or("the identity"),
                denial.resource.as_deref().unwrap_or("of the bucket"),
            ),
            RefusalCause::KeyUnusable { key, problem } => format!(
                "{operation} on {location} was refused: the KMS key {} {problem}",
                key.as_deref().unwrap_or("of the bucket"),
            ),
            RefusalCause::OwnerMismatch { pinned, .. } => format!(
                "{operation} on {location} was refused: its owner is pinned to the account {pinned}, \
                 and the bucket may not be that account's"
            ),
            RefusalCause::AccessDenied(denial) => format!(
                "{operation} on {location} was refused: {} may not do that",
                denial.principal.as_deref().unwrap_or("the identity"),
            ),
            RefusalCause::Throttled => {
                format!(
                    "{operation} on {location} was refused for too many requests, again and again"
                )
            }
            RefusalCause::ClockSkew => {
                format!("{operation} on {location} was refused: this machine's clock is wrong")
            }
            RefusalCause::ExpiredCredentials => {
                format!("{operation} on {location} was refused: the credentials have expired")
            }
            RefusalCause::UnknownCredentials => {
                format!("{operation} on {location} was refused: the credentials are not valid")
            }
            RefusalCause::NoCredentials => {
                format!("{operation} on {location} was not sent: there are no AWS credentials")
            }
            RefusalCause::NoRegion => {
                format!("{location} cannot be reached: no AWS region is known")
            }
            RefusalCause::OtherRegion { asked } => match asked {
                Some(asked) => format!(
                    "{operation} on {location} was refused: the bucket is not in the region {asked}"
                ),
                None => format!(
                    "{operation} on {location} was refused: the bucket is in another region"
                ),
            },
        }
    }

    /// Why, in a sentence or two.
    #[must_use]
    pub fn explanation(&self) -> String {
        match &self.cause {
            RefusalCause::KeyDenied(denial) => {
                let action = denial.action.as_deref().unwrap_or("The use of the key");
                denied(action, denial)
            }
            RefusalCause::AccessDenied(denial) => {
                let action = denial.action.as_deref().unwrap_or("The request");
                let on = denial.resource.as_deref().map(|arn| format!(" on {arn}"));
                denied(&format!("{action}{}", on.unwrap_or_default()), denial)
            }
            RefusalCause::KeyUnusable { .. } => {
                "Nothing in the bucket that is encrypted with the key can be read or written until it is \
                 usable; no policy is at fault."
                    .to_owned()
            }
            RefusalCause::OwnerMismatch { bucket, pinned } => format!(
                "Every request says that the bucket {bucket} must belong to the account {pinned}, so that \
                 nothing is read from or written to somebody else's bucket of that name. S3 refused and \
                 blamed no policy, as it does where the owner is another; it answers the same to an identity \
                 that the bucket's policy does not let in."
            ),
            RefusalCause::Throttled => {
                "The service asked for fewer requests, and the requests were repeated with growing pauses \
                 until the time for them was over."
                    .to_owned()
            }
            RefusalCause::ClockSkew => {
                "Requests are signed with the time, and AWS accepts a difference of fifteen minutes at most."
                    .to_owned()
            }
            RefusalCause::ExpiredCredentials => {
                "Temporary credentials last for a time that was set when they were made.".to_owned()
            }
            RefusalCause::UnknownCredentials => {
                "The service does not know the access key, or the signature was made with another secret \
                 than the key's."
                    .to_owned()
            }
            RefusalCause::NoCredentials => {
                "None of the usual places has any: environment, shared configuration, container or instance \
                 role."
                    .to_owned()
            }
            RefusalCause::NoRegion => {
                "Requests are signed for a region, and neither the store's configuration nor that of the AWS \
                 SDK names one."
                    .to_owned()
            }
            RefusalCause::OtherRegion { .. } => {
                "A bucket is reached in its own region alone.".to_owned()
            }
        }
    }

    /// Whether the identity was denied what it asked for, so that an identity that is not meant to have it may
    /// go on without.
    #[must_use]
    pub fn is_denial(&self) -> bool {
        matches!(self.cause, RefusalCause::AccessDenied(_) | RefusalCause::KeyDenied(_))
    }
}

fn denied(what: &str, denial: &Denial) -> String {
    let Some(blame) = &denial.blame else {
        return format!("{what} is denied, and AWS does not say by which policy.");
    };
    let policy = match &blame.arn {
        Some(arn) => format!("{} ({arn})", blame.policy),
        None => blame.policy.to_string(),
    };
    match blame.how {
        BlameKind::ExplicitDeny => format!(
            "{what} is denied by a statement of {policy}; no other policy can allow what one denies."
        ),
        BlameKind::NoAllow => format!("{what} is allowed by no statement of {policy}."),
        BlameKind::Undisclosed => format!(
            "{what} is denied or not allowed by {policy}, or there is no such thing: between accounts AWS \
             does not say which."
        ),
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "an identity-based policy",
            Self::Resource => "the resource's own policy",
            Self::PermissionsBoundary => "the identity's permissions boundary",
            Self::Session => "the session's policy",
            Self::ServiceControl => "a service control policy of the organization",
            Self::ResourceControl => "a resource control policy of the organization",
            Self::VpcEndpoint => "the VPC endpoint's policy",
        })
    }
}

impl StdError for ServiceRefusal {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl fmt::Display for ServiceRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}", self.headline(), self.explanation(), self.remedy.advice)?;
        for command in &self.remedy.commands {
            write!(f, "\n  {command}")?;
        }
        match &self.said {
            Some(said) => write!(f, "\nThe service said: {said}"),
            None => Ok(()),
        }
    }
}
