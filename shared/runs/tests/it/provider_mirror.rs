//! Provider packages of functions, from a mirror in memory.

use providers::install::{Locks, PackageHash, Platform, ProviderLock};
use records::{ArtifactStore, Key, MemoryArtifacts, PutMode};
use runs::provider_mirror::{self, MirrorError, PackageFolder, package_key};
use std::io::{Cursor, Write};
use tempfile::TempDir;
use values::address::ProviderAddress;
use zip::write::SimpleFileOptions;

/// Bytes of each program, which do not shrink.
const PROGRAM: usize = 100_000;

struct Scene {
    mirror: MemoryArtifacts,
    directory: TempDir,
    locks: Locks,
}

impl Scene {
    fn new() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        Scene { mirror: MemoryArtifacts::new(), directory, locks: Locks::default() }
    }

    /// Has the mirror offer a provider, and locks it.
    async fn lock(&mut self, ty: &str) {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .unix_permissions(0o755);
        archive.start_file(format!("terraform-provider-{ty}"), options).unwrap();
        archive.write_all(&vec![ty.as_bytes()[0]; PROGRAM]).unwrap();
        let archive = archive.finish().unwrap().into_inner();
        let file = self.directory.path().join(ty);
        std::fs::write(&file, &archive).unwrap();
        let hashes = [PackageHash::of_archive(&file).unwrap()].into();
        let provider = ProviderAddress::implied(ty);
        let key = package_key(&provider, "1.0.0", &Platform::current());
        let key = Key::new(key.as_str()).unwrap();
        self.mirror.put(&key, archive.into(), PutMode::Create).await.unwrap();
        let version = "1.0.0".parse().unwrap();
        let lock = ProviderLock { version, constraints: "".parse().unwrap(), hashes };
        self.locks.0.insert(provider, lock);
    }

    async fn install(&self, room: u64) -> Result<Vec<bool>, MirrorError> {
        let folder = PackageFolder { root: self.directory.path().join("folder"), room };
        let packages = provider_mirror::install(&self.mirror, &self.locks, &folder).await?;
        let verified = |provider| packages.verified(provider).is_ok();
        Ok(self.locks.0.keys().map(verified).collect())
    }
}

#[tokio::test]
async fn what_was_there_is_there_again_once_room_was_made() {
    let mut scene = Scene::new();
    // Six times an archive is what is reckoned with for each.
    let room = PROGRAM as u64 * 25 / 2;
    for other in ["c", "d", "e", "f", "g", "h", "a"] {
        scene.locks = Locks::default();
        scene.lock(other).await;
        assert_eq!(scene.install(room).await.unwrap(), [true]);
    }
    scene.lock("b").await;
    assert_eq!(scene.install(room).await.unwrap(), [true, true]);
}

#[tokio::test]
async fn all_that_is_locked_has_to_fit_together() {
    let mut scene = Scene::new();
    scene.lock("a").await;
    let room = PROGRAM as u64 * 7;
    assert_eq!(scene.install(room).await.unwrap(), [true]);
    scene.lock("b").await;
    // The second one fits, were the first not needed too.
    let refused = scene.install(room).await;
    assert!(matches!(refused, Err(MirrorError::NoRoom { .. })), "{refused:?}");
}
