//! The protocol of provider registries, version 1.

use super::checksums;
use super::{ANSWER_LIMIT, Available, Expected, Network, PackageLocation, SourceError};
use crate::install::hash::PackageHash;
use crate::install::openpgp;
use crate::install::platform::Platform;
use crate::install::version::Version;
use crate::services::{Answer, DiscoveryError, HostName};
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use std::collections::BTreeMap;
use url::Url;
use values::address::ProviderAddress;

const SERVICE: &str = "providers.v1";
/// Major versions of the plugin protocol that are spoken here.
const PROTOCOLS: std::ops::RangeInclusive<u64> = 5..=6;

#[derive(Deserialize)]
struct VersionList {
    #[serde(default)]
    versions: Vec<VersionEntry>,
    #[serde(default)]
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct VersionEntry {
    version: String,
    #[serde(default)]
    protocols: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Download {
    #[serde(default)]
    protocols: Option<Vec<String>>,
    os: String,
    arch: String,
    filename: String,
    download_url: String,
    shasum: String,
    #[serde(default)]
    shasums_url: String,
    #[serde(default)]
    shasums_signature_url: String,
    #[serde(default)]
    signing_keys: SigningKeys,
}

#[derive(Default, Deserialize)]
struct SigningKeys {
    #[serde(default)]
    gpg_public_keys: Option<Vec<SigningKey>>,
}

#[derive(Deserialize)]
struct SigningKey {
    ascii_armor: String,
}

/// A provider's registry.
struct Registry<'a> {
    network: &'a Network,
    provider: &'a ProviderAddress,
    host: HostName,
    base: Url,
}

/// The versions of a provider; `None` where the registry does not know it.
pub(super) async fn versions(
    network: &Network,
    provider: &ProviderAddress,
) -> Result<Option<Available>, SourceError> {
    let Some(list) = Registry::of(network, provider).await?.versions().await? else {
        return Ok(None);
    };
    let versions = list.versions.iter().map(|entry| {
        entry.version.parse::<Version>().map_err(|error| {
            let detail = format!("registry response includes an invalid version: {error}");
            SourceError::query(&whom(provider), detail)
        })
    });
    let versions = versions.collect::<Result<_, _>>()?;
    Ok(Some(Available { versions, warnings: list.warnings.unwrap_or_default() }))
}

/// The package of a version; `None` where there is none for the platform.
pub(super) async fn package(
    network: &Network,
    provider: &ProviderAddress,
    version: &Version,
    platform: &Platform,
) -> Result<Option<PackageLocation>, SourceError> {
    let registry = Registry::of(network, provider).await?;
    let path = format!("{version}/download/{}/{}", platform.os(), platform.architecture());
    let Some((download, from)) = registry.ask::<Download>(&path).await? else { return Ok(None) };
    let protocols = download.protocols.clone().unwrap_or_default();
    if !protocols.is_empty() && !protocols.iter().any(|protocol| is_spoken(protocol)) {
        let closest = registry.closest().await?.map(Box::new);
        return Err(SourceError::UnsupportedProtocol { protocols, closest });
    }
    if download.os != platform.os() || download.arch != platform.architecture() {
        return Err(registry.query(format!(
            "registry response to request for {platform} archive has incorrect target {}_{}",
            download.os, download.arch
        )));
    }
    let address = |what: &str, text: &str| {
        from.join(text).ok().filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(
            || registry.query(format!("registry response includes invalid {what} {text:?}")),
        )
    };
    let url = address("download URL", &download.download_url)?;
    let archive = PackageHash::of_archive_digest(&download.shasum).ok_or_else(|| {
        let detail =
            format!("registry response includes invalid SHA256 hash {:?}", download.shasum);
        registry.query(detail)
    })?;
    let document = address("SHASUMS URL", &download.shasums_url)?;
    let document = registry.file("authentication checksums", &document).await?;
    let signature = address("SHASUMS signature URL", &download.shasums_signature_url)?;
    let signature = registry.file("cryptographic signature", &signature).await?;
    let keys = download.signing_keys.gpg_public_keys.unwrap_or_default();
    let keys = keys.iter().map(|key| &*key.ascii_armor);
    let signer = openpgp::verify_detached(&document, &signature, keys, network.now)?;
    let signed = checksums::of_archive(&document, &download.filename)?;
    if signed != archive {
        return Err(SourceError::Checksums(format!(
            "checksum list has unexpected SHA-256 hash {signed} (expected {archive})"
        )));
    }
    let expected = Expected::Signed { archive, all: checksums::all(&document), signer };
    Ok(Some(PackageLocation::Remote { url, expected }))
}

impl<'a> Registry<'a> {
    async fn of(
        network: &'a Network,
        provider: &'a ProviderAddress,
    ) -> Result<Registry<'a>, SourceError> {
        let host: HostName = provider
            .host
            .parse()
            .map_err(|error| SourceError::query(&whom(provider), format!("{error}")))?;
        let base = network.services.url(&host, SERVICE).await?;
        Ok(Registry { network, provider, host, base })
    }

