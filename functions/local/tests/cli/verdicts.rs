//! What the stages of a saved plan come to, one test for each kind of verdict.

use crate::scene::{Ran, Scene};
use serde_json::{Value, json};

/// Two parts that share nothing, and one that both look at.
const PARTS: &str = r#"
variable "left" {
  default = 1
}
variable "right" {
  default = 1
}
variable "shared" {
  default = 1
}
resource "terraform_data" "shared" {
  input = { id = "shared", version = var.shared }
}
resource "terraform_data" "left" {
  input = "${terraform_data.shared.output.id}-${var.left}"
}
resource "terraform_data" "right" {
  input = "${terraform_data.shared.output.id}-${var.right}"
}
"#;

fn applied(configuration: &str) -> Scene {
    let scene = Scene::new(&[("main.tf", configuration)]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene
}

impl Scene {
    fn record(&self, name: &str) -> std::path::PathBuf {
        self.path().join(format!(".plumb/records/default/r/i/terraform_5fdata.{name}.record"))
    }

    /// Changes what a record says, as another program would.
    fn patch(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut body: Value =
            serde_json::from_slice(&std::fs::read(self.record(name)).unwrap()).unwrap();
        change(&mut body);
        std::fs::write(self.record(name), body.to_string()).unwrap();
    }

    fn validate(&self, plan: &str, more: &[&str]) -> Ran {
        let plan = format!("-plan={plan}");
        self.run(&[&["validate", "-json", "-verdict-exitcode", &plan], more].concat())
    }
}

/// The verdict of a stage on a plan, of which there is one.
#[track_caller]
fn verdict(ran: &Ran, stage: &str) -> Value {
    let document = ran.json();
    let verdicts = document["verdicts"].as_array().unwrap();
    let mut of_stage = verdicts.iter().filter(|verdict| verdict["stage"] == stage);
    let verdict = of_stage.next().unwrap_or_else(|| panic!("{document:#}")).clone();
    assert!(of_stage.next().is_none(), "{document:#}");
    verdict
}

#[track_caller]
fn assert_verdict(ran: &Ran, stage: &str, outcome: &str, words: &str) {
    let verdict = verdict(ran, stage);
    assert_eq!(verdict["outcome"], outcome, "{verdict:#}");
    assert!(verdict["message"].as_str().unwrap().contains(words), "{verdict:#}");
    if outcome == "reject" {
        assert!(!verdict["remedy"].as_str().unwrap().is_empty(), "{verdict:#}");
        assert_eq!(ran.json()["result"], "reject");
    }
}

#[test]
fn an_unrelated_change_leaves_a_plan_as_it_was_and_a_related_one_refuses_it() {
    let scene = applied(PARTS);
    scene.succeed(&["plan", "-var=left=2", "-out=left.bin"]);
    scene.succeed(&["plan", "-var=left=3", "-out=later.bin"]);
    scene.succeed(&["apply", "-auto-approve", "-var=right=2"]);
    let checked = scene.validate("left.bin", &[]);
    assert_eq!(checked.code, 0, "{}", checked.stdout);
    assert_verdict(&checked, "records", "pass", "1 records that are changed and 1 that are read");
    assert_verdict(&checked, "serial", "warn", "other runs wrote to the estate");
    scene.succeed(&["apply", "left.bin"]);
    let refused = scene.validate("later.bin", &[]);
    assert_eq!(refused.code, 3);
    assert_verdict(&refused, "records", "reject", "was changed since the plan was made: the run");
    assert_eq!(verdict(&refused, "records")["address"], "terraform_data.left");
    assert_eq!(refused.json()["code"], "stale");
    let applied = scene.run(&["apply", "-verdict-exitcode", "-json", "later.bin"]);
    assert_eq!(applied.code, 3);
    let messages = applied.messages();
    let said = messages.iter().find(|message| message["type"] == "plan_verdicts").unwrap();
    assert_eq!((&said["code"], &said["verdicts"]["result"]), (&json!("stale"), &json!("reject")));
    assert_eq!(scene.run(&["apply", "later.bin"]).code, 1);
}

#[test]
fn what_was_looked_at_refuses_where_it_moves() {
    let scene = applied(PARTS);
    scene.succeed(&["plan", "-var=left=2", "-out=left.bin"]);
    let reads = scene.succeed(&["show", "-reads", "left.bin"]).stdout;
    assert!(
        reads.contains("terraform_data.shared") && reads.contains(".output.id = \"shared\""),
        "{reads}"
    );
    let json = scene.succeed(&["show", "-json", "-reads", "left.bin"]).json();
    let shared = &json["plumbline_sets"]["read_set"][0];
    assert_eq!(
        shared["paths"][0],
        json!({"path": ["output", "id"], "planned": "shared", "sensitive": false})
    );
    scene.succeed(&["apply", "-auto-approve", "-var=shared=2"]);
    let refused = scene.validate("left.bin", &[]);
    assert_eq!(refused.code, 3, "{}", refused.stdout);
    assert_eq!(verdict(&refused, "records")["address"], "terraform_data.shared");
}

#[test]
fn of_two_plans_that_look_at_what_the_other_changes_one_applies() {
    let skew = r#"
variable "a" {
  default = 1
}
variable "b" {
  default = 1
}
resource "terraform_data" "a" {
  input = { own = "a", seen = var.a }
}
resource "terraform_data" "b" {
  input = { own = "b", seen = var.b }
}
resource "terraform_data" "sum_a" {
  count = var.a > 1 ? 1 : 0
  input = [terraform_data.b.output, var.a]
}
resource "terraform_data" "sum_b" {
  count = var.b > 1 ? 1 : 0
  input = [terraform_data.a.output, var.b]
}
"#;
    let scene = applied(skew);
    scene.succeed(&["plan", "-var=a=2", "-out=a.bin"]);
    scene.succeed(&["plan", "-var=b=2", "-out=b.bin"]);
    scene.succeed(&["apply", "a.bin"]);
    assert_eq!(scene.run(&["apply", "-verdict-exitcode", "b.bin"]).code, 3);
}

#[test]
fn two_plans_of_parts_that_share_nothing_both_apply() {
    for order in [["left.bin", "right.bin"], ["right.bin", "left.bin"]] {
        let scene = applied(PARTS);
        scene.succeed(&["plan", "-var=left=2", "-out=left.bin"]);
        scene.succeed(&["plan", "-var=right=2", "-out=right.bin"]);
        order.iter().for_each(|plan| drop(scene.succeed(&["apply", plan])));
    }
}

#[test]
fn records_that_appear_vanish_or_are_in_doubt() {
    let scene = applied(PARTS);
    let more = format!("{PARTS}resource \"terraform_data\" \"new\" {{\n  input = 1\n}}\n");
    scene.write("main.tf", more.as_bytes());
    scene.succeed(&["plan", "-out=new.bin"]);
    scene.succeed(&["apply", "-auto-approve"]);
    let appeared = scene.validate("new.bin", &[]);
    assert_verdict(&appeared, "records", "reject", "did not exist when the plan was made");
    scene.succeed(&["plan", "-var=left=2", "-out=left.bin"]);
    scene.patch("left", |body| {
        body["doubt"] = json!({"transaction": "0123", "object": "current", "since": 1});
    });
    let doubtful = scene.validate("left.bin", &[]);
    assert_verdict(&doubtful, "records", "reject", "may have created an object");
    assert_eq!((doubtful.code, &doubtful.json()["code"]), (7, &json!("in_doubt")));
    std::fs::remove_file(scene.record("left")).unwrap();
    let vanished = scene.validate("left.bin", &[]);
    assert_verdict(&vanished, "records", "reject", "does no more: its record was removed");
    scene.patch("right", |body| body["format"] = json!(99));
    let unreadable = scene.validate("left.bin", &[]);
    assert_verdict(&unreadable, "records", "reject", "could not be read");
    assert_verdict(&unreadable, "lineage", "not_checked", "could not be read");
    assert_verdict(&unreadable, "resources", "pass", "as planned");
    assert_eq!(unreadable.code, 1);
}

#[test]
fn a_new_instance_of_what_was_used_whole_and_a_new_dependent_of_what_goes() {
    let many = r#"
variable "names" {
  type    = set(string)
  default = ["a"]
}
variable "gone" {
  default = "1"
}
resource "terraform_data" "many" {
  for_each = var.names
}
resource "terraform_data" "gone" {
  triggers_replace = var.gone
}
"#;
    let scene = applied(many);
    let sum = "resource \"terraform_data\" \"sum\" {\n  input = length(terraform_data.many)\n}\n";
    scene.write("sum.tf", sum.as_bytes());
    scene.succeed(&["plan", "-target=terraform_data.sum", "-out=sum.bin"]);
    std::fs::remove_file(scene.path().join("sum.tf")).unwrap();
    scene.succeed(&["plan", "-var=gone=2", "-out=gone.bin"]);
    scene.write(
        "dependent.tf",
        b"resource \"terraform_data\" \"dependent\" {\n  input = terraform_data.gone.id\n}\n",
    );
    scene.succeed(&["apply", "-auto-approve", "-var=names=[\"a\", \"b\"]"]);
    let refused = scene.validate("sum.bin", &[]);
    assert_verdict(
        &refused,
        "records",
        "reject",
        "rests on which instances of terraform_data.many there are",
    );
    let refused = scene.validate("gone.bin", &[]);
    assert_verdict(&refused, "records", "reject", "depends on terraform_data.gone");
}

#[test]
fn plans_of_others_expired_used_or_damaged() {
    let scene = applied(PARTS);
    scene.succeed(&["plan", "-var=left=2", "-out=left.bin"]);
    let fresh = scene.validate("left.bin", &[]);
    assert_verdict(&fresh, "authenticity", "pass", "as they should be");
    let key = scene.read(".plumb/key");
    std::fs::remove_file(scene.path().join(".plumb/key")).unwrap();
    let foreign = scene.validate("left.bin", &[]);
    assert_eq!((foreign.code, &foreign.json()["code"]), (5, &json!("unauthentic")));
    assert_verdict(&foreign, "authenticity", "reject", "MAC");
    // Nothing of it is believed, so that nothing of it is run; the rest is shown.
    assert_verdict(&foreign, "resources", "not_checked", "not read again");
    scene.write(".plumb/key", &key);
    scene.succeed(&["apply", "left.bin"]);
    let used = scene.validate("left.bin", &[]);
    let verdicts = used.json()["verdicts"].to_string();
    assert!(
        verdicts.contains("was used already") && verdicts.contains("was changed since"),
        "{verdicts}"
    );
    let expiring = scene.run_with(
        &["plan", "-var=left=3", "-out=late.bin"],
        &[("PLUMB__PLANS__EXPIRY", "1s")],
        "",
    );
    assert_eq!(expiring.code, 0, "{}", expiring.stderr);
    let expired = || scene.validate("late.bin", &[]).stdout.contains("expired");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !expired() {
        assert!(std::time::Instant::now() < until, "a plan for one second never expires");
    }
    assert_verdict(&scene.validate("late.bin", &[]), "authenticity", "reject", "expired");
    let mut bytes = scene.read("late.bin");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    scene.write("late.bin", &bytes);
    assert_eq!(scene.validate("late.bin", &[]).code, 5);
    assert_eq!(scene.run(&["apply", "-verdict-exitcode", "late.bin"]).code, 5);
}

#[test]
fn estates_that_vanish_appear_or_are_others() {
    let scene = applied(PARTS);
    scene.succeed(&["plan", "-var=left=2", "-out=left.bin"]);
    let records = scene.path().join(".plumb/records/default");
    let aside = scene.path().join("aside");
    std::fs::rename(&records, &aside).unwrap();
    let vanished = scene.validate("left.bin", &[]);
    assert_verdict(&vanished, "lineage", "reject", "are gone");
    assert_eq!(vanished.code, 3);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_verdict(
        &scene.validate("left.bin", &[]),
        "lineage",
        "reject",
        "belong to another estate",
    );
    std::fs::remove_dir_all(&records).unwrap();
    std::fs::rename(&aside, &records).unwrap();
    let back = scene.validate("left.bin", &[]);
    assert_verdict(&back, "lineage", "pass", "has the lineage that was planned for");
    assert_eq!(back.code, 0, "{}", back.stdout);
}

const DOWNSTREAM: &str = r#"
data "terraform_remote_state" "net" {
  backend = "local"
  config = {
    path = "../net/terraform.tfstate"
  }
}
resource "terraform_data" "server" {
  input = data.terraform_remote_state.net.outputs.subnet.id
}
"#;

fn network(id: &str, other: &str) -> String {
    format!(
        "output \"subnet\" {{\n  value = {{ id = \"{id}\", cidr = \"10\" }}\n}}\noutput \"other\" {{\n  value = \"{other}\"\n}}\n"
    )
}

#[test]
fn outputs_of_another_estate_are_read_again_path_by_path() {
    let scene =
        Scene::new(&[("net/main.tf", &network("subnet-1", "x")), ("app/main.tf", DOWNSTREAM)]);
    let net = |text: &str| {
        scene.write("net/main.tf", text.as_bytes());
        scene.succeed(&["-chdir=net", "apply", "-auto-approve"]);
    };
    net(&network("subnet-1", "x"));
    scene.succeed(&["-chdir=app", "plan", "-out=app.bin"]);
    let validate = |more: &[&str]| {
        let command = ["-chdir=app", "validate", "-json", "-verdict-exitcode", "-plan=app.bin"];
        scene.run(&[&command, more].concat())
    };
    assert_verdict(&validate(&[]), "upstream", "pass", "1 other estates are as planned");
    net(&network("subnet-1", "y"));
    let unrelated = validate(&[]);
    assert_verdict(&unrelated, "upstream", "pass", "as planned");
    assert_eq!(unrelated.code, 0, "{}", unrelated.stdout);
    net(&network("subnet-2", "y"));
    let moved = validate(&[]);
    assert_verdict(&moved, "upstream", "reject", "was changed since");
    let found = verdict(&moved, "upstream");
    assert_eq!(found["path"], ".outputs.subnet.id");
    assert_eq!(
        (&found["planned"], &found["actual"]),
        (&json!("\"subnet-1\""), &json!("\"subnet-2\""))
    );
    assert_eq!(moved.code, 3);
    let waiver = "-accept-drift=data.terraform_remote_state.net.outputs.subnet.id";
    let waived = validate(&[waiver]);
    assert_eq!(waived.code, 0, "{}", waived.stdout);
    let by = &waived.json()["verdicts"];
    assert!(by.to_string().contains("\"waived_by\":\"uid"), "{by:#}");
    std::fs::remove_dir_all(scene.path().join("net/.plumb")).unwrap();
    let unreadable = validate(&[waiver]);
    assert_verdict(&unreadable, "upstream", "reject", "could not be read again");
    net(&network("subnet-1", "z"));
    scene.succeed(&["-chdir=app", "apply", "app.bin"]);
}

#[test]
fn estates_of_one_project_read_each_other_wherever_their_records_are() {
    let project = "[store.dir]\npath = \"records\"\n[estates.network]\ndirectory = \"net\"\n[estates.service]\ndirectory = \"app\"\n";
    let scene = Scene::new(&[
        ("plumb.toml", project),
        ("net/main.tf", &network("subnet-1", "x")),
        ("app/main.tf", DOWNSTREAM),
    ]);
    scene.succeed(&["-chdir=net", "apply", "-auto-approve"]);
    scene.succeed(&["-chdir=app", "plan", "-out=app.bin"]);
    scene.write("net/main.tf", network("subnet-2", "x").as_bytes());
    scene.succeed(&["-chdir=net", "apply", "-auto-approve"]);
    let refused = scene.run(&["-chdir=app", "apply", "-json", "-verdict-exitcode", "app.bin"]);
    assert_eq!(refused.code, 3, "{}", refused.stdout);
    assert!(refused.stdout.contains("subnet-2"), "{}", refused.stdout);
    scene.succeed(&["-chdir=app", "apply", "-auto-approve"]);
}

#[test]
fn state_files_of_terraform_are_read_again() {
    let state = |id: &str| {
        format!(
            r#"{{"version":4,"outputs":{{"subnet":{{"value":{{"id":"{id}"}},"type":["object",{{"id":"string"}}]}}}}}}"#
        )
    };
    let scene =
        Scene::new(&[("net/terraform.tfstate", &state("subnet-1")), ("app/main.tf", DOWNSTREAM)]);
    scene.succeed(&["-chdir=app", "plan", "-out=app.bin"]);
    scene.write("net/terraform.tfstate", state("subnet-2").as_bytes());
    let refused = scene.run(&["-chdir=app", "validate", "-json", "-plan=app.bin"]);
    assert_verdict(&refused, "upstream", "reject", "was changed since");
    assert_eq!(refused.code, 1);
}

#[test]
fn a_state_file_beside_the_own_estate_is_another_state() {
    let state =
        r#"{"version":4,"lineage":"l","outputs":{"id":{"value":"theirs","type":"string"}}}"#;
    let main = r#"
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = "other.tfstate" }
}
output "id" { value = data.terraform_remote_state.other.outputs.id }
"#;
    let scene = Scene::new(&[("other.tfstate", state), ("main.tf", main)]);
    for _ in 0..2 {
        scene.succeed(&["apply", "-auto-approve"]);
        assert_eq!(scene.succeed(&["output", "-raw", "id"]).stdout, "theirs");
    }
    std::fs::remove_file(scene.path().join("other.tfstate")).unwrap();
    assert_eq!(scene.run(&["plan"]).code, 1, "no records stand in for another state");
}
