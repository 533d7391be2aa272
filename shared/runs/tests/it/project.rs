//! `plumb.toml`: what it may say, what overrides it, and which estate a directory is.

use runs::project::{EstateSelection, Project, ProjectError, S3Table, Seconds, StoreTable};
use std::num::NonZeroUsize;
use std::path::Path;

const TEAM: &str = r#"
[store.s3]
bucket = "records"
prefix = "team"
bucket_owner = "111122223333"
allow_insecure = ["lifecycle"]

[plans]
expiry = "12h"

[estates.network]
directory = "network"

[estates.production]
directory = "service"
var_files = ["production.tfvars"]
depends_on = ["network"]

[estates.staging]
directory = "service"
var_files = ["staging.tfvars"]
"#;

fn parse(text: &str) -> Result<Project, ProjectError> {
    Project::parse(text, [])
}

fn s3(project: &Project) -> &S3Table {
    match &project.store {
        StoreTable::S3(settings) => settings,
        other => panic!("{other:?}"),
    }
}

fn select(project: &Project, directory: &str, name: Option<&str>) -> Result<String, String> {
    let selection = EstateSelection { directory: Path::new(directory), name };
    project.select(selection).map(|e| e.name.to_string()).map_err(|e| e.to_string())
}

#[test]
fn nothing_written_is_a_directory_beside_each_configuration() {
    let project = parse("").unwrap();
    assert_eq!(project, Project::default());
    assert_eq!(select(&project, "anything", None).unwrap(), "default");
    assert_eq!(project.plans.expiry, Seconds(24 * 60 * 60));
    assert!(project.approvals.required && !project.approvals.author_may_approve);
}

#[test]
fn estates_are_found_by_their_directory_and_by_name_where_several_share_one() {
    let project = parse(TEAM).unwrap();
    assert_eq!(s3(&project).bucket_owner.as_deref(), Some("111122223333"));
    assert_eq!(select(&project, "./network/", None).unwrap(), "network");
    assert_eq!(select(&project, "service", Some("staging")).unwrap(), "staging");
    let ambiguous = select(&project, "service", None).unwrap_err();
    assert!(ambiguous.contains("production, staging"), "{ambiguous}");
    let elsewhere = select(&project, "service", Some("network")).unwrap_err();
    assert!(elsewhere.contains("\"network\""), "{elsewhere}");
    assert!(select(&project, "service", Some("nobody")).unwrap_err().contains("no estate"));
    // A shared store takes no estate without a name of its own.
    let unnamed = select(&project, "other", None).unwrap_err();
    assert!(unnamed.contains("[estates.NAME]"), "{unnamed}");
}

#[test]
fn what_is_not_known_is_refused_where_it_stands() {
    for (text, says) in [
        ("[store.s3]\nbucket = \"b\"\nbucket_ower = \"1\"\n", "bucket_ower"),
        ("[store.s3]\nprefix = \"b\"\n", "bucket"),
        ("[store.gcs]\nbucket = \"b\"\n", "gcs"),
        ("[store.s3]\nbucket = \"b\"\n[store.dir]\n", "store"),
        ("[plan]\nexpiry = \"1h\"\n", "plan"),
        ("[plans]\nexpiry = \"soon\"\n", "length of time"),
        ("[plans]\nexpiry = \"0h\"\n", "length of time"),
        ("[estates.a]\ndirectory = \"../a\"\n", "leaves the folder"),
        ("[estates.a]\ndirectory = \"a\"\nschedule = \"daily\"\n", "rate(1 day)"),
        ("[estates.a]\ndirectory = \"a\"\ndepends_on = [\"b\"]\n", "no such estate"),
        ("[store", "expected"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}\n{error}");
    }
    let placed = parse("[plans]\nexpiry = \"soon\"\n").unwrap_err().to_string();
    assert!(placed.contains("line 2"), "{placed}");
}

