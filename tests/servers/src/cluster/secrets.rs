//! Secrets: created, replaced, deleted and listed by the rules of the real API server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::status::{
    Answer, admission_denied, already_exists, bad_request, conflict, forbidden, gone, invalid,
    not_found, terminating,
};
use super::world::{Asked, Fault, Phase, State};

/// When every Secret was made.
const CREATED: &str = "2026-01-01T00:00:00Z";

const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

impl State {
    pub(super) fn secrets_of(&mut self, namespace: &str, asked: &Asked) -> Answer {
        match asked.method.as_str() {
            "GET" => self.list(namespace, asked),
            "POST" => self.create(namespace, &asked.body),
            _ => bad_request("no such method"),
        }
    }

    pub(super) fn secret(&mut self, namespace: &str, name: &str, asked: &Asked) -> Answer {
        match asked.method.as_str() {
            "GET" => self.get(namespace, name),
            "PUT" => self.replace(namespace, name, &asked.body),
            "DELETE" => self.delete(namespace, name, &asked.body),
            _ => bad_request("no such method"),
        }
    }

    fn get(&self, namespace: &str, name: &str) -> Answer {
        if self.is_denied("get", "secrets") {
            return forbidden("get", "secrets", namespace);
        }
        match self.secrets.get(&(namespace.to_owned(), name.to_owned())) {
            Some(secret) => (200, secret.clone()),
            // Also where the namespace is missing.
            None => not_found("secrets", name),
        }
    }

