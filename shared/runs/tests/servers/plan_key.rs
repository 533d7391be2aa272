//! The key of plans in KMS: who plans may sign, who applies may verify, and nobody else's MAC passes.

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_kms::Client;
use aws_sdk_kms::types::{KeySpec, KeyUsageType};
use engine::saved_plan::{PlanDigest, PlanSignature, PlanSigner, PlanVerifier};
use runs::kms_key::KmsKey;
use std::process::Command;

/// The account's root, where signatures are checked.
const ROOT: (&str, &str) = ("test", "test");

const DIGEST: PlanDigest = PlanDigest([7; 32]);

fn sdk(endpoint: &str, (access_key, secret_key): (&str, &str)) -> SdkConfig {
    let credentials = Credentials::new(access_key, secret_key, None, None, "stand-ins");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(endpoint)
        .build()
}

fn endpoint(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!(
            "{variable} is not set: tests/end-to-end/stores starts the servers and runs these tests"
        )
    })
}

async fn new_key(sdk: &SdkConfig) -> String {
    let make = Client::new(sdk).create_key().key_usage(KeyUsageType::GenerateVerifyMac);
    let made = make.key_spec(KeySpec::Hmac256).send().await.unwrap();
    made.key_metadata().and_then(|metadata| metadata.arn()).unwrap().to_owned()
}

#[tokio::test]
async fn a_plan_is_verified_by_the_key_that_signed_it_and_by_no_other() {
    let sdk = sdk(&endpoint("MINISTACK_ENDPOINT"), ROOT);
    let (ours, other) = (new_key(&sdk).await, new_key(&sdk).await);
    let key = KmsKey::of(&sdk, &ours);
    let signature = key.sign(&DIGEST).await.unwrap();
    assert_eq!(signature.key, ours);
    assert!(key.verify(&DIGEST, &signature).await.unwrap());

    // Another plan, another key, a changed MAC, none at all, and one that is of another sort.
    assert!(!key.verify(&PlanDigest([8; 32]), &signature).await.unwrap());
    assert!(!KmsKey::of(&sdk, &other).verify(&DIGEST, &signature).await.unwrap());
    let with = |mac: String| PlanSignature { mac, ..signature.clone() };
    let first = if signature.mac.starts_with('0') { "1" } else { "0" };
    let mut changed = signature.mac.clone();
    changed.replace_range(..1, first);
    for mac in [changed, String::new(), "no hex".to_owned(), signature.mac[..32].to_owned()] {
        assert!(!key.verify(&DIGEST, &with(mac.clone())).await.unwrap(), "{mac}");
    }
    let renamed = PlanSignature { algorithm: "HMAC_SHA_512".into(), ..signature.clone() };
    assert!(!key.verify(&DIGEST, &renamed).await.unwrap());
    // What a plan says of its key decides nothing.
    let lying = PlanSignature { key: other.clone(), ..signature.clone() };
    assert!(key.verify(&DIGEST, &lying).await.unwrap());
    let by_other = KmsKey::of(&sdk, &other).sign(&DIGEST).await.unwrap();
    let forged = PlanSignature { key: ours, ..by_other };
    assert!(!key.verify(&DIGEST, &forged).await.unwrap());
}

#[tokio::test]
async fn a_key_that_cannot_be_used_says_why() {
    let sdk = sdk(&endpoint("MINISTACK_ENDPOINT"), ROOT);
    let missing = "arn:aws:kms:us-east-1:000000000000:key/11111111-1111-1111-1111-111111111111";
    let error = KmsKey::of(&sdk, missing).sign(&DIGEST).await.unwrap_err().to_string();
    assert!(error.contains("there is no key") && error.contains("plans.hmac_key"), "{error}");
    let key = new_key(&sdk).await;
    Client::new(&sdk).disable_key().key_id(&key).send().await.unwrap();
    let error = KmsKey::of(&sdk, &key).sign(&DIGEST).await.unwrap_err().to_string();
    assert!(error.contains("aws kms enable-key"), "{error}");
}

/// Runs the AWS CLI as the account's root.
fn aws(endpoint: &str, arguments: &[&str]) -> String {
    let program = std::env::var("STAND_INS_AWS").unwrap();
    let output = Command::new(program)
        .args(arguments)
        .args(["--output", "text"])
        .env("AWS_ACCESS_KEY_ID", ROOT.0)
        .env("AWS_SECRET_ACCESS_KEY", ROOT.1)
        .env("AWS_DEFAULT_REGION", "us-east-1")
        .env("AWS_ENDPOINT_URL", endpoint)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn who_may_only_verify_cannot_sign() {
    let endpoint = endpoint("MINISTACK_IAM_ENDPOINT");
    let root = sdk(&endpoint, ROOT);
    let key = new_key(&root).await;
    let signature = KmsKey::of(&root, &key).sign(&DIGEST).await.unwrap();

    let user = format!("applier-{}", std::process::id());
    aws(&endpoint, &["iam", "create-user", "--user-name", &user]);
    let policy = format!(
        r#"{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Action":"kms:VerifyMac","Resource":"{key}"}}]}}"#
    );
    let put = ["iam", "put-user-policy", "--user-name", &user, "--policy-name", "verify"];
    aws(&endpoint, &[&put[..], &["--policy-document", &policy]].concat());
    let query = "AccessKey.[AccessKeyId, SecretAccessKey]";
    let keys =
        aws(&endpoint, &["iam", "create-access-key", "--user-name", &user, "--query", query]);
    let mut keys = keys.split_whitespace();
    let applier = sdk(&endpoint, (keys.next().unwrap(), keys.next().unwrap()));

    let key_of_applier = KmsKey::of(&applier, &key);
    assert!(key_of_applier.verify(&DIGEST, &signature).await.unwrap());
    let error = key_of_applier.sign(&DIGEST).await.unwrap_err().to_string();
    assert!(error.contains("kms:GenerateMac") && error.contains("was denied"), "{error}");
}
