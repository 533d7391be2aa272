//! docs/stores.md has every finding of a bucket and every cause of a refusal, in the code's words.

use std::time::Duration;

use records::contract::{Access, Finding, StoreContract};
use records::s3::contract::{BucketContract, Prefixes};
use records::s3::{S3Connection, S3Store};
use records::{
    BlameKind, Denial, PolicyKind, RecordStore, RefusalCause, ServiceRefusal, StoreError,
};
use serde_json::{Value, json};

use super::canned::{Answer, Asked, connection, sdk, serve, settings};
use super::causes::{KEY, ROLE, no_credentials, no_region, refused};
use super::key_of_bucket::{encryption, metadata, rotation};
use super::readings::{block, findings, good, lifecycle};
use crate::page::{FindingTable, is_remedy, lines, says, table};

const NONCURRENT: &str = "<NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays>\
                          </NoncurrentVersionExpiration>";

/// What a good bucket comes to where one part of it answers otherwise.
async fn with(part: &'static str, answer: Answer) -> Vec<Finding> {
    findings(move |asked| if asked.is_for(part) { answer.clone() } else { good(asked) }).await
}

/// The same for a good bucket that names a key of which KMS says this.
async fn with_key(described: Answer, rotated: Answer) -> Vec<Finding> {
    findings(move |asked| match () {
        () if asked.is_for("encryption") => encryption(),
        () if asked.is_kms("DescribeKey") => described.clone(),
        () if asked.is_kms("GetKeyRotationStatus") => rotated.clone(),
        () => good(asked),
    })
    .await
}

async fn of_prefixes(
    prefixes: Prefixes,
    answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
) -> Vec<Finding> {
    let url = serve(answer).await;
    BucketContract::new(connection(&url), prefixes).check(Access::Write).await
}

fn statements(statements: Value) -> Answer {
    Answer::ok(json!({ "Version": "2012-10-17", "Statement": statements }).to_string())
}

#[tokio::test]
async fn every_finding_is_on_the_page_and_the_page_says_nothing_else() {
    let none = Answer::s3(404, "NoSuchBucketPolicy", "The bucket policy does not exist");
    let absent = |code| Answer::s3(404, code, "It does not exist");
    let denied = Answer::s3(403, "AccessDenied", "Access Denied");
    let mut all = vec![
        findings(good).await,
        with("versioning", Answer::ok("<VersioningConfiguration/>")).await,
        with(
            "versioning",
            Answer::ok("<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>"),
        )
        .await,
        with("lifecycle", absent("NoSuchLifecycleConfiguration")).await,
        with("lifecycle", lifecycle(&format!("<Prefix></Prefix>{NONCURRENT}"))).await,
        with(
            "lifecycle",
            lifecycle(&format!("<Prefix></Prefix>{NONCURRENT}<Expiration><Days>1</Days></Expiration>")),
        )
        .await,
        with(
            "lifecycle",
            lifecycle(&format!(
                "<Filter><Prefix>team-a/</Prefix></Filter>{NONCURRENT}</Rule><Rule><ID>tagged</ID><Status>Enabled\
                 </Status><Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter><Expiration>\
                 <Date>2030-01-01T00:00:00.000Z</Date></Expiration>"
            )),
        )
        .await,
        with("publicAccessBlock", absent("NoSuchPublicAccessBlockConfiguration")).await,
        with("publicAccessBlock", block("false")).await,
        with("policy", none).await,
        with("policy", Answer::ok("no document")).await,
        with("policy", denied.clone()).await,
        with("versioning", Answer::s3(400, "MalformedXML", "Nobody knows why")).await,
        with("publicAccessBlock", Answer::s3(501, "NotImplemented", "It is not")).await,
        findings(|_| Answer::s3(404, "NoSuchBucket", "There is none")).await,
        with_key(metadata("Enabled"), rotation(true)).await,
        with_key(metadata("Enabled"), rotation(false)).await,
        with_key(metadata("Enabled"), Answer::kms("UnsupportedOperationException", "no")).await,
        with_key(metadata("Enabled"), Answer::kms("AccessDeniedException", "no")).await,
        with_key(Answer::kms("NotFoundException", "There is none"), rotation(true)).await,
        with_key(Answer { body: "{}".to_owned(), ..rotation(true) }, rotation(true)).await,
    ];
    for state in
        ["Disabled", "PendingDeletion", "PendingImport", "Unavailable", "Creating", "Other"]
    {
        all.push(with_key(metadata(state), rotation(true)).await);
    }
    // Artifacts beside records, alone, and among them.
    let apart = Prefixes::new(["team-a/"], ["artifacts/"]);
    all.push(of_prefixes(apart, good).await);
    let alone = Prefixes::new(Vec::<String>::new(), ["artifacts/"]);
    all.push(of_prefixes(alone, good).await);
    let among = Prefixes::new([""], ["artifacts/"]);
    all.push(
        of_prefixes(among, |asked| match () {
            () if asked.is_for("policy") => statements(json!([])),
            () if asked.is_for("lifecycle") => lifecycle(&format!(
                "<Prefix></Prefix>{NONCURRENT}</Rule><Rule><ID>artifacts</ID><Status>Enabled</Status><Prefix>artifacts/\
                 </Prefix><Expiration><Days>7</Days></Expiration>"
            )),
            () => good(asked),
        })
        .await,
    );
    // A server whose KMS is not configured.
    let url =
        serve(|asked| if asked.is_for("encryption") { encryption() } else { good(asked) }).await;
    let mut elsewhere = settings(&url);
    elsewhere.kms_endpoint = None;
    let contract = BucketContract::new(
        S3Connection::new(elsewhere, &sdk()).unwrap(),
        Prefixes::new(["team-a/"], Vec::<String>::new()),
    );
    all.push(contract.check(Access::Write).await);

    let mut page = FindingTable::below("What is found of a bucket");
    for finding in all.iter().flatten() {
        page.take(finding);
    }
    page.finish();
}

