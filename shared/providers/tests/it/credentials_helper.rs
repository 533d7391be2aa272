//! Programs that keep tokens.

use crate::network::{client, release};
use providers::install::{Installer, Locks, Network};
use providers::services::{
    Credentials, CredentialsHelper, HelperError, HelperSettings, HostName, Services, Token,
};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use test_servers::Page;

/// Keeps tokens in files, and notes what it is asked.
const KEEPER: &str = r#"
echo "$@" >> "$FOLDER/asked"
[ "$1" = --from ] || exit 9
case "$3" in
    get) if [ -e "$FOLDER/$4" ]; then cat "$FOLDER/$4"; else echo '{}'; fi ;;
    store) cat > "$FOLDER/$4" ;;
    forget) rm -f "$FOLDER/$4" ;;
esac
"#;

/// A directory of programs.
struct Helpers(TempDir);

impl Helpers {
    fn new() -> Helpers {
        Helpers(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // By another process: what is open for writing cannot be run, and whatever this one starts meanwhile would have it open.
        let mut writer = Command::new("sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = writer.stdin.take().unwrap();
        stdin.write_all(format!("#!/bin/sh\n{script}").as_bytes()).unwrap();
        drop(stdin);
        assert!(writer.wait().unwrap().success());
    }

    fn find(&self, name: &str) -> CredentialsHelper {
        let args = vec!["--from".to_owned(), "here".to_owned()];
        let settings = HelperSettings { name: name.to_owned(), args };
        let directories = vec![self.path().to_owned(), self.path().join("below")];
        let environment = [("FOLDER", self.path().to_str().unwrap()), ("PATH", "/usr/bin:/bin")];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        CredentialsHelper::find(settings, directories, environment.into())
    }

    fn asked(&self) -> String {
        let path = self.path().join("asked");
        let asked = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        asked
    }
}

fn host(text: &str) -> HostName {
    text.parse().unwrap()
}

#[tokio::test]
async fn tokens_are_kept_given_and_forgotten() {
    let helpers = Helpers::new();
    helpers.program("terraform-credentials-keeper", KEEPER);
    let helper = helpers.find("keeper");
    let host = host("example.com:8443");
    assert_eq!(helper.get(&host).await.unwrap(), None);
    helper.store(&host, &Token::new("a \"secret\"")).await.unwrap();
    assert_eq!(helper.get(&host).await.unwrap(), Some(Token::new("a \"secret\"")));
    helper.forget(&host).await.unwrap();
    assert_eq!(helper.get(&host).await.unwrap(), None);
    let asked = ["get", "store", "get", "forget", "get"];
    let asked = asked.map(|verb| format!("--from here {verb} example.com:8443\n"));
    assert_eq!(helpers.asked(), asked.concat());
}

#[tokio::test]
async fn what_it_says_is_an_error_or_a_token() {
    let helpers = Helpers::new();
    for (script, words) in [
        ("echo 'the vault is sealed' >&2; exit 1", "error in PROGRAM: the vault is sealed"),
        ("exit 3", "error in PROGRAM: it ended with exit status: 3 and no error message"),
        ("echo canary", "malformed output from PROGRAM: "),
        ("echo '[\"canary\"]'", "malformed output from PROGRAM: it is not a JSON object"),
        ("head -c 2000000 /dev/zero", "malformed output from PROGRAM: "),
        ("kill -9 $$", "error in PROGRAM: it ended with signal: 9"),
    ] {
        helpers.program("terraform-credentials-x", script);
        let error = helpers.find("x").get(&host("a.example")).await.unwrap_err().to_string();
        let program = helpers.path().join("terraform-credentials-x");
        let words = words.replace("PROGRAM", program.to_str().unwrap());
        assert!(error.starts_with(&words) && !error.contains("canary"), "{error}");
    }
    for script in ["echo '{}'", "echo '{\"token\": 1}'", "echo '{\"other\": \"x\"}'"] {
        helpers.program("terraform-credentials-x", script);
        assert_eq!(helpers.find("x").get(&host("a.example")).await.unwrap(), None, "{script}");
    }
}

#[tokio::test]
async fn the_newest_version_of_a_program_counts() {
    let helpers = Helpers::new();
    let missing = helpers.find("x").get(&host("a.example")).await.unwrap_err();
    assert!(matches!(missing, HelperError::NotInstalled { .. }), "{missing}");
    let say = |token: &str| format!("echo '{{\"token\": \"{token}\"}}'");
    let token = async || helpers.find("x").get(&host("a.example")).await.unwrap().unwrap();
    for (file, expected) in [
        ("below/terraform-credentials-x", "below"),
        ("terraform-credentials-x", "here"),
        ("below/terraform-credentials-x_v0.1.0", "below, 0.1"),
        ("terraform-credentials-x_v0.1.0", "here, 0.1"),
        ("below/terraform-credentials-x_v0.10.0", "below, 0.10"),
    ] {
        helpers.program(file, &say(expected));
        assert_eq!(token().await.reveal(), expected);
    }
    for other in
        ["terraform-credentials-xy", "terraform-credentials-x_v", "terraform-provider-x_v9.0.0"]
    {
        helpers.program(other, &say("another's"));
    }
    std::fs::create_dir(helpers.path().join("terraform-credentials-x_v9.9.9")).unwrap();
    assert_eq!(token().await.reveal(), "below, 0.10");
}

/// What installs from the registry of a scene, with a helper.
fn installer(
    scene: &crate::network::Scene,
    helper: CredentialsHelper,
    known: Credentials,
) -> Installer {
    let services = Services::new(Arc::new(client(&scene.registry.site)), known);
    let services = services.with_pause(Duration::ZERO).with_helper(helper);
    let network = Some(Network { services: Arc::new(services), now: crate::network::NOW });
    Installer { network, ..scene.installer.clone() }
}

#[tokio::test]
async fn registries_get_the_token_that_the_helper_gives() {
    let mut scene = crate::network::Scene::new();
    scene.registry.publish(&release("x", "1.0.0"));
    let host = host(&scene.registry.site.host());
    let helpers = Helpers::new();
    helpers.program("terraform-credentials-keeper", KEEPER);
    helpers.find("keeper").store(&host, &Token::new("secret")).await.unwrap();
    helpers.asked();
    scene.installer = installer(&scene, helpers.find("keeper"), Credentials::default());
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let visits = scene.registry.site.take_visits();
    let with =
        visits.iter().filter(|visit| visit.authorization.as_deref() == Some("Bearer secret"));
    assert_eq!(with.count(), 3, "the document, the versions and the package: {visits:?}");
    assert_eq!(helpers.asked().lines().count(), 1, "it is asked once for each host");

    let mut known = Credentials::default();
    known.insert(host, Token::new("known"));
    scene.installer = installer(&scene, helpers.find("keeper"), known);
    scene.installer.directory = scene.root.path().join("another");
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(helpers.asked(), "");
}

#[tokio::test]
async fn who_wants_a_token_and_who_did_not_give_it_are_named() {
    let mut scene = crate::network::Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    scene.registry.site.put(x.versions_path(), Page::status(401));
    let helpers = Helpers::new();
    let plain = scene.installer.clone();
    for (name, script, words) in [
        ("none", None, "is not installed: there is no program terraform-credentials-none in "),
        ("empty", Some("echo '{}'"), "the credentials helper \"empty\" has none for it"),
        (
            "sealed",
            Some("echo sealed >&2; exit 1"),
            "failed to retrieve credentials for localhost:",
        ),
    ] {
        if let Some(script) = script {
            helpers.program(&format!("terraform-credentials-{name}"), script);
        }
        scene.installer = plain.clone();
        scene.installer = installer(&scene, helpers.find(name), Credentials::default());
        let error = scene.refusal(&[("x", "")]).await.to_string();
        assert!(error.contains(words), "{error}");
    }
}
