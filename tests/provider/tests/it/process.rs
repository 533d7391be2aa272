use crate::scene::{address, command, configure, eventually, host, runs, start, watchdog};
use providers::plugin::{PluginCommand, PluginHost, PluginTimeouts};
use providers::{Provider, ProviderError, SharedSchema, StartFailure};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::Arc;
use std::time::Duration;

async fn failure(args: &[&str]) -> StartFailure {
    match start(&host(), args).await {
        Err(ProviderError::Start { reason, .. }) => *reason,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{args:?} started"),
    }
}

#[tokio::test]
async fn a_plugin_starts_answers_and_ends() {
    for args in [&[][..], &["--tcp"], &["--plain"]] {
        let host = host();
        let provider = start(&host, args).await.unwrap();
        let schema = provider.schema().await.unwrap().into_result().unwrap().0;
        assert!(schema.resources.contains_key("test_thing"));
        assert!(schema.capabilities.get_provider_schema_optional);
        assert_eq!(schema.resources["test_thing"].version, 1);
        let pid = provider.process_id().unwrap();
        assert!(runs(pid));
        provider.close().await;
        assert!(!runs(pid), "close returns once nothing runs any more");
        provider.close().await;
        let error = provider.stop().await.unwrap_err();
        assert!(matches!(error, ProviderError::Closed { .. }), "{error}");
    }
}

#[tokio::test]
async fn one_that_exits_says_why() {
    let failure = failure(&["--exit"]).await;
    assert!(matches!(failure, StartFailure::ExitedEarly { .. }), "{failure}");
    assert!(failure.to_string().contains("the world is not ready"), "{failure}");
}

#[tokio::test]
async fn one_that_cannot_be_run_says_why() {
    let missing = PluginCommand::new("/nowhere/terraform-provider-test");
    let started = host().start(&address(), &missing, Arc::new(SharedSchema::default())).await;
    let error = started.err().unwrap();
    assert!(error.to_string().contains("/nowhere/terraform-provider-test"), "{error}");
}

#[tokio::test]
async fn a_handshake_that_is_none() {
    let failure = failure(&["--garbage"]).await;
    assert!(
        matches!(&failure, StartFailure::BadHandshake { line, .. } if line == "hello"),
        "{failure}"
    );
}

#[tokio::test]
async fn another_protocol() {
    let failure = failure(&["--protocol-4"]).await;
    assert!(
        matches!(&failure, StartFailure::UnsupportedProtocol { version } if version == "4"),
        "{failure}"
    );
}

#[tokio::test]
async fn one_that_never_answers() {
    let timeouts =
        PluginTimeouts { start: Duration::from_millis(300), shutdown: Duration::from_millis(10) };
    let host = PluginHost::new(watchdog(), std::env::vars_os(), timeouts);
    let error = host
        .start(&address(), &command(&["--hang"]), Arc::new(SharedSchema::default()))
        .await
        .err()
        .unwrap();
    let timed_out = StartFailure::TimedOut { seconds: 0, stderr: String::new() };
    assert!(error.to_string().contains(&timed_out.to_string()), "{error}");
}

#[tokio::test]
async fn one_that_does_not_end_is_killed() {
    let timeouts =
        PluginTimeouts { start: Duration::from_secs(30), shutdown: Duration::from_millis(50) };
    let host = PluginHost::new(watchdog(), std::env::vars_os(), timeouts);
    let provider = start(&host, &["--deaf"]).await.unwrap();
    provider.close().await;
    assert!(!runs(provider.process_id().unwrap()));
}

#[tokio::test]
async fn an_impostor_is_refused() {
    let failure = failure(&["--other-certificate"]).await;
    assert!(matches!(failure, StartFailure::Certificate { .. }), "{failure}");
}

#[tokio::test]
async fn one_that_dies_is_reported_by_the_call() {
    let host = host();
    let provider = start(&host, &[]).await.unwrap();
    kill_process(Pid::from_raw(provider.process_id().unwrap()).unwrap(), Signal::KILL).unwrap();
    let error = provider.schema().await.unwrap_err();
    assert!(matches!(error, ProviderError::Died { .. }), "{error}");
    provider.close().await;
}

#[tokio::test]
async fn all_end_at_once() {
    let host = host();
    let providers = [start(&host, &[]).await.unwrap(), start(&host, &[]).await.unwrap()];
    host.kill_all().await;
    assert!(providers.iter().all(|p| !runs(p.process_id().unwrap())));
}

#[tokio::test]
async fn a_dropped_plugin_ends() {
    let host = host();
    let provider = start(&host, &[]).await.unwrap();
    let pid = provider.process_id().unwrap();
    drop(provider);
    tokio::task::spawn_blocking(move || eventually("it ends", || !runs(pid))).await.unwrap();
}

#[tokio::test]
async fn a_schema_is_asked_for_once() {
    let host = host();
    let shared = Arc::new(SharedSchema::default());
    let first = host.start(&address(), &command(&[]), shared.clone()).await.unwrap();
    let schema = first.schema().await.unwrap().value.unwrap();
    first.close().await;
    let second = host.start(&address(), &command(&[]), shared).await.unwrap();
    let again = second.schema().await.unwrap().value.unwrap();
    assert!(Arc::ptr_eq(&schema, &again));
    let folder = tempfile::tempdir().unwrap();
    configure(&second, &test_provider::World::open(folder.path()).unwrap()).await;
    second.close().await;
}
