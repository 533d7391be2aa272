//! Mirrors on the network and in directories.

use crate::network::{LINUX, MAC, Scene, release};
use providers::install::{
    InstallError, InstallMode, InstallationKind, InstallationMethod, Locks, PackageHash,
    ProviderPattern, write_mirror_indexes,
};
use providers::services::{Credentials, Token};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use test_servers::Page;

/// A directory with what the registry has, and the same as pages of its site.
async fn mirrored(scene: &Scene, versions: &[&str]) -> PathBuf {
    let mirror = scene.root.path().join("mirror");
    for version in versions {
        scene.registry.publish(&release("x", version));
        for platform in [LINUX, MAC] {
            let mut installer = scene.installer.clone();
            installer.platform = platform.parse().unwrap();
            let provider = scene.provider("x");
            let version = version.parse().unwrap();
            installer.mirror_package(&mirror, &provider, &version).await.unwrap();
        }
    }
    write_mirror_indexes(&mirror).await.unwrap();
    serve(scene, &mirror, &mirror);
    mirror
}

fn serve(scene: &Scene, root: &Path, folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            serve(scene, root, &path);
            continue;
        }
        let content = std::fs::read(&path).unwrap();
        let page = match path.extension().is_some_and(|e| e == "json") {
            true => Page::json(String::from_utf8(content).unwrap()),
            false => Page::file(content),
        };
        let name = path.strip_prefix(root).unwrap().to_str().unwrap();
        scene.registry.site.put(format!("/mirror/{name}"), page);
    }
}

fn network_mirror(scene: &Scene) -> InstallationKind {
    InstallationKind::NetworkMirror(scene.registry.site.url("/mirror/").into())
}

fn path(scene: &Scene, file: &str) -> String {
    format!("/mirror/{}/acme/x/{file}", scene.registry.site.host())
}

#[tokio::test]
async fn a_mirrored_directory_serves_as_mirror_on_the_network_and_on_disk() {
    let mut scene = Scene::new();
    let mirror = mirrored(&scene, &["1.0.0", "2.0.0"]).await;
    let from_registry = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let index = std::fs::read_to_string(
        mirror.join(format!("{}/acme/x/index.json", scene.registry.site.host())),
    );
    assert_eq!(
        index.unwrap(),
        "{\n  \"versions\": {\n    \"1.0.0\": {},\n    \"2.0.0\": {}\n  }\n}"
    );
    let version: Value =
        serde_json::from_slice(&scene.registry.site.page(&path(&scene, "2.0.0.json")).body)
            .unwrap();
    let entry = &version["archives"][LINUX];
    assert_eq!(entry["url"], "terraform-provider-x_2.0.0_linux_amd64.zip");
    let provider = scene.provider("x");
    let h1: PackageHash = entry["hashes"][0].as_str().unwrap().parse().unwrap();
    assert!(h1.is_of_files() && from_registry.0[&provider].hashes.contains(&h1));

    for (kind, said) in [
        (network_mirror(&scene), "verified checksum"),
        (InstallationKind::FilesystemMirror(mirror), "unauthenticated"),
    ] {
        std::fs::remove_dir_all(&scene.installer.directory).unwrap();
        scene.only(kind);
        let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
        assert_eq!(scene.events, ["incomplete", said]);
        assert_eq!(locks.0[&provider].hashes, [h1.clone()].into());
        assert_eq!(scene.program(&locks, "x"), "x 2.0.0 linux_amd64");
        // What the registry has signed covers it.
        std::fs::remove_dir_all(&scene.installer.directory).unwrap();
        assert_eq!(scene.install(&[("x", "")], &from_registry).await.unwrap(), from_registry);
        assert_eq!(scene.events, [said]);
    }
}

