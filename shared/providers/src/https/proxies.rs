use http::{HeaderValue, Uri};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use url::Url;

/// What leads to hosts: none, or the proxies that an environment names.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    https: Option<Named>,
    http: Option<Named>,
    not: Arc<[Exception]>,
}

/// A proxy, or why it cannot be used.
type Named = Result<Proxy, Arc<str>>;

/// A proxy for HTTP.
#[derive(Clone)]
pub(super) struct Proxy {
    /// Where it is: scheme, host and port.
    pub(super) address: Uri,
    /// What proves to it who asks.
    pub(super) authorization: Option<HeaderValue>,
}

/// Hosts that no proxy leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Exception {
    All,
    Network {
        address: IpAddr,
        prefix: u32,
    },
    Address {
        address: IpAddr,
        port: Option<u16>,
    },
    /// A domain, with a dot first: all hosts below it and, where `itself`, the one of its name.
    Domain {
        suffix: String,
        itself: bool,
        port: Option<u16>,
    },
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)
    }
}

impl Proxies {
    /// The proxies that variables name: `HTTPS_PROXY` for addresses that begin with `https:`, `HTTP_PROXY` for those with
    /// `http:`, and `NO_PROXY` for hosts that are reached without; or the same in small letters. This machine is always reached
    /// without. What names no proxy is an error once it would be used.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Proxies {
        let set = |name: &str| {
            let value = variable(name).filter(|value| !value.is_empty());
            let small = || variable(&name.to_lowercase()).filter(|value| !value.is_empty());
            value.or_else(small)
        };
        let named = |name: &str| set(name).map(|text| proxy(name, text.trim()));
        let not = set("NO_PROXY").unwrap_or_default();
        let not = not.split(',').filter_map(|entry| exception(&entry.trim().to_lowercase()));
        Proxies { https: named("HTTPS_PROXY"), http: named("HTTP_PROXY"), not: not.collect() }
    }

    /// The proxy that leads to an address.
    ///
    /// # Errors
    /// Where what is named cannot be used as one.
    pub(super) fn of(&self, address: &Uri) -> Result<Option<&Proxy>, &str> {
        let (named, usual) = match address.scheme_str() {
            Some("https") => (&self.https, 443),
            _ => (&self.http, 80),
        };
        let (Some(named), Some(host)) = (named, address.host()) else { return Ok(None) };
        let port = address.port_u16().unwrap_or(usual);
        if self.excepts(&host.to_lowercase(), port) {
            return Ok(None);
        }
        named.as_ref().map(Some).map_err(|why| &**why)
    }

    fn excepts(&self, host: &str, port: u16) -> bool {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let address: Option<IpAddr> = bare.parse().ok();
        let here = bare == "localhost" || address.is_some_and(|address| address.is_loopback());
        let at = |wanted: Option<u16>| wanted.is_none_or(|wanted| wanted == port);
        here || self.not.iter().any(|exception| match exception {
            Exception::All => true,
            Exception::Network { address: network, prefix } => {
                address.is_some_and(|address| is_within(address, *network, *prefix))
            }
            Exception::Address { address: other, port } => address == Some(*other) && at(*port),
            Exception::Domain { suffix, itself, port } => {
                let below = bare.ends_with(suffix) || (*itself && bare == &suffix[1..]);
                address.is_none() && below && at(*port)
            }
        })
    }
}

fn is_within(address: IpAddr, network: IpAddr, prefix: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let differs = address.to_bits() ^ network.to_bits();
            differs.checked_shr(32 - prefix).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let differs = address.to_bits() ^ network.to_bits();
            differs.checked_shr(128 - prefix).unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// An entry of `NO_PROXY`, in small letters; `None` where it names nothing.
fn exception(entry: &str) -> Option<Exception> {
    if entry == "*" {
        return Some(Exception::All);
    }
    if let Some((address, prefix)) = entry.split_once('/') {
        let (address, prefix) = (address.parse::<IpAddr>().ok()?, prefix.parse::<u32>().ok()?);
        let longest = if address.is_ipv4() { 32 } else { 128 };
        return (prefix <= longest).then_some(Exception::Network { address, prefix });
    }
    let bare = |host: &str| {
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        inner.unwrap_or(host).parse::<IpAddr>().ok()
    };
    if let Some(address) = bare(entry) {
        return Some(Exception::Address { address, port: None });
    }
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (entry, None),
    };
    if let Some(address) = bare(host) {
        return Some(Exception::Address { address, port });
    }
    let domain = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
    match domain.strip_prefix('.') {
        None if domain.is_empty() => None,
        None => Some(Exception::Domain { suffix: format!(".{domain}"), itself: true, port }),
        Some(_) => Some(Exception::Domain { suffix: domain.to_owned(), itself: false, port }),
    }
}

