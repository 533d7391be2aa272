//! `TF_LOG` and `TF_LOG_PATH`.

use crate::scene::Scene;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_log_is_its_owners_alone() {
    let scene = Scene::new(&[]);
    let environment = [("TF_LOG", "debug"), ("TF_LOG_PATH", "log")];
    assert_eq!(scene.run_with(&["version"], &environment, "").code, 0);
    let mode = std::fs::metadata(scene.path().join("log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
