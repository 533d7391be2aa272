//! Versions of Secrets: what a conditional write names, without reading anything again.

use crate::Version;

/// What a version says of the Secret that it was read from.
///
/// The `resourceVersion` alone would do while etcd counts on. The `uid` beside it keeps a version from coming
/// back where etcd was restored from a backup and counts again; the parts are there to be removed later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretVersion {
    pub(super) resource_version: String,
    pub(super) uid: String,
    pub(super) parts: Option<PartsOf>,
}

/// The parts of a body that is spread over several Secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartsOf {
    pub(super) digest: String,
    pub(super) count: usize,
}

impl SecretVersion {
    /// `RESOURCE_VERSION@UID`, and `+COUNT.DIGEST` after it where there are parts.
    pub(super) fn to_version(&self) -> Version {
        let Self { resource_version, uid, parts } = self;
        Version::new(match parts {
            None => format!("{resource_version}@{uid}"),
            Some(PartsOf { digest, count }) => format!("{resource_version}@{uid}+{count}.{digest}"),
        })
    }

    /// `None` where the version is not one of this store.
    pub(super) fn parse(version: &Version) -> Option<Self> {
        let (resource_version, rest) = version.as_str().split_once('@')?;
        let (uid, parts) = match rest.split_once('+') {
            None => (rest, None),
            Some((uid, parts)) => {
                let (count, digest) = parts.split_once('.')?;
                (uid, Some(PartsOf { digest: digest.to_owned(), count: count.parse().ok()? }))
            }
        };
        let (resource_version, uid) = (resource_version.to_owned(), uid.to_owned());
        (!resource_version.is_empty() && !uid.is_empty()).then_some(Self {
            resource_version,
            uid,
            parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_back() {
        let plain = SecretVersion {
            resource_version: "123".to_owned(),
            uid: "8d1f-4a".to_owned(),
            parts: None,
        };
        let parts = Some(PartsOf { digest: "ab12".to_owned(), count: 3 });
        for version in [plain.clone(), SecretVersion { parts, ..plain }] {
            assert_eq!(SecretVersion::parse(&version.to_version()), Some(version));
        }
        for other in ["", "123", "@uid", "123@", "\"etag\""] {
            assert_eq!(SecretVersion::parse(&Version::new(other)), None, "{other}");
        }
    }
}
