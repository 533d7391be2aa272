use super::proxies::Proxies;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use std::error::Error;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::net::TcpStream;
use tower::Service;

type BoxError = Box<dyn Error + Send + Sync>;
type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Connects to hosts, or to the proxies that lead to them.
#[derive(Clone, Debug)]
pub(super) struct Route {
    direct: HttpConnector,
    to_proxy: HttpsConnector<HttpConnector>,
    proxies: Proxies,
}

/// A connection to a host, or to a proxy that takes requests for it.
#[derive(Debug)]
pub(super) struct Way {
    stream: Stream,
    /// Whether the proxy reads the requests: what it has made a tunnel for, it does not.
    proxied: bool,
}

/// A proxy does not lead to a host.
#[derive(Debug, thiserror::Error)]
#[error("the proxy {proxy} does not lead there")]
struct NoWay {
    proxy: Uri,
    source: BoxError,
}

impl Route {
    pub(super) fn new(config: ClientConfig, proxies: Proxies) -> Route {
        let mut direct = HttpConnector::new();
        direct.enforce_http(false);
        let to_proxy = HttpsConnectorBuilder::new().with_tls_config(config);
        let to_proxy = to_proxy.https_or_http().enable_http1().wrap_connector(direct.clone());
        Route { direct, to_proxy, proxies }
    }
}

impl Service<Uri> for Route {
    type Response = Way;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Way, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let proxy = match self.proxies.of(&to) {
            Ok(proxy) => proxy.cloned(),
            Err(why) => {
                let error = io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
                return Box::pin(std::future::ready(Err(error.into())));
            }
        };
        let Some(proxy) = proxy else {
            let connecting = self.direct.call(to);
            return Box::pin(async move {
                let stream = MaybeHttpsStream::Http(connecting.await?);
                Ok(Way { stream, proxied: false })
            });
        };
        let mut to_proxy = self.to_proxy.clone();
        let address = proxy.address.clone();
        let no_way = move |source: BoxError| NoWay { proxy: address, source };
        Box::pin(async move {
            if to.scheme_str() != Some("https") {
                let stream = to_proxy.call(proxy.address).await.map_err(no_way)?;
                return Ok(Way { stream, proxied: true });
            }
            let mut tunnel = Tunnel::new(proxy.address, to_proxy);
            if let Some(authorization) = proxy.authorization {
                tunnel = tunnel.with_auth(authorization);
            }
            let stream = tunnel.call(to).await.map_err(|error| no_way(error.into()))?;
            Ok(Way { stream, proxied: false })
        })
    }
}

impl Connection for Way {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.proxied)
    }
}

impl Read for Way {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl Write for Way {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }
}
