//! Keys of an estate's records.
//!
//! An address becomes one segment of a key: the bytes `a-z`, `0-9`, `.` and `-` stay, every other byte
//! is `_hh` in lower-case hexadecimal. That is reversible, and two addresses stay two keys in stores that fold case or
//! normalise Unicode. What would be longer than [`MAX_SEGMENT`] bytes is cut and ends in `~` and a digest; its body
//! says which address it is.

use crate::identifiers::{PlanId, RunId};
use records::{Key, StoreError};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use values::address::ResourceInstance;

/// The longest segment that is spelled out.
pub const MAX_SEGMENT: usize = 200;
/// How much of a longer one is kept before its digest.
const KEPT: usize = 120;

/// Encodes a text as one segment of a key.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() + text.len() / 4);
    // Where the last whole escape or byte ends that still fits into what a cut keeps.
    let mut boundary = 0;
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' => encoded.push(char::from(byte)),
            _ => {
                encoded.push('_');
                for nibble in [byte >> 4, byte & 15] {
                    encoded.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
                }
            }
        }
        if encoded.len() <= KEPT {
            boundary = encoded.len();
        }
    }
    if encoded.len() <= MAX_SEGMENT {
        return encoded;
    }
    encoded.truncate(boundary);
    encoded.push('~');
    encoded.push_str(&hex::encode(Sha256::digest(text)));
    encoded
}

/// What a segment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// The text that was encoded.
    Text(String),
    /// It was too long: only the body says what it was.
    Cut,
}

