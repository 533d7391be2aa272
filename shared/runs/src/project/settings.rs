//! What `plumb.toml` may say.

use super::duration::zero_or_more;
use super::overrides::apply_overrides;
use super::{PolicyTable, ProjectError, Seconds};
use engine::transaction::Terms;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

/// A whole `plumb.toml`. An empty one, or none, is a store in a directory beside each configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Project {
    /// Where records are.
    pub store: StoreTable,
    /// Where plans, bundles and snapshots are, if not with the records.
    pub artifacts: Option<ArtifactsTable>,
    /// Saved plans.
    pub plans: Plans,
    /// Who has to agree before a plan is applied.
    pub approvals: Approvals,
    /// The times and numbers that transactions go by.
    pub transactions: Transactions,
    /// The estates, by name.
    pub estates: BTreeMap<String, EstateTable>,
}

/// Where records are: exactly one of the tables `store.dir`, `store.s3`, `store.kubernetes`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreTable {
    /// A directory.
    Dir(DirectoryTable),
    /// A bucket.
    S3(S3Table),
    /// Secrets in a namespace.
    Kubernetes(KubernetesTable),
}

impl Default for StoreTable {
    fn default() -> StoreTable {
        StoreTable::Dir(DirectoryTable::default())
    }
}

/// A store in a directory.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DirectoryTable {
    /// The directory, relative to `plumb.toml`. Where it is left out, each estate has its own, called `.plumb`, beside
    /// its configuration.
    pub path: Option<PathBuf>,
}

/// A store in a bucket of S3, or of a server that speaks its protocol.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S3Table {
    /// The bucket.
    pub bucket: String,
    /// What all keys start with.
    #[serde(default)]
    pub prefix: String,
    /// The bucket's region, if the credentials' configuration names another one or none.
    pub region: Option<String>,
    /// The profile of the AWS configuration to use.
    pub profile: Option<String>,
    /// The account that the bucket has to belong to. Requests to any other one's bucket are refused by S3.
    pub bucket_owner: Option<String>,
    /// Another server than Amazon's.
    pub endpoint: Option<String>,
    /// Whether the bucket is in the path of requests, not in the host's name, as most other servers want it.
    #[serde(default)]
    pub path_style: bool,
    /// The most requests at once; 8 for each core where it is left out.
    pub parallelism: Option<NonZeroUsize>,
    /// Tags of every object.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// Findings of the contract that are accepted, by the setting's name.
    #[serde(default)]
    pub allow_insecure: Vec<String>,
}

/// A store in Secrets of a Kubernetes namespace.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KubernetesTable {
    /// The namespace, which has to exist.
    pub namespace: String,
    /// The kubeconfig file, relative to `plumb.toml`; otherwise `KUBECONFIG`, `~/.kube/config`, or the Pod's own account.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it.
    pub context: Option<String>,
    /// Which managed cluster this is, so that its provider can be asked how it keeps Secrets: `eks:REGION/CLUSTER`,
    /// `gke:PROJECT/LOCATION/CLUSTER` or `aks:SUBSCRIPTION/RESOURCE_GROUP/CLUSTER`.
    pub managed_cluster: Option<String>,
    /// Findings of the contract that are accepted, by the setting's name.
    #[serde(default)]
    pub allow_insecure: Vec<String>,
}

/// Where plans, bundles and snapshots are: exactly one of the tables `artifacts.dir`, `artifacts.s3`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactsTable {
    /// A directory.
    Dir(DirectoryTable),
    /// A bucket.
    S3(S3Table),
}

/// Saved plans.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plans {
    /// How long a saved plan may be applied.
    pub expiry: Seconds,
    /// The HMAC key of AWS KMS that authenticates plans (its ARN or alias). Where it is left out, a key file beside the
    /// configuration does, and a plan can be applied where it was made alone.
    pub hmac_key: Option<String>,
}

impl Default for Plans {
    fn default() -> Plans {
        Plans { expiry: Seconds(engine::saved_plan::DEFAULT_EXPIRY), hmac_key: None }
    }
}

/// Who has to agree before a plan is applied, where functions apply it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Approvals {
    /// Whether anybody has to.
    pub required: bool,
    /// Whether that may be who made the change.
    pub author_may_approve: bool,
}

impl Default for Approvals {
    fn default() -> Approvals {
        Approvals { required: true, author_may_approve: false }
    }
}

/// The times and numbers that transactions go by. Whoever works on an estate has to use the same ones.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Transactions {
    /// How long the lease of a local process lasts, which it renews three times as often.
    pub lease: Seconds,
    /// How many seconds a request that was sent may take to arrive, after whoever sent it is gone.
    #[serde(deserialize_with = "zero_or_more")]
    pub margin: i64,
    /// How many seconds two clocks may be apart.
    #[serde(deserialize_with = "zero_or_more")]
    pub skew: i64,
    /// How many seconds to wait for a transaction that is still claiming.
    #[serde(deserialize_with = "zero_or_more")]
    pub wait_for_busy: i64,
    /// After how many invocations without progress an unfinished object is in doubt.
    pub attempts_without_progress: NonZeroU32,
}

