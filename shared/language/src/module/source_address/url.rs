//! As much of URLs as tells one from a short form, with the escapes that short forms are written out with.

/// Whether a text is a URL with a scheme.
pub(super) fn is_url(text: &str) -> bool {
    if text.chars().any(|c| c.is_ascii_control()) {
        return false;
    }
    let text = text.split('#').next().unwrap_or_default();
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if !is_scheme {
        return false;
    }
    let address = rest.split('?').next().unwrap_or_default();
    let Some(hierarchical) = address.strip_prefix("//") else {
        // What stands behind a scheme without a slash is opaque.
        return !address.starts_with('/') || valid_escapes(address);
    };
    let (authority, path) = match hierarchical.find('/') {
        Some(at) => hierarchical.split_at(at),
        None => (hierarchical, ""),
    };
    valid_authority(authority) && valid_escapes(path)
}

fn valid_authority(authority: &str) -> bool {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = match host.strip_prefix('[') {
        Some(address) => match address.split_once(']') {
            Some((_, port)) => port,
            None => return false,
        },
        None => host.find(':').map_or("", |at| &host[at..]),
    };
    let valid_port = match port.strip_prefix(':') {
        Some(number) => number.bytes().all(|b| b.is_ascii_digit()),
        None => port.is_empty(),
    };
    valid_port && !host.contains([' ', '<', '>', '"']) && valid_escapes(authority)
}

/// Whether every `%` begins an escape.
fn valid_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

/// A path as URLs have it.
pub(super) fn escape_path(path: &str) -> String {
    escape(path, |byte| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte))
}

/// A query with its parameters in the order of their names, escaped anew.
pub(super) fn sorted_query(query: &str) -> String {
    let mut parameters: Vec<(String, String)> = query
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            (unescape(name), unescape(value))
        })
        .collect();
    parameters.sort_by(|(a, _), (b, _)| a.cmp(b));
    let escaped = |text: &str| {
        let plus = escape(text, |byte| byte.is_ascii_alphanumeric() || b"-_.~ ".contains(&byte));
        plus.replace(' ', "+")
    };
    let written: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{}={}", escaped(name), escaped(value)))
        .collect();
    written.join("&")
}

fn escape(text: &str, stays: impl Fn(u8) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match stays(byte) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'%').then(|| after.get(..2)).flatten();
        let value = escape
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (value, first) {
            (Some(value), _) => {
                bytes.push(value);
                rest = &after[2..];
                continue;
            }
            (None, b'+') => bytes.push(b' '),
            (None, byte) => bytes.push(*byte),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
