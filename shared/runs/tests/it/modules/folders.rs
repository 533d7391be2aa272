//! Modules in folders: beside the configuration, and at absolute paths.

use super::scene::Scene;
use std::os::unix::fs::symlink;

#[tokio::test]
async fn local_paths_are_noted_where_they_lead() {
    let scene = Scene::new(
        "module \"b\" {\n  source = \"./link\"\n}\nmodule \"a\" {\n  source = \"../shared\"\n}\n",
    );
    scene.write("shared/main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n");
    scene.write("shared/inner/main.tf", "");
    scene.write("root/real/main.tf", "");
    symlink("real", scene.path("root/link")).unwrap();
    let outcome = scene.install().await;
    outcome.assert_installed();
    assert_eq!(
        outcome.manifest,
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"../shared","Dir":"../shared"},{"Key":"a.inner","Source":"./inner","Dir":"../shared/inner"},{"Key":"b","Source":"./link","Dir":"real"}]}"#
    );
    assert_eq!(
        outcome.told,
        ["a in ../shared", "a.inner in ../shared/inner", "b in real"],
        "each before what it calls, by name"
    );
    assert_eq!(scene.again(&outcome, false).await.told, Vec::<String>::new());
}

#[tokio::test]
async fn a_module_that_calls_itself_is_refused() {
    for source in ["./", "./x/.."] {
        let scene = Scene::new(&format!("module \"a\" {{\n  source = \"{source}\"\n}}\n"));
        scene.write("root/x/y", "");
        scene.install().await.assert_refused("Module calls itself", "within itself");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_with_its_place() {
    let scene = Scene::new("\nmodule \"a\" {\n  source = \"./nope\"\n}\n");
    let outcome = scene.install().await;
    outcome.assert_refused(
        "Unreadable module directory",
        "The directory nope could not be read for module \"a\" at main.tf:2.",
    );
    assert_eq!(outcome.manifest, r#"{"Modules":[{"Key":"","Source":"","Dir":"."}]}"#);
}

#[tokio::test]
async fn absolute_paths_are_copied_as_packages() {
    let scene = Scene::new("");
    let shared = scene.path("shared").display().to_string();
    scene.write(
        "root/main.tf",
        &format!("module \"a\" {{\n  source = \"{shared}//sub\"\n}}\nmodule \"b\" {{\n  source = \"{shared}//s*b\"\n}}\n"),
    );
    scene.write("shared/sub/main.tf", "module \"x\" {\n  source = \"../other\"\n}\n");
    scene.write("shared/other/main.tf", "# other");
    scene.write("secret", "canary");
    symlink("../secret", scene.path("shared/out")).unwrap();
    symlink("other", scene.path("shared/in")).unwrap();
    let outcome = scene.install().await;
    outcome.assert_installed();
    let noted = format!(
        r#"{{"Key":"a","Source":"file://{shared}//sub","Dir":".terraform/modules/a/sub"}},{{"Key":"a.x","Source":"../other","Dir":".terraform/modules/a/other"}},{{"Key":"b","Source":"file://{shared}//s*b","Dir":".terraform/modules/b/sub"}}"#
    );
    assert!(outcome.manifest.contains(&noted), "{}", outcome.manifest);
    assert_eq!(scene.read("root/.terraform/modules/a/other/main.tf"), "# other");
    assert!(!scene.path("root/.terraform/modules/a/out").exists(), "links out are left out");
    assert!(scene.path("root/.terraform/modules/a/in/main.tf").exists(), "links inside stay");
    assert!(outcome.warnings.iter().any(|warning| warning.contains("The link out in the package")));
    let again = scene.again(&outcome, true).await;
    assert_eq!(
        (again.told, again.manifest),
        (outcome.told, outcome.manifest),
        "the same once more"
    );
}

#[tokio::test]
async fn relative_paths_stay_inside_their_package() {
    let scene = Scene::new("");
    let shared = scene.path("shared").display().to_string();
    scene.write("root/main.tf", &format!("module \"a\" {{\n  source = \"{shared}//sub\"\n}}\n"));
    scene.write("shared/sub/main.tf", "module \"x\" {\n  source = \"../../../other\"\n}\n");
    let outcome = scene.install().await;
    outcome
        .assert_refused("Local module path escapes module package", "module.a.module.x would be");
}

#[tokio::test]
async fn a_package_is_bounded() {
    let scene = Scene::new("");
    let shared = scene.path("shared").display().to_string();
    scene.write("root/main.tf", &format!("module \"a\" {{\n  source = \"{shared}\"\n}}\n"));
    for at in 0..101 {
        scene.write(&format!("shared/{at}.txt"), "");
    }
    scene.install().await.assert_refused("Failed to download module", "more than 100 entries");
    assert!(!scene.path("root/.terraform/modules/a").exists());
}
