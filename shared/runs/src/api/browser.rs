//! Requests that browsers send, and whether a page of another site has them do so.
//!
//! A browser adds a password that it remembers, or the cookie of what logs people in before an API, to every request, whichever
//! page has it sent. So a request that changes something has to come from a page of the same origin, which browsers say in
//! headers that no page can set. Programs do not say it, and need not: nobody has them send what they do not mean.

use super::{ApiError, ApiRequest, Route};

/// How a request proves who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authentication {
    /// Its sender put a token or a signature into it.
    #[default]
    Explicit,
    /// A browser adds it by itself: a password.
    Ambient,
}

/// What a body says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// JSON: what a page sends elsewhere only where that agrees beforehand, which this API does not.
    Json,
    /// What forms send.
    Form,
    /// Something else, or it does not say.
    Other,
}

/// Where the page is from that had a browser send a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    /// From here.
    Own,
    /// From elsewhere, or from no page.
    Other,
    /// Nothing says that there is one.
    Unknown,
}

impl ApiRequest {
    /// That no page of another site has a browser send it.
    pub(super) fn check_site(&self) -> Result<(), ApiError> {
        match (self.authentication, self.content(), self.site()) {
            (_, _, Site::Own) => Ok(()),
            (Authentication::Explicit, Content::Json, _) => Ok(()),
            (Authentication::Explicit, Content::Other, Site::Unknown) => Ok(()),
            _ => Err(ApiError::ForeignPage),
        }
    }

    /// Whether a form sent it.
    pub(super) fn is_form(&self) -> bool {
        self.content() == Content::Form
    }

    /// Whether a page is wanted.
    pub(super) fn wants_page(&self) -> bool {
        self.accepts("text/html")
    }

    /// Whether the page is for a browser, which sends what is on it and reads why something is refused. Programs that keep
    /// a page read that as JSON.
    pub(super) fn is_from_browser(&self) -> bool {
        self.wants_page() && !self.accepts("application/json")
    }

    /// The estate and the run of the page whose form sent this.
    pub(super) fn run_page(&self) -> Option<(String, String)> {
        let run = match Route::of(&self.method, &self.path).ok()? {
            Route::ApproveRun { run } | Route::RejectRun { run } => run,
            _ => return None,
        };
        let estate = self.is_form().then(|| self.fields().find(|(name, _)| name == "estate"));
        Some((estate.flatten()?.1, run))
    }

    /// The fields of a form.
    pub(super) fn fields(&self) -> impl Iterator<Item = (String, String)> + '_ {
        url::form_urlencoded::parse(&self.body).into_owned()
    }

    fn accepts(&self, kind: &str) -> bool {
        let accepted = self.header("accept").unwrap_or_default();
        accepted.split(',').any(|accepted| essence(accepted).eq_ignore_ascii_case(kind))
    }

    fn content(&self) -> Content {
        let kind = essence(self.header("content-type").unwrap_or_default()).to_ascii_lowercase();
        match kind.as_str() {
            "application/json" => Content::Json,
            "application/x-www-form-urlencoded" => Content::Form,
            _ => Content::Other,
        }
    }

    fn site(&self) -> Site {
        match (self.header("sec-fetch-site"), self.header("origin")) {
            (Some("same-origin"), _) => Site::Own,
            (Some(_), _) => Site::Other,
            (None, Some(origin)) if self.is_at(origin) => Site::Own,
            (None, Some(_)) => Site::Other,
            (None, None) => Site::Unknown,
        }
    }

    /// Whether it was sent to an origin. A page that came in the clear may be anybody's: it counts only where all does.
    fn is_at(&self, origin: &str) -> bool {
        let clear = self.address.as_ref().is_some_and(|address| address.starts_with("http://"));
        let host = match origin.strip_prefix("https://") {
            Some(host) => Some(host),
            None => origin.strip_prefix("http://").filter(|_| clear),
        };
        let asked = self.header("host").filter(|host| !host.is_empty());
        host.zip(asked).is_some_and(|(host, asked)| host.eq_ignore_ascii_case(asked))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// A kind of content without its parameters.
fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}
