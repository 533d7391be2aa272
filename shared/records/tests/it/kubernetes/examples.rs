//! The manifests that are shipped, as a cluster would take them.

use serde_json::Value;

/// The documents of a manifest in examples/kubernetes.
pub(crate) fn manifest(name: &str) -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/kubernetes/");
    let text = std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    serde_saphyr::from_multiple(&text).unwrap()
}

#[test]
fn a_planner_may_only_read() {
    let roles: Vec<_> =
        manifest("planner.yaml").into_iter().filter(|it| it["kind"] == "Role").collect();
    for rule in roles.iter().flat_map(|role| role["rules"].as_array().unwrap()) {
        for verb in rule["verbs"].as_array().unwrap() {
            assert!(verb == "get" || verb == "list", "{rule}");
        }
    }
}
