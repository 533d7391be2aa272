//! Installing from registries.

use crate::network::{LINUX, MAC, Scene, release};
use providers::install::{
    Authentication, DownloadError, InstallError, InstallMode, Locks, PackageError, PackageHash,
    SignatureError, SourceError,
};
use providers::services::{Credentials, Token};
use serde_json::Value;
use test_servers::{AuthorKey, Page, Release, package, sha256};

/// Changes what the registry says of a package.
fn say(scene: &Scene, release: &Release<'_>, change: impl FnOnce(&mut Value)) {
    let path = release.download_path(LINUX);
    let mut download = serde_json::from_slice(&scene.registry.site.page(&path).body).unwrap();
    change(&mut download);
    scene.registry.site.put(path, Page::json(download.to_string()));
}

#[tokio::test]
async fn the_newest_release_that_will_do_is_installed_and_locked() {
    let mut scene = Scene::new();
    for version in ["1.0.0", "1.9.0", "1.10.0", "2.0.0", "1.11.0-beta1"] {
        scene.registry.publish(&release("x", version));
    }
    let locks = scene.install(&[("x", "~> 1.0")], &Locks::default()).await.unwrap();
    assert_eq!(scene.events, ["self-signed"]);
    assert_eq!(scene.program(&locks, "x"), "x 1.10.0 linux_amd64");
    let site = &scene.registry.site;
    let archive =
        |platform| sha256(&site.page(&release("x", "1.10.0").archive_path(platform)).body);
    let (linux, mac) = (archive(LINUX), archive(MAC));
    let directory = scene.packages(&locks).verified(&scene.provider("x")).unwrap();
    let h1 = PackageHash::of_directory(directory.program.parent().unwrap()).unwrap();
    let mut hashes = [format!("zh:{linux}"), format!("zh:{mac}")];
    hashes.sort();
    assert_eq!(
        locks.to_string(),
        format!(
            "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\nprovider \"{}\" {{\n  version     = \"1.10.0\"\n  constraints = \"~> 1.0\"\n  hashes = [\n    \"{h1}\",\n    \"{}\",\n    \"{}\",\n  ]\n}}\n",
            scene.provider("x"),
            hashes[0],
            hashes[1]
        )
    );

    // What is there and right needs no network.
    scene.registry.site.take_visits();
    assert_eq!(scene.install(&[("x", "~> 1.0")], &locks).await.unwrap(), locks);
    assert_eq!(scene.events, ["already installed"]);
    assert!(scene.registry.site.take_visits().is_empty());

    // A fresh checkout gets what is locked, though there is something newer.
    std::fs::remove_dir_all(&scene.installer.directory).unwrap();
    scene.registry.publish(&release("x", "1.12.0"));
    assert_eq!(scene.install(&[("x", "~> 1.0")], &locks).await.unwrap(), locks);
    let upgraded = scene.install_by(&[("x", "~> 1.0")], &locks, InstallMode::Upgrade).await;
    assert_eq!(scene.program(&upgraded.unwrap(), "x"), "x 1.12.0 linux_amd64");
}

#[tokio::test]
async fn nothing_that_is_not_whole_stays() {
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let whole = scene.registry.site.page(&x.archive_path(LINUX));
    let length = whole.body.len();
    for (page, cut) in [
        (whole.clone().cut_after(length / 2), true),
        (Page::file(whole.body[..length - 1].to_vec()), false),
        (Page::file(package("x", "1.0.0", "another program")), false),
    ] {
        scene.registry.site.put(x.archive_path(LINUX), page);
        let error = scene.refusal(&[("x", "")]).await;
        match cut {
            true => assert!(
                matches!(&error, InstallError::Download { reason: DownloadError::Https(_), .. }),
                "{error}"
            ),
            false => {
                assert!(matches!(error, InstallError::WrongPackage { .. }), "{error}");
                assert!(error.to_string().contains("archive has incorrect checksum zh:"));
            }
        }
        assert_eq!(error.summary(), "Failed to install provider");
        assert_eq!(scene.files(), Vec::<std::path::PathBuf>::new());
    }
    scene.registry.site.put(x.archive_path(LINUX), Page::status(503));
    let error = scene.refusal(&[("x", "")]).await;
    assert!(error.to_string().contains("unsuccessful request to https://"), "{error}");
}

