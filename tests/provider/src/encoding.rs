//! Values, paths and errors as the protocol has them.

use crate::{schemas, thing};
use providers::protocol::{from_dynamic_value, tfplugin6 as wire, to_dynamic_value};
use tonic::Status;
use values::{Path, PathStep, Type, Value};

pub(crate) fn internal(e: impl std::fmt::Display) -> Status {
    Status::internal(e.to_string())
}

pub(crate) fn error(summary: impl Into<String>) -> wire::Diagnostic {
    wire::Diagnostic {
        severity: wire::diagnostic::Severity::Error.into(),
        summary: summary.into(),
        ..Default::default()
    }
}

pub(crate) fn encode(value: &Value, ty: &Type) -> Result<Option<wire::DynamicValue>, Status> {
    to_dynamic_value(value, ty).map(Some).map_err(internal)
}

pub(crate) fn encode_identity(
    object: &Value,
) -> Result<Option<wire::ResourceIdentityData>, Status> {
    let Some(identity) = thing::identity(object) else { return Ok(None) };
    let identity_data = encode(&identity, &thing::identity_type())?;
    Ok(Some(wire::ResourceIdentityData { identity_data }))
}

pub(crate) fn decode(value: Option<&wire::DynamicValue>, ty: &Type) -> Result<Value, Status> {
    let value = from_dynamic_value(value, ty).map_err(Status::invalid_argument)?;
    Ok(value.unwrap_or_else(|| Value::null(ty.clone())))
}

pub(crate) fn meta(value: Option<&wire::DynamicValue>) -> Result<Value, Status> {
    decode(value, &schemas::provider_meta().block.implied_type())
}

/// What the module calls itself.
pub(crate) fn module(meta: &Value) -> Option<String> {
    Some(meta.attribute("module")?.as_str()?.to_owned())
}

pub(crate) fn path_to_wire(path: &Path) -> wire::AttributePath {
    use wire::attribute_path::{Step, step::Selector};
    let steps = path.0.iter().filter_map(|step| {
        Some(match step {
            PathStep::Attribute(name) => Selector::AttributeName(name.to_string()),
            PathStep::Key(key) => Selector::ElementKeyString(key.to_string()),
            PathStep::Index(i) => Selector::ElementKeyInt(i64::try_from(*i).ok()?),
            PathStep::Element(_) => return None,
        })
    });
    let steps = steps.map(|s| Step { selector: Some(s) }).collect();
    wire::AttributePath { steps }
}
