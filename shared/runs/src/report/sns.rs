//! SNS.

use super::{Notifier, NotifyError, Report, status_line};
use async_trait::async_trait;
use aws_sdk_sns::Client;
use aws_sdk_sns::error::DisplayErrorContext;

/// SNS' bound of a subject.
const LONGEST_SUBJECT: usize = 99;

/// A topic that is told of every run.
#[derive(Clone, Debug)]
pub struct Topic {
    client: Client,
    arn: String,
}

impl Topic {
    /// The topic with this ARN.
    pub fn of(sdk: &aws_config::SdkConfig, arn: impl Into<String>) -> Topic {
        Topic { client: Client::new(sdk), arn: arn.into() }
    }
}

#[async_trait]
impl Notifier for Topic {
    async fn notify(&self, report: &Report) -> Result<(), NotifyError> {
        let failed = |problem: String| NotifyError { to: self.arn.clone(), problem };
        let subject = format!("{}: {}", report.estate, status_line(report));
        // SNS takes printable ASCII alone.
        let subject = subject.chars().filter(|c| matches!(c, ' '..='~')).take(LONGEST_SUBJECT);
        let message = serde_json::to_string(report).map_err(|error| failed(error.to_string()))?;
        let sent = self.client.publish().topic_arn(&self.arn).subject(subject.collect::<String>());
        let sent = sent.message(message).send().await;
        sent.map(drop).map_err(|error| failed(DisplayErrorContext(&error).to_string()))
    }
}