#[tokio::test]
async fn checksums_have_to_be_signed_by_the_author() {
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let sums = scene.registry.site.page(&x.checksums_path());
    let signature = scene.registry.site.page(&format!("{}.sig", x.checksums_path()));
    let refused = |error: InstallError| match error {
        InstallError::Source { reason, .. } => match *reason {
            SourceError::Signature(reason) => reason,
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    };

    // The checksums were changed.
    let forged = String::from_utf8(sums.body.clone()).unwrap().replace('0', "1");
    scene.registry.site.put(x.checksums_path(), Page::file(forged));
    assert_eq!(refused(scene.refusal(&[("x", "")]).await), SignatureError::Mismatch);
    scene.registry.site.put(x.checksums_path(), sums.clone());

    // Somebody else has signed.
    let theirs = AuthorKey::new(9).sign(&sums.body);
    let path = format!("{}.sig", x.checksums_path());
    scene.registry.site.put(path.clone(), Page::file(theirs));
    assert_eq!(refused(scene.refusal(&[("x", "")]).await), SignatureError::UnknownIssuer);

    // Nobody has, or what is there is no signature.
    for page in [Page::file(""), Page::file("not a signature"), Page::json("{}")] {
        scene.registry.site.put(path.clone(), page);
        let reason = refused(scene.refusal(&[("x", "")]).await);
        assert!(matches!(reason, SignatureError::Malformed(_)), "{reason}");
    }
    scene.registry.site.put(path.clone(), Page::status(404));
    let error = scene.refusal(&[("x", "")]).await.to_string();
    assert!(error.contains("failed to retrieve cryptographic signature"), "{error}");
    scene.registry.site.put(path, signature);

    // The registry knows no key.
    say(&scene, &x, |download| download["signing_keys"]["gpg_public_keys"] = Value::Array(vec![]));
    let error = scene.refusal(&[("x", "")]).await;
    assert!(error.to_string().contains("not signed with a valid signing key"), "{error}");
    assert_eq!(refused(error), SignatureError::UnknownIssuer);
    assert_eq!(scene.files(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn the_registry_may_not_contradict_itself() {
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let good = scene.registry.site.page(&x.download_path(LINUX));
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 5] = [
        (|d| d["shasum"] = "00".repeat(32).into(), "checksum list has unexpected SHA-256 hash"),
        (|d| d["shasum"] = "xyz".into(), "invalid SHA256 hash"),
        (|d| d["filename"] = "other.zip".into(), "checksum list has no SHA-256 hash for"),
        (|d| d["os"] = "plan9".into(), "incorrect target plan9_amd64"),
        (|d| d["download_url"] = "ftp://example.com/x".into(), "invalid download URL"),
    ];
    for (change, words) in cases {
        say(&scene, &x, change);
        let error = scene.refusal(&[("x", "")]).await.to_string();
        assert!(error.contains(words), "{error}");
        scene.registry.site.put(x.download_path(LINUX), good.clone());
    }
    for (page, words) in [
        (Page::json("{"), "could not query provider registry"),
        (Page::json("\"versions\""), "could not query provider registry"),
        (Page::status(500), "500 Internal Server Error"),
        (Page::json(r#"{"versions": [{"version": "one"}]}"#), "invalid version"),
    ] {
        scene.registry.site.put(x.versions_path(), page);
        let error = scene.refusal(&[("x", "")]).await;
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.summary(), "Failed to query available provider packages");
    }
}

#[tokio::test]
async fn what_there_is_not_is_said_as_terraform_says_it() {
    let mut scene = Scene::new();
    scene.registry.publish(&release("x", "1.0.0"));
    scene.registry.publish(&Release { platforms: &[MAC], ..release("mac", "1.0.0") });
    let old = release("old", "1.0.0");
    scene.registry.publish(&Release { protocols: &["4.0"], ..old });
    scene.registry.publish(&release("mixed", "1.0.0"));
    scene.registry.publish(&Release { protocols: &["7.0"], ..release("mixed", "2.0.0") });
    for (wanted, summary, words) in [
        (
            ("x", "~> 7.0"),
            "Failed to query available provider packages",
            "no available releases match the given constraints ~> 7.0; there are 1.0.0",
        ),
        (
            ("nope", ""),
            "Failed to query available provider packages",
            "does not have a provider named",
        ),
        (
            ("mac", ""),
            "Incompatible provider version",
            "does not have a package available for the platform linux_amd64",
        ),
        (("old", ""), "Incompatible provider version", "no other version does"),
        (("mixed", ""), "Incompatible provider version", "version = \"1.0.0\""),
    ] {
        let error = scene.refusal(&[wanted]).await;
        assert_eq!(error.summary(), summary);
        assert!(error.to_string().contains(words), "{error}");
    }
    // The others are installed all the same.
    let errors = scene.install(&[("x", ""), ("nope", "")], &Locks::default()).await.unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(scene.events, ["self-signed"]);
}

#[tokio::test]
async fn hosts_that_are_no_registries() {
    let mut scene = Scene::new();
    scene.registry.publish(&release("x", "1.0.0"));
    let document = "/.well-known/terraform.json";
    for (page, summary, words) in [
        (Page::status(404), "Invalid provider registry host", "does not offer"),
        (Page::json("{}"), "Invalid provider registry host", "does not offer"),
        (
            Page::json(r#"{"providers.v9": "/"}"#),
            "Invalid provider registry host",
            "offers providers.v9",
        ),
        (
            Page::status(500),
            "Failed to query available provider packages",
            "failed to request discovery document: 500",
        ),
        (
            Page::file("<html>"),
            "Failed to query available provider packages",
            "content type application/json",
        ),
        (
            Page::json(r#"{"providers.v1": 5}"#),
            "Failed to query available provider packages",
            "not a string",
        ),
    ] {
        scene.registry.site.put(document, page);
        let mut fresh = Scene::new();
        fresh.registry = scene.registry;
        fresh.installer.network.as_mut().unwrap().services = std::sync::Arc::new(
            crate::network::services(&fresh.registry.site, Credentials::default()),
        );
        let error = fresh.refusal(&[("x", "")]).await;
        assert_eq!(error.summary(), summary);
        assert!(error.to_string().contains(words), "{error}");
        scene = fresh;
    }
}

#[tokio::test]
async fn the_locked_package_is_the_only_one() {
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    // The author has replaced the release, and signed it again.
    let replaced = package("x", "1.0.0", "replaced");
    scene.registry.publish_packages(&x, &[(LINUX.to_owned(), replaced)]);
    std::fs::remove_dir_all(&scene.installer.directory).unwrap();
    for mode in [InstallMode::Locked, InstallMode::Upgrade] {
        let error = scene.install_by(&[("x", "")], &locks, mode).await.unwrap_err().remove(0);
        assert!(matches!(error, InstallError::ChecksumMismatch { .. }), "{error}");
        assert!(error.to_string().contains("plumb providers lock"), "{error}");
    }
    let packages = scene.packages(&locks);
    assert!(matches!(packages.verified(&scene.provider("x")), Err(PackageError::NotInstalled)));
    // Recording checksums takes it, and keeps what was locked.
    let new = scene.install_by(&[("x", "")], &locks, InstallMode::RecordChecksums).await.unwrap();
    assert_eq!(scene.program(&new, "x"), "replaced");
    let provider = scene.provider("x");
    assert!(new.0[&provider].hashes.is_superset(&locks.0[&provider].hashes));
}

#[tokio::test]
async fn an_archive_of_the_locked_platforms_verifies_by_its_signed_checksum_alone() {
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    scene.installer.platform = MAC.parse().unwrap();
    assert_eq!(scene.current().os(), "darwin");
    let both = scene.install(&[("x", "")], &locks).await.unwrap();
    let provider = scene.provider("x");
    assert_eq!(both.0[&provider].hashes.len(), locks.0[&provider].hashes.len() + 1);
    assert_eq!(scene.program(&both, "x"), "x 1.0.0 darwin_arm64");
}

#[tokio::test]
async fn a_locked_release_that_is_gone_is_named() {
    let mut scene = Scene::new();
    scene.registry.publish(&release("x", "1.0.0"));
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let errors = scene.install(&[("x", "> 1.0")], &locks).await.unwrap_err();
    assert!(matches!(&errors[..], [InstallError::LockedOut { .. }]), "{errors:?}");
    std::fs::remove_dir_all(&scene.installer.directory).unwrap();
    let x = release("x", "1.0.0");
    scene.registry.site.put(x.download_path(LINUX), Page::status(404));
    let list = r#"{"versions": [{"version": "2.0.0"}]}"#;
    scene.registry.site.put(x.versions_path(), Page::json(list));
    let error = scene.install(&[("x", "")], &locks).await.unwrap_err().remove(0).to_string();
    assert!(error.contains("version 1.0.0 is no longer available"), "{error}");
    assert!(error.ends_with("plumb init -upgrade"), "{error}");
}

#[tokio::test]
async fn a_token_goes_to_its_registry_and_nowhere_else() {
    let mut scene = Scene::with_credentials(|host| {
        let mut credentials = Credentials::default();
        credentials.insert(host.parse().unwrap(), Token::new("secret"));
        credentials
    });
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let visits = scene.registry.site.take_visits();
    assert_eq!(visits.len(), 6);
    for visit in visits {
        let expected = (!visit.path.starts_with("/files/")).then(|| "Bearer secret".to_owned());
        assert_eq!(visit.authorization, expected, "{}", visit.path);
    }
    for (status, words) in [(401, "rejected the given"), (403, "rejected the given")] {
        scene.registry.site.put(x.versions_path(), Page::status(status));
        let error = scene.refusal(&[("x", "")]).await.to_string();
        assert!(error.contains(words), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    let mut without = Scene::new();
    without.registry.publish(&x);
    without.registry.site.put(x.versions_path(), Page::status(401));
    let error = without.refusal(&[("x", "")]).await.to_string();
    assert!(error.contains("requires authentication credentials"), "{error}");
}

#[tokio::test]
async fn redirections_are_followed_but_not_for_ever() {
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let archive = scene.registry.site.page(&x.archive_path(LINUX));
    scene.registry.site.put("/elsewhere/x.zip", archive);
    scene.registry.site.put(x.archive_path(LINUX), Page::redirect("../elsewhere/x.zip"));
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    std::fs::remove_dir_all(&scene.installer.directory).unwrap();
    scene.registry.site.put("/elsewhere/x.zip", Page::redirect("/elsewhere/x.zip"));
    let error = scene.refusal(&[("x", "")]).await.to_string();
    assert!(error.contains("redirects too often"), "{error}");
    for location in ["http://example.invalid/x.zip", "gopher://example.invalid/"] {
        scene.registry.site.put("/elsewhere/x.zip", Page::redirect(location));
        let error = scene.refusal(&[("x", "")]).await;
        assert!(matches!(error, InstallError::Download { .. }), "{error}");
    }
}

#[tokio::test]
async fn warnings_of_the_registry_are_passed_on() {
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let list = r#"{"versions": [{"version": "1.0.0"}], "warnings": ["use y"]}"#;
    scene.registry.site.put(x.versions_path(), Page::json(list));
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(scene.events, ["use y", "self-signed"]);
}

#[test]
fn hashicorps_own_key_is_called_so() {
    assert_eq!(Authentication::Unauthenticated.to_string(), "unauthenticated");
    assert_eq!(Authentication::VerifiedChecksum.third_party_key(), None);
}
