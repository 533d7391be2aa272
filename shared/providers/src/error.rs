use values::address::ProviderAddress;

/// A provider could not be asked, or did not answer as its protocol demands. What a provider
/// itself reports are diagnostics of a [`Response`](crate::Response), not this.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// No such provider can be started: it is not installed.
    #[error(
        "provider {provider} is not installed: run `plumb init` to install the providers that the configuration requires"
    )]
    NotInstalled {
        /// The provider.
        provider: ProviderAddress,
    },
    /// The package on disk is not the one that the lock file names.
    #[error(
        "the package of provider {provider} {version} does not match any of the checksums in the dependency lock file: \
         nothing of it was run. If the change is intended, run `plumb init -upgrade`"
    )]
    ChecksumMismatch {
        /// The provider.
        provider: ProviderAddress,
        /// Its version.
        version: String,
    },
    /// The process could not be started, or did not get through its handshake.
    #[error("provider {provider} could not be started: {reason}")]
    Start {
        /// The provider.
        provider: ProviderAddress,
        /// What went wrong.
        reason: Box<StartFailure>,
    },
    /// The process ended, or its connection broke, while a call was under way or before it.
    #[error("the plugin of provider {provider} stopped responding during {call}: {detail}{}", tail(.stderr))]
    Died {
        /// The provider.
        provider: ProviderAddress,
        /// The call that got no answer.
        call: &'static str,
        /// What is known of the end.
        detail: String,
        /// The last of what it wrote to its standard error.
        stderr: String,
    },
    /// The answer breaks the plugin protocol. A bug of the provider.
    #[error(
        "provider {provider} gave an invalid answer to {call}, which is a bug in the provider: {detail}"
    )]
    Protocol {
        /// The provider.
        provider: ProviderAddress,
        /// The call.
        call: &'static str,
        /// What is wrong with the answer.
        detail: String,
    },
    /// The call failed in transport though the process lives.
    #[error("{call} of provider {provider} failed: {detail}")]
    Transport {
        /// The provider.
        provider: ProviderAddress,
        /// The call.
        call: &'static str,
        /// The gRPC status.
        detail: String,
    },
    /// A value could not be sent: it is not of the schema's type.
    #[error("{call} of provider {provider} could not be sent: {detail}")]
    Encode {
        /// The provider.
        provider: ProviderAddress,
        /// The call.
        call: &'static str,
        /// What is wrong with the value.
        detail: String,
    },
    /// The provider knows no such resource type, data source or function.
    #[error("provider {provider} has no {kind} {name:?}")]
    UnknownName {
        /// The provider.
        provider: ProviderAddress,
        /// "resource type", "data source", "ephemeral resource type", "function".
        kind: &'static str,
        /// The name asked for.
        name: String,
    },
    /// The provider does not offer this call.
    #[error("provider {provider} does not support {call}")]
    Unsupported {
        /// The provider.
        provider: ProviderAddress,
        /// The call.
        call: &'static str,
    },
    /// The provider was closed.
    #[error("provider {provider} was closed before {call}")]
    Closed {
        /// The provider.
        provider: ProviderAddress,
        /// The call.
        call: &'static str,
    },
}

impl ProviderError {
    /// Whether the provider may have done what it was asked to: it was sent, and no answer came that can be believed.
    pub fn leaves_doubt(&self) -> bool {
        matches!(
            self,
            ProviderError::Died { .. }
                | ProviderError::Protocol { .. }
                | ProviderError::Transport { .. }
        )
    }
}

/// Why a plugin process did not come up.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StartFailure {
    /// The operating system refused.
    #[error("{path} could not be run: {detail}")]
    Spawn {
        /// The executable.
        path: String,
        /// The system's words.
        detail: String,
    },
    /// It ended before its handshake.
    #[error("it exited ({status}) before the plugin handshake{}", tail(.stderr))]
    ExitedEarly {
        /// Exit status or signal.
        status: String,
        /// The last of what it wrote to its standard error.
        stderr: String,
    },
    /// Its first line is no handshake.
    #[error("its handshake line cannot be read ({detail}): {line:?}{}", tail(.stderr))]
    BadHandshake {
        /// What it wrote.
        line: String,
        /// What is wrong with it.
        detail: String,
        /// The last of what it wrote to its standard error.
        stderr: String,
    },
    /// It speaks another version of the plugin protocol.
    #[error(
        "it speaks plugin protocol {version}, and only 5 and 6 are supported: use another version of the provider"
    )]
    UnsupportedProtocol {
        /// The version.
        version: String,
    },
    /// Its certificate is too weak or malformed for a secure connection.
    #[error("its certificate is refused: {detail}. Use a newer version of the provider")]
    Certificate {
        /// What is wrong with it.
        detail: String,
    },
    /// Its address could not be connected to.
    #[error("no connection to {address}: {detail}{}", tail(.stderr))]
    Connect {
        /// The address of its handshake.
        address: String,
        /// What went wrong.
        detail: String,
        /// The last of what it wrote to its standard error.
        stderr: String,
    },
    /// It did not show a handshake in time.
    #[error("it did not complete the plugin handshake within {seconds} s{}", tail(.stderr))]
    TimedOut {
        /// How long it had.
        seconds: u64,
        /// The last of what it wrote to its standard error.
        stderr: String,
    },
    /// Our own means failed: a certificate could not be made, the watchdog could not be started.
    #[error("{detail}")]
    Own {
        /// What went wrong.
        detail: String,
    },
}

impl ProviderError {
    /// The error of a call that a provider does not offer.
    pub fn unsupported(provider: &ProviderAddress, call: &'static str) -> ProviderError {
        ProviderError::Unsupported { provider: provider.clone(), call }
    }
}

impl StartFailure {
    /// The same with the tail of the plugin's standard error, where it has room for it.
    pub(crate) fn with_stderr(mut self, text: &str) -> StartFailure {
        match &mut self {
            StartFailure::ExitedEarly { stderr, .. }
            | StartFailure::BadHandshake { stderr, .. }
            | StartFailure::Connect { stderr, .. }
            | StartFailure::TimedOut { stderr, .. } => *stderr = text.into(),
            _ => {}
        }
        self
    }
}

fn tail(stderr: &str) -> String {
    match stderr.trim_end() {
        "" => String::new(),
        text => format!("\nThe last lines of its output:\n{text}"),
    }
}
