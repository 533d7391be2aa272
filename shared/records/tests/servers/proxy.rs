//! Stands between a store and its server, sees every request, and does what networks and servers do.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// From 0, in the order of their coming.
    pub(crate) number: usize,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
}

impl Seen {
    pub(crate) fn is_list(&self) -> bool {
        self.method == "GET" && self.target.contains("list-type=2")
    }

    pub(crate) fn is_read(&self) -> bool {
        self.method == "GET" && !self.target.contains('?') || self.target.contains("x-id=GetObject")
    }

    pub(crate) fn is_write(&self) -> bool {
        self.method == "PUT" || self.method == "DELETE"
    }
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// It is answered as the server answers.
    Passes,
    /// The connection ends before the server sees it.
    CutBefore,
    /// The server does it, and the answer never comes.
    AnswerLost,
    /// The server does it, and the connection ends within the answer.
    AnswerCut,
    /// The server sees it this much later.
    Delayed(Duration),
    /// The server never sees it, and no answer comes.
    Swallowed,
    /// The answer is these bytes, and the server never sees it.
    Answered(String),
    /// The server does it without having seen this header.
    Without(&'static str),
}

/// An answer with an error of S3, as it documents them.
pub(crate) fn error(status: &str, code: &str, message: &str) -> Fate {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message>\
         <RequestId>4442587FB7D0A2F9</RequestId><HostId>host</HostId></Error>"
    );
    let length = body.len();
    Fate::Answered(format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nx-amz-request-id: 4442587FB7D0A2F9\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ))
}

pub(crate) fn slow_down() -> Fate {
    error("503 Slow Down", "SlowDown", "Please reduce your request rate.")
}

type Choose = dyn Fn(&Seen) -> Fate + Send + Sync;

/// The proxy; it ends when it is dropped.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    upstream: String,
    choose: Box<Choose>,
    seen: Mutex<Vec<Seen>>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

impl Proxy {
    /// Stands before the server at a URL; `choose` decides over each request.
    pub(crate) async fn before(
        endpoint: &str,
        choose: impl Fn(&Seen) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            upstream: endpoint.trim_start_matches("http://").to_owned(),
            choose: Box::new(choose),
            seen: Mutex::default(),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
        });
        let accepting = tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    let shared = Arc::clone(&shared);
                    tokio::spawn(async move { shared.serve(client).await });
                }
            }
        });
        Self { address, shared, accepting }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request since the start or the last call.
    pub(crate) fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.shared.seen.lock().unwrap())
    }

    /// The most requests that were under way at once.
    pub(crate) fn most_under_way(&self) -> usize {
        self.shared.most_under_way.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    /// One request; whatever ends it early is what a network does.
    async fn serve(&self, mut client: TcpStream) -> Option<()> {
        let (head, mut body) = read_head(&mut client).await?;
        let (first, rest) = head.split_once("\r\n")?;
        let mut words = first.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let lines = rest.split("\r\n").filter_map(|line| line.split_once(": "));
        let headers: BTreeMap<_, _> =
            lines.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        if headers.contains_key("expect") {
            client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.ok()?;
        }
        let length: usize = headers.get("content-length").map_or(Some(0), |it| it.parse().ok())?;
        while body.len() < length {
            if client.read_buf(&mut body).await.ok()? == 0 {
                return None;
            }
        }
        let seen = {
            let mut all = self.seen.lock().unwrap();
            let seen = Seen { number: all.len(), method, target, headers };
            all.push(seen.clone());
            seen
        };
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_under_way.fetch_max(under_way, Ordering::SeqCst);
        let done = self.meet_fate(&seen, first, &body, &mut client).await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        done
    }

    async fn meet_fate(
        &self,
        seen: &Seen,
        first: &str,
        body: &[u8],
        client: &mut TcpStream,
    ) -> Option<()> {
        let fate = (self.choose)(seen);
        let without = if let Fate::Without(header) = fate { header } else { "" };
        match fate {
            Fate::CutBefore => return None,
            Fate::Swallowed => std::future::pending().await,
            Fate::Answered(answer) => return client.write_all(answer.as_bytes()).await.ok(),
            Fate::Delayed(time) => tokio::time::sleep(time).await,
            _ => {}
        }
        let answer = self.forward(seen, first, body, without).await?;
        match fate {
            Fate::AnswerLost => None,
            Fate::AnswerCut => client.write_all(answer.get(..answer.len() / 2)?).await.ok(),
            _ => client.write_all(&answer).await.ok(),
        }
    }

    async fn forward(
        &self,
        seen: &Seen,
        first: &str,
        body: &[u8],
        without: &str,
    ) -> Option<Vec<u8>> {
        let mut server = TcpStream::connect(&self.upstream).await.ok()?;
        let mut head = format!("{first}\r\n");
        for (name, value) in &seen.headers {
            if !["connection", "expect", without].contains(&name.as_str()) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        head.push_str("connection: close\r\n\r\n");
        server.write_all(head.as_bytes()).await.ok()?;
        server.write_all(body).await.ok()?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).await.ok()?;
        Some(answer)
    }
}

/// The head without its last line ends, and what came behind it.
async fn read_head(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut read = Vec::new();
    loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            let body = read.split_off(end + 4);
            read.truncate(end);
            return Some((String::from_utf8(read).ok()?, body));
        }
        if client.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
}
