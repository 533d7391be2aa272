//! `plumb fmt`: which files, what is printed, and exit codes.

use crate::scene::Scene;

const UGLY: &str = "a=1\n";
const PRETTY: &str = "a = 1\n";

fn scene() -> Scene {
    Scene::new(&[
        ("main.tf", UGLY),
        ("fine.tf", PRETTY),
        ("terraform.tfvars", UGLY),
        ("t.tftest.hcl", UGLY),
        (".hidden.tf", UGLY),
        ("other.hcl", UGLY),
        ("sub/inner.tf", UGLY),
    ])
}

#[test]
fn files_of_the_directory_are_rewritten_and_listed() {
    let scene = scene();
    assert_eq!(scene.succeed(&["fmt"]).stdout, "main.tf\nt.tftest.hcl\nterraform.tfvars\n");
    assert_eq!(scene.read("main.tf"), PRETTY.as_bytes());
    assert_eq!(scene.read("sub/inner.tf"), UGLY.as_bytes());
    assert_eq!(scene.read(".hidden.tf"), UGLY.as_bytes());
    assert_eq!(scene.succeed(&["fmt", "-recursive"]).stdout, "sub/inner.tf\n");
    assert_eq!(scene.succeed(&["fmt", "-recursive"]).stdout, "");
}

#[test]
fn check_changes_nothing_and_exits_with_3() {
    let scene = scene();
    let ran = scene.run(&["fmt", "-check", "main.tf", "fine.tf"]);
    assert_eq!((ran.code, &*ran.stdout), (3, "main.tf\n"));
    assert_eq!(scene.read("main.tf"), UGLY.as_bytes());
    assert_eq!(scene.run(&["fmt", "-check", "fine.tf"]).code, 0);
    let quiet = scene.run(&["fmt", "-check", "-list=false"]);
    assert_eq!((quiet.code, &*quiet.stdout), (3, ""));
}

#[test]
fn diff_shows_what_changes() {
    let scene = scene();
    let ran = scene.succeed(&["fmt", "-diff", "-write=false", "main.tf"]);
    assert_eq!(
        ran.stdout,
        "main.tf\n--- old/main.tf\n+++ new/main.tf\n@@ -1 +1 @@\n-a=1\n+a = 1\n"
    );
    assert_eq!(scene.read("main.tf"), UGLY.as_bytes());
}

#[test]
fn standard_input_is_laid_out_on_standard_output() {
    let scene = scene();
    assert_eq!(scene.run_with(&["fmt", "-"], &[], "a=1").stdout, PRETTY);
    assert_eq!(scene.run_with(&["fmt", "-check", "-"], &[], UGLY).code, 3);
}

#[test]
fn what_cannot_be_laid_out_is_named_and_exits_with_2() {
    let scene = scene();
    scene.write("bad.tf", b"a = {\n");
    let ran = scene.run(&["fmt"]);
    assert_eq!((ran.code, &*ran.stdout), (2, "main.tf\nt.tftest.hcl\nterraform.tfvars\n"));
    assert!(ran.stderr.contains("on bad.tf line 2"), "{}", ran.stderr);
    assert_eq!(scene.read("bad.tf"), b"a = {\n");
    let ran = scene.run(&["fmt", "missing.tf", "sub"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("No file or directory at missing.tf"), "{}", ran.stderr);
    assert_eq!(scene.run(&["fmt", "other.hcl"]).code, 2);
}

#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let scene = scene();
    let file = scene.path().join("main.tf");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("main.tf", scene.path().join("link.tf")).unwrap();
    scene.succeed(&["fmt", "link.tf"]);
    assert_eq!(scene.read("main.tf"), PRETTY.as_bytes());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(std::fs::symlink_metadata(scene.path().join("link.tf")).unwrap().is_symlink());
}
