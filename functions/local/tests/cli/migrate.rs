//! The state of Terraform, taken over and given back. The file is what Terraform 1.11 left of the configuration.

use crate::scene::Scene;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use test_servers::BucketServer;

const MAIN: &str = include_str!("migrate/main.tf");
const MODULE: &str = include_str!("migrate/module.tf");
const OTHER: &str = include_str!("migrate/other.tfstate");
const STATE: &str = include_str!("migrate/terraform.tfstate");

fn scene(state: &str) -> Scene {
    Scene::new(&[
        ("main.tf", MAIN),
        ("m/main.tf", MODULE),
        ("o.tfstate", OTHER),
        ("terraform.tfstate", state),
    ])
}

#[test]
fn a_state_is_taken_over_and_comes_back_as_it_was() {
    let scene = scene(STATE);
    scene.succeed(&["init"]);
    scene.run(&["plan"]).assert_refused("plumb migrate");
    let taken = scene.succeed(&["migrate"]);
    assert!(taken.stdout.contains("Took over terraform.tfstate: 9 records"), "{}", taken.stdout);
    // All but what is derived.
    let mut kept: Value = serde_json::from_str(STATE).unwrap();
    kept["check_results"] = Value::Null;
    assert_eq!(scene.succeed(&["state", "pull"]).json(), kept);
    // The one that is tainted is replaced, and nothing else.
    let plan = scene.run(&["plan", "-detailed-exitcode"]);
    assert!(plan.stdout.contains("Plan: 1 to add, 0 to change, 1 to destroy."), "{}", plan.stdout);
    assert!(plan.stdout.contains("terraform_data.a[1] is tainted"), "{}", plan.stdout);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
    // Once more changes nothing, and another state is not written over it.
    let again = scene.succeed(&["migrate"]);
    assert!(again.stdout.contains("was taken over before"), "{}", again.stdout);
    let other = STATE.replace("15f51882-754d-dd04-843c-cac745054395", "another");
    scene.write("other/terraform.tfstate", other.as_bytes());
    scene
        .run(&["migrate", "-state=other/terraform.tfstate"])
        .assert_refused("holds records already");
}

#[test]
fn what_cannot_be_read_as_a_whole_is_not_taken_over() {
    let mut old: Value = serde_json::from_str(STATE).unwrap();
    old["version"] = 3.into();
    let mut flat: Value = serde_json::from_str(STATE).unwrap();
    let instance = &mut flat["resources"][0]["instances"][0];
    instance.as_object_mut().unwrap().remove("attributes");
    instance["attributes_flat"] = serde_json::json!({ "id": "x" });
    let mut twice: Value = serde_json::from_str(STATE).unwrap();
    let first = twice["resources"][0].clone();
    twice["resources"].as_array_mut().unwrap().push(first);
    for (state, said) in [
        (old.to_string(), "format version 3"),
        (flat.to_string(), "Terraform 0.11"),
        (twice.to_string(), "has an object twice"),
        (STATE[..STATE.len() / 2].to_owned(), "no state file"),
        ("{\"encrypted_data\":\"x\"}".to_owned(), "encrypted"),
        (String::new(), "no state file"),
    ] {
        let scene = scene(&state);
        scene.succeed(&["init"]);
        scene.run(&["migrate"]).assert_refused(said);
        scene.run(&["plan"]).assert_refused("plumb migrate");
    }
}

