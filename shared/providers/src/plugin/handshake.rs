use crate::StartFailure;
use crate::protocol::Version;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::path::PathBuf;

/// Padded or not: plugins of either habit exist.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a plugin says in its first line.
#[derive(Debug, PartialEq)]
pub(super) struct Handshake {
    pub(super) version: Version,
    pub(super) address: Address,
    /// DER of the certificate that its connection must show; plain text where it has none.
    pub(super) certificate: Option<Vec<u8>>,
}

/// Where a plugin listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    Unix(PathBuf),
    Tcp(String),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "{}", path.display()),
            Address::Tcp(address) => f.write_str(address),
        }
    }
}

/// Reads `1|PROTOCOL|NETWORK|ADDRESS|grpc|CERTIFICATE`; further fields are ignored.
pub(super) fn parse(line: &str) -> Result<Handshake, StartFailure> {
    let bad = |detail: &str| StartFailure::BadHandshake {
        line: shortened(line),
        detail: detail.into(),
        stderr: String::new(),
    };
    let mut fields = line.trim().split('|');
    let mut next = || fields.next().unwrap_or_default();
    let (core, protocol, network, address, transport, certificate) =
        (next(), next(), next(), next(), next(), next());
    if core.parse::<u32>().is_err() || address.is_empty() {
        return Err(bad("not of the form 1|PROTOCOL|NETWORK|ADDRESS|grpc|CERTIFICATE"));
    }
    if core != "1" {
        return Err(bad("the handshake's own version is not 1"));
    }
    let version = match protocol {
        "5" => Version::V5,
        "6" => Version::V6,
        other if other.parse::<u32>().is_ok() => {
            return Err(StartFailure::UnsupportedProtocol { version: other.into() });
        }
        _ => return Err(bad("the protocol version is no number")),
    };
    if transport != "grpc" {
        return Err(bad("it does not speak gRPC"));
    }
    let address = match network {
        "unix" => Address::Unix(address.into()),
        "tcp" => Address::Tcp(address.into()),
        _ => return Err(bad("the network is neither unix nor tcp")),
    };
    let certificate = match certificate {
        "" => None,
        text => Some(BASE64.decode(text).map_err(|_| bad("the certificate is not base64"))?),
    };
    Ok(Handshake { version, address, certificate })
}

fn shortened(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_real_plugins() {
        let h = parse("1|5|unix|/tmp/plugin1|grpc|AQID\n").unwrap();
        assert_eq!(h.version, Version::V5);
        assert_eq!(h.address, Address::Unix("/tmp/plugin1".into()));
        assert_eq!(h.certificate, Some(vec![1, 2, 3]));
        let h = parse("1|6|tcp|127.0.0.1:1234|grpc|AQ==|true").unwrap();
        assert_eq!(h.address, Address::Tcp("127.0.0.1:1234".into()));
        assert_eq!(h.certificate, Some(vec![1]));
        assert_eq!(parse("1|6|tcp|127.0.0.1:1234|grpc|AQ").unwrap().certificate, Some(vec![1]));
        assert_eq!(parse("1|6|unix|/s|grpc|").unwrap().certificate, None);
        assert_eq!(parse("1|6|unix|/s|grpc").unwrap().certificate, None);
    }

    #[test]
    fn what_is_no_handshake() {
        for line in [
            "",
            "hello",
            "1|6|unix",
            "2|6|unix|/s|grpc|",
            "1|x|unix|/s|grpc|",
            "1|6|pipe|/s|grpc|",
            "1|6|unix|/s|netrpc|",
            "1|6|unix|/s||",
            "1|6|unix|/s|grpc|?",
        ] {
            assert!(matches!(parse(line), Err(StartFailure::BadHandshake { .. })), "{line}");
        }
        assert!(matches!(
            parse("1|4|unix|/s|grpc|"),
            Err(StartFailure::UnsupportedProtocol { version }) if version == "4"
        ));
    }
}
