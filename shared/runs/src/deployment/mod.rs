//! The settings of a deployment: which repositories may plan which estates, and who may do what.
//!
//! They are the account's, not a repository's: whoever may push a commit must not be able to say who approves it. So
//! functions take the stores, the key and the policies from here and from their own environment, and from the
//! `plumb.toml` of a commit only where its estates are.

mod principals;

pub use principals::{Action, PrincipalTable};

use crate::project::{Approvals, PolicyTable};
use engine::record::key::EstateName;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The name of the settings' object, below `settings/`.
pub const OBJECT: &str = "deployment.toml";

/// A whole `deployment.toml`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Deployment {
    /// Repositories, by host and path: `github.com/acme/infrastructure`.
    pub repositories: BTreeMap<String, RepositoryTable>,
    /// Estates, by name.
    pub estates: BTreeMap<String, DeployedEstate>,
    /// Who may do what, by principal.
    pub principals: BTreeMap<String, PrincipalTable>,
    /// Who has to agree, where an estate says nothing else.
    pub approvals: Approvals,
    /// Who is told.
    pub notifications: Notifications,
}

/// A repository whose pushes are listened to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositoryTable {
    /// The secret that signs its webhooks (GitHub) or comes with them (GitLab): a name or ARN of Secrets Manager. Without
    /// one, every delivery is refused.
    pub webhook_secret: Option<String>,
    /// The token that reads its commits and writes their statuses, likewise; none for public repositories that
    /// are not told anything.
    pub token: Option<String>,
    /// The host's API, where it is not the usual one of `github.com` and `gitlab.com`.
    pub api: Option<String>,
}

/// An estate that functions plan and apply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeployedEstate {
    /// The repository that its configuration is in.
    pub repository: String,
    /// The branch whose pushes are planned and, once approved, applied.
    #[serde(default = "main")]
    pub branch: String,
    /// What a push has to touch, as paths of folders or files in the repository; anything where it is left out.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Who has to agree, where it is this estate's own rule.
    pub approvals: Option<Approvals>,
    /// What looks at its plans before anybody is asked to approve them.
    pub policy: Option<PolicyTable>,
}

fn main() -> String {
    "main".to_owned()
}

/// Who is told of every run's end, beside the repository's host.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notifications {
    /// The ARN of an SNS topic.
    pub sns_topic: Option<String>,
    /// An HTTPS address.
    pub webhook: Option<WebhookTable>,
}

/// An HTTPS address that is told.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookTable {
    /// The address.
    pub url: String,
    /// The secret that signs what is sent to it: a name or ARN of Secrets Manager.
    pub secret: String,
}

/// What is wrong with a `deployment.toml`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeploymentError {
    /// It is no TOML, or says something that it cannot say.
    #[error("{0}")]
    Invalid(toml::de::Error),
    /// An entry cannot be as it is.
    #[error("[{table}]: {problem}")]
    Entry {
        /// The table.
        table: String,
        /// What is wrong, and what mends it.
        problem: String,
    },
}

impl Deployment {
    /// Reads the settings.
    ///
    /// # Errors
    /// With the entry that is wrong.
    pub fn parse(text: &str) -> Result<Deployment, DeploymentError> {
        let deployment: Deployment = toml::from_str(text).map_err(DeploymentError::Invalid)?;
        deployment.check()?;
        Ok(deployment)
    }

    fn check(&self) -> Result<(), DeploymentError> {
        for name in self.repositories.keys() {
            let wrong = |problem: &str| DeploymentError::Entry {
                table: format!("repositories.{name:?}"),
                problem: problem.to_owned(),
            };
            if name.split('/').filter(|part| !part.is_empty()).count() < 3 || name.contains("://") {
                return Err(wrong(
                    "a repository is written with its host, as \"github.com/acme/infrastructure\"",
                ));
            }
        }
        for (name, estate) in &self.estates {
            let wrong = |problem: String| DeploymentError::Entry {
                table: format!("estates.{name}"),
                problem,
            };
            EstateName::new(name).map_err(|error| wrong(error.to_string()))?;
            if !self.repositories.contains_key(&estate.repository) {
                let repository = &estate.repository;
                return Err(wrong(format!(
                    "its repository {repository:?} has no entry; add [repositories.{repository:?}]"
                )));
            }
            let outside =
                |path: &&String| path.starts_with('/') || path.split('/').any(|p| p == "..");
            if let Some(path) = estate.paths.iter().find(outside) {
                return Err(wrong(format!("the path {path:?} is not below the repository's top")));
            }
            let policy = estate.policy.as_ref();
            policy.map_or(Ok(()), PolicyTable::check_absolute).map_err(wrong)?;
        }
        for (principal, table) in &self.principals {
            let unknown = table.estates.iter().find(|name| {
                name.as_str() != principals::EVERY_ESTATE && !self.estates.contains_key(*name)
            });
            if let Some(estate) = unknown {
                return Err(DeploymentError::Entry {
                    table: format!("principals.{principal:?}"),
                    problem: format!("there is no estate {estate:?}; name one, or \"*\" for all"),
                });
            }
        }
        Ok(())
    }

    /// Who has to agree to changes of an estate.
    pub fn approvals(&self, estate: &EstateName) -> &Approvals {
        let own = self.estates.get(estate.as_str()).and_then(|estate| estate.approvals.as_ref());
        own.unwrap_or(&self.approvals)
    }

    /// The policy of an estate, if it has one.
    pub fn policy(&self, estate: &EstateName) -> Option<&PolicyTable> {
        self.estates.get(estate.as_str()).and_then(|estate| estate.policy.as_ref())
    }

    /// The estates that a change of these files in a branch of a repository touches. `None` for the files where the
    /// host does not say which changed: then all of the branch are touched.
    pub fn touched<'a>(
        &'a self,
        repository: &str,
        branch: &str,
        files: Option<&[String]>,
    ) -> Vec<&'a str> {
        let touched = self.estates.iter().filter(|(_, estate)| {
            estate.repository == repository
                && estate.branch == branch
                && files.is_none_or(|files| files.iter().any(|file| estate.is_touched_by(file)))
        });
        touched.map(|(name, _)| name.as_str()).collect()
    }
}

impl DeployedEstate {
    fn is_touched_by(&self, file: &str) -> bool {
        self.paths.is_empty()
            || self.paths.iter().any(|path| {
                let path = path.trim_end_matches('/');
                let rest = file.strip_prefix(path);
                path.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}
