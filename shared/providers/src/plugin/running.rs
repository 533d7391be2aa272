//! Plugins that somebody else has started, in a debugger for one.

use super::handshake::Address;
use crate::protocol::Version;
use serde::Deserialize;
use std::collections::BTreeMap;
use values::address::ProviderAddress;

/// A plugin that runs already. It is connected to as it is, without TLS, and never ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningPlugin {
    pub(super) version: Version,
    pub(super) address: Address,
}

/// `TF_REATTACH_PROVIDERS` cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum InvalidRunningPlugins {
    /// It is not of the form that plugins print when they start for a debugger.
    #[error("it is not the JSON that a provider prints when it starts for a debugger ({0})")]
    Form(#[from] serde_json::Error),
    /// A key names no provider.
    #[error("{given:?} names no provider: {detail}")]
    Provider {
        /// The key.
        given: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The plugin does not speak what we speak.
    #[error(
        "{provider} speaks {protocol:?} in version {version}, and only \"grpc\" in version 5 or 6 is supported"
    )]
    Protocol {
        /// The provider.
        provider: ProviderAddress,
        /// How it speaks.
        protocol: String,
        /// In which version.
        version: u32,
    },
    /// It listens where we cannot go.
    #[error("{provider} listens on {network:?}, and only \"unix\" and \"tcp\" are supported")]
    Network {
        /// The provider.
        provider: ProviderAddress,
        /// Where it listens.
        network: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Reattach {
    #[serde(default = "grpc")]
    protocol: String,
    protocol_version: u32,
    addr: Listening,
}

fn grpc() -> String {
    "grpc".into()
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listening {
    network: String,
    string: String,
}

impl RunningPlugin {
    /// Reads the value of `TF_REATTACH_PROVIDERS`: the process ids in it are of no use to us.
    ///
    /// # Errors
    /// With what cannot be understood of it.
    pub fn parse(
        text: &str,
    ) -> Result<BTreeMap<ProviderAddress, RunningPlugin>, InvalidRunningPlugins> {
        let all: BTreeMap<String, Reattach> = serde_json::from_str(text)?;
        all.into_iter()
            .map(|(given, reattach)| {
                let provider: ProviderAddress = given.parse().map_err(|error| {
                    InvalidRunningPlugins::Provider { detail: format!("{error}"), given }
                })?;
                let plugin = reattach.plugin(&provider)?;
                Ok((provider, plugin))
            })
            .collect()
    }
}

impl Reattach {
    fn plugin(self, provider: &ProviderAddress) -> Result<RunningPlugin, InvalidRunningPlugins> {
        let version = match (self.protocol.as_str(), self.protocol_version) {
            ("grpc", 5) => Version::V5,
            ("grpc", 6) => Version::V6,
            (_, version) => {
                let (provider, protocol) = (provider.clone(), self.protocol);
                return Err(InvalidRunningPlugins::Protocol { provider, protocol, version });
            }
        };
        let Listening { network, string } = self.addr;
        let address = match network.as_str() {
            "unix" => Address::Unix(string.into()),
            "tcp" => Address::Tcp(string),
            _ => {
                let provider = provider.clone();
                return Err(InvalidRunningPlugins::Network { provider, network });
            }
        };
        Ok(RunningPlugin { version, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(provider: &str, protocol: &str, version: u32, network: &str) -> String {
        format!(
            r#"{{"{provider}":{{"Protocol":"{protocol}","ProtocolVersion":{version},"Pid":3382870,"Test":true,"Addr":{{"Network":"{network}","String":"/tmp/plugin713096927"}}}}}}"#
        )
    }

    #[test]
    fn what_a_provider_prints_for_its_debugger() {
        let provider = "registry.terraform.io/my-org/my-provider";
        let read = RunningPlugin::parse(&entry(provider, "grpc", 6, "unix")).unwrap();
        let plugin = &read[&provider.parse::<ProviderAddress>().unwrap()];
        assert_eq!(plugin.version, Version::V6);
        assert_eq!(plugin.address, Address::Unix("/tmp/plugin713096927".into()));
        let short = RunningPlugin::parse(&entry("hashicorp/aws", "grpc", 5, "tcp")).unwrap();
        assert_eq!(short[&ProviderAddress::implied("aws")].version, Version::V5);
        assert!(RunningPlugin::parse("{}").unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_understood() {
        let refused = |text: &str| RunningPlugin::parse(text).unwrap_err();
        assert!(matches!(refused("nonsense"), InvalidRunningPlugins::Form(_)));
        assert!(matches!(refused(r#"{"a/b":{}}"#), InvalidRunningPlugins::Form(_)));
        let named = refused(&entry("a b", "grpc", 6, "unix"));
        assert!(matches!(named, InvalidRunningPlugins::Provider { given, .. } if given == "a b"));
        let spoken =
            [refused(&entry("a/b", "netrpc", 5, "tcp")), refused(&entry("a/b", "grpc", 4, "tcp"))];
        assert!(spoken.iter().all(|e| matches!(e, InvalidRunningPlugins::Protocol { .. })));
        let heard = refused(&entry("a/b", "grpc", 6, "pipe"));
        assert!(
            matches!(heard, InvalidRunningPlugins::Network { network, .. } if network == "pipe")
        );
    }
}