impl Default for Transactions {
    fn default() -> Transactions {
        let terms = Terms::default();
        Transactions {
            lease: Seconds(terms.lease),
            margin: terms.margin,
            skew: terms.skew,
            wait_for_busy: terms.wait_for_busy,
            attempts_without_progress: NonZeroU32::new(terms.attempts_without_progress)
                .unwrap_or(NonZeroU32::MIN),
        }
    }
}

impl Transactions {
    fn check(&self) -> Result<(), ProjectError> {
        // The heartbeat comes after a third of the lease, and the skew is taken off it before each call.
        match self.lease.0 > 2 * self.skew {
            true => Ok(()),
            false => Err(ProjectError::Lease { lease: self.lease.0, skew: self.skew }),
        }
    }
}

/// One estate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstateTable {
    /// The root module's directory, relative to `plumb.toml`.
    pub directory: PathBuf,
    /// Files of values for its variables, relative to its directory.
    #[serde(default)]
    pub var_files: Vec<PathBuf>,
    /// When its drift is looked for: `rate(...)` or `cron(...)`, as EventBridge has them.
    pub schedule: Option<String>,
    /// Estates whose outputs it reads.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// Who has to agree, where it is this estate's own rule.
    pub approvals: Option<Approvals>,
    /// What looks at its plans before anybody is asked to approve them.
    pub policy: Option<PolicyTable>,
}

impl Project {
    /// Reads a `plumb.toml`. `variables` are those of the environment, of which some override it.
    ///
    /// # Errors
    /// With the place of the mistake, where there is one.
    pub fn parse<'v>(
        text: &str,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<Project, ProjectError> {
        // What the file says alone is checked first, since its mistakes can be shown where they are.
        let written = toml::from_str::<Project>(text).map_err(ProjectError::Invalid)?;
        let project = match apply_overrides(text, variables)? {
            Some(overridden) => overridden,
            None => written,
        };
        project.check()?;
        Ok(project)
    }

    /// The times and numbers that transactions of these estates go by.
    pub fn terms(&self) -> Terms {
        let Transactions { lease, margin, skew, wait_for_busy, attempts_without_progress } =
            self.transactions;
        Terms {
            plan_expiry: self.plans.expiry.0,
            lease: lease.0,
            margin,
            skew,
            wait_for_busy,
            attempts_without_progress: attempts_without_progress.get(),
            ..Terms::default()
        }
    }

    fn check(&self) -> Result<(), ProjectError> {
        self.transactions.check()?;
        for (name, estate) in &self.estates {
            estate
                .check()
                .and_then(|()| named(name))
                .map_err(|problem| ProjectError::Estate { estate: name.clone(), problem })?;
            for other in &estate.depends_on {
                if !self.estates.contains_key(other) {
                    return Err(ProjectError::Estate {
                        estate: name.clone(),
                        problem: format!("depends_on names {other:?}, and there is no such estate"),
                    });
                }
            }
        }
        self.circle().map_or(Ok(()), |circle| Err(ProjectError::Circle { circle }))
    }

    /// Estates that depend on each other, if there are any.
    fn circle(&self) -> Option<Vec<String>> {
        let mut settled = std::collections::BTreeSet::new();
        for start in self.estates.keys() {
            // Each step is an estate and how many of its dependencies have been looked at.
            let mut path: Vec<(&String, usize)> = vec![(start, 0)];
            while let Some((name, next)) = path.last_mut() {
                let depends_on = self.estates.get(*name).map_or(&[][..], |e| &e.depends_on);
                let Some(dependency) = depends_on.get(*next) else {
                    settled.insert((*name).clone());
                    path.pop();
                    continue;
                };
                *next += 1;
                if let Some(index) = path.iter().position(|(name, _)| *name == dependency) {
                    let circle = path[index..].iter().map(|(name, _)| (*name).clone());
                    return Some(circle.chain([dependency.clone()]).collect());
                }
                if !settled.contains(dependency) {
                    path.push((dependency, 0));
                }
            }
        }
        None
    }
}

fn named(name: &str) -> Result<(), String> {
    engine::record::key::EstateName::new(name).map(|_| ()).map_err(|error| error.to_string())
}

impl EstateTable {
    fn check(&self) -> Result<(), String> {
        let outside = |path: &PathBuf| {
            path.is_absolute()
                || path.components().any(|part| matches!(part, std::path::Component::ParentDir))
        };
        if outside(&self.directory) {
            return Err(format!(
                "directory = {:?} leaves the folder of plumb.toml; name a folder below it",
                self.directory
            ));
        }
        match self.schedule.as_deref() {
            Some(schedule)
                if !(schedule.starts_with("rate(") || schedule.starts_with("cron("))
                    || !schedule.ends_with(')') =>
            {
                Err(format!(
                    "schedule = {schedule:?} is no schedule; write rate(1 day) or cron(0 6 * * ? *)"
                ))
            }
            _ => Ok(()),
        }?;
        self.policy.as_ref().map_or(Ok(()), PolicyTable::check)
    }
}
