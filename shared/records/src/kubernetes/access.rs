//! Asking the authorizer what this identity may do.

use std::time::Duration;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::PostParams;

use super::Cluster;
use super::requests::{Failure, answer};

/// What is asked of the authorizer. An empty namespace asks for the whole cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) verb: &'a str,
    pub(super) group: &'a str,
    pub(super) resource: &'a str,
    pub(super) name: &'a str,
    pub(super) namespace: &'a str,
}

/// What the authorizer answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Review {
    pub(super) allowed: bool,
    pub(super) reason: String,
}

/// Asks with a SelfSubjectAccessReview, which every authenticated identity may make.
pub(super) async fn review(
    cluster: &Cluster,
    asked: Asked<'_>,
    time_out: Duration,
) -> Result<Review, Failure> {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                verb: text(asked.verb),
                group: text(asked.group),
                resource: text(asked.resource),
                name: text(asked.name),
                namespace: text(asked.namespace),
                ..Default::default()
            }),
            ..Default::default()
        },
        ..Default::default()
    };
    let api = Api::all(cluster.client.clone());
    let answered: SelfSubjectAccessReview =
        answer(time_out, api.create(&PostParams::default(), &review)).await?;
    let status = answered.status.unwrap_or_default();
    let reason = status.reason.or(status.evaluation_error).unwrap_or_default();
    Ok(Review { allowed: status.allowed && status.denied != Some(true), reason })
}
