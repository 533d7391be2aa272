//! Modules in git repositories, through the git program.

use super::scene::Scene;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("these tests need the git program");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A scene with a repository beside the root module: a tag `v1`, and a branch `next`.
fn scene() -> (Scene, String) {
    let scene = Scene::new("");
    let repository = scene.path("repository");
    scene.write("repository/main.tf", "module \"o\" {\n  source = \"./other\"\n}\n");
    scene.write("repository/other/main.tf", "# one");
    git(&repository, &["init", "-q"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "one"]);
    git(&repository, &["tag", "v1"]);
    git(&repository, &["checkout", "-q", "-b", "next"]);
    scene.write("repository/other/main.tf", "# next");
    git(&repository, &["commit", "-qam", "next"]);
    git(&repository, &["checkout", "-q", "main"]);
    scene.write("repository/other/main.tf", "# main");
    git(&repository, &["commit", "-qam", "main"]);
    let address = format!("git::file://{}", repository.display());
    (scene, address)
}

fn calls(scene: &Scene, sources: &[(&str, String)]) {
    let calls = sources
        .iter()
        .map(|(name, source)| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n"));
    scene.write("root/main.tf", &calls.collect::<String>());
}

#[tokio::test]
async fn repositories_are_noted_as_terraform_notes_them() {
    let (scene, address) = scene();
    scene.write("root/l/main.tf", "");
    calls(
        &scene,
        &[
            ("a", address.clone()),
            ("b", format!("{address}//other?ref=v1")),
            ("d", address.replace("file://", "")),
            ("z", format!("{address}?ref=next&depth=1")),
            ("l", "./l/../l".to_owned()),
        ],
    );
    let outcome = scene.install().await;
    outcome.assert_installed();
    let expected = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"REPO","Dir":".terraform/modules/a"},{"Key":"a.o","Source":"./other","Dir":".terraform/modules/a/other"},{"Key":"b","Source":"REPO//other?ref=v1","Dir":".terraform/modules/b/other"},{"Key":"d","Source":"REPO","Dir":".terraform/modules/d"},{"Key":"d.o","Source":"./other","Dir":".terraform/modules/d/other"},{"Key":"l","Source":"./l","Dir":"l"},{"Key":"z","Source":"REPO?ref=next\u0026depth=1","Dir":".terraform/modules/z"},{"Key":"z.o","Source":"./other","Dir":".terraform/modules/z/other"}]}"#;
    assert_eq!(outcome.manifest, expected.replace("REPO", &address));
    let contents =
        [("a/other", "# main"), ("b/other", "# one"), ("d/other", "# main"), ("z/other", "# next")];
    for (path, text) in contents {
        assert_eq!(scene.read(&format!("root/.terraform/modules/{path}/main.tf")), text, "{path}");
    }
    assert_eq!(outcome.told[0], format!("a <- {address}"));
}

#[tokio::test]
async fn branches_and_commits_are_checked_out() {
    let (scene, address) = scene();
    let commit = Command::new("git")
        .args(["rev-parse", "v1"])
        .current_dir(scene.path("repository"))
        .output()
        .unwrap();
    let commit = String::from_utf8(commit.stdout).unwrap();
    let commit = commit.trim();
    for (reference, text) in [(commit, "# one"), ("next", "# next"), ("main", "# main")] {
        calls(&scene, &[("a", format!("{address}?ref={reference}"))]);
        scene.install().await.assert_installed();
        assert_eq!(scene.read("root/.terraform/modules/a/other/main.tf"), text, "{reference}");
    }
    calls(&scene, &[("a", format!("{address}?ref={commit}&depth=1"))]);
    let note = "setting 'depth' requires 'ref' to be a branch or tag name";
    scene.install().await.assert_refused("Failed to download module", note);
    calls(&scene, &[("a", format!("{address}?ref=nope"))]);
    let refused = scene.install().await;
    refused.assert_refused("Failed to download module", "git exited with");
    let path = scene.path("repository").display().to_string();
    let downloading = format!("error downloading 'file://{path}?ref=nope': ");
    refused.assert_refused("Failed to download module", &downloading);
}

#[tokio::test]
async fn git_is_given_no_options_and_no_programs() {
    let scene = Scene::new("");
    let trace = scene.path("trace");
    let touch = format!("touch {}", trace.display());
    let sources = [
        ("git::ext::sh -c touch% /tmp/x".to_owned(), "git is not asked to fetch by \"ext\""),
        ("git::fd::17".to_owned(), "git is not asked to fetch by \"fd\""),
        ("git::foo://h/x".to_owned(), "git is not asked to fetch by \"foo\""),
        (
            format!("git::file:///x?ref=--upload-pack={}", touch.replace(' ', "%20")),
            "begins with a dash",
        ),
        ("git::ssh://-oProxyCommand=x/y".to_owned(), "is no URL that packages are fetched from"),
    ];
    for (source, problem) in sources {
        calls(&scene, &[("a", source)]);
        scene.install().await.assert_refused("Failed to download module", problem);
    }
    assert!(!trace.exists());
}

#[tokio::test]
async fn submodules_lead_to_no_folder_of_this_machine() {
    let (scene, _) = scene();
    let inner = scene.path("repository").display().to_string();
    let outer = scene.path("outer");
    scene.write("outer/main.tf", "");
    git(&outer, &["init", "-q"]);
    git(&outer, &["submodule", "--quiet", "add", &inner, "inner"]);
    git(&outer, &["add", "."]);
    git(&outer, &["commit", "-qm", "one"]);
    calls(&scene, &[("a", format!("git::file://{}", outer.display()))]);
    scene.install().await.assert_refused("Failed to download module", "not allowed");
}

#[tokio::test]
async fn a_package_that_calls_itself_is_refused_before_it_is_fetched_again() {
    let (scene, address) = scene();
    let again = format!("module \"again\" {{\n  source = \"{address}\"\n}}\n");
    scene.write("repository/main.tf", &again);
    git(&scene.path("repository"), &["commit", "-qam", "again"]);
    calls(&scene, &[("a", address)]);
    let outcome = scene.install().await;
    outcome.assert_refused("Module calls itself", "within itself");
    assert!(!scene.path("root/.terraform/modules/a.again").exists());
}

#[tokio::test]
async fn without_git_that_is_said() {
    let (mut scene, address) = scene();
    scene.packages.git = None;
    calls(&scene, &[("a", address)]);
    let outcome = scene.install().await;
    outcome.assert_refused("Failed to download module", "git must be available and on the PATH");
}

#[tokio::test]
async fn what_git_says_holds_no_credentials() {
    let (scene, _) = scene();
    calls(
        &scene,
        &[("a", "git::http://ada:canary-3@127.0.0.1:1/x?ref=v1&key=canary-4".to_owned())],
    );
    let outcome = scene.install().await;
    let said = format!("{:?}{:?}", outcome.told, outcome.errors);
    assert!(said.contains("127.0.0.1") && !said.contains("canary"), "{said}");
}
