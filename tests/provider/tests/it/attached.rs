//! Plugins that somebody else has started.

use crate::scene::{PROGRAM, address, configure, host};
use providers::plugin::RunningPlugin;
use providers::{Provider, ProviderError, StartFailure};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use test_provider::World;

/// A provider as a debugger starts it, and what `TF_REATTACH_PROVIDERS` says of it.
fn started() -> (Child, String) {
    let mut command = Command::new(PROGRAM);
    command
        .env(
            "TF_PLUGIN_MAGIC_COOKIE",
            "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        )
        .env_remove("PLUGIN_CLIENT_CERT")
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let fields: Vec<&str> = line.trim().split('|').collect();
    let said = format!(
        r#"{{"{}":{{"Protocol":"grpc","ProtocolVersion":{},"Pid":{},"Test":true,"Addr":{{"Network":"{}","String":"{}"}}}}}}"#,
        address(),
        fields[1],
        child.id(),
        fields[2],
        fields[3]
    );
    (child, said)
}

#[tokio::test]
async fn one_that_runs_already_is_used_and_left_running() {
    let (mut child, said) = started();
    let running = RunningPlugin::parse(&said).unwrap().remove(&address()).unwrap();
    let host = host();
    let folder = tempfile::tempdir().unwrap();
    let world = World::open(folder.path().join("world")).unwrap();
    for _ in 0..2 {
        let provider = host.attach(&address(), &running).await.unwrap();
        assert!(provider.schema().await.unwrap().into_result().is_ok());
        assert_eq!(provider.process_id(), None);
        provider.close().await;
        let error = provider.stop().await.unwrap_err();
        assert!(matches!(error, ProviderError::Closed { .. }), "{error}");
    }
    let provider = host.attach(&address(), &running).await.unwrap();
    configure(&provider, &world).await;
    host.kill_all().await;
    assert!(child.try_wait().unwrap().is_none(), "it is its starter's to end");

    child.kill().unwrap();
    child.wait().unwrap();
    let error = provider.stop().await.unwrap_err();
    assert!(matches!(error, ProviderError::Transport { .. }), "{error}");
    let Err(ProviderError::Start { reason, .. }) = host.attach(&address(), &running).await else {
        panic!("nothing listens there")
    };
    assert!(matches!(*reason, StartFailure::Connect { .. }), "{reason}");
}
