//! The contract of a bucket on servers that keep its configuration, and remedies that are pasted.

use std::collections::BTreeMap;

use bytes::Bytes;
use records::contract::{
    Access, ContractError, Finding, Outcome, Setting, StoreContract, Waivers, assert, first_contact,
};
use records::s3::contract::{BucketContract, Prefixes};
use records::s3::{S3Connection, S3Settings, S3Store};
use records::{Key, RecordStore};

use crate::server::{Server, connection, paste, user_of_bucket};

const ROOT: (&str, &str) = ("test", "test");

async fn with_kms(server: Server) -> S3Settings {
    let mut settings = server.bucket().await;
    settings.kms_endpoint = Some(server.endpoint());
    settings.prefix = "team-a/".to_owned();
    settings
}

fn contract(settings: &S3Settings) -> BucketContract {
    let prefixes = Prefixes::new(["team-a/"], ["artifacts/"]);
    BucketContract::new(connection(settings.clone()), prefixes)
}

async fn outcomes(contract: &BucketContract) -> BTreeMap<&'static str, Outcome> {
    let findings = contract.check(Access::Write).await;
    findings.into_iter().map(|finding| (finding.setting.name(), finding.outcome)).collect()
}

async fn finding(contract: &BucketContract, setting: Setting) -> Finding {
    let findings = contract.check(Access::Write).await;
    findings.into_iter().find(|finding| finding.setting == setting).unwrap()
}

fn paste_all(server: Server, finding: &Finding) {
    for command in &finding.remedy.as_ref().unwrap().commands {
        paste(server, command, ROOT.0, ROOT.1);
    }
}

/// Makes a key and has the bucket name it.
async fn name_key(settings: &S3Settings) -> String {
    let connection = connection(settings.clone());
    let made = connection.kms().create_key().send().await.unwrap();
    let key = made.key_metadata().and_then(|metadata| metadata.arn()).unwrap().to_owned();
    let default = aws_sdk_s3::types::ServerSideEncryptionByDefault::builder()
        .sse_algorithm(aws_sdk_s3::types::ServerSideEncryption::AwsKms)
        .kms_master_key_id(&key)
        .build()
        .unwrap();
    let rule = aws_sdk_s3::types::ServerSideEncryptionRule::builder()
        .apply_server_side_encryption_by_default(default)
        .build();
    let configuration = aws_sdk_s3::types::ServerSideEncryptionConfiguration::builder()
        .rules(rule)
        .build()
        .unwrap();
    let put = connection.s3().put_bucket_encryption().bucket(&settings.bucket);
    put.server_side_encryption_configuration(configuration).send().await.unwrap();
    key
}

#[tokio::test]
async fn a_new_bucket_is_refused_and_its_remedies_mend_it_when_pasted() {
    let server = Server::MiniStack;
    let settings = with_kms(server).await;
    name_key(&settings).await;
    let contract = contract(&settings);
    let expected = [
        ("conditional_writes", Outcome::Warned),
        ("encryption_key", Outcome::Warned),
        ("lifecycle", Outcome::Failed),
        ("public_access_block", Outcome::Failed),
        ("tls_only", Outcome::Warned),
        ("versioning", Outcome::Failed),
    ];
    assert_eq!(outcomes(&contract).await, BTreeMap::from(expected));

    let store = S3Store::new(connection(settings)).unwrap();
    let (sentinel, body) = (Key::new("network/estate").unwrap(), Bytes::from_static(b"{}"));
    let waivers = Waivers::none();
    let refused = first_contact(&store, &contract, &waivers, &sentinel, body.clone()).await;
    let Err(ContractError::Refused(refusal)) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal.findings.len(), 3);
    assert_eq!(store.get(&sentinel).await.unwrap(), None, "the sentinel is removed again");

    for finding in contract.check(Access::Write).await {
        if finding.outcome != Outcome::Passed {
            paste_all(server, &finding);
        }
    }
    for (setting, outcome) in outcomes(&contract).await {
        assert_eq!(outcome, Outcome::Passed, "{setting}");
    }
    assert_eq!(assert(&contract, Access::Write, &waivers).await.unwrap(), []);
    first_contact(&store, &contract, &waivers, &sentinel, body).await.unwrap();
}

