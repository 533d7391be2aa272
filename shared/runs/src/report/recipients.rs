//! Who is told of a run, as the deployment's settings have it.

use super::webhook::host;
use super::{HostNotifier, Notifier, NotifyError, SignedWebhook, Topic};
use crate::repository_host::RepositoryHosts;
use crate::run_reference::Mode;
use crate::run_state::RunState;
use aws_config::SdkConfig;
use providers::https::Https;
use std::sync::Arc;

/// Everybody who is told of a run; an error for each who cannot be reached.
pub async fn recipients(
    hosts: &RepositoryHosts,
    https: Arc<dyn Https>,
    sdk: &SdkConfig,
    state: &RunState,
) -> Vec<Result<Box<dyn Notifier>, NotifyError>> {
    let mut recipients: Vec<Result<Box<dyn Notifier>, NotifyError>> = Vec::new();
    // Drift belongs to no commit that anybody made.
    if let Some(commit) = state.commit().filter(|_| state.mode != Mode::Drift) {
        let told = commit.repository.as_str();
        // Whoever gave us no token to write with is told nothing.
        let silent = hosts.deployment.repositories.get(told).is_some_and(|r| r.token.is_none());
        if !silent {
            recipients.push(match hosts.of(told).await {
                Ok(host) => Ok(Box::new(HostNotifier(host))),
                Err(error) => Err(NotifyError { to: told.to_owned(), problem: error.to_string() }),
            });
        }
    }
    let notifications = &hosts.deployment.notifications;
    if let Some(arn) = &notifications.sns_topic {
        recipients.push(Ok(Box::new(Topic::of(sdk, arn))));
    }
    if let Some(webhook) = &notifications.webhook {
        let url = webhook.url.clone();
        recipients.push(match hosts.secrets.read(&webhook.secret).await {
            Ok(secret) => Ok(Box::new(SignedWebhook { https, url, secret })),
            Err(error) => Err(NotifyError { to: host(&url), problem: error.to_string() }),
        });
    }
    recipients
}
