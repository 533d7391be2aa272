use super::process::Process;
use crate::ProviderError;
use crate::protocol::Version;
use crate::protocol::methods::Method;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;
use values::address::ProviderAddress;

/// Schemas of large providers have tens of megabytes.
const MAX_MESSAGE: usize = 256 << 20;
/// How long a broken connection waits for the news that the process is gone.
const NEWS_OF_DEATH: Duration = Duration::from_secs(2);

/// The connection to one plugin, and its process where it is ours.
pub(super) struct Client {
    pub(super) address: ProviderAddress,
    pub(super) version: Version,
    /// `None` where somebody else has started it, and ends it.
    pub(super) process: Option<Arc<Process>>,
    channel: Channel,
    closed: AtomicBool,
}

impl Client {
    pub(super) fn new(
        address: ProviderAddress,
        version: Version,
        channel: Channel,
        process: Option<Arc<Process>>,
    ) -> Client {
        Client { address, version, process, channel, closed: AtomicBool::new(false) }
    }

    /// Refuses further calls. Whether it was open before.
    pub(super) fn close(&self) -> bool {
        !self.closed.swap(true, Ordering::AcqRel)
    }

    /// One call of the provider protocol.
    pub(super) async fn call<Q, A>(&self, method: &Method, request: Q) -> Result<A, ProviderError>
    where
        Q: Message + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        let call = method.name;
        if self.closed.load(Ordering::Acquire) {
            return Err(ProviderError::Closed { provider: self.address.clone(), call });
        }
        match self.unary(method.path(self.version), request).await {
            Ok(answer) => Ok(answer),
            Err(status) => Err(self.failure(call, &status).await),
        }
    }

    /// Asks the plugin machinery, not the provider, to end the process.
    pub(super) async fn shutdown(&self) -> Result<(), Status> {
        self.unary("/plugin.GRPCController/Shutdown", ()).await
    }

    async fn unary<Q, A>(&self, path: &'static str, request: Q) -> Result<A, Status>
    where
        Q: Message + Send + Sync + 'static,
        A: Message + Default + Send + Sync + 'static,
    {
        let mut grpc = tonic::client::Grpc::new(self.channel.clone())
            .max_decoding_message_size(MAX_MESSAGE)
            .max_encoding_message_size(MAX_MESSAGE);
        grpc.ready().await.map_err(|e| Status::unavailable(e.to_string()))?;
        let codec = ProstCodec::<Q, A>::default();
        let path = PathAndQuery::from_static(path);
        Ok(grpc.unary(Request::new(request), path, codec).await?.into_inner())
    }

    async fn failure(&self, call: &'static str, status: &Status) -> ProviderError {
        let provider = self.address.clone();
        let broken = std::error::Error::source(status).is_some();
        match status.code() {
            Code::Unimplemented => ProviderError::Unsupported { provider, call },
            Code::OutOfRange | Code::ResourceExhausted => ProviderError::Transport {
                provider,
                call,
                detail: format!("a message is too large: {}", status.message()),
            },
            code => {
                if let Some(process) = self.process.as_ref()
                    && (broken || code == Code::Unavailable)
                {
                    let gone = tokio::time::timeout(NEWS_OF_DEATH, process.exited()).await;
                    if let Ok(exit) = gone {
                        return ProviderError::Died {
                            provider,
                            call,
                            detail: exit.to_string(),
                            stderr: process.stderr_tail().await,
                        };
                    }
                }
                if code == Code::Internal && !broken {
                    let detail = status.message().into();
                    return ProviderError::Protocol { provider, call, detail };
                }
                let detail = format!("{:?}: {}", code, status.message());
                ProviderError::Transport { provider, call, detail }
            }
        }
    }
}
