//! A directory with a configuration that uses the test provider, its world, and `plumb` run in it.

use crate::programs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use test_provider::{LoggedCall, World};

pub(crate) const THING: &str = "test_thing";

/// More than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const PROVIDER: &str = r#"
terraform {
  required_providers {
    test = {
      source = "plumbline/test"
    }
  }
}

provider "test" {
  world = "world"
}
"#;

/// Two things that know nothing of each other.
pub(crate) fn two_things(first: u32, second: u32, slow_ms: u32) -> String {
    format!(
        r#"
resource "test_thing" "first" {{
  name    = "first"
  size    = {first}
  slow_ms = {slow_ms}
}}

resource "test_thing" "second" {{
  name    = "second"
  size    = {second}
  slow_ms = {slow_ms}
}}
"#
    )
}

pub(crate) struct Estate {
    directory: TempDir,
}

/// What a run of the program came to.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Waits for a condition that must become true.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A directory in memory, where there is such a place: processes die here, machines do not, and waiting for a disk
/// would take most of the time.
fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Estate {
    /// An estate whose provider is taken from where it was built.
    pub(crate) fn new(configuration: &str) -> Estate {
        let estate = Estate { directory: directory() };
        let built = programs::provider();
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"plumbline/test\" = {:?}\n  }}\n  direct {{}}\n}}\n",
            built.parent().unwrap()
        );
        estate.write("cli.tfrc", &overrides);
        estate.configure(configuration);
        estate
    }

    /// Sets what `main.tf` has beside the provider.
    pub(crate) fn configure(&self, configuration: &str) {
        self.write("main.tf", &format!("{PROVIDER}{configuration}"));
    }

    /// The same estate with the same world, somewhere else.
    pub(crate) fn copy(&self) -> Estate {
        let directory = directory();
        copy(self.path(), directory.path());
        Estate { directory }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(programs::plumb());
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("TMPDIR", self.path())
            // A world that is a folder has no requests under way once its provider is gone, and one machine one clock.
            .env("PLUMB__TRANSACTIONS__MARGIN", "0s")
            .env("PLUMB__TRANSACTIONS__SKEW", "0s")
            .env("TF_CLI_CONFIG_FILE", "cli.tfrc")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = self.command(arguments);
        Ran::of(command.envs(environment.iter().copied()).spawn().unwrap())
    }

    /// Runs what has to succeed.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.status.code(), Some(0), "{arguments:?}\n{}", ran.said());
        ran
    }

    /// That a new plan has nothing to do.
    #[track_caller]
    pub(crate) fn assert_settled(&self) {
        let ran = self.run(&["plan", "-detailed-exitcode"]);
        assert_eq!(ran.status.code(), Some(0), "{}", ran.said());
    }

    /// What a new plan would do, without doing it.
    #[track_caller]
    pub(crate) fn planned(&self) -> BTreeSet<(String, String)> {
        self.succeed(&["plan", "-json"]).planned()
    }

    /// Addresses of all records, each of which can be read.
    #[track_caller]
    pub(crate) fn recorded(&self) -> BTreeSet<String> {
        self.succeed(&["state", "list"]).stdout.lines().map(str::to_owned).collect()
    }

    /// Bodies of the records of instances, as they are in the store.
    fn bodies(&self) -> Vec<Value> {
        let folder = self.path().join(".plumb/records/default/r/i");
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let files = entries.map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        files.map(|body| serde_json::from_slice(&body).unwrap()).collect()
    }

    fn addresses(&self, of: impl Fn(&Value) -> bool) -> BTreeSet<String> {
        let bodies = self.bodies().into_iter().filter(|body| of(body));
        bodies.map(|body| body["address"].as_str().unwrap().to_owned()).collect()
    }

    /// Instances whose records say that a provider was asked to create them, and no answer is recorded.
    pub(crate) fn creates_in_flight(&self) -> BTreeSet<String> {
        self.addresses(|body| {
            let claim = &body["claim"];
            claim["state"] == "applying" && claim["action"] == "create"
        })
    }

    /// Instances whose records say that a provider was asked for something, and no answer is recorded.
    pub(crate) fn in_flight(&self) -> BTreeSet<String> {
        self.addresses(|body| body["claim"]["state"] == "applying")
    }

    /// Instances of which an object may exist that no record describes.
    pub(crate) fn in_doubt(&self) -> BTreeSet<String> {
        self.addresses(|body| !body["doubt"].is_null())
    }

    /// A person has looked, and says that nothing is to be recorded.
    #[track_caller]
    pub(crate) fn dismiss(&self, address: &str) {
        self.succeed(&["dismiss", address]);
    }

    /// Instances of the root module in `show -json`.
    #[track_caller]
    pub(crate) fn shown(&self) -> Vec<Value> {
        let shown = self.succeed(&["show", "-json"]).json();
        let resources = &shown["values"]["root_module"]["resources"];
        resources.as_array().cloned().unwrap_or_default()
    }

    pub(crate) fn world(&self) -> World {
        World::open(self.path().join("world")).unwrap()
    }

    pub(crate) fn calls(&self) -> Vec<LoggedCall> {
        self.world().calls().unwrap()
    }

    /// Where in the log of calls a phase of a call for an object is.
    pub(crate) fn position(&self, call: &str, object: &str, phase: &str) -> Option<usize> {
        self.calls().iter().position(|logged| {
            logged.call == call && logged.object.as_deref() == Some(object) && logged.phase == phase
        })
    }

    /// The things of the world.
    pub(crate) fn things(&self) -> Vec<Value> {
        let world = self.world();
        let ids = world.ids(THING).unwrap();
        let read = |id: &String| std::fs::read(world.file(THING, id)).unwrap();
        ids.iter().map(|id| serde_json::from_slice(&read(id)).unwrap()).collect()
    }

    /// The thing of a name, of which there is one.
    #[track_caller]
    pub(crate) fn thing(&self, name: &str) -> Value {
        let mut things = self.things().into_iter().filter(|thing| thing["name"] == name);
        let thing = things.next().unwrap_or_else(|| panic!("no thing is named {name}"));
        assert!(things.next().is_none(), "several things are named {name}");
        thing
    }

    /// Names of the things in the world, in order, each as often as it is there.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |thing: &Value| thing["name"].as_str().unwrap().to_owned();
        let mut names: Vec<String> = self.things().iter().map(name).collect();
        names.sort();
        names
    }

    /// Changes a thing behind everybody's back.
    pub(crate) fn drift(&self, name: &str, attribute: &str, value: Value) {
        let mut thing = self.thing(name);
        thing[attribute] = value;
        let file = self.world().file(THING, thing["id"].as_str().unwrap());
        std::fs::write(file, thing.to_string()).unwrap();
    }

    /// That no process that was started here is left: neither plugins nor what watches over them.
    #[track_caller]
    pub(crate) fn assert_no_process_is_left(&self) {
        eventually("all processes end", || processes_in(self.path()).is_empty());
        let pids: BTreeSet<u32> = self.calls().iter().map(|call| call.pid).collect();
        assert!(pids.iter().all(|pid| !processes_in(self.path()).contains(pid)));
    }
}

