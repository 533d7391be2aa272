//! Programs that are run to be measured.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Whether a program of Terraform's kind can be run.
pub(crate) fn is_on_path(program: &str) -> bool {
    Command::new(program)
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// User and system time of one run, children included.
pub(crate) fn cpu_time(program: &Path, arguments: &[&str], folder: &Path) -> Duration {
    let before = children();
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{} {arguments:?}: {status}", program.display());
    children() - before
}

fn children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    // After the command's name in parentheses: fields 3 and on; 16 and 17 are the children's times.
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