#[tokio::test]
async fn a_mirror_may_not_contradict_itself() {
    let mut scene = Scene::new();
    mirrored(&scene, &["1.0.0"]).await;
    scene.only(network_mirror(&scene));
    let index = path(&scene, "1.0.0.json");
    let good = scene.registry.site.page(&index);
    let archive = |hashes: Value| {
        let url = "terraform-provider-x_1.0.0_linux_amd64.zip";
        json!({ "archives": { LINUX: { "url": url, "hashes": hashes } } }).to_string()
    };
    let wrong =
        [Page::json(archive(json!(["h1:wrong"]))), Page::json(archive(json!(["zh:0", "h1:1"])))];
    for page in wrong {
        scene.registry.site.put(index.clone(), page);
        let error = scene.refusal(&[("x", "")]).await;
        assert!(matches!(error, InstallError::WrongPackage { .. }), "{error}");
        assert!(scene.files().is_empty());
    }
    for (page, words) in [
        (Page::json(archive(json!(["no hash"]))), "invalid provider hash"),
        (Page::file("{}"), "must be application/json"),
        (Page::json("nonsense"), "invalid response content"),
        (Page::status(500), "unsuccessful status 500"),
        (Page::json(r#"{"archives": {}}"#), "does not have a package available"),
        (Page::status(404), "does not have a package available"),
    ] {
        scene.registry.site.put(index.clone(), page);
        let error = scene.refusal(&[("x", "")]).await.to_string();
        assert!(error.contains(words), "{error}");
    }
    // Without checksums, a mirror is believed.
    scene.registry.site.put(index.clone(), Page::json(archive(Value::Null)));
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(scene.events, ["incomplete", "unauthenticated"]);
    scene.registry.site.put(index, good);
    let error = scene.refusal(&[("y", "")]).await;
    assert!(matches!(error, InstallError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("provider mirror at https://"), "{error}");
}

#[tokio::test]
async fn a_mirror_gets_its_own_hosts_token() {
    let mut scene = Scene::with_credentials(|host| {
        let mut credentials = Credentials::default();
        credentials.insert(host.parse().unwrap(), Token::new("secret"));
        credentials
    });
    mirrored(&scene, &["1.0.0"]).await;
    scene.only(network_mirror(&scene));
    scene.registry.site.take_visits();
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let visits = scene.registry.site.take_visits();
    let with: Vec<bool> = visits.iter().map(|visit| visit.authorization.is_some()).collect();
    assert_eq!(with, [true, true, false], "the archive may lie anywhere: {visits:?}");
    scene.registry.site.put(path(&scene, "index.json"), Page::status(403));
    let error = scene.refusal(&[("x", "")]).await.to_string();
    assert!(error.contains("rejected the given authentication credentials"), "{error}");
}

#[tokio::test]
async fn a_name_and_password_in_an_address_are_used_and_not_shown() {
    let mut scene = Scene::new();
    mirrored(&scene, &["1.0.0"]).await;
    let url = scene.registry.site.url("/mirror/?key=canary").replace("://", "://me:p%40ss@");
    scene.only(InstallationKind::NetworkMirror(url.into()));
    scene.registry.site.take_visits();
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let visits = scene.registry.site.take_visits();
    assert_eq!(visits.len(), 3);
    for visit in visits {
        assert_eq!(visit.authorization.as_deref(), Some("Basic bWU6cEBzcw=="), "{}", visit.path);
    }
    for page in [Page::status(500), Page::status(404)] {
        scene.registry.site.put(path(&scene, "index.json"), page);
        let error = scene.refusal(&[("x", "")]).await.to_string();
        let secrets = ["p%40ss", "p@ss", "canary"];
        assert!(!secrets.iter().any(|secret| error.contains(secret)), "{error}");
    }
    for unusable in ["me:p%40ss@mirror", "https//me:p%40ss@mirror/"] {
        scene.only(InstallationKind::NetworkMirror(unusable.into()));
        let error = scene.refusal(&[("x", "")]).await.to_string();
        assert!(error.contains("mirror") && !error.contains("p%40ss"), "{error}");
    }
}

#[tokio::test]
async fn mirrors_are_reached_over_https_alone() {
    let mut scene = Scene::new();
    for url in ["http://localhost/", "nonsense", "file:///tmp/"] {
        scene.only(InstallationKind::NetworkMirror(url.into()));
        let error = scene.refusal(&[("x", "")]).await.to_string();
        assert!(error.contains("must be at an https: URL"), "{error}");
    }
}

#[tokio::test]
async fn the_first_way_that_has_a_version_provides_it() {
    let mut scene = Scene::new();
    let mirror = mirrored(&scene, &["1.0.0"]).await;
    scene.registry.publish(&release("x", "2.0.0"));
    scene.registry.publish(&release("y", "1.0.0"));
    let method = |kind, include: &[&str], exclude: &[&str]| {
        let patterns = |texts: &[&str]| {
            texts.iter().map(|text| ProviderPattern::parse(text).unwrap()).collect::<Vec<_>>()
        };
        InstallationMethod { kind, include: patterns(include), exclude: patterns(exclude) }
    };
    let host = scene.registry.site.host();
    let (all, x) = (format!("{host}/*/*"), format!("{host}/acme/x"));
    let directory = InstallationKind::FilesystemMirror(mirror);
    let both =
        vec![method(directory.clone(), &[&all], &[]), method(InstallationKind::Direct, &[], &[])];
    scene.installer.config.installation = Some(both);
    scene.install(&[("x", "1.0.0")], &Locks::default()).await.unwrap();
    assert_eq!(scene.events, ["incomplete", "unauthenticated"]);
    // Versions of all ways count.
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(scene.events, ["self-signed"]);

    let apart = vec![method(directory, &[&x], &[]), method(InstallationKind::Direct, &[], &[&x])];
    scene.installer.config.installation = Some(apart);
    let locks = scene.install(&[("x", ""), ("y", "")], &Locks::default()).await.unwrap();
    assert_eq!(locks.0[&scene.provider("x")].version.to_string(), "1.0.0");
    assert_eq!(scene.events, ["incomplete", "unauthenticated", "self-signed"]);
    scene.installer.config.installation = Some(vec![]);
    let error = scene.refusal(&[("x", "")]).await;
    assert!(matches!(error, InstallError::NotFound { .. }), "{error}");
}

#[tokio::test]
async fn what_is_mirrored_is_what_the_author_has_signed() {
    let scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    scene.registry.site.put(x.archive_path(LINUX), Page::file("forged"));
    let mirror = scene.root.path().join("mirror");
    let (provider, version) = (scene.provider("x"), "1.0.0".parse().unwrap());
    let error = scene.installer.mirror_package(&mirror, &provider, &version).await.unwrap_err();
    assert!(
        matches!(error, InstallError::Files { .. } | InstallError::WrongPackage { .. }),
        "{error}"
    );
    let left = walk(&mirror);
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(scene.installer.newest(&provider, &"".parse().unwrap()).await.unwrap(), version);
    let error = scene.installer.newest(&provider, &"> 1.0".parse().unwrap()).await.unwrap_err();
    assert!(matches!(error, InstallError::NoVersion { .. }), "{error}");
}

#[tokio::test]
async fn an_index_that_is_not_complete_names_the_file() {
    let scene = Scene::new();
    let mirror = mirrored(&scene, &["1.0.0"]).await;
    let folder = mirror.join(format!("{}/acme/x", scene.registry.site.host()));
    let spoilt = folder.join("terraform-provider-x_2.0.0_linux_amd64.zip");
    std::fs::write(&spoilt, "no archive").unwrap();
    let (path, _) = write_mirror_indexes(&mirror).await.unwrap_err();
    assert_eq!(path, spoilt);
    std::fs::remove_file(spoilt).unwrap();
    std::fs::remove_file(folder.join("index.json")).unwrap();
    std::fs::create_dir_all(folder.join("index.json/in-the-way")).unwrap();
    let (path, _) = write_mirror_indexes(&mirror).await.unwrap_err();
    assert_eq!(path, folder.join("index.json"));
}

#[tokio::test]
async fn what_a_web_server_is_to_publish_can_be_read_by_it() {
    use std::os::unix::fs::PermissionsExt;
    let mut scene = Scene::new();
    let mirror = mirrored(&scene, &["1.0.0"]).await;
    for file in walk(&mirror) {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    scene.only(InstallationKind::FilesystemMirror(mirror));
    let copy = scene.root.path().join("copy");
    let (provider, version) = (scene.provider("x"), "1.0.0".parse().unwrap());
    scene.installer.mirror_package(&copy, &provider, &version).await.unwrap();
    write_mirror_indexes(&copy).await.unwrap();
    for file in walk(&copy) {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o044, 0o044, "{}", file.display());
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn checksums_of_other_platforms_are_recorded_beside_those_known() {
    let mut scene = Scene::new();
    mirrored(&scene, &["1.0.0"]).await;
    scene.only(network_mirror(&scene));
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    scene.installer.platform = MAC.parse().unwrap();
    let error = scene.install(&[("x", "")], &locks).await.unwrap_err().remove(0);
    assert!(matches!(error, InstallError::ChecksumMismatch { .. }), "{error}");
    let both = scene.install_by(&[("x", "")], &locks, InstallMode::RecordChecksums).await.unwrap();
    assert_eq!(both.0[&scene.provider("x")].hashes.len(), 2);
    assert_eq!(scene.install(&[("x", "")], &both).await.unwrap(), both);
}
