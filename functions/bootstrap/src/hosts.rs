//! The hosts of a deployment's repositories.

use crate::Function;
use providers::https::{Https, HttpsClient};
use runs::modules::PackageSources;
use runs::repository_host::RepositoryHosts;
use runs::secrets::SecretsManager;
use runs::steps::StepError;
use std::sync::Arc;
use std::time::Duration;

/// How long a host may take for one answer: archives take a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the modules of bundles come from. Whoever may push chooses the addresses, so that nothing is reached in the clear: the
/// API that the function itself is served by listens there.
pub fn module_packages(function: &Function) -> PackageSources<'static> {
    let client = HttpsClient::new(PATIENCE).https_only();
    function.environment.module_packages(Arc::new(client))
}

/// The hosts as the deployment's settings have them, and the way to them.
///
/// # Errors
/// Where the settings cannot be read.
pub async fn hosts(function: &Function) -> Result<(RepositoryHosts, Arc<dyn Https>), StepError> {
    let https: Arc<dyn Https> = Arc::new(HttpsClient::new(PATIENCE));
    let deployment = function.environment.deployment().await?;
    let secrets = Arc::new(SecretsManager::of(&function.aws().await));
    Ok((RepositoryHosts { deployment, secrets, https: https.clone() }, https))
}
