//! Paths of attributes, narrowed step by step as a value is descended.

use std::sync::Arc;
use values::{Kind, Path, PathStep};

/// A set of paths, seen from some place inside the value.
#[derive(Clone, Debug)]
pub(crate) enum Paths {
    /// Every path.
    All,
    /// These; `inherit` where what is below a path belongs to it.
    Some { paths: Vec<Arc<[Step]>>, inherit: bool },
}

/// A step as JSON has it: attributes and keys of maps are alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Key(Arc<str>),
    Index(usize),
}

impl Paths {
    pub(crate) fn none() -> Paths {
        Paths::Some { paths: Vec::new(), inherit: false }
    }
    pub(crate) fn new<'a>(paths: impl IntoIterator<Item = &'a Path>, inherit: bool) -> Paths {
        Paths::Some { paths: paths.into_iter().map(steps).collect(), inherit }
    }
    /// Whether a path ends here.
    pub(crate) fn matches(&self) -> bool {
        match self {
            Paths::All => true,
            Paths::Some { paths, .. } => paths.iter().any(|p| p.is_empty()),
        }
    }
    /// Whether a path ends here or leads on.
    pub(crate) fn leads_here(&self) -> bool {
        match self {
            Paths::All => true,
            Paths::Some { paths, .. } => !paths.is_empty(),
        }
    }
    pub(crate) fn key(&self, key: &str) -> Paths {
        self.narrow(|step| matches!(step, Step::Key(k) if &**k == key))
    }
    pub(crate) fn index(&self, index: usize) -> Paths {
        self.narrow(|step| match step {
            Step::Index(i) => *i == index,
            Step::Key(k) => k.parse() == Ok(index),
        })
    }
    fn narrow(&self, matches: impl Fn(&Step) -> bool) -> Paths {
        let Paths::Some { paths, inherit } = self else { return Paths::All };
        let narrowed = paths.iter().filter_map(|path| match path.split_first() {
            None => inherit.then(|| path.clone()),
            Some((first, rest)) => matches(first).then(|| rest.into()),
        });
        Paths::Some { paths: narrowed.collect(), inherit: *inherit }
    }
}

/// The steps of a path. What lies in a set cannot be named by position, so the path ends before it.
fn steps(path: &Path) -> Arc<[Step]> {
    path.0
        .iter()
        .map_while(|step| match step {
            PathStep::Attribute(k) | PathStep::Key(k) => Some(Step::Key(k.clone())),
            PathStep::Index(i) => Some(Step::Index(*i)),
            PathStep::Element(v) => match v.kind() {
                Kind::String(s) => Some(Step::Key(s.clone())),
                _ => None,
            },
        })
        .collect()
}
