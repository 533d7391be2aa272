//! The backend `s3`: one object for each workspace.

use super::{BackendError, BackendSettings, BackendState};
use crate::stores::StoreSurroundings;
use engine::existing_state::DEFAULT_WORKSPACE;
use records::s3::{S3Connection, S3Settings};
use std::error::Error;

const USED: [&str; 9] = [
    "bucket",
    "key",
    "region",
    "profile",
    "endpoint",
    "endpoints",
    "use_path_style",
    "force_path_style",
    "workspace_key_prefix",
];
/// For writers and locks, and checks that are not made here.
const IGNORED: [&str; 17] = [
    "acl",
    "encrypt",
    "kms_key_id",
    "dynamodb_table",
    "dynamodb_endpoint",
    "use_lockfile",
    "max_retries",
    "retry_mode",
    "skip_credentials_validation",
    "skip_metadata_api_check",
    "skip_region_validation",
    "skip_requesting_account_id",
    "skip_s3_checksum",
    "sts_region",
    "allowed_account_ids",
    "forbidden_account_ids",
    "ec2_metadata_service_endpoint_mode",
];

pub(super) async fn read(
    settings: &BackendSettings,
    workspace: &str,
    surroundings: &dyn StoreSurroundings,
) -> Result<BackendState, BackendError> {
    settings.check(&USED, &IGNORED)?;
    let (bucket, key) = (settings.required("bucket")?, settings.required("key")?);
    let endpoints = settings.texts("endpoints")?;
    let endpoint = endpoints.into_iter().find(|(name, _)| *name == "s3").map(|(_, url)| url);
    let endpoint = match endpoint {
        Some(endpoint) => Some(endpoint),
        None => settings.text("endpoint")?,
    };
    let prefix = settings.text("workspace_key_prefix")?.unwrap_or("env:");
    let key = match workspace {
        DEFAULT_WORKSPACE => key.to_owned(),
        workspace => format!("{prefix}/{workspace}/{key}"),
    };
    let sdk = surroundings.aws(settings.text("profile")?).await;
    let connection = S3Connection::new(
        S3Settings {
            region: settings.text("region")?.map(str::to_owned),
            endpoint: endpoint.map(str::to_owned),
            path_style: settings.switch("use_path_style")?
                || settings.switch("force_path_style")?,
            ..S3Settings::new(bucket)
        },
        &sdk,
    )?;
    let place = format!("s3://{bucket}/{key}");
    let refused = |problem: String| BackendError::Refused { place: place.clone(), problem };
    let answer = connection.s3().get_object().bucket(bucket).key(&key).send().await;
    let file = match answer {
        Ok(object) => {
            let body = object.body.collect().await;
            Some(body.map_err(|error| refused(causes(&error)))?.into_bytes())
        }
        Err(error) if error.as_service_error().is_some_and(|error| error.is_no_such_key()) => None,
        Err(error) => {
            let said = error.as_service_error().map(|error| error.meta().to_string());
            return Err(refused(said.unwrap_or_else(|| causes(&error))));
        }
    };
    Ok(BackendState { place, file })
}

/// An error with all that led to it.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
