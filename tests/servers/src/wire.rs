//! The wire: requests in, answers out, or a connection that is cut.

use std::convert::Infallible;
use std::fmt::{self, Display, Formatter};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::http::request::Parts;
use hyper::http::response::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::site::BodyEnd;

/// What comes back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers beside the length.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
}

/// What becomes of a request.
pub(crate) enum Outcome {
    Answered(Answer),
    /// The answer with the length of its whole body, of which only so many bytes come.
    Partial(Answer, usize, BodyEnd),
    /// The connection ends without an answer.
    Cut,
    /// No answer comes.
    Silent,
}

/// Answers until the process ends.
pub(crate) fn serve(
    answer: impl Fn(&Parts, Bytes) -> Outcome + Send + Sync + 'static,
) -> SocketAddr {
    serve_on(None, answer)
}

/// Answers over TLS until the process ends.
pub(crate) fn serve_tls(
    acceptor: TlsAcceptor,
    answer: impl Fn(&Parts, Bytes) -> Outcome + Send + Sync + 'static,
) -> SocketAddr {
    serve_on(Some(acceptor), answer)
}

fn serve_on(
    acceptor: Option<TlsAcceptor>,
    answer: impl Fn(&Parts, Bytes) -> Outcome + Send + Sync + 'static,
) -> SocketAddr {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, acceptor) = (Arc::clone(&answer), acceptor.clone());
                tokio::spawn(async move {
                    let service = service_fn(|request| respond(Arc::clone(&answer), request));
                    let builder = hyper::server::conn::http1::Builder::new();
                    // A connection that ends early ends as the test wanted it.
                    match acceptor {
                        None => drop(builder.serve_connection(TokioIo::new(stream), service).await),
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                let stream = TokioIo::new(stream);
                                drop(builder.serve_connection(stream, service).await);
                            }
                        }
                    }
                });
            }
        });
    });
    address
}

#[derive(Debug)]
struct Cut;

impl Display for Cut {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("cut off")
    }
}

impl std::error::Error for Cut {}

/// The beginning of a body whose length nobody may know, lest the server refuse to lie about it.
struct Beginning {
    part: Option<Bytes>,
    /// Whether the part has had its time to be sent.
    sent: bool,
    end: BodyEnd,
}

impl Body for Beginning {
    type Data = Bytes;
    type Error = Infallible;
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(part) = self.part.take() {
            return Poll::Ready(Some(Ok(Frame::data(part))));
        }
        if self.end == BodyEnd::Stall {
            return Poll::Pending;
        }
        if !std::mem::replace(&mut self.sent, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(None)
    }
}

async fn respond(
    answer: Arc<impl Fn(&Parts, Bytes) -> Outcome>,
    request: Request<Incoming>,
) -> Result<Response<Either<Full<Bytes>, Beginning>>, Cut> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
    match answer(&head, body) {
        Outcome::Cut => Err(Cut),
        Outcome::Silent => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            Err(Cut)
        }
        Outcome::Answered(answer) => {
            let body = answer.body.clone();
            response(answer).body(Either::Left(Full::new(body))).map_err(|_| Cut)
        }
        Outcome::Partial(answer, bytes, end) => {
            let length = answer.body.len();
            let part = answer.body.slice(..bytes.min(length));
            let beginning = Beginning { part: Some(part), sent: false, end };
            let response = response(answer).header("content-length", length);
            response.body(Either::Right(beginning)).map_err(|_| Cut)
        }
    }
}

fn response(answer: Answer) -> Builder {
    let response = Response::builder().status(answer.status);
    answer
        .headers
        .into_iter()
        .fold(response, |response, (name, value)| response.header(name, value))
}

/// The text that was encoded as the part of a URL. A `+` stays one, as in paths.
pub(crate) fn decoded(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        match (byte, after.get(..2).and_then(|digits| hex::decode(digits).ok())) {
            (b'%', Some(escaped)) => {
                decoded.extend(escaped);
                rest = &after[2..];
            }
            _ => {
                decoded.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(decoded).unwrap()
}

/// A parameter of a query, decoded.
pub(crate) fn parameter(query: &str, name: &str) -> Option<String> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut found = pairs.filter(|(found, _)| *found == name);
    found.next().map(|(_, value)| decoded(&value.replace('+', " ")))
}
