//! The cache that working directories share.

use crate::network::{LINUX, Scene, release};
use providers::install::{InstallError, Locks};
use std::path::PathBuf;
use test_servers::package;

impl Scene {
    fn cached() -> Scene {
        let mut scene = Scene::new();
        let cache = scene.root.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        scene.installer.config.plugin_cache_dir = Some(cache);
        scene
    }
    fn another_directory(&mut self) {
        let name = format!("another-{}", self.installer.directory.display().to_string().len());
        self.installer.directory = self.root.path().join(name);
    }
    fn cached_package(&self, version: &str) -> PathBuf {
        let cache = self.installer.config.plugin_cache_dir.as_ref().unwrap();
        cache.join(format!("{}/acme/x/{version}/{LINUX}", self.registry.site.host()))
    }
}

#[tokio::test]
async fn a_locked_package_is_fetched_once_for_all() {
    let mut scene = Scene::cached();
    scene.registry.publish(&release("x", "1.0.0"));
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(scene.events, ["self-signed"]);
    assert_eq!(locks.0[&scene.provider("x")].hashes.len(), 3, "as without a cache");
    let program = scene.packages(&locks).verified(&scene.provider("x")).unwrap().program;
    let directory = program.parent().unwrap();
    assert_eq!(
        directory.read_link().unwrap(),
        scene.cached_package("1.0.0").canonicalize().unwrap()
    );

    scene.another_directory();
    scene.registry.site.take_visits();
    assert_eq!(scene.install(&[("x", "")], &locks).await.unwrap(), locks);
    assert_eq!(scene.events, ["from cache"]);
    assert!(scene.registry.site.take_visits().is_empty(), "nobody was asked");
    assert_eq!(scene.program(&locks, "x"), "x 1.0.0 linux_amd64");
}

#[tokio::test]
async fn what_no_lock_file_knows_is_fetched_unless_that_may_break_it() {
    let mut scene = Scene::cached();
    scene.registry.publish(&release("x", "1.0.0"));
    let full = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    scene.another_directory();
    assert_eq!(scene.install(&[("x", "")], &Locks::default()).await.unwrap(), full);
    assert_eq!(scene.events, ["self-signed"]);
    scene.another_directory();
    scene.installer.config.plugin_cache_may_break_dependency_lock_file = true;
    let partial = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(scene.events, ["from cache", "incomplete"]);
    assert_eq!(partial.0[&scene.provider("x")].hashes.len(), 1);
}

#[tokio::test]
async fn a_spoilt_cache_is_mended() {
    let mut scene = Scene::cached();
    scene.registry.publish(&release("x", "1.0.0"));
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let program = scene.cached_package("1.0.0").join("terraform-provider-x_v1.0.0");
    std::fs::write(&program, "spoilt").unwrap();
    scene.another_directory();
    assert_eq!(scene.install(&[("x", "")], &locks).await.unwrap(), locks);
    assert_eq!(scene.events, ["self-signed"]);
    assert_eq!(scene.program(&locks, "x"), "x 1.0.0 linux_amd64");
}

#[tokio::test]
async fn a_package_that_is_not_the_locked_one_takes_nothing_from_others() {
    let mut scene = Scene::cached();
    let x = release("x", "1.0.0");
    scene.registry.publish(&x);
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let theirs = package("x", "1.0.0", "replaced");
    scene.registry.publish_packages(&x, &[(LINUX.to_owned(), theirs)]);
    // Somebody who has locked the replaced package.
    scene.another_directory();
    scene.installer.config.plugin_cache_dir = None;
    let replaced = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    scene.installer.config.plugin_cache_dir = Some(scene.root.path().join("cache"));
    scene.registry.publish(&x);
    scene.another_directory();
    let error = scene.install(&[("x", "")], &replaced).await.unwrap_err().remove(0);
    assert!(matches!(error, InstallError::ChecksumMismatch { .. }), "{error}");
    scene.another_directory();
    assert_eq!(scene.install(&[("x", "")], &locks).await.unwrap(), locks);
    assert_eq!(scene.events, ["from cache"]);
}

#[tokio::test]
async fn many_at_once_share_one_cache() {
    let scene = Scene::cached();
    scene.registry.publish(&release("x", "1.0.0"));
    let provider = scene.provider("x");
    let requirements = [(provider.clone(), "".parse().unwrap())].into();
    let (requirements, nothing) = (&requirements, &Locks::default());
    let all = (0..8).map(|number| {
        let mut installer = scene.installer.clone();
        installer.directory = scene.root.path().join(format!("directory{number}"));
        async move {
            let mode = providers::install::InstallMode::Locked;
            let request = providers::install::InstallRequest { requirements, locks: nothing, mode };
            let told = &mut |_: providers::install::InstallEvent<'_>| {};
            installer.install(request, told).await.unwrap();
            installer.directory
        }
    });
    let mut directories = Vec::new();
    for one in all {
        directories.push(one);
    }
    let directories = join(directories).await;
    for directory in directories {
        let program = directory
            .join(format!("{}/acme/x/1.0.0/{LINUX}", scene.registry.site.host()))
            .join("terraform-provider-x_v1.0.0");
        assert_eq!(std::fs::read_to_string(program).unwrap(), "x 1.0.0 linux_amd64");
    }
}

/// All at once, on one thread.
async fn join<T>(futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = futures.into_iter().map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        for (future, result) in &mut waiting {
            if result.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *result = Some(value);
            }
        }
        match waiting.iter().all(|(_, result)| result.is_some()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    waiting.into_iter().filter_map(|(_, result)| result).collect()
}

#[tokio::test]
async fn a_cache_that_is_not_there_is_named() {
    let mut scene = Scene::new();
    scene.registry.publish(&release("x", "1.0.0"));
    scene.installer.config.plugin_cache_dir = Some("/nonexistent/cache".into());
    let error = scene.refusal(&[("x", "")]).await;
    assert!(matches!(error, InstallError::NoCache { .. }), "{error}");
    assert!(error.to_string().ends_with("mkdir -p /nonexistent/cache"), "{error}");
}
