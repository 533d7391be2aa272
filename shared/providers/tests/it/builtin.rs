use async_trait::async_trait;
use language::functions::Random;
use providers::builtin::BuiltinProvider;
use providers::{
    ApplyResourceRequest, ImportResourceRequest, PlanResourceRequest, Provider, ProviderError,
    ReadDataSourceRequest, RemoteStateError, RemoteStateReader, RemoteStateRequest,
    UpgradeResourceStateRequest,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::{Path, Type, Value};

const TYPE: &str = "terraform_data";

struct Sevens;

impl Random for Sevens {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(7);
    }
}

fn provider() -> BuiltinProvider {
    BuiltinProvider::new(Arc::new(Sevens), None)
}

fn data(id: Value, input: Value, output: Value, triggers: Value) -> Value {
    Value::object([
        ("id", id),
        ("input", input),
        ("output", output),
        ("triggers_replace", triggers),
    ])
}

fn none() -> Value {
    Value::dynamic_null()
}

async fn null() -> Value {
    provider().schema().await.unwrap().value.unwrap().resources[TYPE].null()
}

async fn plan(prior: &Value, proposed: &Value) -> (Value, Vec<Path>) {
    let request = PlanResourceRequest {
        ty: TYPE.into(),
        prior_state: prior.clone(),
        proposed_new_state: proposed.clone(),
        config: proposed.clone(),
        prior_private: Arc::from([]),
        provider_meta: None,
        prior_identity: None,
        deferral_allowed: false,
    };
    let (planned, warnings) =
        provider().plan_resource(request).await.unwrap().into_result().unwrap();
    assert!(warnings.is_empty());
    (planned.planned_state, planned.requires_replace)
}

async fn apply(prior: &Value, planned: &Value) -> Value {
    let request = ApplyResourceRequest {
        ty: TYPE.into(),
        prior_state: prior.clone(),
        planned_state: planned.clone(),
        config: planned.clone(),
        planned_private: Arc::from([]),
        provider_meta: None,
        planned_identity: None,
    };
    let applied = provider().apply_resource(request).await.unwrap();
    assert!(!applied.has_errors());
    applied.value.unwrap().new_state.unwrap()
}

#[tokio::test]
async fn an_object_from_create_to_destroy() {
    let null = null().await;
    let proposed = data(Value::null(Type::String), Value::string("a"), none(), Value::string("t"));
    let (planned, replace) = plan(&null, &proposed).await;
    assert!(replace.is_empty());
    assert!(!planned.attribute("id").unwrap().is_known());
    assert!(planned.attribute("id").unwrap().is_definitely_not_null());
    assert_eq!(planned.attribute("output").unwrap(), Value::unknown(Type::String));

    let state = apply(&null, &planned).await;
    let id = state.attribute("id").unwrap();
    assert_eq!(id, Value::string("07070707-0707-4707-8707-070707070707"));
    assert_eq!(state.attribute("output"), Some(Value::string("a")));

    // Nothing changed, nothing to do.
    assert_eq!(plan(&state, &state).await, (state.clone(), vec![]));

    // Another input keeps the object.
    let proposed = data(id.clone(), Value::bool(true), Value::string("a"), Value::string("t"));
    let (planned, replace) = plan(&state, &proposed).await;
    assert!(replace.is_empty());
    assert_eq!(planned.attribute("id"), Some(id.clone()));
    assert_eq!(planned.attribute("output"), Some(Value::unknown(Type::Bool)));
    let state = apply(&state, &planned).await;
    assert_eq!(state.attribute("output"), Some(Value::bool(true)));

    // Another trigger does not.
    let proposed = data(id, Value::bool(true), Value::bool(true), Value::string("u"));
    let (planned, replace) = plan(&state, &proposed).await;
    assert_eq!(replace, [Path::attribute("triggers_replace")]);
    assert!(!planned.attribute("id").unwrap().is_known());

    let (planned, _) = plan(&state, &null).await;
    assert!(planned.is_null());
    assert!(apply(&state, &planned).await.is_null());
}

#[tokio::test]
async fn without_an_input_there_is_no_output() {
    let null = null().await;
    let (planned, _) = plan(&null, &data(Value::null(Type::String), none(), none(), none())).await;
    assert_eq!(planned.attribute("output"), Some(none()));
    // An input that turns up later counts.
    let unknown = data(Value::null(Type::String), Value::dynamic(), none(), none());
    let (planned, _) = plan(&null, &unknown).await;
    assert_eq!(planned.attribute("output"), Some(Value::dynamic()));
}

