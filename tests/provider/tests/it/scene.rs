use providers::plugin::watchdog::WatchdogCommand;
use providers::plugin::{PluginCommand, PluginHost, PluginProvider, PluginTimeouts};
use providers::{
    ApplyResourceRequest, ApplyResourceResponse, ConfigureRequest, PlanResourceRequest,
    PlanResourceResponse, Provider, ProviderError, ReadResourceRequest, Response, SharedSchema,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use test_provider::World;
use values::address::ProviderAddress;
use values::{Type, Value};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_terraform-provider-test");
pub(crate) const THING: &str = "test_thing";

pub(crate) fn watchdog() -> WatchdogCommand {
    WatchdogCommand { program: PROGRAM.into(), args: vec!["__watchdog".into()] }
}

pub(crate) fn host() -> PluginHost {
    let timeouts =
        PluginTimeouts { start: Duration::from_secs(30), shutdown: Duration::from_secs(10) };
    PluginHost::new(watchdog(), std::env::vars_os(), timeouts)
}

pub(crate) fn address() -> ProviderAddress {
    ProviderAddress::implied("test")
}

pub(crate) fn command(args: &[&str]) -> PluginCommand {
    PluginCommand { program: PROGRAM.into(), args: args.iter().map(Into::into).collect() }
}

pub(crate) async fn start(
    host: &PluginHost,
    args: &[&str],
) -> Result<PluginProvider, ProviderError> {
    host.start(&address(), &command(args), Arc::new(SharedSchema::default())).await
}

/// Whether a process runs; one that has ended and waits for its parent does not.
pub(crate) fn runs(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| Some(stat.rsplit_once(')')?.1.trim().starts_with(['Z', 'X'])))
        .is_some_and(|ended| !ended)
}

/// Waits for a condition that must become true.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A configured provider and its world.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) provider: PluginProvider,
    // Ends with its plugins, so it must outlive them.
    pub(crate) host: PluginHost,
    _folder: TempDir,
}

impl Scene {
    pub(crate) async fn new() -> Scene {
        Scene::with(&[]).await
    }

    /// With arguments of the plugin.
    pub(crate) async fn with(arguments: &[&str]) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let world = World::open(folder.path().join("world")).unwrap();
        let host = host();
        let provider = start(&host, arguments).await.unwrap();
        configure(&provider, &world).await;
        Scene { world, provider, host, _folder: folder }
    }

    pub(crate) async fn null(&self) -> Value {
        self.provider.schema().await.unwrap().value.unwrap().resources[THING].null()
    }

    /// A thing's configuration: the attributes given, null for all others.
    pub(crate) async fn config(&self, set: &[(&str, Value)]) -> Value {
        let schema = self.provider.schema().await.unwrap().value.unwrap();
        let empty = schema.resources[THING].block.empty_value();
        let mut map = empty.as_map().unwrap().clone();
        for (name, value) in set {
            map.insert((*name).into(), value.clone());
        }
        Value::object(map)
    }

    /// What the engine would propose for a create or an update.
    pub(crate) fn proposed(prior: &Value, config: &Value) -> Value {
        let mut map = config.as_map().unwrap().clone();
        for name in ["id", "revision", "zone"] {
            match prior.attribute(name) {
                Some(value) if map[name].is_null() && !prior.is_null() => {
                    map.insert(name.into(), value);
                }
                _ => {}
            }
        }
        Value::object(map)
    }

    pub(crate) async fn plan(&self, prior: &Value, config: &Value) -> PlanResourceResponse {
        let proposed = match config.is_null() {
            true => config.clone(),
            false => Scene::proposed(prior, config),
        };
        let request = PlanResourceRequest {
            ty: THING.into(),
            prior_state: prior.clone(),
            proposed_new_state: proposed,
            config: config.clone(),
            prior_private: Arc::from(*b"private"),
            provider_meta: None,
            prior_identity: None,
            deferral_allowed: false,
        };
        self.provider.plan_resource(request).await.unwrap().into_result().unwrap().0
    }

    pub(crate) fn apply_request(
        prior: &Value,
        config: &Value,
        plan: &PlanResourceResponse,
    ) -> ApplyResourceRequest {
        ApplyResourceRequest {
            ty: THING.into(),
            prior_state: prior.clone(),
            planned_state: plan.planned_state.clone(),
            config: config.clone(),
            planned_private: plan.planned_private.clone(),
            provider_meta: None,
            planned_identity: plan.planned_identity.clone(),
        }
    }

    pub(crate) async fn apply(
        &self,
        prior: &Value,
        config: &Value,
    ) -> Response<ApplyResourceResponse> {
        let plan = self.plan(prior, config).await;
        let request = Scene::apply_request(prior, config, &plan);
        self.provider.apply_resource(request).await.unwrap()
    }

    pub(crate) async fn created(&self, set: &[(&str, Value)]) -> Value {
        let config = self.config(set).await;
        let applied = self.apply(&self.null().await, &config).await;
        applied.into_result().unwrap().0.new_state.unwrap()
    }

    pub(crate) async fn read(&self, current: &Value) -> Value {
        let request = ReadResourceRequest {
            ty: THING.into(),
            current: current.clone(),
            private: Arc::from([]),
            provider_meta: None,
            identity: None,
            deferral_allowed: false,
        };
        self.provider.read_resource(request).await.unwrap().into_result().unwrap().0.state
    }

    /// How often a call was made, by phase.
    pub(crate) fn count(&self, call: &str, phase: &str) -> usize {
        let calls = self.world.calls().unwrap();
        calls.iter().filter(|c| c.call == call && c.phase == phase).count()
    }
}

pub(crate) async fn configure(provider: &PluginProvider, world: &World) {
    let folder = world.folder().to_str().unwrap();
    let config = Value::object([("world", Value::string(folder))]);
    let prepared = provider.validate_provider_config(&config).await.unwrap();
    let (prepared, _) = prepared.into_result().unwrap();
    assert_eq!(prepared.ty(), Type::object([("world", Type::String)]));
    let request = ConfigureRequest {
        terraform_version: "1.11.4".into(),
        config: prepared,
        deferral_allowed: false,
        write_only_allowed: true,
    };
    provider.configure(request).await.unwrap().into_result().unwrap();
}
