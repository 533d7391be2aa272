use crate::scene::{eventually, host, runs, start};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Not a test: the process that is killed below.
#[tokio::test]
#[ignore = "started by the test below"]
async fn parent() {
    let host = host();
    let provider = start(&host, &[]).await.unwrap();
    println!("plugin {}", provider.process_id().unwrap());
    std::future::pending::<()>().await;
}

#[test]
fn a_plugin_does_not_outlive_a_killed_parent() {
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "watchdog::parent", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let plugin: i32 = lines
        .find_map(|line| line.unwrap().split_once("plugin ").map(|(_, pid)| pid.to_owned()))
        .unwrap()
        .parse()
        .unwrap();
    assert!(runs(plugin));
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("the plugin ends", || !runs(plugin));
}

/// A gate whose parent is gone before it opens must not become the plugin.
#[test]
fn a_gate_that_never_opens_ends() {
    let status = Command::new(crate::scene::PROGRAM)
        .args(["__watchdog", "gate", "/nowhere"])
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}