#[tokio::test]
async fn computed_attributes_cannot_be_set() {
    let config = data(Value::string("x"), none(), Value::bool(true), none());
    let response = provider().validate_resource_config(TYPE, &config, false).await.unwrap();
    let at: Vec<Path> = response.diagnostics.into_iter().filter_map(|d| d.attribute).collect();
    assert_eq!(at, [Path::attribute("id"), Path::attribute("output")]);
}

#[tokio::test]
async fn an_import_knows_the_id_alone() {
    let request = ImportResourceRequest {
        ty: TYPE.into(),
        id: "abc".into(),
        identity: None,
        deferral_allowed: false,
    };
    let imported = provider().import_resource(request).await.unwrap().value.unwrap().imported;
    let [object] = &imported[..] else { panic!("{imported:?}") };
    assert_eq!(object.state, data(Value::string("abc"), none(), none(), none()));
}

#[tokio::test]
async fn stored_objects_come_back() {
    let request = UpgradeResourceStateRequest {
        ty: TYPE.into(),
        version: 0,
        json: Arc::from(
            &br#"{"id":"i","input":{"value":["a"],"type":["tuple",["string"]]},"output":null,"triggers_replace":null}"#[..],
        ),
    };
    let state = provider().upgrade_resource_state(request).await.unwrap().value.unwrap();
    assert_eq!(state.attribute("input"), Some(Value::tuple([Value::string("a")])));
}

#[tokio::test]
async fn unknown_names_are_errors() {
    let error = provider().validate_resource_config("terraform_x", &none(), false).await;
    assert!(matches!(error, Err(ProviderError::UnknownName { .. })));
}

#[tokio::test]
async fn remote_states_are_validated() {
    let problems = async |backend: &str, config: Value, defaults: Value| {
        let config = Value::object([
            ("backend", Value::string(backend)),
            ("config", config),
            ("defaults", defaults),
            ("outputs", none()),
            ("workspace", none()),
        ]);
        let found = provider().validate_data_config("terraform_remote_state", &config).await;
        let found = found.unwrap().diagnostics;
        found.into_iter().map(|d| format!("{}: {}", d.summary, d.detail)).collect::<Vec<_>>()
    };
    assert!(
        problems("local", Value::object([("path", Value::string("x"))]), none()).await.is_empty()
    );
    assert_eq!(
        problems("nope", none(), Value::tuple([])).await,
        [
            "Invalid backend configuration: There is no backend type named \"nope\".",
            "Invalid default values: Defaults must be given in an object value.",
        ]
    );
    assert_eq!(
        problems("local", Value::string("x"), none()).await,
        [
            "Invalid backend configuration: The given configuration is not valid for backend \"local\": an object is required."
        ]
    );
}

struct Upstream;

#[async_trait]
impl RemoteStateReader for Upstream {
    async fn outputs(
        &self,
        request: RemoteStateRequest,
    ) -> Result<BTreeMap<Arc<str>, Value>, RemoteStateError> {
        match &*request.workspace {
            "default" => Ok([("a".into(), Value::string("real"))].into()),
            _ => Err(RemoteStateError::Absent { backend: request.backend.to_string() }),
        }
    }
}

#[tokio::test]
async fn remote_states() {
    let provider = BuiltinProvider::new(Arc::new(Sevens), Some(Arc::new(Upstream)));
    let read = |workspace: Value, defaults: Value| {
        let config = Value::object([
            ("backend", Value::string("local")),
            ("config", none()),
            ("defaults", defaults),
            ("outputs", none()),
            ("workspace", workspace),
        ]);
        provider.read_data_source(ReadDataSourceRequest {
            ty: "terraform_remote_state".into(),
            config,
            provider_meta: None,
            deferral_allowed: false,
        })
    };
    let defaults = || Value::object([("a", Value::string("default")), ("b", Value::bool(true))]);
    let found = read(Value::null(Type::String), defaults()).await.unwrap().value.unwrap();
    let outputs = found.state.attribute("outputs").unwrap();
    assert_eq!(outputs.attribute("a"), Some(Value::string("real")));
    assert_eq!(outputs.attribute("b"), Some(Value::bool(true)));
    // Defaults are for single outputs, not for a state that is not there.
    assert!(read(Value::string("other"), defaults()).await.unwrap().has_errors());
    assert!(read(Value::string("other"), none()).await.unwrap().has_errors());
}
