//! Commands of provisioners as processes.

use crate::scene::{eventually, host, runs};
use providers::plugin::PluginHost;
use providers::{CommandEnd, CommandError, CommandRequest, Commands};
use std::sync::Mutex;
use std::time::Duration;
use tempfile::TempDir;

fn shell(folder: &TempDir, script: &str) -> CommandRequest {
    CommandRequest {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        directory: folder.path().into(),
        environment: vec![("GIVEN".into(), "given".into())],
    }
}

async fn run(
    host: &PluginHost,
    command: &CommandRequest,
) -> (Result<CommandEnd, CommandError>, Vec<String>) {
    let lines = Mutex::new(Vec::new());
    let show = |line: &str| lines.lock().unwrap().push(line.to_owned());
    let end = host.run(command, &show, Box::pin(std::future::pending())).await;
    (end, lines.into_inner().unwrap())
}

#[tokio::test]
async fn a_command_has_our_environment_and_its_own_and_its_output_comes_line_by_line() {
    let (host, folder) = (host(), tempfile::tempdir().unwrap());
    let script =
        "echo $GIVEN; test -n \"$PATH\" && pwd; echo err >&2; cat; printf 'no end'; exit 3";
    let (end, lines) = run(&host, &shell(&folder, script)).await;
    let here = folder.path().canonicalize().unwrap().display().to_string();
    assert_eq!(
        (end, lines),
        (Ok(CommandEnd::Exited(3)), vec!["given".into(), here, "err".into(), "no end".into()])
    );
    let killed = run(&host, &shell(&folder, "kill -9 $$")).await.0;
    assert_eq!(killed, Ok(CommandEnd::Signalled(9)));
}

#[tokio::test]
async fn what_ends_no_line_is_shown_after_a_moment() {
    let (host, folder) = (host(), tempfile::tempdir().unwrap());
    let (_, lines) = run(&host, &shell(&folder, "printf 'wait...'; sleep 1; echo done")).await;
    assert_eq!(lines, ["wait...", "done"]);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let (host, folder) = (host(), tempfile::tempdir().unwrap());
    let of = |program: &str| CommandRequest { program: program.into(), ..shell(&folder, "true") };
    let missing = run(&host, &of("no-such-program")).await.0.unwrap_err();
    assert_eq!(
        missing.to_string(),
        "exec: \"no-such-program\": executable file not found in $PATH"
    );
    let missing = run(&host, &of("./no-such-program")).await.0.unwrap_err();
    assert!(matches!(missing, CommandError::NoFile { .. }), "{missing}");
    let nowhere = CommandRequest { directory: folder.path().join("none"), ..of("sh") };
    let nowhere = run(&host, &nowhere).await.0.unwrap_err();
    assert!(matches!(nowhere, CommandError::NoDirectory { .. }), "{nowhere}");
}

/// Waits to be ended, with a process of its own that it names.
const ENDLESS: &str = "sleep 600 & echo $! > child; wait";

fn child(folder: &TempDir) -> Option<i32> {
    std::fs::read_to_string(folder.path().join("child")).ok()?.trim().parse().ok()
}

#[tokio::test]
async fn a_command_that_is_stopped_or_dropped_ends_with_all_that_it_started() {
    for stopped in [true, false] {
        let (host, folder) = (host(), tempfile::tempdir().unwrap());
        let command = shell(&folder, ENDLESS);
        let begun = async {
            while child(&folder).is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        match stopped {
            true => {
                let end = host.run(&command, &|_| {}, Box::pin(begun)).await;
                assert_eq!(end, Ok(CommandEnd::Signalled(9)));
            }
            false => tokio::select! {
                _ = host.run(&command, &|_| {}, Box::pin(std::future::pending())) => panic!("it ended"),
                () = begun => {}
            },
        }
        let child = child(&folder).unwrap();
        eventually("what it started ends", || !runs(child));
    }
}

#[tokio::test]
async fn what_a_command_leaves_running_stays() {
    let (host, folder) = (host(), tempfile::tempdir().unwrap());
    let (end, _) =
        run(&host, &shell(&folder, "sleep 600 > /dev/null 2>&1 & echo $! > child")).await;
    assert_eq!(end, Ok(CommandEnd::Exited(0)));
    let child = child(&folder).unwrap();
    assert!(runs(child));
    let child = rustix::process::Pid::from_raw(child).unwrap();
    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
}
