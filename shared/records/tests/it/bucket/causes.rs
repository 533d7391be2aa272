//! Every cause that a refusal can have, provoked by the bytes that AWS answers.

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use records::contract::{Access, Outcome, StoreContract};
use records::s3::contract::{BucketContract, Prefixes};
use records::s3::{S3Connection, S3Settings, S3Store};
use records::{
    Blame, BlameKind, Denial, KeyProblem, PolicyKind, RecordStore, RefusalCause, ServiceRefusal,
    StoreError,
};

use super::canned::{Answer, connection, sdk, serve, settings};
use crate::key;

pub(super) const KEY: &str =
    "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
pub(super) const ROLE: &str = "arn:aws:sts::111122223333:assumed-role/plumb-apply/session";

#[track_caller]
pub(super) fn refused<T: std::fmt::Debug>(result: Result<T, StoreError>) -> ServiceRefusal {
    match result {
        Err(StoreError::Refused(refusal)) => *refusal,
        other => panic!("it is not refused for a cause: {other:?}"),
    }
}

/// What a read comes to that is answered like this.
async fn read(answer: Answer) -> ServiceRefusal {
    let url = serve(move |_| answer.clone()).await;
    let store = S3Store::new(connection(&url)).unwrap();
    refused(store.list("network/").await)
}

fn denial(refusal: &ServiceRefusal) -> &Denial {
    match &refusal.cause {
        RefusalCause::KeyDenied(denial) | RefusalCause::AccessDenied(denial) => denial,
        other => panic!("{other:?} is no denial"),
    }
}

fn blame(policy: PolicyKind, how: BlameKind) -> Option<Blame> {
    Some(Blame { policy, how, arn: None })
}

async fn key_denied(words: &str) -> ServiceRefusal {
    let refusal = read(Answer::s3(403, "AccessDenied", words)).await;
    assert!(matches!(refusal.cause, RefusalCause::KeyDenied(_)), "{refusal:?}");
    assert!(refusal.is_denial());
    refusal
}

