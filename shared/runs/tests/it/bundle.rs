//! Bundles: what of an archive is believed.

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use runs::bundle::{ArchiveLayout, Bounds, BundleError, BundleFiles, BundleFolder};
use std::io::Write;
use tar::{EntryType, Header};

/// One entry, with its path as it stands: the tar crate would refuse to write some of these.
fn entry(kind: EntryType, path: &str, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    let name = &mut header.as_ustar_mut().unwrap().name;
    name[..path.len()].copy_from_slice(path.as_bytes());
    let linkname = &mut header.as_ustar_mut().unwrap().linkname;
    linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(path: &str, content: &str) -> Vec<u8> {
    entry(EntryType::Regular, path, "", content.as_bytes())
}

fn symlink(path: &str, target: &str) -> Vec<u8> {
    entry(EntryType::Symlink, path, target, b"")
}

fn packed(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&entries.concat()).unwrap();
    gzip.write_all(&[0; 1024]).unwrap();
    gzip.finish().unwrap()
}

fn unpacked(entries: &[Vec<u8>]) -> Result<BundleFiles, BundleError> {
    BundleFiles::from_archive(&*packed(entries), ArchiveLayout::Plain, Bounds::default())
}

fn text<'a>(files: &'a BundleFiles, path: &str) -> Option<&'a str> {
    files.get(path).map(|file| std::str::from_utf8(&file.content).unwrap())
}

#[test]
fn a_hosts_archive_loses_its_outer_folder_and_what_is_no_configuration() {
    let archive = packed(&[
        entry(EntryType::Directory, "acme-infra-1a2b/", "", b""),
        file("acme-infra-1a2b/plumb.toml", "[estates.a]\n"),
        file("acme-infra-1a2b/network/main.tf", "# network\n"),
        file("acme-infra-1a2b/.git/config", "secret"),
        file("acme-infra-1a2b/network/.terraform/modules/modules.json", "{}"),
    ]);
    let layout = ArchiveLayout::OneFolder;
    let files = BundleFiles::from_archive(&*archive, layout, Bounds::default()).unwrap();
    let paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["network/main.tf", "plumb.toml"]);
}

#[test]
fn paths_that_leave_the_archive_are_refused() {
    for path in ["../evil.tf", "a/../../evil.tf", "/etc/passwd", "a\\..\\evil.tf"] {
        let refused = unpacked(&[file(path, "x")]);
        assert!(matches!(refused, Err(BundleError::Path { .. })), "{path}: {refused:?}");
    }
    let twice = unpacked(&[file("a.tf", "x"), file("a.tf", "y")]);
    assert!(matches!(twice, Err(BundleError::Path { .. })), "{twice:?}");
    let both = unpacked(&[file("a", "x"), file("a/b.tf", "y")]);
    assert!(matches!(both, Err(BundleError::Path { .. })), "{both:?}");
    let device = unpacked(&[entry(EntryType::Char, "null", "", b"")]);
    assert!(matches!(device, Err(BundleError::Path { .. })), "{device:?}");
}

#[test]
fn links_become_the_files_that_they_lead_to_and_never_any_others() {
    let files = unpacked(&[
        file("shared/versions.tf", "versions"),
        file("shared/deep/x.tf", "x"),
        symlink("network/versions.tf", "../shared/versions.tf"),
        symlink("network/again.tf", "versions.tf"),
        symlink("modules", "shared"),
        entry(EntryType::Link, "hard.tf", "shared/versions.tf", b""),
        symlink("passwd", "/etc/passwd"),
        symlink("outside", "../../outside"),
        symlink("round", "round"),
        symlink("nothing", "missing.tf"),
        symlink("shared/itself", "../shared"),
    ])
    .unwrap();
    assert_eq!(text(&files, "network/versions.tf"), Some("versions"));
    assert_eq!(text(&files, "network/again.tf"), Some("versions"));
    assert_eq!(text(&files, "hard.tf"), Some("versions"));
    assert_eq!(text(&files, "modules/deep/x.tf"), Some("x"));
    assert_eq!(files.left_out(), ["nothing", "outside", "passwd", "round", "shared/itself"]);
    assert_eq!(text(&files, "passwd"), None);
}

