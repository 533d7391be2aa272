//! How keys become file names, and back.
//!
//! Every segment but the last is a folder, the last a file with a suffix that no folder's name has, so
//! that `a` and `a/b` can both exist. The bytes `a-z 0-9 . - _ ~` stand for themselves, all others are
//! `%hh`: names stay distinct where a file system folds case or normalises, and a name that starts with
//! a dot or holds a path separator is never made.

use std::path::{Path, PathBuf};

use crate::key::segment_fault;
use crate::{Key, KeyFault, StoreError};

/// The longest file name that the file systems in use hold, in bytes.
const MAX_FILE_NAME: usize = 255;

/// The kind of body in a tree, which its files' suffix tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Record,
    Artifact,
}

impl Kind {
    /// The folder below the root that holds all of this kind.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Record => "records",
            Self::Artifact => "artifacts",
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Record => ".record",
            Self::Artifact => ".artifact",
        }
    }
}

/// What an entry of a folder stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A segment with others below it.
    Folder(String),
    /// A key's last segment.
    File(String),
}

/// The path of a key's file, relative to the folder of its kind.
pub(super) fn path_of(key: &Key, kind: Kind) -> Result<PathBuf, StoreError> {
    let mut path = PathBuf::new();
    let mut segments = key.segments().peekable();
    while let Some(segment) = segments.next() {
        let name = match segments.peek() {
            Some(_) => folder_name(segment, kind),
            None => file_name(segment, kind),
        };
        if name.len() > MAX_FILE_NAME {
            let fault = KeyFault::SegmentTooLong {
                segment: segment.to_owned(),
                length: name.len(),
                limit: MAX_FILE_NAME,
            };
            return Err(StoreError::InvalidKey { key: key.to_string(), fault });
        }
        path.push(name);
    }
    Ok(path)
}

/// The one name for a whole key, slashes and all, within a single folder.
pub(super) fn flat_name(key: &Key) -> Result<String, StoreError> {
    let name = encode(key.as_str());
    if name.len() > MAX_FILE_NAME {
        let fault = KeyFault::SegmentTooLong {
            segment: key.to_string(),
            length: name.len(),
            limit: MAX_FILE_NAME,
        };
        return Err(StoreError::InvalidKey { key: key.to_string(), fault });
    }
    Ok(name)
}

/// Where the keys with a prefix are: the folder of its whole segments, that folder as the start of a key,
/// and the text that names in it start with. `None` when no key starts with the prefix.
pub(super) fn folder_of(prefix: &str, kind: Kind) -> Option<(PathBuf, &str, &str)> {
    let (whole, rest) = match prefix.rfind('/') {
        Some(slash) => prefix.split_at(slash + 1),
        None => ("", prefix),
    };
    let mut path = PathBuf::new();
    for segment in whole.split_terminator('/') {
        if segment_fault(segment).is_some() {
            return None;
        }
        path.push(folder_name(segment, kind));
    }
    Some((path, whole, rest))
}

/// What an entry stands for; `None` for names that this store never makes, which other programs leave.
pub(super) fn parse(name: &Path, is_folder: bool, kind: Kind) -> Option<Name> {
    let name = name.to_str()?;
    let stem = if is_folder { name } else { name.strip_suffix(kind.suffix())? };
    let segment = decode(stem)?;
    if segment_fault(&segment).is_some() || segment.contains('/') {
        return None;
    }
    // Another spelling of a name is not the file that a read of its key would open.
    let canonical = if is_folder { folder_name(&segment, kind) } else { file_name(&segment, kind) };
    if canonical != name {
        return None;
    }
    Some(if is_folder { Name::Folder(segment) } else { Name::File(segment) })
}

fn file_name(segment: &str, kind: Kind) -> String {
    encode(segment) + kind.suffix()
}

fn folder_name(segment: &str, kind: Kind) -> String {
    let name = encode(segment);
    match name.strip_suffix(kind.suffix()) {
        Some(stem) => format!("{stem}%2e{}", kind.suffix().trim_start_matches('.')),
        None => name,
    }
}

fn encode(segment: &str) -> String {
    let mut name = String::with_capacity(segment.len() + 8);
    let last = segment.len().saturating_sub(1);
    for (index, byte) in segment.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => name.push(char::from(byte)),
            b'.' if index != 0 && index != last => name.push('.'),
            _ => {
                name.push('%');
                name.push_str(&hex::encode([byte]));
            }
        }
    }
    name
}

fn decode(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((plain, escaped)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        bytes.extend(hex::decode(escaped.get(..2)?).ok()?);
        rest = escaped.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> Key {
        Key::new(text).unwrap()
    }

    fn path(text: &str) -> String {
        path_of(&key(text), Kind::Record).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn engine_keys_are_readable_paths() {
        assert_eq!(path("prod/r/i/aws_5finstance.web"), "prod/r/i/aws_5finstance.web.record");
    }

    #[test]
    fn a_folder_never_has_a_files_name() {
        assert_eq!(path("a"), "a.record");
        assert_eq!(path("a.record/b"), "a%2erecord/b.record");
        assert_eq!(path("a.record"), "a.record.record");
    }

    #[test]
    fn letters_that_fold_or_normalise_are_escaped() {
        assert_eq!(path("A"), "%41.record");
        assert_eq!(path("\u{e9}"), "%c3%a9.record");
        assert_eq!(path("e\u{301}"), "e%cc%81.record");
        assert_eq!(path(".hidden"), "%2ehidden.record");
        assert_eq!(path("..."), "%2e.%2e.record");
    }

    #[test]
    fn names_of_other_programs_are_not_keys() {
        for name in [".DS_Store", "a.record~", "A.record", "%61.record", "%zz.record", "%4.record"]
        {
            assert_eq!(parse(Path::new(name), false, Kind::Record), None, "{name}");
        }
        assert_eq!(parse(Path::new(".git"), true, Kind::Record), None);
    }

    #[test]
    fn what_a_file_name_cannot_hold_is_refused() {
        assert!(path_of(&key(&"a".repeat(248)), Kind::Record).is_ok());
        let refused = path_of(&key(&format!("x/{}", "a".repeat(249))), Kind::Record);
        assert!(matches!(
            refused,
            Err(StoreError::InvalidKey { fault: KeyFault::SegmentTooLong { length: 256, .. }, .. })
        ));
    }

    proptest! {
        #[test]
        fn names_read_back(text in "[a-c.%~_A/é\u{301}\\PC]{1,12}(\\.record|\\.artifact)?") {
            if let Ok(key) = Key::new(text) && let Ok(path) = path_of(&key, Kind::Record) {
                let mut names: Vec<_> = path.iter().collect();
                let file = names.pop().unwrap();
                let mut segments = Vec::new();
                for name in names {
                    match parse(Path::new(name), true, Kind::Record) {
                        Some(Name::Folder(segment)) => segments.push(segment),
                        other => panic!("{name:?} read as {other:?}"),
                    }
                }
                match parse(Path::new(file), false, Kind::Record) {
                    Some(Name::File(segment)) => segments.push(segment),
                    other => panic!("{file:?} read as {other:?}"),
                }
                prop_assert_eq!(segments.join("/"), key.as_str());
            }
        }
    }
}
