//! Results of conditions as programs read them.

use crate::json::Json;
use crate::value_json::index_json;
use engine::checks::{
    BlockResult, CheckResult, CheckResults, CheckStatus, CheckedBlock, CheckedInstance, CheckedName,
};

/// The `checks` of plans and states in Terraform's representation; `None` where there are none.
pub fn checks_json(results: &CheckResults) -> Option<Json> {
    let mut blocks: Vec<(String, Json)> = results
        .iter()
        .map(|(block, result)| {
            let address = block.to_string();
            let json = block_json(block, &address, result);
            (address, json)
        })
        .collect();
    blocks.sort_by(|(left, _), (right, _)| left.cmp(right));
    (!blocks.is_empty()).then(|| Json::array(blocks.into_iter().map(|(_, json)| json).collect()))
}

fn block_json(block: &CheckedBlock, shown: &str, result: &BlockResult) -> Json {
    let (kind, name) = match &block.name {
        CheckedName::Variable(name) => ("var", name),
        CheckedName::Resource(resource) => ("resource", &resource.name),
        CheckedName::Output(name) => ("output_value", name),
        CheckedName::Check(name) => ("check", name),
    };
    let mut address = vec![("kind", Json::string(kind))];
    if let CheckedName::Resource(resource) = &block.name {
        address.push(("mode", Json::string(resource.mode.as_str())));
    }
    if !block.module.is_root() {
        address.push(("module", Json::string(block.module.to_string())));
    }
    address.push(("name", Json::string(name)));
    address.push(("to_display", Json::string(shown)));
    if let CheckedName::Resource(resource) = &block.name {
        address.push(("type", Json::string(&resource.ty)));
    }
    let mut fields = vec![("address", Json::object(address)), ("status", status(result.status()))];
    let mut instances: Vec<(String, Json)> = result
        .instances
        .iter()
        .flatten()
        .map(|(instance, result)| {
            let shown = block.address(instance);
            let json = instance_json(instance, &shown, result);
            (shown, json)
        })
        .collect();
    instances.sort_by(|(left, _), (right, _)| left.cmp(right));
    if !instances.is_empty() {
        let instances = instances.into_iter().map(|(_, json)| json).collect();
        fields.push(("instances", Json::array(instances)));
    }
    Json::object(fields)
}

fn instance_json(instance: &CheckedInstance, shown: &str, result: &CheckResult) -> Json {
    let mut address = Vec::new();
    if let Some(key) = index_json(&instance.key) {
        address.push(("instance_key", key));
    }
    if !instance.module.is_root() {
        address.push(("module", Json::string(instance.module.to_string())));
    }
    address.push(("to_display", Json::string(shown)));
    let mut fields = vec![("address", Json::object(address)), ("status", status(result.status))];
    if !result.problems.is_empty() {
        let problem = |text: &String| Json::object([("message", Json::string(text))]);
        fields.push(("problems", Json::array(result.problems.iter().map(problem).collect())));
    }
    Json::object(fields)
}

fn status(status: CheckStatus) -> Json {
    Json::string(match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Unknown => "unknown",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
    })
}
