//! Packages over HTTP: archives, and pages that name another address.

use super::address::PackageUrl;
use super::error::PackageError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderValue, Request, StatusCode};
use providers::https::{AnsweredFrom, Https};

/// Bytes of a page that names an address.
const PAGE_LIMIT: u64 = 1 << 20;
const HEADER: &str = "x-terraform-get";

/// What is at a URL.
///
/// # Errors
/// Where no answer came, or a refusal.
pub(super) async fn get(
    https: &dyn Https,
    url: &PackageUrl,
    limit: u64,
) -> Result<Bytes, PackageError> {
    let mut content = Vec::new();
    let answer = https.download(request(url)?, limit, &mut content).await?;
    granted(answer.status())?;
    Ok(content.into())
}

/// The address that a server gives for a package that is no archive.
///
/// # Errors
/// Where it gives none.
pub(super) async fn named_address(
    https: &dyn Https,
    url: &PackageUrl,
) -> Result<String, PackageError> {
    let mut url = url.clone();
    url.add("terraform-get", "1");
    let answer = https.send(request(&url)?, PAGE_LIMIT).await?;
    granted(answer.status())?;
    let header = answer.headers().get(HEADER).and_then(|value| value.to_str().ok());
    let named = match header.filter(|value| !value.is_empty()) {
        Some(value) => value.to_owned(),
        None => {
            let page = String::from_utf8_lossy(answer.body());
            address_in_page(&page).ok_or(PackageError::NoSource)?
        }
    };
    if !(named.starts_with('/') || named.starts_with("./") || named.starts_with("../")) {
        return Ok(named);
    }
    let from = answer.extensions().get::<AnsweredFrom>().map(|from| from.0.clone());
    let from = from.or_else(|| url.without_user().parse().ok());
    let absolute = from.and_then(|from| from.join(&named).ok());
    Ok(absolute.ok_or(PackageError::NoSource)?.to_string())
}

/// A request, with the user and password of the address where it has them.
fn request(url: &PackageUrl) -> Result<Request<Bytes>, PackageError> {
    let invalid = || PackageError::InvalidUrl { url: url.to_string() };
    let mut request = Request::get(url.without_user())
        .header(USER_AGENT, concat!("Plumbline/", env!("CARGO_PKG_VERSION")));
    if let Some((user, password)) = url.credentials() {
        let text = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        let mut value = HeaderValue::from_str(&text).map_err(|_| invalid())?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    request.body(Bytes::new()).map_err(|_| invalid())
}

fn granted(status: StatusCode) -> Result<(), PackageError> {
    match status.is_success() {
        true => Ok(()),
        false => Err(PackageError::Status(status)),
    }
}

/// `<meta name="terraform-get" content="…">` in the head of a page.
fn address_in_page(page: &str) -> Option<String> {
    let mut rest = page;
    loop {
        let (_, tag) = rest.split_once('<')?;
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
            continue;
        }
        let (name, after) =
            tag.split_at(tag.find(|c: char| c.is_whitespace() || "/>".contains(c))?);
        let ends_head = tag.starts_with("/head") || tag.starts_with("/HEAD");
        if name.eq_ignore_ascii_case("body") || ends_head {
            return None;
        }
        let (attributes, after) = attributes(after)?;
        rest = after;
        let value = |wanted: &str| {
            let found = attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.as_str())
        };
        if name.eq_ignore_ascii_case("meta")
            && value("name") == Some("terraform-get")
            && let Some(content) = value("content").filter(|content| !content.is_empty())
        {
            return Some(content.to_owned());
        }
    }
}

/// A tag's attributes, and what stands behind the tag.
fn attributes(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if let Some(after) = rest.strip_prefix('>') {
            return Some((found, after));
        }
        let end = rest.find(|c: char| c.is_whitespace() || "=/>".contains(c))?;
        let (name, after) = rest.split_at(end);
        let Some(value) = after.trim_start().strip_prefix('=') else {
            if end == 0 {
                return None;
            }
            found.push((name.to_owned(), String::new()));
            rest = after;
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split_once(quote)?,
            _ => value.split_at(value.find(|c: char| c.is_whitespace() || c == '>')?),
        };
        let value = value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
        found.push((name.to_owned(), value.replace("&#38;", "&").replace("&amp;", "&")));
        rest = after;
    }
}
