use providers::install::PackageHash;
use std::io::Write;
use zip::write::SimpleFileOptions;

#[test]
fn of_files_is_the_same_packed_and_unpacked() {
    let root = tempfile::tempdir().unwrap();
    let package = root.path().join("package");
    std::fs::create_dir_all(package.join("docs")).unwrap();
    let archive = root.path().join("package.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&archive).unwrap());
    for (name, content) in [("terraform-provider-x", "binary"), ("docs/a.md", ""), ("LICENSE", "l")]
    {
        std::fs::write(package.join(name), content).unwrap();
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    // Computed by hand: sha256 of "SHA256  NAME\n" for each file in order of names.
    let expected = "h1:5dgA50KHal1Gv1XaE251MqtvMgXMnzalIInz32cK4W0=";
    let hash = PackageHash::of_directory(&package).unwrap();
    assert_eq!(hash.as_str(), expected);
    assert_eq!(PackageHash::of_archive(&archive).unwrap(), hash);
    let link = root.path().join("link");
    std::os::unix::fs::symlink(&package, &link).unwrap();
    assert_eq!(PackageHash::of_directory(&link).unwrap(), hash);
    let bytes = PackageHash::of_archive_bytes(&archive).unwrap();
    assert!(bytes.as_str().starts_with("zh:") && !bytes.is_of_files());
    std::fs::write(package.join("LICENSE"), "m").unwrap();
    assert_ne!(PackageHash::of_directory(&package).unwrap(), hash);
}
