use crate::ProviderDiagnostic;
use std::sync::Arc;
use values::address::ProviderAddress;
use values::{Path, Value};

/// Why a provider puts a change off to a later plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deferred {
    /// The provider gave no reason that is known here.
    Unknown,
    /// The resource's configuration is not known yet.
    ResourceConfigUnknown,
    /// The provider's configuration is not known yet.
    ProviderConfigUnknown,
    /// Something that it needs does not exist yet.
    AbsentPrerequisite,
}

/// Configures a provider, once, before anything that needs the real world.
#[derive(Clone, Debug)]
pub struct ConfigureRequest {
    /// The version of Terraform that providers should think they talk to.
    pub terraform_version: Arc<str>,
    /// The prepared configuration.
    pub config: Value,
    /// Whether answers may be deferred.
    pub deferral_allowed: bool,
    /// Whether write-only attributes are understood by the caller.
    pub write_only_allowed: bool,
}

/// Brings a stored object into the current schema.
#[derive(Clone, Debug)]
pub struct UpgradeResourceStateRequest {
    /// Resource type.
    pub ty: Arc<str>,
    /// Schema version of the stored object.
    pub version: u64,
    /// The stored object as JSON.
    pub json: Arc<[u8]>,
}

/// Brings a stored identity into the current identity schema.
#[derive(Clone, Debug)]
pub struct UpgradeIdentityRequest {
    /// Resource type.
    pub ty: Arc<str>,
    /// Version of the stored identity.
    pub version: u64,
    /// The stored identity as JSON.
    pub json: Arc<[u8]>,
}

/// Reads an object from the real world.
#[derive(Clone, Debug)]
pub struct ReadResourceRequest {
    /// Resource type.
    pub ty: Arc<str>,
    /// The object as last known.
    pub current: Value,
    /// The provider's own bytes about it.
    pub private: Arc<[u8]>,
    /// The module's `provider_meta`, where the provider takes one.
    pub provider_meta: Option<Value>,
    /// Its identity, where known.
    pub identity: Option<Value>,
    /// Whether the answer may be deferred.
    pub deferral_allowed: bool,
}

/// What is in the real world.
#[derive(Clone, Debug)]
pub struct ReadResourceResponse {
    /// The object; null where it is gone.
    pub state: Value,
    /// The provider's own bytes about it.
    pub private: Arc<[u8]>,
    /// Set where the read was put off.
    pub deferred: Option<Deferred>,
    /// Its identity.
    pub identity: Option<Value>,
}

/// Asks what applying a configuration would come to.
#[derive(Clone, Debug)]
pub struct PlanResourceRequest {
    /// Resource type.
    pub ty: Arc<str>,
    /// The object now; null for a create.
    pub prior_state: Value,
    /// The object after, as far as configuration and prior state say; null for a destroy.
    pub proposed_new_state: Value,
    /// The configuration; null for a destroy.
    pub config: Value,
    /// The provider's own bytes about the object.
    pub prior_private: Arc<[u8]>,
    /// The module's `provider_meta`, where the provider takes one.
    pub provider_meta: Option<Value>,
    /// Its identity, where known.
    pub prior_identity: Option<Value>,
    /// Whether the answer may be deferred.
    pub deferral_allowed: bool,
}

/// What applying would come to.
#[derive(Clone, Debug)]
pub struct PlanResourceResponse {
    /// The object after, unknown where only applying tells.
    pub planned_state: Value,
    /// Attributes whose change demands a new object.
    pub requires_replace: Vec<Path>,
    /// The provider's own bytes, to be handed to apply.
    pub planned_private: Arc<[u8]>,
    /// The provider's SDK cannot keep the rules for plans; the engine is lenient.
    pub legacy_type_system: bool,
    /// Set where the change was put off.
    pub deferred: Option<Deferred>,
    /// Its identity after.
    pub planned_identity: Option<Value>,
}

/// Does what was planned.
#[derive(Clone, Debug)]
pub struct ApplyResourceRequest {
    /// Resource type.
    pub ty: Arc<str>,
    /// The object now; null for a create.
    pub prior_state: Value,
    /// The planned object; null for a destroy.
    pub planned_state: Value,
    /// The configuration; null for a destroy.
    pub config: Value,
    /// The provider's own bytes from the plan.
    pub planned_private: Arc<[u8]>,
    /// The module's `provider_meta`, where the provider takes one.
    pub provider_meta: Option<Value>,
    /// Its identity from the plan.
    pub planned_identity: Option<Value>,
}

/// What there is after an apply, whether it succeeded or not.
#[derive(Clone, Debug)]
pub struct ApplyResourceResponse {
    /// The object; null where there is none. `None`, only beside an error: the provider did not
    /// say, so that what was known before is all that is known.
    pub new_state: Option<Value>,
    /// The provider's own bytes about it.
    pub private: Arc<[u8]>,
    /// The provider's SDK cannot keep the rules for applies; the engine is lenient.
    pub legacy_type_system: bool,
    /// Its identity.
    pub identity: Option<Value>,
}

