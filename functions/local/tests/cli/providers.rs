//! Providers, from a registry on this machine.

use crate::scene::{Ran, Scene};
use test_servers::{Page, ProviderRegistry, ProxyServer, Release, Site};

const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// A registry, and a configuration that requires a provider of it.
struct Estate {
    registry: ProviderRegistry,
    scene: Scene,
}

fn release(version: &'static str) -> Release<'static> {
    let platforms = &PLATFORMS;
    Release { namespace: "acme", ty: "x", version, protocols: &["5.0"], platforms }
}

impl Estate {
    fn new(version: &str) -> Estate {
        let registry = ProviderRegistry::start();
        for version in ["1.0.0", "1.2.0", "2.0.0"] {
            registry.publish(&release(version));
        }
        let host = registry.site.host();
        let configuration = format!(
            "terraform {{\n  required_providers {{\n    x = {{\n      source  = \"{host}/acme/x\"\n      version = \"{version}\"\n    }}\n  }}\n}}\n"
        );
        let scene = Scene::new(&[("main.tf", &configuration)]);
        scene.write("site.pem", registry.site.certificate().as_bytes());
        Estate { registry, scene }
    }

    fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let roots = self.scene.path().join("site.pem");
        let roots = [("SSL_CERT_FILE", roots.to_str().unwrap())];
        self.scene.run_with(arguments, &[&roots[..], environment].concat(), "")
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    #[track_caller]
    fn succeed(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    }

    fn locks(&self) -> String {
        String::from_utf8(self.scene.read(".terraform.lock.hcl")).unwrap()
    }

    fn remove(&self, name: &str) {
        let path = self.scene.path().join(name);
        let _ = std::fs::remove_dir_all(&path);
        let _ = std::fs::remove_file(&path);
    }
}

#[test]
fn a_provider_is_installed_from_its_registry_and_upgraded() {
    let estate = Estate::new("~> 1.0");
    let said = estate.succeed(&["init"]).stdout;
    let host = estate.registry.site.host();
    let key = estate.registry.key().id();
    for line in [
        format!("- Finding {host}/acme/x versions matching \"~> 1.0\"..."),
        format!("- Installing {host}/acme/x v1.2.0..."),
        format!("- Installed {host}/acme/x v1.2.0 (self-signed, key ID {key})"),
        "Partner and community providers are signed by their developers.".to_owned(),
        "has created a lock file".to_owned(),
    ] {
        assert!(said.contains(&line), "{line}\n{said}");
    }
    let locks = estate.locks();
    assert_eq!(locks.matches("\"zh:").count(), 2, "{locks}");
    assert_eq!(locks.matches("\"h1:").count(), 1, "{locks}");
    let again = estate.succeed(&["init"]).stdout;
    assert!(
        again.contains(&format!("- Using previously-installed {host}/acme/x v1.2.0")),
        "{again}"
    );

    estate.registry.publish(&release("1.3.0"));
    estate.succeed(&["init"]);
    assert_eq!(estate.locks(), locks);
    let refused = estate.run(&["init", "-upgrade", "-lockfile=readonly"]);
    refused.assert_refused("-upgrade flag conflicts");
    assert!(estate.succeed(&["init", "-upgrade"]).stdout.contains("made some changes"));
    assert!(estate.locks().contains("version     = \"1.3.0\""));
}

#[test]
fn errors_name_the_provider_and_what_to_do() {
    let estate = Estate::new("~> 7.0");
    estate
        .run(&["init"])
        .assert_refused("no available releases match the given constraints ~> 7.0");
    let estate = Estate::new("1.0.0");
    let versions = release("1.0.0").versions_path();
    let good = estate.registry.site.page(&versions);
    estate.registry.site.put(versions.clone(), Page::status(401));
    let environment = estate.registry.site.host().replace([':', '.'], "_");
    let refused = estate.run_with(&["init"], &[(&format!("TF_TOKEN_{environment}"), "x")]);
    refused.assert_refused("set a token in a credentials block");
    estate.registry.site.put(versions, good);
    estate.succeed(&["init"]);
    estate.remove(".terraform");
    let locks = estate.locks().replace("h1:", "h1:0").replace("zh:", "zh:0");
    estate.scene.write(".terraform.lock.hcl", locks.as_bytes());
    estate.run(&["init"]).assert_refused("plumb providers lock");
    estate.run(&["plan"]).assert_refused("plumb init");
}

#[test]
fn tokens_come_from_files_and_the_environment() {
    let estate = Estate::new("1.0.0");
    let host = estate.registry.site.host();
    let authorizations = || {
        let visits = estate.registry.site.take_visits();
        visits.into_iter().find_map(|visit| visit.authorization)
    };
    let credentials = format!("{{\"credentials\": {{\"{host}\": {{\"token\": \"from login\"}}}}}}");
    estate.scene.write(".terraform.d/credentials.tfrc.json", credentials.as_bytes());
    estate.succeed(&["init"]);
    assert_eq!(authorizations().as_deref(), Some("Bearer from login"));
    estate.remove(".terraform");
    let block = format!("credentials \"{host}\" {{\n  token = \"from a block\"\n}}\n");
    estate.scene.write("rc", block.as_bytes());
    let rc = estate.scene.path().join("rc");
    let named = [("TF_CLI_CONFIG_FILE", rc.to_str().unwrap())];
    assert_eq!(estate.run_with(&["init"], &named).code, 0);
    assert_eq!(authorizations().as_deref(), Some("Bearer from a block"));
}

#[test]
fn tokens_come_from_a_credentials_helper() {
    use std::os::unix::fs::PermissionsExt;
    let estate = Estate::new("1.0.0");
    estate
        .scene
        .write(".terraformrc", b"credentials_helper \"mine\" {\n  args = [\"helped\"]\n}\n");
    let said = estate.succeed(&["init"]).stdout;
    assert!(said.contains("- Installed"), "what is not installed is not asked: {said}");
    estate.registry.site.take_visits();
    estate.remove(".terraform");
    let program = ".terraform.d/plugins/terraform-credentials-mine";
    estate.scene.write(program, b"#!/bin/sh\necho \"{\\\"token\\\": \\\"$1 $2 $3\\\"}\"\n");
    let program = estate.scene.path().join(program);
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    estate.succeed(&["init"]);
    let token = format!("Bearer helped get {}", estate.registry.site.host());
    let visits = estate.registry.site.take_visits();
    assert!(visits.iter().any(|visit| visit.authorization.as_ref() == Some(&token)), "{visits:?}");
}

#[test]
fn a_proxy_of_the_environment_leads_to_registries() {
    let estate = Estate::new("1.0.0");
    let (site, proxy) = (&estate.registry.site, ProxyServer::start());
    proxy.lead_to(&format!("{}:443", Site::NAME), &site.host());
    let main = String::from_utf8(estate.scene.read("main.tf")).unwrap();
    estate.scene.write("main.tf", main.replace(&site.host(), Site::NAME).as_bytes());
    let ran = estate.run_with(&["init"], &[("HTTPS_PROXY", &proxy.url(""))]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(&format!("- Installed {}/acme/x v1.0.0", Site::NAME)));
    let asked = proxy.take_visits();
    assert!(asked.iter().all(|visit| visit.asked == format!("CONNECT {}:443", Site::NAME)));
}

#[test]
fn whoever_kills_an_installation_leaves_no_half_package() {
    let estate = Estate::new("1.0.0");
    let archive = release("1.0.0").archive_path("linux_amd64");
    let whole = estate.registry.site.page(&archive);
    estate.registry.site.put(archive.clone(), whole.clone().stall_after(whole.body.len() / 2));
    let roots = estate.scene.path().join("site.pem");
    let mut child = estate.scene.command(&["init"]).env("SSL_CERT_FILE", &roots).spawn().unwrap();
    let mut seen = Vec::new();
    while !seen.iter().any(|visit: &test_servers::Visit| visit.path == archive) {
        seen.extend(estate.registry.site.take_visits());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let host = estate.registry.site.host();
    let package = format!(".terraform/providers/{host}/acme/x/1.0.0/linux_amd64");
    assert!(!estate.scene.path().join(&package).exists());
    assert!(!estate.scene.path().join(".terraform.lock.hcl").exists());
    estate.registry.site.put(archive, whole);
    estate.succeed(&["init"]);
    assert!(estate.scene.path().join(package).is_dir());
}

#[test]
fn checksums_of_other_platforms_are_locked() {
    let estate = Estate::new("~> 1.0");
    let platforms = PLATFORMS.map(|platform| format!("-platform={platform}"));
    let arguments = ["providers", "lock", &platforms[0], &platforms[1]];
    let said = estate.succeed(&arguments).stdout;
    assert!(said.contains("1.2.0 for darwin_arm64..."), "{said}");
    assert!(said.contains("This was a new provider"), "{said}");
    assert!(said.contains("has updated the lock file"), "{said}");
    assert_eq!(estate.locks().matches("\"h1:").count(), 2);
    assert!(!estate.scene.path().join(".terraform").exists(), "nothing is installed");
    let said = estate.succeed(&arguments).stdout;
    assert!(said.contains("found no need for changes"), "{said}");
    estate.succeed(&["init"]);
    estate.run(&["providers", "lock", "-platform=x"]).assert_refused("not a valid target platform");
    estate.run(&["providers", "lock", "acme/y"]).assert_refused("not required by the current");
    let plan9 = estate.run(&["providers", "lock", "-platform=plan9_mips"]);
    plan9.assert_refused("does not have a package available for the platform plan9_mips");
}

#[test]
fn a_mirror_is_filled_and_installed_from() {
    let estate = Estate::new("~> 1.0");
    let said = estate.succeed(&["providers", "mirror", "-platform=linux_amd64", "mirror"]).stdout;
    assert!(said.contains("- Selected v1.2.0 to meet constraints ~> 1.0"), "{said}");
    assert!(said.contains("- Package authenticated: self-signed"), "{said}");
    let folder =
        estate.scene.path().join("mirror").join(estate.registry.site.host()).join("acme/x");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let archive = "terraform-provider-x_1.2.0_linux_amd64.zip";
    assert_eq!(names, ["1.2.0.json", "index.json", archive]);
    estate.registry.site.take_visits();
    let ran = estate.succeed(&["init", "-plugin-dir=mirror"]);
    assert!(ran.stdout.contains("(unauthenticated)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Incomplete lock file information"), "{}", ran.stdout);
    assert!(estate.registry.site.take_visits().is_empty());
    estate.run(&["providers", "mirror"]).assert_refused("requires an output directory");
}

#[test]
fn the_tree_of_required_providers() {
    let child = "terraform {\n  required_providers {\n    y = {\n      source = \"acme/y\"\n    }\n  }\n}\nresource \"terraform_data\" \"a\" {}\n";
    let main = "module \"b\" {\n  source = \"./child\"\n}\nmodule \"a\" {\n  source = \"./child\"\n}\nresource \"null_resource\" \"a\" {}\nterraform {\n  required_providers {\n    null = {\n      version = \">= 1\"\n    }\n  }\n}\n";
    let scene = Scene::new(&[("main.tf", main), ("child/main.tf", child)]);
    scene.succeed(&["get"]);
    let below = |before: &str| {
        format!(
            "{before}├── provider[registry.terraform.io/acme/y]\n{before}└── provider[terraform.io/builtin/terraform]\n"
        )
    };
    assert_eq!(
        scene.succeed(&["providers"]).stdout,
        format!(
            "\nProviders required by configuration:\n.\n├── provider[registry.terraform.io/hashicorp/null] >= 1.0.0\n├── module.a\n{}└── module.b\n{}\n",
            below("│\u{a0}\u{a0} "),
            below("    ")
        )
    );
    Scene::new(&[]).run(&["providers"]).assert_refused("contains no Terraform configuration");
}

#[test]
fn schemas_are_for_programs() {
    let scene = Scene::new(&[("main.tf", "resource \"terraform_data\" \"a\" {}\n")]);
    let schemas = scene.succeed(&["providers", "schema", "-json"]).json();
    assert_eq!(schemas["format_version"], "1.0");
    let builtin = &schemas["provider_schemas"]["terraform.io/builtin/terraform"];
    assert_eq!(builtin["provider"], serde_json::json!({ "version": 0 }));
    assert_eq!(
        builtin["resource_schemas"]["terraform_data"]["block"]["attributes"]["id"],
        serde_json::json!({ "type": "string", "description_kind": "plain", "computed": true })
    );
    scene.run(&["providers", "schema"]).assert_refused("needs the -json option");
    let empty = Scene::new(&[]).succeed(&["providers", "schema", "-json"]).json();
    assert_eq!(empty, serde_json::json!({ "format_version": "1.0" }));
}
