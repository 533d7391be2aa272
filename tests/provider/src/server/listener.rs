use providers::plugin::Identity;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, ServerConfig,
    SignatureScheme,
};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

/// Where the plugin listens, and how it secures connections.
pub(super) struct Listener {
    socket: Socket,
    tls: Option<TlsAcceptor>,
}

enum Socket {
    Unix(UnixListener, String),
    Tcp(TcpListener, String),
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// One connection.
pub(super) struct Connection(Box<dyn Stream>);

impl Listener {
    pub(super) async fn bind(
        tcp: bool,
        identity: &Identity,
        client: Option<&str>,
    ) -> io::Result<Listener> {
        let socket = match tcp {
            true => {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                let address = listener.local_addr()?.to_string();
                Socket::Tcp(listener, address)
            }
            false => {
                let name = format!("plugin-test-{}", uuid::Uuid::new_v4().simple());
                let path = std::env::temp_dir().join(name);
                Socket::Unix(UnixListener::bind(&path)?, path.display().to_string())
            }
        };
        let tls = client.map(|pem| server_config(identity, pem)).transpose()?;
        Ok(Listener { socket, tls: tls.map(|config| TlsAcceptor::from(Arc::new(config))) })
    }

    pub(super) fn address(&self) -> (&'static str, String) {
        match &self.socket {
            Socket::Unix(_, path) => ("unix", path.clone()),
            Socket::Tcp(_, address) => ("tcp", address.clone()),
        }
    }

    pub(super) fn incoming(self) -> ReceiverStream<io::Result<Connection>> {
        let (sender, receiver) = mpsc::channel(16);
        tokio::spawn(async move {
            loop {
                let accepted: io::Result<Box<dyn Stream>> = match &self.socket {
                    Socket::Unix(l, _) => l.accept().await.map(|(s, _)| Box::new(s) as _),
                    Socket::Tcp(l, _) => l.accept().await.map(|(s, _)| Box::new(s) as _),
                };
                let Ok(stream) = accepted else { return };
                let stream = match &self.tls {
                    None => stream,
                    Some(tls) => match tls.accept(stream).await {
                        Ok(stream) => Box::new(stream),
                        // Not our client: the next may be.
                        Err(_) => continue,
                    },
                };
                if sender.send(Ok(Connection(stream))).await.is_err() {
                    return;
                }
            }
        });
        ReceiverStream::new(receiver)
    }
}

fn server_config(identity: &Identity, client: &str) -> io::Result<ServerConfig> {
    let client = CertificateDer::from_pem_slice(client.as_bytes()).map_err(io::Error::other)?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = PinnedClient { pinned: client, provider: provider.clone() };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(vec![identity.certificate().clone()], identity.key())
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

/// Lets in the one client that started this process.
#[derive(Debug)]
struct PinnedClient {
    pinned: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for PinnedClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match *end_entity == self.pinned {
            true => Ok(ClientCertVerified::assertion()),
            false => {
                Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
        }
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl Connected for Connection {
    type ConnectInfo = ();
    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
