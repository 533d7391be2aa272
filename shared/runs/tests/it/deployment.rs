//! `deployment.toml`: which pushes touch which estates, and who may do what.

use engine::identifiers::Principal;
use engine::record::key::EstateName;
use runs::deployment::{Action, Deployment, DeploymentError};

pub(crate) const DEPLOYMENT: &str = r#"
[repositories."github.com/acme/infra"]
webhook_secret = "plumbline/webhook"
token = "plumbline/token"

[estates.network]
repository = "github.com/acme/infra"
paths = ["network", "modules/vpc/"]

[estates.service]
repository = "github.com/acme/infra"
branch = "release"
approvals = { author_may_approve = true }

[principals."arn:aws:iam::111122223333:user/ada"]
estates = ["network"]
actions = ["read", "plan", "approve"]
git_logins = ["ada"]

[principals."arn:aws:sts::111122223333:assumed-role/Deployer/*"]
estates = ["*"]
actions = ["approve"]
"#;

fn principal(text: &str) -> Principal {
    Principal::from_stored(text)
}

fn estate(name: &str) -> EstateName {
    EstateName::new(name).unwrap()
}

#[test]
fn a_push_touches_the_estates_whose_branch_and_paths_it_changes() {
    let deployment = Deployment::parse(DEPLOYMENT).unwrap();
    let touched = |branch: &str, files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        deployment.touched("github.com/acme/infra", branch, Some(&files)).join(" ")
    };
    assert_eq!(touched("main", &["network/main.tf"]), "network");
    assert_eq!(touched("main", &["modules/vpc/main.tf", "README.md"]), "network");
    assert_eq!(touched("main", &["network-old/main.tf", "README.md"]), "");
    assert_eq!(touched("release", &["anything"]), "service");
    assert_eq!(touched("feature", &["network/main.tf"]), "");
    assert_eq!(deployment.touched("github.com/acme/infra", "main", None), ["network"]);
    assert!(deployment.touched("github.com/evil/infra", "main", None).is_empty());
}

#[test]
fn who_is_not_listed_may_do_nothing() {
    let deployment = Deployment::parse(DEPLOYMENT).unwrap();
    let ada = principal("arn:aws:iam::111122223333:user/ada");
    let session = principal("arn:aws:sts::111122223333:assumed-role/Deployer/eve@acme");
    assert!(deployment.permits(&ada, Action::Plan, &estate("network")));
    assert!(!deployment.permits(&ada, Action::Apply, &estate("network")));
    assert!(!deployment.permits(&ada, Action::Plan, &estate("service")));
    assert!(deployment.permits(&session, Action::Approve, &estate("service")));
    assert!(!deployment.permits(&session, Action::Plan, &estate("service")));
    for other in [
        "arn:aws:sts::111122223333:assumed-role/Deployer2/eve",
        "arn:aws:sts::111122223333:assumed-role/Deployer/",
        "arn:aws:sts::444455556666:assumed-role/Deployer/eve",
        "",
    ] {
        assert!(!deployment.permits(&principal(other), Action::Approve, &estate("network")));
    }
}

#[test]
fn mistakes_are_named() {
    let entry = |text: &str| match Deployment::parse(text) {
        Err(DeploymentError::Entry { table, .. }) => table,
        other => panic!("{other:?}"),
    };
    assert_eq!(entry("[estates.a]\nrepository = \"github.com/acme/other\"\n"), "estates.a");
    assert_eq!(
        entry("[repositories.\"acme/infra\"]\nwebhook_secret = \"x\"\n"),
        "repositories.\"acme/infra\""
    );
    assert_eq!(
        entry("[principals.p]\nestates = [\"nowhere\"]\nactions = []\n"),
        "principals.\"p\""
    );
    let misspelt = Deployment::parse("[approvals]\nrequierd = false\n");
    assert!(matches!(misspelt, Err(DeploymentError::Invalid(_))));
}
