use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use url::Url;

/// A host that offers services, with its port where that is not the usual one: in lower case and, where its name is not ASCII,
/// in the encoding that DNS knows, so that two spellings of one host are equal.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostName(Arc<str>);

/// A text names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the name of a host")]
pub struct InvalidHostName(String);

impl HostName {
    /// Host and port.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host that an address over HTTPS leads to.
    pub fn of(url: &Url) -> Option<HostName> {
        let host = url.host_str()?;
        let text = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        Some(HostName(text.into()))
    }
}

impl FromStr for HostName {
    type Err = InvalidHostName;
    fn from_str(text: &str) -> Result<HostName, InvalidHostName> {
        let invalid = || InvalidHostName(text.to_owned());
        let only_host =
            |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']' | '_');
        if text.is_empty() || !text.chars().all(only_host) {
            return Err(invalid());
        }
        let url: Url = format!("https://{text}/").parse().map_err(|_| invalid())?;
        HostName::of(&url).ok_or_else(invalid)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
