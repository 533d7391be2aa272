use providers::install::{
    CliConfig, InstallError, InstallEvent, InstallMode, InstallRequest, InstallationKind,
    InstallationMethod, Installer, Locks, PackageError, PackageLimits, Platform, ProviderPackages,
    SourceError, VersionConstraints,
};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;
use values::address::ProviderAddress;

struct Scene {
    root: TempDir,
    installer: Installer,
}

impl Scene {
    fn new() -> Scene {
        let root = tempfile::tempdir().unwrap();
        let mirror = InstallationMethod {
            kind: InstallationKind::FilesystemMirror(root.path().join("mirror")),
            include: vec![],
            exclude: vec![],
        };
        let installer = Installer {
            config: CliConfig { installation: Some(vec![mirror]), ..CliConfig::default() },
            implied_mirrors: vec![],
            directory: root.path().join("providers"),
            platform: Platform::current(),
            network: None,
            limits: PackageLimits::default(),
        };
        Scene { root, installer }
    }
    fn directory(&self, ty: &str) -> std::path::PathBuf {
        self.root.path().join("mirror/registry.terraform.io/hashicorp").join(ty)
    }
    fn unpacked(&self, ty: &str, version: &str, content: &str) {
        let directory = self.directory(ty).join(version).join(self.installer.platform.to_string());
        std::fs::create_dir_all(&directory).unwrap();
        let program = directory.join(format!("terraform-provider-{ty}_v{version}"));
        std::fs::write(program, content).unwrap();
    }
    fn packed(&self, ty: &str, version: &str, content: &str) {
        std::fs::create_dir_all(self.directory(ty)).unwrap();
        let platform = &self.installer.platform;
        let name = format!("terraform-provider-{ty}_{version}_{platform}.zip");
        let file = std::fs::File::create(self.directory(ty).join(name)).unwrap();
        let mut zip = zip::ZipWriter::new(file);
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
        zip.start_file(format!("terraform-provider-{ty}_v{version}"), options).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
        zip.finish().unwrap();
    }
    async fn install(
        &self,
        wanted: &[(&str, &str)],
        locks: &Locks,
        upgrade: bool,
    ) -> Result<Locks, Vec<InstallError>> {
        let requirements: BTreeMap<ProviderAddress, VersionConstraints> = wanted
            .iter()
            .map(|(ty, c)| (ProviderAddress::implied(ty), c.parse().unwrap()))
            .collect();
        let mode = match upgrade {
            true => InstallMode::Upgrade,
            false => InstallMode::Locked,
        };
        let request = InstallRequest { requirements: &requirements, locks, mode };
        self.installer.install(request, &mut |_: InstallEvent<'_>| {}).await
    }
    fn packages(&self, locks: Locks) -> ProviderPackages {
        ProviderPackages {
            directory: self.installer.directory.clone(),
            platform: self.installer.platform.clone(),
            locks,
            dev_overrides: self.installer.config.dev_overrides.clone(),
            running: BTreeMap::new(),
        }
    }
}

fn content(program: &Path) -> String {
    std::fs::read_to_string(program).unwrap()
}

#[tokio::test]
async fn the_newest_version_that_will_do_is_locked_and_found_again() {
    let scene = Scene::new();
    scene.unpacked("a", "1.0.0", "one");
    scene.unpacked("a", "1.5.0", "one and a half");
    scene.unpacked("a", "2.0.0", "two");
    scene.packed("b", "3.0.0", "packed");
    let locks = scene
        .install(&[("a", "~> 1.0"), ("b", ""), ("terraform", "")], &Locks::default(), false)
        .await;
    let locks = locks.unwrap();
    let a = ProviderAddress::implied("a");
    assert_eq!(locks.0.len(), 2, "what is built in is not locked");
    assert_eq!(locks.0[&a].version.to_string(), "1.5.0");
    assert_eq!(locks.0[&a].constraints.to_string(), "~> 1.0");
    let packages = scene.packages(locks.clone());
    assert_eq!(content(&packages.verified(&a).unwrap().program), "one and a half");
    let b = packages.verified(&ProviderAddress::implied("b")).unwrap();
    assert_eq!(content(&b.program), "packed");

    // A newer one changes nothing until asked for.
    scene.unpacked("a", "1.6.0", "newer");
    let again = scene.install(&[("a", "~> 1.0"), ("b", "")], &locks, false).await.unwrap();
    assert_eq!(again, locks);
    let upgraded = scene.install(&[("a", "~> 1.0"), ("b", "")], &locks, true).await.unwrap();
    assert_eq!(upgraded.0[&a].version.to_string(), "1.6.0");
}

#[tokio::test]
async fn a_fresh_checkout_gets_what_is_locked() {
    let scene = Scene::new();
    scene.unpacked("a", "1.0.0", "one");
    let locks = scene.install(&[("a", "")], &Locks::default(), false).await.unwrap();
    std::fs::remove_dir_all(&scene.installer.directory).unwrap();
    scene.unpacked("a", "2.0.0", "two");
    assert_eq!(scene.install(&[("a", "")], &locks, false).await.unwrap(), locks);
    let a = ProviderAddress::implied("a");
    assert_eq!(content(&scene.packages(locks).verified(&a).unwrap().program), "one");
}

#[tokio::test]
async fn a_changed_package_is_neither_installed_nor_run() {
    let scene = Scene::new();
    scene.unpacked("a", "1.0.0", "one");
    let locks = scene.install(&[("a", "")], &Locks::default(), false).await.unwrap();
    scene.unpacked("a", "1.0.0", "changed");
    let a = ProviderAddress::implied("a");
    assert!(matches!(
        scene.packages(locks.clone()).verified(&a),
        Err(PackageError::ChecksumMismatch { .. })
    ));
    let errors = scene.install(&[("a", "")], &locks, false).await.unwrap_err();
    assert!(matches!(&errors[..], [InstallError::ChecksumMismatch { .. }]), "{errors:?}");
    assert!(matches!(scene.packages(locks).verified(&a), Err(PackageError::NotInstalled)));
}

#[tokio::test]
async fn what_cannot_be_installed_is_said() {
    let scene = Scene::new();
    scene.unpacked("a", "1.0.0", "one");
    let errors = scene
        .install(&[("a", "> 1.0"), ("b", ""), ("terraform", "1.0")], &Locks::default(), false)
        .await;
    let errors: Vec<String> = errors.unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 3);
    assert!(errors.iter().any(|e| e.contains("there are 1.0.0")), "{errors:?}");
    assert!(errors.iter().any(|e| e.contains("not found in any of the search")), "{errors:?}");
    assert!(errors.iter().any(|e| e.contains("built-in")), "{errors:?}");
    let locks = scene.install(&[("a", "")], &Locks::default(), false).await.unwrap();
    let errors = scene.install(&[("a", "> 1.0")], &locks, false).await.unwrap_err();
    assert!(matches!(&errors[..], [InstallError::LockedOut { .. }]), "{errors:?}");
}

