//! What is looked at, and what was found.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};

/// A kind of store that has a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StoreKind {
    /// A bucket, and the key it names.
    S3,
    /// A namespace of a cluster.
    Kubernetes,
}

impl StoreKind {
    /// The settings of this kind of store, in the order in which they are reported.
    #[must_use]
    pub fn settings(self) -> Vec<Setting> {
        Setting::ALL.into_iter().filter(|setting| setting.store() == self).collect()
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::S3 => "s3",
            Self::Kubernetes => "kubernetes",
        })
    }
}

/// One property that a store must have. Names are unique across stores, so that a waiver says what it means.
/// Their order is the order of every report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The bucket keeps versions.
    Versioning,
    /// The bucket's lifecycle removes old versions of records, never records, and removes artifacts.
    Lifecycle,
    /// Nothing in the bucket can become public.
    PublicAccessBlock,
    /// The KMS key that the bucket names can be used, and will be.
    EncryptionKey,
    /// The bucket's policy refuses requests without TLS.
    TlsOnly,
    /// The bucket's policy refuses writes of records without a condition.
    ConditionalWrites,
    /// The API server's certificate is verified.
    TlsVerification,
    /// The identity may do in the namespace what a run needs.
    NamespaceAccess,
    /// Others cannot read the records.
    ReadIsolation,
    /// Secrets are encrypted in etcd.
    EncryptionAtRest,
    /// An admission policy keeps each estate to its own records.
    EstateBoundary,
}

impl Setting {
    /// Every setting of every store, in the order of reports.
    pub const ALL: [Self; 11] = [
        Self::Versioning,
        Self::Lifecycle,
        Self::PublicAccessBlock,
        Self::EncryptionKey,
        Self::TlsOnly,
        Self::ConditionalWrites,
        Self::TlsVerification,
        Self::NamespaceAccess,
        Self::ReadIsolation,
        Self::EncryptionAtRest,
        Self::EstateBoundary,
    ];

    /// The name in reports and waivers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Versioning => "versioning",
            Self::Lifecycle => "lifecycle",
            Self::PublicAccessBlock => "public_access_block",
            Self::EncryptionKey => "encryption_key",
            Self::TlsOnly => "tls_only",
            Self::ConditionalWrites => "conditional_writes",
            Self::TlsVerification => "tls_verification",
            Self::NamespaceAccess => "namespace_access",
            Self::ReadIsolation => "read_isolation",
            Self::EncryptionAtRest => "encryption_at_rest",
            Self::EstateBoundary => "estate_boundary",
        }
    }

    /// The setting of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.name() == name)
    }

    /// The kind of store that has it.
    #[must_use]
    pub fn store(self) -> StoreKind {
        match self {
            Self::Versioning
            | Self::Lifecycle
            | Self::PublicAccessBlock
            | Self::EncryptionKey
            | Self::TlsOnly
            | Self::ConditionalWrites => StoreKind::S3,
            Self::TlsVerification
            | Self::NamespaceAccess
            | Self::ReadIsolation
            | Self::EncryptionAtRest
            | Self::EstateBoundary => StoreKind::Kubernetes,
        }
    }

    /// What is lost without it, as a sentence.
    #[must_use]
    pub fn protects(self) -> &'static str {
        match self {
            Self::Versioning => {
                "Without versions, a record that is overwritten or deleted by mistake is gone for good, \
                 and with it the only trace of what it stands for."
            }
            Self::Lifecycle => {
                "Old versions of records hold secrets and must go after a time; records themselves must \
                 never expire, or the next plan makes again what exists; plans and bundles must expire, \
                 since they hold secrets and nothing else removes them."
            }
            Self::PublicAccessBlock => {
                "Records hold every value of the configuration, secrets included. No policy and no access \
                 control list may open them to the world, not even for a moment."
            }
            Self::EncryptionKey => {
                "Without its key, no record can be read or written: an apply would change the world and \
                 be unable to record it."
            }
            Self::TlsOnly => {
                "A request without TLS shows records, and the secrets in them, to whoever is on the way."
            }
            Self::ConditionalWrites => {
                "A tool that writes records without a condition overwrites what a run has just \
                 recorded, unseen by both."
            }
            Self::TlsVerification => {
                "Records and the credentials that reach them would be told to whoever answers in the \
                 API server's place."
            }
            Self::NamespaceAccess => {
                "An apply that may not write its records changes the world and is unable to record it."
            }
            Self::ReadIsolation => {
                "Records hold every value of the configuration, secrets included, and whoever may read \
                 the namespace's Secrets reads them all."
            }
            Self::EncryptionAtRest => {
                "Secrets that are not encrypted in etcd are readable in its files and in every backup."
            }
            Self::EstateBoundary => {
                "Without a boundary, whoever may write one estate's records may write those of every \
                 other estate in the namespace."
            }
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What looking at a setting came to, from the best to the gravest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is as it must be.
    Passed,
    /// It is not as it should be; runs proceed and say so.
    Warned,
    /// There was no way to find out, and nobody was denied anything; runs proceed and say so.
    NotChecked,
    /// The identity may not read it; runs refuse the store.
    Unreadable,
    /// It is not as it must be, or nobody filled the finding in; runs refuse the store.
    #[default]
    Failed,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Warned => "warned",
            Self::NotChecked => "not checked",
            Self::Unreadable => "unreadable",
            Self::Failed => "failed",
        })
    }
}

