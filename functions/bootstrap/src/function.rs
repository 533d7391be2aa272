//! What a function has beside its event.

use crate::WATCHDOG;
use async_trait::async_trait;
use aws_config::{BehaviorVersion, SdkConfig};
use machine::{SystemRandom, WallClock};
use providers::SchemaCache;
use providers::plugin::watchdog::WatchdogCommand;
use records::kubernetes::{ClusterAccess, ManagedCluster};
use runs::function_environment::FunctionEnvironment;
use runs::local_deployment::Handover;
use runs::stores::StoreSurroundings;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The folder of ours where a function may write.
const SCRATCH: &str = "plumbline";
/// Bytes that packages of providers may take where the environment says nothing: half of the least that Lambda has.
const PACKAGE_ROOM: u64 = 256 << 20;
/// Megabytes that they may take.
const PACKAGE_ROOM_VARIABLE: &str = "PLUMB_PROVIDER_STORAGE_MB";
/// What Lambda calls the environment of this process, and no other.
const ENVIRONMENT_VARIABLE: &str = "AWS_LAMBDA_LOG_STREAM_NAME";
/// The address of the deployment's API, for links.
const API_VARIABLE: &str = "PLUMB_API";

/// A function between its invocations. What it keeps is caches by digest, and clients.
pub struct Function {
    /// What handlers begin with.
    pub environment: FunctionEnvironment,
    surroundings: Arc<Surroundings>,
}

impl Function {
    /// The function that this process is.
    pub(crate) fn from_process() -> Function {
        let inherited: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let text = inherited.iter().filter_map(|(k, v)| Some((k.to_str()?, v.to_str()?)));
        let variables: std::collections::BTreeMap<String, String> =
            text.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let room = variables.get(PACKAGE_ROOM_VARIABLE).and_then(|text| text.parse::<u64>().ok());
        // Bundles and packages are removed by who put them there: environments that share a machine, as stand-ins for Lambda have
        // them, share no folder.
        let own = variables.get(ENVIRONMENT_VARIABLE).map(|name| folder_name(name));
        let scratch = std::env::temp_dir().join(SCRATCH).join(own.unwrap_or_default());
        let surroundings = Arc::new(Surroundings::default());
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("bootstrap"));
        let environment = FunctionEnvironment {
            variables,
            inherited,
            watchdog: WatchdogCommand { program, args: vec![WATCHDOG.into()] },
            scratch,
            package_room: room.map_or(PACKAGE_ROOM, |megabytes| megabytes << 20),
            surroundings: surroundings.clone(),
            clock: Arc::new(WallClock),
            random: Arc::new(SystemRandom),
            schemas: Arc::new(SchemaCache::default()),
            local: None,
            handover: Handover::default(),
        };
        Function { environment, surroundings }
    }

    /// Region and credentials of the function.
    pub async fn aws(&self) -> SdkConfig {
        self.surroundings.aws(None).await
    }

    /// The address of the deployment's API, where it has one.
    pub fn api(&self) -> Option<&str> {
        self.environment.variables.get(API_VARIABLE).map(String::as_str)
    }
}

/// A name as one part of a path.
fn folder_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The role of the function, found out once.
#[derive(Default)]
struct Surroundings(OnceCell<SdkConfig>);

#[async_trait]
impl StoreSurroundings for Surroundings {
    /// A function has its role and no profiles.
    async fn aws(&self, _profile: Option<&str>) -> SdkConfig {
        let load = || aws_config::load_defaults(BehaviorVersion::latest());
        self.0.get_or_init(load).await.clone()
    }

    fn cluster(&self, _context: Option<&str>) -> ClusterAccess {
        ClusterAccess::InCluster { server: None }
    }

    /// A function has no identity but its role, which other clouds do not know.
    fn provider_token(&self, _cluster: &ManagedCluster) -> Option<String> {
        None
    }
}
