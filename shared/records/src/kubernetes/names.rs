//! The names of Secrets, and the labels and annotations by which a record is known.

use sha2::{Digest, Sha256};

use super::Refusal;
use crate::Key;

/// The label that says whose object a Secret is, as `kubectl` users know it.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The value of [`MANAGED_BY`] on records.
pub const PLUMBLINE: &str = "plumbline";
/// The label that names a record's estate.
pub const ESTATE: &str = "plumbline.dev/estate";
/// The annotation that holds a record's key.
pub const KEY: &str = "plumbline.dev/key";
/// The annotation that says how many Secrets a body is spread over, where it is more than one.
pub const PARTS: &str = "plumbline.dev/parts";
/// The annotation with the SHA-256 of all parts together, in hex.
pub const DIGEST: &str = "plumbline.dev/digest";
/// The type of a record's Secret.
pub const RECORD_TYPE: &str = "plumbline.dev/record";
/// The type of a further part's Secret.
pub const PART_TYPE: &str = "plumbline.dev/part";

/// What the name of every Secret of a record starts with.
const NAME_PREFIX: &str = "plumbline-";
/// Hex digits of a SHA-256.
const DIGEST_LENGTH: usize = 64;
/// Hex digits of a body's digest in the names of its parts.
const PART_DIGEST_LENGTH: usize = 16;

/// The name of the Secret that holds a key: keys are longer, and of more characters, than names may be.
pub(super) fn secret_name(key: &Key) -> String {
    format!("{NAME_PREFIX}{}", hex::encode(Sha256::digest(key.as_str())))
}

/// The name of a body's further part. Parts of different bodies have different names, so that writing a body
/// never touches the parts of the one that is still current.
pub(super) fn part_name(record: &str, digest: &str, number: usize) -> String {
    let digest = digest.get(..PART_DIGEST_LENGTH).unwrap_or(digest);
    format!("{record}-{digest}-part-{number}")
}

/// What a Secret's name says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    Record,
    Part,
    Other,
}

/// Whether a name is one that records or their parts have.
pub(super) fn kind_of(name: &str) -> NameKind {
    let Some(rest) = name.strip_prefix(NAME_PREFIX) else { return NameKind::Other };
    let Some((digest, rest)) = rest.split_at_checked(DIGEST_LENGTH) else { return NameKind::Other };
    if !is_hexadecimal(digest) {
        return NameKind::Other;
    }
    if rest.is_empty() {
        return NameKind::Record;
    }
    let part = rest.strip_prefix('-').and_then(|rest| rest.split_once("-part-"));
    match part {
        Some((digest, number))
            if digest.len() == PART_DIGEST_LENGTH
                && is_hexadecimal(digest)
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            NameKind::Part
        }
        _ => NameKind::Other,
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name of an estate, as the value of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EstateLabel(String);

impl EstateLabel {
    /// # Errors
    /// [`Refusal::EstateNotALabel`] where the API server would refuse the value.
    pub(super) fn new(estate: &str) -> Result<Self, Refusal> {
        let ends = [estate.bytes().next(), estate.bytes().next_back()];
        let well_ended =
            ends.iter().all(|end| end.is_some_and(|byte| byte.is_ascii_alphanumeric()));
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        match well_ended && estate.len() <= 63 && estate.bytes().all(inside) {
            true => Ok(Self(estate.to_owned())),
            false => Err(Refusal::EstateNotALabel { estate: estate.to_owned() }),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a namespace, which becomes a part of addresses.
///
/// # Errors
/// [`Refusal::NamespaceName`] where no namespace can have it.
pub(super) fn check_namespace(name: &str) -> Result<(), Refusal> {
    let inside = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let sound = (1..=63).contains(&name.len())
        && name.bytes().all(inside)
        && !name.starts_with('-')
        && !name.ends_with('-');
    match sound {
        true => Ok(()),
        false => Err(Refusal::NamespaceName { namespace: name.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_records_from_parts_and_from_others() {
        let name = secret_name(&Key::new("prod/r/i/x").unwrap());
        assert_eq!(name.len(), 74);
        assert_eq!(kind_of(&name), NameKind::Record);
        let part = part_name(&name, &"0123456789abcdef".repeat(4), 2);
        assert_eq!(kind_of(&part), NameKind::Part, "{part}");
        let others =
            [format!("{name}-part-2"), format!("{name}x"), "plumbline-token".into(), "x".into()];
        for other in others {
            assert_eq!(kind_of(&other), NameKind::Other, "{other}");
        }
    }

    #[test]
    fn estates_are_label_values() {
        for estate in ["prod", "Team_a.prod-1", "a", &"a".repeat(63)] {
            assert!(EstateLabel::new(estate).is_ok(), "{estate}");
        }
        for estate in ["", "-a", "a-", "a/b", "a b", "caf\u{e9}", &"a".repeat(64)] {
            assert!(EstateLabel::new(estate).is_err(), "{estate}");
        }
    }

    #[test]
    fn a_namespace_cannot_lead_elsewhere() {
        assert!(check_namespace("team-a").is_ok());
        for name in ["", "a/b", "..", "A", "-a", "a-", "a?x=y"] {
            assert!(check_namespace(name).is_err(), "{name}");
        }
    }
}
