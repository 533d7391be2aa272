//! Names of providers: how they are normalised, and what a `source` argument means.

use values::address::ProviderAddress;

use crate::diagnostics::Diagnostic;

const BAD_CHARACTERS: &str =
    "must contain only letters, digits, and dashes, and may not use leading or trailing dashes";

/// A namespace or type in its normal form: lower case.
///
/// # Errors
/// Why it is none.
pub(super) fn normalize(part: &str) -> Result<String, &'static str> {
    if part.is_empty() {
        return Err("must have at least one character");
    }
    if part.contains('.') {
        return Err("dots are not allowed");
    }
    if part.contains("--") {
        return Err("cannot use multiple consecutive dashes");
    }
    let valid = |c: char| c == '-' || c.is_alphanumeric();
    if part.starts_with('-') || part.ends_with('-') || !part.chars().all(valid) {
        return Err(BAD_CHARACTERS);
    }
    Ok(part.to_lowercase())
}

/// What a `source` argument means.
///
/// # Errors
/// In Terraform's words, without a place.
pub(super) fn parse_source(source: &str) -> Result<ProviderAddress, Box<Diagnostic>> {
    let parts: Vec<&str> = source.split('/').collect();
    if parts.len() > 3 || parts.iter().any(|part| part.trim().is_empty()) {
        return Err(Box::new(Diagnostic::error(
            "Invalid provider source string",
            "The \"source\" attribute must be in the format \"[hostname/][namespace/]name\"",
        )));
    }
    let (host, namespace, ty) = match *parts.as_slice() {
        [host, namespace, ty] => (Some(host), Some(namespace), ty),
        [namespace, ty] => (None, Some(namespace), ty),
        _ => (None, None, parts.last().copied().unwrap_or_default()),
    };
    let refused = |summary: &str, what: &str, shown: &str, reason: &str| {
        Box::new(Diagnostic::error(
            summary,
            format!("Invalid provider {what} \"{shown}\" in source \"{source}\": {reason}\""),
        ))
    };
    let ty =
        normalize(ty).map_err(|reason| refused("Invalid provider type", "type", ty, reason))?;
    let namespace = match namespace {
        None => "hashicorp".to_owned(),
        // The namespace of providers that were installed before there were namespaces.
        Some("-") => "-".to_owned(),
        Some(namespace) => normalize(namespace)
            .map_err(|reason| refused("Invalid provider namespace", "namespace", "", reason))?,
    };
    let host = match host {
        None => ProviderAddress::DEFAULT_HOST.to_owned(),
        Some(host) => normalize_host(host).map_err(|reason| {
            refused("Invalid provider source hostname", "source hostname namespace", "", &reason)
        })?,
    };
    let address = ProviderAddress { host: host.into(), namespace: namespace.into(), ty: ty.into() };
    if !address.is_builtin()
        && &*address.namespace != "hashicorp"
        && address.ty.starts_with("terraform-")
    {
        return Err(Box::new(Diagnostic::error(
            "Invalid provider type",
            format!(
                "Provider source \"{address}\" has a type with the prefix \"terraform-\", which isn't allowed because it would be redundant to name a Terraform provider with that prefix. If you are the author of this provider, rename it to not include the prefix."
            ),
        )));
    }
    Ok(address)
}

fn normalize_host(host: &str) -> Result<String, String> {
    let (name, port) = match host.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    if let Some(bad) = name.chars().find(|c| !(c.is_alphanumeric() || ".-".contains(*c))) {
        return Err(format!("idna: disallowed rune U+{:04X}", u32::from(bad)));
    }
    if name.split('.').any(str::is_empty) {
        return Err("idna: invalid label \"\"".to_owned());
    }
    let name = name.to_lowercase();
    match port {
        None | Some("443") => Ok(name),
        Some(port) => match port.parse::<u16>() {
            Ok(port) => Ok(format!("{name}:{port}")),
            Err(_) => Err("port number contains non-digit characters".to_owned()),
        },
    }
}
