//! The client, host discovery, and whose token goes where.

use crate::network::{client, services};
use bytes::Bytes;
use http::Request;
use providers::https::{AnsweredFrom, Https, HttpsClient, HttpsError};
use providers::services::{Credentials, DiscoveryError, HostName, Token};
use std::collections::BTreeMap;
use std::time::Duration;
use test_servers::{Page, Site};

fn get(url: &str) -> Request<Bytes> {
    Request::get(url).body(Bytes::new()).unwrap()
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_believed() {
    let (ours, theirs) = (Site::start(), Site::start());
    theirs.put("/", Page::file("content"));
    let error = client(&ours).send(get(&theirs.url("/")), 100).await.unwrap_err();
    assert!(matches!(error, HttpsError::Unreachable(..)), "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
    let system = HttpsClient::new(Duration::from_secs(5));
    assert!(system.send(get(&theirs.url("/")), 100).await.is_err());
    assert!(theirs.take_visits().is_empty());
}

#[tokio::test]
async fn answers_say_where_they_came_from() {
    let site = Site::start();
    site.put("/a", Page::redirect("b/c"));
    site.put("/b/c", Page::redirect(site.url("/d")));
    site.put("/d", Page::file("content"));
    let answer = client(&site).send(get(&site.url("/a")), 100).await.unwrap();
    assert_eq!(answer.body(), "content");
    let from = &answer.extensions().get::<AnsweredFrom>().unwrap().0;
    assert_eq!(from.as_str(), site.url("/d"));
}

#[tokio::test]
async fn what_authorises_goes_to_the_first_host_alone() {
    let (first, second) = (Site::start(), Site::start());
    first.put("/a", Page::redirect("/b"));
    first.put("/b", Page::redirect(second.url("/c")));
    let request = Request::get(first.url("/a")).header("authorization", "Bearer secret");
    let request = request.body(Bytes::new()).unwrap();
    // The second is not vouched for, which is an error after the secret would have gone.
    let _ = client(&first).send(request, 100).await;
    let visits = first.take_visits();
    assert!(visits.iter().all(|visit| visit.authorization.is_some()));
    assert_eq!(visits.len(), 2);
    assert!(second.take_visits().is_empty());
}

#[tokio::test]
async fn whatever_may_authorise_goes_to_the_first_host_alone() {
    let (first, second) = (Site::start_plain(), Site::start_plain());
    first.put("/a", Page::redirect(second.url("/b")));
    second.put("/b", Page::file("content"));
    let request = Request::get(first.url("/a"))
        .header("accept", "*/*")
        .header("user-agent", "a test")
        .header("cookie", "canary")
        .header("x-api-key", "canary");
    let client = HttpsClient::new(Duration::from_secs(5));
    client.send(request.body(Bytes::new()).unwrap(), 100).await.unwrap();
    let sent = |site: &Site| {
        let mut headers = site.take_visits().remove(0).headers;
        headers.sort();
        headers
    };
    assert_eq!(sent(&first), ["accept", "cookie", "host", "user-agent", "x-api-key"]);
    assert_eq!(sent(&second), ["accept", "host", "user-agent"]);
}

#[tokio::test]
async fn too_much_is_not_taken_and_too_little_is_an_error() {
    let site = Site::start();
    site.put("/large", Page::file(vec![1; 1000]));
    site.put("/cut", Page::file(vec![1; 1000]).cut_after(500));
    let client = client(&site);
    for path in ["/large", "/cut"] {
        let mut into = Vec::new();
        let sent = client.send(get(&site.url(path)), 999).await.unwrap_err();
        let streamed = client.download(get(&site.url(path)), 999, &mut into).await.unwrap_err();
        for error in [sent, streamed] {
            match path {
                "/large" => assert!(matches!(error, HttpsError::TooLarge(_, 999)), "{error}"),
                _ => assert!(matches!(error, HttpsError::BrokenOff(..)), "{error}"),
            }
        }
    }
    let mut into = Vec::new();
    let answer = client.download(get(&site.url("/large")), 1000, &mut into).await.unwrap();
    assert_eq!((*answer.body(), into.len()), (1000, 1000));
    let mut into = Vec::new();
    let answer = client.download(get(&site.url("/nothing")), 1000, &mut into).await.unwrap();
    assert_eq!((answer.status().as_u16(), into.len()), (404, 0));
}

#[tokio::test]
async fn secrets_do_not_travel_in_the_clear() {
    let patience = Duration::from_secs(1);
    let client = HttpsClient::new(patience).with_roots(rustls::RootCertStore::empty());
    let plain = "http://registry.invalid/";
    let error = client.send(get(plain), 10).await.unwrap_err();
    assert!(matches!(error, HttpsError::Insecure(_)), "{error}");
    let client = client.with_plain_http();
    let error = client.send(get(plain), 10).await.unwrap_err();
    assert!(matches!(error, HttpsError::Unreachable(..)), "{error}");
    for (name, value) in [("authorization", "Bearer secret"), ("x-api-key", "secret")] {
        let with_secret = Request::get(plain).header(name, value).body(Bytes::new()).unwrap();
        let error = client.send(with_secret, 10).await.unwrap_err();
        assert!(matches!(error, HttpsError::Insecure(_)), "{name}: {error}");
    }
}

#[tokio::test]
async fn services_are_discovered_once_and_relative_to_the_document() {
    let site = Site::start();
    site.put("/.well-known/terraform.json", Page::redirect("/real/services.json"));
    let document =
        r#"{"modules.v1": "modules", "providers.v1": "https://elsewhere.example/p?x=1#y"}"#;
    site.put("/real/services.json", Page::json(document));
    let mut credentials = Credentials::default();
    let host: HostName = site.host().parse().unwrap();
    credentials.insert(host.clone(), Token::new("secret"));
    let services = services(&site, credentials);
    let modules = services.url(&host, "modules.v1").await.unwrap();
    assert_eq!(modules.as_str(), site.url("/real/modules/"));
    let providers = services.url(&host, "providers.v1").await.unwrap();
    assert_eq!(providers.as_str(), "https://elsewhere.example/p/?x=1");
    let visits = site.take_visits();
    assert_eq!(visits.len(), 2);
    assert!(visits.iter().all(|visit| visit.authorization.as_deref() == Some("Bearer secret")));
    let error = services.url(&host, "login.v1").await.unwrap_err();
    assert!(matches!(error, DiscoveryError::NotOffered { .. }), "{error}");
}

#[tokio::test]
async fn a_host_block_stands_in_for_the_document() {
    let site = Site::start();
    let host: HostName = "registry.example".parse().unwrap();
    let offered = BTreeMap::from([("providers.v1".to_owned(), site.url("/p/"))]);
    let services =
        services(&site, Credentials::default()).with_host(host.clone(), offered).unwrap();
    let url = services.url(&host, "providers.v1").await.unwrap();
    assert_eq!(url.as_str(), site.url("/p/"));
    let error = services.url(&host, "modules.v1").await.unwrap_err();
    assert!(matches!(error, DiscoveryError::NotOffered { .. }), "{error}");
    assert!(site.take_visits().is_empty());
}

#[tokio::test]
async fn what_may_pass_is_asked_twice() {
    let site = Site::start();
    for (status, times) in [(503, 2), (429, 2), (500, 2), (501, 1), (404, 1), (401, 1)] {
        site.put("/a", Page::status(status));
        let url = site.url("/a").parse().unwrap();
        let answer = services(&site, Credentials::default()).get(&url, None, 10).await.unwrap();
        assert_eq!(answer.status.as_u16(), status);
        assert_eq!(site.take_visits().len(), times, "{status}");
    }
}

#[test]
fn names_of_hosts() {
    for (text, expected) in [
        ("Example.com", "example.com"),
        ("example.com:443", "example.com"),
        ("example.com:8443", "example.com:8443"),
        ("münchen.example", "xn--mnchen-3ya.example"),
        ("[::1]:80", "[::1]:80"),
    ] {
        assert_eq!(text.parse::<HostName>().unwrap().as_str(), expected);
    }
    for text in ["", "a b", "a/b", "user@host", "host?x", "a:b", "a:99999", "#"] {
        assert!(text.parse::<HostName>().is_err(), "{text}");
    }
}
