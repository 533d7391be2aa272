//! What is a key.

use records::{Key, KeyFault, MAX_KEY_LENGTH, StoreError, Version};

use crate::key;

fn fault(text: &str) -> KeyFault {
    match Key::new(text) {
        Err(StoreError::InvalidKey { key, fault }) => {
            assert_eq!(key, text);
            fault
        }
        other => panic!("{text:?} was {other:?}"),
    }
}

#[test]
fn what_no_store_could_keep_is_refused() {
    assert_eq!(fault(""), KeyFault::Empty);
    assert_eq!(fault("a\0b"), KeyFault::Nul);
    assert_eq!(fault("/a"), KeyFault::LeadingSlash);
    assert_eq!(fault("/"), KeyFault::LeadingSlash);
    for text in ["a//b", "a/", "a//"] {
        assert_eq!(fault(text), KeyFault::EmptySegment, "{text}");
    }
    for text in [".", "..", "a/../b", "a/.", "./a", "../a"] {
        assert_eq!(fault(text), KeyFault::DotSegment, "{text}");
    }
    let long = "k".repeat(MAX_KEY_LENGTH + 1);
    assert_eq!(fault(&long), KeyFault::TooLong { length: 1025, limit: 1024 });
}

#[test]
fn other_text_is_a_key() {
    for text in ["a", "...", "a..b", ".a", " ", "é", "a\nb", "a\\..\\b", "~", &"é".repeat(512)] {
        assert_eq!(key(text).as_str(), text);
    }
}

#[test]
fn joining_checks_the_whole() {
    assert_eq!(key("a").join("b/c").unwrap(), key("a/b/c"));
    assert!(key("a").join("").is_err());
    assert!(key("a").join("../b").is_err());
    assert!(key("a").join("/b").is_err());
}

#[test]
fn keys_order_by_bytes() {
    assert!(key("a") < key("a-b"));
    assert!(key("a-b") < key("a/b"));
    assert!(key("Z") < key("a"));
    assert!(key("z") < key("é"));
}

#[test]
fn conflicts_say_what_was_expected_and_found() {
    let conflict = StoreError::Conflict {
        key: key("r/i/a"),
        expected: Version::absent(),
        actual: Version::new("7f"),
    };
    assert!(conflict.is_conflict());
    assert!(!conflict.leaves_doubt());
    assert_eq!(
        conflict.to_string(),
        "r/i/a has changed: expected version absent, found 7f; nothing was written. Read it again \
         and decide anew"
    );
}

#[test]
fn keys_and_versions_are_stored_as_text_and_checked_when_read() {
    let stored = serde_json::to_string(&(key("r/i/é"), Version::new("7f"))).unwrap();
    assert_eq!(stored, "[\"r/i/é\",\"7f\"]");
    let read: (Key, Version) = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, (key("r/i/é"), Version::new("7f")));
    assert!(serde_json::from_str::<Key>("\"../secret\"").is_err());
}
