//! The OpenAPI description says what there is, and nothing else.

use runs::api::{ROUTES, Route};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn the_description_and_the_routes_are_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../functions/api/openapi.yaml");
    let description: Value =
        serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert((method.to_uppercase(), path.clone()));
            let open = operation["security"].as_array().unwrap().is_empty();
            assert_eq!(open, path.starts_with("/webhooks/"), "{method} {path}");
        }
    }
    let routes: BTreeSet<_> =
        ROUTES.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert_eq!(described, routes);
    for (method, path) in ROUTES {
        assert!(Route::of(method, path).is_ok(), "{method} {path}");
        let other = if method == "GET" { "DELETE" } else { "PUT" };
        assert!(Route::of(other, path).is_err());
    }
}

#[test]
fn parts_of_paths_are_decoded() {
    let estate = |path: &str| match Route::of("GET", path) {
        Ok(Route::ShowDrift { estate }) => Some(estate),
        _ => None,
    };
    assert_eq!(estate("/estates/team%2Fnetwork/drift").as_deref(), Some("team/network"));
    assert_eq!(estate("/estates/a%zz/drift"), None);
    assert_eq!(estate("/estates/%ff/drift"), None);
}
