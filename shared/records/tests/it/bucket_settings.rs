//! What is refused of a bucket before anything is sent.

use std::collections::BTreeMap;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use records::s3::{S3Connection, S3Settings, S3Store};
use records::{Key, KeyFault, RecordStore, StoreError};

fn sdk() -> SdkConfig {
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-central-1"))
        .build()
}

#[track_caller]
fn refusal(change: impl FnOnce(&mut S3Settings)) -> String {
    let mut settings = S3Settings::new("records-of-a-team");
    change(&mut settings);
    match S3Connection::new(settings, &sdk()) {
        Err(error @ StoreError::Unsuitable { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn buckets_that_cannot_keep_records_are_refused() {
    let arn = "arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap";
    for bucket in [arn, "mfzwi23gnjvgw.mrap"] {
        let said = refusal(|settings| settings.bucket = bucket.to_owned());
        assert!(said.contains("multi-region"), "{said}");
    }
    let said = refusal(|settings| settings.bucket = "fast--euc1-az1--x-s3".to_owned());
    assert!(said.contains("directory bucket"), "{said}");
    refusal(|settings| settings.bucket = String::new());
    for prefix in ["/", "a//b", "../a", "a/./b"] {
        refusal(|settings| settings.prefix = prefix.to_owned());
    }
    for owner in ["me", "12345678901", "1234567890123", "12345678901a"] {
        let said = refusal(|settings| settings.expected_bucket_owner = Some(owner.to_owned()));
        assert!(said.contains("12 digits"), "{said}");
    }
    refusal(|settings| settings.tags = BTreeMap::from([("aws:x".to_owned(), String::new())]));
}

#[test]
fn an_access_point_of_one_region_is_a_bucket() {
    let arn = "arn:aws:s3:eu-central-1:123456789012:accesspoint/records";
    assert!(S3Connection::new(S3Settings::new(arn), &sdk()).is_ok());
}

#[test]
fn tags_are_counted_together() {
    let tags = |from: usize| (from..from + 6).map(|n| (format!("t{n}"), String::new())).collect();
    let mut settings = S3Settings::new("records-of-a-team");
    settings.tags = tags(0);
    let connection = S3Connection::new(settings, &sdk()).unwrap();
    assert!(S3Store::with_tags(connection.clone(), tags(4)).is_ok());
    let refused = S3Store::with_tags(connection, tags(6)).unwrap_err();
    assert!(refused.to_string().contains("12 tags"), "{refused}");
}

#[tokio::test]
async fn a_prefix_takes_room_from_keys_and_stands_in_locations() {
    let mut settings = S3Settings::new("b");
    settings.prefix = "team/estates".to_owned();
    let store = S3Store::new(S3Connection::new(settings, &sdk()).unwrap()).unwrap();
    assert_eq!(store.location(), "s3://b/team/estates");
    assert_eq!(store.connection().at_prefix("other/").unwrap().location(), "s3://b/other");
    let key = Key::new("k".repeat(1_012)).unwrap();
    let refused = store.get(&key).await.unwrap_err();
    let StoreError::InvalidKey { fault, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(fault, KeyFault::TooLong { length: 1_012, limit: 1_011 });
}
