//! Providers: what the engine asks of them, and the ways to get one.
//!
//! [`Provider`] is the one trait, shaped like Terraform's plugin protocol. [`Providers`] hands out
//! providers by address. What a provider answers is decoded here and nothing more: whether a plan
//! or a new state is admissible is the engine's judgement.

pub mod builtin;
mod command;
mod diagnostic;
mod error;
pub mod https;
pub mod install;
mod installed;
pub mod plugin;
pub mod protocol;
mod provider;
mod remote_state;
mod requests;
mod schema;
mod schema_cache;
pub mod services;
mod source;

pub use command::{CommandEnd, CommandError, CommandRequest, Commands, ShowLine, StopSignal};
pub use diagnostic::{ProviderDiagnostic, Response, Severity};
pub use error::{ProviderError, StartFailure};
pub use installed::InstalledProviders;
pub use provider::Provider;
pub use remote_state::{RemoteStateError, RemoteStateReader, RemoteStateRequest};
pub use requests::{
    ApplyResourceRequest, ApplyResourceResponse, CallFunctionRequest, ConfigureRequest, Deferred,
    EphemeralHandle, FunctionError, ImportResourceRequest, ImportResourceResponse,
    ImportedResource, MoveResourceRequest, MoveResourceResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanResourceRequest, PlanResourceResponse, ReadDataSourceRequest,
    ReadDataSourceResponse, ReadResourceRequest, ReadResourceResponse, RenewEphemeralResponse,
    UpgradeIdentityRequest, UpgradeResourceStateRequest,
};
pub use schema::{
    Capabilities, FunctionParameter, FunctionSignature, IdentityAttribute, IdentitySchema,
    ProviderSchema, TypedSchema,
};
pub use schema_cache::{SchemaCache, SharedSchema};
pub use source::Providers;
