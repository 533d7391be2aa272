//! The protocol of provider mirrors on the network.

use super::{ANSWER_LIMIT, Available, Expected, Network, PackageLocation, SourceError, shown};
use crate::install::hash::PackageHash;
use crate::install::platform::Platform;
use crate::install::version::Version;
use crate::services::HostName;
use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use url::Url;
use values::address::ProviderAddress;

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    versions: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct VersionIndex {
    #[serde(default)]
    archives: BTreeMap<String, Archive>,
}

#[derive(Deserialize)]
struct Archive {
    url: String,
    #[serde(default)]
    hashes: Option<Vec<String>>,
}

/// The versions of a provider that the mirror has; `None` where it has none.
pub(super) async fn versions(
    network: &Network,
    mirror: &str,
    provider: &ProviderAddress,
) -> Result<Option<Available>, SourceError> {
    let Some((index, _)) = ask::<Index>(network, mirror, provider, "index.json").await? else {
        return Ok(None);
    };
    // What is no version belongs to somebody else.
    let versions = index.versions.keys().filter_map(|text| text.parse().ok()).collect();
    Ok(Some(Available { versions, warnings: vec![] }))
}

/// The package of a version; `None` where the mirror has none for the platform.
pub(super) async fn package(
    network: &Network,
    mirror: &str,
    provider: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<Option<PackageLocation>, SourceError> {
    let file = format!("{version}.json");
    // A mirror among several may have other versions.
    let Some((index, from)) = ask::<VersionIndex>(network, mirror, provider, &file).await? else {
        return Ok(None);
    };
    let Some(archive) = index.archives.get(&platform.to_string()) else { return Ok(None) };
    let whom = whom(mirror, provider);
    let invalid = |what: &str, text: &str| {
        SourceError::query(&whom, format!("provider mirror returned invalid {what} {text:?}"))
    };
    let url = from.join(&archive.url).map_err(|_| invalid("URL", &archive.url))?;
    let hashes = archive.hashes.iter().flatten();
    let hashes = hashes
        .map(|text| text.parse().map_err(|_| invalid("provider hash", text)))
        .collect::<Result<Vec<PackageHash>, _>>()?;
    let expected = match hashes.is_empty() {
        true => Expected::Anything,
        false => Expected::AnyOf(hashes),
    };
    Ok(Some(PackageLocation::Remote { url, expected }))
}

/// A file of the mirror, and the address that it came from; `None` where there is no such file.
async fn ask<T: DeserializeOwned>(
    network: &Network,
    mirror: &str,
    provider: &ProviderAddress,
    file: &str,
) -> Result<Option<(T, Url)>, SourceError> {
    let whom = whom(mirror, provider);
    let base: Url = mirror
        .parse()
        .ok()
        .filter(|url: &Url| url.scheme() == "https" && url.has_host())
        .ok_or_else(|| SourceError::query(&whom, "the mirror must be at an https: URL"))?;
    let ProviderAddress { host, namespace, ty } = provider;
    // With a dot, since a port in the first part would read as a scheme.
    let url = base.join(&format!("./{host}/{namespace}/{ty}/{file}"));
    let url = url.map_err(|error| SourceError::query(&whom, error.to_string()))?;
    let owner = HostName::of(&base);
    let answer = network.services.get(&url, owner.as_ref(), ANSWER_LIMIT).await;
    let answer = answer.map_err(|error| SourceError::asking(&whom, &error))?;
    match answer.status {
        StatusCode::OK if !answer.is_json() => Err(SourceError::query(
            &whom,
            "response has invalid Content-Type: must be application/json",
        )),
        StatusCode::OK => {
            let content = serde_json::from_slice(&answer.body);
            let content = content.map_err(|error| {
                let detail = format!("invalid response content from mirror server: {error}");
                SourceError::query(&whom, detail)
            })?;
            let mut from = answer.url;
            if from.origin() == url.origin() {
                // A name and password in the mirror's address hold for all of it; one with a host takes them.
                let _ = (from.set_username(url.username()), from.set_password(url.password()));
            }
            Ok(Some((content, from)))
        }
        StatusCode::NOT_FOUND => Ok(None),
        status => {
            if let Some(host) = owner.filter(|_| answer.is_unauthorized()) {
                return Err(network.services.unauthorized(&host).await.into());
            }
            let detail = format!("server returned unsuccessful status {}", status.as_u16());
            Err(SourceError::query(&whom, detail))
        }
    }
}

fn whom(mirror: &str, provider: &ProviderAddress) -> String {
    format!("provider mirror {} for {provider}", shown(mirror))
}