/// What a read comes to that S3 answers like this.
async fn read(status: u16, code: &str, words: &str) -> ServiceRefusal {
    let answer = Answer::s3(status, code, words);
    let url = serve(move |_| answer.clone()).await;
    let mut settings = settings(&url);
    // How long throttled requests are repeated.
    settings.timeouts.answer = Duration::from_secs(1);
    refused(
        S3Store::new(S3Connection::new(settings, &sdk()).unwrap()).unwrap().list("network/").await,
    )
}

async fn denied(words: &str) -> ServiceRefusal {
    read(403, "AccessDenied", words).await
}

async fn refusals() -> Vec<ServiceRefusal> {
    let mut all = Vec::new();
    for (action, resource) in [("kms:Decrypt", KEY), ("s3:ListBucket", "arn:aws:s3:::records")] {
        let start =
            format!("User: {ROLE} is not authorized to perform: {action} on resource: {resource}");
        all.push(denied(&start).await);
        for policy in [
            "identity-based policy",
            "resource-based policy",
            "permissions boundary",
            "session policy",
            "service control policy",
            "resource control policy",
            "VPC endpoint policy",
        ] {
            all.push(
                denied(&format!("{start} because no {policy} allows the {action} action")).await,
            );
            all.push(denied(&format!("{start} with an explicit deny in a {policy}")).await);
        }
        let arn = "arn:aws:iam::111122223333:policy/frozen";
        let named = format!("{start} with an explicit deny in an identity-based policy: {arn}");
        all.push(denied(&named).await);
    }
    all.push(denied("Access Denied").await);
    all.push(
        denied(&format!(
            "User: {ROLE} is not authorized to perform: kms:GenerateDataKey on this resource because the \
             resource does not exist in this Region, no resource-based policies allow access, or a \
             resource-based policy explicitly denies access"
        ))
        .await,
    );
    for (code, words) in [
        ("KMS.DisabledException", format!("{KEY} is disabled.")),
        ("KMS.KMSInvalidStateException", format!("{KEY} is pending deletion.")),
        ("KMS.KMSInvalidStateException", format!("{KEY} is pending import.")),
        ("KMS.KMSInvalidStateException", "words that nobody knows".to_owned()),
        ("KMS.NotFoundException", format!("Key '{KEY}' does not exist")),
    ] {
        all.push(read(400, code, &words).await);
    }
    for (status, code) in [
        (503, "SlowDown"),
        (403, "RequestTimeTooSkewed"),
        (400, "ExpiredToken"),
        (403, "InvalidAccessKeyId"),
        (301, "PermanentRedirect"),
    ] {
        all.push(read(status, code, "As it is").await);
    }
    let url = serve(|_| Answer::s3(403, "AccessDenied", "Access Denied")).await;
    let mut pinned = settings(&url);
    pinned.expected_bucket_owner = Some("111122223333".to_owned());
    let store = S3Store::new(S3Connection::new(pinned, &sdk()).unwrap()).unwrap();
    all.push(refused(store.list("network/").await));
    all.push(no_credentials(&url).await);
    all.push(no_region());
    all
}

