//! Names of principals, as `deployment.toml` and journals have them.

use engine::identifiers::Principal;

/// Who signed a request with AWS credentials, by ARN.
pub fn iam(arn: &str) -> Principal {
    Principal::from_stored(arn)
}

/// Whom a token stands for: subjects are unique to their issuer alone.
pub fn jwt(issuer: &str, subject: &str) -> Principal {
    Principal::from_stored(format!("{issuer}#{subject}"))
}
