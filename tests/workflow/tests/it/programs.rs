use std::path::{Path, PathBuf};

/// `plumb`.
pub(crate) fn plumb() -> PathBuf {
    program("plumb", "cargo build -p local")
}

/// The test provider.
pub(crate) fn provider() -> PathBuf {
    program("terraform-provider-test", "cargo build -p test-provider")
}

/// A program beside this test; `cargo test --workspace` builds all of them before it runs any test.
fn program(name: &str, command: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join(name);
    assert!(path.is_file(), "{} is not there; build it with: {command}", path.display());
    path
}