    fn create(&mut self, namespace: &str, body: &Value) -> Answer {
        let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if self.is_denied("create", "secrets") {
            return forbidden("create", "secrets", namespace);
        }
        match self.namespaces.get(namespace) {
            Some(Some(Phase::Active)) => {}
            Some(Some(Phase::Terminating)) => return terminating(&name, namespace),
            _ => return not_found("namespaces", namespace),
        }
        if let Some(message) = &self.admission {
            return admission_denied(&name, message);
        }
        if body["metadata"].get("resourceVersion").is_some() {
            return bad_request("resourceVersion should not be set on objects to be created");
        }
        if let Some(refused) = fault_of(&name, namespace, body) {
            return refused;
        }
        let key = (namespace.to_owned(), name.clone());
        if self.secrets.contains_key(&key) {
            return already_exists(&name);
        }
        self.revision += 1;
        let mut secret = body.clone();
        secret["metadata"]["uid"] = json!(format!("uid-{}", self.revision));
        secret["metadata"]["creationTimestamp"] = json!(CREATED);
        secret["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.secrets.insert(key, secret.clone());
        (201, secret)
    }

    fn replace(&mut self, namespace: &str, name: &str, body: &Value) -> Answer {
        if self.is_denied("update", "secrets") {
            return forbidden("update", "secrets", namespace);
        }
        if let Some(message) = &self.admission {
            return admission_denied(name, message);
        }
        if body["metadata"]["name"] != name {
            return bad_request("the name of the object does not match the name on the URL");
        }
        if let Some(refused) = fault_of(name, namespace, body) {
            return refused;
        }
        let Some(seen) = body["metadata"]["resourceVersion"].as_str() else {
            return invalid(name, "metadata.resourceVersion", "must be specified for an update");
        };
        let key = (namespace.to_owned(), name.to_owned());
        let Some(present) = self.secrets.get(&key) else { return not_found("secrets", name) };
        if let Some(uid) = body["metadata"]["uid"].as_str()
            && present["metadata"]["uid"] != uid
        {
            return conflict(name, "Precondition failed: UID in precondition differs");
        }
        if present["metadata"]["resourceVersion"] != seen {
            return conflict(name, MODIFIED);
        }
        if present["type"] != body["type"] {
            return invalid(name, "type", "field is immutable");
        }
        self.revision += 1;
        let mut secret = body.clone();
        secret["metadata"]["uid"] = present["metadata"]["uid"].clone();
        secret["metadata"]["creationTimestamp"] = present["metadata"]["creationTimestamp"].clone();
        secret["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.secrets.insert(key, secret.clone());
        (200, secret)
    }

    fn delete(&mut self, namespace: &str, name: &str, body: &Value) -> Answer {
        if self.is_denied("delete", "secrets") {
            return forbidden("delete", "secrets", namespace);
        }
        let key = (namespace.to_owned(), name.to_owned());
        let Some(present) = self.secrets.get(&key) else { return not_found("secrets", name) };
        let held = &body["preconditions"];
        for (precondition, field) in [("uid", "uid"), ("resourceVersion", "resourceVersion")] {
            if held.get(precondition).is_some_and(|held| *held != present["metadata"][field]) {
                return conflict(name, &format!("Precondition failed: {precondition} differs"));
            }
        }
        if let Some(message) = &self.admission {
            return admission_denied(name, message);
        }
        self.revision += 1;
        if present["metadata"]["finalizers"].as_array().is_some_and(|it| !it.is_empty()) {
            let mut secret = present.clone();
            secret["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            secret["metadata"]["resourceVersion"] = json!(self.revision.to_string());
            self.secrets.insert(key, secret.clone());
            return (200, secret);
        }
        self.secrets.remove(&key);
        (200, json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success" }))
    }

    fn list(&mut self, namespace: &str, asked: &Asked) -> Answer {
        if self.is_denied("list", "secrets") {
            return forbidden("list", "secrets", namespace);
        }
        for refused in ["resourceVersion", "labelSelector", "fieldSelector"] {
            if asked.parameter(refused).is_some() {
                return bad_request(&format!("{refused} hides what must be seen"));
            }
        }
        let limit = asked.parameter("limit").and_then(|limit| limit.parse().ok());
        let limit: usize = limit.unwrap_or(usize::MAX);
        let mut fault = None;
        let continued = asked.parameter("continue");
        let (mut version, mut left) = match &continued {
            Some(token) => {
                let of_pages =
                    [Fault::Gone, Fault::EmptyPage, Fault::SameToken, Fault::VersionMoves];
                if self.faults.front().is_some_and(|fault| of_pages.contains(fault)) {
                    fault = self.faults.pop_front();
                }
                if fault == Some(Fault::Gone) {
                    return gone();
                }
                let Some(listing) = self.listings.remove(token) else { return gone() };
                listing
            }
            None => {
                let of_namespace = self.secrets.iter().filter(|((ns, _), _)| ns == namespace);
                let secrets = of_namespace.map(|(_, secret)| secret.clone()).collect();
                (self.revision.to_string(), secrets)
            }
        };
        let limit = if fault == Some(Fault::EmptyPage) { 0 } else { limit };
        if fault == Some(Fault::VersionMoves) {
            version.push('0');
        }
        let rest = left.split_off(limit.min(left.len()));
        let mut metadata = json!({ "resourceVersion": version });
        if !rest.is_empty() {
            let remaining = match self.faults.front() {
                Some(Fault::Endless) => 1_000,
                _ => rest.len(),
            };
            metadata["remainingItemCount"] = json!(remaining);
            if self.faults.front() == Some(&Fault::EndsEarly) {
                self.faults.pop_front();
            } else {
                self.revision += 1;
                // Tokens hold characters that a query has to escape.
                let token = match continued {
                    Some(token) if fault == Some(Fault::SameToken) => token,
                    _ => format!("page&{}=+/", self.revision),
                };
                metadata["continue"] = json!(token);
                self.listings.insert(token, (version, rest));
            }
        }
        (
            200,
            json!({ "kind": "SecretList", "apiVersion": "v1", "metadata": metadata, "items": left }),
        )
    }
}

/// What the real server finds wrong with a Secret by itself.
fn fault_of(name: &str, namespace: &str, secret: &Value) -> Option<Answer> {
    let in_name = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
    if name.is_empty() || name.len() > 253 || !name.bytes().all(in_name) {
        return Some(invalid(name, "metadata.name", "must be a lowercase RFC 1123 subdomain"));
    }
    if secret["metadata"]["namespace"].as_str().is_some_and(|found| found != namespace) {
        return Some(bad_request("the namespace of the object does not match the one on the URL"));
    }
    for (label, value) in secret["metadata"]["labels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        if value.len() > 63 || value.contains('/') || value.contains(' ') {
            return Some(invalid(name, &format!("metadata.labels.{label}"), "is no label value"));
        }
    }
    let mut size = 0;
    for (field, value) in secret["data"].as_object().into_iter().flatten() {
        match STANDARD.decode(value.as_str().unwrap_or_default()) {
            Ok(content) => size += content.len(),
            Err(_) => return Some(bad_request(&format!("data.{field}: illegal base64 data"))),
        }
    }
    if size > 1024 * 1024 {
        return Some(invalid(name, "data", "Too long: may not be more than 1048576 bytes"));
    }
    None
}
