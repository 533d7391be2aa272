//! What a managed cluster's provider says of its encryption.

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use serde::Deserialize;
use thiserror::Error;

use crate::contract::{Finding, Remedy, Setting};
use crate::kubernetes::{ExecPlugin, KubernetesStore, Place};

/// A cluster of a provider that runs the control plane itself.
///
/// As text: `eks:REGION/CLUSTER`, `gke:PROJECT/LOCATION/CLUSTER`, `aks:SUBSCRIPTION/RESOURCE_GROUP/CLUSTER`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManagedCluster {
    /// Amazon Elastic Kubernetes Service.
    Eks {
        /// Its region.
        region: String,
        /// Its name.
        cluster: String,
    },
    /// Google Kubernetes Engine.
    Gke {
        /// Its project.
        project: String,
        /// Its region or zone.
        location: String,
        /// Its name.
        cluster: String,
    },
    /// Azure Kubernetes Service.
    Aks {
        /// Its subscription.
        subscription: String,
        /// Its resource group.
        resource_group: String,
        /// Its name.
        cluster: String,
    },
}

/// A text that names no managed cluster.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{text:?} names no managed cluster; write eks:REGION/CLUSTER, gke:PROJECT/LOCATION/CLUSTER or \
     aks:SUBSCRIPTION/RESOURCE_GROUP/CLUSTER"
)]
pub struct UnknownManagedCluster {
    /// The text.
    pub text: String,
}

impl FromStr for ManagedCluster {
    type Err = UnknownManagedCluster;

    fn from_str(text: &str) -> Result<Self, UnknownManagedCluster> {
        let unknown = || UnknownManagedCluster { text: text.to_owned() };
        let (provider, rest) = text.split_once(':').ok_or_else(unknown)?;
        let words: Vec<&str> = rest.split('/').collect();
        if !words.iter().all(|word| is_name(word)) {
            return Err(unknown());
        }
        let owned = |word: &&str| (*word).to_owned();
        match (provider, words.as_slice()) {
            ("eks", [region, cluster]) => {
                Ok(Self::Eks { region: owned(region), cluster: owned(cluster) })
            }
            ("gke", [project, location, cluster]) => Ok(Self::Gke {
                project: owned(project),
                location: owned(location),
                cluster: owned(cluster),
            }),
            ("aks", [subscription, resource_group, cluster]) => Ok(Self::Aks {
                subscription: owned(subscription),
                resource_group: owned(resource_group),
                cluster: owned(cluster),
            }),
            _ => Err(unknown()),
        }
    }
}

/// Whether a text may stand in an address as it is: no name of these providers has other characters.
fn is_name(word: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.()".contains(&byte);
    !word.is_empty() && !word.starts_with('.') && word.bytes().all(inside)
}

impl fmt::Display for ManagedCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eks { region, cluster } => write!(f, "eks:{region}/{cluster}"),
            Self::Gke { project, location, cluster } => {
                write!(f, "gke:{project}/{location}/{cluster}")
            }
            Self::Aks { subscription, resource_group, cluster } => {
                write!(f, "aks:{subscription}/{resource_group}/{cluster}")
            }
        }
    }
}

/// What a provider is asked with GET, and how the request proves who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedClusterAddress {
    /// The whole address.
    pub url: String,
    /// The region for which AWS's signature is made, for the service `eks`; none where a bearer token is sent.
    pub signing_region: Option<String>,
}

/// A provider's answer, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderAnswer {
    /// The status of the answer.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// Why a provider was not asked, or did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ProviderFailure(pub String);

/// The way to a provider's own API, with credentials for it.
#[async_trait]
pub trait ProviderApi: Send + Sync {
    /// Sends one GET request.
    async fn get(&self, address: &ManagedClusterAddress)
    -> Result<ProviderAnswer, ProviderFailure>;
}

