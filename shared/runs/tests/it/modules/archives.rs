//! Modules in archives over HTTP, and pages that name them.

use super::scene::{Scene, tar_gz, zip};
use sha2::{Digest, Sha256};
use test_servers::{Answer, WebServer};

const MODULE: &[(&str, &str)] = &[
    ("main.tf", "module \"inner\" {\n  source = \"./sub\"\n}\n"),
    ("sub/main.tf", "# inner"),
    (".terraform/evil", "left out"),
];

fn server() -> WebServer {
    WebServer::start(|request| {
        let path = request.target.split('?').next().unwrap_or_default();
        match path {
            "/m.zip" | "/zip" => Answer::found(zip(MODULE)),
            "/m.tgz" | "/m.tar.gz" => Answer::found(tar_gz(MODULE)),
            "/up.zip" => Answer::found(zip(&[("../up", "x")])),
            "/link.zip" => {
                Answer::found(zip(&[("main.tf", ""), ("out@", "/etc/passwd"), ("in@", "main.tf")]))
            }
            "/large.zip" => Answer::found(zip(&[("zeros", &"0".repeat(2 << 20))])),
            "/header" => Answer::found("").with_header("x-terraform-get", "/m.zip"),
            "/page" => Answer::found(
                "<html><head><meta charset=utf-8><meta name=\"terraform-get\" content='./m.zip//sub?archive=zip&amp;x=1'></head></html>",
            ),
            "/nothing" => Answer::found(
                "<html><body><meta name=\"terraform-get\" content=\"/m.zip\"></body></html>",
            ),
            "/round" => Answer::found("").with_header("x-terraform-get", "/round"),
            "/here" => Answer::found("").with_header("x-terraform-get", "file:///etc"),
            "/git" => Answer::found("").with_header("x-terraform-get", "git::file:///etc"),
            "/relative" => {
                Answer::found("").with_header("x-terraform-get", "example.com/m?token=canary-3")
            }
            _ => Answer::not_found(),
        }
    })
}

fn call(source: &str) -> Scene {
    Scene::new(&format!("module \"a\" {{\n  source = \"{source}\"\n}}\n"))
}

#[tokio::test]
async fn archives_are_unpacked() {
    let server = server();
    for path in ["m.zip", "m.tgz", "m.tar.gz", "zip?archive=zip", "zip//sub/..?archive=zip"] {
        let scene = call(&format!("{}/{path}", server.url()));
        scene.install().await.assert_installed();
        assert_eq!(scene.read("root/.terraform/modules/a/sub/main.tf"), "# inner", "{path}");
        assert!(!scene.path("root/.terraform/modules/a/.terraform").exists(), "{path}");
        assert!(!scene.path("root/.terraform/modules/.partial").exists(), "{path}");
    }
    let asked = server.take_received();
    assert!(asked.iter().all(|request| !request.target.contains("archive=")), "{asked:?}");
}

#[tokio::test]
async fn the_same_package_is_fetched_once() {
    let server = server();
    let url = server.url();
    let scene = Scene::new(&format!(
        "module \"a\" {{\n  source = \"{url}/m.zip\"\n}}\nmodule \"b\" {{\n  source = \"{url}/m.zip//sub\"\n}}\n"
    ));
    let outcome = scene.install().await;
    outcome.assert_installed();
    assert_eq!(
        outcome.told,
        [
            format!("a <- {url}/m.zip"),
            "a in .terraform/modules/a".to_owned(),
            "a.inner in .terraform/modules/a/sub".to_owned(),
            format!("b <- {url}/m.zip"),
            "b in .terraform/modules/b/sub".to_owned(),
        ]
    );
    assert_eq!(server.take_received().len(), 1);
    scene.again(&outcome, true).await.assert_installed();
    assert_eq!(server.take_received().len(), 1, "an upgrade fetches again");
}

#[tokio::test]
async fn servers_may_name_another_address() {
    let server = server();
    for (path, file) in
        [("header", "sub/main.tf"), ("page", "main.tf"), ("header//sub", "sub/main.tf")]
    {
        let scene = call(&format!("{}/{path}", server.url()));
        scene.install().await.assert_installed();
        assert_eq!(scene.read(&format!("root/.terraform/modules/a/{file}")), "# inner", "{path}");
    }
    let asked = server.take_received();
    assert!(asked.iter().any(|request| request.target == "/header?terraform-get=1"), "{asked:?}");
    let cases = [
        ("nothing", "no source URL was returned"),
        ("absent", "bad response code: 404"),
        ("round", "too many X-Terraform-Get redirects"),
        ("here", "leads to the machine that installs modules"),
        ("git", "leads to the machine that installs modules"),
    ];
    for (path, problem) in cases {
        let outcome = call(&format!("{}/{path}", server.url())).install().await;
        outcome.assert_refused("Failed to download module", problem);
        let place = "Could not download module \"a\" (main.tf:1) source code from";
        outcome.assert_refused("Failed to download module", place);
    }
}

#[tokio::test]
async fn checksums_are_verified() {
    let server = server();
    let right = hex::encode(Sha256::digest(zip(MODULE)));
    for checksum in [right.clone(), format!("sha256:{right}")] {
        let scene = call(&format!("{}/m.zip?checksum={checksum}", server.url()));
        scene.install().await.assert_installed();
    }
    let wrong = hex::encode(Sha256::digest(b"other"));
    let cases = [
        (format!("m.zip?checksum={wrong}"), "Checksums did not match"),
        (format!("m.zip?checksum=md5:{}", "0".repeat(32)), "Checksums did not match"),
        ("m.zip?checksum=zz".to_owned(), "invalid checksum"),
        (format!("m.zip?checksum=crc:{wrong}"), "unsupported checksum type: crc"),
        (format!("m.zip?checksum=file:{}/sums", server.url()), "files of checksums are not read"),
        (format!("header?checksum={right}"), "cannot be specified for directory download"),
    ];
    for (path, problem) in cases {
        let scene = call(&format!("{}/{path}", server.url()));
        scene.install().await.assert_refused("Failed to download module", problem);
        assert!(!scene.path("root/.terraform/modules/a").exists(), "{path}");
    }
}

