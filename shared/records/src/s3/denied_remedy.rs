//! How a denial is mended: at the policy that is to blame, by whoever may change it.

use super::commands::{self, Commands, quote};
use crate::contract::Remedy;
use crate::service_refusal::{BlameKind, Denial, PolicyKind};

/// What to do about a denial on a bucket or its objects.
pub(super) fn bucket_remedy(denial: &Denial, commands: &Commands) -> Remedy {
    let Some(blame) = &denial.blame else {
        return unblamed(denial, commands);
    };
    match (blame.policy, blame.how) {
        (PolicyKind::Resource, BlameKind::ExplicitDeny) => Remedy::command(
            "Change the statement of the bucket's policy that denies it, or do it with an identity that the \
             statement leaves out.",
            commands.s3api("get-bucket-policy", "--query Policy --output text"),
        ),
        (PolicyKind::Resource, _) => Remedy::command(
            "Have the bucket's owner allow it in the bucket's policy; between accounts, the identity's own \
             policy has to allow it too.",
            commands.s3api("get-bucket-policy", "--query Policy --output text"),
        ),
        _ => other_remedy(denial, "s3"),
    }
}

/// What to do about a denial of the use of a key.
pub(super) fn key_remedy(denial: &Denial, commands: &Commands) -> Remedy {
    let of_bucket = key_of_bucket(commands);
    let key = denial.resource.as_deref().map_or(of_bucket, quote);
    let kms = |operation: &str, arguments: &str| commands.kms_quoted(operation, &key, arguments);
    let policy = || kms("get-key-policy", "--policy-name default --query Policy --output text");
    let Some(blame) = &denial.blame else {
        return Remedy::command(
            "See whether the key's policy and the identity's policies allow the use of the key.",
            policy(),
        )
        .and("aws sts get-caller-identity");
    };
    match (blame.policy, blame.how) {
        (PolicyKind::Resource, BlameKind::ExplicitDeny) => Remedy::command(
            "Change the statement of the key's policy that denies it; nothing else can allow it.",
            policy(),
        ),
        (PolicyKind::Resource, how) => {
            let undisclosed = how == BlameKind::Undisclosed;
            let advice = match undisclosed {
                true => {
                    "Between accounts, see that the key exists in that region, and have its owner allow it in \
                     the key's policy; the identity's own policy has to allow it too."
                }
                false => {
                    "Allow the identity to use the key, by a grant or in the key's policy; whoever \
                     administers the key may do so."
                }
            };
            match denial.principal.as_deref().and_then(commands::grantee) {
                Some(grantee) if !undisclosed => Remedy::command(
                    advice,
                    kms(
                        "create-grant",
                        &format!(
                            "--grantee-principal {} --operations GenerateDataKey Decrypt DescribeKey",
                            quote(&grantee)
                        ),
                    ),
                ),
                _ => Remedy::command(advice, policy()),
            }
        }
        _ => other_remedy(denial, "kms"),
    }
}

/// The key that the bucket names, for commands where the service did not say which one it is.
pub(super) fn key_of_bucket(commands: &Commands) -> String {
    let read = commands.s3api(
        "get-bucket-encryption",
        "--query 'ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.KMSMasterKeyID' \
         --output text",
    );
    format!("\"$({read})\"")
}

/// Denied, and nobody says by what.
fn unblamed(denial: &Denial, commands: &Commands) -> Remedy {
    let Some(action) = &denial.action else {
        return Remedy::command(
            "See who the identity is, and what the bucket's policy says of it.",
            "aws sts get-caller-identity",
        )
        .and(commands.s3api("get-bucket-policy", "--query Policy --output text"));
    };
    let advice = format!(
        "Allow {action} to the identity; where the bucket is another account's, its policy has to allow it too."
    );
    let resource = denial.resource.clone().unwrap_or_else(|| commands.bucket_arn());
    Remedy::command(advice, commands::allow(denial.principal.as_deref(), action, &resource))
}

/// The policies that are about identities, organizations and networks, whatever the service.
fn other_remedy(denial: &Denial, service: &str) -> Remedy {
    let action = denial.action.as_deref().unwrap_or("it");
    let principal = denial.principal.as_deref();
    let account = principal.and_then(|arn| arn.split(':').nth(4)).filter(|id| !id.is_empty());
    let (policy, how, arn) = match &denial.blame {
        Some(blame) => (blame.policy, blame.how, blame.arn.as_deref()),
        None => (PolicyKind::Identity, BlameKind::NoAllow, None),
    };
    match (policy, how) {
        (PolicyKind::Identity, BlameKind::ExplicitDeny) => {
            let advice =
                format!("Change the statement of the identity's policies that denies {action}.");
            match (arn, principal.and_then(commands::policies_of)) {
                (Some(arn), _) => Remedy::command(advice, policy_versions(arn)),
                (None, Some([attached, inline])) => Remedy::command(advice, attached).and(inline),
                (None, None) => Remedy::command(advice, "aws sts get-caller-identity"),
            }
        }
        (PolicyKind::Identity | PolicyKind::Resource, _) => Remedy::command(
            format!("Allow {action} to the identity."),
            commands::allow(principal, action, denial.resource.as_deref().unwrap_or("*")),
        ),
        (PolicyKind::PermissionsBoundary, _) => Remedy::command(
            format!("Have whoever sets the identity's permissions boundary let it do {action}."),
            principal
                .and_then(commands::boundary_of)
                .unwrap_or_else(|| "aws sts get-caller-identity".to_owned()),
        ),
        (PolicyKind::Session, _) => Remedy::command(
            format!("Assume the role with a session policy that allows {action}, or with none."),
            "aws sts get-caller-identity",
        ),
        (PolicyKind::ServiceControl, _) => Remedy::command(
            format!(
                "Have the organization's administrators let the account do {action}; nobody in it can."
            ),
            organization_policies(account, "SERVICE_CONTROL_POLICY"),
        ),
        (PolicyKind::ResourceControl, _) => Remedy::command(
            format!("Have the organization's administrators let {action} reach the resource."),
            organization_policies(account, "RESOURCE_CONTROL_POLICY"),
        ),
        (PolicyKind::VpcEndpoint, _) => Remedy::command(
            format!("Allow {action} in the policy of the VPC endpoint, or go another way."),
            format!(
                "aws ec2 describe-vpc-endpoints --query \
                 \"VpcEndpoints[?ends_with(ServiceName, '.{service}')].[VpcEndpointId, PolicyDocument]\""
            ),
        ),
    }
}

fn policy_versions(arn: &str) -> String {
    format!("aws iam list-policy-versions --policy-arn {}", quote(arn))
}

fn organization_policies(account: Option<&str>, filter: &str) -> String {
    let account =
        account.unwrap_or("\"$(aws sts get-caller-identity --query Account --output text)\"");
    format!("aws organizations list-policies-for-target --target-id {account} --filter {filter}")
}
