//! Where sensitive and ephemeral values must not appear.

use crate::estate::{Estate, Ran};
use std::io::Read;
use std::path::Path;

const SENSITIVE: &str = "canary-of-a-sensitive-variable";
/// The schema says that it is sensitive, the configuration does not.
const BY_SCHEMA: &str = "canary-of-a-sensitive-attribute";
const EPHEMERAL: &str = "canary-of-an-ephemeral-variable";
const ALL: [&str; 3] = [SENSITIVE, BY_SCHEMA, EPHEMERAL];

fn configuration(fail_on: &str) -> String {
    format!(
        r#"
variable "secret" {{
  type      = string
  sensitive = true
}}

variable "by_schema" {{
  type = string
}}

variable "password" {{
  type      = string
  ephemeral = true
}}

variable "size" {{
  type    = number
  default = 1
}}

resource "test_thing" "by_variable" {{
  name    = "by variable"
  size    = var.size
  fail_on = {fail_on}
  secret  = var.secret
  tags = {{
    plain   = "seen"
    (var.size == 1 ? "a" : "b") = "prefixed ${{var.secret}}"
  }}
  password = var.password
}}

resource "test_thing" "by_schema" {{
  name   = "by schema"
  size   = var.size
  secret = var.by_schema
}}

output "secret" {{
  value     = test_thing.by_variable.secret
  sensitive = true
}}
"#
    )
}

struct Scene {
    estate: Estate,
}

impl Scene {
    fn new() -> Scene {
        Scene { estate: Estate::new(&configuration("null")) }
    }

    /// Runs with everything logged; nothing secret is said or logged.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Ran {
        let log = self.estate.path().join("trace.log");
        let variables = [
            ("TF_VAR_secret", SENSITIVE),
            ("TF_VAR_by_schema", BY_SCHEMA),
            ("TF_VAR_password", EPHEMERAL),
            ("TF_LOG", "trace"),
        ];
        let logged = [&variables[..], &[("TF_LOG_PATH", log.to_str().unwrap())]].concat();
        let ran = self.estate.run_with(arguments, &logged);
        let trace = std::fs::read_to_string(&log).unwrap_or_default();
        for canary in ALL {
            let said = ran.said();
            assert!(!said.contains(canary), "{arguments:?} says {canary}\n{said}");
            assert!(!trace.contains(canary), "{arguments:?} logs {canary}\n{trace}");
        }
        ran
    }

    #[track_caller]
    fn succeed(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.status.code(), Some(0), "{arguments:?} {}", ran.said());
        ran
    }
}

#[test]
fn nothing_says_or_logs_a_secret() {
    let scene = Scene::new();
    let planned = scene.succeed(&["plan", "-out=plan.bin"]);
    assert!(planned.stdout.contains("(sensitive value)"), "{}", planned.stdout);
    assert!(planned.stdout.contains("(write-only attribute)"), "{}", planned.stdout);
    scene.succeed(&["plan", "-json"]);
    scene.succeed(&["show", "plan.bin"]);
    scene.succeed(&["validate", "-plan=plan.bin"]);
    scene.succeed(&["validate", "-json", "-plan=plan.bin"]);
    scene.succeed(&["apply", "plan.bin"]);
    let thing = scene.estate.thing("by variable");
    assert_eq!(thing["secret"], SENSITIVE, "the provider got it");
    scene.succeed(&["show"]);
    scene.succeed(&["output"]);
    scene.succeed(&["plan", "-var=size=2", "-out=plan.bin"]);
    scene.succeed(&["show", "plan.bin"]);
    scene.succeed(&["apply", "-json", "plan.bin"]);
    scene.succeed(&["destroy", "-auto-approve"]);
}

#[test]
fn no_refusal_or_failure_says_a_secret() {
    let scene = Scene::new();
    scene.succeed(&["apply", "-auto-approve"]);
    scene.succeed(&["plan", "-var=size=2", "-out=plan.bin"]);
    // The new value is as secret as the old one.
    let drifted = format!("{SENSITIVE}, changed");
    scene.estate.drift("by variable", "secret", drifted.into());
    scene.run(&["validate", "-plan=plan.bin"]).assert_failed(&["test_thing.by_variable", "secret"]);
    scene.run(&["validate", "-json", "-plan=plan.bin"]);
    scene.run(&["apply", "plan.bin"]).assert_failed(&["test_thing.by_variable", "secret"]);
    scene.succeed(&["plan", "-refresh-only"]);

    scene.estate.configure(&configuration("\"update\""));
    scene.run(&["apply", "-auto-approve", "-var=size=3"]).assert_failed(&["refuses to update"]);
    scene
        .estate
        .configure(&configuration("upper(var.secret) == \"\" ? null : tonumber(var.secret)"));
    let plan = scene.run(&["plan"]);
    assert_eq!(plan.status.code(), Some(1), "{}", plan.said());
}

/// All bytes of a plan file: the header, and the content unpacked.
pub(crate) fn unpacked(plan: &[u8]) -> Vec<u8> {
    let length = u32::from_be_bytes(plan[10..14].try_into().unwrap());
    let (header, content) = plan.split_at(14 + usize::try_from(length).unwrap());
    let mut bytes = header.to_vec();
    flate2::read::DeflateDecoder::new(content).read_to_end(&mut bytes).unwrap();
    bytes
}

pub(crate) fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
}

pub(crate) fn has(content: &[u8], words: &str) -> bool {
    content.windows(words.len()).any(|window| window == words.as_bytes())
}

#[test]
fn what_is_ephemeral_or_write_only_is_kept_nowhere() {
    let scene = Scene::new();
    scene.succeed(&["plan", "-out=plan.bin"]);
    scene.succeed(&["apply", "plan.bin"]);
    scene.succeed(&["plan", "-var=size=2", "-out=second.bin"]);
    let mut kept = Vec::new();
    for name in ["plan.bin", "second.bin"] {
        let plan = std::fs::read(scene.estate.path().join(name)).unwrap();
        kept.push((name.to_owned(), unpacked(&plan)));
    }
    // What is merely sensitive is part of a plan: the search looks where it should.
    assert!(kept.iter().all(|(_, plan)| has(plan, SENSITIVE)));
    files(&scene.estate.path().join(".plumb"), &mut kept);
    assert!(kept.iter().skip(2).any(|(_, record)| has(record, SENSITIVE)));
    for (name, content) in kept {
        assert!(!has(&content, EPHEMERAL), "{name} has the ephemeral variable");
    }
}
