//! A plugin's side of the plugin handshake.

#[allow(missing_docs, unreachable_pub, clippy::all)]
#[rustfmt::skip]
mod controller;
#[allow(missing_docs, unreachable_pub, clippy::all)]
#[rustfmt::skip]
mod generated;
mod listener;
mod protocol5;

pub(crate) use generated::provider_server::Provider;

use crate::parricide::Parricide;
use crate::service::Service;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use controller::grpc_controller_server::{GrpcController, GrpcControllerServer};
use generated::provider_server::ProviderServer;
use listener::Listener;
use protocol5::Protocol5;
use providers::plugin::Identity;
use std::io::{self, Write};
use std::sync::Arc;
use tokio::sync::Notify;
use tonic::{Request, Response, Status};

const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// Serves the provider until it is told to shut down.
///
/// Arguments make it misbehave: `--tcp`, `--plain` (no TLS), `--exit`, `--garbage`, `--protocol-4`,
/// `--hang`, `--other-certificate`, `--deaf` (to the request to shut down). It speaks protocol 6, and protocol 5 with
/// `--protocol-5` or `TEST_PROVIDER_PROTOCOL=5`.
///
/// # Errors
/// Where it was not started by what speaks to plugins, or cannot listen.
pub fn serve(args: &[String]) -> io::Result<()> {
    if std::env::var("TF_PLUGIN_MAGIC_COOKIE").as_deref() != Ok(COOKIE) {
        return Err(io::Error::other("this is a plugin, to be started by what speaks to plugins"));
    }
    tokio::runtime::Runtime::new()?.block_on(run(args))
}

async fn run(args: &[String]) -> io::Result<()> {
    let asked = |flag: &str| args.iter().any(|a| a == flag);
    if asked("--exit") {
        return Err(io::Error::other("the world is not ready"));
    }
    if asked("--hang") {
        return std::future::pending().await;
    }
    if asked("--garbage") {
        announce("hello")?;
        return std::future::pending().await;
    }
    let identity = Identity::generate().map_err(io::Error::other)?;
    let client = std::env::var("PLUGIN_CLIENT_CERT").ok().filter(|_| !asked("--plain"));
    let listener = Listener::bind(asked("--tcp"), &identity, client.as_deref()).await?;
    let shown = match asked("--other-certificate") {
        true => Identity::generate().map_err(io::Error::other)?,
        false => identity,
    };
    let certificate = match client {
        Some(_) => STANDARD_NO_PAD.encode(shown.certificate()),
        None => String::new(),
    };
    let spoken = std::env::var("TEST_PROVIDER_PROTOCOL");
    let protocol = match () {
        () if asked("--protocol-4") => 4,
        () if asked("--protocol-5") || spoken.as_deref() == Ok("5") => 5,
        () => 6,
    };
    let (network, address) = listener.address();
    let path = (network == "unix").then(|| address.clone());
    announce(&format!("1|{protocol}|{network}|{address}|grpc|{certificate}"))?;
    let shutdown = Arc::new(Notify::new());
    let requested = match asked("--deaf") {
        true => Arc::new(Notify::new()),
        false => shutdown.clone(),
    };
    let service = Service::new(Parricide::from_environment(), protocol);
    let provider = ProviderServer::new(service).max_decoding_message_size(256 << 20);
    let mut server = tonic::transport::Server::builder();
    let router = match protocol {
        5 => server.add_service(Protocol5(provider)),
        _ => server.add_service(provider),
    };
    let served = router
        .add_service(GrpcControllerServer::new(Controller(shutdown)))
        .serve_with_incoming_shutdown(
            listener.incoming(),
            async move { requested.notified().await },
        )
        .await;
    if let Some(path) = path {
        let _ = std::fs::remove_file(path);
    }
    served.map_err(io::Error::other)
}

fn announce(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

struct Controller(Arc<Notify>);

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(
        &self,
        _request: Request<controller::Empty>,
    ) -> Result<Response<controller::Empty>, Status> {
        self.0.notify_one();
        Ok(Response::new(controller::Empty {}))
    }
}