#[tokio::test]
async fn archives_are_not_believed() {
    let server = server();
    for (path, problem) in [("up.zip", "goes upwards"), ("large.zip", "more than 1048576 bytes")] {
        let outcome = call(&format!("{}/{path}", server.url())).install().await;
        outcome.assert_refused("Failed to download module", problem);
    }
    let scene = call(&format!("{}/link.zip", server.url()));
    let outcome = scene.install().await;
    outcome.assert_installed();
    assert!(outcome.warnings[0].contains("The link out in the package"), "{:?}", outcome.warnings);
    assert!(!scene.path("root/.terraform/modules/a/out").exists());
    assert!(scene.path("root/.terraform/modules/a/in").is_file());
}

#[tokio::test]
async fn what_nothing_unpacks_is_refused_by_name() {
    let cases = [
        ("https://127.0.0.1:1/m.tar.xz", "archives of the format tar.xz are not unpacked"),
        ("https://127.0.0.1:1/m.tbz2", "archives of the format tar.bz2 are not unpacked"),
        ("https://127.0.0.1:1/m?archive=tar.bz2", "archives of the format tar.bz2"),
        ("https://127.0.0.1:1/m.gz", "gzip-compressed files can only unarchive to a single file"),
        ("gcs::https://www.googleapis.com/storage/v1/b/o", "Google Cloud Storage"),
        ("hg::http://127.0.0.1:1/x", "Mercurial"),
        ("ftp://127.0.0.1/x", "download not supported for scheme 'ftp'"),
        ("foo::https://127.0.0.1/x", "download not supported for scheme 'foo'"),
        ("localhost:1/a/b/c", "download not supported for scheme 'localhost'"),
    ];
    for (source, problem) in cases {
        call(source).install().await.assert_refused("Failed to download module", problem);
    }
}

#[tokio::test]
async fn what_a_host_may_answer_in_a_moment_is_told_from_what_stays_wrong() {
    let server = WebServer::start(|request| match &*request.target {
        "/busy.zip" => Answer { status: 503, ..Answer::not_found() },
        "/many.zip" => Answer { status: 429, ..Answer::not_found() },
        _ => Answer::not_found(),
    });
    let url = server.url();
    let cases = [
        (vec![format!("{url}/busy.zip")], true),
        (vec![format!("{url}/many.zip")], true),
        // Nobody listens.
        (vec!["http://127.0.0.1:1/m.zip".to_owned()], true),
        (vec![format!("{url}/absent.zip")], false),
        (vec!["https://127.0.0.1:1/m.tar.xz".to_owned()], false),
        (vec![format!("{url}/busy.zip"), format!("{url}/absent.zip")], false),
        (Vec::new(), false),
    ];
    for (sources, may_pass) in cases {
        let calls = sources.iter().enumerate();
        let calls =
            calls.map(|(at, source)| format!("module \"m{at}\" {{\n  source = \"{source}\"\n}}\n"));
        let outcome = Scene::new(&calls.collect::<String>()).install().await;
        assert_eq!(outcome.errors.len(), sources.len(), "{:?}", outcome.errors);
        assert_eq!(outcome.may_pass, may_pass, "{sources:?}");
    }
}

#[tokio::test]
async fn credentials_go_along_and_are_never_shown() {
    let server = WebServer::start(|_| Answer::not_found());
    let address = server.url().replace("http://", "http://ada:canary-1@");
    let scene = call(&format!("{address}/m.zip?token=canary-2&archive=zip"));
    let outcome = scene.install().await;
    let basic = server.take_received()[0].authorization.clone();
    assert_eq!(basic.as_deref(), Some("Basic YWRhOmNhbmFyeS0x"));
    let said = format!("{:?}{:?}", outcome.told, outcome.errors);
    assert!(!said.contains("canary"), "{said}");
    assert!(said.contains("***@127.0.0.1") && said.contains("token=***"), "{said}");

    let server = self::server();
    let outcome = call(&format!("{}/relative", server.url())).install().await;
    let problem = "\"example.com/m?token=***\", which is no address of a package: no way of installing it is known";
    outcome.assert_refused("Failed to download module", problem);
    assert!(!outcome.errors[0].contains("canary"), "{}", outcome.errors[0]);
}

#[tokio::test]
async fn where_others_choose_addresses_this_machine_is_not_reached() {
    let server = server();
    let sources = [
        format!("{}/m.zip", server.url()),
        "https://localhost/m.zip".to_owned(),
        "https://0177.0.0.1/m.zip".to_owned(),
        "https://[::1]/m.zip".to_owned(),
        "https://[::ffff:127.0.0.1]/m.zip".to_owned(),
        "/etc".to_owned(),
        "git::file:///etc".to_owned(),
    ];
    for source in sources {
        let mut scene = call(&source);
        scene.packages.reach = runs::modules::Reach::Networks;
        let problem = "leads to the machine that installs modules";
        scene.install().await.assert_refused("Failed to download module", problem);
    }
    assert!(server.take_received().is_empty());
    // Neither is a server of objects in the clear, which would be told who asks.
    let mut scene = call("s3::http://objects.example.com/modules/m.zip");
    scene.packages.reach = runs::modules::Reach::Networks;
    let problem = "objects.example.com is not reached over HTTPS";
    scene.install().await.assert_refused("Failed to download module", problem);
}
