//! What an evaluation really looked at.

use std::collections::{BTreeMap, HashSet};
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
    /// How much of that part.
    pub extent: Extent,
    /// Where the reference stands.
    pub span: Span,
}

/// How much of a value an evaluation looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// All of it.
    #[default]
    Value,
    /// Which elements it has. What is looked at of those is read on its own.
    Keys,
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

/// What an expression looked at, by the parts of its value: whoever takes a part alone has looked at no
/// more than that part did.
#[derive(Clone, Debug, Default)]
pub struct PartReads {
    /// What every part looked at: of a constructed object its computed keys, of anything else all.
    pub common: PartLog,
    /// What each attribute of a constructed object looked at beside that; `None` for anything else.
    pub attributes: Option<BTreeMap<Arc<str>, PartLog>>,
}

/// What one part of a value looked at.
#[derive(Clone, Debug, Default)]
pub struct PartLog {
    /// The reads, in order.
    pub reads: Vec<Read>,
    /// The read whose value this part is, unchanged: a part of this part is a part of that.
    pub alias: Option<usize>,
}

impl PartReads {
    /// All reads, of all parts.
    pub fn iter(&self) -> impl Iterator<Item = &Read> {
        let attributes = self.attributes.iter().flat_map(BTreeMap::values);
        std::iter::once(&self.common).chain(attributes).flat_map(|part| &part.reads)
    }

    /// For a value that was made of this one as a whole, so that its parts are no parts of this.
    #[must_use]
    pub fn merged(self) -> PartReads {
        let mut reads = self.common.reads;
        reads.extend(self.attributes.into_iter().flatten().flat_map(|(_, part)| part.reads));
        PartReads { common: PartLog { reads, alias: None }, attributes: None }
    }
}

impl From<ReadLog> for PartReads {
    fn from(log: ReadLog) -> PartReads {
        PartReads { common: PartLog { reads: log.reads, alias: None }, attributes: None }
    }
}

/// Where the reads of one attribute of a constructed object are in a log.
pub(crate) struct AttributeReads {
    pub(crate) name: Arc<str>,
    pub(crate) from: ReadMark,
    pub(crate) to: ReadMark,
    pub(crate) alias: Option<OpenRead>,
}

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
        self.reads.retain(|read| seen.insert(read.identity()));
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

    /// Takes it that only the keys were looked at; what was read, for reads of the elements.
    pub(crate) fn keys_alone(&mut self, open: OpenRead) -> Option<&Read> {
        let read = self.reads.get_mut(open.0)?;
        read.extent = Extent::Keys;
        Some(read)
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
            if seen.insert(read.identity()) {
                self.reads.push(read);
            }
        }
        limit.max(2 * (self.reads.len() - from.0))
    }

    /// Takes the log apart, by the attributes of an object that was constructed.
    pub(crate) fn into_parts(
        self,
        attributes: Option<Vec<AttributeReads>>,
        alias: Option<OpenRead>,
    ) -> PartReads {
        let Some(attributes) = attributes else {
            let alias = alias.map(|open| open.0);
            return PartReads { common: PartLog { reads: self.reads, alias }, attributes: None };
        };
        let mut parts = PartReads::default();
        let mut by_name = BTreeMap::new();
        let mut reads = self.reads.into_iter();
        let mut at = 0;
        for attribute in attributes {
            parts.common.reads.extend(reads.by_ref().take(attribute.from.0 - at));
            let own: Vec<Read> = reads.by_ref().take(attribute.to.0 - attribute.from.0).collect();
            let alias = attribute.alias.map(|open| open.0 - attribute.from.0);
            by_name.insert(attribute.name, PartLog { reads: own, alias });
            at = attribute.to.0;
        }
        parts.common.reads.extend(reads);
        parts.attributes = Some(by_name);
        parts
    }

    pub(crate) fn remove(&mut self, from: ReadMark, to: ReadMark) {
        let end = to.0.min(self.reads.len());
        if from.0 < end {
            self.reads.drain(from.0..end);
        }
    }
}

impl Read {
    fn identity(&self) -> (Subject, Vec<ReadStep>, Extent) {
        (self.subject.clone(), self.path.clone(), self.extent)
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
        if self.extent == Extent::Keys {
            f.write_str("keys of ")?;
        }
        write!(f, "{}", self.subject)?;
        self.path.iter().try_for_each(|step| match step {
            ReadStep::Index(index) => write!(f, "[{index}]"),
            ReadStep::Name(name) if is_identifier(name) => write!(f, ".{name}"),
            ReadStep::Name(name) => write!(f, "[{name:?}]"),
        })
    }
}
