use crate::scene::{Scene, THING, eventually};
use providers::protocol::Version;
use providers::{
    CallFunctionRequest, EphemeralHandle, ImportResourceRequest, OpenEphemeralRequest,
    PlanResourceRequest, Provider, ProviderError, ReadDataSourceRequest,
    UpgradeResourceStateRequest,
};
use std::sync::Arc;
use values::{Path, Type, Value};

fn s(text: &str) -> Value {
    Value::string(text)
}

#[tokio::test]
async fn a_thing_from_create_to_delete_in_both_protocols() {
    for (arguments, version) in [(&[][..], Version::V6), (&["--protocol-5"], Version::V5)] {
        let scene = Scene::with(arguments).await;
        assert_eq!(scene.provider.protocol(), version);
        from_create_to_delete(&scene).await;
    }
}

async fn from_create_to_delete(scene: &Scene) {
    let null = scene.null().await;
    let tags = Value::map(Type::String, [("a", s("b"))]);
    let set = [("name", s("x")), ("size", Value::number(3_i64)), ("tags", tags)];
    let config = scene.config(&set).await;

    let plan = scene.plan(&null, &config).await;
    assert!(plan.requires_replace.is_empty());
    assert!(!plan.planned_state.attribute("id").unwrap().is_known());
    assert!(plan.planned_state.attribute("id").unwrap().is_definitely_not_null());
    assert!(!plan.planned_state.attribute("zone").unwrap().is_known());
    assert_eq!(&*plan.planned_private, b"private");

    let request = Scene::apply_request(&null, &config, &plan);
    let created = scene.provider.apply_resource(request).await.unwrap().into_result().unwrap().0;
    let state = created.new_state.unwrap();
    let id = state.attribute("id").unwrap();
    assert_eq!(created.identity.unwrap().attribute("id"), Some(id.clone()));
    assert_eq!(state.attribute("zone"), Some(s("zone-a")));
    assert_eq!(state.attribute("revision"), Some(Value::number(1_i64)));
    assert_eq!(scene.read(&state).await, state);

    // Nothing to do.
    assert_eq!(scene.plan(&state, &config).await.planned_state, state);

    // An update.
    let config = scene.config(&[("name", s("y"))]).await;
    let plan = scene.plan(&state, &config).await;
    assert!(!plan.planned_state.attribute("revision").unwrap().is_known());
    let updated = scene.apply(&state, &config).await.into_result().unwrap().0.new_state.unwrap();
    assert_eq!(updated.attribute("id"), Some(id.clone()));
    assert_eq!(updated.attribute("revision"), Some(Value::number(2_i64)));

    // A replacement.
    let config = scene.config(&[("name", s("y")), ("kind", s("k"))]).await;
    let plan = scene.plan(&updated, &config).await;
    assert_eq!(plan.requires_replace, [Path::attribute("kind")]);

    // Drift, and the end.
    let file = scene.world.file(THING, id.as_str().unwrap());
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"y\"", "\"drifted\"")).unwrap();
    assert_eq!(scene.read(&updated).await.attribute("name"), Some(s("drifted")));
    let deleted = scene.apply(&updated, &null).await.into_result().unwrap().0.new_state.unwrap();
    assert!(deleted.is_null());
    assert!(!file.exists());
    assert!(scene.read(&updated).await.is_null());
    assert_eq!(scene.count("create", "started"), 1);
    assert_eq!(scene.count("delete", "finished"), 1);
    scene.provider.close().await;
}

#[tokio::test]
async fn failures_with_and_without_an_object() {
    let scene = Scene::new().await;
    let null = scene.null().await;
    let config = scene.config(&[("name", s("x")), ("fail_on", s("create"))]).await;
    let failed = scene.apply(&null, &config).await;
    assert!(failed.has_errors());
    assert!(failed.value.unwrap().new_state.unwrap().is_null());
    assert!(scene.world.ids(THING).unwrap().is_empty());

    let partial = ("partial", Value::bool(true));
    let config = scene.config(&[("name", s("x")), ("fail_on", s("create")), partial]).await;
    let failed = scene.apply(&null, &config).await;
    assert!(failed.has_errors());
    let state = failed.value.unwrap().new_state.unwrap();
    let id = state.attribute("id").unwrap();
    assert_eq!(scene.world.ids(THING).unwrap(), [id.as_str().unwrap()]);
    assert_eq!(scene.count("create", "failed"), 2);
}