    fn query(&self, detail: impl Into<String>) -> SourceError {
        SourceError::query(&whom(self.provider), detail)
    }

    async fn versions(&self) -> Result<Option<VersionList>, SourceError> {
        Ok(self.ask("versions").await?.map(|(list, _)| list))
    }

    /// What the registry answers about the provider, and the address that the answer came from; `None` where there is nothing.
    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<Option<(T, Url)>, SourceError> {
        let ProviderAddress { namespace, ty, .. } = self.provider;
        let url = self.base.join(&format!("{namespace}/{ty}/{path}"));
        let url = url.map_err(|error| self.query(error.to_string()))?;
        let services = &self.network.services;
        let answer = services.get(&url, Some(&self.host), ANSWER_LIMIT).await;
        let answer: Answer<Bytes> =
            answer.map_err(|error| SourceError::asking(&whom(self.provider), &error))?;
        match answer.status {
            StatusCode::OK => {
                let content = serde_json::from_slice(&answer.body);
                let content = content.map_err(|error| self.query(error.to_string()))?;
                Ok(Some((content, answer.url)))
            }
            StatusCode::NOT_FOUND => Ok(None),
            _ if answer.is_unauthorized() => Err(services.unauthorized(&self.host).await.into()),
            status => Err(self.query(status.to_string())),
        }
    }

    /// A file that the registry names. Credentials are for the registry alone, and do not go along.
    async fn file(&self, what: &str, url: &Url) -> Result<Bytes, SourceError> {
        let failed =
            |why: String| self.query(format!("failed to retrieve {what} for provider: {why}"));
        let answer = self.network.services.get(url, None, ANSWER_LIMIT).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        match answer.status {
            StatusCode::OK => Ok(answer.body),
            status => Err(failed(format!(
                "{status} returned from {}",
                answer.url.host_str().unwrap_or_default()
            ))),
        }
    }

    /// The newest version that speaks a protocol of ours.
    async fn closest(&self) -> Result<Option<Version>, SourceError> {
        let Some(list) = self.versions().await? else { return Ok(None) };
        let versions: BTreeMap<Version, Vec<String>> = list
            .versions
            .into_iter()
            .filter_map(|entry| {
                Some((entry.version.parse().ok()?, entry.protocols.unwrap_or_default()))
            })
            .collect();
        let spoken = |(_, protocols): &(&Version, &Vec<String>)| {
            protocols.iter().any(|protocol| is_spoken(protocol))
        };
        Ok(versions.iter().rev().find(spoken).map(|(version, _)| version.clone()))
    }
}

fn is_spoken(protocol: &str) -> bool {
    let major = protocol.split('.').next().unwrap_or_default();
    major.parse().is_ok_and(|major| PROTOCOLS.contains(&major))
}

fn whom(provider: &ProviderAddress) -> String {
    format!("provider registry for {provider}")
}

/// Whether a host is no registry at all, which is a mistake in the provider's address.
pub(in crate::install) fn is_no_registry(error: &SourceError) -> bool {
    matches!(
        error,
        SourceError::Discovery(
            DiscoveryError::NotOffered { .. } | DiscoveryError::OtherVersion { .. }
        )
    )
}
