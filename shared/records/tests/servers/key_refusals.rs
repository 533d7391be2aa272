//! What servers refuse for reasons of policies and keys, and the cause that is named for it.

use std::time::{Duration, Instant, SystemTime};

use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use aws_types::sdk_config::TimeSource;
use bytes::Bytes;
use records::s3::{S3Artifacts, S3Connection, S3Settings, S3Store};
use records::{
    ArtifactStore, Key, KeyProblem, PutMode, RecordStore, RefusalCause, ServiceRefusal, StoreError,
};

use crate::proxy::{Fate, Proxy, error};
use crate::server::{Server, connection, paste, sdk_of, user_of_bucket};

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, StoreError>) -> ServiceRefusal {
    match result {
        Err(StoreError::Refused(refusal)) => *refusal,
        other => panic!("it is not refused for a cause: {other:?}"),
    }
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

async fn encrypted_with(settings: &S3Settings, key: &str) {
    let default = aws_sdk_s3::types::ServerSideEncryptionByDefault::builder()
        .sse_algorithm(aws_sdk_s3::types::ServerSideEncryption::AwsKms)
        .kms_master_key_id(key)
        .build()
        .unwrap();
    let rule = aws_sdk_s3::types::ServerSideEncryptionRule::builder()
        .apply_server_side_encryption_by_default(default)
        .build();
    let configuration = aws_sdk_s3::types::ServerSideEncryptionConfiguration::builder()
        .rules(rule)
        .build()
        .unwrap();
    let put = connection(settings.clone()).s3().put_bucket_encryption().bucket(&settings.bucket);
    put.server_side_encryption_configuration(configuration).send().await.unwrap();
}

/// It looks at the key of what is read, and not at that of what is written under the bucket's default.
#[tokio::test]
async fn localstack_refuses_reads_for_a_key_that_is_disabled_or_will_be_deleted() {
    let mut settings = Server::LocalStack.bucket().await;
    settings.kms_endpoint = Some(Server::LocalStack.endpoint());
    let connection = connection(settings.clone());
    let kms = connection.kms();
    let made = kms.create_key().send().await.unwrap();
    let arn = made.key_metadata().and_then(|metadata| metadata.arn()).unwrap().to_owned();
    encrypted_with(&settings, &arn).await;
    // Its conditional deletes are none, so records are refused there; artifacts need none.
    let store = S3Artifacts::new(connection.clone()).unwrap();
    let plan = key("network/plans/a");
    store.put(&plan, Bytes::from_static(b"{}"), PutMode::Overwrite).await.unwrap();
    let unusable = |problem| RefusalCause::KeyUnusable { key: Some(arn.clone()), problem };

    kms.disable_key().key_id(&arn).send().await.unwrap();
    let disabled = refused(store.get(&plan).await);
    assert_eq!(disabled.cause, unusable(KeyProblem::Disabled));
    let command = format!("aws kms enable-key --key-id {arn}");
    assert!(disabled.remedy.commands[0].starts_with(&command), "{disabled}");

    kms.schedule_key_deletion().key_id(&arn).pending_window_in_days(7).send().await.unwrap();
    let pending = refused(store.get(&plan).await);
    assert_eq!(pending.cause, unusable(KeyProblem::PendingDeletion { date: None }));
    let command = format!("aws kms cancel-key-deletion --key-id {arn}");
    assert!(pending.remedy.commands[0].starts_with(&command), "{pending}");

    // A key that the bucket names and nobody made.
    let nobodys = "arn:aws:kms:us-east-1:000000000000:key/11111111-1111-1111-1111-111111111111";
    encrypted_with(&settings, nobodys).await;
    let other = key("network/plans/b");
    store.put(&other, Bytes::from_static(b"{}"), PutMode::Overwrite).await.unwrap();
    let missing = refused(store.get(&other).await);
    let RefusalCause::KeyUnusable { problem: KeyProblem::NotFound, .. } = &missing.cause else {
        panic!("{missing:?}")
    };
    assert!(missing.remedy.commands[0].starts_with("aws s3api get-bucket-encryption"), "{missing}");
}

/// It knows no condition of a DELETE.
#[tokio::test]
async fn localstack_is_refused_for_records() {
    let store = S3Store::new(connection(Server::LocalStack.bucket().await)).unwrap();
    let refused = store.put_if_absent(&key("a"), Bytes::from_static(b"1")).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unsuitable { .. }), "{refused:?}");
    assert!(refused.to_string().contains("DELETE with If-Match is not implemented"), "{refused}");
}

#[tokio::test]
async fn a_bucket_policy_that_denies_is_a_denial_of_the_action() {
    let settings = Server::SeaweedFs.bucket().await;
    let connection = connection(settings.clone());
    let policy = format!(
        r#"{{"Version":"2012-10-17","Statement":[{{"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::{}/*"}}]}}"#,
        settings.bucket
    );
    let store = S3Store::new(connection.clone()).unwrap();
    store.list("").await.unwrap();
    let put = connection.s3().put_bucket_policy().bucket(&settings.bucket);
    put.policy(policy).send().await.unwrap();
    let denied = store.put_if_absent(&key("network/estate"), Bytes::from_static(b"{}")).await;
    let refusal = refused(denied);
    assert!(refusal.is_denial(), "{refusal:?}");
    let RefusalCause::AccessDenied(denial) = &refusal.cause else { panic!("{refusal:?}") };
    assert_eq!(denial.action.as_deref(), Some("s3:PutObject"));
}

#[tokio::test]
async fn a_wrong_secret_is_no_denial() {
    let settings = Server::SeaweedFs.bucket().await;
    let sdk = sdk_of("plumbline", "another");
    let connection = S3Connection::new(settings, &sdk).unwrap();
    let refusal = refused(S3Store::new(connection).unwrap().list("").await);
    assert_eq!(refusal.cause, RefusalCause::UnknownCredentials);
}

