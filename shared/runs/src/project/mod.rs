//! `plumb.toml`: where a team's records live, and which estates there are.
//!
//! The file lies in the folder of the estates or in one above them; `docs/configuration.md` documents every
//! key. What it does not know it refuses: a misspelt setting that protects something would protect nothing.

mod duration;
mod estates;
mod overrides;
mod policy_table;
mod settings;

pub use duration::Seconds;
pub use estates::{EstateSelection, SelectedEstate};
pub use overrides::OVERRIDE_PREFIX;
pub use policy_table::{Enforcement, OpaTable, PolicyTable};
pub use settings::{
    Approvals, ArtifactsTable, DirectoryTable, EstateTable, KubernetesTable, Plans, Project,
    S3Table, StoreTable, Transactions,
};

/// The name of the file.
pub const FILE: &str = "plumb.toml";

/// What is wrong with a `plumb.toml`, or with what overrides it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// It is no TOML, or says something that it cannot say.
    #[error("{0}")]
    Invalid(toml::de::Error),
    /// An environment variable sets something that cannot be set.
    #[error(
        "the environment variable {variable} sets {path}, which {problem}; unset it, or name a key that \
         plumb.toml may have (two underscores stand between its parts)"
    )]
    Override {
        /// The variable.
        variable: String,
        /// The key that it sets.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// An estate cannot be as it is described.
    #[error("[estates.{estate}]: {problem}")]
    Estate {
        /// The estate.
        estate: String,
        /// What is wrong with it, and what mends it.
        problem: String,
    },
    /// A lease would end before it could be renewed.
    #[error(
        "transactions.lease is {lease}s and transactions.skew {skew}s: a lease is renewed after a third of its time \
         and given up the skew before its end; make the lease more than twice as long as the skew"
    )]
    Lease {
        /// In seconds.
        lease: i64,
        /// In seconds.
        skew: i64,
    },
    /// Estates wait for each other.
    #[error(
        "the estates {} depend on each other in a circle, so that none of them could be applied first; take \
         one of the depends_on away",
        circle.join(" -> ")
    )]
    Circle {
        /// In order; the first is repeated at the end.
        circle: Vec<String>,
    },
    /// No estate was found for a directory.
    #[error(
        "no estate in plumb.toml has the directory {directory:?}, and the records in {store} are shared by \
         all estates: without a name of its own this one could take another's. Add\n\n  [estates.NAME]\n  \
         directory = {directory:?}"
    )]
    NoEstate {
        /// Relative to the file.
        directory: String,
        /// The kind of store.
        store: &'static str,
    },
    /// Several estates share the directory.
    #[error(
        "the directory {directory:?} belongs to several estates ({}); say which one, with -estate=NAME or \
         PLUMB_ESTATE",
        estates.join(", ")
    )]
    Ambiguous {
        /// Relative to the file.
        directory: String,
        /// Their names.
        estates: Vec<String>,
    },
    /// The estate that was asked for is another directory's, or nobody's.
    #[error("{0}")]
    Selection(String),
}