/// Asks for an object that exists, by its identifier.
#[derive(Clone, Debug)]
pub struct ImportResourceRequest {
    /// Resource type.
    pub ty: Arc<str>,
    /// The identifier; empty where `identity` says it.
    pub id: Arc<str>,
    /// The identity, in place of an identifier.
    pub identity: Option<Value>,
    /// Whether the answer may be deferred.
    pub deferral_allowed: bool,
}

/// Imported objects.
#[derive(Clone, Debug)]
pub struct ImportResourceResponse {
    /// One object, or several where the provider splits one thing into more.
    pub imported: Vec<ImportedResource>,
    /// Set where the import was put off.
    pub deferred: Option<Deferred>,
}

/// One imported object; to be read before it is used.
#[derive(Clone, Debug)]
pub struct ImportedResource {
    /// Resource type.
    pub ty: Arc<str>,
    /// What is known of it.
    pub state: Value,
    /// The provider's own bytes about it.
    pub private: Arc<[u8]>,
    /// Its identity.
    pub identity: Option<Value>,
}

/// Turns an object of another resource type into one of this provider's.
#[derive(Clone, Debug)]
pub struct MoveResourceRequest {
    /// Provider of the source.
    pub source_provider: ProviderAddress,
    /// Resource type of the source.
    pub source_type: Arc<str>,
    /// Schema version of the source.
    pub source_schema_version: u64,
    /// The source as JSON.
    pub source_json: Arc<[u8]>,
    /// The source provider's own bytes.
    pub source_private: Arc<[u8]>,
    /// The source's identity as JSON.
    pub source_identity_json: Option<Arc<[u8]>>,
    /// Version of the source's identity.
    pub source_identity_version: u64,
    /// Resource type of the target.
    pub target_type: Arc<str>,
}

/// The object as one of the target type.
#[derive(Clone, Debug)]
pub struct MoveResourceResponse {
    /// The object.
    pub state: Value,
    /// The provider's own bytes about it.
    pub private: Arc<[u8]>,
    /// Its identity.
    pub identity: Option<Value>,
}

/// Reads a data source.
#[derive(Clone, Debug)]
pub struct ReadDataSourceRequest {
    /// Data source.
    pub ty: Arc<str>,
    /// The configuration, wholly known.
    pub config: Value,
    /// The module's `provider_meta`, where the provider takes one.
    pub provider_meta: Option<Value>,
    /// Whether the answer may be deferred.
    pub deferral_allowed: bool,
}

/// What a data source says.
#[derive(Clone, Debug)]
pub struct ReadDataSourceResponse {
    /// The object.
    pub state: Value,
    /// Set where the read was put off.
    pub deferred: Option<Deferred>,
}

/// Opens an ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenEphemeralRequest {
    /// Ephemeral resource type.
    pub ty: Arc<str>,
    /// The configuration.
    pub config: Value,
    /// Whether the answer may be deferred.
    pub deferral_allowed: bool,
}

/// An open ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenEphemeralResponse {
    /// The object.
    pub result: Value,
    /// The provider's own bytes, for renew and close.
    pub private: Option<Arc<[u8]>>,
    /// When to renew it.
    pub renew_at: Option<jiff::Timestamp>,
    /// Set where opening was put off.
    pub deferred: Option<Deferred>,
}

/// Names an open ephemeral resource.
#[derive(Clone, Debug)]
pub struct EphemeralHandle {
    /// Ephemeral resource type.
    pub ty: Arc<str>,
    /// The provider's own bytes, from the last open or renew.
    pub private: Option<Arc<[u8]>>,
}

/// A renewed ephemeral resource.
#[derive(Clone, Debug)]
pub struct RenewEphemeralResponse {
    /// The provider's own bytes.
    pub private: Option<Arc<[u8]>>,
    /// When to renew it next.
    pub renew_at: Option<jiff::Timestamp>,
}

/// Calls a function.
#[derive(Clone, Debug)]
pub struct CallFunctionRequest {
    /// Name of the function.
    pub name: Arc<str>,
    /// Arguments, converted to the parameters' types, variadic ones one by one.
    pub arguments: Vec<Value>,
}

/// A function refused its arguments.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct FunctionError {
    /// Why, for the user.
    pub text: String,
    /// The argument at fault, from 0.
    pub argument: Option<usize>,
}

impl From<FunctionError> for ProviderDiagnostic {
    fn from(e: FunctionError) -> ProviderDiagnostic {
        ProviderDiagnostic::error("Error in function call", e.text)
    }
}