#[tokio::test]
async fn a_rule_that_deletes_records_is_taken_out_and_the_others_stay() {
    let server = Server::MiniStack;
    let settings = with_kms(server).await;
    let rules = r#"{"Rules":[
        {"ID":"logs","Status":"Enabled","Filter":{"Prefix":"logs/"},"Expiration":{"Days":90}},
        {"ID":"all","Status":"Enabled","Filter":{"Prefix":""},"Expiration":{"Days":30}}]}"#;
    let put = format!(
        "aws s3api put-bucket-lifecycle-configuration --bucket {} --lifecycle-configuration '{rules}'",
        settings.bucket
    );
    paste(server, &put, ROOT.0, ROOT.1);
    let contract = contract(&settings);
    let before = finding(&contract, Setting::Lifecycle).await;
    assert_eq!((before.outcome, before.waivable), (Outcome::Failed, false), "{before:#?}");
    paste_all(server, &before);
    let after = finding(&contract, Setting::Lifecycle).await;
    assert_eq!(after.outcome, Outcome::Passed, "{after:#?}");
    let kept = paste(
        server,
        &format!("aws s3api get-bucket-lifecycle-configuration --bucket {}", settings.bucket),
        ROOT.0,
        ROOT.1,
    );
    assert!(kept.contains("\"logs\"") && !kept.contains("\"all\""), "{kept}");
}

#[tokio::test]
async fn a_key_that_was_disabled_fails_until_it_is_enabled_again() {
    let server = Server::MiniStack;
    let settings = with_kms(server).await;
    let key = name_key(&settings).await;
    let kms = connection(settings.clone()).kms().clone();
    let contract = contract(&settings);

    kms.disable_key().key_id(&key).send().await.unwrap();
    let disabled = finding(&contract, Setting::EncryptionKey).await;
    assert_eq!((disabled.outcome, disabled.waivable), (Outcome::Failed, false), "{disabled:#?}");
    paste_all(server, &disabled);
    assert_eq!(finding(&contract, Setting::EncryptionKey).await.outcome, Outcome::Warned);

    kms.schedule_key_deletion().key_id(&key).pending_window_in_days(7).send().await.unwrap();
    let pending = finding(&contract, Setting::EncryptionKey).await;
    assert_eq!((pending.outcome, pending.waivable), (Outcome::Failed, false), "{pending:#?}");
    assert!(pending.found.contains("will be deleted"), "{}", pending.found);
    paste_all(server, &pending);
    assert_eq!(finding(&contract, Setting::EncryptionKey).await.outcome, Outcome::Warned);
}

#[tokio::test]
async fn a_key_that_does_not_exist_fails_and_is_replaced_by_a_new_one() {
    let server = Server::MiniStack;
    let settings = with_kms(server).await;
    let encryption = r#"{"Rules":[{"ApplyServerSideEncryptionByDefault":{"SSEAlgorithm":"aws:kms","KMSMasterKeyID":"arn:aws:kms:us-east-1:000000000000:key/11111111-1111-1111-1111-111111111111"}}]}"#;
    let put = format!(
        "aws s3api put-bucket-encryption --bucket {} --server-side-encryption-configuration '{encryption}'",
        settings.bucket
    );
    paste(server, &put, ROOT.0, ROOT.1);
    let contract = contract(&settings);
    let missing = finding(&contract, Setting::EncryptionKey).await;
    assert_eq!((missing.outcome, missing.waivable), (Outcome::Failed, false), "{missing:#?}");
    paste_all(server, &missing);
    assert_eq!(finding(&contract, Setting::EncryptionKey).await.outcome, Outcome::Warned);
}

#[tokio::test]
async fn what_an_identity_may_not_read_is_unreadable_until_it_may() {
    let server = Server::MiniStackIam;
    let (settings, sdk) = user_of_bucket("iam").await;
    let connection = S3Connection::new(settings, &sdk).unwrap();
    let contract = BucketContract::new(connection, Prefixes::new(["team-a/"], ["artifacts/"]));

    let denied = contract.check(Access::Read).await;
    for finding in &denied {
        assert_eq!(finding.outcome, Outcome::Unreadable, "{finding:#?}");
        paste_all(server, finding);
    }
    for finding in contract.check(Access::Read).await {
        assert_ne!(finding.outcome, Outcome::Unreadable, "{finding:#?}");
    }
}

