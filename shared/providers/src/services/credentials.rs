use super::HostName;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What variables of the environment that carry a token begin with; the host follows.
const VARIABLE: &str = "TF_TOKEN_";

/// What proves to a host who asks. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Arc<str>);

/// The tokens of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials(BTreeMap<HostName, Token>);

impl Token {
    /// A token as its host gave it.
    pub fn new(text: impl Into<Arc<str>>) -> Token {
        Token(text.into())
    }
    /// The text, for the header of a request.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a token)")
    }
}

impl Credentials {
    /// The token for a host.
    pub fn token(&self, host: &HostName) -> Option<&Token> {
        self.0.get(host)
    }
    /// Sets the token for a host.
    pub fn insert(&mut self, host: HostName, token: Token) {
        self.0.insert(host, token);
    }
    /// Those of `other` too; where both know a host, those of `other` count.
    pub fn extend(&mut self, other: Credentials) {
        self.0.extend(other.0);
    }

    /// The tokens in an environment: `TF_TOKEN_example_com` for `example.com`, with two underscores for a dash. What names no
    /// host is passed over.
    pub fn of_environment<'v>(
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Credentials {
        let mut found = Credentials::default();
        for (name, value) in variables {
            let Some(host) = name.strip_prefix(VARIABLE) else { continue };
            let host = host.replace("__", "-").replace('_', ".");
            if let Ok(host) = host.parse() {
                found.insert(host, Token::new(value));
            }
        }
        found
    }
}
