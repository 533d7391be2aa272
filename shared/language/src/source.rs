//! Source texts and places in them.
//!
//! A [`Span`] is a pair of byte offsets; lines and columns are worked out only when a person or a
//! tool has to be told about them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use unicode_segmentation::UnicodeSegmentation;

/// Names one text in a [`Sources`] registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes in one file; `end` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file that the offsets count in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end` in `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The smallest range that begins where `self` begins and ends where `other` ends.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start, end: other.end }
    }

    /// The empty range at the end of this one.
    #[must_use]
    pub fn end_point(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// The empty range at the start of this one.
    #[must_use]
    pub fn start_point(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// Whether the range has no bytes.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// A place as people count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in grapheme clusters, from 1. A byte-order mark has no column.
    pub column: u32,
    /// Byte offset in the file, from 0.
    pub byte: u32,
}

/// A span with its file name and positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// The name that the file was registered under.
    pub filename: Arc<str>,
    /// Position of the first byte.
    pub start: Position,
    /// Position after the last byte.
    pub end: Position,
}

/// `main.tf:3,1-8` on one line, `main.tf:3,1-5,2` over several.
impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Range { filename, start, end } = self;
        write!(f, "{filename}:{},{}-", start.line, start.column)?;
        if start.line == end.line {
            write!(f, "{}", end.column)
        } else {
            write!(f, "{},{}", end.line, end.column)
        }
    }
}

/// A block header that encloses a range of a file: what a diagnostic calls its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    /// Offset of the block's first byte.
    pub start: u32,
    /// Offset after the block's last byte.
    pub end: u32,
    /// The header as it is shown, for example `resource "aws_instance" "web"`.
    pub header: String,
}

#[derive(Debug)]
struct SourceFile {
    name: Arc<str>,
    text: Arc<[u8]>,
    line_starts: OnceLock<Box<[u32]>>,
    outline: OnceLock<Arc<[OutlineEntry]>>,
}

impl SourceFile {
    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let after_newline = self
                .text
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n')
                .map(|(at, _)| offset(at + 1));
            std::iter::once(0).chain(after_newline).collect()
        })
    }

    fn position(&self, byte: u32) -> Position {
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= byte).max(1);
        let mut start = starts[line - 1] as usize;
        if start == 0 && self.text.starts_with(BYTE_ORDER_MARK) {
            start = BYTE_ORDER_MARK.len();
        }
        let end = (byte as usize).min(self.text.len());
        let before = self.text.get(start..end).unwrap_or_default();
        // A place beyond the end (a range relative to escaped text) still gets a plausible column.
        let beyond = (byte as usize).saturating_sub(self.text.len());
        // Terraform counts a tab of a JSON file, where it only indents, as two columns.
        let tabs = match self.name.ends_with(".json") {
            true => before.iter().filter(|byte| **byte == b'\t').count(),
            false => 0,
        };
        let column = offset(graphemes(before) + tabs + beyond + 1);
        Position { line: offset(line), column, byte }
    }
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Number of grapheme clusters; each byte that is not UTF-8 counts as one.
pub(crate) fn graphemes(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.utf8_chunks()
        .map(|chunk| chunk.valid().graphemes(true).count() + chunk.invalid().len())
        .sum()
}

/// The registry of all source texts of one configuration. Shared by reference between threads.
#[derive(Debug, Default)]
pub struct Sources {
    registry: RwLock<Registry>,
}

#[derive(Debug, Default)]
struct Registry {
    files: Vec<Arc<SourceFile>>,
    by_name: HashMap<Arc<str>, FileId>,
}

impl Sources {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a text. The same name with the same text gives the same id again; a changed text
    /// gets a new id and leaves older spans as they were.
    pub fn add(&self, name: impl Into<Arc<str>>, text: impl Into<Arc<[u8]>>) -> FileId {
        let (name, text) = (name.into(), text.into());
        let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = registry.by_name.get(&name)
            && registry.files.get(id.0 as usize).is_some_and(|file| file.text == text)
        {
            return *id;
        }
        let id = FileId(offset(registry.files.len()));
        let file = SourceFile {
            name: name.clone(),
            text,
            line_starts: OnceLock::new(),
            outline: OnceLock::new(),
        };
        registry.files.push(Arc::new(file));
        registry.by_name.insert(name, id);
        id
    }

    fn file(&self, id: FileId) -> Option<Arc<SourceFile>> {
        self.registry
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .files
            .get(id.0 as usize)
            .cloned()
    }

    /// The name that a text was registered under; empty for an id of another registry.
    pub fn name(&self, id: FileId) -> Arc<str> {
        self.file(id).map_or_else(|| Arc::from(""), |file| file.name.clone())
    }

    /// The text; empty for an id of another registry.
    pub fn text(&self, id: FileId) -> Arc<[u8]> {
        self.file(id).map_or_else(|| Arc::from([]), |file| file.text.clone())
    }

    /// Whether the id is one of this registry.
    pub fn contains(&self, id: FileId) -> bool {
        self.file(id).is_some()
    }

    /// Offset of the first byte of a line, counted from 1; the text's end for lines beyond it.
    pub fn line_start(&self, id: FileId, line: u32) -> u32 {
        self.file(id).map_or(0, |file| {
            let at = (line as usize).saturating_sub(1);
            file.line_starts().get(at).copied().unwrap_or_else(|| offset(file.text.len()))
        })
    }

    /// Line and column of a byte offset.
    pub fn position(&self, id: FileId, byte: u32) -> Position {
        self.file(id).map_or(Position { line: 1, column: 1, byte }, |file| file.position(byte))
    }

    /// File name and positions of a span.
    pub fn range(&self, span: Span) -> Range {
        Range {
            filename: self.name(span.file),
            start: self.position(span.file, span.start),
            end: self.position(span.file, span.end),
        }
    }

    /// The text that a span covers, with bytes that are not UTF-8 replaced.
    pub fn snippet(&self, span: Span) -> String {
        let text = self.text(span.file);
        let end = (span.end as usize).min(text.len());
        String::from_utf8_lossy(text.get(span.start as usize..end).unwrap_or_default()).into_owned()
    }

    /// The file's outermost block headers in source order, worked out by `compute` on first use.
    pub fn outline(
        &self,
        id: FileId,
        compute: impl FnOnce() -> Vec<OutlineEntry>,
    ) -> Arc<[OutlineEntry]> {
        match self.file(id) {
            Some(file) => file.outline.get_or_init(|| compute().into()).clone(),
            None => Arc::from([]),
        }
    }
}