#[test]
fn a_small_archive_cannot_unpack_to_a_large_one() {
    let bomb = packed(&[file("zeros", &"0".repeat(1 << 20))]);
    assert!(bomb.len() < 50_000);
    let bounds = Bounds { bytes: 100_000, ..Bounds::default() };
    let refused = BundleFiles::from_archive(&*bomb, ArchiveLayout::Plain, bounds);
    assert!(matches!(refused, Err(BundleError::TooLarge { unit: "bytes", .. })), "{refused:?}");

    let many: Vec<_> = (0..20).map(|n| file(&format!("{n}.tf"), "x")).collect();
    let bounds = Bounds { entries: 10, ..Bounds::default() };
    let refused = BundleFiles::from_archive(&*packed(&many), ArchiveLayout::Plain, bounds);
    assert!(matches!(refused, Err(BundleError::TooLarge { unit: "entries", .. })), "{refused:?}");

    // Links multiply what is there.
    let mut linked = vec![file("a/big.tf", &"0".repeat(10_000))];
    linked.extend((0..20).map(|n| symlink(&format!("l{n}"), "a")));
    let bounds = Bounds { bytes: 100_000, ..Bounds::default() };
    let refused = BundleFiles::from_archive(&*packed(&linked), ArchiveLayout::Plain, bounds);
    assert!(matches!(refused, Err(BundleError::TooLarge { unit: "bytes", .. })), "{refused:?}");
}

#[test]
fn what_is_no_archive_is_refused() {
    let refused = BundleFiles::from_archive(&b"hello"[..], ArchiveLayout::Plain, Bounds::default());
    assert!(matches!(refused, Err(BundleError::Damaged(_))), "{refused:?}");
    let whole = packed(&[file("a.tf", &"x".repeat(5_000))]);
    let cut = &whole[..whole.len() / 2];
    let refused = BundleFiles::from_archive(cut, ArchiveLayout::Plain, Bounds::default());
    assert!(matches!(refused, Err(BundleError::Damaged(_))), "{refused:?}");
}

#[test]
fn unpacked_bundles_stay_while_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let bundles = BundleFolder::new(folder.path().join("bundles"), 2);
    let files: BundleFiles = [("network/main.tf", "x")].into_iter().collect();
    let first = bundles.unpack("aa", &files).unwrap();
    assert_eq!(std::fs::read_to_string(first.join("network/main.tf")).unwrap(), "x");
    // What was cut off while it was unpacked is not found, and makes way.
    std::fs::create_dir_all(folder.path().join("bundles/bb.partial/junk")).unwrap();
    assert_eq!(bundles.find("bb"), None);
    bundles.unpack("bb", &files).unwrap();
    bundles.unpack("cc", &files).unwrap();
    assert!(bundles.find("cc").is_some());
    let left = std::fs::read_dir(folder.path().join("bundles")).unwrap().count();
    assert_eq!(left, 2);
}

proptest! {
    #[test]
    fn packing_and_unpacking_give_the_same_files(
        files in prop::collection::btree_map("[a-z]{1,8}(/[a-z]{1,8}){0,3}\\.tf", prop::collection::vec(any::<u8>(), 0..200), 0..12)
    ) {
        let files: BundleFiles = files.into_iter().collect();
        let archive = files.to_archive().unwrap();
        prop_assert_eq!(&archive, &files.to_archive().unwrap());
        let again = BundleFiles::from_archive(&*archive, ArchiveLayout::Plain, Bounds::default()).unwrap();
        prop_assert_eq!(again, files);
    }

    #[test]
    fn no_archive_panics(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let _ = BundleFiles::from_archive(&*bytes, ArchiveLayout::Plain, Bounds::default());
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&bytes).unwrap();
        let packed = gzip.finish().unwrap();
        let _ = BundleFiles::from_archive(&*packed, ArchiveLayout::OneFolder, Bounds::default());
    }
}
