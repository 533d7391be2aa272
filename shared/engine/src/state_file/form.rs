//! The form of a state file.

use crate::checks::CheckForm;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub(super) struct StateForm {
    pub(super) version: u64,
    #[serde(default)]
    pub(super) terraform_version: String,
    #[serde(default)]
    pub(super) serial: u64,
    #[serde(default)]
    pub(super) lineage: String,
    #[serde(default)]
    pub(super) outputs: BTreeMap<String, OutputForm>,
    #[serde(default)]
    pub(super) resources: Vec<ResourceForm>,
    /// Never read: each run evaluates its conditions again.
    #[serde(default, skip_deserializing)]
    pub(super) check_results: Option<Vec<CheckForm>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OutputForm {
    pub(super) value: Value,
    #[serde(rename = "type")]
    pub(super) ty: Value,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) sensitive: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ResourceForm {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) module: String,
    pub(super) mode: String,
    #[serde(rename = "type")]
    pub(super) ty: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) provider: String,
    #[serde(default)]
    pub(super) instances: Vec<InstanceForm>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct InstanceForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index_key: Option<Value>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) status: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) deposed: String,
    /// A provider of its own, as OpenTofu has it for instances of providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<String>,
    #[serde(default)]
    pub(super) schema_version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attributes: Option<Value>,
    /// The attributes as Terraform wrote them before 0.12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attributes_flat: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) sensitive_attributes: Vec<Vec<StepForm>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) identity_schema_version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) identity: Option<Value>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) private: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) dependencies: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) create_before_destroy: bool,
}

/// One step of a path.
#[derive(Serialize, Deserialize)]
pub(super) struct StepForm {
    #[serde(rename = "type")]
    pub(super) kind: StepKind,
    /// The name of an attribute, or an index with its type.
    pub(super) value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepKind {
    GetAttr,
    Index,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
