use crate::{Kind, Value};
use std::fmt;
use std::sync::Arc;

/// A way from a value to one inside it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Path(pub Vec<PathStep>);

/// One step of a [`Path`].
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathStep {
    /// An attribute of an object.
    Attribute(Arc<str>),
    /// An element of a list or tuple.
    Index(usize),
    /// An element of a map.
    Key(Arc<str>),
    /// The element of a set that equals this value.
    Element(Value),
}

impl Path {
    /// The empty path: the value itself.
    pub const fn root() -> Path {
        Path(Vec::new())
    }
    /// A path of one attribute.
    pub fn attribute(name: impl Into<Arc<str>>) -> Path {
        Path(vec![PathStep::Attribute(name.into())])
    }
    /// This path and one step more.
    #[must_use]
    pub fn child(&self, step: PathStep) -> Path {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Path(steps)
    }
    /// Whether this is the empty path.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// Whether `self` leads to, or to something inside, what `prefix` leads to.
    pub fn starts_with(&self, prefix: &Path) -> bool {
        self.0.starts_with(&prefix.0)
    }
    /// What this path leads to in `value`; `None` where there is nothing, or where it leads
    /// through null or unknown.
    pub fn get(&self, value: &Value) -> Option<Value> {
        let mut current = value.clone();
        for step in &self.0 {
            let next = match (step, current.kind()) {
                (PathStep::Attribute(name) | PathStep::Key(name), Kind::Object(m)) => {
                    m.get(name)?.clone()
                }
                (PathStep::Attribute(name) | PathStep::Key(name), Kind::Map(_, m)) => {
                    m.get(name)?.clone()
                }
                (PathStep::Index(i), Kind::List(_, v) | Kind::Tuple(v)) => v.get(*i)?.clone(),
                (PathStep::Element(e), Kind::Set(_, v)) => v.iter().find(|x| *x == e)?.clone(),
                _ => return None,
            };
            let marks = current.marks();
            current = next.with_marks(marks);
        }
        Some(current)
    }
}

/// As Terraform writes paths in messages: `.a.b[0]["k"]`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|s| write!(f, "{s}"))
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Attribute(n) => write!(f, ".{n}"),
            PathStep::Index(i) => write!(f, "[{i}]"),
            PathStep::Key(k) => write!(f, "[{}]", crate::quote::quoted(k)),
            PathStep::Element(_) => f.write_str("[...]"),
        }
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