#[test]
fn a_state_that_is_not_read_is_asked_for() {
    let backend = "terraform {\n  backend \"gcs\" {\n    bucket = \"b\"\n  }\n}\n";
    let scene = Scene::new(&[("main.tf", backend)]);
    scene.run(&["migrate"]).assert_refused("terraform state pull > pulled.tfstate");
    let state = r#"{"version":4,"serial":1,"lineage":"l"}"#;
    scene.write("pulled.tfstate", state.as_bytes());
    scene.succeed(&["migrate", "-state=pulled.tfstate"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
}

/// A state with one output, and nothing else.
fn output(value: &str) -> String {
    format!(
        r#"{{"version":4,"serial":7,"lineage":"l","outputs":{{"o":{{"value":"{value}","type":"string"}}}},"resources":[]}}"#
    )
}

fn s3_settings(server: &BucketServer) -> String {
    format!(
        "bucket = {:?}\n    region = \"us-east-1\"\n    use_path_style = true\n    endpoints = {{ s3 = {:?} }}\n    use_lockfile = true\n",
        BucketServer::BUCKET,
        server.endpoint()
    )
}

#[test]
fn a_state_in_a_bucket_is_taken_over_for_each_workspace() {
    let server = BucketServer::start();
    server.put("states/app.tfstate", output("default"));
    server.put("env:/dev/states/app.tfstate", output("dev"));
    let settings = s3_settings(&server);
    let main = format!(
        "terraform {{\n  backend \"s3\" {{\n    key = \"states/app.tfstate\"\n    {settings}  }}\n}}\noutput \"o\" {{\n  value = terraform.workspace\n}}\n"
    );
    let scene = Scene::new(&[("main.tf", &main)]);
    scene.run(&["plan"]).assert_refused("plumb migrate");
    let taken = scene.succeed(&["migrate"]);
    assert!(taken.stdout.contains("/states/app.tfstate: 1 records"), "{}", taken.stdout);
    assert_eq!(scene.succeed(&["output", "-raw", "o"]).stdout, "default");
    assert_eq!(scene.succeed(&["state", "pull"]).json()["serial"], 7);
    scene.succeed(&["workspace", "new", "dev"]);
    scene.succeed(&["migrate"]);
    assert_eq!(scene.succeed(&["output", "-raw", "o"]).stdout, "dev");
    scene.succeed(&["workspace", "new", "none"]);
    scene.run(&["migrate"]).assert_refused("There is no state in s3://");
}

#[test]
fn what_was_given_to_init_completes_a_backend() {
    let server = BucketServer::start();
    server.put("k", output("noted"));
    let scene = Scene::new(&[(
        "main.tf",
        "terraform {\n  backend \"s3\" {}\n}\noutput \"o\" {\n  value = 1\n}\n",
    )]);
    scene.run(&["migrate"]).assert_refused("\"bucket\" of the backend \"s3\" is not set");
    let noted = serde_json::json!({ "version": 3, "backend": { "type": "s3", "config": {
        "bucket": BucketServer::BUCKET, "key": "k", "region": "us-east-1", "use_path_style": true,
        "endpoints": { "s3": server.endpoint(), "iam": null }, "assume_role": null, "skip_s3_checksum": null,
    } } });
    scene.write(".terraform/terraform.tfstate", noted.to_string().as_bytes());
    scene.succeed(&["migrate"]);
    assert_eq!(scene.succeed(&["output", "-raw", "o"]).stdout, "noted");
    let assumed =
        noted.to_string().replace("\"assume_role\":null", "\"assume_role\":{\"role_arn\":\"r\"}");
    scene.write(".terraform/terraform.tfstate", assumed.as_bytes());
    scene
        .run(&["migrate"])
        .assert_refused("\"assume_role\" of the backend \"s3\" is not known here");
}

/// Answers one request at a time with the same state, where the password is right.
fn serve(state: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/state", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = Vec::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            while !asked.ends_with(b"\r\n\r\n") && lines.read_until(b'\n', &mut asked).unwrap() > 0
            {
            }
            let asked = String::from_utf8_lossy(&asked).to_lowercase();
            // me:secret
            let answer = match asked.contains("authorization: basic bwu6c2vjcmv0") {
                true => format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{state}",
                    state.len()
                ),
                false => {
                    "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                        .to_owned()
                }
            };
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn states_in_backends_are_read_as_data_too() {
    let server = BucketServer::start();
    server.put("k", output("bucket"));
    let address = serve(output("server"));
    let settings = s3_settings(&server);
    let main = format!(
        r#"
data "terraform_remote_state" "bucket" {{
  backend = "s3"
  config = {{
    key = "k"
    {settings}
  }}
}}
data "terraform_remote_state" "server" {{
  backend = "http"
  config = {{
    address  = {address:?}
    username = "me"
    password = "secret"
  }}
}}
output "both" {{
  value = "${{data.terraform_remote_state.bucket.outputs.o}} ${{data.terraform_remote_state.server.outputs.o}}"
}}
"#
    );
    let scene = Scene::new(&[("main.tf", &main)]);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.succeed(&["output", "-raw", "both"]).stdout, "bucket server");
    scene.write("main.tf", main.replace("\"secret\"", "\"wrong\"").as_bytes());
    scene.run(&["plan"]).assert_refused("401");
    scene.write("main.tf", main.replace("key = \"k\"", "key = \"none\"").as_bytes());
    scene.run(&["plan"]).assert_refused("Unable to find remote state");
}

#[test]
fn a_state_behind_an_address_is_taken_over() {
    let address = serve(output("server"));
    let main = format!(
        "terraform {{\n  backend \"http\" {{\n    address = {address:?}\n    username = \"me\"\n    password = \"secret\"\n    lock_address = \"x\"\n  }}\n}}\noutput \"o\" {{\n  value = 1\n}}\n"
    );
    let scene = Scene::new(&[("main.tf", &main)]);
    scene.succeed(&["migrate"]);
    assert_eq!(scene.succeed(&["output", "-raw", "o"]).stdout, "server");
}

#[test]
fn what_authorises_in_an_address_is_used_and_not_shown() {
    let plain = serve(output("server"));
    let main = |password: &str| {
        let address = plain.replace("http://", &format!("http://me:{password}@"));
        format!(
            "terraform {{\n  backend \"http\" {{\n    address = \"{address}?token=canary\"\n  }}\n}}\noutput \"o\" {{\n  value = 1\n}}\n"
        )
    };
    let scene = Scene::new(&[("main.tf", &main("wrong"))]);
    let refused = scene.run(&["migrate"]);
    refused.assert_refused("401");
    let said = refused.stderr;
    assert!(!said.contains("wrong") && !said.contains("canary"), "{said}");
    scene.write("main.tf", main("secret").as_bytes());
    let taken = scene.succeed(&["migrate"]);
    let said = taken.stdout + &taken.stderr;
    assert!(!said.contains("secret") && !said.contains("canary"), "{said}");
    assert_eq!(scene.succeed(&["output", "-raw", "o"]).stdout, "server");
}
