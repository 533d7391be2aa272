//! Modules of registries.

use super::scene::{Scene, tar_gz, zip};
use providers::services::{Credentials, Token};
use test_servers::{Answer, WebServer};

const HOST: &str = "registry.example.com";

fn versions(versions: &[&str]) -> String {
    let versions: Vec<String> =
        versions.iter().map(|version| format!("{{\"version\":\"{version}\"}}")).collect();
    format!("{{\"modules\":[{{\"versions\":[{}]}}]}}", versions.join(","))
}

fn registry() -> WebServer {
    WebServer::start(|request| match &*request.target {
        "/v1/acme/net/aws/versions" => {
            Answer::found(versions(&["0.9.0", "1.0.0", "1.2.0", "1.10.0", "2.0.0-beta1", "x"]))
        }
        "/v1/acme/none/aws/versions" => Answer::found(versions(&[])),
        "/v1/acme/odd/aws/versions" => Answer::found("{}"),
        "/v1/acme/broken/aws/versions" => Answer { status: 500, ..Answer::not_found() },
        "/v1/acme/net/aws/1.2.0/download" => Answer { status: 204, ..Answer::not_found() }
            .with_header("x-terraform-get", "/packages/1.2.0.tar.gz//*"),
        "/v1/acme/net/aws/1.10.0/download" => {
            Answer::found("{\"location\":\"../../../../../packages/1.10.0.zip\"}")
        }
        "/v1/acme/net/aws/2.0.0-beta1/download" => Answer { status: 204, ..Answer::not_found() }
            .with_header("x-terraform-get", "file:///etc"),
        "/v1/acme/net/aws/1.0.0/download" => Answer { status: 204, ..Answer::not_found() },
        "/packages/1.2.0.tar.gz" => {
            Answer::found(tar_gz(&[("top/main.tf", "# 1.2.0"), ("top/modules/x/main.tf", "# x")]))
        }
        "/packages/1.10.0.zip" => {
            Answer::found(zip(&[("main.tf", "# 1.10.0"), ("modules/x/main.tf", "# x")]))
        }
        _ => Answer::not_found(),
    })
}

fn scene(server: &WebServer, source: &str, version: &str) -> Scene {
    let version = match version {
        "" => String::new(),
        version => format!("  version = \"{version}\"\n"),
    };
    let main = format!("module \"a\" {{\n  source = \"{HOST}/{source}\"\n{version}}}\n");
    let mut credentials = Credentials::default();
    credentials.insert(HOST.parse().unwrap(), Token::new("canary"));
    Scene::new(&main).with_registry(HOST, format!("{}/v1/", server.url()), credentials)
}

#[tokio::test]
async fn the_newest_version_that_will_do_is_installed() {
    let server = registry();
    let scene_of = |source, version| scene(&server, source, version);
    let cases = [
        ("acme/net/aws", "", "1.10.0", "a/main.tf", ""),
        ("acme/net/aws", "< 1.10", "1.2.0", "a/top/main.tf", "/top"),
        ("acme/net/aws", "~> 1.2.0", "1.2.0", "a/top/main.tf", "/top"),
        ("acme/net/aws//modules/x", "", "1.10.0", "a/main.tf", "/modules/x"),
        ("acme/net/aws//modules/x", "1.2.0", "1.2.0", "a/top/main.tf", "/top/modules/x"),
    ];
    for (source, wanted, version, file, inside) in cases {
        let scene = scene_of(source, wanted);
        let outcome = scene.install().await;
        outcome.assert_installed();
        let text = scene.read(&format!("root/.terraform/modules/{file}"));
        assert_eq!(text, format!("# {version}"), "{source} {wanted}");
        let noted = format!(
            r#"{{"Key":"a","Source":"{HOST}/{source}","Version":"{version}","Dir":".terraform/modules/a{inside}"}}"#
        );
        assert!(outcome.manifest.contains(&noted), "{}", outcome.manifest);
        let package = format!("{HOST}/acme/net/aws");
        assert_eq!(outcome.told[0], format!("a <- {package} {version}"));
        assert!(outcome.warnings[0].contains("invalid version string \"x\""));
    }
}

