//! Modules from elsewhere, from `init` to `apply`.

use crate::scene::Scene;
use runs::bundle::BundleFiles;
use test_servers::{Page, Site};

const MAIN: &str = "module \"net\" {\n  source  = \"registry.example.com/acme/net/aws\"\n  version = \"1.0.0\"\n}\noutput \"path\" {\n  value = module.net.path\n}\n";
const MODULE: &str =
    "resource \"terraform_data\" \"a\" {}\noutput \"path\" {\n  value = path.module\n}\n";

fn registry() -> Site {
    let site = Site::start_plain();
    let versions = r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.1.0"}]}]}"#;
    site.put("/v1/acme/net/aws/versions", Page::file(versions));
    for version in ["1.0.0", "1.1.0"] {
        let page = Page::status(204).with_header("x-terraform-get", "/net.tar.gz");
        site.put(format!("/v1/acme/net/aws/{version}/download"), page);
    }
    let files: BundleFiles = [("main.tf", MODULE)].into_iter().collect();
    site.put("/net.tar.gz", Page::file(files.to_archive().unwrap()));
    site
}

fn scene(server: &Site) -> Scene {
    let hosts = format!(
        "host \"registry.example.com\" {{\n  services = {{ \"modules.v1\" = \"{}\" }}\n}}\n",
        server.url("/v1/")
    );
    Scene::new(&[("main.tf", MAIN), (".terraformrc", &hosts)])
}

#[test]
fn a_module_of_a_registry_is_installed_planned_and_applied() {
    let server = registry();
    let scene = scene(&server);
    scene.run(&["plan"]).assert_refused("Module not installed");
    let said = scene.succeed(&["init"]).stdout;
    let lines = [
        "Initializing modules...",
        "Downloading registry.example.com/acme/net/aws 1.0.0 for net...",
        "- net in .terraform/modules/net",
    ];
    for line in lines {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(
        String::from_utf8(scene.read(".terraform/modules/modules.json")).unwrap(),
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"net","Source":"registry.example.com/acme/net/aws","Version":"1.0.0","Dir":".terraform/modules/net"}]}"#
    );
    scene.succeed(&["validate"]);
    scene.succeed(&["plan", "-out=p"]);
    // A saved plan carries its modules.
    std::fs::remove_dir_all(scene.path().join(".terraform/modules")).unwrap();
    scene.succeed(&["apply", "p"]);
    let path = scene.succeed(&["output", "-raw", "path"]).stdout;
    assert_eq!(path.trim(), ".terraform/modules/net");
}

#[test]
fn what_was_installed_has_to_be_what_is_called() {
    let server = registry();
    let scene = scene(&server);
    scene.succeed(&["init"]);
    scene.write("main.tf", MAIN.replace("\"1.0.0\"", "\"~> 1.1\"").as_bytes());
    let refused = scene.run(&["plan"]);
    refused.assert_refused("Module version requirements have changed");
    refused.assert_refused("(1.0.0) is no longer");
    scene.run(&["init", "-get=false"]).assert_refused("Module version requirements have changed");
    assert!(scene.succeed(&["get"]).stdout.contains("aws 1.1.0 for net..."));
    scene.succeed(&["validate"]);
    assert!(!scene.succeed(&["get"]).stdout.contains("Downloading"));
    assert!(scene.succeed(&["get", "-update"]).stdout.contains("Downloading"));
    assert!(scene.succeed(&["init", "-upgrade"]).stdout.contains("Upgrading modules..."));
    scene.write("main.tf", MAIN.replace("/net/aws", "/net/aws//sub").as_bytes());
    scene.run(&["validate"]).assert_refused("Module source has changed");
    scene.run(&["init"]).assert_refused("Unreadable module subdirectory");
}

#[test]
fn git_is_refused_by_name_where_it_is_not() {
    let scene = Scene::new(&[("main.tf", "module \"a\" {\n  source = \"github.com/a/b\"\n}\n")]);
    let refused = scene.run(&["init"]);
    refused.assert_refused("Failed to download module");
    refused.assert_refused("git must be available");
}

#[test]
fn each_without_for_each_in_a_call_is_found_by_planning() {
    let scene = Scene::new(&[
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n  x      = each.value\n}\n"),
        ("m/main.tf", "variable \"x\" {}\n"),
    ]);
    scene.succeed(&["get"]);
    scene.succeed(&["validate"]);
    let refused = scene.run(&["plan"]);
    let summary = "each.value cannot be used in this context";
    assert!(refused.code == 1 && refused.stderr.contains(summary), "{}", refused.stderr);
}
