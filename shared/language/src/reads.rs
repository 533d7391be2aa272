//! What an evaluation really looked at.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::reference::Subject;
use crate::source::Span;
use crate::syntax::is_identifier;

/// One object, or a part of it, that an evaluation looked at.
#[derive(Clone, Debug)]
pub struct Read {
    /// The object.
    pub subject: Subject,
    /// The part: attributes, and indexes as far as they were known. Empty for the whole. For a
    /// resource or module call it begins with the instance key, where one was used.
    pub path: Vec<ReadStep>,
    /// Where the reference stands.
    pub span: Span,
}

/// One step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReadStep {
    /// An attribute, or an element by its string key: the two are one operation where the value is
    /// an object.
    Name(Arc<str>),
    /// An element by its position.
    Index(u64),
}

/// The objects that an evaluation looked at, in the order in which it did.
///
/// Of a conditional the branch taken alone is kept (both, where the condition is unknown). What `try` and `can` attempted is kept, since the
/// failure of an attempt is a result too.
#[derive(Clone, Debug, Default)]
pub struct ReadLog {
    reads: Vec<Read>,
}

/// A place in a [`ReadLog`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadMark(usize);

/// A read that further steps may still narrow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRead(usize);

impl ReadLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// In the order of evaluation, with repetitions.
    pub fn iter(&self) -> std::slice::Iter<'_, Read> {
        self.reads.iter()
    }

    /// How many reads there were.
    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// Whether nothing was looked at.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// Each subject and path once, in the order of its first read.
    #[must_use]
    pub fn distinct(mut self) -> Self {
        let mut seen = HashSet::with_capacity(self.reads.len());
        self.reads.retain(|read| seen.insert((read.subject.clone(), read.path.clone())));
        self
    }

    /// Appends what another evaluation looked at.
    pub fn append(&mut self, other: ReadLog) {
        self.reads.extend(other.reads);
    }

    /// Appends one read.
    pub fn push(&mut self, read: Read) {
        self.reads.push(read);
    }

    pub(crate) fn open(&mut self, read: Read) -> OpenRead {
        self.reads.push(read);
        OpenRead(self.reads.len() - 1)
    }

    pub(crate) fn narrow(&mut self, open: OpenRead, step: ReadStep) {
        if let Some(read) = self.reads.get_mut(open.0) {
            read.path.push(step);
        }
    }

    pub(crate) fn mark(&self) -> ReadMark {
        ReadMark(self.reads.len())
    }

    /// Drops repetitions after a mark, once there are more than `limit` reads, and gives the next
    /// limit: twice of what is left, so that the work stays in proportion.
    pub(crate) fn distinct_since(&mut self, from: ReadMark, limit: usize) -> usize {
        if self.reads.len() <= from.0 + limit {
            return limit;
        }
        let mut seen = HashSet::new();
        let recent = self.reads.split_off(from.0);
        for read in recent {
            if seen.insert((read.subject.clone(), read.path.clone())) {
                self.reads.push(read);
            }
        }
        limit.max(2 * (self.reads.len() - from.0))
    }

    pub(crate) fn remove(&mut self, from: ReadMark, to: ReadMark) {
        let end = to.0.min(self.reads.len());
        if from.0 < end {
            self.reads.drain(from.0..end);
        }
    }
}

impl IntoIterator for ReadLog {
    type Item = Read;
    type IntoIter = std::vec::IntoIter<Read>;
    fn into_iter(self) -> Self::IntoIter {
        self.reads.into_iter()
    }
}

impl<'l> IntoIterator for &'l ReadLog {
    type Item = &'l Read;
    type IntoIter = std::slice::Iter<'l, Read>;
    fn into_iter(self) -> Self::IntoIter {
        self.reads.iter()
    }
}

/// As it is written in configuration, string keys in brackets only where they are no names.
impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.subject)?;
        self.path.iter().try_for_each(|step| match step {
            ReadStep::Index(index) => write!(f, "[{index}]"),
            ReadStep::Name(name) if is_identifier(name) => write!(f, ".{name}"),
            ReadStep::Name(name) => write!(f, "[{name:?}]"),
        })
    }
}
