//! Taking over the state of Terraform.

use crate::support::{clock, estate_with};
use engine::estate::{EstateError, TakeOverError};
use engine::identifiers::Principal;
use engine::state::State;
use engine::state_file;
use records::testing::{Answer, ObservedStore};
use records::{MemoryStore, RecordStore};
use std::sync::Arc;
use tokio::sync::Notify;

const FILE: &str = r#"{
  "version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "theirs",
  "outputs": {"o": {"value": [1.50, "x"], "type": ["tuple", ["number", "string"]], "sensitive": true}},
  "resources": [
    {"mode": "managed", "type": "x_thing", "name": "a", "provider": "provider[\"example.com/acme/x\"].west",
     "instances": [
       {"index_key": "k", "schema_version": 2, "attributes": {"id": "1", "n": 100000000000000000000001},
        "sensitive_attributes": [[{"type": "get_attr", "value": "tags"},
          {"type": "index", "value": {"value": "k", "type": "string"}},
          {"type": "index", "value": {"value": 3, "type": "number"}},
          {"type": "index", "value": {"value": {"b": true}, "type": ["object", {"b": "bool"}]}}]],
        "private": "AAEC", "dependencies": ["module.m.x_thing.b", "data.x_thing.c"]},
       {"index_key": "k", "deposed": "0000abcd", "schema_version": 2, "attributes": {"id": "0"},
        "identity_schema_version": 1, "identity": {"id": "0"}, "create_before_destroy": true}]},
    {"module": "module.m[1]", "mode": "data", "type": "x_thing", "name": "c",
     "provider": "module.m.provider[\"example.com/acme/x\"]",
     "instances": [{"index_key": 2, "schema_version": 0, "attributes": {}}]}],
  "check_results": null
}"#;

fn principal() -> Principal {
    Principal::from_stored("uid:1")
}

fn state() -> State {
    state_file::read(FILE.as_bytes()).unwrap()
}

#[test]
fn what_is_read_is_written_again() {
    let written = state_file::write(&state(), "1.11.4").unwrap();
    let (before, after): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(FILE).unwrap(), serde_json::from_slice(&written).unwrap());
    let mut before = before;
    // What a file may leave out is written.
    for resource in before["resources"].as_array_mut().unwrap() {
        for instance in resource["instances"].as_array_mut().unwrap() {
            let instance = instance.as_object_mut().unwrap();
            instance.entry("sensitive_attributes").or_insert(serde_json::json!([]));
        }
    }
    // 1.50 and 1.5 are one number.
    before["outputs"]["o"]["value"][0] = serde_json::from_str("1.5").unwrap();
    let in_order = |mut file: serde_json::Value| {
        let resources = file["resources"].as_array_mut().unwrap();
        resources.sort_by_key(|r| r["mode"].to_string());
        file
    };
    assert_eq!(in_order(after), in_order(before));
}

#[tokio::test]
async fn the_estate_says_what_the_file_said() {
    let store = Arc::new(MemoryStore::new());
    let estate = estate_with(store.clone(), clock(), 1);
    // First contact, as `plumb init` makes it, is no obstacle.
    estate.create_if_absent().await.unwrap();
    assert_eq!(estate.take_over(&state(), "file", &principal()).await.unwrap(), Some(3));
    let reading = estate.read().await.unwrap();
    let header = reading.header.unwrap();
    assert_eq!((&*header.lineage.0, header.serial), ("theirs", 7));
    let text = |state: &State| String::from_utf8(state_file::write(state, "").unwrap()).unwrap();
    assert_eq!(text(&reading.state), text(&state()));
    assert_eq!(estate.take_over(&state(), "file", &principal()).await.unwrap(), None);
    let other = State { lineage: None, ..state() };
    let refused = estate.take_over(&other, "file", &principal()).await;
    assert!(matches!(refused, Err(TakeOverError::Occupied { .. })), "{refused:?}");
}

#[tokio::test]
async fn killed_after_any_write_the_estate_stays_closed_and_the_same_call_begins_anew() {
    // The seal, three records and the opening; then what an attempt left is removed.
    for last in 1..=5 {
        let store = Arc::new(MemoryStore::new());
        let killed = Arc::new(Notify::new());
        let notify = killed.clone();
        let dying = ObservedStore::new(store.clone(), move |write| match write.number == last {
            true => {
                notify.notify_one();
                Answer::Withhold
            }
            false => Answer::Deliver,
        });
        let estate = estate_with(Arc::new(dying), clock(), 1);
        let (state, principal) = (state(), principal());
        tokio::select! {
            _ = estate.take_over(&state, "file", &principal) => panic!("not killed at write {last}"),
            () = killed.notified() => {}
        }
        let estate = estate_with(store.clone(), clock(), 2);
        let found = estate.read_header().await;
        match last {
            5 => assert!(found.unwrap().is_some()),
            _ => assert!(matches!(found, Err(EstateError::Sealed { .. })), "{last}: {found:?}"),
        }
        // The state may have moved on meanwhile.
        let later = State { serial: 8, ..state };
        let taken = estate.take_over(&later, "file", &principal).await.unwrap();
        assert_eq!(taken, (last < 5).then_some(3), "{last}");
        assert_eq!(estate.read().await.unwrap().state.instances.len(), 2);
        assert_eq!(store.list("state/prod/r/").await.unwrap().len(), 3);
    }
}
