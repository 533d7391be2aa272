//! Where a store's Secrets are, as a person would name the place.

use std::fmt;

/// A namespace of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address of the API server.
    pub server: String,
    /// The context of the kubeconfig by which the server is reached; none within the cluster.
    pub context: Option<String>,
    /// The namespace.
    pub namespace: String,
}

impl Place {
    /// The start of a command line that works on this namespace.
    #[must_use]
    pub fn kubectl(&self) -> String {
        format!("{} -n {}", self.kubectl_of_cluster(), self.namespace)
    }

    /// The start of a command line that works on this cluster.
    #[must_use]
    pub fn kubectl_of_cluster(&self) -> String {
        match &self.context {
            Some(context) => format!("kubectl --context {}", Self::word(context)),
            None => "kubectl".to_owned(),
        }
    }

    /// A word of a POSIX shell.
    pub(super) fn word(text: &str) -> String {
        match is_plain(text) {
            true => text.to_owned(),
            false => format!("'{}'", text.replace('\'', r"'\''")),
        }
    }
}

fn is_plain(word: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@".contains(&byte);
    !word.is_empty() && word.bytes().all(inside)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "namespace {} of {}", self.namespace, self.server)
    }
}
