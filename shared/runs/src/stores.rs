//! Opening the stores that `plumb.toml` names.

use crate::contract::ContractTerms;
use crate::project::{
    ArtifactsTable, DirectoryTable, KubernetesTable, Project, S3Table, StoreTable,
};
use async_trait::async_trait;
use aws_config::SdkConfig;
use engine::estate::Journals;
use engine::record::key::{EstateKeys, EstateName};
use records::contract::{Contracts, StoreContract, WaiverError, Waivers};
use records::kubernetes::{
    AwsCredentials, BearerToken, Cluster, ClusterAccess, ClusterContract, ClusterError,
    KubernetesOptions, KubernetesStore, ManagedCluster, ProviderCredentials, ProviderHttps,
    UnknownManagedCluster,
};
use records::s3::contract::{BucketContract, Prefixes};
use records::s3::{S3Artifacts, S3Connection, S3Settings, S3Store};
use records::{
    ArtifactStore, DirectoryArtifacts, DirectoryStore, Key, Opening, RecordStore, StoreError,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a managed cluster's provider is waited for: it is asked before every apply, and need not answer.
const PROVIDER_TIME_OUT: Duration = Duration::from_secs(10);

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
    /// Where journals are.
    pub journals: Journals,
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
    /// A bearer token for the API of a managed cluster's provider, where there is one at hand.
    fn provider_token(&self, cluster: &ManagedCluster) -> Option<String>;
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
                contracts.push(Arc::new(
                    cluster_contract(table, &cluster, store.clone(), surroundings).await?,
                ));
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
        let journals = match &project.store {
            StoreTable::Kubernetes(_) => Journals::Artifacts,
            StoreTable::Dir(_) | StoreTable::S3(_) => Journals::Records,
        };
        Ok(Stores { records, artifacts, journals, contract })
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
        parallelism: table.parallelism,
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

/// The contract of a cluster; its provider is asked where credentials for it are at hand.
async fn cluster_contract(
    table: &KubernetesTable,
    cluster: &Cluster,
    store: Arc<KubernetesStore>,
    surroundings: &dyn StoreSurroundings,
) -> Result<ClusterContract, StoresError> {
    let mut contract = ClusterContract::new(store);
    let named = table.managed_cluster.as_deref().map(str::parse::<ManagedCluster>).transpose()?;
    if let Some(named) = &named {
        contract = contract.managed_as(named.clone());
    }
    let managed = named.or_else(|| cluster.exec_plugin().and_then(ManagedCluster::infer));
    let credentials: Option<Arc<dyn ProviderCredentials>> = match &managed {
        None => None,
        Some(ManagedCluster::Eks { .. }) => {
            Some(Arc::new(AwsCredentials::new(surroundings.aws(None).await)))
        }
        Some(other) => surroundings
            .provider_token(other)
            .map(|token| Arc::new(BearerToken::new(token)) as Arc<dyn ProviderCredentials>),
    };
    Ok(match credentials {
        None => contract,
        Some(credentials) => {
            contract.asking(Arc::new(ProviderHttps::new(credentials, PROVIDER_TIME_OUT)))
        }
    })
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
