//! A directory with a configuration, and the program run in it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) struct Scene {
    directory: TempDir,
}

/// What a run of the program came to.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scene {
    pub(crate) fn new(files: &[(&str, &str)]) -> Scene {
        let scene = Scene { directory: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(name, text)| scene.write(name, text.as_bytes()));
        scene
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[], "")
    }

    pub(crate) fn run_with(
        &self,
        arguments: &[&str],
        environment: &[(&str, &str)],
        stdin: &str,
    ) -> Ran {
        let mut child = self.command(arguments).envs(environment.iter().copied()).spawn().unwrap();
        // A program that asks nothing may have closed its end.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        Ran {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// The program, ready to be started, with pipes.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plumb"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            // For servers of the tests; no other store asks for credentials.
            .env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs what has to succeed.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    }
}

/// The words of a text, whatever its lines.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Ran {
    /// The messages of a JSON stream.
    pub(crate) fn messages(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// That it failed with one clear error.
    #[track_caller]
    pub(crate) fn assert_refused(&self, says: &str) {
        assert_eq!(self.code, 1, "{}\n{}", self.stdout, self.stderr);
        assert_eq!(self.stderr.matches("Error: ").count(), 1, "{}", self.stderr);
        assert!(flat(&self.stderr).contains(says), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}