impl ManagedCluster {
    /// The cluster that a kubeconfig's credential command gets credentials for, where it tells.
    #[must_use]
    pub fn infer(exec: &ExecPlugin) -> Option<Self> {
        let command = exec.command.rsplit(['/', '\\']).next().unwrap_or_default();
        let command = command.strip_suffix(".exe").unwrap_or(command);
        let option = |names: &[&str]| option_of(&exec.arguments, names);
        let variable = |name: &str| {
            exec.variables.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
        };
        let cluster = match command {
            "aws" if exec.arguments.iter().any(|word| word == "get-token") => {
                option(&["--cluster-name"])?
            }
            "aws-iam-authenticator" => option(&["-i", "--cluster-id"])?,
            _ => return None,
        };
        let region = option(&["--region"])
            .or_else(|| variable("AWS_REGION"))
            .or_else(|| variable("AWS_DEFAULT_REGION"))?;
        (is_name(cluster) && is_name(region))
            .then(|| Self::Eks { region: region.to_owned(), cluster: cluster.to_owned() })
    }

    /// What the provider is asked.
    #[must_use]
    pub fn address(&self) -> ManagedClusterAddress {
        match self {
            Self::Eks { region, cluster } => {
                let domain = match region.starts_with("cn-") {
                    true => "amazonaws.com.cn",
                    false => "amazonaws.com",
                };
                ManagedClusterAddress {
                    url: format!("https://eks.{region}.{domain}/clusters/{cluster}"),
                    signing_region: Some(region.clone()),
                }
            }
            Self::Gke { project, location, cluster } => ManagedClusterAddress {
                url: format!(
                    "https://container.googleapis.com/v1/projects/{project}/locations/{location}/clusters/{cluster}"
                ),
                signing_region: None,
            },
            Self::Aks { subscription, resource_group, cluster } => ManagedClusterAddress {
                url: format!(
                    "https://management.azure.com/subscriptions/{subscription}/resourceGroups/{resource_group}\
                     /providers/Microsoft.ContainerService/managedClusters/{cluster}?api-version=2024-09-01"
                ),
                signing_region: None,
            },
        }
    }

    /// The command that shows what the provider says.
    fn look(&self) -> String {
        match self {
            Self::Eks { region, cluster } => format!(
                "aws eks describe-cluster --region {region} --name {cluster} --query cluster.encryptionConfig"
            ),
            Self::Gke { project, location, cluster } => format!(
                "gcloud container clusters describe {cluster} --project {project} --location {location} \
                 --format='value(databaseEncryption)'"
            ),
            Self::Aks { subscription, resource_group, cluster } => format!(
                "az aks show --subscription {subscription} --resource-group {resource_group} --name {cluster} \
                 --query securityProfile.azureKeyVaultKms"
            ),
        }
    }

    /// The command that encrypts Secrets with a key of the team's own.
    fn encrypt(&self) -> String {
        match self {
            Self::Eks { region, cluster } => format!(
                "aws eks associate-encryption-config --region {region} --cluster-name {cluster} \
                 --encryption-config '[{{\"resources\":[\"secrets\"],\"provider\":{{\"keyArn\":\"KEY_ARN\"}}}}]'"
            ),
            Self::Gke { project, location, cluster } => format!(
                "gcloud container clusters update {cluster} --project {project} --location {location} \
                 --database-encryption-key KEY"
            ),
            Self::Aks { subscription, resource_group, cluster } => format!(
                "az aks update --subscription {subscription} --resource-group {resource_group} --name {cluster} \
                 --enable-azure-keyvault-kms --azure-keyvault-kms-key-id KEY_ID"
            ),
        }
    }
}

/// The value of an option, as one word with `=` or as the word after it.
fn option_of<'a>(arguments: &'a [String], names: &[&str]) -> Option<&'a str> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if names.contains(&word.as_str()) {
            return words.next().map(String::as_str);
        }
        let value = names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('='));
        if value.is_some() {
            return value;
        }
    }
    None
}

/// What a provider says of the encryption of Secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Encryption {
    /// With a key, in the words of a sentence.
    Encrypted(String),
    /// Only as the provider's disks are.
    DisksOnly,
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Description {
    /// The cluster has these endpoints.
    Known { endpoints: Vec<String>, encryption: Encryption },
    /// There is no such cluster.
    NotFound,
    /// Nobody can tell: denied, unreachable, not understood.
    Undetermined(String),
}