#[tokio::test]
async fn an_access_key_that_nobody_knows_is_no_denial() {
    for server in [Server::SeaweedFs, Server::MiniStackIam] {
        let settings = server.settings("records-of-nobody");
        let sdk = sdk_of("AKIAIOSFODNN7EXAMPLE", "secret");
        let connection = S3Connection::new(settings, &sdk).unwrap();
        let refusal = refused(S3Store::new(connection).unwrap().list("").await);
        assert_eq!(refusal.cause, RefusalCause::UnknownCredentials, "{server:?}: {refusal}");
        assert_eq!(refusal.remedy.commands, ["aws configure list"]);
    }
}

#[derive(Debug)]
struct AnHourAgo;

impl TimeSource for AnHourAgo {
    fn now(&self) -> SystemTime {
        SystemTime::now() - Duration::from_secs(3_600)
    }
}

#[tokio::test]
async fn a_clock_that_is_wrong_is_told_as_such() {
    let (settings, sdk) = user_of_bucket("clock").await;
    let sdk = sdk.to_builder().time_source(AnHourAgo).build();
    let connection = S3Connection::new(settings, &sdk).unwrap();
    let refusal = refused(S3Store::new(connection).unwrap().list("").await);
    assert_eq!(refusal.cause, RefusalCause::ClockSkew, "{refusal}");
    assert_eq!(refusal.remedy.commands, ["sudo timedatectl set-ntp true"]);
}

#[tokio::test]
async fn a_session_that_has_ended_has_expired() {
    let server = Server::MiniStackIam;
    let (settings, _) = user_of_bucket("session").await;
    let role = settings.bucket.clone();
    let root = |line: &str| paste(server, line, "test", "test");
    let trust = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRole"}]}"#;
    root(&format!(
        "aws iam create-role --role-name {role} --assume-role-policy-document '{trust}'"
    ));
    let may = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}"#;
    root(&format!(
        "aws iam put-role-policy --role-name {role} --policy-name all --policy-document '{may}'"
    ));
    let sdk = sdk_of("test", "test");
    let mut of_sts = settings.clone();
    of_sts.sts_endpoint = Some(server.endpoint());
    // Shorter than AWS lets a session be, so that its end is seen.
    let assumed = S3Connection::new(of_sts, &sdk)
        .unwrap()
        .sts()
        .assume_role()
        .role_arn(format!("arn:aws:iam::000000000000:role/{role}"))
        .role_session_name("short")
        .duration_seconds(1)
        .send()
        .await
        .unwrap();
    let given = assumed.credentials().unwrap();
    let session = Credentials::new(
        given.access_key_id(),
        given.secret_access_key(),
        Some(given.session_token().to_owned()),
        None,
        "session",
    );
    let sdk =
        sdk.to_builder().credentials_provider(SharedCredentialsProvider::new(session)).build();
    let store = S3Store::new(S3Connection::new(settings, &sdk).unwrap()).unwrap();
    let began = Instant::now();
    let ended = loop {
        match store.list("").await {
            Ok(_) => assert!(began.elapsed() < Duration::from_secs(30), "the session does not end"),
            ended => break refused(ended),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(ended.cause, RefusalCause::ExpiredCredentials, "{ended}");
    assert_eq!(ended.remedy.commands, ["aws sts get-caller-identity"]);
}

/// As S3 does, between the store and a server that does not: the header is compared with the owner.
#[tokio::test]
async fn a_wrong_owner_is_refused_before_anything_is_read_or_written() {
    let mut settings = Server::MiniStack.bucket().await;
    let proxy = Proxy::before(&Server::MiniStack.endpoint(), |seen| {
        match seen.headers.get("x-amz-expected-bucket-owner").map(String::as_str) {
            Some("444455556666") => Fate::Passes,
            _ => error("403 Forbidden", "AccessDenied", "Access Denied"),
        }
    })
    .await;
    settings.endpoint = Some(proxy.endpoint());
    let store = |owner: &str| {
        let mut settings = settings.clone();
        settings.expected_bucket_owner = Some(owner.to_owned());
        S3Store::new(connection(settings)).unwrap()
    };
    let wrong = store("111122223333");
    let body = Bytes::from_static(b"{}");
    for refusal in [
        refused(wrong.get(&key("network/estate")).await),
        refused(wrong.list("").await),
        refused(wrong.put_if_absent(&key("network/estate"), body.clone()).await),
    ] {
        let RefusalCause::OwnerMismatch { pinned, .. } = &refusal.cause else {
            panic!("{refusal:?}")
        };
        assert_eq!(pinned, "111122223333");
        assert!(!refusal.to_string().contains("444455556666"), "{refusal}");
    }
    let right = store("444455556666");
    assert!(right.list("").await.unwrap().is_empty());
    right.put_if_absent(&key("network/estate"), body).await.unwrap();
}

/// What a server that knows policies says of who was denied what.
#[tokio::test]
async fn a_denial_by_policies_names_the_action_and_is_mended_by_the_remedy() {
    let server = Server::MiniStackIam;
    let (settings, sdk) = user_of_bucket("denied").await;
    let store = S3Store::new(S3Connection::new(settings, &sdk).unwrap()).unwrap();
    let denied = refused(store.list("").await);
    let RefusalCause::AccessDenied(denial) = &denied.cause else { panic!("{denied:?}") };
    assert_eq!(denial.action.as_deref(), Some("s3:ListBucket"), "{denied}");
    assert!(denied.is_denial());
    for command in &denied.remedy.commands {
        paste(server, command, "test", "test");
    }
    assert!(denial.principal.is_none() || store.list("").await.is_ok(), "{denied}");
}
