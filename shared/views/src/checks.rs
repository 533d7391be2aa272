//! Results of check blocks as programs read them.

use crate::json::Json;
use engine::checks::{CheckResult, CheckResults, CheckStatus};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ModuleInstance, ModulePath};

/// The `checks` of plans and states in Terraform's representation; `None` where there are none.
pub fn checks_json(results: &CheckResults) -> Option<Json> {
    let mut blocks =
        BTreeMap::<(ModulePath, &Arc<str>), Vec<(&ModuleInstance, &CheckResult)>>::new();
    for ((module, name), result) in results {
        blocks.entry((module.path(), name)).or_default().push((module, result));
    }
    let blocks: Vec<Json> = blocks
        .into_iter()
        .map(|((module, name), instances)| {
            let worst = instances.iter().map(|(_, r)| r.status).max().unwrap_or_default();
            let mut address = vec![
                ("kind", Json::string("check")),
                ("name", Json::string(name)),
                ("to_display", Json::string(display(&module.to_string(), name))),
            ];
            if !module.is_root() {
                address.push(("module", Json::string(module.to_string())));
            }
            Json::object([
                ("address", Json::object(address)),
                ("status", status(worst)),
                (
                    "instances",
                    Json::array(instances.iter().map(|(m, r)| instance(m, name, r)).collect()),
                ),
            ])
        })
        .collect();
    (!blocks.is_empty()).then(|| Json::array(blocks))
}

fn instance(module: &ModuleInstance, name: &str, result: &CheckResult) -> Json {
    let mut address = vec![("to_display", Json::string(display(&module.to_string(), name)))];
    if !module.is_root() {
        address.push(("module", Json::string(module.to_string())));
    }
    let mut fields = vec![("address", Json::object(address)), ("status", status(result.status))];
    if !result.problems.is_empty() {
        let problem = |text: &String| Json::object([("message", Json::string(text))]);
        fields.push(("problems", Json::array(result.problems.iter().map(problem).collect())));
    }
    Json::object(fields)
}

fn display(module: &str, name: &str) -> String {
    match module {
        "" => format!("check.{name}"),
        module => format!("{module}.check.{name}"),
    }
}

fn status(status: CheckStatus) -> Json {
    Json::string(match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Unknown => "unknown",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
    })
}