/// The row of a table of causes that says a refusal: cause, what provokes it, how it is told, remedy.
fn row_of_cause(rows: &[Vec<String>], refusal: &ServiceRefusal) -> Option<usize> {
    rows.iter().position(|row| {
        let told = lines(&row[2]);
        let explained = match &refusal.cause {
            RefusalCause::KeyDenied(_) | RefusalCause::AccessDenied(_) => told.len() == 1,
            _ => told.get(1).is_some_and(|told| says(told, &refusal.explanation())),
        };
        says(&told[0], &refusal.headline())
            && explained
            && is_remedy(&row[3], Some(&refusal.remedy))
    })
}

/// The row of the table of policies that says a denial: the policy, what it does, of what, remedy.
fn row_of_policy(rows: &[Vec<String>], refusal: &ServiceRefusal, denial: &Denial) -> Option<usize> {
    let of = if matches!(refusal.cause, RefusalCause::KeyDenied(_)) { "key" } else { "bucket" };
    let (policy, does) = match &denial.blame {
        None => ("none is named".to_owned(), "denies"),
        Some(blame) => (
            blame.policy.to_string(),
            match blame.how {
                BlameKind::ExplicitDeny => "denies",
                BlameKind::NoAllow => "allows nothing",
                BlameKind::Undisclosed => "is not told",
            },
        ),
    };
    rows.iter().position(|row| {
        row[0] == policy
            && (row[1] == does || row[1] == "either")
            && (row[2] == of || row[2] == "either")
            && is_remedy(&row[3], Some(&refusal.remedy))
    })
}

#[tokio::test]
async fn every_cause_of_a_refusal_is_on_the_page_and_the_page_says_nothing_else() {
    let causes = table("Errors of a bucket and its key");
    let explanations = table("How a denial is explained");
    let policies = table("What mends a denial");
    let mut seen =
        [vec![false; causes.len()], vec![false; explanations.len()], vec![false; policies.len()]];
    for refusal in refusals().await {
        let row = row_of_cause(&causes, &refusal);
        let row =
            row.unwrap_or_else(|| panic!("docs/stores.md does not say this cause: {refusal:#?}"));
        seen[0][row] = true;
        let (RefusalCause::KeyDenied(denial) | RefusalCause::AccessDenied(denial)) = &refusal.cause
        else {
            continue;
        };
        let explanation = refusal.explanation();
        let row = explanations.iter().position(|row| says(&row[1], &explanation));
        seen[1][row.unwrap_or_else(|| panic!("docs/stores.md does not say: {explanation}"))] = true;
        let row = row_of_policy(&policies, &refusal, denial);
        let row = row.unwrap_or_else(|| panic!("docs/stores.md does not mend: {refusal:#?}"));
        seen[2][row] = true;
    }
    for (rows, seen) in [causes, explanations, policies].iter().zip(seen) {
        let unseen: Vec<_> = rows.iter().zip(seen).filter(|(_, seen)| !seen).collect();
        assert!(unseen.is_empty(), "docs/stores.md says what nothing comes to: {unseen:#?}");
    }
}

/// Every sort of policy that AWS may blame has its remedy on the page.
#[test]
fn every_sort_of_policy_is_on_the_page() {
    let policies = table("What mends a denial");
    for policy in [
        PolicyKind::Identity,
        PolicyKind::Resource,
        PolicyKind::PermissionsBoundary,
        PolicyKind::Session,
        PolicyKind::ServiceControl,
        PolicyKind::ResourceControl,
        PolicyKind::VpcEndpoint,
    ] {
        assert!(policies.iter().any(|row| row[0] == policy.to_string()), "{policy}");
    }
}

/// A bucket that is missing is no refusal, and says how it is made.
#[tokio::test]
async fn a_missing_bucket_says_how_it_is_made() {
    let url = serve(|_| Answer::s3(404, "NoSuchBucket", "There is none")).await;
    let missing = S3Store::new(connection(&url)).unwrap().list("network/").await.unwrap_err();
    assert!(matches!(missing, StoreError::RootMissing { .. }), "{missing:?}");
    let said = missing.to_string();
    assert!(said.contains("(aws s3api create-bucket --bucket records"), "{said}");
}
