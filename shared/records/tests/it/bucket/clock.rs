//! The store's clock, as its answers tell it.

use records::RecordStore;
use records::s3::S3Store;

use super::canned::{Answer, connection, serve};

#[tokio::test]
async fn an_answers_date_tells_how_far_the_clocks_are_apart() {
    for (date, is_ahead) in [
        ("Tue, 01 Jan 2115 00:00:00 GMT", Some(true)),
        ("Tue, 01 Jan 2019 00:00:00 GMT", Some(false)),
        ("yesterday", None),
    ] {
        let url = serve(move |_| {
            let body = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
            Answer { headers: vec![("date", date.to_owned())], ..Answer::ok(body) }
        })
        .await;
        let store = S3Store::new(connection(&url)).unwrap();
        assert_eq!(store.clock_ahead(), None, "nothing was asked yet");
        store.list("network/").await.unwrap();
        assert_eq!(store.clock_ahead().map(|ahead| ahead > 0), is_ahead, "{date}");
    }
}
