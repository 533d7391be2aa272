//! The tree of differences.

use engine::changes::Action;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::json::Json;

/// The difference of one value and what is inside it.
#[derive(Debug)]
pub(crate) struct Diff {
    pub(crate) kind: DiffKind,
    /// Create, delete, update or no-op.
    pub(crate) action: Action,
    /// Whether it is the reason for a replacement.
    pub(crate) replace: bool,
}

/// What differs.
#[derive(Debug)]
pub(crate) enum DiffKind {
    /// A boolean, number or null.
    Scalar { before: Json, after: Json },
    /// A string (or null).
    Text { before: Json, after: Json },
    /// An object.
    Object { attributes: BTreeMap<Arc<str>, Diff>, schema: bool },
    /// A map; `schema` where its elements have a schema of their own.
    Map { elements: BTreeMap<Arc<str>, Diff>, schema: bool },
    /// A list; `context` where unchanged neighbours are shown.
    List { elements: Vec<Diff>, context: bool },
    /// A set; `schema` where its elements have a schema of their own.
    Set { elements: Vec<Diff>, schema: bool },
    /// A block.
    Block { attributes: BTreeMap<Arc<str>, Diff>, blocks: BTreeMap<Arc<str>, Blocks> },
    /// Not known yet; what it was before, if it was anything.
    Unknown { before: Option<Box<Diff>> },
    /// A value that must not be shown.
    Sensitive { inner: Action, before: bool, after: bool },
    /// A block that must not be shown.
    SensitiveBlock { inner: Action, before: bool, after: bool },
    /// Two values of different types.
    TypeChange { before: Box<Diff>, after: Box<Diff> },
    /// An attribute that is never stored.
    WriteOnly,
}

/// All blocks of one name.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Where it is not known yet which blocks there will be.
    pub(crate) unknown: Option<Box<Diff>>,
    /// Where that is not known, the blocks of before.
    pub(crate) items: BlockItems,
    pub(crate) replace: bool,
    pub(crate) before_sensitive: bool,
    pub(crate) after_sensitive: bool,
}

/// The blocks of one name as they are collected.
#[derive(Debug)]
pub(crate) enum BlockItems {
    Single(Box<Diff>),
    List(Vec<Diff>),
    Set(Vec<Diff>),
    Map(BTreeMap<Arc<str>, Diff>),
}

impl Diff {
    pub(crate) fn new(kind: DiffKind, action: Action, replace: bool) -> Diff {
        Diff { kind, action, replace }
    }
}

/// The action of a whole, given that of the parts so far and of one part more.
pub(crate) fn combine(so_far: Action, next: Action) -> Action {
    match next {
        Action::NoOp => so_far,
        _ if so_far != next => Action::Update,
        _ => so_far,
    }
}