/// How something is mended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// What to do, as a sentence.
    pub advice: String,
    /// The commands that do it, each on one line and complete, so that it works when pasted.
    pub commands: Vec<String>,
}

impl Remedy {
    /// Advice that no command carries out.
    pub fn advice(advice: impl Into<String>) -> Self {
        Self { advice: advice.into(), commands: Vec::new() }
    }

    /// Advice, and the command that carries it out.
    pub fn command(advice: impl Into<String>, command: impl Into<String>) -> Self {
        Self::advice(advice).and(command)
    }

    /// Both, one after the other.
    fn and_also(mut self, other: Self) -> Self {
        if self.advice != other.advice {
            self.advice = format!("{} {}", self.advice, other.advice);
        }
        self.commands.extend(other.commands);
        self
    }

    /// With one command more.
    #[must_use]
    pub fn and(mut self, command: impl Into<String>) -> Self {
        self.commands.push(command.into());
        self
    }
}

/// What was found out about one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The setting.
    pub setting: Setting,
    /// What it came to.
    pub outcome: Outcome,
    /// Whether `allow_insecure` may name it. Where nothing could be kept at all, it may not.
    pub waivable: bool,
    /// What was found, as a sentence that names the place: the headline.
    pub found: String,
    /// What the setting protects, as a sentence.
    pub protects: String,
    /// How to mend it; with a passed setting, what is advised beyond it.
    pub remedy: Option<Remedy>,
}

impl Finding {
    /// A finding that nobody has filled in: failed, and not to be waived.
    #[must_use]
    pub fn unfilled(setting: Setting) -> Self {
        Self {
            setting,
            outcome: Outcome::default(),
            waivable: false,
            found: format!("Nothing was found out about {setting}."),
            protects: setting.protects().to_owned(),
            remedy: None,
        }
    }

    /// The setting is as it must be.
    pub fn passed(setting: Setting, found: impl Into<String>) -> Self {
        Self::of(setting, Outcome::Passed, found)
    }

    /// The setting is not as it should be, and runs proceed.
    pub fn warned(setting: Setting, found: impl Into<String>, remedy: Remedy) -> Self {
        Self::of(setting, Outcome::Warned, found).with_remedy(remedy)
    }

    /// There was no way to find out.
    pub fn not_checked(setting: Setting, found: impl Into<String>) -> Self {
        Self::of(setting, Outcome::NotChecked, found)
    }

    /// The identity may not read the setting.
    pub fn unreadable(setting: Setting, found: impl Into<String>, remedy: Remedy) -> Self {
        Self::of(setting, Outcome::Unreadable, found).with_remedy(remedy)
    }

    /// The setting is not as it must be; it may be waived unless [`never_waived`](Self::never_waived).
    pub fn failed(setting: Setting, found: impl Into<String>, remedy: Remedy) -> Self {
        Self::of(setting, Outcome::Failed, found).with_remedy(remedy)
    }

    /// The same finding, which no waiver covers.
    #[must_use]
    pub fn never_waived(mut self) -> Self {
        self.waivable = false;
        self
    }

    /// The same finding with this remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// The graver of two findings on one setting; where both are alike, one that says both.
    pub(super) fn or_graver(self, other: Self) -> Self {
        let gravity = |finding: &Self| (finding.outcome, !finding.waivable);
        match gravity(&self).cmp(&gravity(&other)) {
            Ordering::Less => other,
            Ordering::Greater => self,
            Ordering::Equal if self == other => self,
            Ordering::Equal => Self {
                found: format!("{} {}", self.found, other.found),
                remedy: match (self.remedy, other.remedy) {
                    (Some(one), Some(two)) => Some(one.and_also(two)),
                    (one, two) => one.or(two),
                },
                ..other
            },
        }
    }

    fn of(setting: Setting, outcome: Outcome, found: impl Into<String>) -> Self {
        Self { outcome, waivable: true, found: found.into(), ..Self::unfilled(setting) }
    }
}
