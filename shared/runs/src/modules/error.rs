//! Why a package of modules was not installed.

use crate::bundle::BundleError;
use crate::https::HttpsError;
use http::StatusCode;
use std::io;

/// A package cannot be had. No credentials are in its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// There are no clients of networks.
    #[error("{0}")]
    Clients(String),
    /// A folder, a repository or what a page names cannot be had.
    #[error("error downloading '{url}': {source}")]
    Folder {
        /// As people may see it.
        url: String,
        /// Why.
        source: Box<PackageError>,
    },
    /// There is no such way.
    #[error("download not supported for scheme '{scheme}'")]
    UnknownScheme {
        /// How the address begins.
        scheme: String,
    },
    /// Terraform has it, we have not.
    #[error(
        "packages are not fetched from {way}; offer the package as an archive over HTTPS, in S3, or in a git repository"
    )]
    NotSupported {
        /// From where.
        way: &'static str,
    },
    /// The address is no URL.
    #[error("{url:?} is no URL that packages are fetched from")]
    InvalidUrl {
        /// As people may see it.
        url: String,
    },
    /// Git would start a program for it.
    #[error(
        "git is not asked to fetch by {transport:?}, since that could run whatever the address says; use https, ssh, http, git \
         or file"
    )]
    GitTransport {
        /// How the address begins.
        transport: String,
    },
    /// Git would take a value for an option.
    #[error(
        "the {what} {value:?} begins with a dash, so that git would take it for an option; name one that does not"
    )]
    GitOption {
        /// What it is.
        what: &'static str,
        /// What it says.
        value: String,
    },
    /// There is no git.
    #[error(
        "git must be available and on the PATH; install it, or offer the package as a .zip or .tar.gz over HTTPS or in S3"
    )]
    NoGit,
    /// Git failed.
    #[error("{program} exited with {code}: {output}")]
    Git {
        /// Its path.
        program: String,
        /// Its exit code, or that it was killed.
        code: String,
        /// What it said.
        output: String,
    },
    /// An SSH key is none.
    #[error("the parameter sshkey is not a private key in base64")]
    InvalidSshKey,
    /// Where only networks may be asked, an address leads to the machine itself.
    #[error(
        "{address} leads to the machine that installs modules, which nothing but a configuration on that machine may name; \
         use an address that others reach"
    )]
    ThisMachine {
        /// As people may see it.
        address: String,
    },
    /// Nothing unpacks it.
    #[error(
        "archives of the format {format} are not unpacked; offer the package as .zip or .tar.gz"
    )]
    ArchiveFormat {
        /// Which format.
        format: &'static str,
    },
    /// It holds one file, and a module is a folder.
    #[error("{format}-compressed files can only unarchive to a single file")]
    SingleFile {
        /// Which format.
        format: &'static str,
    },
    /// The archive is refused.
    #[error(transparent)]
    Archive(#[from] BundleError),
    /// What came is not what was asked for.
    #[error("Checksums did not match for {url}.\nExpected: {expected}\nGot: {actual}")]
    ChecksumMismatch {
        /// As people may see it.
        url: String,
        /// In hexadecimal.
        expected: String,
        /// In hexadecimal.
        actual: String,
    },
    /// A checksum is none.
    #[error("invalid checksum: {problem}")]
    InvalidChecksum {
        /// What is wrong with it.
        problem: String,
    },
    /// No answer came.
    #[error(transparent)]
    Https(#[from] HttpsError),
    /// The server refuses.
    #[error("bad response code: {}", .0.as_u16())]
    Status(StatusCode),
    /// The server names no package.
    #[error("no source URL was returned")]
    NoSource,
    /// The server names something that is no package.
    #[error("the server names {address:?}, which is no address of a package: {problem}")]
    InvalidSource {
        /// What it names.
        address: String,
        /// What is wrong with it.
        problem: String,
    },
    /// One server names the next without end.
    #[error("too many X-Terraform-Get redirects: {count}")]
    TooManyRedirects {
        /// How many were followed.
        count: usize,
    },
    /// The bucket does not give it.
    #[error("{0}")]
    Objects(String),
    /// No answer came from the bucket, or one that says nothing of what is in it.
    #[error("{0}")]
    ObjectsUnanswered(String),
    /// The source is no folder.
    #[error("source path error: {0}")]
    SourcePath(String),
    /// Nothing is at the path inside the package.
    #[error("subdir {path:?} not found")]
    NoSubdirectory {
        /// The path.
        path: String,
    },
    /// The pattern names several folders.
    #[error("subdir {path:?} matches multiple paths")]
    AmbiguousSubdirectory {
        /// The pattern.
        path: String,
    },
    /// Files cannot be written.
    #[error("{path}: {source}")]
    Files {
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl PackageError {
    /// Whether the same package may be had in a moment. What git says is for people: nothing is known of why it failed.
    pub fn may_pass(&self) -> bool {
        match self {
            PackageError::Folder { source, .. } => source.may_pass(),
            PackageError::Https(error) => error.may_pass(),
            PackageError::Status(status) => status_may_pass(*status),
            PackageError::ObjectsUnanswered(_) => true,
            _ => false,
        }
    }
}

/// Whether a server that refuses so may grant the same request in a moment.
pub(super) fn status_may_pass(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}
