//! The server's wire: requests in, answers out, or a connection that is cut.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::world::{Asked, Outcome, World};

/// Answers on a free port of loopback for as long as the runtime lives.
pub(super) async fn serve(world: Arc<World>) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else { return };
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let service = service_fn(|request| respond(Arc::clone(&world), request));
                // A connection that ends early ends as the test wanted it.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    address
}

#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut off")
    }
}

impl std::error::Error for Cut {}

async fn respond(
    world: Arc<World>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Cut> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
    let asked = Asked {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        token: head
            .headers
            .get("authorization")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    match world.answer(&asked) {
        Outcome::Cut => Err(Cut),
        Outcome::Silent => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            Err(Cut)
        }
        Outcome::Answer(code, value) => {
            let body = Full::new(Bytes::from(value.to_string()));
            let response =
                Response::builder().status(code).header("content-type", "application/json");
            response.body(body).map_err(|_| Cut)
        }
    }
}
