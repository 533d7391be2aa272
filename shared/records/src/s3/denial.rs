//! Who was denied what, from the words of a denial.
//!
//! AWS has one code for every denial, and says the rest in its message alone. The message's documented forms are
//! read here, and nothing else: what does not match is a denial of which nothing is known.

use crate::service_refusal::{Blame, BlameKind, Denial, PolicyKind};

/// The form that KMS's answer takes when it discloses nothing, not even the action.
const UNDISCLOSED_KEY: &str = "The ciphertext refers to a customer master key that does not exist, \
                               does not exist in this region, or you are not allowed to access.";

/// Reads the message of a denial; `None` where it has none of the documented forms.
pub(super) fn parse(message: &str) -> Option<Denial> {
    if message.trim() == UNDISCLOSED_KEY {
        return Some(Denial {
            action: Some("kms:Decrypt".to_owned()),
            blame: Some(Blame {
                policy: PolicyKind::Resource,
                how: BlameKind::Undisclosed,
                arn: None,
            }),
            ..Denial::default()
        });
    }
    let rest = message.trim().strip_prefix("User: ")?;
    let (principal, rest) = rest.split_once(" is not authorized to perform: ")?;
    let (action, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    if !is_action(action) {
        return None;
    }
    // Not every service names the resource.
    let rest = rest.strip_prefix("on ").unwrap_or(rest);
    let (resource, rest) = match rest.strip_prefix("resource: ") {
        Some(rest) => resource(rest),
        None => (None, rest),
    };
    Some(Denial {
        action: Some(action.to_owned()),
        resource: resource.filter(|arn| arn.starts_with("arn:")).map(str::to_owned),
        principal: Some(principal).filter(|arn| arn.starts_with("arn:")).map(str::to_owned),
        blame: blame(rest, action),
    })
}

/// A service and one of its actions, without spaces.
fn is_action(text: &str) -> bool {
    let letters = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    text.split_once(':').is_some_and(|(service, name)| letters(service) && letters(name))
}

/// An ARN, in quotes or not, and what follows it. Keys of objects may have spaces, but then they are in quotes.
fn resource(text: &str) -> (Option<&str>, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        return match quoted.split_once("\" ") {
            Some((arn, rest)) => (Some(arn), rest),
            None => (Some(quoted.trim_end_matches('"')), ""),
        };
    }
    for start in [" because ", " with an explicit deny "] {
        if let Some(at) = text.find(start) {
            return (Some(&text[..at]), text[at..].trim_start());
        }
    }
    (Some(text), "")
}

fn blame(text: &str, action: &str) -> Option<Blame> {
    if let Some(policy) = text.strip_prefix("with an explicit deny in ") {
        let policy = policy.strip_prefix("a ").or_else(|| policy.strip_prefix("an "))?;
        let (policy, arn) = match policy.split_once(": ") {
            Some((policy, arn)) => (policy, Some(arn.trim().to_owned())),
            None => (policy, None),
        };
        return Some(Blame { policy: kind(policy)?, how: BlameKind::ExplicitDeny, arn });
    }
    if text.starts_with("this resource because the resource does not exist in this Region, ") {
        return Some(Blame {
            policy: PolicyKind::Resource,
            how: BlameKind::Undisclosed,
            arn: None,
        });
    }
    let policy = text.strip_prefix("because no ")?;
    let (policy, allowed) = policy.split_once(" allows the ")?;
    let allowed = allowed.trim_end_matches('.').strip_suffix(" action")?;
    (allowed == action).then_some(())?;
    Some(Blame { policy: kind(policy)?, how: BlameKind::NoAllow, arn: None })
}

fn kind(policy: &str) -> Option<PolicyKind> {
    Some(match policy.trim_end_matches('.') {
        "identity-based policy" => PolicyKind::Identity,
        "resource-based policy" => PolicyKind::Resource,
        "permissions boundary" => PolicyKind::PermissionsBoundary,
        "session policy" => PolicyKind::Session,
        "service control policy" => PolicyKind::ServiceControl,
        "resource control policy" => PolicyKind::ResourceControl,
        "VPC endpoint policy" => PolicyKind::VpcEndpoint,
        _ => return None,
    })
}
