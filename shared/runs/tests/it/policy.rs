//! The policy gate: between a plan and its approval.

use crate::steps::{FILES, Scene, scene, success};
use runs::report::comment;
use runs::run_reference::{Answer, Mode, Outcome};
use runs::run_state::Status;
use std::ffi::OsString;
use tempfile::TempDir;

/// A policy that is a script, and the estate that it looks at.
fn governed(script: &str, more: &str) -> (TempDir, Scene) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.sh");
    std::fs::write(&path, script).unwrap();
    let deployment = format!(
        "[repositories.\"github.com/acme/infra\"]\n[estates.network]\nrepository = \"github.com/acme/infra\"\n[estates.network.policy]\ncommand = [\"/bin/sh\", {path:?}]\n{more}"
    );
    let mut scene = scene(&deployment);
    let inherited =
        [("PATH", "/usr/bin:/bin"), ("AWS_SECRET_ACCESS_KEY", "canary-key"), ("HOME", "/root")];
    let inherited = inherited.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    scene.environment.inherited = inherited.into();
    (folder, scene)
}

#[tokio::test]
async fn an_objection_of_a_mandatory_policy_ends_the_run_before_anybody_is_asked() {
    let script = "cat >\"$0.plan\"; env >\"$0.env\"; echo 'terraform_data.a has no owner'; echo 'and canary-8a1f is a bad secret'; exit 1";
    let (folder, scene) = governed(script, "");
    for (run, mode) in [("r1", Mode::Deploy), ("r2", Mode::Plan)] {
        let run = scene.begin(run, mode).await;
        let run = success(scene.fetch(&run, FILES).await);
        let Answer::Rejected { run, code } = scene.plan(&run).await else { panic!("it goes on") };
        assert_eq!((code.as_str(), &run.plan), ("policy", &None), "no plan is kept");
        let report = scene.report(&run, Outcome::Rejected, Some(&code)).await;
        assert_eq!((report.status, report.code.as_deref()), (Status::Rejected, Some("policy")));
        let next = report.details.as_ref().unwrap().next.as_ref().unwrap();
        assert!(next.commands.is_empty(), "the same commit is objected to again: {next:?}");
        assert_eq!(report.changes.unwrap().add, 2);
        // Planning the same again would come to the same.
        let next = report.details.as_deref().unwrap().next.as_ref().unwrap();
        assert!(next.sentence.contains("policy") && next.commands.is_empty(), "{next:?}");
        assert!(report.text.contains("REJECT"), "{}", report.text);
        assert!(report.text.contains("terraform_data.a has no owner"), "{}", report.text);
        assert!(!report.text.contains("canary"), "{}", report.text);
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&read("policy.sh.plan")).unwrap();
    assert_eq!(plan["resource_changes"].as_array().unwrap().len(), 2);
    let environment = read("policy.sh.env");
    assert!(!environment.contains("canary") && !environment.contains("HOME="), "{environment}");
}

#[tokio::test]
async fn an_advisory_policy_is_a_line_and_one_that_agrees_another() {
    for (script, more, says) in [
        ("echo 'too many'; exit 2", "enforcement = \"advisory\"\n", "too many"),
        ("exec sleep 60", "enforcement = \"advisory\"\ntime_out = \"1s\"\n", "within 1 seconds"),
        ("cat >/dev/null", "", "agrees"),
        // What does not read its input is no worse for it.
        ("exit 0", "", "agrees"),
    ] {
        let (_folder, scene) = governed(script, more);
        let run = scene.begin("r1", Mode::Deploy).await;
        let run = success(scene.fetch(&run, FILES).await);
        let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!("{script}") };
        let report = scene.report(&run, Outcome::Waiting, None).await;
        assert_eq!(report.status, Status::WaitingForApproval);
        let told = report.text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(says), "{script}: {}", report.text);
        if !more.is_empty() {
            let told = comment(&report);
            assert!(told.contains("What the stages warn of") && told.contains(says), "{told}");
        }
    }
}

#[tokio::test]
async fn a_mandatory_policy_that_comes_to_no_answer_lets_nothing_through() {
    for (script, says) in [
        ("exec sleep 60", "did not end within 1 seconds"),
        ("sleep 60 & wait", "did not end within 1 seconds"),
        ("head -c 2000000 /dev/zero", "writes more than"),
        ("kill -9 $$", "a signal ended it"),
        ("exit 3", "says nothing"),
    ] {
        let (_folder, scene) = governed(script, "time_out = \"1s\"\n");
        let run = scene.begin("r1", Mode::Deploy).await;
        let run = success(scene.fetch(&run, FILES).await);
        let Answer::Rejected { run, code } = scene.plan(&run).await else { panic!("{script}") };
        let report = scene.report(&run, Outcome::Rejected, Some(&code)).await;
        assert!(report.text.contains(says), "{script}: {}", report.text);
    }
}

#[tokio::test]
async fn drift_and_what_changes_nothing_is_not_looked_at() {
    let (folder, scene) = governed("touch \"$0.asked\"; exit 1", "");
    let run = scene.begin("r1", Mode::Drift).await;
    let run = success(scene.fetch(&run, FILES).await);
    assert!(matches!(scene.plan(&run).await, Answer::NothingToDo { .. }));
    assert!(!folder.path().join("policy.sh.asked").exists());
}
