//! The connection to a cluster. Everything it is made of is handed in; nothing is read from the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use thiserror::Error;

use super::Place;
use super::requests::without_output;

/// How a cluster is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterAccess {
    /// Through a kubeconfig.
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The context in it; without one its current context.
        context: Option<String>,
    },
    /// From a pod, with the service account's token and the cluster's authority that are mounted in it.
    InCluster {
        /// The API server's address, such as `https://10.0.0.1:443`; without one `https://kubernetes.default.svc`.
        server: Option<String>,
    },
}

/// A cluster that can be asked. Clones share their connections.
#[derive(Clone)]
pub struct Cluster {
    pub(super) client: Client,
    pub(super) server: String,
    pub(super) context: Option<String>,
    pub(super) verifies_tls: bool,
    pub(super) exec: Option<ExecPlugin>,
    default_namespace: String,
}

/// The command of a kubeconfig that gets credentials, which tells whose cluster it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecPlugin {
    /// The command.
    pub command: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The variables that are set for it.
    pub variables: Vec<(String, String)>,
}

/// Why a cluster cannot be reached at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The kubeconfig cannot be read, or does not have the context.
    #[error(
        "the kubeconfig {} cannot be used{}: {cause}. Look at its contexts: kubectl --kubeconfig {} config \
         get-contexts",
        path.display(),
        context.as_ref().map_or_else(String::new, |context| format!(" with the context {context:?}")),
        path.display()
    )]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The context that was asked for.
        context: Option<String>,
        /// What is wrong. Part of the message, and so not a source of the error.
        cause: Box<kube::config::KubeconfigError>,
    },

    /// This is no pod, or its service account's token is not mounted.
    #[error(
        "there is no service account to use from here: {cause}. Within a pod set automountServiceAccountToken; \
         elsewhere name a kubeconfig"
    )]
    InCluster {
        /// What is missing. Part of the message, and so not a source of the error.
        cause: Box<kube::config::InClusterError>,
    },

    /// An address is none.
    #[error("{server:?} is not the address of an API server, such as https://10.0.0.1:443")]
    Address {
        /// The text.
        server: String,
    },

    /// The command that gets the credentials does not.
    #[error(
        "{server} cannot be asked: {problem}. Run the command of the kubeconfig by hand to see why"
    )]
    Credentials {
        /// The API server.
        server: String,
        /// What became of the command.
        problem: String,
    },

    /// The client cannot be made from it: certificates, keys or a proxy of an unknown kind.
    #[error("no connection to {server} can be made")]
    Client {
        /// The API server.
        server: String,
        /// Why.
        source: Box<kube::Error>,
    },
}

impl Cluster {
    /// Reads what the access names, and makes a client. Nothing is sent yet; a kubeconfig's credential
    /// command may run.
    ///
    /// # Errors
    /// Where the files do not say how the cluster is reached.
    pub async fn connect(access: &ClusterAccess) -> Result<Self, ClusterError> {
        let (config, context) = match access {
            ClusterAccess::Kubeconfig { path, context } => {
                let failed = |cause| ClusterError::Kubeconfig {
                    path: path.clone(),
                    context: context.clone(),
                    cause: Box::new(cause),
                };
                let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
                let used = context.clone().or_else(|| kubeconfig.current_context.clone());
                let options = KubeConfigOptions { context: context.clone(), ..Default::default() };
                let config = Config::from_custom_kubeconfig(kubeconfig, &options);
                (config.await.map_err(failed)?, used)
            }
            ClusterAccess::InCluster { server } => {
                let address = |server: &String| {
                    server.parse().map_err(|_| ClusterError::Address { server: server.clone() })
                };
                let address = server.as_ref().map(address).transpose()?;
                let failed = |cause| ClusterError::InCluster { cause: Box::new(cause) };
                let mut config = Config::incluster_dns().map_err(failed)?;
                if let Some(address) = address {
                    config.cluster_url = address;
                }
                (config, None)
            }
        };
        let server = config.cluster_url.to_string();
        // A credential command is waited for.
        match tokio::task::spawn_blocking(move || Self::with_config(config, context)).await {
            Ok(made) => made,
            Err(ended) => Err(ClusterError::Credentials { server, problem: ended.to_string() }),
        }
    }

    fn with_config(mut config: Config, context: Option<String>) -> Result<Self, ClusterError> {
        // Each request has a time-out of its own, and is sent again by rules that know what it does.
        config.default_retry = false;
        config.read_timeout = None;
        config.connect_timeout = Some(Duration::from_secs(10));
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let encrypted = config.cluster_url.scheme_str() == Some("https");
        let verifies_tls = encrypted && !config.accept_invalid_certs;
        let exec = exec_plugin(&config.auth_info);
        let default_namespace = config.default_namespace.clone();
        let client = Client::try_from(config).map_err(|error| match error {
            kube::Error::Auth(error) => ClusterError::Credentials {
                server: server.clone(),
                problem: without_output(&error),
            },
            error => ClusterError::Client { server: server.clone(), source: Box::new(error) },
        })?;
        Ok(Self { client, server, context, verifies_tls, exec, default_namespace })
    }

    /// The API server's address.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The namespace that the kubeconfig's context or the pod names; `default` where none does.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        &self.default_namespace
    }

    /// The command by which credentials are got, where there is one.
    #[must_use]
    pub fn exec_plugin(&self) -> Option<&ExecPlugin> {
        self.exec.as_ref()
    }

    /// A namespace of this cluster.
    pub(super) fn place(&self, namespace: &str) -> Arc<Place> {
        Arc::new(Place {
            server: self.server.clone(),
            context: self.context.clone(),
            namespace: namespace.to_owned(),
        })
    }
}

/// Without the client, which holds credentials.
impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("server", &self.server)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

fn exec_plugin(credentials: &AuthInfo) -> Option<ExecPlugin> {
    let exec = credentials.exec.as_ref()?;
    let variable = |variable: &std::collections::HashMap<String, String>| {
        Some((variable.get("name")?.clone(), variable.get("value")?.clone()))
    };
    Some(ExecPlugin {
        command: exec.command.clone().unwrap_or_default(),
        arguments: exec.args.clone().unwrap_or_default(),
        variables: exec.env.iter().flatten().filter_map(variable).collect(),
    })
}
