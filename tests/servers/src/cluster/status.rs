//! Statuses as a real API server words them.

use serde_json::{Value, json};

pub(super) type Answer = (u16, Value);

fn failure(code: u16, reason: &str, message: &str, details: Value) -> Answer {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": details, "code": code,
    });
    (code, status)
}

pub(super) fn not_found(kind: &str, name: &str) -> Answer {
    let message = format!("{kind} \"{name}\" not found");
    failure(404, "NotFound", &message, json!({ "name": name, "kind": kind }))
}

pub(super) fn no_such_path() -> Answer {
    failure(404, "NotFound", "the server could not find the requested resource", json!({}))
}

pub(super) fn already_exists(name: &str) -> Answer {
    let message = format!("secrets \"{name}\" already exists");
    failure(409, "AlreadyExists", &message, json!({ "name": name, "kind": "secrets" }))
}

pub(super) fn conflict(name: &str, why: &str) -> Answer {
    let message = format!("Operation cannot be fulfilled on secrets \"{name}\": {why}");
    failure(409, "Conflict", &message, json!({ "name": name, "kind": "secrets" }))
}

pub(super) fn bad_request(message: &str) -> Answer {
    failure(400, "BadRequest", message, json!({}))
}

pub(super) fn invalid(name: &str, field: &str, message: &str) -> Answer {
    let causes = json!([{ "reason": "FieldValueInvalid", "message": message, "field": field }]);
    let details = json!({ "name": name, "kind": "Secret", "causes": causes });
    failure(422, "Invalid", &format!("Secret \"{name}\" is invalid: {field}: {message}"), details)
}

pub(super) fn forbidden(verb: &str, resource: &str, namespace: &str) -> Answer {
    let message = format!(
        "{resource} is forbidden: User \"tester\" cannot {verb} resource \"{resource}\" in API group \"\" in the \
         namespace \"{namespace}\""
    );
    failure(403, "Forbidden", &message, json!({ "kind": resource }))
}

pub(super) fn admission_denied(name: &str, message: &str) -> Answer {
    let message = format!("secrets \"{name}\" is forbidden: {message}");
    failure(403, "Forbidden", &message, json!({ "name": name, "kind": "secrets" }))
}

pub(super) fn terminating(name: &str, namespace: &str) -> Answer {
    let message = format!(
        "secrets \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is \
         being terminated"
    );
    let causes = json!([{
        "reason": "NamespaceTerminating", "message": format!("namespace {namespace} is being terminated"),
        "field": "metadata.namespace",
    }]);
    failure(
        403,
        "Forbidden",
        &message,
        json!({ "name": name, "kind": "secrets", "causes": causes }),
    )
}

pub(super) fn gone() -> Answer {
    let message = "The provided continue parameter is too old to display a consistent list result.";
    failure(410, "Expired", message, json!({}))
}

pub(super) fn unauthorized() -> Answer {
    failure(401, "Unauthorized", "Unauthorized", json!({}))
}

pub(super) fn unavailable(code: u16) -> Answer {
    let reason = match code {
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    };
    failure(code, reason, "the server is busy", json!({ "retryAfterSeconds": 0 }))
}
