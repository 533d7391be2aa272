//! A bucket that asks for fewer requests, and gets fewer.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use bytes::Bytes;
use records::s3::{S3Connection, S3Settings, S3Store};
use records::{Key, RecordStore, ServiceRefusal, StoreError};
use test_servers::{Answer, BucketServer};

const RECORDS: usize = 60;

fn store(server: &BucketServer) -> S3Store {
    let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "secret", None, None, "test");
    let sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build();
    let mut settings = S3Settings::new(BucketServer::BUCKET);
    settings.endpoint = Some(server.endpoint());
    settings.path_style = true;
    settings.parallelism = NonZeroUsize::new(16);
    settings.timeouts.answer = std::time::Duration::from_secs(5);
    S3Store::new(S3Connection::new(settings, &sdk).unwrap()).unwrap()
}

async fn filled(server: &BucketServer) -> S3Store {
    let store = store(server);
    for number in 0..RECORDS {
        let body = Bytes::from(format!("{{\"number\":{number}}}"));
        store.put_if_absent(&Key::new(format!("r/{number:03}")).unwrap(), body).await.unwrap();
    }
    server.take_received();
    store
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_of_everything_is_complete_although_every_third_answer_asks_for_patience() {
    let server = BucketServer::start();
    let store = filled(&server).await;
    let answered = Arc::new(AtomicUsize::new(0));
    server.intercept({
        let answered = Arc::clone(&answered);
        move |request| {
            let number = answered.fetch_add(usize::from(request.is_read()), Ordering::SeqCst);
            (request.is_read() && number.is_multiple_of(3)).then(Answer::slow_down)
        }
    });
    let read = store.get_all("r/").await.unwrap();
    assert_eq!(read.len(), RECORDS);
    for (number, (key, record)) in read.iter().enumerate() {
        assert_eq!(key.as_str(), format!("r/{number:03}"));
        assert_eq!(record.body, format!("{{\"number\":{number}}}"));
    }
    // What was refused was asked for again, and nothing else.
    let asked = answered.load(Ordering::SeqCst);
    assert!((RECORDS + RECORDS / 3..RECORDS * 2).contains(&asked), "{asked} reads");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_is_refused_again_and_again_fails_and_says_why() {
    let server = BucketServer::start();
    let store = filled(&server).await;
    server.intercept(|request| request.is_read().then(Answer::slow_down));
    let error = store.get(&Key::new("r/001").unwrap()).await.unwrap_err();
    let StoreError::Refused(refusal) = &error else { panic!("{error:?}") };
    let refusal: &ServiceRefusal = refusal;
    assert!(refusal.headline().contains("too many requests"), "{error}");
    assert!(!error.leaves_doubt() && !error.is_conflict(), "{error:?}");
    server.pass_all();
    assert!(store.get(&Key::new("r/001").unwrap()).await.unwrap().is_some());
}
