//! `data "terraform_remote_state"`: the outputs of another state.

use crate::{
    ProviderDiagnostic, RemoteStateError, RemoteStateReader, RemoteStateRequest, Response,
};
use language::module::Backend;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::{Attribute, Block, Description, Schema};
use values::{Path, Type, Value};

pub(super) const TYPE: &str = "terraform_remote_state";

pub(super) fn schema() -> Schema {
    let described = |attribute: Attribute, text: &str| Attribute {
        description: Some(Description::Markdown(text.into())),
        ..attribute
    };
    let attributes = [
        (
            "backend",
            described(
                Attribute::plain(Type::String).required(),
                "Kind of backend that keeps the other state, for example `s3`.",
            ),
        ),
        (
            "config",
            described(
                Attribute::plain(Type::Dynamic).optional(),
                "The backend's configuration: the arguments of its `backend` block.",
            ),
        ),
        (
            "defaults",
            described(
                Attribute::plain(Type::Dynamic).optional(),
                "Outputs to assume where the other state has none of the name.",
            ),
        ),
        (
            "outputs",
            described(
                Attribute::plain(Type::Dynamic).computed(),
                "All root outputs of the other state.",
            ),
        ),
        (
            "workspace",
            described(
                Attribute::plain(Type::String).optional(),
                "Workspace of the other state, where the backend has workspaces.",
            ),
        ),
    ];
    let attributes = attributes.into_iter().map(|(k, a)| (Arc::from(k), a)).collect();
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

/// Whether it may be named as a backend; not all of them can be read.
fn is_backend(kind: &str) -> bool {
    // These two no `backend` block names.
    Backend::KINDS.contains(&kind) || ["_local", "cloud"].contains(&kind)
}

pub(super) fn validate(config: &Value) -> Vec<ProviderDiagnostic> {
    let get = |name| config.attribute(name).unwrap_or(Value::dynamic_null());
    let is_object = |value: &Value| {
        let ty = value.ty();
        matches!(ty, Type::Dynamic | Type::Object(_) | Type::Map(_))
    };
    let (backend, settings, defaults) = (get("backend"), get("config"), get("defaults"));
    let mut found = Vec::new();
    match backend.as_str() {
        Some(kind) if settings.is_wholly_known() => {
            let kind = kind.to_owned();
            if !is_backend(&kind) {
                found.push(refusal(&RemoteStateError::UnknownBackend { backend: kind }));
            } else if !is_object(&settings) {
                let detail = "an object is required".to_owned();
                found.push(refusal(&RemoteStateError::Configuration { backend: kind, detail }));
            }
        }
        _ if !is_object(&settings) => {
            let detail = "The configuration must be an object value.";
            let error = ProviderDiagnostic::error(CONFIGURATION, detail);
            found.push(error.at(Path::attribute("config")));
        }
        _ => {}
    }
    if !is_object(&defaults) {
        let detail = "Defaults must be given in an object value.";
        let error = ProviderDiagnostic::error("Invalid default values", detail);
        found.push(error.at(Path::attribute("defaults")));
    }
    found
}

pub(super) async fn read(
    config: &Value,
    reader: Option<&dyn RemoteStateReader>,
) -> Response<Value> {
    let get = |name| config.attribute(name).unwrap_or(Value::dynamic_null());
    let (backend, settings, defaults, workspace) =
        (get("backend"), get("config"), get("defaults"), get("workspace"));
    let kind: Arc<str> = backend.as_str().unwrap_or_default().into();
    let request = RemoteStateRequest {
        backend: kind.clone(),
        workspace: workspace.as_str().unwrap_or("default").into(),
        config: settings.clone(),
    };
    let answer = match reader {
        Some(reader) => reader.outputs(request).await,
        None => Err(RemoteStateError::UnknownBackend { backend: kind.to_string() }),
    };
    let mut outputs: BTreeMap<Arc<str>, Value> = match defaults.as_map() {
        Some(map) => map.clone(),
        None => BTreeMap::new(),
    };
    match answer {
        // As in Terraform, what another state calls sensitive is not sensitive here.
        Ok(found) => outputs.extend(found.into_iter().map(|(k, v)| (k, v.unmark_deep()))),
        Err(e) => return Response::failed(refusal(&e)),
    }
    Response::ok(Value::object([
        ("backend", backend),
        ("config", settings),
        ("defaults", defaults),
        ("outputs", Value::object(outputs)),
        ("workspace", workspace),
    ]))
}

const CONFIGURATION: &str = "Invalid backend configuration";

fn refusal(error: &RemoteStateError) -> ProviderDiagnostic {
    match error {
        RemoteStateError::UnknownBackend { backend } => {
            let detail = format!("There is no backend type named \"{backend}\".");
            ProviderDiagnostic::error(CONFIGURATION, detail).at(Path::attribute("backend"))
        }
        RemoteStateError::Configuration { backend, detail } => {
            let detail = format!(
                "The given configuration is not valid for backend \"{backend}\": {detail}."
            );
            ProviderDiagnostic::error(CONFIGURATION, detail).at(Path::attribute("config"))
        }
        RemoteStateError::Absent { .. } => ProviderDiagnostic::error(
            "Unable to find remote state",
            "No stored state was found for the given workspace in the given backend.",
        ),
        error => ProviderDiagnostic::error("Unable to read remote state", error.to_string()),
    }
}