/// Processes whose working directory this is. One that has ended has none.
fn processes_in(directory: &Path) -> Vec<u32> {
    let directory = directory.canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|at| at == directory)
        })
        .collect()
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            let permissions = entry.metadata().unwrap().permissions();
            std::fs::set_permissions(&target, permissions).unwrap();
            copy(&entry.path(), &target);
        } else if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Ran {
    pub(crate) fn of(child: Child) -> Ran {
        let output = child.wait_with_output().unwrap();
        Ran {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    /// Everything it said.
    pub(crate) fn said(&self) -> String {
        format!("{}\n{}\n{}", self.status, self.stdout, self.stderr)
    }

    /// Everything it said, with single spaces where lines were broken.
    pub(crate) fn flat(&self) -> String {
        let words = self.said().replace(['│', '╷', '╵'], " ");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// That it failed and said this.
    #[track_caller]
    pub(crate) fn assert_failed(&self, says: &[&str]) {
        assert_eq!(self.status.code(), Some(1), "{}", self.said());
        for words in says {
            assert!(self.flat().contains(words), "{words:?} is missing in {}", self.said());
        }
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Messages of one kind in a JSON stream.
    pub(crate) fn messages(&self, kind: &str) -> Vec<Value> {
        let messages = self.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter(|message| message["type"] == kind).collect()
    }

    /// Addresses and actions of a plan in a JSON stream.
    pub(crate) fn planned(&self) -> BTreeSet<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let planned = self.messages("planned_change");
        let change = |message: &Value| {
            (text(&message["change"]["resource"]["addr"]), text(&message["change"]["action"]))
        };
        planned.iter().map(change).collect()
    }
}
