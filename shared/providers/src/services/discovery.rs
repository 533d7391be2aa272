use super::{
    Credentials, CredentialsHelper, DiscoveryError, HelperError, HostName, Token, Unauthorized,
};
use crate::https::Https;
use http::StatusCode;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use url::Url;

/// Where a host says what it offers.
const DOCUMENT: &str = "/.well-known/terraform.json";
/// Bytes that such a document may have.
const DOCUMENT_LIMIT: u64 = 1 << 20;
/// How long to wait before a host that failed is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// The services of all hosts, each host asked once.
pub struct Services {
    https: Arc<dyn Https>,
    credentials: Credentials,
    helper: Option<CredentialsHelper>,
    /// What the helper has said.
    helped: Mutex<HashMap<HostName, Option<Token>>>,
    fixed: BTreeMap<HostName, Arc<Offered>>,
    discovered: Mutex<HashMap<HostName, Arc<Offered>>>,
    pause: Duration,
}

/// What a host offers: services with their versions, and where.
#[derive(Debug)]
struct Offered {
    /// Where the document came from; relative addresses start there.
    from: Url,
    services: BTreeMap<String, Value>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}

impl Services {
    /// Services that are asked for through `https`, with these credentials.
    pub fn new(https: Arc<dyn Https>, credentials: Credentials) -> Services {
        Services {
            https,
            credentials,
            helper: None,
            helped: Mutex::default(),
            fixed: BTreeMap::new(),
            discovered: Mutex::default(),
            pause: PAUSE,
        }
    }

    /// Services of a host that is never asked for its document, by name and version: `host` blocks of the CLI configuration.
    ///
    /// # Errors
    /// The host, where it cannot be part of an address.
    pub fn with_host(
        mut self,
        host: HostName,
        services: BTreeMap<String, String>,
    ) -> Result<Services, HostName> {
        let Some(from) = document(&host) else { return Err(host) };
        let services = services.into_iter().map(|(id, url)| (id, Value::String(url))).collect();
        self.fixed.insert(host, Arc::new(Offered { from, services }));
        Ok(self)
    }

    /// Asks this program for tokens of hosts whose credentials are not known.
    #[must_use]
    pub fn with_helper(self, helper: CredentialsHelper) -> Services {
        Services { helper: Some(helper), ..self }
    }

    /// Waits this long before a host that failed is asked again.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Services {
        Services { pause, ..self }
    }

    /// The way to hosts.
    pub fn https(&self) -> &Arc<dyn Https> {
        &self.https
    }
    /// The token for a host: one that is known, or else what the helper says, once for each host. A helper that is not installed
    /// knows none, as Terraform has it.
    ///
    /// # Errors
    /// Where the helper cannot say.
    pub async fn token(&self, host: &HostName) -> Result<Option<Token>, HelperError> {
        if let Some(token) = self.credentials.token(host) {
            return Ok(Some(token.clone()));
        }
        let Some(helper) = self.helper.as_ref().filter(|helper| helper.program().is_ok()) else {
            return Ok(None);
        };
        // Held while the helper is asked, so that nobody asks it twice: it may ask a person.
        let mut helped = self.helped.lock().await;
        if let Some(known) = helped.get(host) {
            return Ok(known.clone());
        }
        let token = helper.get(host).await?;
        helped.insert(host.clone(), token.clone());
        Ok(token)
    }

    /// What to say where a host refuses: it wants credentials, or other ones.
    pub async fn unauthorized(&self, host: &HostName) -> Unauthorized {
        let given = self.token(host).await.is_ok_and(|token| token.is_some());
        let helper = self.helper.as_ref().filter(|_| !given);
        let helper = helper.map(|helper| match helper.program() {
            Ok(_) => format!("the credentials helper {:?} has none for it", helper.name()),
            Err(missing) => missing.to_string(),
        });
        Unauthorized { host: host.clone(), given, helper }
    }
    pub(super) fn pause(&self) -> Duration {
        self.pause
    }

    /// Where a host has a service, such as `providers.v1`. The address ends with a slash, so that relative addresses go below it.
    ///
    /// # Errors
    /// Where the host cannot be asked, or does not offer it.
    pub async fn url(&self, host: &HostName, service: &'static str) -> Result<Url, DiscoveryError> {
        let offered = match self.fixed.get(host) {
            Some(fixed) => fixed.clone(),
            None => self.discover(host).await?,
        };
        let Some(given) = offered.services.get(service) else {
            let (name, _) = service.rsplit_once('.').unwrap_or((service, ""));
            let others: Vec<&str> = offered
                .services
                .keys()
                .filter(|id| id.rsplit_once('.').is_some_and(|(other, _)| other == name))
                .map(String::as_str)
                .collect();
            let host = host.clone();
            return Err(match others.is_empty() {
                true => DiscoveryError::NotOffered { host, service },
                false => DiscoveryError::OtherVersion { host, service, offered: others.join(", ") },
            });
        };
        let unusable = |detail: String| DiscoveryError::Unusable { host: host.clone(), detail };
        let text = given.as_str().ok_or_else(|| unusable(format!("{service} is not a string")))?;
        let mut url = offered.from.join(text).map_err(|e| unusable(format!("{service}: {e}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() {
            return Err(unusable(format!("{service} is not reached over HTTPS")));
        }
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(url)
    }

    async fn discover(&self, host: &HostName) -> Result<Arc<Offered>, DiscoveryError> {
        // Held while the host is asked, so that nobody asks it twice.
        let mut discovered = self.discovered.lock().await;
        if let Some(known) = discovered.get(host) {
            return Ok(known.clone());
        }
        let unusable = |detail: String| DiscoveryError::Unusable { host: host.clone(), detail };
        let url = document(host).ok_or_else(|| unusable("it has no address".into()))?;
        let answer = self.get(&url, Some(host), DOCUMENT_LIMIT).await;
        let answer =
            answer.map_err(|source| DiscoveryError::Unreachable { host: host.clone(), source })?;
        let services = match answer.status {
            // A host without the document offers nothing.
            StatusCode::NOT_FOUND => BTreeMap::new(),
            StatusCode::OK if !answer.is_json() => {
                return Err(unusable("it is not of the content type application/json".into()));
            }
            StatusCode::OK => {
                serde_json::from_slice(&answer.body).map_err(|e| unusable(e.to_string()))?
            }
            status => return Err(DiscoveryError::Refused { host: host.clone(), status }),
        };
        let offered = Arc::new(Offered { from: answer.url, services });
        discovered.insert(host.clone(), offered.clone());
        Ok(offered)
    }
}

fn document(host: &HostName) -> Option<Url> {
    format!("https://{host}{DOCUMENT}").parse().ok()
}
