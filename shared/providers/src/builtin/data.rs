//! `terraform_data`: keeps a value, and is replaced when another changes.

use crate::{
    ApplyResourceRequest, ApplyResourceResponse, ImportResourceRequest, ImportResourceResponse,
    ImportedResource, MoveResourceRequest, MoveResourceResponse, PlanResourceRequest,
    PlanResourceResponse, ProviderDiagnostic, Response,
};
use language::functions::Random;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::{Attribute, Block, Schema};
use values::{Path, Refinement, Type, Value};

pub(super) const TYPE: &str = "terraform_data";

pub(super) fn schema() -> Schema {
    let attributes = [
        ("id", Attribute::plain(Type::String).computed()),
        ("input", Attribute::plain(Type::Dynamic).optional()),
        ("output", Attribute::plain(Type::Dynamic).computed()),
        ("triggers_replace", Attribute::plain(Type::Dynamic).optional()),
    ];
    let attributes = attributes.into_iter().map(|(k, a)| (Arc::from(k), a)).collect();
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

pub(super) fn validate(config: &Value) -> Vec<ProviderDiagnostic> {
    ["id", "output"]
        .into_iter()
        .filter(|name| config.attribute(name).is_some_and(|v| !v.is_null()))
        .map(|name| {
            ProviderDiagnostic::error(format!("{name:?} attribute is read-only"), "")
                .at(Path::attribute(name))
        })
        .collect()
}

/// The attributes of an object; of a null or unknown one, those that follow from its type.
fn attributes(object: &Value) -> BTreeMap<Arc<str>, Value> {
    let names = ["id", "input", "output", "triggers_replace"];
    names
        .into_iter()
        .map(|n| (Arc::from(n), object.attribute(n).unwrap_or(Value::dynamic_null())))
        .collect()
}

fn unknown_id() -> Value {
    Value::unknown_refined(Type::String, Refinement::not_null())
}

fn output_of(input: &Value) -> Value {
    match input.is_null() {
        true => input.clone(),
        false => Value::unknown(input.ty()),
    }
}

pub(super) fn plan(request: PlanResourceRequest) -> PlanResourceResponse {
    let mut requires_replace = Vec::new();
    let planned_state = match request.proposed_new_state.is_null() {
        true => request.proposed_new_state,
        false => {
            let mut planned = attributes(&request.proposed_new_state);
            let prior = attributes(&request.prior_state);
            let input = planned["input"].clone();
            let replaced = planned["triggers_replace"] != prior["triggers_replace"];
            if request.prior_state.is_null() || replaced {
                if !request.prior_state.is_null() {
                    requires_replace.push(Path::attribute("triggers_replace"));
                }
                planned.insert("id".into(), unknown_id());
                planned.insert("output".into(), output_of(&input));
            } else if input != prior["input"] {
                planned.insert("output".into(), Value::unknown(input.ty()));
            }
            Value::object(planned)
        }
    };
    PlanResourceResponse {
        planned_state,
        requires_replace,
        planned_private: request.prior_private,
        legacy_type_system: false,
        deferred: None,
        planned_identity: None,
    }
}

pub(super) fn apply(
    request: ApplyResourceRequest,
    random: &dyn Random,
) -> Response<ApplyResourceResponse> {
    let answer = |new_state, private| ApplyResourceResponse {
        new_state,
        private,
        legacy_type_system: false,
        identity: None,
    };
    if request.planned_state.is_null() {
        return Response::ok(answer(Some(request.planned_state), request.planned_private));
    }
    let mut object = attributes(&request.planned_state);
    if !object["output"].is_known() {
        object.insert("output".into(), object["input"].clone());
    }
    if !object["id"].is_known() {
        let mut bytes = [0; 16];
        random.fill(&mut bytes);
        let id = uuid::Builder::from_random_bytes(bytes).into_uuid();
        object.insert("id".into(), Value::string(id.to_string()));
    }
    Response::ok(answer(Some(Value::object(object)), request.planned_private))
}

pub(super) fn import(request: &ImportResourceRequest) -> ImportResourceResponse {
    let state = Value::object([
        ("id", Value::string(&*request.id)),
        ("input", Value::dynamic_null()),
        ("output", Value::dynamic_null()),
        ("triggers_replace", Value::dynamic_null()),
    ]);
    let object =
        ImportedResource { ty: request.ty.clone(), state, private: Arc::from([]), identity: None };
    ImportResourceResponse { imported: vec![object], deferred: None }
}

/// A `null_resource` becomes a `terraform_data` that is replaced when the same triggers change.
pub(super) fn take_over(request: &MoveResourceRequest) -> Response<MoveResourceResponse> {
    if &*request.source_type != "null_resource" {
        return Response::failed(ProviderDiagnostic::error(
            "Unsupported move",
            format!(
                "An object of {} cannot become one of {TYPE}: only one of null_resource can.",
                request.source_type
            ),
        ));
    }
    let ty = Type::object([("id", Type::String), ("triggers", Type::map(Type::String))]);
    let source = match values::json::from_json(&request.source_json, &ty) {
        Ok(source) => source,
        Err(e) => {
            return Response::failed(ProviderDiagnostic::error(
                "Invalid stored object",
                format!("The stored object is not one of null_resource: {e}."),
            ));
        }
    };
    let triggers = match source.attribute("triggers").as_ref().and_then(Value::as_map) {
        Some(map) => Value::object(map.iter().map(|(k, v)| (k.clone(), v.clone()))),
        None => Value::dynamic_null(),
    };
    let state = Value::object([
        ("id", source.attribute("id").unwrap_or(Value::null(Type::String))),
        ("input", Value::dynamic_null()),
        ("output", Value::dynamic_null()),
        ("triggers_replace", triggers),
    ]);
    Response::ok(MoveResourceResponse {
        state,
        private: request.source_private.clone(),
        identity: None,
    })
}
