//! Addresses of packages that are fetched from elsewhere, and the short forms of some.

use std::fmt;
use std::sync::Arc;

use super::url::{self, escape_path, sorted_query};
use super::{SourceError, clean, split_subdirectory, subdirectory};

/// A module in a package that is fetched from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteModule {
    /// The package's address in normal form: a URL, before which `git::` or another way of fetching it may stand.
    pub package: Arc<str>,
    /// The path inside the package, which may be a pattern; empty for its top.
    pub subdirectory: Arc<str>,
}

/// What a short form stands for.
struct Detected {
    package: String,
    subdirectory: String,
}

impl RemoteModule {
    /// Reads an address, and writes out short forms.
    ///
    /// # Errors
    /// Where no way of fetching it is known, or its subdirectory leads out of the package.
    pub fn parse(text: &str) -> Result<RemoteModule, SourceError> {
        let (package, inside) = split_subdirectory(text);
        let inside = subdirectory(&inside)?;
        let (forced, address) = split_forced(&package);
        if url::is_url(address) {
            return Ok(RemoteModule { package: package.into(), subdirectory: inside.into() });
        }
        let detected = detect(address)?
            .ok_or_else(|| SourceError::MaybeRelative { package: address.to_owned() })?;
        let (by_detection, address) = split_forced(&detected.package);
        let package = match forced.or(by_detection) {
            Some(forced) => format!("{forced}::{address}"),
            None => address.to_owned(),
        };
        Ok(RemoteModule {
            package: package.into(),
            subdirectory: joined(&detected.subdirectory, &inside)?.into(),
        })
    }

    /// The same module, or one below it.
    ///
    /// # Errors
    /// Where the path leads out of the package.
    pub fn below(&self, path: &str) -> Result<RemoteModule, SourceError> {
        let subdirectory = joined(&self.subdirectory, path)?.into();
        Ok(RemoteModule { package: self.package.clone(), subdirectory })
    }
}

/// The path stands before the query.
impl fmt::Display for RemoteModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subdirectory.is_empty() {
            return f.write_str(&self.package);
        }
        match self.package.split_once('?') {
            Some((address, query)) => write!(f, "{address}//{}?{query}", self.subdirectory),
            None => write!(f, "{}//{}", self.package, self.subdirectory),
        }
    }
}

fn joined(outer: &str, inner: &str) -> Result<String, SourceError> {
    match (outer.is_empty(), inner.is_empty()) {
        (true, _) => subdirectory(inner),
        (_, true) => subdirectory(outer),
        _ => subdirectory(&clean(&format!("{outer}/{inner}"))),
    }
}

/// `git::https://…`: how to fetch, and what.
fn split_forced(text: &str) -> (Option<&str>, &str) {
    match text.split_once("::") {
        Some((forced, rest))
            if !forced.is_empty()
                && !rest.is_empty()
                && forced.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            (Some(forced), rest)
        }
        _ => (None, text),
    }
}

/// What a short form stands for; `None` where it is none.
fn detect(text: &str) -> Result<Option<Detected>, SourceError> {
    let (address, query) = match text.split_once('?') {
        Some((address, query)) => (address, format!("?{query}")),
        None => (text, String::new()),
    };
    if address.starts_with("github.com/") {
        return github(address, &query).map(Some);
    }
    if let Some(package) = scp(text) {
        return Ok(Some(whole(package)));
    }
    if address.starts_with("bitbucket.org/") {
        return Ok(Some(whole(bitbucket(address, &query))));
    }
    if text.contains(".googleapis.com/") {
        return google_storage(text).map(Some);
    }
    if text.contains(".amazonaws.com/") {
        return s3(text).map(Some);
    }
    Ok(text.strip_prefix('/').map(|path| whole(format!("file:///{path}"))))
}

fn whole(package: String) -> Detected {
    Detected { package, subdirectory: String::new() }
}

/// `github.com/user/repository/path`: what follows the repository is a path inside it.
fn github(address: &str, query: &str) -> Result<Detected, SourceError> {
    let mut parts = address.splitn(4, '/');
    let (Some(host), Some(user), Some(repository)) = (parts.next(), parts.next(), parts.next())
    else {
        return Err(SourceError::Other(
            "GitHub URLs should be github.com/username/repo".to_owned(),
        ));
    };
    let path = escape_path(&format!("{user}/{repository}"));
    let ending = git_ending(repository);
    Ok(Detected {
        package: format!("git::https://{host}/{path}{ending}{query}"),
        subdirectory: parts.next().unwrap_or_default().to_owned(),
    })
}

/// The host has kept nothing but git repositories for years, so that it need not be asked.
fn bitbucket(address: &str, query: &str) -> String {
    format!("git::https://{}{}{query}", escape_path(address), git_ending(address))
}

fn git_ending(path: &str) -> &'static str {
    match path.ends_with(".git") {
        true => "",
        false => ".git",
    }
}

/// `git@host:path`, as `scp` has it.
fn scp(text: &str) -> Option<String> {
    let (user, rest) = text.split_once('@')?;
    let (host, path) = rest.split_once(':')?;
    let path = path.strip_prefix('/').unwrap_or(path);
    if user != "git" || host.is_empty() || path.is_empty() {
        return None;
    }
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, format!("?{}", sorted_query(query))),
        None => (path, String::new()),
    };
    Some(format!("git::ssh://git@{host}/{}{query}", escape_path(path)))
}

fn google_storage(text: &str) -> Result<Detected, SourceError> {
    let parts: Vec<&str> = text.splitn(5, '/').collect();
    match *parts.as_slice() {
        [_, _, version, bucket, object] => Ok(whole(format!(
            "gcs::https://www.googleapis.com/storage/{version}/{bucket}/{object}"
        ))),
        _ => Err(SourceError::Other("URL is not a valid GCS URL".to_owned())),
    }
}

/// `bucket.s3.amazonaws.com/key` and the other spellings, written with the bucket in the path.
fn s3(text: &str) -> Result<Detected, SourceError> {
    let invalid = || SourceError::Other("URL is not a valid S3 URL".to_owned());
    let (host, path) = text.split_once('/').ok_or_else(invalid)?;
    let labels: Vec<&str> = host.split('.').collect();
    let package = match *labels.as_slice() {
        [region, _, _] => format!("s3::https://{region}.amazonaws.com/{path}"),
        [bucket, region, _, _] => format!("s3::https://{region}.amazonaws.com/{bucket}/{path}"),
        [bucket, "s3", region, _, _] => {
            format!("s3::https://s3.{region}.amazonaws.com/{bucket}/{path}")
        }
        _ => return Err(invalid()),
    };
    Ok(whole(package))
}
