//! Packages in S3: an archive that is one object, or all objects under a prefix.

use super::address::PackageUrl;
use super::error::{PackageError, status_may_pass};
use crate::stores::StoreSurroundings;
use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{Builder, Credentials, Region};
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use bytes::Bytes;
use http::StatusCode;
use std::sync::Arc;

/// The region of addresses that name none.
const DEFAULT_REGION: &str = "us-east-1";

/// Where a package is: in which bucket, and under which key or prefix.
#[derive(Clone, PartialEq, Eq)]
pub struct ObjectLocation {
    /// The server, where it is none of AWS's.
    pub endpoint: Option<String>,
    /// The bucket's region.
    pub region: String,
    /// The bucket.
    pub bucket: String,
    /// The key, or what keys begin with.
    pub key: String,
    /// Which version of the object.
    pub version: Option<String>,
    /// The profile whose credentials are used.
    pub profile: Option<String>,
    /// Key, secret and token, where the address carries them.
    pub credentials: Option<(String, String, Option<String>)>,
}

/// Gives packages that are kept in S3.
#[async_trait]
pub trait ModuleObjects: Send + Sync {
    /// One object, of at most `limit` bytes.
    ///
    /// # Errors
    /// Why it is not given.
    async fn get(&self, location: &ObjectLocation, limit: u64) -> Result<Bytes, PackageError>;

    /// The keys under a prefix, at most `limit` of them.
    ///
    /// # Errors
    /// Why they are not given.
    async fn list(
        &self,
        location: &ObjectLocation,
        limit: usize,
    ) -> Result<Vec<String>, PackageError>;
}

impl ObjectLocation {
    /// Reads an address: `s3::https://s3-REGION.amazonaws.com/BUCKET/KEY` and AWS's other spellings, or another server's
    /// `s3::https://HOST/BUCKET/KEY?region=REGION`.
    ///
    /// # Errors
    /// Where it names no object.
    pub(super) fn of(url: &PackageUrl) -> Result<ObjectLocation, PackageError> {
        let mut url = url.clone();
        let path = url.unescaped_path();
        let path = path.strip_prefix('/').unwrap_or(&path);
        let host = url.host.clone();
        let aws = ["amazonaws.com", "amazonaws.com.cn"]
            .iter()
            .find_map(|domain| host.strip_suffix(domain));
        let invalid = |what| PackageError::Objects(format!("URL is not a valid {what} URL"));
        let labels: Vec<&str> = aws.unwrap_or_default().split('.').collect();
        let without_service = |label: &str| {
            label
                .strip_prefix("s3-")
                .or_else(|| label.strip_prefix("s3"))
                .unwrap_or(label)
                .to_owned()
        };
        let in_path = path.split_once('/').map(|(bucket, key)| (bucket.to_owned(), key.to_owned()));
        let named = url.take("region").filter(|region| !region.is_empty());
        let (region, bucket, key) = match (aws, labels.as_slice()) {
            (None, _) => {
                let (bucket, key) = in_path.ok_or_else(|| invalid("S3 compliant"))?;
                (named, bucket, key)
            }
            (Some(_), ["s3", region, ""]) => {
                let (bucket, key) = in_path.ok_or_else(|| invalid("S3"))?;
                (Some((*region).to_owned()), bucket, key)
            }
            (Some(_), [service, ""]) => {
                let (bucket, key) = in_path.ok_or_else(|| invalid("S3"))?;
                (Some(without_service(service)), bucket, key)
            }
            (Some(_), [bucket, service, ""]) => {
                (Some(without_service(service)), (*bucket).to_owned(), path.to_owned())
            }
            (Some(_), [bucket, _, region, ""]) => {
                (Some((*region).to_owned()), (*bucket).to_owned(), path.to_owned())
            }
            _ => return Err(invalid("S3")),
        };
        if bucket.is_empty() || key.is_empty() {
            return Err(invalid("S3"));
        }
        let id = url.take("aws_access_key_id");
        let secret = url.take("aws_access_key_secret");
        let token = url.take("aws_access_token");
        Ok(ObjectLocation {
            endpoint: aws.is_none().then(|| format!("{}://{}", url.scheme, url.host)),
            region: region.filter(|r| !r.is_empty()).unwrap_or_else(|| DEFAULT_REGION.to_owned()),
            bucket,
            key,
            version: url.take("version"),
            profile: url.take("aws_profile"),
            credentials: match (id, secret) {
                (None, None) => None,
                (id, secret) => Some((id.unwrap_or_default(), secret.unwrap_or_default(), token)),
            },
        })
    }

