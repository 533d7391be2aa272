use super::{AddressError, ProviderAddress};
use std::str::FromStr;

/// A text is not the source of a provider; in Terraform's words.
#[derive(Debug, Clone, thiserror::Error, PartialEq)]
#[error("{detail}")]
pub struct ProviderSourceError {
    /// Title of the diagnostic.
    pub summary: &'static str,
    /// Its text.
    pub detail: String,
}

const SOURCE: &str = "Invalid provider source string";
const TYPE: &str = "Invalid provider type";
const NAMESPACE: &str = "Invalid provider namespace";
const HOST: &str = "Invalid provider source hostname";

impl ProviderAddress {
    /// Reads a source as `required_providers` has it: `aws`, `hashicorp/aws` or
    /// `registry.example.com/hashicorp/aws`. Upper case is folded.
    ///
    /// # Errors
    /// Where a part is missing, or not a valid name.
    pub fn parse_source(source: &str) -> Result<ProviderAddress, ProviderSourceError> {
        let fail = |summary, detail| Err(ProviderSourceError { summary, detail });
        let parts: Vec<&str> = source.split('/').collect();
        if parts.len() > 3 || parts.iter().any(|p| p.is_empty()) {
            return fail(
                SOURCE,
                "The \"source\" attribute must be in the format \"[hostname/][namespace/]name\""
                    .into(),
            );
        }
        let (host, namespace, ty) = match parts.as_slice() {
            [ty] => (None, None, *ty),
            [namespace, ty] => (None, Some(*namespace), *ty),
            [host, namespace, ty, ..] => (Some(*host), Some(*namespace), *ty),
            [] => (None, None, ""),
        };
        let ty = match part(ty) {
            Ok(ty) => ty,
            Err(why) => {
                let detail = format!("Invalid provider type {ty:?} in source {source:?}: {why}");
                return fail(TYPE, detail);
            }
        };
        let namespace = match namespace.unwrap_or("hashicorp") {
            // Where Terraform puts providers that have no namespace yet.
            "-" => "-".to_owned(),
            given => match part(given) {
                Ok(namespace) => namespace,
                Err(why) => {
                    let detail =
                        format!("Invalid provider namespace {given:?} in source {source:?}: {why}");
                    return fail(NAMESPACE, detail);
                }
            },
        };
        let host = match host {
            None => Self::DEFAULT_HOST.to_owned(),
            Some(given) => match hostname(given) {
                Ok(host) => host,
                Err(why) => {
                    let detail = format!(
                        "Invalid provider source hostname {given:?} in source {source:?}: {why}"
                    );
                    return fail(HOST, detail);
                }
            },
        };
        let address = ProviderAddress {
            host: host.into(),
            namespace: namespace.into(),
            ty: ty.as_str().into(),
        };
        if let Some(rest) = ty.strip_prefix("terraform-provider-").filter(|r| !r.is_empty()) {
            let suggestion = ProviderAddress { ty: rest.into(), ..address };
            let detail = format!(
                "Provider source {source:?} has a type with the prefix \"terraform-provider-\", which isn't valid. Although that prefix is often used in the names of version control repositories for Terraform providers, provider source strings should not include it.\n\nDid you mean {:?}?",
                suggestion.for_display()
            );
            return fail(TYPE, detail);
        }
        if ty.starts_with("terraform-provider") {
            let detail = format!(
                "Provider source \"{address}\" has a type with the prefix \"terraform-\", which isn't allowed because it would be redundant to name a Terraform provider with that prefix. If you are the author of this provider, rename it to not include the prefix."
            );
            return fail(TYPE, detail);
        }
        Ok(address)
    }
}

/// A namespace or type in lower case.
fn part(given: &str) -> Result<String, &'static str> {
    if given.contains('.') {
        return Err("dots are not allowed");
    }
    if given.contains("--") {
        return Err("cannot use multiple consecutive dashes");
    }
    let allowed = given.chars().all(|c| c.is_alphanumeric() || c == '-');
    if !allowed || given.starts_with('-') || given.ends_with('-') || given.is_empty() {
        return Err(
            "must contain only letters, digits, and dashes, and may not use leading or trailing dashes",
        );
    }
    Ok(given.to_lowercase())
}

/// A host name in lower case, with its port unless that is the usual one.
fn hostname(given: &str) -> Result<String, String> {
    let (name, port) = match given.split_once(':') {
        None => (given, None),
        Some((name, port)) => {
            let digits = port.bytes().all(|b| b.is_ascii_digit());
            let number = port.parse::<u16>().ok().filter(|n| *n > 0 && digits);
            (name, Some(number.ok_or_else(|| format!("{port:?} is not a port number"))?))
        }
    };
    for label in name.split('.') {
        if label.is_empty() || label.chars().count() > 63 {
            return Err("a name between dots must have 1 to 63 characters".into());
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err(format!("{label:?} begins or ends with a dash"));
        }
        if let Some(c) = label.chars().find(|c| !c.is_alphanumeric() && *c != '-') {
            return Err(format!("the character {c:?} is not allowed"));
        }
    }
    let name = name.to_lowercase();
    Ok(match port {
        None | Some(443) => name,
        Some(port) => format!("{name}:{port}"),
    })
}

/// As [`ProviderAddress::parse_source`].
impl FromStr for ProviderAddress {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        ProviderAddress::parse_source(text)
            .map_err(|e| AddressError { text: text.into(), reason: e.detail })
    }
}