#[test]
fn estates_that_wait_for_each_other_are_refused() {
    let estate = |name: &str, on: &str| {
        format!("[estates.{name}]\ndirectory = \"{name}\"\ndepends_on = [\"{on}\"]\n")
    };
    let text = [estate("a", "b"), estate("b", "c"), estate("c", "b")].concat();
    let error = parse(&text).unwrap_err();
    assert!(matches!(error, ProjectError::Circle { circle } if circle == ["b", "c", "b"]));
}

#[test]
fn a_diamond_of_estates_is_no_circle() {
    let text = "\
        [estates.a]\ndirectory = \"a\"\ndepends_on = [\"b\", \"c\"]\n\
        [estates.b]\ndirectory = \"b\"\ndepends_on = [\"d\"]\n\
        [estates.c]\ndirectory = \"c\"\ndepends_on = [\"d\"]\n\
        [estates.d]\ndirectory = \"d\"\n";
    assert_eq!(parse(text).unwrap().estates.len(), 4);
}

#[test]
fn the_environment_overrides_what_is_written() {
    let project = Project::parse(
        TEAM,
        [
            ("PLUMB__STORE__S3__BUCKET", "other"),
            ("PLUMB__STORE__S3__BUCKET_OWNER", "012345678901"),
            ("PLUMB__STORE__S3__PATH_STYLE", "true"),
            ("PLUMB__STORE__S3__ALLOW_INSECURE", "[\"versioning\"]"),
            ("PLUMB__STORE__S3__PARALLELISM", "4"),
            ("PLUMB__PLANS__EXPIRY", "1h"),
            ("PLUMB_ESTATE", "no override"),
            ("HOME", "/"),
        ],
    )
    .unwrap();
    let settings = s3(&project);
    assert_eq!((settings.bucket.as_str(), settings.prefix.as_str()), ("other", "team"));
    assert_eq!(settings.bucket_owner.as_deref(), Some("012345678901"));
    assert!(settings.path_style);
    assert_eq!(settings.parallelism, NonZeroUsize::new(4));
    assert_eq!(settings.allow_insecure, ["versioning"]);
    assert_eq!(project.plans.expiry, Seconds(3600));
}

#[test]
fn another_store_can_be_named_by_the_environment() {
    let variables = [("PLUMB__STORE__KUBERNETES__NAMESPACE", "records")];
    let project = Project::parse(TEAM, variables).unwrap();
    assert!(matches!(project.store, StoreTable::Kubernetes(k) if k.namespace == "records"));
}

#[test]
fn an_override_of_nothing_is_refused() {
    for variable in ["PLUMB__STORE__S3__BUKET", "PLUMB__", "PLUMB__PLANS__EXPIRY__X"] {
        let error = Project::parse(TEAM, [(variable, "x")]).unwrap_err();
        assert!(matches!(error, ProjectError::Override { .. }), "{variable}: {error}");
    }
}

#[test]
fn the_times_of_transactions_are_settings() {
    let terms = parse("").unwrap().terms();
    assert_eq!(terms, engine::transaction::Terms::default());
    let text = "[transactions]\nlease = \"6s\"\nmargin = \"0s\"\nskew = \"2s\"\n[plans]\nexpiry = \"1h\"\n";
    let overriding = [("PLUMB__TRANSACTIONS__ATTEMPTS_WITHOUT_PROGRESS", "3")];
    let terms = Project::parse(text, overriding).unwrap().terms();
    assert_eq!((terms.lease, terms.margin, terms.skew), (6, 0, 2));
    assert_eq!((terms.plan_expiry, terms.attempts_without_progress), (3600, 3));
    for (refused, says) in [
        ("lease = \"10s\"", "more than twice as long"),
        ("lease = \"0s\"", "no length of time"),
        ("margin = \"soon\"", "no length of time"),
        ("skew = \"9223372036854775807s\"", "no length of time"),
        ("attempts_without_progress = 0", "nonzero"),
    ] {
        let error = parse(&format!("[transactions]\n{refused}\n")).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
