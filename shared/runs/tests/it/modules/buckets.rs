//! Modules in S3.

use super::scene::{Scene, zip};
use crate::surroundings::OneBucket;
use runs::modules::S3ModuleObjects;
use std::sync::Arc;
use test_servers::{Answer, BucketServer};

fn scene(server: &BucketServer, key: &str) -> Scene {
    let bucket = BucketServer::BUCKET;
    let source = format!("s3::{}/{bucket}/{key}", server.endpoint());
    let mut scene = Scene::new(&format!("module \"a\" {{\n  source = \"{source}\"\n}}\n"));
    scene.packages.objects = Arc::new(S3ModuleObjects(Arc::new(OneBucket)));
    scene
}

#[tokio::test]
async fn an_object_is_an_archive_and_a_prefix_is_a_folder() {
    let server = BucketServer::start();
    server.put("modules/m.zip", zip(&[("main.tf", "# zip"), ("sub/main.tf", "# sub")]));
    server.put("modules/plain/main.tf", "# plain");
    server.put("modules/plain/sub/main.tf", "# plain sub");
    server.put("modules/plainer/main.tf", "# another");
    let cases = [
        ("modules/m.zip", "a/main.tf", "# zip"),
        ("modules/m.zip//sub", "a/sub/main.tf", "# sub"),
        ("modules/plain", "a/main.tf", "# plain"),
        ("modules/plain/", "a/sub/main.tf", "# plain sub"),
    ];
    for (key, file, text) in cases {
        let scene = scene(&server, key);
        scene.install().await.assert_installed();
        assert_eq!(scene.read(&format!("root/.terraform/modules/{file}")), text, "{key}");
        assert!(!scene.path("root/.terraform/modules/er").exists());
    }
    let outcome = scene(&server, "absent.zip").install().await;
    outcome.assert_refused(
        "Failed to download module",
        "NoSuchKey: The specified key does not exist.",
    );
    let outcome = scene(&server, "absent").install().await;
    outcome.assert_refused("Failed to download module", "there is no object under \"absent\"");
    assert!(!outcome.may_pass);
}

#[tokio::test]
async fn a_bucket_that_does_not_answer_may_in_a_moment() {
    let server = BucketServer::start();
    server.intercept(|_| Some(Answer::slow_down()));
    let outcome = scene(&server, "modules/m.zip").install().await;
    assert!(outcome.may_pass, "{:?}", outcome.errors);
}
