//! `plumb serve` with a provider: killed in the middle of an apply, it goes on with it when it is started again.

use crate::estate::{THING, eventually};
use crate::programs;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;
use test_provider::World;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

/// More than starting takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const LINKS: usize = 4;
const MIRROR: &str = ".plumb/serve/providers";
const DEPLOYMENT: &str = r#"
[estates.network]
repository = "localhost/acme/infra"
[principals.ada]
estates = ["*"]
actions = ["read", "plan"]
[principals.grace]
estates = ["*"]
actions = ["read", "approve"]
"#;

/// A clone on a laptop, and the world that its provider changes.
struct Clone {
    directory: TempDir,
}

struct Serving {
    child: Child,
    address: String,
    _lines: Receiver<String>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Things of which each waits for the one before, and takes its time.
fn chain(world: &Path) -> String {
    let head = format!(
        "terraform {{\n  required_providers {{\n    test = {{\n      source = \"plumbline/test\"\n    }}\n  }}\n}}\nprovider \"test\" {{\n  world = {world:?}\n}}\n"
    );
    let links = (0..LINKS).map(|link| {
        let before = match link {
            0 => "\"nothing\"".to_owned(),
            link => format!("test_thing.link_{}.id", link - 1),
        };
        format!(
            "resource \"test_thing\" \"link_{link}\" {{\n  name    = \"link {link}\"\n  slow_ms = 500\n  tags    = {{ before = {before} }}\n}}\n"
        )
    });
    head + &links.collect::<String>()
}

impl Clone {
    fn new() -> Clone {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let clone = Clone { directory };
        clone.publish_provider();
        let plumb = "[store.dir]\npath = \".plumb\"\n[estates.network]\ndirectory = \"network\"\n";
        clone.write("plumb.toml", plumb);
        clone.write("network/main.tf", &chain(&clone.path().join("world")));
        clone.write(
            "cli.tfrc",
            &format!(
                "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
                clone.path().join(MIRROR)
            ),
        );
        clone.succeed(clone.plumb(&["-chdir=network", "init"]));
        let api = format!("file://{}", clone.path().display());
        let repository = format!("[repositories.\"localhost/acme/infra\"]\napi = {api:?}\n");
        clone.write(".plumb/serve/deployment.toml", &(repository + DEPLOYMENT));
        for arguments in [
            &["init", "-q"][..],
            &["add", "plumb.toml", "network/main.tf", "network/.terraform.lock.hcl"],
            &["-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "-qm", "things"],
        ] {
            clone.succeed(clone.git(arguments));
        }
        clone
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The provider as its registry would offer it.
    fn publish_provider(&self) {
        let architecture = match std::env::consts::ARCH {
            "aarch64" => "arm64",
            _ => "amd64",
        };
        let folder = self.path().join(MIRROR).join("registry.terraform.io/plumbline/test");
        std::fs::create_dir_all(&folder).unwrap();
        let name = format!("terraform-provider-test_1.0.0_linux_{architecture}.zip");
        let mut package = zip::ZipWriter::new(std::fs::File::create(folder.join(name)).unwrap());
        let options = SimpleFileOptions::default();
        let options = options.compression_method(CompressionMethod::Stored).unix_permissions(0o755);
        package.start_file("terraform-provider-test_v1.0.0", options).unwrap();
        package.write_all(&std::fs::read(programs::provider()).unwrap()).unwrap();
        package.finish().unwrap();
    }

    fn command(&self, program: PathBuf, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("TMPDIR", self.path())
            // A world that is a folder has no requests under way once its provider is gone.
            .env("PLUMB__TRANSACTIONS__MARGIN", "0s")
            // So that a create whose answer was lost is found again.
            .env("TEST_PROVIDER_REQUEST_TOKENS", "1")
            .env("TF_CLI_CONFIG_FILE", self.path().join("cli.tfrc"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn plumb(&self, arguments: &[&str]) -> Command {
        self.command(programs::plumb(), arguments)
    }

    fn git(&self, arguments: &[&str]) -> Command {
        self.command("git".into(), arguments)
    }

    #[track_caller]
    fn succeed(&self, mut command: Command) -> String {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{command:?}\n{stdout}\n{stderr}");
        stdout.into_owned()
    }

    fn serve(&self) -> Serving {
        let mut command = self.plumb(&["serve", "-listen=127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let address = std::iter::from_fn(|| lines.recv_timeout(PATIENCE).ok())
            .find_map(|line| line.strip_prefix("Listening on ").map(str::to_owned));
        Serving { child, address: address.unwrap(), _lines: lines }
    }

    /// What `plumb` answers somebody who is a client of the server.
    #[track_caller]
    fn ask(&self, serving: &Serving, who: &str, arguments: &[&str]) -> Value {
        let token = self.path().join(".plumb/serve/tokens").join(who);
        let arguments = [&["-chdir=network"][..], arguments].concat();
        let mut command = self.plumb(&arguments);
        command
            .env("PLUMB_TOKEN", std::fs::read_to_string(token).unwrap())
            .env("PLUMB_REMOTE", &serving.address);
        serde_json::from_str(&self.succeed(command)).unwrap()
    }

    fn look(&self, serving: &Serving, run: &str) -> Value {
        let remote = format!("-remote={}", serving.address);
        self.ask(serving, "grace", &["runs", "show", "-json", &remote, run])
    }

    #[track_caller]
    fn reaches(&self, serving: &Serving, run: &str, status: &str) -> Value {
        let mut last = Value::Null;
        eventually(status, || {
            last = self.look(serving, run);
            let ended = ["failed", "rejected", "cancelled"].map(Value::from);
            assert!(!ended.contains(&last["status"]), "{last:#}");
            last["status"] == status
        });
        last
    }

    fn world(&self) -> World {
        World::open(self.path().join("world")).unwrap()
    }
}

#[test]
fn an_apply_that_was_killed_with_the_server_goes_on_when_it_is_started_again() {
    let clone = Clone::new();
    let serving = clone.serve();
    let head = clone.succeed(clone.git(&["rev-parse", "HEAD"]));
    let begun = clone.ask(&serving, "ada", &["submit", "-apply", "-json", head.trim()]);
    let run = begun["run"].as_str().unwrap();
    let waiting = clone.reaches(&serving, run, "waiting_for_approval");
    let digest = format!("-digest={}", waiting["plan_digest"].as_str().unwrap());
    clone.ask(&serving, "grace", &["approve", "-json", &digest, run]);
    let creating = |phase: &str| {
        let calls = clone.world().calls().unwrap_or_default();
        calls.iter().filter(|call| call.call == "create" && call.phase == phase).count()
    };
    eventually("a second create in flight", || {
        creating("started") == 2 && creating("finished") == 1
    });
    drop(serving);

    let serving = clone.serve();
    let applied = clone.reaches(&serving, run, "applied");
    let text = applied["text"].as_str().unwrap();
    assert!(text.contains(&format!("{LINKS} added")), "{text}");
    assert_eq!(clone.world().ids(THING).unwrap().len(), LINKS, "nothing is made twice");
    let listed = clone.succeed(clone.plumb(&["-chdir=network", "state", "list"]));
    assert_eq!(listed.lines().count(), LINKS, "{listed}");
    let history = clone.succeed(clone.plumb(&["-chdir=network", "runs", "show", run]));
    assert!(history.contains("grace"), "{history}");
}
