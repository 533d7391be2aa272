//! Hosts that proxies lead to.

use bytes::Bytes;
use http::Request;
use providers::https::{Https, HttpsClient, HttpsError, Proxies};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::time::Duration;
use test_servers::{Page, ProxyServer, Site};

const PATIENCE: Duration = Duration::from_secs(20);

/// A client that knows these certificates, with an environment.
fn client(certificates: &[&str], environment: &[(&str, &str)]) -> HttpsClient {
    let mut roots = RootCertStore::empty();
    for certificate in certificates.iter().filter(|certificate| !certificate.is_empty()) {
        roots.add(CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    }
    let proxies = Proxies::of_environment(|name| {
        let found = environment.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    });
    HttpsClient::new(PATIENCE).with_roots(roots).with_proxies(proxies)
}

fn request(url: &str) -> Request<Bytes> {
    Request::get(url).header("authorization", "Bearer secret").body(Bytes::new()).unwrap()
}

#[tokio::test]
async fn a_tunnel_leads_to_hosts_over_https() {
    for proxy in [ProxyServer::start(), ProxyServer::start_tls()] {
        let site = Site::start();
        site.put("/a", Page::redirect("/b"));
        site.put("/b", Page::file("content"));
        proxy.lead_to(&format!("{}:443", Site::NAME), &site.host());
        proxy.want("Basic bWU6cEBzcw==");
        let known = [site.certificate(), proxy.certificate()];
        let client = client(&known, &[("HTTPS_PROXY", &proxy.url("me:p%40ss@"))]);
        let answer = client.send(request(&format!("https://{}/a", Site::NAME)), 100).await.unwrap();
        assert_eq!(answer.body(), "content");
        let asked = proxy.take_visits();
        assert_eq!(asked.len(), 1, "one tunnel for one host: {asked:?}");
        assert_eq!(asked[0].asked, format!("CONNECT {}:443", Site::NAME));
        for visit in site.take_visits() {
            assert!(!visit.headers.iter().any(|name| name == "proxy-authorization"));
            assert_eq!(visit.authorization.as_deref(), Some("Bearer secret"));
        }
    }
}

#[tokio::test]
async fn requests_in_the_clear_are_handed_to_the_proxy() {
    let (site, proxy) = (Site::start_plain(), ProxyServer::start());
    site.put("/a?b=c", Page::file("content"));
    proxy.lead_to("plain.example:80", &site.host());
    let client = client(&[], &[("http_proxy", &proxy.url("me:you@"))]).with_plain_http();
    let request = Request::get("http://plain.example/a?b=c").body(Bytes::new()).unwrap();
    assert_eq!(client.send(request, 100).await.unwrap().body(), "content");
    let asked = proxy.take_visits().remove(0);
    assert_eq!(asked.asked, "GET http://plain.example/a?b=c");
    assert_eq!(asked.authorization.as_deref(), Some("Basic bWU6eW91"));
}

#[tokio::test]
async fn what_no_proxy_is_for_is_reached_without() {
    let (site, proxy) = (Site::start(), ProxyServer::start());
    site.put("/a", Page::file("content"));
    let url = proxy.url("");
    let client = client(&[site.certificate()], &[("HTTPS_PROXY", &url), ("HTTP_PROXY", &url)]);
    client.send(request(&site.url("/a")), 100).await.unwrap();
    assert!(proxy.take_visits().is_empty());
}

#[tokio::test]
async fn a_proxy_that_does_not_lead_there_is_named() {
    let (site, proxy) = (Site::start(), ProxyServer::start());
    let address = format!("https://{}/a", Site::NAME);
    let through = |user: &str| {
        client(&[site.certificate()], &[("HTTPS_PROXY", &proxy.url(user)), ("NO_PROXY", "other")])
    };
    let error = through("").send(request(&address), 100).await.unwrap_err().to_string();
    let named = format!("the proxy {}/ does not lead there", proxy.url(""));
    assert!(error.contains(&named), "{error}");
    proxy.want("another");
    let error = through("me:canary@").send(request(&address), 100).await.unwrap_err().to_string();
    assert!(error.contains("authorization required") && !error.contains("canary"), "{error}");
    let unusable = [("HTTPS_PROXY", "socks5://me:canary@127.0.0.1:1")];
    let unusable = client(&[site.certificate()], &unusable);
    let error = unusable.send(request(&address), 100).await.unwrap_err();
    assert!(
        matches!(error, HttpsError::Proxy(_)) && !error.to_string().contains("canary"),
        "{error}"
    );
}
