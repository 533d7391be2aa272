//! How messages name a resource instance, and why something is done with it.

use crate::json::{Escape, Fields, Json};
use crate::value_json::index_json;
use engine::changes::ActionReason;
use values::address::ResourceInstance;

pub(super) fn push(address: &ResourceInstance, out: &mut String) {
    let resource = &address.resource;
    let mut fields = Fields::begin(out, Escape::Minimal);
    fields.string("addr", &address.to_string());
    fields.string("module", &address.module.to_string());
    fields.string("resource", &format!("{resource}{}", address.key));
    fields.string("implied_provider", resource.implied_provider());
    fields.string("resource_type", &resource.ty);
    fields.string("resource_name", &resource.name);
    fields.json("resource_key", &index_json(&address.key).unwrap_or(Json::Null));
    fields.end();
}

pub(super) fn reason_word(reason: ActionReason) -> &'static str {
    match reason {
        ActionReason::ReplaceBecauseTainted => "tainted",
        ActionReason::ReplaceByRequest => "requested",
        ActionReason::ReplaceByTriggers => "replace_triggered_by",
        ActionReason::ReplaceBecauseCannotUpdate => "cannot_update",
        other => other.as_str(),
    }
}