    /// The same place with another key.
    pub(super) fn with_key(&self, key: &str) -> ObjectLocation {
        ObjectLocation { key: key.to_owned(), version: None, ..self.clone() }
    }
}

/// S3 with the credentials that the surroundings have.
pub struct S3ModuleObjects(pub Arc<dyn StoreSurroundings>);

impl S3ModuleObjects {
    async fn client(&self, location: &ObjectLocation) -> Client {
        let sdk = self.0.aws(location.profile.as_deref()).await;
        let mut config =
            Builder::from(&sdk).region(Region::new(location.region.clone())).force_path_style(true);
        if let Some(endpoint) = &location.endpoint {
            config = config.endpoint_url(endpoint);
        }
        if let Some((id, secret, token)) = location.credentials.clone() {
            config =
                config.credentials_provider(Credentials::new(id, secret, token, None, "source"));
        }
        Client::from_conf(config.build())
    }
}

/// What S3 says, or what led to it that S3 was not asked. Requests, with what signs them, are no part of it.
fn refused<E>(error: &SdkError<E>) -> PackageError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    let said = error.code().map(|code| match error.message() {
        Some(message) => format!("{code}: {message}"),
        None => code.to_owned(),
    });
    let said = said.unwrap_or_else(|| {
        let first: &dyn std::error::Error = error;
        let causes = std::iter::successors(Some(first), |error| error.source());
        causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    });
    match is_unanswered(error) {
        true => PackageError::ObjectsUnanswered(said),
        false => PackageError::Objects(said),
    }
}

fn is_unanswered<E>(error: &SdkError<E>) -> bool {
    match error {
        SdkError::ConstructionFailure(_) => false,
        SdkError::DispatchFailure(failure) => !failure.is_user(),
        SdkError::ServiceError(answer) => {
            let status = StatusCode::from_u16(answer.raw().status().as_u16());
            status.is_ok_and(status_may_pass)
        }
        _ => true,
    }
}

fn too_large(limit: u64) -> PackageError {
    PackageError::Objects(format!(
        "the object has more than {limit} bytes, which protects the memory of this machine"
    ))
}

#[async_trait]
impl ModuleObjects for S3ModuleObjects {
    async fn get(&self, location: &ObjectLocation, limit: u64) -> Result<Bytes, PackageError> {
        let client = self.client(location).await;
        let request = client.get_object().bucket(&location.bucket).key(&location.key);
        let answer = request.set_version_id(location.version.clone()).send().await;
        let answer = answer.map_err(|error| refused(&error))?;
        if answer.content_length().is_some_and(|length| length.unsigned_abs() > limit) {
            return Err(too_large(limit));
        }
        let mut body = answer.body;
        let mut content = Vec::new();
        while let Some(part) = body.next().await {
            let part = part.map_err(|error| PackageError::ObjectsUnanswered(error.to_string()))?;
            content.extend_from_slice(&part);
            if content.len() as u64 > limit {
                return Err(too_large(limit));
            }
        }
        Ok(content.into())
    }

    async fn list(
        &self,
        location: &ObjectLocation,
        limit: usize,
    ) -> Result<Vec<String>, PackageError> {
        let client = self.client(location).await;
        let mut keys = Vec::new();
        let mut next = None;
        loop {
            let request = client.list_objects_v2().bucket(&location.bucket).prefix(&location.key);
            let answer = request.set_continuation_token(next).send().await;
            let answer = answer.map_err(|error| refused(&error))?;
            keys.extend(answer.contents().iter().filter_map(|object| object.key.clone()));
            if keys.len() > limit {
                return Err(PackageError::Objects(format!(
                    "more than {limit} objects are under the prefix {:?}",
                    location.key
                )));
            }
            next = answer.next_continuation_token;
            if next.is_none() {
                return Ok(keys);
            }
        }
    }
}
