//! A proxy for HTTP. What it leads to is on this machine, whatever its name.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use hyper::Uri;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::site::self_signed;

/// Bytes that the head of a request may have.
const HEAD: usize = 1 << 16;

/// What the proxy was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyVisit {
    /// Method and target.
    pub asked: String,
    /// What authorises it to the proxy.
    pub authorization: Option<String>,
}

#[derive(Default)]
struct State {
    leads: BTreeMap<String, String>,
    wants: Option<String>,
    visits: Vec<ProxyVisit>,
}

/// A proxy on this machine.
pub struct ProxyServer {
    scheme: &'static str,
    address: SocketAddr,
    certificate: String,
    state: Arc<Mutex<State>>,
}

impl ProxyServer {
    /// Starts a proxy at `127.0.0.1` that is reached in the clear, and leads nowhere yet.
    pub fn start() -> ProxyServer {
        ProxyServer::start_with("http", None, String::new())
    }

    /// Starts a proxy at `localhost` that is reached over TLS, and leads nowhere yet.
    pub fn start_tls() -> ProxyServer {
        let (acceptor, certificate) = self_signed(["localhost"]);
        ProxyServer::start_with("https", Some(acceptor), certificate)
    }

    fn start_with(
        scheme: &'static str,
        acceptor: Option<TlsAcceptor>,
        certificate: String,
    ) -> ProxyServer {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    let (acceptor, shared) = (acceptor.clone(), Arc::clone(&shared));
                    tokio::spawn(async move {
                        match acceptor {
                            None => lead(stream, &shared).await,
                            Some(acceptor) => match acceptor.accept(stream).await {
                                Ok(stream) => lead(stream, &shared).await,
                                Err(_) => None,
                            },
                        }
                    });
                }
            });
        });
        ProxyServer { scheme, address, certificate, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Its address, as the environment names it; with `user` before the host.
    pub fn url(&self, user: &str) -> String {
        let host = match self.scheme {
            "https" => "localhost",
            _ => "127.0.0.1",
        };
        format!("{}://{user}{host}:{}", self.scheme, self.address.port())
    }
    /// The certificate that verifies it, in PEM; none where it needs none.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }
    /// Has it lead to a host (with its port) where that really is: host and port on this machine.
    pub fn lead_to(&self, host: &str, really: &str) {
        self.state().leads.insert(host.to_owned(), really.to_owned());
    }
    /// Has it refuse whoever does not say this.
    pub fn want(&self, authorization: &str) {
        self.state().wants = Some(authorization.to_owned());
    }
    /// What it was asked since the last call.
    pub fn take_visits(&self) -> Vec<ProxyVisit> {
        std::mem::take(&mut self.state().visits)
    }
}

/// Leads one connection to where it is asked to; `None` where that ended early.
async fn lead(mut stream: impl AsyncRead + AsyncWrite + Unpin, state: &Mutex<State>) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD {
        head.push(stream.read_u8().await.ok()?);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let mut lines = text.lines();
    let asked = lines.next()?.strip_suffix(" HTTP/1.1")?;
    let (method, target) = asked.split_once(' ')?;
    let authorization = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("proxy-authorization").then(|| value.trim().to_owned())
    });
    let host = match method {
        "CONNECT" => target.to_owned(),
        _ => {
            let target: Uri = target.parse().ok()?;
            format!("{}:{}", target.host()?, target.port_u16().unwrap_or(80))
        }
    };
    let really = {
        let mut state = state.lock().unwrap();
        let wanted = state.wants.is_some() && state.wants != authorization;
        state.visits.push(ProxyVisit { asked: asked.to_owned(), authorization });
        match (wanted, state.leads.get(&host)) {
            (true, _) => Err("407 Proxy Authentication Required"),
            (false, None) => Err("502 Bad Gateway"),
            (false, Some(really)) => Ok(really.clone()),
        }
    };
    let really = match really {
        Ok(really) => really,
        Err(status) => {
            let refused = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(refused.as_bytes()).await.ok()?;
            return None;
        }
    };
    let mut there = TcpStream::connect(really).await.ok()?;
    match method {
        "CONNECT" => stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.ok()?,
        _ => there.write_all(&head).await.ok()?,
    }
    copy_bidirectional(&mut stream, &mut there).await.ok().map(drop)
}
