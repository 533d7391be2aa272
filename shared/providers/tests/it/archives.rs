//! Archives that are no packages: nothing of them stays, and nothing of them leads out.

use crate::network::{LINUX, Scene, release};
use providers::install::{InstallError, Locks, PackageLimits, UnpackError};
use std::io::{Cursor, Write};
use test_servers::package;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn archive(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().unix_permissions(0o755);
    zip.start_file("terraform-provider-x_v1.0.0", options).unwrap();
    zip.write_all(b"a program").unwrap();
    fill(&mut zip);
    zip.finish().unwrap().into_inner()
}

async fn refusal(scene: &mut Scene, archive: Vec<u8>) -> InstallError {
    let x = release("x", "1.0.0");
    scene.registry.publish_packages(&x, &[(LINUX.to_owned(), archive)]);
    let error = scene.refusal(&[("x", "")]).await;
    assert_eq!(scene.files(), Vec::<std::path::PathBuf>::new(), "{error}");
    assert_eq!(error.summary(), "Failed to install provider");
    error
}

#[tokio::test]
async fn names_that_lead_out_are_refused() {
    for name in ["../evil", "a/../../evil", "/etc/evil", "..\\evil", "a\\..\\..\\evil"] {
        let mut scene = Scene::new();
        let error = refusal(
            &mut scene,
            archive(|zip| {
                zip.start_file(name, SimpleFileOptions::default()).unwrap();
                zip.write_all(b"evil").unwrap();
            }),
        )
        .await;
        let outside = matches!(error, InstallError::Unpack { reason: UnpackError::Outside(_), .. });
        assert!(outside, "{name}: {error}");
        assert!(!scene.root.path().join("evil").exists());
    }
}

#[tokio::test]
async fn links_are_refused() {
    let mut scene = Scene::new();
    let with_link = archive(|zip| {
        zip.add_symlink("link", "/etc", SimpleFileOptions::default()).unwrap();
        zip.start_file("link/evil", SimpleFileOptions::default()).unwrap();
    });
    let error = refusal(&mut scene, with_link).await;
    assert!(
        matches!(error, InstallError::Unpack { reason: UnpackError::Special(_), .. }),
        "{error}"
    );
}

#[tokio::test]
async fn bombs_are_bounded() {
    let mut scene = Scene::new();
    scene.installer.limits = PackageLimits { archive: 1 << 20, unpacked: 1 << 20, entries: 10 };
    let bomb = archive(|zip| {
        zip.start_file("zeroes", SimpleFileOptions::default()).unwrap();
        zip.write_all(&vec![0; 2 << 20]).unwrap();
    });
    let error = refusal(&mut scene, bomb).await;
    assert!(
        matches!(error, InstallError::Unpack { reason: UnpackError::TooLarge(_), .. }),
        "{error}"
    );
    let many = archive(|zip| {
        for i in 0..20 {
            zip.start_file(format!("file{i}"), SimpleFileOptions::default()).unwrap();
        }
    });
    let error = refusal(&mut scene, many).await;
    assert!(
        matches!(error, InstallError::Unpack { reason: UnpackError::TooLarge(_), .. }),
        "{error}"
    );
    let noise: Vec<u8> =
        (0..2 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let large = archive(|zip| {
        let stored =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        zip.start_file("noise", stored).unwrap();
        zip.write_all(&noise).unwrap();
    });
    let error = refusal(&mut scene, large).await;
    assert!(error.to_string().contains("more than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn what_is_no_package_is_said() {
    let mut scene = Scene::new();
    let error = refusal(&mut scene, b"not an archive".to_vec()).await;
    let unreadable =
        matches!(error, InstallError::Unpack { reason: UnpackError::Unreadable(_), .. });
    assert!(unreadable, "{error}");
    let error = refusal(&mut scene, package("other", "1.0.0", "a program")).await;
    assert!(error.to_string().contains("no program named terraform-provider-x"), "{error}");
}

#[tokio::test]
async fn permissions_come_from_the_archive_and_its_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let mut scene = Scene::new();
    let x = release("x", "1.0.0");
    let with_notes = archive(|zip| {
        zip.start_file("notes/README", SimpleFileOptions::default().unix_permissions(0)).unwrap();
        zip.write_all(b"read me").unwrap();
    });
    scene.registry.publish_packages(&x, &[(LINUX.to_owned(), with_notes)]);
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(scene.program(&locks, "x"), "a program");
    for file in scene.files() {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o600, 0o600, "{}", file.display());
        assert_eq!(mode & 0o111 != 0, file.ends_with("terraform-provider-x_v1.0.0"));
    }
}

#[tokio::test]
async fn what_dead_processes_have_left_goes_and_what_is_at_work_stays() {
    let mut scene = Scene::new();
    scene.registry.publish(&release("x", "1.0.0"));
    let folder = scene.installer.directory.join(format!("{}/acme/x", scene.registry.site.host()));
    let (dead, at_work) = (folder.join(".partial-dead"), folder.join(".partial-at-work"));
    for staging in [&dead, &at_work] {
        std::fs::create_dir_all(staging.join("package")).unwrap();
    }
    std::fs::write(dead.join("package/terraform-provider-x_v1.0.0"), "half").unwrap();
    let lock = std::fs::File::open(&at_work).unwrap();
    lock.lock().unwrap();
    let locks = scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    assert_eq!(scene.program(&locks, "x"), "x 1.0.0 linux_amd64");
    assert!(!dead.exists());
    assert!(at_work.join("package").is_dir());
    drop(lock);
    std::fs::remove_dir_all(folder.join("1.0.0")).unwrap();
    scene.install(&[("x", "")], &Locks::default()).await.unwrap();
    let left: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["1.0.0"]);
}
