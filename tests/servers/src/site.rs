//! A site whose pages tests put there, over HTTPS with a certificate that nobody knows but those who are told, or over plain HTTP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use hyper::body::Bytes;
use hyper::http::request::Parts;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use crate::wire::{self, Answer, Outcome};

/// What a path answers.
#[derive(Clone, Debug)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// Headers beside the length.
    pub headers: Vec<(&'static str, String)>,
    /// The content.
    pub body: Vec<u8>,
    /// After how many bytes the body ends before its end.
    pub ends_after: Option<(usize, BodyEnd)>,
}

/// How a body ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// The connection is cut.
    Cut,
    /// Nothing more comes.
    Stall,
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// `GET`, `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// What authorises it.
    pub authorization: Option<String>,
    /// The names of all that it carries, in lower case.
    pub headers: Vec<String>,
    /// What it brings.
    pub body: Bytes,
}

#[derive(Default)]
struct State {
    pages: BTreeMap<String, Page>,
    visits: Vec<Visit>,
}

/// A site on this machine.
pub struct Site {
    scheme: &'static str,
    host: String,
    certificate: String,
    state: Arc<Mutex<State>>,
}

impl Page {
    /// A page of JSON.
    pub fn json(text: impl Into<String>) -> Page {
        Page::file(text.into()).with_header("content-type", "application/json")
    }
    /// A file.
    pub fn file(body: impl Into<Vec<u8>>) -> Page {
        Page { status: 200, headers: vec![], body: body.into(), ends_after: None }
    }
    /// Nothing but a status.
    pub fn status(status: u16) -> Page {
        Page { status, headers: vec![], body: vec![], ends_after: None }
    }
    /// A redirection.
    pub fn redirect(location: impl Into<String>) -> Page {
        Page::status(302).with_header("location", location)
    }
    /// The page, with a header more.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Page {
        self.headers.push((name, value.into()));
        self
    }
    /// The page, cut off after so many bytes.
    #[must_use]
    pub fn cut_after(self, bytes: usize) -> Page {
        Page { ends_after: Some((bytes, BodyEnd::Cut)), ..self }
    }
    /// The page, of which only so many bytes ever come.
    #[must_use]
    pub fn stall_after(self, bytes: usize) -> Page {
        Page { ends_after: Some((bytes, BodyEnd::Stall)), ..self }
    }
}

impl Site {
    /// Another name that its certificate is for: what leads there knows where it is.
    pub const NAME: &str = "site.example";

    /// Starts a site without pages, at `localhost` over HTTPS.
    pub fn start() -> Site {
        let (acceptor, certificate) = self_signed(["localhost", Site::NAME]);
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let address = wire::serve_tls(acceptor, move |head, body| answer(&shared, head, body));
        let host = format!("localhost:{}", address.port());
        Site { scheme: "https", host, certificate, state }
    }

    /// Starts a site without pages, at `127.0.0.1` over plain HTTP.
    pub fn start_plain() -> Site {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let address = wire::serve(move |head, body| answer(&shared, head, body));
        Site { scheme: "http", host: address.to_string(), certificate: String::new(), state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Host and port.
    pub fn host(&self) -> String {
        self.host.clone()
    }
    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.host)
    }
    /// The certificate that verifies it, in PEM; none where it needs none.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }
    /// Has a path answer this, with any query where it names none. One that ends with a slash answers for all below it
    /// that have no page of their own.
    pub fn put(&self, path: impl Into<String>, page: Page) {
        self.state().pages.insert(path.into(), page);
    }
    /// Whether a path answers anything.
    pub fn has(&self, path: &str) -> bool {
        self.state().pages.contains_key(path)
    }
    /// What a path answers now.
    pub fn page(&self, path: &str) -> Page {
        self.state().pages[path].clone()
    }
    /// The requests since the last call.
    pub fn take_visits(&self) -> Vec<Visit> {
        std::mem::take(&mut self.state().visits)
    }
}

/// What speaks TLS with a certificate for these names, and the certificate in PEM.
pub(crate) fn self_signed<const N: usize>(names: [&str; N]) -> (TlsAcceptor, String) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names.map(str::to_owned)).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), cert.pem())
}

fn answer(state: &Mutex<State>, head: &Parts, body: Bytes) -> Outcome {
    let mut state = state.lock().unwrap();
    let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let authorization = head.headers.get("authorization");
    let authorization = authorization.map(|value| value.to_str().unwrap().to_owned());
    let headers = head.headers.keys().map(ToString::to_string).collect();
    let method = head.method.to_string();
    state.visits.push(Visit { method, path: path.clone(), authorization, headers, body });
    let page = state.pages.get(&path).or_else(|| state.pages.get(head.uri.path()));
    let page = page.or_else(|| folder(&state.pages, head.uri.path()));
    let page = page.cloned().unwrap_or_else(|| Page::status(404));
    let Page { status, headers, body, ends_after } = page;
    let answer = Answer { status, headers, body: Bytes::from(body) };
    match ends_after {
        Some((bytes, end)) => Outcome::Partial(answer, bytes, end),
        None => Outcome::Answered(answer),
    }
}

/// The page of the nearest folder that has one.
fn folder<'p>(pages: &'p BTreeMap<String, Page>, path: &str) -> Option<&'p Page> {
    let ends = path.rmatch_indices('/').map(|(slash, _)| slash + 1);
    ends.map(|end| &path[..end]).find_map(|folder| pages.get(folder))
}
