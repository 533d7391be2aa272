//! docs/stores.md has what every store, its contract and the way to it may say, in the code's words.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::PathBuf;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use records::contract::{ContractError, Finding, Setting, StoreKind, Waivers};
use records::kubernetes::{Cluster, ClusterAccess, ManagedCluster};
use records::s3::{S3Connection, S3Settings};
use records::{FileOperation, Key, KeyFault, MAX_KEY_LENGTH, StoreError, Version};

use crate::bucket::pretenders::pretences;
use crate::key;
use crate::page::{says, table};

/// What a text that is no key is refused with.
fn no_key(text: &str) -> StoreError {
    Key::new(text).unwrap_err()
}

fn for_a_store_at_hand(fault: KeyFault) -> StoreError {
    StoreError::InvalidKey { key: "prod/r".to_owned(), fault }
}

fn io_error(kind: io::ErrorKind) -> StoreError {
    StoreError::Io {
        path: PathBuf::from("/srv/.plumb/records/a.record"),
        operation: FileOperation::Write,
        cause: kind.into(),
    }
}

fn settings_refused(change: impl FnOnce(&mut S3Settings)) -> StoreError {
    let sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-central-1"))
        .build();
    let mut settings = S3Settings::new("records");
    change(&mut settings);
    S3Connection::new(settings, &sdk).unwrap_err()
}

fn store_errors() -> Vec<StoreError> {
    let mut all: Vec<_> = ["", "a\0b", "/a", "a//b", "a/../b"].map(no_key).into();
    all.push(no_key(&"k".repeat(MAX_KEY_LENGTH + 1)));
    all.push(for_a_store_at_hand(KeyFault::PathTooLong));
    all.push(for_a_store_at_hand(KeyFault::SegmentTooLong {
        segment: "prod".to_owned(),
        length: 307,
        limit: 255,
    }));
    all.extend([
        StoreError::Conflict {
            key: key("prod/r"),
            expected: Version::absent(),
            actual: Version::new("7f"),
        },
        StoreError::AlreadyExists { key: key("prod/plans/1") },
        StoreError::RootMissing { root: "/srv/.plumb".to_owned() },
        StoreError::UnsupportedLayout {
            root: "/srv/.plumb".to_owned(),
            found: "plumbline directory store 2".to_owned(),
            supported: "plumbline directory store 1",
        },
        StoreError::TooLarge { key: key("prod/r"), size: 2, limit: 1 },
        StoreError::Corrupt { location: "s3://b".to_owned(), problem: "it is".to_owned() },
        StoreError::Unanswered { key: key("prod/r"), source: None },
        StoreError::Service {
            service: "s3://b".to_owned(),
            operation: "GetObject".to_owned(),
            source: "InternalError".into(),
        },
    ]);
    all.extend(
        [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::StorageFull,
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::Unsupported,
            io::ErrorKind::IsADirectory,
        ]
        .map(io_error),
    );
    let tags = |tags: &[&str]| -> BTreeMap<String, String> {
        tags.iter().map(|tag| ((*tag).to_owned(), String::new())).collect()
    };
    let many: Vec<String> = (0..11).map(|number| number.to_string()).collect();
    let many = tags(&many.iter().map(String::as_str).collect::<Vec<_>>());
    all.extend([
        settings_refused(|it| it.bucket = String::new()),
        settings_refused(|it| it.bucket = "mfzwi23gnjvgw.mrap".to_owned()),
        settings_refused(|it| it.bucket = "fast--euc1-az1--x-s3".to_owned()),
        settings_refused(|it| it.prefix = "../a".to_owned()),
        settings_refused(|it| it.expected_bucket_owner = Some("me".to_owned())),
        settings_refused(|it| it.tags = many),
        settings_refused(|it| it.tags = tags(&["aws:x"])),
    ]);
    all
}

/// What the way to a cluster may be refused with.
async fn cluster_errors() -> Vec<Box<dyn Error>> {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = |name: &str, user: &str| {
        let path = folder.path().join(name);
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster: {{server: \
             \"https://10.0.0.1\"}}\nusers:\n- name: c\n  user: {user}\ncontexts:\n- name: c\n  context: {{cluster: \
             c, user: c}}\n"
        );
        std::fs::write(&path, text).unwrap();
        path
    };
    let at = |path: PathBuf, context: Option<&str>| ClusterAccess::Kubeconfig {
        path,
        context: context.map(str::to_owned),
    };
    let failing = "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: \"false\"}}";
    let no_key = "{client-certificate-data: bm90aGluZw==, client-key-data: bm90aGluZw==}";
    let mut all: Vec<Box<dyn Error>> = Vec::new();
    for access in [
        at(folder.path().join("missing"), None),
        at(kubeconfig("a", "{token: a}"), Some("nowhere")),
        at(kubeconfig("b", failing), None),
        at(kubeconfig("c", no_key), None),
        ClusterAccess::InCluster { server: None },
        ClusterAccess::InCluster { server: Some("no address".to_owned()) },
    ] {
        all.push(Cluster::connect(&access).await.unwrap_err().into());
    }
    all.push("production".parse::<ManagedCluster>().unwrap_err().into());
    all
}

fn contract_errors() -> Vec<Box<dyn Error>> {
    let not_listed =
        || ContractError::NotListed { location: "s3://b".to_owned(), key: key("prod/estate") };
    let of_bucket = StoreKind::S3.settings();
    vec![
        not_listed().into(),
        ContractError::SentinelKept {
            refused: Box::new(not_listed()),
            key: key("prod/estate"),
            cause: Box::new(StoreError::Unanswered { key: key("prod/estate"), source: None }),
        }
        .into(),
        Waivers::parse(["versioned"], &of_bucket).unwrap_err().into(),
        Waivers::parse(["read_isolation"], &of_bucket).unwrap_err().into(),
        Waivers::parse(["versioning"], &[]).unwrap_err().into(),
    ]
}

#[tokio::test]
async fn every_error_is_on_the_page_and_the_page_says_nothing_else() {
    let mut all: Vec<Box<dyn Error>> = store_errors().into_iter().map(Into::into).collect();
    all.extend(pretences().await.into_iter().map(Into::into));
    all.extend(cluster_errors().await);
    all.extend(contract_errors());
    let rows = table("Errors of every store");
    let mut seen = vec![false; rows.len()];
    for error in all {
        let said = error.to_string().replace('\n', " ");
        let row =
            rows.iter().position(|row| says(&row[1].replace('`', ""), &said.replace('`', "")));
        seen[row.unwrap_or_else(|| panic!("docs/stores.md does not say: {said}"))] = true;
    }
    let unseen: Vec<_> = rows.iter().zip(seen).filter(|(_, seen)| !seen).collect();
    assert!(unseen.is_empty(), "docs/stores.md says what nothing comes to: {unseen:#?}");
}

/// The rules are on the page in the order of reports, with what each of them protects.
#[test]
fn every_setting_is_on_the_page_with_what_it_protects() {
    for (kind, heading) in
        [(StoreKind::S3, "A bucket"), (StoreKind::Kubernetes, "The contract of a cluster")]
    {
        let rows: Vec<_> =
            table(heading).into_iter().map(|row| (row[0].clone(), row[2].clone())).collect();
        let told = |setting: Setting| (format!("`{setting}`"), setting.protects().to_owned());
        let settings: Vec<_> = kind.settings().into_iter().map(told).collect();
        assert_eq!(rows, settings, "{heading}");
    }
    let unfilled = Finding::unfilled(Setting::Lifecycle);
    assert!(!unfilled.waivable, "{unfilled:?}");
}
