//! The address of a package: how it is fetched, from where, and what is asked of what comes.

use super::error::PackageError;
use language::module::SourceError;
use std::fmt::{self, Write};

/// Parameters whose values may be shown. Others may be, or carry, credentials.
const SHOWN_PARAMETERS: [&str; 9] = [
    "ref",
    "depth",
    "archive",
    "checksum",
    "version",
    "region",
    "aws_profile",
    "filename",
    "terraform-get",
];

/// A URL in its parts. It is shown without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageUrl {
    /// In lower case.
    pub(super) scheme: String,
    /// What stands before `@`, as written.
    pub(super) user: Option<String>,
    /// Host and port.
    pub(super) host: String,
    /// From the first slash, as written.
    pub(super) path: String,
    /// Parameters as written.
    query: Vec<(String, String)>,
}

/// How a package is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Http,
    Git,
    S3,
    File,
}

/// An address, read.
#[derive(Clone, Debug)]
pub(super) struct PackageAddress {
    pub(super) way: Way,
    pub(super) url: PackageUrl,
}

impl PackageAddress {
    /// Reads the normal form of an address.
    ///
    /// # Errors
    /// Where there is no such way of fetching.
    pub(super) fn parse(text: &str) -> Result<PackageAddress, PackageError> {
        let (forced, address) = split_forced(text);
        // A program that git would start for a scheme it does not know runs whatever the address says.
        if forced == Some("git") && split_forced(address).0.is_some() {
            return Err(PackageError::GitTransport {
                transport: split_forced(address).0.unwrap_or_default().to_owned(),
            });
        }
        let url = PackageUrl::parse(address)?;
        let way = match forced.unwrap_or(&url.scheme) {
            "http" | "https" => Way::Http,
            "git" => Way::Git,
            "s3" => Way::S3,
            "file" => Way::File,
            "gcs" => return Err(PackageError::NotSupported { way: "Google Cloud Storage" }),
            "hg" => return Err(PackageError::NotSupported { way: "Mercurial" }),
            other => return Err(PackageError::UnknownScheme { scheme: other.to_owned() }),
        };
        if way == Way::Git && !GIT_SCHEMES.contains(&&*url.scheme) {
            return Err(PackageError::GitTransport { transport: url.scheme });
        }
        if way == Way::Http && !matches!(&*url.scheme, "http" | "https") {
            return Err(PackageError::UnknownScheme { scheme: url.scheme });
        }
        Ok(PackageAddress { way, url })
    }
}

/// Git has no others but by programs of its own.
const GIT_SCHEMES: [&str; 5] = ["https", "http", "ssh", "git", "file"];

fn split_forced(text: &str) -> (Option<&str>, &str) {
    match text.split_once("::") {
        Some((forced, rest))
            if !forced.is_empty() && forced.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            (Some(forced), rest)
        }
        _ => (None, text),
    }
}