#[tokio::test]
async fn a_token_makes_a_create_idempotent() {
    let scene = Scene::new().await;
    let set = [("name", s("x")), ("token", s("t"))];
    let first = scene.created(&set).await;
    assert_eq!(scene.created(&set).await, first);
    assert_eq!(scene.world.ids(THING).unwrap().len(), 1);
}

#[tokio::test]
async fn a_stopped_create_tells_what_there_is() {
    let scene = Scene::new().await;
    let null = scene.null().await;
    let config = scene.config(&[("name", s("x")), ("slow_ms", Value::number(600_000_i64))]).await;
    let plan = scene.plan(&null, &config).await;
    let request = Scene::apply_request(&null, &config, &plan);
    let world = scene.world.clone();
    let stop = async {
        let begun = move || world.ids(THING).unwrap().len() == 1;
        tokio::task::spawn_blocking(|| eventually("the create begins", begun)).await.unwrap();
        scene.provider.stop().await.unwrap();
    };
    let (applied, ()) = tokio::join!(scene.provider.apply_resource(request), stop);
    let applied = applied.unwrap();
    assert!(applied.has_errors());
    let answer = applied.value.unwrap();
    assert_eq!(answer.new_state.unwrap().attribute("name"), Some(s("x")));
    assert!(answer.identity.is_some());
}

#[tokio::test]
async fn a_killed_plugin_fails_the_call_under_way() {
    let scene = Scene::new().await;
    let null = scene.null().await;
    let config = scene.config(&[("name", s("x")), ("slow_ms", Value::number(600_000_i64))]).await;
    let plan = scene.plan(&null, &config).await;
    let request = Scene::apply_request(&null, &config, &plan);
    let world = scene.world.clone();
    let kill = async {
        let begun = move || world.ids(THING).unwrap().len() == 1;
        tokio::task::spawn_blocking(|| eventually("the create begins", begun)).await.unwrap();
        scene.host.kill_all().await;
    };
    let (applied, ()) = tokio::join!(scene.provider.apply_resource(request), kill);
    let error = applied.unwrap_err();
    assert!(matches!(error, ProviderError::Died { .. }), "{error}");
}

#[tokio::test]
async fn imports_by_id_and_by_identity() {
    let scene = Scene::new().await;
    let state = scene.created(&[("name", s("x"))]).await;
    let id = state.attribute("id").unwrap();
    let identity = Value::object([("id", id.clone())]);
    for (id, identity) in [(id.as_str().unwrap(), None), ("", Some(identity))] {
        let request = ImportResourceRequest {
            ty: THING.into(),
            id: id.into(),
            identity,
            deferral_allowed: false,
        };
        let answer = scene.provider.import_resource(request).await.unwrap();
        let imported = answer.into_result().unwrap().0.imported;
        assert_eq!(imported[0].state, state);
        assert!(imported[0].identity.is_some());
    }
    let request = ImportResourceRequest {
        ty: THING.into(),
        id: "nothing".into(),
        identity: None,
        deferral_allowed: false,
    };
    assert!(scene.provider.import_resource(request).await.unwrap().has_errors());
}

#[tokio::test]
async fn diagnostics_name_attributes() {
    let scene = Scene::new().await;
    let config = scene.config(&[("name", s(""))]).await;
    let answer = scene.provider.validate_resource_config(THING, &config, true).await.unwrap();
    let [diagnostic] = &answer.diagnostics[..] else { panic!("{answer:?}") };
    assert_eq!(diagnostic.attribute, Some(Path::attribute("name")));
    assert!(answer.into_result().is_err());
}

#[tokio::test]
async fn unknown_names_do_not_reach_the_plugin() {
    let scene = Scene::new().await;
    let answer = scene.provider.validate_resource_config("test_x", &Value::dynamic(), true).await;
    assert!(matches!(answer, Err(ProviderError::UnknownName { .. })));
}