pub(super) async fn finding(
    store: &KubernetesStore,
    cluster: &ManagedCluster,
    is_named: bool,
    provider: Option<&dyn ProviderApi>,
) -> Finding {
    let setting = Setting::EncryptionAtRest;
    let place = &store.requests.place;
    let Some(provider) = provider else {
        let found = format!(
            "Whether {cluster} encrypts Secrets was not asked: there are no credentials for its provider. \
             Look: {}",
            cluster.look()
        );
        return Finding::not_checked(setting, found);
    };
    let description = match provider.get(&cluster.address()).await {
        Ok(answer) => describe(cluster, &answer),
        Err(failure) => Description::Undetermined(failure.to_string()),
    };
    judge(cluster, is_named, place, description)
}

fn judge(
    cluster: &ManagedCluster,
    is_named: bool,
    place: &Place,
    description: Description,
) -> Finding {
    let setting = Setting::EncryptionAtRest;
    let server = &place.server;
    // What the configuration says wrongly is a mistake in it; a guess that is wrong is only a guess.
    let mistaken = |found: String| match is_named {
        true => {
            let remedy = Remedy::command(
                "Name the cluster that the kubeconfig leads to.",
                format!("{} cluster-info", place.kubectl_of_cluster()),
            );
            Finding::failed(setting, found, remedy).never_waived()
        }
        false => Finding::not_checked(setting, found),
    };
    match description {
        Description::NotFound => mistaken(format!("There is no cluster {cluster}.")),
        Description::Undetermined(why) => {
            let found = format!(
                "Whether {cluster} encrypts Secrets could not be learnt ({why}). Look: {}",
                cluster.look()
            );
            Finding::not_checked(setting, found)
        }
        Description::Known { endpoints, .. } if !endpoints.iter().any(|it| is_same(it, server)) => {
            mistaken(format!(
                "{server} is not the cluster {cluster}, which is at {}.",
                endpoints.join(", ")
            ))
        }
        Description::Known { encryption: Encryption::Encrypted(how), .. } => {
            Finding::passed(setting, format!("{cluster} encrypts Secrets {how}."))
        }
        Description::Known { encryption: Encryption::DisksOnly, .. } => {
            let found = format!(
                "{cluster} encrypts no Secrets by themselves, only the disks that its provider keeps them on."
            );
            let remedy =
                Remedy::command("Encrypt Secrets with a key of your own.", cluster.encrypt());
            Finding::warned(setting, found, remedy)
        }
    }
}

fn describe(cluster: &ManagedCluster, answer: &ProviderAnswer) -> Description {
    match answer.status {
        200 => {}
        404 => return Description::NotFound,
        401 | 403 => return Description::Undetermined("the provider denied it".to_owned()),
        status => return Description::Undetermined(format!("the provider answered {status}")),
    }
    let described = match cluster {
        ManagedCluster::Eks { .. } => of_eks(&answer.body),
        ManagedCluster::Gke { .. } => of_gke(&answer.body),
        ManagedCluster::Aks { .. } => of_aks(&answer.body),
    };
    described.unwrap_or_else(|_| {
        Description::Undetermined("the provider's answer was not understood".to_owned())
    })
}

