//! The key that a bucket names, in every state that KMS documents.

use records::contract::{Access, Finding, Outcome, Setting, StoreContract};
use records::s3::contract::{BucketContract, Prefixes};
use serde_json::{Value, json};

use super::canned::{Answer, connection, serve};

const KEY: &str = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";

pub(super) fn encryption() -> Answer {
    Answer::ok(format!(
        "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms\
         </SSEAlgorithm><KMSMasterKeyID>{KEY}</KMSMasterKeyID></ApplyServerSideEncryptionByDefault></Rule>\
         </ServerSideEncryptionConfiguration>"
    ))
}

fn json_answer(body: &Value) -> Answer {
    let content = ("content-type", "application/x-amz-json-1.1".to_owned());
    Answer { status: 200, headers: vec![content], body: body.to_string() }
}

pub(super) fn metadata(state: &str) -> Answer {
    json_answer(&json!({
        "KeyMetadata": {
            "KeyId": "1234abcd-12ab-34cd-56ef-1234567890ab",
            "Arn": KEY,
            "Enabled": state == "Enabled",
            "KeyState": state,
            "KeySpec": "SYMMETRIC_DEFAULT",
            "Origin": "AWS_KMS",
            "KeyManager": "CUSTOMER",
            "DeletionDate": 1_893_456_000,
        }
    }))
}

pub(super) fn rotation(on: bool) -> Answer {
    json_answer(&json!({ "KeyId": KEY, "KeyRotationEnabled": on }))
}

/// What KMS's answers come to.
async fn finding(described: Answer, rotated: Answer) -> Finding {
    let url = serve(move |asked| {
        if asked.is_for("encryption") {
            encryption()
        } else if asked.is_kms("DescribeKey") {
            assert!(asked.body.contains(KEY), "{asked:?}");
            assert!(
                asked.headers["authorization"].contains("/eu-west-1/kms/"),
                "the key's own region"
            );
            described.clone()
        } else if asked.is_kms("GetKeyRotationStatus") {
            rotated.clone()
        } else {
            Answer::s3(404, "NoSuchBucketPolicy", "The bucket policy does not exist")
        }
    })
    .await;
    let prefixes = Prefixes::new(["team-a/"], Vec::<String>::new());
    let findings = BucketContract::new(connection(&url), prefixes).check(Access::Write).await;
    findings.into_iter().find(|finding| finding.setting == Setting::EncryptionKey).unwrap()
}

#[tokio::test]
async fn an_enabled_key_passes_and_is_warned_of_where_it_is_not_rotated() {
    assert_eq!(finding(metadata("Enabled"), rotation(true)).await.outcome, Outcome::Passed);
    let off = finding(metadata("Enabled"), rotation(false)).await;
    assert_eq!(off.outcome, Outcome::Warned);
    let command = format!("aws kms enable-key-rotation --key-id {KEY} --region eu-west-1");
    assert!(off.remedy.unwrap().commands[0].starts_with(&command));
    let unsupported = Answer::kms("UnsupportedOperationException", "no");
    assert_eq!(finding(metadata("Enabled"), unsupported).await.outcome, Outcome::Passed);
    let denied = Answer::kms("AccessDeniedException", "no");
    assert_eq!(finding(metadata("Enabled"), denied).await.outcome, Outcome::NotChecked);
}

#[tokio::test]
async fn a_key_in_another_state_fails_and_is_never_waived() {
    for (state, found, command) in [
        ("Disabled", "is disabled", "aws kms enable-key "),
        ("PendingDeletion", "will be deleted on 2030-01-01", "aws kms cancel-key-deletion "),
        ("PendingImport", "in its state PendingImport", "aws kms describe-key "),
        ("Unavailable", "in its state Unavailable", "aws kms describe-custom-key-stores"),
        ("Creating", "in its state Creating", "aws kms describe-key "),
    ] {
        let finding = finding(metadata(state), rotation(true)).await;
        assert_eq!((finding.outcome, finding.waivable), (Outcome::Failed, false), "{state}");
        assert!(finding.found.contains(found), "{state}: {}", finding.found);
        let remedy = finding.remedy.unwrap();
        assert!(remedy.commands[0].starts_with(command), "{state}: {remedy:?}");
    }
}

#[tokio::test]
async fn a_key_that_is_not_found_fails_and_a_denied_one_is_unreadable() {
    let missing = Answer::kms("NotFoundException", "Key does not exist");
    let missing = finding(missing, rotation(true)).await;
    assert_eq!((missing.outcome, missing.waivable), (Outcome::Failed, false));

    let denied = Answer::kms(
        "AccessDeniedException",
        &format!(
            "User: arn:aws:sts::111122223333:assumed-role/plumb-plan/session is not authorized to perform: \
             kms:DescribeKey on resource: {KEY} because no identity-based policy allows the kms:DescribeKey \
             action"
        ),
    );
    let denied = finding(denied, rotation(true)).await;
    assert_eq!((denied.outcome, denied.waivable), (Outcome::Unreadable, true));
    let command = &denied.remedy.unwrap().commands[0];
    assert!(command.starts_with("aws iam put-role-policy --role-name plumb-plan"), "{command}");
}
