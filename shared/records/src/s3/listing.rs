//! Pages of a list, and the keys in them.

use aws_sdk_s3::operation::list_objects_v2::ListObjectsV2Output;
use aws_sdk_s3::types::EncodingType;

use super::connection::S3Connection;
use super::objects::unquoted;
use super::probing;
use crate::key::segment_fault;
use crate::{Key, MAX_KEY_LENGTH, StoreError, Version};

/// One line of a list.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) key: Key,
    pub(super) version: Version,
    pub(super) size: u64,
}

/// Collects the pages of one list.
pub(super) struct Pages<'a> {
    connection: &'a S3Connection,
    token: Option<String>,
    listed: Vec<Listed>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(connection: &'a S3Connection) -> Self {
        Self { connection, token: None, listed: Vec::new() }
    }

    /// Adds a page; answers the token of the next.
    pub(super) fn add(&mut self, page: &ListObjectsV2Output) -> Result<Option<String>, StoreError> {
        let decodes = page.encoding_type() == Some(&EncodingType::Url);
        for object in page.contents() {
            let name = object.key().unwrap_or_default();
            let name = if decodes {
                decoded(name).ok_or_else(|| self.corrupt("a key in its list is no text"))?
            } else {
                name.to_owned()
            };
            let Some(text) = name.strip_prefix(self.connection.settings().prefix.as_str()) else {
                return Err(self.corrupt("its list has a key that does not start as was asked"));
            };
            // What no store writes, such as the empty objects that stand for folders elsewhere.
            let Ok(key) = Key::new(text) else { continue };
            if probing::is_probe(&key) {
                continue;
            }
            let etag = unquoted(object.e_tag().unwrap_or_default());
            if etag.is_empty() {
                return Err(self.corrupt("its list names no ETags, so that it tells no versions"));
            }
            let size = u64::try_from(object.size().unwrap_or_default()).unwrap_or_default();
            self.listed.push(Listed { key, version: Version::new(etag), size });
        }
        if page.is_truncated() != Some(true) {
            return Ok(None);
        }
        let next = page.next_continuation_token().map(str::to_owned);
        if next.is_none() || next == self.token {
            return Err(self.corrupt("its list ends in the middle"));
        }
        self.token.clone_from(&next);
        Ok(next)
    }

    /// All that was listed, in order and once.
    pub(super) fn finish(self) -> Vec<Listed> {
        let mut listed = self.listed;
        // S3 lists in this order; other servers may not.
        if !listed.is_sorted_by(|left, right| left.key < right.key) {
            listed.sort_by(|left, right| left.key.cmp(&right.key));
            listed.dedup_by(|later, earlier| later.key == earlier.key);
        }
        listed
    }

    fn corrupt(&self, problem: &str) -> StoreError {
        let problem = format!(
            "{problem}. The server, or what stands before it, changes its answers: use AWS, another server, or a \
             newer version of this one"
        );
        StoreError::Corrupt { location: self.connection.location(), problem }
    }
}

/// Whether any key starts with this text.
pub(super) fn may_begin_a_key(prefix: &str) -> bool {
    let mut segments = prefix.split('/');
    // The last segment may go on.
    let last = segments.next_back().unwrap_or_default();
    prefix.len() <= MAX_KEY_LENGTH
        && !last.contains('\0')
        && segments.all(|segment| segment_fault(segment).is_none())
}

/// The text that was encoded as the part of a URL, with `+` for spaces; `None` when it is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        match (first, others) {
            (b'%', [high, low, others @ ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let value = digit(*high)? * 16 + digit(*low)?;
                bytes.push(u8::try_from(value).ok()?);
                rest = others;
            }
            (b'%', _) => return None,
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded() {
        assert_eq!(decoded("a/b+c%2Bd%2f%C3%A9").as_deref(), Some("a/b c+d/\u{e9}"));
        for text in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn prefixes_that_begin_a_key() {
        for prefix in ["", "a", "a/", "a/b", ".", "..", ".h", "a/..", "a/.b/"] {
            assert!(may_begin_a_key(prefix), "{prefix:?}");
        }
        for prefix in ["/", "/a", "a//", "a//b", "./", "../", "a/../b", "a\0", "\0/"] {
            assert!(!may_begin_a_key(prefix), "{prefix:?}");
        }
    }
}
