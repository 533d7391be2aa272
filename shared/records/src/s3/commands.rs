//! Commands of the AWS CLI that mend a bucket, complete and quoted for a POSIX shell.

use super::connection::S3Connection;
use super::settings::S3Settings;

/// The bucket that commands are for, and how to reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// The bucket's name.
    pub bucket: String,
    /// The account pinned as its owner: commands pin it too, so that they mend no other's bucket.
    pub owner: Option<String>,
    /// The URL of another server than AWS.
    pub endpoint: Option<String>,
    /// The URL of another KMS than that of AWS.
    pub kms_endpoint: Option<String>,
}

impl Commands {
    /// The commands for a connection's bucket.
    #[must_use]
    pub(super) fn for_connection(connection: &S3Connection) -> Self {
        Self::for_settings(connection.settings())
    }

    /// The same, where there is no connection yet.
    pub(super) fn for_settings(settings: &S3Settings) -> Self {
        Self {
            bucket: settings.bucket.clone(),
            owner: settings.expected_bucket_owner.clone(),
            endpoint: settings.endpoint.clone(),
            kms_endpoint: settings.kms_endpoint.clone(),
        }
    }

    /// A command of `aws s3api` on the bucket.
    #[must_use]
    pub fn s3api(&self, operation: &str, arguments: &str) -> String {
        let mut command = format!("aws s3api {operation} --bucket {}", quote(&self.bucket));
        for (option, value) in
            [("--expected-bucket-owner", &self.owner), ("--endpoint-url", &self.endpoint)]
        {
            if let Some(value) = value {
                command.push_str(&format!(" {option} {}", quote(value)));
            }
        }
        if !arguments.is_empty() {
            command.push(' ');
            command.push_str(arguments);
        }
        command
    }

    /// A command of `aws kms` on a key.
    #[must_use]
    pub fn kms(&self, operation: &str, key: &str) -> String {
        self.kms_quoted(operation, &quote(key), "")
    }

    /// The same for a key that is a word of the shell already, and with arguments.
    pub(super) fn kms_quoted(&self, operation: &str, key: &str, arguments: &str) -> String {
        let mut command = format!("aws kms {operation} --key-id {key}");
        // A key's ARN says its region, and the command has to be sent there.
        if let Some(region) = region_of(key) {
            command.push_str(&format!(" --region {}", quote(region)));
        }
        if let Some(endpoint) = &self.kms_endpoint {
            command.push_str(&format!(" --endpoint-url {}", quote(endpoint)));
        }
        if !arguments.is_empty() {
            command.push(' ');
            command.push_str(arguments);
        }
        command
    }

    /// The command that makes the bucket.
    pub(super) fn create_bucket(&self, region: &str) -> String {
        // The first region is the one that may not be named.
        let place = match region {
            "us-east-1" => String::new(),
            region => format!("--create-bucket-configuration LocationConstraint={region}"),
        };
        let unowned = Self { owner: None, ..self.clone() };
        unowned.s3api("create-bucket", &place)
    }

    /// The command that makes a key and prints its ARN.
    pub(super) fn create_key(&self) -> String {
        let mut command = "aws kms create-key --query KeyMetadata.Arn --output text".to_owned();
        if let Some(endpoint) = &self.kms_endpoint {
            command.push_str(&format!(" --endpoint-url {}", quote(endpoint)));
        }
        command
    }

    /// The ARN of the bucket, in the partition of AWS that most accounts are in.
    #[must_use]
    pub fn bucket_arn(&self) -> String {
        match self.bucket.starts_with("arn:") {
            true => self.bucket.clone(),
            false => format!("arn:aws:s3:::{}", self.bucket),
        }
    }
}

/// The region that an ARN names.
pub(super) fn region_of(arn: &str) -> Option<&str> {
    let mut parts = arn.split(':');
    if parts.next() != Some("arn") {
        return None;
    }
    parts.nth(2).filter(|region| !region.is_empty())
}

/// The command that gives an identity one permission. Where the principal is not known, the one that says who
/// it is.
pub(super) fn allow(principal: Option<&str>, action: &str, resource: &str) -> String {
    let policy = serde_json::json!({
        "Version": "2012-10-17",
        "Statement": [{ "Effect": "Allow", "Action": action, "Resource": resource }],
    });
    let name = format!("plumb-{}", action.replace([':', '*'], "-"));
    let document = quote(&policy.to_string());
    match principal.and_then(Identity::of) {
        Some(identity) => {
            let (kind, option, of) = identity.words();
            format!(
                "aws iam put-{kind}-policy {option} {} --policy-name {name} --policy-document {document}",
                quote(of)
            )
        }
        None => "aws sts get-caller-identity".to_owned(),
    }
}

/// The principal that a grant can be given to: of a session, its role.
pub(super) fn grantee(principal: &str) -> Option<String> {
    let account = principal.split(':').nth(4)?;
    let partition = principal.split(':').nth(1)?;
    match Identity::of(principal)? {
        Identity::Role(role) if principal.contains(":assumed-role/") => {
            Some(format!("arn:{partition}:iam::{account}:role/{role}"))
        }
        _ => Some(principal.to_owned()),
    }
}

/// The commands that list an identity's policies, attached and inline.
pub(super) fn policies_of(principal: &str) -> Option<[String; 2]> {
    let (kind, option, name) = Identity::of(principal)?.words();
    Some([
        format!("aws iam list-attached-{kind}-policies {option} {}", quote(name)),
        format!("aws iam list-{kind}-policies {option} {}", quote(name)),
    ])
}

/// The command that shows an identity's permissions boundary.
pub(super) fn boundary_of(principal: &str) -> Option<String> {
    Some(match Identity::of(principal)? {
        Identity::Role(role) => {
            format!("aws iam get-role --role-name {} --query Role.PermissionsBoundary", quote(role))
        }
        Identity::User(user) => {
            format!("aws iam get-user --user-name {} --query User.PermissionsBoundary", quote(user))
        }
    })
}

/// What a principal's ARN names that policies can be attached to.
enum Identity<'a> {
    Role(&'a str),
    User(&'a str),
}

impl<'a> Identity<'a> {
    fn of(arn: &'a str) -> Option<Self> {
        let resource = arn.splitn(6, ':').nth(5)?;
        if let Some(session) = resource.strip_prefix("assumed-role/") {
            return session.split('/').next().map(Self::Role);
        }
        let last = |path: &'a str| path.rsplit('/').next();
        if let Some(path) = resource.strip_prefix("role/") {
            return last(path).map(Self::Role);
        }
        resource.strip_prefix("user/").and_then(last).map(Self::User)
    }

    /// The words of the command line for it.
    fn words(&self) -> (&'static str, &'static str, &'a str) {
        match self {
            Self::Role(name) => ("role", "--role-name", name),
            Self::User(name) => ("user", "--user-name", name),
        }
    }
}

/// A word of a POSIX shell.
pub(super) fn quote(word: &str) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '@' | '+')
    };
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
