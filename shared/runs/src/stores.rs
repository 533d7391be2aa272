//! Opening the stores that `plumb.toml` names.

use crate::contract::ContractTerms;
use crate::project::{
    ArtifactsTable, DirectoryTable, KubernetesTable, Project, S3Table, StoreTable,
};
use async_trait::async_trait;
use aws_config::SdkConfig;
use engine::record::key::{EstateKeys, EstateName};
use records::contract::{Contracts, StoreContract, WaiverError, Waivers};
use records::kubernetes::{Cluster, ClusterAccess, ClusterContract, ClusterError};
use records::kubernetes::{KubernetesOptions, KubernetesStore, UnknownManagedCluster};
use records::s3::contract::{BucketContract, Prefixes};
use records::s3::{S3Artifacts, S3Connection, S3Settings, S3Store};
use records::{
    ArtifactStore, DirectoryArtifacts, DirectoryStore, Key, Opening, RecordStore, StoreError,
};
use std::path::Path;
use std::sync::Arc;

/// Where the records of a store in a bucket are, below its prefix, and where its artifacts are: apart, so that a rule
/// that lets artifacts expire can never reach a record.
const RECORDS: &str = "records";
const ARTIFACTS: &str = "artifacts";

/// The stores of one estate.
pub struct Stores {
    /// Records.
    pub records: Arc<dyn RecordStore>,
    /// Plans, bundles, snapshots.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// What they have to guarantee; nothing, where they are directories.
    pub contract: Option<ContractTerms>,
}

/// Stores cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoresError {
    /// A store is not as it has to be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The cluster cannot be reached.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// What is waived cannot be.
    #[error("{0}. It stands in plumb.toml")]
    Waiver(#[from] WaiverError),
    /// The managed cluster is none.
    #[error("managed_cluster in plumb.toml: {0}")]
    ManagedCluster(#[from] UnknownManagedCluster),
    /// Kubernetes holds records alone.
    #[error(
        "plumb.toml keeps records in Kubernetes and says nothing of artifacts, which do not fit into Secrets; add a \
         table [artifacts.s3] or [artifacts.dir]"
    )]
    NoArtifacts,
}

/// What the environment of a process gives to stores; asked only for what is needed.
#[async_trait]
pub trait StoreSurroundings: Send + Sync {
    /// Region and credentials for AWS, of a profile if one is named.
    async fn aws(&self, profile: Option<&str>) -> SdkConfig;
    /// How a cluster is reached where no kubeconfig is named.
    fn cluster(&self, context: Option<&str>) -> ClusterAccess;
}

/// Where to look for what a project leaves open.
pub struct Places<'a> {
    /// The folder that the project's paths are relative to.
    pub root: &'a Path,
    /// The store's directory where nothing else is said.
    pub beside: &'a Path,
}

impl Stores {
    /// Opens the stores of one estate. Directories may be made; other stores are sent nothing yet.
    ///
    /// # Errors
    /// Where settings are refused, or a directory is not there and is not to be made
    /// ([`StoreError::RootMissing`]).
    pub async fn open(
        project: &Project,
        estate: &EstateName,
        places: Places<'_>,
        opening: Opening,
        surroundings: &dyn StoreSurroundings,
    ) -> Result<Stores, StoresError> {
        let directory = |table: &DirectoryTable| match &table.path {
            Some(path) => places.root.join(path),
            None => places.beside.to_owned(),
        };
        let mut contracts = Vec::<Arc<dyn StoreContract>>::new();
        let mut waived = Vec::new();
        let records: Arc<dyn RecordStore> = match &project.store {
            StoreTable::Dir(table) => {
                Arc::new(DirectoryStore::open(directory(table), opening).await?)
            }
            StoreTable::S3(table) => {
                let connection = connect(table, RECORDS, surroundings).await?;
                waived.extend(&table.allow_insecure);
                let artifacts = match &project.artifacts {
                    None => vec![prefix_of(table, ARTIFACTS)],
                    Some(_) => Vec::new(),
                };
                let prefixes = Prefixes::new([prefix_of(table, RECORDS)], artifacts);
                contracts.push(Arc::new(BucketContract::new(connection.clone(), prefixes)));
                Arc::new(S3Store::new(connection)?)
            }
            StoreTable::Kubernetes(table) => {
                let cluster = cluster(table, places.root, surroundings).await?;
                let root = Key::new(EstateKeys::new("", estate)?.all().trim_end_matches('/'))?;
                let options = KubernetesOptions::new(&*table.namespace, estate.as_str(), root);
                waived.extend(&table.allow_insecure);
                let store = KubernetesStore::new(&cluster, options).map_err(StoreError::from)?;
                let store = Arc::new(store);
                let mut contract = ClusterContract::new(store.clone());
                if let Some(managed) = &table.managed_cluster {
                    contract = contract.managed_as(managed.parse()?);
                }
                contracts.push(Arc::new(contract));
                store
            }
        };
        let artifacts: Arc<dyn ArtifactStore> = match (&project.artifacts, &project.store) {
            (Some(ArtifactsTable::Dir(table)), _) | (None, StoreTable::Dir(table)) => {
                Arc::new(DirectoryArtifacts::open(directory(table), opening).await?)
            }
            (Some(ArtifactsTable::S3(table)), _) | (None, StoreTable::S3(table)) => {
                let connection = connect(table, ARTIFACTS, surroundings).await?;
                if project.artifacts.is_some() {
                    waived.extend(&table.allow_insecure);
                    let prefixes =
                        Prefixes::new(Vec::<String>::new(), [prefix_of(table, ARTIFACTS)]);
                    contracts.push(Arc::new(BucketContract::new(connection.clone(), prefixes)));
                }
                Arc::new(S3Artifacts::new(connection)?)
            }
            (None, StoreTable::Kubernetes(_)) => return Err(StoresError::NoArtifacts),
        };
        let contract = match contracts.len() {
            0 => None,
            _ => {
                let contract = Contracts(contracts);
                let waivers = Waivers::parse(waived, &contract.settings())?;
                Some(ContractTerms { contract: Arc::new(contract), waivers })
            }
        };
        Ok(Stores { records, artifacts, contract })
    }
}

pub(crate) async fn connect(
    table: &S3Table,
    part: &str,
    surroundings: &dyn StoreSurroundings,
) -> Result<S3Connection, StoreError> {
    let sdk = surroundings.aws(table.profile.as_deref()).await;
    let settings = S3Settings {
        prefix: prefix_of(table, part),
        region: table.region.clone(),
        endpoint: table.endpoint.clone(),
        path_style: table.path_style,
        expected_bucket_owner: table.bucket_owner.clone(),
        tags: table.tags.clone(),
        ..S3Settings::new(&*table.bucket)
    };
    S3Connection::new(settings, &sdk)
}

fn prefix_of(table: &S3Table, part: &str) -> String {
    match table.prefix.trim_end_matches('/') {
        "" => format!("{part}/"),
        prefix => format!("{prefix}/{part}/"),
    }
}

async fn cluster(
    table: &KubernetesTable,
    root: &Path,
    surroundings: &dyn StoreSurroundings,
) -> Result<Cluster, ClusterError> {
    let access = match &table.kubeconfig {
        Some(path) => {
            ClusterAccess::Kubeconfig { path: root.join(path), context: table.context.clone() }
        }
        None => surroundings.cluster(table.context.as_deref()),
    };
    Cluster::connect(&access).await
}