#[tokio::test]
async fn a_way_that_is_not_supported_is_named() {
    let mut scene = Scene::new();
    scene.installer.config.installation = None;
    let errors = scene.install(&[("a", "")], &Locks::default(), false).await.unwrap_err();
    let [InstallError::Source { reason, .. }] = &errors[..] else { panic!("{errors:?}") };
    assert!(matches!(**reason, SourceError::NoNetwork { .. }), "{reason}");
}

#[tokio::test]
async fn a_provider_under_development_needs_no_lock() {
    let mut scene = Scene::new();
    scene.unpacked("a", "0.0.1", "mine");
    let a = ProviderAddress::implied("a");
    let directory = scene.directory("a").join("0.0.1").join(scene.installer.platform.to_string());
    scene.installer.config.dev_overrides.insert(a.clone(), directory);
    let locks = scene.install(&[("a", "> 5.0")], &Locks::default(), false).await.unwrap();
    assert_eq!(locks, Locks::default());
    let package = scene.packages(locks).verified(&a).unwrap();
    assert_eq!(content(&package.program), "mine");
    assert_eq!(package.verified, None);
}

#[tokio::test]
async fn a_version_for_another_platform_alone_is_not_passed_over() {
    let scene = Scene::new();
    scene.unpacked("a", "1.0.0", "one");
    let elsewhere = scene.directory("a").join("2.0.0/plan9_mips");
    std::fs::create_dir_all(elsewhere).unwrap();
    let errors = scene.install(&[("a", "")], &Locks::default(), false).await.unwrap_err();
    assert!(matches!(&errors[..], [InstallError::UnsupportedPlatform { .. }]), "{errors:?}");
    let older = scene.install(&[("a", "< 2.0")], &Locks::default(), false).await;
    assert!(older.is_ok(), "{older:?}");
}

#[tokio::test]
async fn what_an_implied_mirror_has_is_not_looked_for_in_a_registry() {
    let mut scene = Scene::new();
    scene.unpacked("a", "1.0.0", "one");
    scene.installer.config.installation = None;
    scene.installer.implied_mirrors = vec![scene.root.path().join("mirror")];
    assert!(scene.install(&[("a", "")], &Locks::default(), false).await.is_ok());
    let errors = scene.install(&[("a", "> 1.0")], &Locks::default(), false).await.unwrap_err();
    assert!(matches!(&errors[..], [InstallError::NoVersion { .. }]), "{errors:?}");
}
