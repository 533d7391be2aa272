//! What a store must guarantee, as checks that run against any store.
//!
//! A store is sound when [`records`] or [`artifacts`] reports no violation for it. The checks know the
//! traits alone and write only below the key `conformance`, so that they also run against a remote store.
//! What takes a store's inside to check, such as killing its process or looking at its files, is tested
//! beside that store.

mod artifact_properties;
mod record_properties;

use std::fmt;

use thiserror::Error;

use crate::{Key, MAX_KEY_LENGTH, StoreError};

pub use artifact_properties::artifacts;
pub use record_properties::records;

/// How one property of a store came out.
#[derive(Debug)]
pub struct Finding {
    /// The property's name, such as `create_twice`.
    pub property: &'static str,
    /// What was violated, if anything was.
    pub outcome: Result<(), Violation>,
}

/// In what a store broke a property.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Violation {
    /// An operation that had to succeed failed.
    #[error("an operation failed that had to succeed")]
    Failed(#[from] StoreError),
    /// An operation had another effect than it had to.
    #[error("{0}")]
    Wrong(String),
}

/// How all properties came out.
#[derive(Debug, Default)]
pub struct Report {
    /// One finding for each property, in the order they were checked.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The findings that are violations.
    pub fn violations(&self) -> impl Iterator<Item = (&'static str, &Violation)> {
        self.findings
            .iter()
            .filter_map(|finding| finding.outcome.as_ref().err().map(|it| (finding.property, it)))
    }

    fn add(&mut self, property: &'static str, outcome: Result<(), Violation>) {
        self.findings.push(Finding { property, outcome });
    }
}

/// One line for each property, with the causes of violations.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            match &finding.outcome {
                Ok(()) => writeln!(f, "pass {}", finding.property)?,
                Err(violation) => {
                    write!(f, "FAIL {}: {violation}", finding.property)?;
                    let mut cause = std::error::Error::source(violation);
                    while let Some(error) = cause {
                        write!(f, ": {error}")?;
                        cause = error.source();
                    }
                    writeln!(f)?;
                }
            }
        }
        Ok(())
    }
}

/// The store under one check, and the keys that are the check's own.
struct Subject<S> {
    store: S,
    prefix: String,
}

impl<S> Subject<S> {
    fn new(store: S, property: &str) -> Self {
        Self { store, prefix: format!("conformance/{property}/") }
    }

    fn key(&self, rest: &str) -> Result<Key, StoreError> {
        Key::new(self.below(rest))
    }

    fn below(&self, rest: &str) -> String {
        format!("{}{rest}", self.prefix)
    }
}

macro_rules! require {
    ($condition:expr, $($what:tt)+) => {
        if !$condition {
            return Err($crate::conformance::Violation::Wrong(format!($($what)+)));
        }
    };
}
use require;

/// Keys that exercise a store's naming, below any prefix: order, prefixes of each other, Unicode, names that
/// file systems fold, normalise, reserve or hide.
const KEYS: [&str; 25] = [
    "a",
    "a/b",
    "a/b/c",
    "a.b",
    "a-b",
    "a0",
    "ab",
    "abc",
    "A",
    "estate/r/i/aws_5finstance.web",
    "estate/r/i/aws_5finstance.web-1",
    "a.record",
    "a.record/b",
    "a.artifact/b",
    "%41",
    "...",
    ".hidden",
    "ends.",
    "space and\ttab\nand line",
    "caf\u{e9}",
    "cafe\u{301}",
    "\u{1f980}/\u{4f60}\u{597d}",
    "con",
    "b:c*d?e\"f<g>h|i",
    "plus+and&amp;=%2B",
];

/// Keys with what some file systems take for a separator.
const KEYS_WITH_BACKSLASHES: [&str; 3] = ["back/slash", "back\\slash", "back\\\\"];

/// Texts that are no keys, whatever the store.
fn refused_keys() -> [String; 9] {
    let too_long = "k".repeat(MAX_KEY_LENGTH + 1);
    ["", "a\0b", "/a", "../a", "a/../b", "a/..", "./a", "a//b", &too_long].map(str::to_owned)
}

/// Texts that no key starts with.
const PREFIXES_OF_NOTHING: [&str; 6] = ["/", "//", "../", "./", "/../conformance", "zz\0"];

/// More than two pages of any store's list.
const MANY_KEYS: usize = 2_500;

/// What became of a task of many, where it has ended.
fn finished<T>(
    task: Option<Result<Result<T, StoreError>, tokio::task::JoinError>>,
) -> Result<Option<T>, Violation> {
    match task {
        None => Ok(None),
        Some(Ok(result)) => Ok(Some(result?)),
        Some(Err(failure)) => Err(Violation::Wrong(format!("a task ended early: {failure}"))),
    }
}

fn in_order(keys: impl IntoIterator<Item = Key>) -> Vec<Key> {
    let mut keys: Vec<_> = keys.into_iter().collect();
    keys.sort_by(|left, right| left.as_str().as_bytes().cmp(right.as_str().as_bytes()));
    keys
}

/// Bodies of the sizes and contents that stores treat differently.
fn bodies() -> [(&'static str, Vec<u8>); 5] {
    [
        ("empty", Vec::new()),
        ("one-byte", vec![b'x']),
        ("binary", (0..=u8::MAX).collect()),
        ("text", "{\"name\": \"caf\u{e9}\"}\r\n\n".into()),
        (
            "large",
            (0_u32..262_144)
                .flat_map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes())
                .collect(),
        ),
    ]
}
