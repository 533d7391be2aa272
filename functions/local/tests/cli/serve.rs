//! `plumb serve`: pushes, approvals and applies on a laptop, whoever ends the process meanwhile.

use crate::scene::Scene;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use test_servers::{Page, Site, Visit};

/// More than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const SECRET: &str = "it's a secret";
const PLUMB: &str = "[store.dir]\npath = \".plumb\"\n[transactions]\nmargin = \"0s\"\n[estates.network]\ndirectory = \"network\"\n";
const CONFIGURATION: &str = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n";

/// A laptop with a project, and GitHub.
struct Laptop {
    scene: Scene,
    github: Site,
}

/// The server while it runs.
struct Serving {
    child: Child,
    address: String,
    lines: Receiver<String>,
}

/// A folder as GitHub archives it, by tar.
fn archive(configuration: &str) -> Vec<u8> {
    let scene = Scene::new(&[
        ("infra-1a2b/plumb.toml", PLUMB),
        ("infra-1a2b/network/main.tf", configuration),
    ]);
    let tar = Command::new("tar").args(["-cz", "infra-1a2b"]).current_dir(scene.path()).output();
    tar.unwrap().stdout
}

impl Laptop {
    fn new(configuration: &str) -> Laptop {
        let github = Site::start_plain();
        github.put("/", Page::file("{}"));
        github.put("/repos/acme/infra/tarball/", Page::file(archive(configuration)));
        github.put("/repos/acme/infra/commits/", Page::file("[]"));
        let scene = Scene::new(&[("plumb.toml", PLUMB)]);
        let deployment = format!(
            r#"
[repositories."github.com/acme/infra"]
webhook_secret = "github/webhook"
token = "github/token"
api = {:?}
[repositories."github.com/acme/open"]
[estates.network]
repository = "github.com/acme/infra"
paths = ["network"]
[principals.grace]
estates = ["*"]
actions = ["read", "plan", "approve", "apply", "cancel"]
git_logins = ["grace"]
[principals.ada]
estates = ["*"]
actions = ["read", "plan", "approve"]
git_logins = ["ada"]
"#,
            github.url("")
        );
        scene.write(".plumb/serve/deployment.toml", deployment.as_bytes());
        let laptop = Laptop { scene, github };
        laptop.secret("github/webhook", SECRET);
        laptop.secret("github/token", "github_pat_1");
        laptop
    }

    fn secret(&self, name: &str, text: &str) {
        let name = format!(".plumb/serve/secrets/{name}");
        self.scene.write(&name, text.as_bytes());
        let owner = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(self.scene.path().join(name), owner).unwrap();
    }

    fn token(&self, principal: &str) -> String {
        let path = self.scene.path().join(".plumb/serve/tokens").join(principal);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::read_to_string(path).unwrap()
    }