#[derive(Deserialize)]
struct EksAnswer {
    cluster: EksCluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EksCluster {
    endpoint: Option<String>,
    version: Option<String>,
    #[serde(default)]
    encryption_config: Option<Vec<EksEncryption>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EksEncryption {
    #[serde(default)]
    resources: Vec<String>,
    provider: Option<EksKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EksKey {
    key_arn: Option<String>,
}

fn of_eks(body: &[u8]) -> Result<Description, serde_json::Error> {
    let EksCluster { endpoint, version, encryption_config } =
        serde_json::from_slice::<EksAnswer>(body)?.cluster;
    let configured = encryption_config.unwrap_or_default().into_iter().find_map(|config| {
        let key = config.provider?.key_arn?;
        config.resources.iter().any(|resource| resource == "secrets").then_some(key)
    });
    let encryption = match (configured, version) {
        (Some(key), _) => Encryption::Encrypted(format!("with the key {key}")),
        // From 1.28 on EKS encrypts everything that the API server keeps.
        (None, Some(version)) if minor_of(&version).is_some_and(|minor| minor >= 28) => {
            Encryption::Encrypted("with a key that AWS owns, as EKS does from 1.28 on".to_owned())
        }
        (None, _) => Encryption::DisksOnly,
    };
    Ok(Description::Known { endpoints: endpoint.into_iter().collect(), encryption })
}

fn minor_of(version: &str) -> Option<u32> {
    let (major, minor) = version.split_once('.')?;
    (major == "1").then(|| minor.parse().ok())?
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GkeCluster {
    endpoint: Option<String>,
    private_cluster_config: Option<GkePrivate>,
    control_plane_endpoints_config: Option<GkeEndpoints>,
    database_encryption: Option<GkeEncryption>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GkePrivate {
    private_endpoint: Option<String>,
    public_endpoint: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GkeEndpoints {
    dns_endpoint_config: Option<GkeEndpoint>,
    ip_endpoints_config: Option<GkePrivate>,
}

#[derive(Deserialize)]
struct GkeEndpoint {
    endpoint: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GkeEncryption {
    state: Option<String>,
    key_name: Option<String>,
}

fn of_gke(body: &[u8]) -> Result<Description, serde_json::Error> {
    let cluster: GkeCluster = serde_json::from_slice(body)?;
    let control = cluster.control_plane_endpoints_config;
    let (dns, ip) =
        control.map_or((None, None), |it| (it.dns_endpoint_config, it.ip_endpoints_config));
    let of_private = |private: Option<GkePrivate>| {
        private.into_iter().flat_map(|it| [it.private_endpoint, it.public_endpoint]).flatten()
    };
    let endpoints = cluster
        .endpoint
        .into_iter()
        .chain(of_private(cluster.private_cluster_config))
        .chain(of_private(ip))
        .chain(dns.and_then(|it| it.endpoint))
        .collect();
    let encryption = match cluster.database_encryption {
        Some(GkeEncryption { state, key_name })
            if matches!(state.as_deref(), Some("ENCRYPTED" | "ALL_OBJECTS_ENCRYPTION_ENABLED")) =>
        {
            Encryption::Encrypted(match key_name {
                Some(key) => format!("with the key {key}"),
                None => "in its database".to_owned(),
            })
        }
        _ => Encryption::DisksOnly,
    };
    Ok(Description::Known { endpoints, encryption })
}

#[derive(Deserialize)]
struct AksAnswer {
    properties: AksCluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AksCluster {
    fqdn: Option<String>,
    #[serde(rename = "privateFQDN")]
    private_fqdn: Option<String>,
    security_profile: Option<AksSecurity>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AksSecurity {
    azure_key_vault_kms: Option<AksKeyVault>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AksKeyVault {
    #[serde(default)]
    enabled: bool,
    key_id: Option<String>,
}

fn of_aks(body: &[u8]) -> Result<Description, serde_json::Error> {
    let cluster = serde_json::from_slice::<AksAnswer>(body)?.properties;
    let vault = cluster.security_profile.and_then(|profile| profile.azure_key_vault_kms);
    let encryption = match vault.filter(|vault| vault.enabled) {
        Some(vault) => Encryption::Encrypted(match vault.key_id {
            Some(key) => format!("with the key {key}"),
            None => "with a key in Azure Key Vault".to_owned(),
        }),
        None => Encryption::DisksOnly,
    };
    let endpoints = cluster.fqdn.into_iter().chain(cluster.private_fqdn).collect();
    Ok(Description::Known { endpoints, encryption })
}

/// Whether an endpoint, with or without scheme and port, is the server of a kubeconfig.
fn is_same(endpoint: &str, server: &str) -> bool {
    host_and_port(endpoint) == host_and_port(server)
}

fn host_and_port(address: &str) -> (String, String) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split('/').next().unwrap_or_default();
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit()) => {
            (host, port)
        }
        _ => (rest, "443"),
    };
    (host.to_ascii_lowercase(), port.to_owned())
}
