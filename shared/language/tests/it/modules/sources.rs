//! Source addresses and their normal forms, as Terraform writes them into manifests.

use language::module::{ModuleManifest, ModuleSource, SourceError};

fn normal(text: &str) -> String {
    ModuleSource::parse(text).map_or_else(|error| format!("{error:?}"), |source| source.to_string())
}

#[test]
fn addresses_have_terraforms_normal_forms() {
    let cases = [
        ("./a/../b", "./b"),
        ("./", "./."),
        ("../", "./.."),
        ("..\\x", "../x"),
        ("../../x//y", "../../x/y"),
        ("a/b/c", "registry.terraform.io/a/b/c"),
        ("Example.COM:443/a/b/c//d/../e", "example.com/a/b/c//e"),
        ("127.0.0.1:1/a/b/c", "127.0.0.1:1/a/b/c"),
        ("github.com/foo/bar", "git::https://github.com/foo/bar.git"),
        ("github.com/foo/bar//sub/x?ref=v1", "git::https://github.com/foo/bar.git//sub/x?ref=v1"),
        (
            "github.com/foo/bar.git?ref=v1&depth=1",
            "git::https://github.com/foo/bar.git?ref=v1&depth=1",
        ),
        ("github.com/foo/bar/x/y//z?ref=1", "git::https://github.com/foo/bar.git//x/y/z?ref=1"),
        ("git::github.com/foo/bar", "git::https://github.com/foo/bar.git"),
        ("bitbucket.org/foo/bar?ref=1", "git::https://bitbucket.org/foo/bar.git?ref=1"),
        (
            "git@github.com:foo/bar.git//sub?ref=x",
            "git::ssh://git@github.com/foo/bar.git//sub?ref=x",
        ),
        ("git::git@github.com:foo/bar//y/*?ref=x", "git::ssh://git@github.com/foo/bar//y/*?ref=x"),
        (
            "git@github.com:foo/ba r!.git?z=1&ref=a b",
            "git::ssh://git@github.com/foo/ba%20r%21.git?ref=a+b&z=1",
        ),
        ("git::ssh://git@h:1/foo", "git::ssh://git@h:1/foo"),
        ("https://u:p@h/x//sub//y", "https://u:p@h/x//sub/y"),
        ("https://h/x?q=//x", "https://h/x?q=//x"),
        ("bucket.s3.amazonaws.com/k/x.zip", "s3::https://s3.amazonaws.com/bucket/k/x.zip"),
        (
            "bucket.s3.eu-west-1.amazonaws.com/k/x.zip//sub",
            "s3::https://s3.eu-west-1.amazonaws.com/bucket/k/x.zip//sub",
        ),
        ("s3-eu-west-1.amazonaws.com/b/x.zip", "s3::https://s3-eu-west-1.amazonaws.com/b/x.zip"),
        (
            "www.googleapis.com/storage/v1/foo/bar",
            "gcs::https://www.googleapis.com/storage/v1/foo/bar",
        ),
        ("/opt/x//y", "file:///opt/x//y"),
        ("localhost:1/a/b/c", "localhost:1/a/b/c"),
        ("C:/foo/bar", "C:/foo/bar"),
        ("GIT::https://h/x", "GIT::https://h/x"),
    ];
    for (given, expected) in cases {
        assert_eq!(normal(given), expected, "{given}");
    }
}

#[test]
fn what_means_nothing_is_refused() {
    for text in
        ["x", "..", "user@h:foo/bar", "ssh://git@h:foo/bar", "a/b/c?ref=1", "--upload-pack=x"]
    {
        let refused = ModuleSource::parse(text);
        assert!(matches!(refused, Err(SourceError::MaybeRelative { .. })), "{text}: {refused:?}");
    }
    let texts = [
        ("github.com/foo", "GitHub URLs should be github.com/username/repo"),
        (
            "git::https://h/x//a/../../b",
            "subdirectory path \"../b\" leads outside of the module package",
        ),
        ("git::https://h/x//..", "subdirectory path \"..\" leads outside of the module package"),
        ("foo.s3.amazonaws.com.cn/x/y", "no way of installing"),
    ];
    for (text, expected) in texts {
        let refused = ModuleSource::parse(text).unwrap_err().to_string();
        assert!(refused.contains(expected), "{text}: {refused}");
    }
}

#[test]
fn manifests_are_written_as_terraform_writes_them() {
    let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"git::file:///x?ref=main\u0026depth=1","Dir":".terraform/modules/a"},{"Key":"b","Source":"registry.terraform.io/a/b/c","Version":"1.0.0","Dir":".terraform/modules/b"}]}"#;
    let manifest = ModuleManifest::parse(text.as_bytes()).unwrap();
    assert_eq!(manifest.to_json(), text);
}
