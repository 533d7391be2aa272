//! The API over HTTP.

use super::authorization;
use super::log::Log;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use runs::api::{Api, ApiError, ApiRequest, ApiResponse, Route};
use runs::executions::Executions;
use runs::function_environment::FunctionEnvironment;
use runs::local_deployment::AccessTokens;
use runs::secrets::Secrets;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// Connections at once; others wait.
const CONNECTIONS: usize = 128;
/// Bytes of a body. GitHub sends no delivery that is larger.
const LARGEST_BODY: usize = 25 << 20;
/// How long the head of a request may take, and its body.
const HEAD: Duration = Duration::from_secs(10);
const BODY: Duration = Duration::from_secs(30);
/// How long answers that are on their way may take once the server stops.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long nothing is accepted after that has failed: mostly, too many files are open.
const BREATH: Duration = Duration::from_millis(200);

/// What answers requests.
pub(crate) struct Responder {
    pub(crate) environment: Arc<FunctionEnvironment>,
    pub(crate) executions: Arc<dyn Executions>,
    pub(crate) secrets: Arc<dyn Secrets>,
    pub(crate) tokens: AccessTokens,
    pub(crate) log: Arc<Log>,
    /// The address that others reach the server by.
    pub(crate) api: String,
}

/// Answers at an address.
pub(crate) struct HttpServer {
    pub(crate) listener: TcpListener,
    pub(crate) responder: Arc<Responder>,
}

impl HttpServer {
    /// Answers until it is told to stop, and then what is on its way.
    pub(crate) async fn serve(self, mut stopping: watch::Receiver<bool>) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = JoinSet::new();
        let stopped = stopping.clone();
        loop {
            let next = async {
                let place = room.clone().acquire_owned().await.ok();
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                next = next => next,
                _ = stopping.wait_for(|stopping| *stopping) => break,
            };
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok((stream, _)) => {
                    let (responder, stopped) = (self.responder.clone(), stopped.clone());
                    connections.spawn(async move {
                        connection(stream, responder, stopped).await;
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(BREATH).await,
            }
        }
        drop(self.listener);
        let rest = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_ANSWERS, rest).await;
    }
}

async fn connection(
    stream: TcpStream,
    responder: Arc<Responder>,
    mut stopping: watch::Receiver<bool>,
) {
    let service = service_fn(move |request| respond(responder.clone(), request));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let served = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(served);
    // Whoever goes away in the middle of an answer does not get it.
    let stop = tokio::select! {
        _ = served.as_mut() => false,
        _ = stopping.wait_for(|stopping| *stopping) => true,
    };
    if stop {
        served.as_mut().graceful_shutdown();
        let _ = served.await;
    }
}

/// An answer to every request, whatever becomes of it.
async fn respond(
    responder: Arc<Responder>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    // What was begun is brought to its end, whoever goes away meanwhile: an approval that is written down wakes its run.
    let answer = tokio::spawn(async move {
        let mut request = asked(&head, &responder.api);
        let answer = responder.answer(&mut request, &head, body).await;
        answer.unwrap_or_else(|error| {
            if error.status() == 503 {
                let (method, path) = (&request.method, &request.path);
                responder.log.line(&format!("{method} {path}: {error}"));
            }
            error.response(&request)
        })
    });
    let answer = answer
        .await
        .unwrap_or_else(|_panic| ApiResponse::failed("the server failed; its log says why"));
    Ok(encoded(answer))
}

/// What a request asks for, before anything is known of who sends it or of its body.
fn asked(head: &Parts, api: &str) -> ApiRequest {
    let query = head.uri.query().unwrap_or_default();
    ApiRequest {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
        headers: headers(head),
        address: Some(api.to_owned()),
        ..ApiRequest::default()
    }
}

impl Responder {
    async fn answer(
        &self,
        request: &mut ApiRequest,
        head: &Parts,
        body: Incoming,
    ) -> Result<ApiResponse, ApiError> {
        let webhook = Route::of(&request.method, &request.path)?.is_webhook();
        let header = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let proved = header.and_then(|header| authorization::principal(&self.tokens, header));
        match proved {
            Some((principal, authentication)) => {
                (request.principal, request.authentication) = (Some(principal), authentication);
            }
            // What proves a delivery is in its body; of all others nothing is read before it is known who asks.
            None if !webhook => return Err(ApiError::Nobody),
            None => {}
        }
        let body = Limited::new(body, LARGEST_BODY).collect();
        let body = tokio::time::timeout(BODY, body).await;
        let body = body.map_err(|_| ApiError::Body("its body takes too long".to_owned()))?;
        let body = body.map_err(|error| ApiError::Body(error.to_string()))?;
        request.body = body.to_bytes();
        let api = Api::open(&self.environment, &*self.executions, &*self.secrets).await?;
        api.answer(request).await
    }
}

/// The headers that are text; of several with one name all, as API Gateway has them. Who asks is known already.
fn headers(head: &Parts) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::<String, String>::new();
    let text = head.headers.iter().filter(|(name, _)| *name != AUTHORIZATION);
    for (name, value) in text.filter_map(|(name, value)| Some((name, value.to_str().ok()?))) {
        headers
            .entry(name.as_str().to_owned())
            .and_modify(|all| {
                all.push(',');
                all.push_str(value);
            })
            .or_insert_with(|| value.to_owned());
    }
    headers
}

fn encoded(answer: ApiResponse) -> Response<Full<Bytes>> {
    let (status, said) = (StatusCode::from_u16(answer.status), answer.headers());
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in said {
        // They are ours, and all are headers' values.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    if answer.status == 401 {
        // A browser asks for the token, which is the password.
        let asks = HeaderValue::from_static("Basic realm=\"plumb serve: a token as the password\"");
        headers.insert(WWW_AUTHENTICATE, asks);
    }
    response
}