impl PackageUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// Where it is none.
    pub(super) fn parse(text: &str) -> Result<PackageUrl, PackageError> {
        let invalid = || PackageError::InvalidUrl { url: masked(text) };
        if text.chars().any(|c| c.is_control()) {
            return Err(invalid());
        }
        let text = text.split('#').next().unwrap_or_default();
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let (scheme, rest) = address.split_once(':').ok_or_else(invalid)?;
        let Some(rest) = rest.strip_prefix("//") else {
            return Err(PackageError::UnknownScheme { scheme: scheme.to_lowercase() });
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user.to_owned()), host),
            None => (None, authority),
        };
        if host.starts_with('-') {
            return Err(invalid());
        }
        let query = query.split('&').filter(|parameter| !parameter.is_empty()).map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            (name.to_owned(), value.to_owned())
        });
        Ok(PackageUrl {
            scheme: scheme.to_lowercase(),
            user,
            host: host.to_owned(),
            path: path.to_owned(),
            query: query.collect(),
        })
    }

    /// The value of a parameter, which is then no longer part of the URL.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.query.iter().position(|(known, _)| unescaped(known, true) == name)?;
        let (_, value) = self.query.remove(at);
        self.query.retain(|(known, _)| unescaped(known, true) != name);
        Some(unescaped(&value, true))
    }

    /// Adds a parameter.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.query.push((name.to_owned(), value.to_owned()));
    }

    /// The path without escapes.
    pub(super) fn unescaped_path(&self) -> String {
        unescaped(&self.path, false)
    }

    /// User and password without escapes.
    pub(super) fn credentials(&self) -> Option<(String, String)> {
        let user = self.user.as_deref()?;
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        Some((unescaped(name, false), unescaped(password, false)))
    }

    /// Parameters whose values are not shown, as they stand in the URL.
    pub(super) fn hidden_parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        let hidden = self.query.iter().filter(|(name, _)| !SHOWN_PARAMETERS.contains(&&**name));
        hidden.map(|(name, value)| (&**name, &**value))
    }

    /// Whether the host is the machine itself.
    pub(super) fn is_loopback(&self) -> bool {
        let name = match self.host.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or_default(),
            None => self.host.split(':').next().unwrap_or_default(),
        };
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let address = name.parse::<std::net::IpAddr>().ok();
        name == "localhost"
            || name.ends_with(".localhost")
            || address.is_some_and(|ip| {
                let ip = ip.to_canonical();
                ip.is_loopback() || ip.is_unspecified()
            })
            // Other spellings of an IPv4 address, which resolvers take.
            || (address.is_none() && name.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
            || name.starts_with("0x")
    }

    /// The URL with user and password: for requests, never for people.
    pub(super) fn with_credentials(&self) -> String {
        let user = self.user.as_deref().map(|user| format!("{user}@")).unwrap_or_default();
        format!("{}://{user}{}", self.scheme, self.after_scheme())
    }

    /// The URL without user and password: for requests, never for people.
    pub(super) fn without_user(&self) -> String {
        format!("{}://{}", self.scheme, self.after_scheme())
    }

    fn after_scheme(&self) -> String {
        let mut text = format!("{}{}", self.host, self.path);
        for (at, (name, value)) in self.query.iter().enumerate() {
            let before = if at == 0 { '?' } else { '&' };
            // Writing into a string does not fail.
            let _ = write!(text, "{before}{name}={value}");
        }
        text
    }
}

impl fmt::Display for PackageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&masked(&self.with_credentials()))
    }
}

/// An address as people may see it: passwords, tokens, and parameters that nothing is known of are left out.
pub(super) fn masked(address: &str) -> String {
    let (before_query, query) = match address.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (address, None),
    };
    let mut shown = match before_query.split_once("://") {
        None => before_query.to_owned(),
        Some((scheme, rest)) => {
            let (authority, path) = match rest.find('/') {
                Some(at) => rest.split_at(at),
                None => (rest, ""),
            };
            match authority.rsplit_once('@') {
                None => before_query.to_owned(),
                Some((user, host)) => {
                    // A user of SSH is no secret; one of HTTPS is often a token.
                    let user = match user.split_once(':') {
                        None if scheme.ends_with("ssh") => user.to_owned(),
                        _ => "***".to_owned(),
                    };
                    format!("{scheme}://{user}@{host}{path}")
                }
            }
        }
    };
    let parameters = query.into_iter().flat_map(|query| query.split('&'));
    for (at, parameter) in parameters.enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        match parameter.split_once('=') {
            Some((name, _)) if !SHOWN_PARAMETERS.contains(&name) => {
                shown.push_str(name);
                shown.push_str("=***");
            }
            _ => shown.push_str(parameter),
        }
    }
    shown
}

/// Why an address that a server names is none, without the address.
pub(super) fn problem_of(error: &SourceError) -> String {
    match error {
        SourceError::MaybeRelative { .. } => "no way of installing it is known".to_owned(),
        other => other.to_string(),
    }
}

/// Text without escapes. In parameters, `+` is a space.
fn unescaped(text: &str, parameter: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match value {
            Some(value) => {
                bytes.push(value);
                after.get(2..).unwrap_or_default()
            }
            None => {
                bytes.push(if parameter && *first == b'+' { b' ' } else { *first });
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
