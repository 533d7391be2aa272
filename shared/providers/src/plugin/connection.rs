use super::handshake::{Address, Handshake};
use super::tls::{self, Identity};
use crate::StartFailure;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint};

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// How to secure the connection to a plugin that has shown its handshake.
pub(super) fn tls(
    handshake: &Handshake,
    identity: &Identity,
) -> Result<Option<TlsConnector>, StartFailure> {
    let Some(der) = &handshake.certificate else { return Ok(None) };
    let config = tls::client_config(identity, der.clone())
        .map_err(|e| StartFailure::Certificate { detail: e.to_string() })?;
    Ok(Some(TlsConnector::from(Arc::new(config))))
}

/// Connects to a plugin, in plain text where no TLS is given.
pub(super) async fn connect(
    listens_at: &Address,
    tls: Option<TlsConnector>,
) -> Result<Channel, StartFailure> {
    let address = listens_at.clone();
    // The address is the connector's business; this one only fills the authority header.
    Endpoint::from_static("http://localhost")
        .connect_with_connector(tower::service_fn(move |_| {
            let (address, tls) = (address.clone(), tls.clone());
            async move { open(&address, tls).await.map(TokioIo::new) }
        }))
        .await
        .map_err(|e| failure(&e, listens_at))
}

async fn open(address: &Address, tls: Option<TlsConnector>) -> std::io::Result<Box<dyn Stream>> {
    let plain: Box<dyn Stream> = match address {
        Address::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Address::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    };
    Ok(match tls {
        None => plain,
        Some(tls) => {
            let name = ServerName::try_from("localhost").map_err(std::io::Error::other)?;
            Box::new(tls.connect(name, plain).await?)
        }
    })
}

fn failure(error: &tonic::transport::Error, address: &Address) -> StartFailure {
    let mut deepest: &(dyn std::error::Error + 'static) = error;
    loop {
        let tls = deepest.downcast_ref::<rustls::Error>().or_else(|| {
            deepest.downcast_ref::<std::io::Error>()?.get_ref()?.downcast_ref::<rustls::Error>()
        });
        match tls {
            Some(rustls::Error::InvalidCertificate(reason)) => {
                return StartFailure::Certificate {
                    detail: format!(
                        "{reason} (RSA keys below 2048 bits, for one, are not accepted)"
                    ),
                };
            }
            Some(other) => {
                return StartFailure::Connect {
                    address: address.to_string(),
                    detail: other.to_string(),
                    stderr: String::new(),
                };
            }
            None => {}
        }
        match deepest.source() {
            Some(next) => deepest = next,
            None => break,
        }
    }
    StartFailure::Connect {
        address: address.to_string(),
        detail: deepest.to_string(),
        stderr: String::new(),
    }
}