#[tokio::test]
async fn a_denied_key_names_action_key_principal_and_the_policy_to_blame() {
    let start =
        format!("User: {ROLE} is not authorized to perform: kms:Decrypt on resource: {KEY}");
    for (end, policy, how, command) in [
        (
            "because no identity-based policy allows the kms:Decrypt action",
            PolicyKind::Identity,
            BlameKind::NoAllow,
            "aws iam put-role-policy --role-name plumb-apply --policy-name plumb-kms-Decrypt",
        ),
        (
            "because no resource-based policy allows the kms:Decrypt action",
            PolicyKind::Resource,
            BlameKind::NoAllow,
            "aws kms create-grant --key-id arn:aws:kms:eu-west-1:111122223333:key/\
             1234abcd-12ab-34cd-56ef-1234567890ab --region eu-west-1",
        ),
        (
            "with an explicit deny in a resource-based policy",
            PolicyKind::Resource,
            BlameKind::ExplicitDeny,
            "aws kms get-key-policy",
        ),
        (
            "with an explicit deny in an identity-based policy",
            PolicyKind::Identity,
            BlameKind::ExplicitDeny,
            "aws iam list-attached-role-policies --role-name plumb-apply",
        ),
        (
            "with an explicit deny in a service control policy",
            PolicyKind::ServiceControl,
            BlameKind::ExplicitDeny,
            "aws organizations list-policies-for-target --target-id 111122223333",
        ),
        (
            "with an explicit deny in a resource control policy",
            PolicyKind::ResourceControl,
            BlameKind::ExplicitDeny,
            "aws organizations list-policies-for-target",
        ),
        (
            "because no permissions boundary allows the kms:Decrypt action",
            PolicyKind::PermissionsBoundary,
            BlameKind::NoAllow,
            "aws iam get-role --role-name plumb-apply",
        ),
        (
            "because no session policy allows the kms:Decrypt action",
            PolicyKind::Session,
            BlameKind::NoAllow,
            "aws sts get-caller-identity",
        ),
        (
            "because no VPC endpoint policy allows the kms:Decrypt action",
            PolicyKind::VpcEndpoint,
            BlameKind::NoAllow,
            "aws ec2 describe-vpc-endpoints",
        ),
    ] {
        let refusal = key_denied(&format!("{start} {end}")).await;
        let expected = Denial {
            action: Some("kms:Decrypt".to_owned()),
            resource: Some(KEY.to_owned()),
            principal: Some(ROLE.to_owned()),
            blame: blame(policy, how),
        };
        assert_eq!(denial(&refusal), &expected, "{end}");
        let commands = &refusal.remedy.commands;
        assert!(commands[0].starts_with(command), "{end}: {commands:?}");
        let text = refusal.to_string();
        for part in ["kms:Decrypt", KEY, ROLE] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[tokio::test]
async fn a_blamed_policy_may_have_a_name() {
    let policy =
        "arn:aws:organizations::987654321098:policy/o-qv5af4abcd/service_control_policy/p-2kgnabcd";
    let words = format!(
        "User: {ROLE} is not authorized to perform: kms:Decrypt on resource: {KEY} with an explicit deny in a \
         service control policy: {policy}"
    );
    let refusal = key_denied(&words).await;
    assert_eq!(denial(&refusal).blame.as_ref().unwrap().arn.as_deref(), Some(policy));
    assert!(refusal.explanation().contains(policy));
}

#[tokio::test]
async fn between_accounts_a_denied_key_is_told_without_a_verdict() {
    let words = format!(
        "User: {ROLE} is not authorized to perform: kms:GenerateDataKey on this resource because the resource \
         does not exist in this Region, no resource-based policies allow access, or a resource-based policy \
         explicitly denies access"
    );
    let refusal = key_denied(&words).await;
    assert_eq!(denial(&refusal).principal.as_deref(), Some(ROLE));
    assert_eq!(denial(&refusal).blame, blame(PolicyKind::Resource, BlameKind::Undisclosed));

    let refusal = key_denied(
        "The ciphertext refers to a customer master key that does not exist, does not exist in this region, or \
         you are not allowed to access.",
    )
    .await;
    assert_eq!(denial(&refusal).blame, blame(PolicyKind::Resource, BlameKind::Undisclosed));
    // The key is not known, so commands ask the bucket.
    assert!(refusal.remedy.commands[0].contains("$(aws s3api get-bucket-encryption"));
}

#[tokio::test]
async fn a_denial_of_the_key_is_none_of_the_owner_although_one_is_pinned() {
    let words = format!(
        "User: {ROLE} is not authorized to perform: kms:Decrypt on resource: {KEY} because no identity-based \
         policy allows the kms:Decrypt action"
    );
    let url = serve(move |_| Answer::s3(403, "AccessDenied", &words)).await;
    let mut settings = settings(&url);
    settings.expected_bucket_owner = Some("111122223333".to_owned());
    let store = S3Store::new(S3Connection::new(settings, &sdk()).unwrap()).unwrap();
    let refusal = refused(store.list("network/").await);
    assert!(matches!(refusal.cause, RefusalCause::KeyDenied(_)), "{refusal:?}");
}

#[tokio::test]
async fn a_key_that_nobody_can_use_is_mended_at_the_key_and_never_by_a_policy() {
    for (code, words, problem, command) in [
        (
            "KMS.DisabledException",
            format!("{KEY} is disabled."),
            KeyProblem::Disabled,
            "aws kms enable-key --key-id",
        ),
        (
            "KMS.KMSInvalidStateException",
            format!("{KEY} is pending deletion."),
            KeyProblem::PendingDeletion { date: None },
            "aws kms cancel-key-deletion --key-id",
        ),
        (
            "KMS.KMSInvalidStateException",
            format!("{KEY} is pending import."),
            KeyProblem::InvalidState { state: Some("PendingImport".to_owned()) },
            "aws kms describe-key --key-id",
        ),
        (
            "KMS.KMSInvalidStateException",
            "words that nobody knows".to_owned(),
            KeyProblem::InvalidState { state: None },
            "aws kms describe-key --key-id",
        ),
        (
            "KMS.NotFoundException",
            format!("Key '{KEY}' does not exist"),
            KeyProblem::NotFound,
            "aws s3api get-bucket-encryption --bucket records",
        ),
    ] {
        let refusal = read(Answer::s3(400, code, &words)).await;
        let key = words.contains(KEY).then(|| KEY.to_owned());
        assert_eq!(refusal.cause, RefusalCause::KeyUnusable { key, problem }, "{code}");
        assert!(!refusal.is_denial());
        let remedy = &refusal.remedy;
        assert!(remedy.commands[0].starts_with(command), "{code}: {remedy:?}");
        for text in remedy.commands.iter().chain([&remedy.advice]) {
            assert!(!text.contains("policy"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_denial_of_the_bucket_names_what_aws_names() {
    let words = "User: arn:aws:iam::111122223333:user/mary is not authorized to perform: s3:ListBucket on \
                 resource: \"arn:aws:s3:::records\" because no identity-based policy allows the s3:ListBucket \
                 action";
    let refusal = read(Answer::s3(403, "AccessDenied", words)).await;
    let expected = Denial {
        action: Some("s3:ListBucket".to_owned()),
        resource: Some("arn:aws:s3:::records".to_owned()),
        principal: Some("arn:aws:iam::111122223333:user/mary".to_owned()),
        blame: blame(PolicyKind::Identity, BlameKind::NoAllow),
    };
    assert_eq!(refusal.cause, RefusalCause::AccessDenied(expected));
    assert_eq!(
        refusal.remedy.commands,
        [
            "aws iam put-user-policy --user-name mary --policy-name plumb-s3-ListBucket --policy-document \
             '{\"Statement\":[{\"Action\":\"s3:ListBucket\",\"Effect\":\"Allow\",\
             \"Resource\":\"arn:aws:s3:::records\"}],\"Version\":\"2012-10-17\"}'"
        ]
    );
}

#[tokio::test]
async fn a_denial_in_words_that_nobody_knows_is_a_denial_all_the_same() {
    for words in [
        "Access Denied",
        "User: somebody is not authorized",
        "User: a is not authorized to perform: b",
    ] {
        let refusal = read(Answer::s3(403, "AccessDenied", words)).await;
        let denial = denial(&refusal);
        assert_eq!(denial.action.as_deref(), Some("s3:ListBucket"), "{words}");
        assert_eq!(denial.blame, None, "{words}");
    }
}

#[tokio::test]
async fn a_wrong_owner_says_what_is_pinned_and_not_who_owns_it() {
    // As S3 does: the header is compared with the owner, and the answer names neither.
    let url = serve(|asked| match asked.headers.get("x-amz-expected-bucket-owner") {
        Some(owner) if owner != "444455556666" => Answer::s3(403, "AccessDenied", "Access Denied"),
        _ => Answer::ok("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"),
    })
    .await;
    let store = |owner: &str| {
        let mut settings = settings(&url);
        settings.expected_bucket_owner = Some(owner.to_owned());
        S3Store::new(S3Connection::new(settings, &sdk()).unwrap()).unwrap()
    };
    let refusal = refused(store("111122223333").list("network/").await);
    let expected = RefusalCause::OwnerMismatch {
        bucket: "records".to_owned(),
        pinned: "111122223333".to_owned(),
    };
    assert_eq!(refusal.cause, expected);
    assert!(!refusal.is_denial(), "a wrong owner is never tolerated");
    let text = refusal.to_string();
    assert!(text.contains("111122223333") && !text.contains("444455556666"), "{text}");
    assert!(refusal.remedy.commands[0].contains("--expected-bucket-owner 111122223333"), "{text}");

    assert_eq!(store("444455556666").list("network/").await.unwrap(), []);
}

#[tokio::test]
async fn once_the_owner_has_passed_a_denial_is_one_of_the_identity() {
    let url = serve(|asked| match asked.target.contains("list-type") {
        true => Answer::ok("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"),
        false => Answer::s3(403, "AccessDenied", "Access Denied"),
    })
    .await;
    let mut settings = settings(&url);
    settings.expected_bucket_owner = Some("111122223333".to_owned());
    let store = S3Store::new(S3Connection::new(settings, &sdk()).unwrap()).unwrap();
    store.list("network/").await.unwrap();
    let refusal = refused(store.get(&key("network/estate")).await);
    let denial = denial(&refusal);
    assert_eq!(denial.action.as_deref(), Some("s3:GetObject"));
    assert_eq!(denial.resource.as_deref(), Some("arn:aws:s3:::records/team-a/network/estate"));
}

#[tokio::test]
async fn codes_that_name_their_cause_are_believed() {
    for (status, code, cause) in [
        (403, "RequestTimeTooSkewed", RefusalCause::ClockSkew),
        (400, "ExpiredToken", RefusalCause::ExpiredCredentials),
        (403, "InvalidAccessKeyId", RefusalCause::UnknownCredentials),
        (403, "SignatureDoesNotMatch", RefusalCause::UnknownCredentials),
        (400, "InvalidToken", RefusalCause::UnknownCredentials),
        (301, "PermanentRedirect", other_region()),
        (400, "AuthorizationHeaderMalformed", other_region()),
    ] {
        // Misleading words change nothing where there is a code.
        let refusal = read(Answer::s3(status, code, "Access Denied: the key is disabled")).await;
        assert_eq!(refusal.cause, cause, "{code}");
        assert!(!refusal.remedy.advice.is_empty(), "{code}");
        assert!(refusal.said.unwrap().starts_with(code), "{code}");
    }
}

fn other_region() -> RefusalCause {
    RefusalCause::OtherRegion { asked: Some("us-east-1".to_owned()) }
}

#[tokio::test]
async fn throttling_that_does_not_end_is_told_as_such() {
    let url = serve(|_| Answer::s3(503, "SlowDown", "Please reduce your request rate.")).await;
    let prefixes = Prefixes::new(["team-a/"], Vec::<String>::new());
    let findings = BucketContract::new(connection(&url), prefixes).check(Access::Read).await;
    for finding in findings {
        assert_eq!(finding.outcome, Outcome::Unreadable);
        assert!(finding.found.contains("refused for too many requests"), "{}", finding.found);
        assert!(finding.remedy.unwrap().advice.contains("parallelism"));
    }
}

#[tokio::test]
async fn a_missing_bucket_is_no_refusal() {
    let url =
        serve(|_| Answer::s3(404, "NoSuchBucket", "The specified bucket does not exist")).await;
    let store = S3Store::new(connection(&url)).unwrap();
    let missing = store.list("network/").await;
    assert!(matches!(missing, Err(StoreError::RootMissing { .. })), "{missing:?}");
}

#[tokio::test]
async fn without_credentials_nothing_is_sent() {
    let url = serve(|_| panic!("something was sent")).await;
    let refusal = no_credentials(&url).await;
    assert_eq!(refusal.cause, RefusalCause::NoCredentials);
    assert!(refusal.headline().contains("there are no AWS credentials"), "{refusal}");
}

pub(super) async fn no_credentials(url: &str) -> ServiceRefusal {
    let sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(NoCredentials))
        .build();
    let store = S3Store::new(S3Connection::new(settings(url), &sdk).unwrap()).unwrap();
    refused(store.list("network/").await)
}

/// As the chain of the SDK answers where no link of it has any.
#[derive(Debug)]
struct NoCredentials;

impl aws_credential_types::provider::ProvideCredentials for NoCredentials {
    fn provide_credentials<'a>(
        &'a self,
    ) -> aws_credential_types::provider::future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        aws_credential_types::provider::future::ProvideCredentials::ready(Err(
            aws_credential_types::provider::error::CredentialsError::not_loaded("none anywhere"),
        ))
    }
}

#[test]
fn without_a_region_there_is_no_connection() {
    let refusal = no_region();
    assert_eq!(refusal.cause, RefusalCause::NoRegion);
    assert!(
        refusal.remedy.commands[0].starts_with("aws s3api get-bucket-location --bucket records")
    );
}

pub(super) fn no_region() -> ServiceRefusal {
    let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "secret", None, None, "test");
    let sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build();
    refused(S3Connection::new(S3Settings::new("records"), &sdk))
}