/// What a team may have set, as the server keeps it and not as a test writes it.
#[tokio::test]
async fn rules_count_in_every_form_that_a_server_keeps() {
    let server = Server::MiniStack;
    let settings = with_kms(server).await;
    let contract = contract(&settings);
    let old = r#""NoncurrentVersionExpiration":{"NoncurrentDays":30}"#;
    let artifacts = r#"{"ID":"artifacts","Status":"Enabled","Filter":{"Prefix":"artifacts/"},"Expiration":{"Days":7}}"#;
    for (rule, outcome, waivable, told) in [
        (format!(r#""Filter":{{"Prefix":"team-a/"}},{old}"#), Outcome::Passed, true, "removes"),
        (format!(r#""Filter":{{"Prefix":""}},{old}"#), Outcome::Passed, true, "removes"),
        (format!(r#""Prefix":"team-a/",{old}"#), Outcome::Passed, true, "removes"),
        (
            format!(r#""Filter":{{"Prefix":"team-b/"}},{old}"#),
            Outcome::Failed,
            true,
            "old versions",
        ),
        (
            format!(r#""Filter":{{"Tag":{{"Key":"a","Value":"b"}}}},{old}"#),
            Outcome::Failed,
            true,
            "old versions",
        ),
        (
            format!(r#""Filter":{{"Prefix":"team-a/"}},{old},"Expiration":{{"Days":90}}"#),
            Outcome::Failed,
            false,
            "after 90 days",
        ),
        (
            format!(
                r#""Filter":{{"Prefix":"team-a/"}},{old},"Expiration":{{"Date":"2030-01-01T00:00:00Z"}}"#
            ),
            Outcome::Failed,
            false,
            "from 2030-01-01",
        ),
        (
            r#""Filter":{"Tag":{"Key":"a","Value":"b"}},"Expiration":{"Days":90}"#.to_owned(),
            Outcome::Failed,
            false,
            "whatever tags or sizes",
        ),
    ] {
        let rules =
            format!(r#"{{"Rules":[{artifacts},{{"ID":"rule","Status":"Enabled",{rule}}}]}}"#);
        set(
            server,
            &settings,
            "put-bucket-lifecycle-configuration",
            &format!("--lifecycle-configuration '{rules}'"),
        );
        let found = finding(&contract, Setting::Lifecycle).await;
        assert_eq!((found.outcome, found.waivable), (outcome, waivable), "{rule}: {found:#?}");
        assert!(found.found.contains(told), "{rule}: {}", found.found);
        if outcome != Outcome::Passed {
            paste_all(server, &found);
            let mended = finding(&contract, Setting::Lifecycle).await;
            assert_eq!(mended.outcome, Outcome::Passed, "{rule}: {mended:#?}");
        }
    }
    let kept = r#"{"Rules":[{"ID":"r","Status":"Enabled","Filter":{"Prefix":"team-a/"},"NoncurrentVersionExpiration":{"NoncurrentDays":30}}]}"#;
    set(
        server,
        &settings,
        "put-bucket-lifecycle-configuration",
        &format!("--lifecycle-configuration '{kept}'"),
    );
    let kept = finding(&contract, Setting::Lifecycle).await;
    assert!(kept.waivable && kept.found.contains("removes the artifacts under"), "{kept:#?}");
    paste_all(server, &kept);
    assert_eq!(finding(&contract, Setting::Lifecycle).await.outcome, Outcome::Passed);
}

/// One command of the AWS CLI on the bucket.
fn set(server: Server, settings: &S3Settings, operation: &str, arguments: &str) {
    let line = format!("aws s3api {operation} --bucket {} {arguments}", settings.bucket);
    paste(server, &line, ROOT.0, ROOT.1);
}

#[tokio::test]
async fn what_was_suspended_or_half_set_fails_until_it_is_mended() {
    let server = Server::MiniStack;
    let settings = with_kms(server).await;
    let contract = contract(&settings);
    let versioning = "--versioning-configuration Status=";
    set(server, &settings, "put-bucket-versioning", &format!("{versioning}Enabled"));
    set(server, &settings, "put-bucket-versioning", &format!("{versioning}Suspended"));
    set(
        server,
        &settings,
        "put-public-access-block",
        "--public-access-block-configuration BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,\
         RestrictPublicBuckets=false",
    );
    for (setting, told) in [
        (Setting::Versioning, "is suspended"),
        (Setting::PublicAccessBlock, "does not have RestrictPublicBuckets."),
    ] {
        let found = finding(&contract, setting).await;
        assert_eq!((found.outcome, found.waivable), (Outcome::Failed, true), "{found:#?}");
        assert!(found.found.contains(told), "{}", found.found);
        paste_all(server, &found);
        assert_eq!(finding(&contract, setting).await.outcome, Outcome::Passed);
    }
}

#[tokio::test]
async fn a_bucket_that_is_missing_fails_until_it_is_made() {
    let server = Server::MiniStack;
    let mut settings = server.settings(&format!("records-missing-{}", std::process::id()));
    settings.kms_endpoint = Some(server.endpoint());
    let contract = contract(&settings);
    let missing = contract.check(Access::Write).await;
    assert_eq!(missing.len(), 6);
    for finding in &missing {
        assert_eq!((finding.outcome, finding.waivable), (Outcome::Failed, false), "{finding:#?}");
        assert!(finding.found.contains("There is no bucket"), "{}", finding.found);
    }
    paste_all(server, &missing[0]);
    assert_eq!(finding(&contract, Setting::EncryptionKey).await.outcome, Outcome::Passed);
}

#[tokio::test]
async fn what_cannot_be_asked_is_not_checked() {
    // SeaweedFS has no public access block, and answers as servers do that know no such thing.
    let settings = Server::SeaweedFs.bucket().await;
    let contract = contract(&settings);
    let block = finding(&contract, Setting::PublicAccessBlock).await;
    assert_eq!(block.outcome, Outcome::NotChecked, "{block:#?}");
    assert_eq!(finding(&contract, Setting::Versioning).await.outcome, Outcome::Failed);
    // A key of a KMS that is not configured.
    let mut settings = with_kms(Server::MiniStack).await;
    name_key(&settings).await;
    settings.kms_endpoint = None;
    let prefixes = Prefixes::new(["team-a/"], ["artifacts/"]);
    let contract = BucketContract::new(connection(settings), prefixes);
    let key = finding(&contract, Setting::EncryptionKey).await;
    assert_eq!(key.outcome, Outcome::NotChecked, "{key:#?}");
    assert!(key.found.contains("no KMS is configured"), "{}", key.found);
}

#[tokio::test]
async fn a_key_without_its_material_fails_and_one_that_kms_does_not_rotate_passes() {
    let server = Server::MiniStack;
    let settings = with_kms(server).await;
    let contract = contract(&settings);
    for (made, outcome, told) in [
        ("--origin EXTERNAL", Outcome::Failed, "in its state PendingImport"),
        ("--key-spec RSA_2048 --key-usage ENCRYPT_DECRYPT", Outcome::Passed, "does not rotate"),
    ] {
        let key = paste(
            server,
            &format!("aws kms create-key {made} --query KeyMetadata.Arn --output text"),
            ROOT.0,
            ROOT.1,
        );
        let encryption = format!(
            r#"{{"Rules":[{{"ApplyServerSideEncryptionByDefault":{{"SSEAlgorithm":"aws:kms","KMSMasterKeyID":"{}"}}}}]}}"#,
            key.trim()
        );
        set(
            server,
            &settings,
            "put-bucket-encryption",
            &format!("--server-side-encryption-configuration '{encryption}'"),
        );
        let found = finding(&contract, Setting::EncryptionKey).await;
        assert_eq!(found.outcome, outcome, "{made}: {found:#?}");
        assert!(found.found.contains(told), "{made}: {}", found.found);
        if outcome == Outcome::Failed {
            assert!(!found.waivable, "{found:#?}");
            paste_all(server, &found);
        }
    }
}

/// The identity may read the bucket's settings, and not look at the key.
#[tokio::test]
async fn a_key_that_an_identity_may_not_look_at_is_unreadable_until_it_may() {
    let server = Server::MiniStackIam;
    let root = |line: &str| paste(server, line, ROOT.0, ROOT.1);
    let (settings, sdk) = user_of_bucket("key").await;
    let user = settings.bucket.clone();
    let key = root("aws kms create-key --query KeyMetadata.Arn --output text").trim().to_owned();
    root(&format!(
        "aws s3api put-bucket-encryption --bucket {user} --server-side-encryption-configuration \
         '{{\"Rules\":[{{\"ApplyServerSideEncryptionByDefault\":{{\"SSEAlgorithm\":\"aws:kms\",\
         \"KMSMasterKeyID\":\"{key}\"}}}}]}}'"
    ));
    root(&format!(
        "aws iam put-user-policy --user-name {user} --policy-name bucket --policy-document \
         '{{\"Version\":\"2012-10-17\",\"Statement\":[{{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\
         \"Resource\":\"*\"}}]}}'"
    ));
    let connection = S3Connection::new(settings, &sdk).unwrap();
    let contract = BucketContract::new(connection, Prefixes::new(["team-a/"], ["artifacts/"]));
    let denied = finding(&contract, Setting::EncryptionKey).await;
    assert_eq!((denied.outcome, denied.waivable), (Outcome::Unreadable, true), "{denied:#?}");
    assert!(denied.found.contains("may not use the KMS key"), "{}", denied.found);
    assert!(denied.found.contains("kms:DescribeKey"), "{}", denied.found);
    paste_all(server, &denied);
    let told = finding(&contract, Setting::EncryptionKey).await;
    assert_ne!(told.outcome, Outcome::Unreadable, "{told:#?}");
}