    fn serve(&self) -> Serving {
        let mut child = self.scene.command(&["serve", "-listen=127.0.0.1:0"]);
        let mut child = child.stderr(Stdio::inherit()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut serving = Serving { child, address: String::new(), lines };
        let listening = serving.says("Listening on http://");
        serving.address = listening.trim_start_matches("Listening on http://").to_owned();
        serving
    }

    /// The states of a commit at GitHub, in their order.
    fn statuses(&self) -> Vec<(String, String)> {
        let requests = self.github.take_visits().into_iter();
        let statuses = requests.filter(|request| request.path.contains("/statuses/"));
        let bodies = statuses.map(|request| {
            assert_eq!(request.method, "POST");
            assert_eq!(request.authorization.as_deref(), Some("Bearer github_pat_1"));
            serde_json::from_slice::<Value>(&request.body).unwrap()
        });
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        bodies.map(|body| (text(&body["state"]), text(&body["description"]))).collect()
    }

    /// A run of `plumb` as somebody's client of the server.
    fn client(&self, serving: &Serving, who: &str, arguments: &[&str]) -> crate::scene::Ran {
        let remote = format!("http://{}", serving.address);
        let token = self.token(who);
        let environment = [("PLUMB_TOKEN", token.as_str()), ("PLUMB_REMOTE", remote.as_str())];
        let arguments = [&["-chdir=network"][..], arguments].concat();
        std::fs::create_dir_all(self.scene.path().join("network")).unwrap();
        self.scene.run_with(&arguments, &environment, "")
    }
}

impl Serving {
    /// Waits for a line that contains this.
    #[track_caller]
    fn says(&self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut said = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => said.push(line),
                Err(_) => panic!("it never says {text:?}, but\n{}", said.join("\n")),
            }
        }
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let (head, body) = self.exchange(method, path, headers, body);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }

    /// The head and the body of an answer.
    fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: plumb\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    fn push(&self, sha: &str, secret: &str) -> (u16, Value) {
        let body = json!({
            "ref": "refs/heads/main",
            "after": sha,
            "commits": [{"added": [], "modified": ["network/main.tf"], "removed": []}],
            "sender": {"login": "ada"},
            "repository": {"full_name": "acme/infra", "html_url": "https://github.com/acme/infra"},
        })
        .to_string();
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body.as_bytes());
        let signature = format!("sha256={}", hex::encode(mac.finalize().into_bytes()));
        let headers = [("x-github-event", "push"), ("x-hub-signature-256", &*signature)];
        self.ask("POST", "/webhooks/github", &headers, &body)
    }

    /// Pushes; the run that begins.
    fn pushed(&self, sha: &str) -> String {
        let (status, found) = self.push(sha, SECRET);
        assert_eq!(status, 202, "{found}");
        found["runs"][0].as_str().unwrap().to_owned()
    }

    fn look(&self, run: &str, token: &str) -> Value {
        let bearer = format!("Bearer {token}");
        let path = format!("/runs/{run}?estate=network");
        let (status, found) = self.ask("GET", &path, &[("authorization", &bearer)], "");
        assert_eq!(status, 200, "{found}");
        found
    }

    /// The run, once it has a status.
    #[track_caller]
    fn reaches(&self, run: &str, token: &str, status: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.look(run, token);
            if found["status"] == status {
                return found;
            }
            assert!(Instant::now() < deadline, "not {status}: {found:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn decide(&self, run: &str, token: &str, digest: &str, decision: &str) -> (u16, Value) {
        let bearer = format!("Bearer {token}");
        let body = json!({"estate": "network", "plan_digest": digest}).to_string();
        let path = format!("/runs/{run}/{decision}");
        self.ask("POST", &path, &[("authorization", &bearer)], &body)
    }

    #[track_caller]
    fn approve(&self, run: &str, token: &str, waiting: &Value) {
        let digest = waiting["plan_digest"].as_str().unwrap();
        let (status, found) = self.decide(run, token, digest, "approve");
        assert_eq!(status, 202, "{found}");
    }

    /// As `kill -9` does it.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// As a person ends it; its exit code.
    fn stop(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sha(letter: &str) -> String {
    letter.repeat(40)
}

#[test]
fn the_files_of_new_tokens_are_named_and_what_is_in_them_is_not_printed() {
    let laptop = Laptop::new(CONFIGURATION);
    let mut child = laptop.scene.command(&["serve", "-listen=127.0.0.1:0"]);
    let mut child = child.stderr(Stdio::inherit()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said: Vec<String> = lines.take_while(|line| !line.starts_with("Listening on")).collect();
    let _ = (child.kill(), child.wait());
    let said = said.join("\n");
    assert!(said.contains(".plumb/serve/tokens/grace"), "{said}");
    assert!(!said.contains(&laptop.token("grace")), "{said}");
}

#[test]
fn a_push_is_planned_approved_and_applied_and_github_is_told() {
    let laptop = Laptop::new(CONFIGURATION);
    let serving = laptop.serve();
    let (grace, ada) = (laptop.token("grace"), laptop.token("ada"));
    let run = serving.pushed(&sha("a"));
    assert_eq!(serving.pushed(&sha("a")), run, "a repeated delivery is the same run");
    serving.says("waits for approval");
    let waiting = serving.reaches(&run, &grace, "waiting_for_approval");
    assert!(waiting["text"].as_str().unwrap().contains("terraform_data.a"), "{waiting:#}");
    let digest = waiting["plan_digest"].as_str().unwrap();
    let bearer = format!("Bearer {ada}");
    let headers = [("authorization", &*bearer), ("accept", "text/html")];
    let (status, page) = serving.ask("GET", &format!("/runs/{run}?estate=network"), &headers, "");
    let approve = format!("approve -remote=http://{} -digest={digest} {run}", serving.address);
    assert_eq!(status, 200, "{page}");
    assert!(page.as_str().unwrap().contains(&approve), "{page}");

    // Nobody decides about a plan that nobody looked at, or about a change of their own.
    assert_eq!(serving.decide(&run, &grace, &"0".repeat(64), "approve").0, 409);
    assert_eq!(serving.decide(&run, &ada, digest, "approve").0, 403);
    assert_eq!(serving.decide(&run, "wrong", digest, "approve").0, 401);
    serving.approve(&run, &grace, &waiting);
    let applied = serving.reaches(&run, &grace, "applied");
    assert!(applied["text"].as_str().unwrap().contains("1 added"), "{applied:#}");
    serving.says("ended: applied");
    let told = laptop.statuses();
    let states: Vec<&str> = told.iter().map(|(state, _)| state.as_str()).collect();
    assert_eq!(states, ["pending", "success"], "{told:?}");
    assert!(told[0].1.starts_with("Waiting for approval: 1 to add"), "{told:?}");
    assert!(told[1].1.starts_with("Applied"), "{told:?}");

    // The records are those that every other command has.
    std::fs::create_dir_all(laptop.scene.path().join("network")).unwrap();
    let listed = laptop.scene.succeed(&["-chdir=network", "state", "list"]);
    assert_eq!(listed.stdout, "terraform_data.a\n");
    assert_eq!(serving.stop(), Some(0));
}

#[test]
fn a_browser_decides_on_the_runs_page_and_from_nowhere_else() {
    let laptop = Laptop::new(CONFIGURATION);
    let serving = laptop.serve();
    let (grace, ada) = (laptop.token("grace"), laptop.token("ada"));
    let run = serving.pushed(&sha("a"));
    let waiting = serving.reaches(&run, &grace, "waiting_for_approval");
    let page = format!("/runs/{run}?estate=network");

    // The token is asked for, as a password.
    let html = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    let (head, _) = serving.exchange("GET", &page, &[html], "");
    assert!(head.starts_with("HTTP/1.1 401 ") && head.contains("www-authenticate: Basic"));
    let password = |token: &str| format!("Basic {}", STANDARD.encode(format!("me:{token}")));
    let (grace_asks, ada_asks) = (password(&grace), password(&ada));
    let of_grace = ("authorization", &*grace_asks);
    let (head, shown) = serving.exchange("GET", &page, &[html, of_grace], "");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    for header in ["frame-ancestors 'none'", "form-action 'self'", "x-frame-options: DENY"] {
        assert!(head.contains(header), "{header}: {head}");
    }
    let digest = waiting["plan_digest"].as_str().unwrap();
    for part in [
        ">Approve: 1 to add</button>".to_owned(),
        format!("action=\"{run}/approve\""),
        "name=\"estate\" value=\"network\"".to_owned(),
        format!("name=\"plan_digest\" value=\"{digest}\""),
        format!("approve -remote=http://{} -digest={digest} {run}", serving.address),
    ] {
        assert!(shown.contains(&part), "{part}: {shown}");
    }

    let approve = format!("/runs/{run}/approve");
    let form = format!("estate=network&plan_digest={digest}");
    let json = json!({"estate": "network", "plan_digest": digest}).to_string();
    let sent = |who: &str, content: &str, site: (&str, &str), body: &str| {
        let headers = [html, ("authorization", who), ("content-type", content), site];
        serving.exchange("POST", &approve, &headers, body)
    };
    let kind = "application/x-www-form-urlencoded";
    let own = ("sec-fetch-site", "same-origin");
    for site in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "http://attacker.invalid"),
        ("origin", "null"),
        ("x-says", "nothing"),
    ] {
        for (content, body) in [(kind, &form), ("application/json", &json), ("text/plain", &json)] {
            let (head, said) = sent(&grace_asks, content, site, body);
            assert!(head.starts_with("HTTP/1.1 403 "), "{site:?} {content}: {head}");
            assert!(said.contains("does not come from a page of this deployment"), "{said}");
        }
    }
    let (head, said) = sent(&ada_asks, kind, own, &form);
    assert!(head.starts_with("HTTP/1.1 403 ") && said.contains("is an author of"), "{said}");
    let (head, said) = sent(&grace_asks, kind, own, "estate=network&plan_digest=0");
    assert!(head.starts_with("HTTP/1.1 409 ") && said.contains("not what was looked at"), "{said}");
    assert_eq!(serving.look(&run, &grace)["status"], "waiting_for_approval");

    let (head, _) = sent(&grace_asks, kind, own, &form);
    assert!(head.starts_with("HTTP/1.1 303 "), "{head}");
    assert!(head.contains(&format!("location: ../{run}?estate=network")), "{head}");
    serving.reaches(&run, &grace, "applied");
    let (_, shown) = serving.exchange("GET", &page, &[html, of_grace], "");
    assert!(shown.contains("<dt>Approved by</dt><dd><code>grace</code>"), "{shown}");
    assert!(!shown.contains("method=\"post\""), "{shown}");
}

#[test]
fn from_the_comment_to_an_approval_it_is_two_clicks() {
    let laptop = Laptop::new(CONFIGURATION);
    let merged = r#"[{"number": 7, "merged_at": "2026-01-20T09:14:00Z", "base": {"ref": "main"}}]"#;
    laptop.github.put(format!("/repos/acme/infra/commits/{}/pulls", sha("a")), Page::file(merged));
    let comments = "/repos/acme/infra/issues/7/comments";
    laptop.github.put(comments, Page::file("[]"));
    let serving = laptop.serve();
    let grace = laptop.token("grace");
    let run = serving.pushed(&sha("a"));
    serving.says("waits for approval");
    let visits = laptop.github.take_visits();
    let is_comment = |visit: &&Visit| visit.method == "POST" && visit.path == comments;
    let comment = visits.iter().find(is_comment).expect("a comment");
    let comment: Value = serde_json::from_slice(&comment.body).unwrap();
    let comment = comment["body"].as_str().unwrap();
    assert!(comment.contains("Waiting for approval: 1 to add"), "{comment}");

    // The first: its link.
    let link = comment.split_once("](").unwrap().1.split_once(')').unwrap().0;
    let page = link.strip_prefix(&format!("http://{}", serving.address)).unwrap();
    let password = format!("Basic {}", STANDARD.encode(format!("me:{grace}")));
    let browser = [("authorization", &*password), ("accept", "text/html")];
    let (_, shown) = serving.exchange("GET", page, &browser, "");
    // The second: what its button sends, and where to, which is relative to the page.
    let between = |from: &str, to: &str| {
        shown.split_once(from).unwrap().1.split_once(to).unwrap().0.to_owned()
    };
    let action = format!("/runs/{}", between("action=\"", "\""));
    let digest = between("name=\"plan_digest\" value=\"", "\"");
    let form = format!("estate=network&plan_digest={digest}");
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let headers = [browser[0], browser[1], kind, ("sec-fetch-site", "same-origin")];
    let (head, _) = serving.exchange("POST", &action, &headers, &form);
    assert!(head.starts_with("HTTP/1.1 303 "), "{head}");
    serving.reaches(&run, &grace, "applied");
}

#[test]
fn a_page_that_is_kept_has_no_form() {
    let laptop = Laptop::new(CONFIGURATION);
    let serving = laptop.serve();
    let run = serving.pushed(&sha("a"));
    serving.reaches(&run, &laptop.token("grace"), "waiting_for_approval");
    let remote = format!("-remote=http://{}", serving.address);
    let kept = laptop.client(&serving, "grace", &["runs", "show", "-html", &remote, &run]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    assert!(kept.stdout.contains(&format!("approve {remote} -digest=")), "{}", kept.stdout);
    assert!(!kept.stdout.contains("method=\"post\""), "{}", kept.stdout);
    let none = laptop.client(&serving, "grace", &["runs", "show", "-html", &remote, "none"]);
    none.assert_refused("has no run none");
}

#[test]
fn what_proves_nothing_is_refused() {
    let laptop = Laptop::new(CONFIGURATION);
    let serving = laptop.serve();
    assert_eq!(serving.push(&sha("a"), "another secret").0, 401);
    let grace = format!("Bearer {}", laptop.token("grace"));
    for (method, path) in [
        ("GET", "/runs?estate=network"),
        ("POST", "/runs"),
        ("GET", "/estates"),
        ("POST", "/runs/r/approve"),
        ("POST", "/plans/p/apply"),
    ] {
        assert_eq!(serving.ask(method, path, &[], "").0, 401, "{path}");
        let wrong = [("authorization", "Bearer wrong")];
        assert_eq!(serving.ask(method, path, &wrong, "").0, 401, "{path}");
    }
    let (status, runs) =
        serving.ask("GET", "/runs?estate=network", &[("authorization", &grace)], "");
    assert_eq!((status, runs), (200, json!({"runs": []})), "nothing has begun");
    assert_eq!(serving.ask("GET", "/elsewhere", &[("authorization", &grace)], "").0, 404);
    // Where deployment.toml names no secret, nothing is authentic.
    let open = json!({"repository": {"full_name": "acme/open"}}).to_string();
    let headers = [("x-github-event", "push"), ("x-hub-signature-256", "sha256=00")];
    assert_eq!(serving.ask("POST", "/webhooks/github", &headers, &open).0, 401);
}

#[test]
fn plumb_is_its_client() {
    let laptop = Laptop::new(CONFIGURATION);
    let serving = laptop.serve();
    let submitted = laptop.client(&serving, "ada", &["submit", "-apply", "-json", &sha("b")]);
    assert_eq!(submitted.code, 0, "{}", submitted.stderr);
    let run = submitted.json()["run"].as_str().unwrap().to_owned();
    let remote = format!("-remote=http://{}", serving.address);
    serving.reaches(&run, &laptop.token("grace"), "waiting_for_approval");
    let listed = laptop.client(&serving, "ada", &["runs", "list", &remote]);
    assert!(listed.stdout.contains(&run), "{}{}", listed.stdout, listed.stderr);
    let shown = laptop.client(&serving, "ada", &["runs", "show", "-json", &remote, &run]).json();
    let digest = format!("-digest={}", shown["plan_digest"].as_str().unwrap());
    laptop.client(&serving, "ada", &["approve", &digest, &run]).assert_refused("another person");
    let approved = laptop.client(&serving, "grace", &["approve", &digest, &run]);
    assert_eq!(approved.code, 0, "{}", approved.stderr);
    serving.reaches(&run, &laptop.token("grace"), "applied");

    let submitted = laptop.client(&serving, "ada", &["submit", "-json", &sha("c")]);
    let run = submitted.json()["run"].as_str().unwrap().to_owned();
    serving.reaches(&run, &laptop.token("grace"), "nothing_to_do");
}

#[test]
fn a_run_waits_across_the_end_of_the_process() {
    let laptop = Laptop::new(CONFIGURATION);
    let serving = laptop.serve();
    let token = laptop.token("grace");
    let (first, second) = (serving.pushed(&sha("a")), sha("b"));
    serving.says("waits for approval");
    let waiting = serving.reaches(&first, &token, "waiting_for_approval");
    serving.kill();
    let serving = laptop.serve();
    assert_eq!(laptop.token("grace"), token, "a token stays");
    assert_eq!(serving.look(&first, &token)["status"], "waiting_for_approval");
    serving.approve(&first, &token, &waiting);
    serving.reaches(&first, &token, "applied");
    assert_eq!(serving.pushed(&sha("a")), first, "what is over is not begun again");

    // A person says no, after the next process has begun.
    let second = serving.pushed(&second);
    serving.reaches(&second, &token, "nothing_to_do");
    assert_eq!(serving.stop(), Some(0));
}

/// Of which the second waits until there is a file.
fn slow(folder: &Path) -> String {
    let (begun, go) = (folder.join("begun"), folder.join("go"));
    format!(
        r#"
resource "terraform_data" "first" {{
  input = "x"
}}
resource "terraform_data" "second" {{
  input      = "y"
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "touch {begun}; while [ ! -e {go} ]; do sleep 0.05; done"
  }}
}}
resource "terraform_data" "third" {{
  input      = "z"
  depends_on = [terraform_data.second]
}}
"#,
        begun = begun.display(),
        go = go.display(),
    )
}