/// The proxy at an address; without a scheme it speaks HTTP.
fn proxy(variable: &str, text: &str) -> Named {
    let refused = |why: &str| {
        Arc::from(format!(
            "the environment variable {variable} names no proxy that can be used: {why}; name one as in http://proxy.example.com:3128, or unset it"
        ))
    };
    let with_scheme = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let url: Url = with_scheme.parse().map_err(|_| refused("it is no address"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused(&format!("proxies that speak {} are not supported", url.scheme())));
    }
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(refused("it names no host"));
    };
    let address = format!("{}://{host}:{port}/", url.scheme());
    let address: Uri = address.parse().map_err(|_| refused("it is no address"))?;
    Ok(Proxy { address, authorization: super::basic(&url) })
}

#[cfg(test)]
mod tests {
    use super::Proxies;

    fn proxies(https: &str, not: &str) -> Proxies {
        Proxies::of_environment(|name| match name {
            "https_proxy" => Some(https.to_owned()),
            "HTTP_PROXY" => Some("plain.example".to_owned()),
            "NO_PROXY" => Some(not.to_owned()),
            _ => None,
        })
    }

    fn leads(proxies: &Proxies, address: &str) -> String {
        match proxies.of(&address.parse().unwrap()) {
            Ok(Some(proxy)) => proxy.address.to_string(),
            Ok(None) => "nothing".to_owned(),
            Err(why) => why.to_owned(),
        }
    }

    #[test]
    fn each_scheme_has_its_own() {
        let proxies = proxies("https://me:p%40ss@proxy.example", "");
        assert_eq!(leads(&proxies, "https://a.example/"), "https://proxy.example:443/");
        assert_eq!(leads(&proxies, "http://a.example/"), "http://plain.example:80/");
        let proxy = proxies.of(&"https://a.example/".parse().unwrap()).unwrap().unwrap();
        assert_eq!(proxy.authorization.as_ref().unwrap(), "Basic bWU6cEBzcw==");
        assert!(!format!("{proxies:?}").contains("ss"));
        assert_eq!(leads(&Proxies::default(), "https://a.example/"), "nothing");
    }

    #[test]
    fn this_machine_is_reached_without() {
        let proxies = proxies("proxy:1", "");
        for here in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "LOCALHOST:8443"] {
            assert_eq!(leads(&proxies, &format!("https://{here}/")), "nothing", "{here}");
        }
    }

    #[test]
    fn hosts_that_are_reached_without() {
        for (not, host, without) in [
            ("*", "a.example", true),
            ("a.example", "a.example", true),
            ("A.example", "b.A.EXAMPLE", true),
            ("a.example", "ba.example", false),
            (".a.example", "a.example", false),
            (".a.example", "b.a.example", true),
            ("*.a.example", "b.a.example", true),
            ("*.a.example", "a.example", false),
            ("a.example:443", "a.example", true),
            ("a.example:8443", "a.example", false),
            ("a.example:8443", "a.example:8443", true),
            ("b.example, ,a.example ", "a.example", true),
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("10.1.2.3/32", "10.1.2.4", false),
            ("10.1.2.3", "10.1.2.3:8443", true),
            ("10.1.2.3:443", "10.1.2.3:8443", false),
            ("fd00::/8", "[fd12::1]", true),
            ("[fd12::1]:443", "[fd12::1]", true),
            ("fd12::1", "[fd12::2]", false),
            ("10.0.0.0/33", "10.0.0.1", false),
            ("2.3", "10.1.2.3", false),
            (":443", "a.example", false),
        ] {
            let expected = if without { "nothing" } else { "http://proxy:1/" };
            assert_eq!(
                leads(&proxies("proxy:1", not), &format!("https://{host}/")),
                expected,
                "{not} {host}"
            );
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name() {
        for (text, words) in [
            ("socks5://proxy:1080", "proxies that speak socks5 are not supported"),
            ("http://", "it is no address"),
            ("http://me:canary@pro xy", "it is no address"),
        ] {
            let said = leads(&proxies(text, ""), "https://a.example/");
            assert!(said.contains("HTTPS_PROXY") && said.contains(words), "{said}");
            assert!(!said.contains("canary"), "{said}");
            assert_eq!(leads(&proxies(text, "a.example"), "https://a.example/"), "nothing");
        }
    }
}
