//! Tokens that are kept, and forgotten.

use crate::scene::{Ran, Scene};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use test_servers::{Page, Site};

const FILE: &str = ".terraform.d/credentials.tfrc.json";
const DOCUMENT: &str = "/.well-known/terraform.json";

/// A host that offers something, and a home.
struct Host {
    site: Site,
    scene: Scene,
}

impl Host {
    fn offering(services: &str) -> Host {
        let site = Site::start();
        site.put(DOCUMENT, Page::json(services));
        let scene = Scene::new(&[]);
        scene.write("site.pem", site.certificate().as_bytes());
        Host { site, scene }
    }

    fn enterprise() -> Host {
        let host = Host::offering(r#"{"tfe.v2": "/api/v2/", "login.v1": {"client": "x"}}"#);
        let details = r#"{"data": {"attributes": {"username": "ada"}}}"#;
        host.site.put("/api/v2/account/details", Page::json(details));
        host
    }

    fn run(&self, command: &str, environment: &[(&str, &str)], stdin: &str) -> Ran {
        let roots = self.scene.path().join("site.pem");
        let roots = [("SSL_CERT_FILE", roots.to_str().unwrap())];
        let environment = [&roots[..], environment].concat();
        self.scene.run_with(&[command, &self.site.host()], &environment, stdin)
    }

    fn file(&self) -> serde_json::Value {
        serde_json::from_slice(&self.scene.read(FILE)).unwrap()
    }
}

#[test]
fn a_token_is_verified_kept_and_forgotten() {
    let host = Host::enterprise();
    let name = host.site.host();
    let ran = host.run("login", &[], "yes\ncanary\n");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let page = format!("https://{name}/app/settings/tokens?source=terraform-login");
    assert!(ran.stdout.contains(&page), "{}", ran.stdout);
    assert!(ran.stdout.contains("of the user ada"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("canary") && !ran.stderr.contains("canary"));
    let visits = host.site.take_visits();
    assert_eq!(visits.last().unwrap().authorization.as_deref(), Some("Bearer canary"));
    assert_eq!(host.file()["credentials"][&name]["token"], "canary");
    let mode = std::fs::metadata(host.scene.path().join(FILE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let others = r#"{"credentials": {"Other.Example": {"token": "theirs"}, "LOCALHOST:PORT": {"token": "old"}}, "plugin_cache_dir": "x"}"#;
    let others = others.replace("PORT", name.rsplit(':').next().unwrap());
    host.scene.write(FILE, others.as_bytes());
    assert_eq!(host.run("login", &[], "yes\nnew\n").code, 0);
    let file = host.file();
    assert_eq!(file["credentials"].as_object().unwrap().len(), 2, "{file}");
    assert_eq!(file["credentials"][&name]["token"], "new");
    assert_eq!(host.run("logout", &[], "").code, 0);
    let file = host.file();
    assert_eq!(file["credentials"], serde_json::json!({"Other.Example": {"token": "theirs"}}));
    assert_eq!(file["plugin_cache_dir"], "x");
    let again = host.run("logout", &[], "");
    assert!(again.code == 0 && again.stdout.contains("No credentials"), "{}", again.stdout);
}

#[test]
fn what_is_not_agreed_to_or_not_valid_is_not_kept() {
    let host = Host::enterprise();
    host.run("login", &[], "no\n").assert_refused("Login cancelled");
    host.run("login", &[], "").assert_refused("Nothing was stored");
    host.run("login", &[], "yes\n").assert_refused("Nothing was stored");
    host.run("login", &[], "yes\n\n").assert_refused("Invalid token");
    host.run("login", &[], "yes\ntwo words\n").assert_refused("Invalid token");
    host.run("login", &[("TF_INPUT", "0")], "").assert_refused("Login is an interactive command");
    host.site.put("/api/v2/account/details", Page::status(401));
    let refused = host.run("login", &[], "yes\ncanary\n");
    refused.assert_refused("Token is invalid");
    assert!(!refused.stderr.contains("canary"));
    host.site.put(DOCUMENT, Page::status(404));
    host.run("login", &[], "yes\ncanary\n").assert_refused("Host takes no tokens");
    host.site.put(DOCUMENT, Page::status(403));
    host.run("login", &[], "yes\ncanary\n").assert_refused("Service discovery failed");
    let scene = Scene::new(&[]);
    scene.run(&["login", "a b"]).assert_refused("Invalid hostname");
    scene.run(&["logout", "a", "b"]).assert_refused("At most one argument");
    assert!(!host.scene.path().join(FILE).exists());
}

#[test]
fn an_interrupt_instead_of_a_token_gives_the_terminal_back() {
    let host = Host::enterprise();
    let mut child = host.scene.command(&["login", &host.site.host()]);
    let child = child.env("SSL_CERT_FILE", host.scene.path().join("site.pem"));
    let mut child = child.spawn().unwrap();
    // Held open: after consent nobody answers.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"yes\n").unwrap();
    let (mut stdout, mut seen) = (child.stdout.take().unwrap(), Vec::new());
    let asked = |seen: &[u8]| {
        let seen = String::from_utf8_lossy(seen);
        seen.split_once("Token for").is_some_and(|(_, rest)| rest.ends_with("Enter a value: "))
    };
    while !asked(&seen) {
        let mut byte = [0];
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    // Killed by the signal, it would have no code, and could not have given anything back.
    assert_eq!(child.wait().unwrap().code(), Some(1), "{errors}");
    assert!(errors.contains("Error asking for the token"), "{errors}");
    assert!(!host.scene.path().join(FILE).exists());
}

#[test]
fn registries_take_tokens_too() {
    let host = Host::offering(r#"{"modules.v1": "/m/"}"#);
    let ran = host.run("login", &[("TF_CLI_CONFIG_FILE", "rc")], "yes\ntoken\n");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let said = ran.stdout + &ran.stderr;
    assert!(said.contains("The stored token is not used"), "{said}");
    assert_eq!(host.file()["credentials"][host.site.host()]["token"], "token");
    assert_eq!(host.site.take_visits().len(), 1);
}

#[test]
fn what_a_person_wrote_is_left_alone() {
    let host = Host::enterprise();
    let block = format!("credentials \"{}\" {{\n  token = \"mine\"\n}}\n", host.site.host());
    host.scene.write(".terraformrc", block.as_bytes());
    for command in ["login", "logout"] {
        let refused = host.run(command, &[], "yes\ntoken\n");
        refused.assert_refused("are manually configured");
        refused.assert_refused(".terraformrc");
    }
    assert!(host.site.take_visits().is_empty());
    host.scene.write(".terraformrc", b"");
    host.scene.write(FILE, b"{\"credentials\": []}");
    host.run("login", &[], "yes\ntoken\n").assert_refused("credentials.tfrc.json");
    assert_eq!(host.scene.read(FILE), b"{\"credentials\": []}");
}

#[test]
fn a_credentials_helper_keeps_tokens_instead() {
    let host = Host::enterprise();
    host.scene.write(".terraformrc", b"credentials_helper \"mine\" {\n}\n");
    host.run("login", &[], "yes\ntoken\n").assert_refused("is not installed");
    let script = "#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\n[ \"$1\" = store ] && cat > \"$HOME/told\"\n[ \"$1\" = get ] && echo '{}'\nexit 0\n";
    let program = ".terraform.d/plugins/terraform-credentials-mine";
    host.scene.write(program, script.as_bytes());
    let program = host.scene.path().join(program);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = host.run("login", &[("PATH", "/usr/bin:/bin")], "yes\ntoken\n");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the credentials helper \"mine\""), "{}", ran.stdout);
    assert_eq!(host.scene.read("told"), br#"{"token":"token"}"#);
    assert_eq!(host.run("logout", &[("PATH", "/usr/bin:/bin")], "").code, 0);
    let asked = String::from_utf8(host.scene.read("asked")).unwrap();
    let name = host.site.host();
    assert_eq!(asked, format!("get {name}\nstore {name}\nforget {name}\n"));
    assert!(!host.scene.path().join(FILE).exists());
}
