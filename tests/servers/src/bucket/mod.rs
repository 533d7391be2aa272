//! A bucket: objects with conditions, versions and pages as S3 has them, and the configuration that a contract reads.

mod objects;
mod settings;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use hyper::body::Bytes;
use hyper::http::request::Parts;

use crate::wire::{self, Answer, Outcome, decoded, parameter};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// From 0, in the order of their coming.
    pub number: usize,
    /// The method.
    pub method: String,
    /// The key, decoded; empty where the request is for the bucket.
    pub key: String,
    /// The query, as it came.
    pub query: String,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
}

impl Received {
    /// Whether it asks for a page of a list.
    pub fn is_list(&self) -> bool {
        self.method == "GET" && parameter(&self.query, "list-type").is_some()
    }

    /// Whether it asks for an object.
    pub fn is_read(&self) -> bool {
        self.method == "GET" && !self.key.is_empty()
    }

    /// Whether it writes or removes an object.
    pub fn is_write(&self) -> bool {
        matches!(self.method.as_str(), "PUT" | "DELETE") && !self.key.is_empty()
    }

    /// Which part of the bucket's configuration it asks for, such as `versioning`.
    pub fn setting(&self) -> Option<&'static str> {
        let asks = |part: &&&str| parameter(&self.query, part).is_some();
        settings::PARTS.iter().filter(|_| self.key.is_empty()).find(asks).copied()
    }
}

/// Decides over a request before anything is done; nothing lets it pass.
type Choose = dyn Fn(&Received) -> Option<Answer> + Send + Sync;

#[derive(Default)]
struct State {
    objects: BTreeMap<String, objects::Object>,
    settings: BTreeMap<&'static str, String>,
    received: Vec<Received>,
    choose: Option<Box<Choose>>,
}

/// A running server with one bucket, `records`, which is the account 111122223333's and passes its contract for what is
/// below `records/` and `artifacts/`.
pub struct BucketServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl BucketServer {
    /// The bucket's name.
    pub const BUCKET: &'static str = "records";
    /// The bucket's owner.
    pub const OWNER: &'static str = "111122223333";

    /// Serves an empty bucket.
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(State {
            settings: settings::as_they_have_to_be(),
            ..State::default()
        }));
        let served = Arc::clone(&state);
        let address = wire::serve(move |head, body| {
            Outcome::Answered(served.lock().unwrap().answer(head, body))
        });
        Self { address, state }
    }

    /// Its URL. The bucket is in the path of requests.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request since the start or the last call.
    pub fn take_received(&self) -> Vec<Received> {
        std::mem::take(&mut self.state().received)
    }

    /// Puts an object there, without a request and whatever the conditions.
    pub fn put(&self, key: &str, body: impl Into<Bytes>) {
        self.state().put(key, body.into());
    }

    /// The keys that there are.
    pub fn keys(&self) -> Vec<String> {
        self.state().objects.keys().cloned().collect()
    }

    /// Takes away a part of the bucket's configuration: `versioning`, `lifecycle`, `publicAccessBlock`, `encryption` or
    /// `policy`.
    pub fn unset(&self, part: &str) {
        self.state().settings.remove(part);
    }

    /// Decides over requests from now on: what is answered instead of what the bucket would answer.
    pub fn intercept(&self, choose: impl Fn(&Received) -> Option<Answer> + Send + Sync + 'static) {
        self.state().choose = Some(Box::new(choose));
    }

    /// Lets all requests pass again.
    pub fn pass_all(&self) {
        self.state().choose = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Answer {
    /// An error as S3 tells it.
    pub fn s3_error(status: u16, code: &str, message: &str) -> Self {
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message>\
             <RequestId>4442587FB7D0A2F9</RequestId><HostId>host</HostId></Error>"
        );
        Self { status, headers: xml(), body: body.into() }
    }

    /// What S3 answers to who asks too often.
    pub fn slow_down() -> Self {
        Self::s3_error(503, "SlowDown", "Please reduce your request rate.")
    }
}

fn xml() -> Vec<(&'static str, String)> {
    vec![
        ("content-type", "application/xml".to_owned()),
        ("x-amz-request-id", "4442587FB7D0A2F9".to_owned()),
    ]
}

impl State {
    fn answer(&mut self, head: &Parts, body: Bytes) -> Answer {
        let path = head.uri.path().trim_start_matches('/');
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        let headers = head.headers.iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let received = Received {
            number: self.received.len(),
            method: head.method.to_string(),
            key: decoded(key),
            query: head.uri.query().unwrap_or_default().to_owned(),
            headers: headers.collect(),
        };
        self.received.push(received.clone());
        if let Some(answer) = self.choose.as_ref().and_then(|choose| choose(&received)) {
            return answer;
        }
        if bucket != BucketServer::BUCKET {
            let message = "The specified bucket does not exist";
            return Answer::s3_error(404, "NoSuchBucket", message);
        }
        let owner = received.headers.get("x-amz-expected-bucket-owner");
        if owner.is_some_and(|owner| owner != BucketServer::OWNER) {
            return Answer::s3_error(403, "AccessDenied", "Access Denied");
        }
        match received.setting() {
            Some(part) if received.method == "GET" => settings::answer(&self.settings, part),
            _ if received.is_list() => self.list(&received.query),
            _ if received.key.is_empty() => {
                Answer::s3_error(501, "NotImplemented", "This is no part of the tests' bucket.")
            }
            _ => self.object(&received, body),
        }
    }
}