/// Reads what [`encode`] wrote; `None` where it wrote no such thing.
pub fn decode(segment: &str) -> Option<Decoded> {
    if let Some((start, digest)) = segment.split_once('~') {
        let hexadecimal =
            digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        return (hexadecimal && start.len() <= KEPT).then_some(Decoded::Cut);
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'_' => {
                let digit = |b: Option<u8>| char::from(b?).to_digit(16);
                u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?
            }
            b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' => byte,
            _ => return None,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    // Only the one spelling that `encode` has: `_61` is no `a`.
    (encode(&text) == segment).then_some(Decoded::Text(text))
}

/// The name of an estate.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EstateName(Arc<str>);

/// A text cannot name an estate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} cannot name an estate: {reason}. Choose a name such as \"production\" or \"team-network\""
)]
pub struct EstateNameError {
    /// The text.
    pub name: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl EstateName {
    /// Checks a name: one to a hundred bytes, no control characters, neither `.` nor `..`.
    ///
    /// # Errors
    /// With the rule that the name breaks.
    pub fn new(name: &str) -> Result<EstateName, EstateNameError> {
        let reason = match name {
            "" => "it is empty",
            "." | ".." => "it would name a folder",
            _ if name.len() > 100 => "it is longer than 100 bytes",
            _ if name.chars().any(char::is_control) => "it contains a control character",
            _ => return Ok(EstateName(name.into())),
        };
        Err(EstateNameError { name: name.into(), reason })
    }
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EstateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl fmt::Debug for EstateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Where the records of one estate are.
#[derive(Clone, Debug)]
pub struct EstateKeys {
    root: String,
}

/// What a key of an estate is for. Addresses and names that were cut are in the body only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A resource instance.
    Instance,
    /// A root output.
    Output,
    /// What conditions came to.
    Checks,
    /// A result that could not be recorded in its place.
    Stray,
}

impl EstateKeys {
    /// Keys below `prefix`, which may be empty and may have several segments.
    ///
    /// # Errors
    /// Where the prefix cannot begin a key.
    pub fn new(prefix: &str, estate: &EstateName) -> Result<EstateKeys, StoreError> {
        let prefix = prefix.trim_end_matches('/');
        let name = encode(estate.as_str());
        let root = match prefix {
            "" => Key::new(name)?,
            _ => Key::new(prefix)?.join(&name)?,
        };
        Ok(EstateKeys { root: root.as_str().to_owned() })
    }
    /// Lineage, serial, transactions under way.
    ///
    /// # Errors
    /// Where the prefix is too long for a store, as for all keys.
    pub fn estate(&self) -> Result<Key, StoreError> {
        Key::new(format!("{}/estate", self.root))
    }
    /// One resource instance.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn instance(&self, address: &ResourceInstance) -> Result<Key, StoreError> {
        Key::new(format!("{}/r/i/{}", self.root, encode(&address.to_string())))
    }
    /// One root output.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn output(&self, name: &str) -> Result<Key, StoreError> {
        Key::new(format!("{}/r/o/{}", self.root, encode(name)))
    }
    /// What conditions came to in the last apply.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn checks(&self) -> Result<Key, StoreError> {
        Key::new(format!("{}/r/c/results", self.root))
    }
    /// A result of a run that could not be recorded in its place.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn stray(&self, address: &ResourceInstance, run: &RunId) -> Result<Key, StoreError> {
        let (address, run) = (encode(&address.to_string()), encode(run.as_str()));
        Key::new(format!("{}/r/s/{address}/{run}", self.root))
    }
    /// The transaction of a plan.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn transaction(&self, plan: &PlanId) -> Result<Key, StoreError> {
        Key::new(format!("{}/t/{}", self.root, encode(plan.as_str())))
    }
    /// What an attempt of a run did.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn journal(&self, run: &RunId, attempt: u32) -> Result<Key, StoreError> {
        Key::new(format!("{}/j/{}/{attempt}", self.root, encode(run.as_str())))
    }
    /// That a workspace is one of this estate's.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn workspace(&self, name: &str) -> Result<Key, StoreError> {
        Key::new(format!("{}/w/{}", self.root, encode(name)))
    }
    /// What the keys of workspaces begin with.
    pub fn workspaces(&self) -> String {
        format!("{}/w/", self.root)
    }
    /// All bodies at once, beside the store: a cache.
    ///
    /// # Errors
    /// As [`EstateKeys::estate`].
    pub fn snapshot(&self) -> Result<Key, StoreError> {
        Key::new(format!("{}/snapshot", self.root))
    }
    /// What the keys of instances, outputs, results of conditions and strays begin with.
    pub fn records(&self) -> String {
        format!("{}/r/", self.root)
    }
    /// What the keys of all root outputs begin with.
    pub fn outputs(&self) -> String {
        format!("{}/r/o/", self.root)
    }
    /// What all keys of the estate begin with.
    pub fn all(&self) -> String {
        format!("{}/", self.root)
    }
    /// The key of another estate in this one's place.
    ///
    /// # Errors
    /// Where the key becomes too long.
    pub(crate) fn relocate(&self, from: &EstateKeys, key: &Key) -> Result<Key, StoreError> {
        let rest = key.as_str().strip_prefix(&from.root).unwrap_or_default();
        Key::new(format!("{}{rest}", self.root))
    }
    /// What the keys of an instance's strays begin with.
    pub fn strays(&self, address: &ResourceInstance) -> String {
        format!("{}/r/s/{}/", self.root, encode(&address.to_string()))
    }
    /// What the keys of journals begin with.
    pub fn journals(&self) -> String {
        format!("{}/j/", self.root)
    }
    /// What the keys of transactions begin with.
    pub fn transactions(&self) -> String {
        format!("{}/t/", self.root)
    }
    /// What a key below [`EstateKeys::records`] is for; `None` for a key that no version of the layout has.
    pub fn kind(&self, key: &Key) -> Option<KeyKind> {
        let rest = key.as_str().strip_prefix(&self.root)?.strip_prefix("/r/")?;
        let (kind, name) = rest.split_once('/')?;
        match (kind, name.contains('/')) {
            ("i", false) => Some(KeyKind::Instance),
            ("o", false) => Some(KeyKind::Output),
            ("c", false) if name == "results" => Some(KeyKind::Checks),
            ("s", true) => Some(KeyKind::Stray),
            _ => None,
        }
    }
}
