//! What servers refuse for reasons of policies and keys, and the cause that is named for it.

use bytes::Bytes;
use records::s3::{S3Artifacts, S3Settings, S3Store};
use records::{
    ArtifactStore, Key, KeyProblem, PutMode, RecordStore, RefusalCause, ServiceRefusal, StoreError,
};

use crate::server::{Server, connection};

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

#[tokio::test]
async fn localstack_refuses_for_a_key_in_each_of_its_states() {
    let mut settings = Server::LocalStack.bucket().await;
    settings.kms_endpoint = Some(Server::LocalStack.endpoint());
    let connection = connection(settings.clone());
    let kms = connection.kms();
    let made = kms.create_key().send().await.unwrap();
    let arn = made.key_metadata().and_then(|metadata| metadata.arn()).unwrap().to_owned();
    // Its conditional deletes are none, so records are refused there; artifacts need none.
    let store = S3Artifacts::new(connection.clone()).unwrap();
    encrypted_with(&settings, &arn).await;
    let body = Bytes::from_static(b"{}");
    store.put(&key("network/estate"), body.clone(), PutMode::Overwrite).await.unwrap();

    kms.disable_key().key_id(&arn).send().await.unwrap();
    let disabled = |cause: &RefusalCause| {
        assert_eq!(
            cause,
            &RefusalCause::KeyUnusable { key: Some(arn.clone()), problem: KeyProblem::Disabled }
        );
    };
    disabled(&refused(store.put(&key("network/a"), body.clone(), PutMode::Overwrite).await).cause);
    let read = refused(store.get(&key("network/estate")).await);
    disabled(&read.cause);
    assert!(read.remedy.commands[0].starts_with(&format!("aws kms enable-key --key-id {arn}")));

    kms.schedule_key_deletion().key_id(&arn).pending_window_in_days(7).send().await.unwrap();
    let pending = refused(store.put(&key("network/a"), body.clone(), PutMode::Overwrite).await);
    let expected = RefusalCause::KeyUnusable {
        key: Some(arn.clone()),
        problem: KeyProblem::PendingDeletion { date: None },
    };
    assert_eq!(pending.cause, expected);

    let unknown = "arn:aws:kms:us-east-1:000000000000:key/11111111-1111-1111-1111-111111111111";
    encrypted_with(&settings, unknown).await;
    let missing = refused(store.put(&key("network/a"), body, PutMode::Overwrite).await);
    assert!(
        matches!(missing.cause, RefusalCause::KeyUnusable { problem: KeyProblem::NotFound, .. }),
        "{missing:?}"
    );
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
    let sdk = crate::server::sdk_of("plumbline", "another");
    let connection = records::s3::S3Connection::new(settings, &sdk).unwrap();
    let refusal = refused(S3Store::new(connection).unwrap().list("").await);
    assert_eq!(refusal.cause, RefusalCause::UnknownCredentials);
}
