//! A server of pages and files, which notes what it was asked.

use crate::wire::{self, Answer, Outcome};
use hyper::body::Bytes;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRequest {
    /// `GET`, `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The header `authorization`.
    pub authorization: Option<String>,
    /// The body.
    pub body: Bytes,
}

/// Answers as a test says.
pub struct WebServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<WebRequest>>>,
}

impl WebServer {
    /// Answers each request with what `answer` makes of it.
    pub fn start(answer: impl Fn(&WebRequest) -> Answer + Send + Sync + 'static) -> WebServer {
        let received = Arc::new(Mutex::new(Vec::new()));
        let noted = received.clone();
        let address = wire::serve(move |head, body| {
            let header = head.headers.get("authorization");
            let request = WebRequest {
                method: head.method.to_string(),
                body,
                target: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
                authorization: header.and_then(|value| value.to_str().ok()).map(str::to_owned),
            };
            let answer = answer(&request);
            noted.lock().unwrap().push(request);
            Outcome::Answered(answer)
        });
        WebServer { address, received }
    }

    /// `http://` with host and port.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked since this was last called.
    pub fn take_received(&self) -> Vec<WebRequest> {
        std::mem::take(&mut *self.received.lock().unwrap())
    }
}

impl Answer {
    /// What was asked for.
    pub fn found(body: impl Into<Vec<u8>>) -> Answer {
        Answer { status: 200, headers: Vec::new(), body: body.into().into() }
    }

    /// It is not there.
    pub fn not_found() -> Answer {
        Answer { status: 404, headers: Vec::new(), body: Default::default() }
    }

    /// With a header more.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }
}
