use super::tfplugin6 as wire;
use crate::{Deferred, ProviderDiagnostic, Response, Severity};
use std::sync::Arc;
use values::{Path, PathStep, Type, Value};

/// A value as it travels. Marks are dropped.
///
/// # Errors
/// Where the value is not of the type.
pub fn to_dynamic_value(value: &Value, ty: &Type) -> Result<wire::DynamicValue, String> {
    let msgpack = values::msgpack::to_msgpack(value, ty).map_err(|e| e.to_string())?;
    Ok(wire::DynamicValue { msgpack, json: Vec::new() })
}

/// The value that travelled; `None` where there was none.
///
/// # Errors
/// Where it cannot be decoded as a value of the type.
pub fn from_dynamic_value(
    value: Option<&wire::DynamicValue>,
    ty: &Type,
) -> Result<Option<Value>, String> {
    match value {
        Some(v) if !v.msgpack.is_empty() => {
            values::msgpack::from_msgpack(&v.msgpack, ty).map(Some).map_err(|e| e.to_string())
        }
        Some(v) if !v.json.is_empty() => {
            values::json::from_json(&v.json, ty).map(Some).map_err(|e| e.to_string())
        }
        _ => Ok(None),
    }
}

pub(crate) fn diagnostics(wire: Vec<wire::Diagnostic>) -> Vec<ProviderDiagnostic> {
    wire.into_iter()
        .map(|d| ProviderDiagnostic {
            severity: match d.severity() {
                wire::diagnostic::Severity::Warning => Severity::Warning,
                // An unknown severity must not pass for success.
                _ => Severity::Error,
            },
            summary: d.summary,
            detail: d.detail,
            attribute: d.attribute.as_ref().map(path).filter(|p| !p.is_root()),
        })
        .collect()
}

/// A path; steps after one that says nothing are dropped, since what precedes still leads there.
pub(crate) fn path(wire: &wire::AttributePath) -> Path {
    use wire::attribute_path::step::Selector;
    let steps = wire.steps.iter().map_while(|s| match s.selector.as_ref()? {
        Selector::AttributeName(n) => Some(PathStep::Attribute(Arc::from(n.as_str()))),
        Selector::ElementKeyString(k) => Some(PathStep::Key(Arc::from(k.as_str()))),
        Selector::ElementKeyInt(i) => usize::try_from(*i).ok().map(PathStep::Index),
    });
    Path(steps.collect())
}

pub(crate) fn deferred(wire: Option<wire::Deferred>) -> Option<Deferred> {
    use wire::deferred::Reason;
    wire.map(|d| match d.reason() {
        Reason::Unknown => Deferred::Unknown,
        Reason::ResourceConfigUnknown => Deferred::ResourceConfigUnknown,
        Reason::ProviderConfigUnknown => Deferred::ProviderConfigUnknown,
        Reason::AbsentPrereq => Deferred::AbsentPrerequisite,
    })
}

pub(crate) fn timestamp(wire: Option<prost_types::Timestamp>) -> Option<jiff::Timestamp> {
    wire.and_then(|t| jiff::Timestamp::new(t.seconds, t.nanos).ok())
}

pub(crate) fn client_capabilities(
    deferral_allowed: bool,
    write_only_attributes_allowed: bool,
) -> Option<wire::ClientCapabilities> {
    Some(wire::ClientCapabilities { deferral_allowed, write_only_attributes_allowed })
}

/// An answer whose value, where the provider left it out without reporting an error, is `default`.
pub(crate) fn respond<T>(
    value: Option<T>,
    diagnostics: Vec<ProviderDiagnostic>,
    default: impl FnOnce() -> T,
) -> Response<T> {
    let failed = diagnostics.iter().any(ProviderDiagnostic::is_error);
    let value = value.or_else(|| (!failed).then(default));
    Response { value, diagnostics }
}