#[tokio::test]
async fn stored_objects_are_upgraded() {
    let scene = Scene::new().await;
    let request = UpgradeResourceStateRequest {
        ty: THING.into(),
        version: 0,
        json: Arc::from(&br#"{"id":"i","label":"x"}"#[..]),
    };
    let answer = scene.provider.upgrade_resource_state(request).await.unwrap();
    assert_eq!(answer.into_result().unwrap().0.attribute("name"), Some(s("x")));
}

#[tokio::test]
async fn data_sources_functions_and_ephemeral_resources() {
    let scene = Scene::new().await;
    let state = scene.created(&[("name", s("x"))]).await;
    let schema = scene.provider.schema().await.unwrap().value.unwrap();
    let mut config = schema.data_sources[THING].block.empty_value().as_map().unwrap().clone();
    config.insert("name".into(), s("x"));
    let request = ReadDataSourceRequest {
        ty: THING.into(),
        config: Value::object(config),
        provider_meta: None,
        deferral_allowed: false,
    };
    let read = scene.provider.read_data_source(request).await.unwrap().into_result().unwrap().0;
    assert_eq!(read.state.attribute("id"), state.attribute("id"));

    let call = |name: &str, arguments: &[&str]| {
        scene.provider.call_function(CallFunctionRequest {
            name: name.into(),
            arguments: arguments.iter().map(|a| s(a)).collect(),
        })
    };
    assert_eq!(call("upper", &["a"]).await.unwrap().unwrap(), s("A"));
    assert_eq!(call("join_all", &["-", "a", "b"]).await.unwrap().unwrap(), s("a-b"));
    assert_eq!(call("upper", &[""]).await.unwrap().unwrap_err().argument, Some(0));
    assert!(matches!(call("lower", &["a"]).await, Err(ProviderError::UnknownName { .. })));

    let config = Value::object([
        ("name", s("t")),
        ("value", Value::null(Type::String)),
        ("renew_ms", Value::number(90_000_i64)),
        ("fail_on", Value::null(Type::String)),
    ]);
    let request = OpenEphemeralRequest { ty: "test_token".into(), config, deferral_allowed: false };
    let open = scene.provider.open_ephemeral(request).await.unwrap().into_result().unwrap().0;
    assert_eq!(open.result.attribute("value"), Some(s("token-of-t")));
    assert!(open.renew_at.is_some());
    let handle = EphemeralHandle { ty: "test_token".into(), private: open.private };
    scene.provider.renew_ephemeral(handle.clone()).await.unwrap().into_result().unwrap();
    scene.provider.close_ephemeral(handle).await.unwrap().into_result().unwrap();
    assert_eq!(scene.count("close", "finished"), 1);
}

#[tokio::test]
async fn every_nesting_survives_the_way_there_and_back() {
    let scene = Scene::new().await;
    let schema = scene.provider.schema().await.unwrap().value.unwrap();
    let nested = &schema.resources["test_nested"];
    let item = || Value::object([("value", s("v")), ("computed", Value::null(Type::String))]);
    let item_type = Type::object([("value", Type::String), ("computed", Type::String)]);
    let mut config = nested.block.empty_value().as_map().unwrap().clone();
    for suffix in ["", "_attribute"] {
        config.insert(format!("single{suffix}").into(), item());
        let list = Value::list(item_type.clone(), vec![item(), item()]);
        config.insert(format!("list{suffix}").into(), list);
        let set = Value::set(item_type.clone(), vec![item()]);
        config.insert(format!("set{suffix}").into(), set);
        let map = Value::map(item_type.clone(), [("k", item())]);
        config.insert(format!("map{suffix}").into(), map);
    }
    let config = Value::object(config);
    let request = PlanResourceRequest {
        ty: "test_nested".into(),
        prior_state: nested.null(),
        proposed_new_state: config.clone(),
        config: config.clone(),
        prior_private: Arc::from([]),
        provider_meta: None,
        prior_identity: None,
        deferral_allowed: false,
    };
    let plan = scene.provider.plan_resource(request).await.unwrap().into_result().unwrap().0;
    let request = providers::ApplyResourceRequest {
        ty: "test_nested".into(),
        ..Scene::apply_request(&nested.null(), &config, &plan)
    };
    let applied = scene.provider.apply_resource(request).await.unwrap().into_result().unwrap().0;
    let state = applied.new_state.unwrap();
    assert!(state.is_wholly_known());
    assert_eq!(state.ty(), *nested.ty());
    let filled = Value::object([("value", s("v")), ("computed", s("computed"))]);
    assert_eq!(state.attribute("single"), Some(filled.clone()));
    let set = state.attribute("set_attribute").unwrap();
    assert_eq!(set.as_slice(), Some(&[filled][..]));
}
