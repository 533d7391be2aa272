//! The servers that were started for the tests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use records::s3::{S3Connection, S3Settings};

/// A server that speaks S3.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Server {
    SeaweedFs,
    MiniStack,
    /// MiniStack that checks signatures and policies; its account's root is test, test.
    MiniStackIam,
    LocalStack,
}

impl Server {
    /// Its URL.
    #[track_caller]
    pub(crate) fn endpoint(self) -> String {
        let variable = match self {
            Self::SeaweedFs => "SEAWEEDFS_ENDPOINT",
            Self::MiniStack => "MINISTACK_ENDPOINT",
            Self::MiniStackIam => "MINISTACK_IAM_ENDPOINT",
            Self::LocalStack => "LOCALSTACK_ENDPOINT",
        };
        from_environment(variable)
    }

    /// Settings of a bucket that is new and empty.
    pub(crate) async fn bucket(self) -> S3Settings {
        let settings = self.settings(&fresh_name());
        client(&settings).create_bucket().bucket(&settings.bucket).send().await.unwrap();
        settings
    }

    /// Settings of a bucket that may not exist.
    pub(crate) fn settings(self, bucket: &str) -> S3Settings {
        let mut settings = S3Settings::new(bucket);
        settings.endpoint = Some(self.endpoint());
        settings.path_style = true;
        // What is tested is whether a server keeps its conditions, on a machine that may be busy, not how fast it is.
        settings.timeouts.answer = Duration::from_secs(60);
        settings
    }
}

fn fresh_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("records-{}-{count}", std::process::id())
}

#[track_caller]
fn from_environment(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!(
            "{variable} is not set: these tests need servers, and tests/end-to-end/stores starts them \
             and runs the tests (see scripts/stand-ins for how to run one by hand)"
        )
    })
}

/// Credentials and a region; nothing of the user's.
pub(crate) fn sdk() -> SdkConfig {
    let credentials = Credentials::new(
        from_environment("STAND_INS_ACCESS_KEY"),
        from_environment("STAND_INS_SECRET_KEY"),
        None,
        None,
        "stand-ins",
    );
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}

/// The same, with other credentials.
pub(crate) fn sdk_of(access_key: &str, secret_key: &str) -> SdkConfig {
    let credentials = Credentials::new(access_key, secret_key, None, None, "stand-ins");
    let provider = SharedCredentialsProvider::new(credentials);
    sdk().to_builder().credentials_provider(provider).build()
}

/// Runs a line of a shell with the AWS CLI in it, as someone would who pastes a remedy; what it prints.
pub(crate) fn paste(server: Server, line: &str, access_key: &str, secret_key: &str) -> String {
    let aws = from_environment("STAND_INS_AWS");
    let folder = std::path::Path::new(&aws).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let output = std::process::Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .envs([
            ("PATH", path.as_str()),
            ("AWS_ACCESS_KEY_ID", access_key),
            ("AWS_SECRET_ACCESS_KEY", secret_key),
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", &server.endpoint()),
            ("AWS_PAGER", ""),
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn connection(settings: S3Settings) -> S3Connection {
    S3Connection::new(settings, &sdk()).unwrap()
}

fn client(settings: &S3Settings) -> aws_sdk_s3::Client {
    connection(settings.clone()).s3().clone()
}

/// A new bucket of the server that checks policies, and a user of the same name who may do nothing yet.
pub(crate) async fn user_of_bucket(purpose: &str) -> (S3Settings, SdkConfig) {
    let server = Server::MiniStackIam;
    let mut settings = server.settings(&format!("records-{purpose}-{}", std::process::id()));
    settings.kms_endpoint = Some(server.endpoint());
    let root = |line: &str| paste(server, line, "test", "test");
    let user = &settings.bucket;
    root(&format!("aws s3api create-bucket --bucket {user}"));
    root(&format!("aws iam create-user --user-name {user}"));
    let keys = root(&format!(
        "aws iam create-access-key --user-name {user} --output text --query 'AccessKey.[AccessKeyId, SecretAccessKey]'"
    ));
    let mut keys = keys.split_whitespace();
    let sdk = sdk_of(keys.next().unwrap(), keys.next().unwrap());
    (settings, sdk)
}