#[tokio::test]
async fn the_token_goes_to_the_registry_alone() {
    let server = registry();
    scene(&server, "acme/net/aws", "").install().await.assert_installed();
    for request in server.take_received() {
        let expected = request.target.starts_with("/v1/").then(|| "Bearer canary".to_owned());
        assert_eq!(request.authorization, expected, "{}", request.target);
    }
}

#[tokio::test]
async fn a_version_that_will_do_stays_until_it_is_upgraded() {
    let server = registry();
    let scene = scene(&server, "acme/net/aws", "1.2.0");
    let first = scene.install().await;
    let main = scene.read("root/main.tf");
    scene.write("root/main.tf", &main.replace("1.2.0", ">= 1.0"));
    server.take_received();
    let again = scene.again(&first, false).await;
    assert_eq!((again.told.len(), again.manifest.clone()), (0, first.manifest.clone()));
    assert!(server.take_received().is_empty(), "nothing is asked");
    assert!(scene.again(&first, true).await.manifest.contains("\"Version\":\"1.10.0\""));
    scene.write("root/main.tf", &main.replace("1.2.0", "> 1.2.0"));
    assert!(scene.again(&first, false).await.manifest.contains("\"Version\":\"1.10.0\""));
}

#[tokio::test]
async fn what_the_registry_does_not_give_is_said_as_terraform_says_it() {
    let server = registry();
    let cases = [
        (
            "acme/net/aws",
            "~> 3.0",
            "Unresolvable module version constraint: There is no available version of module \"registry.example.com/acme/net/aws\" (main.tf:1) which matches the given version constraint. The newest available version is 1.10.0.",
        ),
        (
            "acme/net/aws",
            ">= 2.0.0-beta1",
            "Unresolvable module version constraint: There is no available version of module \"registry.example.com/acme/net/aws\" (main.tf:1) which matches the given version constraint. The newest available version is 1.10.0.",
        ),
        (
            "acme/absent/aws",
            "",
            "Module not found: Module \"a\" (from main.tf:1) cannot be found in the module registry at registry.example.com.",
        ),
        (
            "acme/none/aws",
            "",
            "Module has no versions: Module \"registry.example.com/acme/none/aws\" (main.tf:1) has no versions available on registry.example.com.",
        ),
        (
            "acme/odd/aws",
            "",
            "Invalid response from remote module registry: The registry at registry.example.com returned an invalid response when Terraform requested available versions for module \"a\" (main.tf:1).",
        ),
        (
            "acme/broken/aws",
            "",
            "Error accessing remote module registry: Failed to retrieve available versions for module \"a\" (main.tf:1) from registry.example.com: error looking up module versions: 500 Internal Server Error.",
        ),
        (
            "acme/net/aws",
            "0.9.0",
            "Error accessing remote module registry: Failed to retrieve a download URL for registry.example.com/acme/net/aws 0.9.0 from registry.example.com: module \"registry.example.com/acme/net/aws\" version \"0.9.0\" not found",
        ),
    ];
    for (source, version, expected) in cases {
        let outcome = scene(&server, source, version).install().await;
        assert_eq!(outcome.errors, [expected], "{source} {version}");
        assert_eq!(outcome.may_pass, source == "acme/broken/aws", "{source} {version}");
    }
    let outcome = scene(&server, "acme/net/aws", "2.0.0-beta1").install().await;
    outcome.assert_refused("Error accessing remote module registry", "leads to the machine");
    let outcome = scene(&server, "acme/net/aws", "1.0.0").install().await;
    outcome
        .assert_refused("Error accessing remote module registry", "no source address in response");
}