#[test]
fn an_apply_ends_what_it_has_in_flight_and_the_next_process_does_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let laptop = Laptop::new(&slow(folder.path()));
    let serving = laptop.serve();
    let token = laptop.token("grace");
    let run = serving.pushed(&sha("a"));
    let waiting = serving.reaches(&run, &token, "waiting_for_approval");
    serving.approve(&run, &token, &waiting);
    let deadline = Instant::now() + PATIENCE;
    while !folder.path().join("begun").exists() {
        assert!(Instant::now() < deadline, "the provisioner never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&serving.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    serving.says("Stopping");
    std::fs::write(folder.path().join("go"), "").unwrap();
    let mut serving = serving;
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let third = ".plumb/records/network/r/i/terraform_5fdata.third.record";
    let third = String::from_utf8_lossy(&laptop.scene.read(third)).into_owned();
    assert!(third.contains("\"kind\":\"shell\""), "nothing new begins: {third}");
    let serving = laptop.serve();
    let applied = serving.reaches(&run, &token, "applied");
    assert!(applied["text"].as_str().unwrap().contains("added"), "{applied:#}");
    std::fs::create_dir_all(laptop.scene.path().join("network")).unwrap();
    let listed = laptop.scene.succeed(&["-chdir=network", "state", "list"]).stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
}

#[test]
fn it_does_not_begin_where_it_could_not_keep_what_it_promises() {
    let laptop = Laptop::new(CONFIGURATION);
    let serve = |arguments: &[&str]| laptop.scene.run(&[&["serve"][..], arguments].concat());
    serve(&["-listen=0.0.0.0:0"]).assert_refused("in the clear");
    serve(&["-listen=nowhere"]).assert_refused("no address");
    let serving = laptop.serve();
    serve(&["-listen=127.0.0.1:0"]).assert_refused("Another plumb serve");
    drop(serving);
    let token = laptop.scene.path().join(".plumb/serve/tokens/grace");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    serve(&[]).assert_refused("can be read or changed by others");
    std::fs::remove_file(&token).unwrap();
    laptop.scene.write("plumb.toml", b"[estates.network]\ndirectory = \"network\"\n");
    serve(&[]).assert_refused("[store.dir]");
    laptop.scene.write(
        "plumb.toml",
        b"[store.s3]\nbucket = \"b\"\n[estates.network]\ndirectory = \"network\"\n",
    );
    serve(&[]).assert_refused("deploy the bundle");
    laptop.scene.write("plumb.toml", PLUMB.as_bytes());
    laptop
        .scene
        .write("plumb.toml", format!("{PLUMB}schedule = \"cron(0 6 L * ? *)\"\n").as_bytes());
    serve(&["-listen=127.0.0.1:0"]).assert_refused("is no schedule");
    std::fs::remove_file(laptop.scene.path().join(".plumb/serve/deployment.toml")).unwrap();
    serve(&[]).assert_refused("deployment.toml cannot be read");
}
