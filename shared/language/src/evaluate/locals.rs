//! Names that exist within a part of an expression only.

use std::collections::BTreeMap;
use std::sync::Arc;

use values::Value;

use crate::reads::{Extent, Read, ReadStep};

/// The names around an expression, innermost first.
#[derive(Clone, Copy)]
pub(crate) enum Locals<'l> {
    /// None but those of the scope.
    Outermost,
    /// One level, and those around it.
    Within(&'l Frame<'l>),
}

/// One level of names.
pub(crate) struct Frame<'l> {
    binding: Binding<'l>,
    outer: Locals<'l>,
}

/// What one level binds.
pub(crate) enum Binding<'l> {
    /// The variables of a `for`.
    For {
        /// The name for keys and its value.
        key: Option<(&'l str, Value)>,
        /// The name for values.
        name: &'l str,
        /// Its value.
        value: Value,
        /// Where that comes from.
        origin: Option<Origin>,
    },
    /// The iterator of a dynamic block.
    Iterator {
        /// Its name.
        name: &'l str,
        /// An object of `key` and `value`.
        value: Value,
    },
    /// The current item of a splat.
    Item(Value, Option<Origin>),
    /// The variables of a template, which sees no names but these.
    Closed(&'l BTreeMap<Arc<str>, Value>),
}

/// What an element is an element of: reads of it are reads of that.
#[derive(Clone)]
pub(crate) struct Origin(pub(super) Read);

impl Origin {
    /// Of the element by this key, in what was read.
    pub(super) fn element(collection: &Read, key: &Value) -> Option<Origin> {
        let step = match (key.as_str(), key.as_number()) {
            (Some(name), _) => ReadStep::Name(name.into()),
            (None, Some(number)) => ReadStep::Index(number.to_u64()?),
            (None, None) => return None,
        };
        let path = collection.path.iter().cloned().chain([step]).collect();
        Some(Origin(Read { path, extent: Extent::Value, ..collection.clone() }))
    }
}

/// Where a name leads.
pub(crate) enum Found<'l> {
    Local(&'l Value, Option<&'l Origin>),
    /// To the scope.
    Outside,
    /// Nowhere.
    Nowhere,
}

impl<'l> Frame<'l> {
    pub(crate) fn new(binding: Binding<'l>, outer: Locals<'l>) -> Self {
        Frame { binding, outer }
    }
}

impl<'l> Locals<'l> {
    pub(crate) fn find(self, name: &str) -> Found<'l> {
        let mut level = self;
        while let Locals::Within(frame) = level {
            match &frame.binding {
                Binding::For { key: Some((key, value)), .. } if *key == name => {
                    return match &frame.binding {
                        Binding::For { name: same, value, origin, .. } if *same == name => {
                            Found::Local(value, origin.as_ref())
                        }
                        _ => Found::Local(value, None),
                    };
                }
                Binding::For { name: bound, value, origin, .. } if *bound == name => {
                    return Found::Local(value, origin.as_ref());
                }
                Binding::Iterator { name: bound, value } if *bound == name => {
                    return Found::Local(value, None);
                }
                Binding::Closed(variables) => {
                    return variables
                        .get(name)
                        .map_or(Found::Nowhere, |value| Found::Local(value, None));
                }
                _ => {}
            }
            level = frame.outer;
        }
        Found::Outside
    }

    /// The current item of the nearest splat.
    pub(crate) fn item(self) -> Option<(&'l Value, Option<&'l Origin>)> {
        let mut level = self;
        while let Locals::Within(frame) = level {
            if let Binding::Item(value, origin) = &frame.binding {
                return Some((value, origin.as_ref()));
            }
            level = frame.outer;
        }
        None
    }

    /// Every name, innermost first.
    pub(crate) fn names(self) -> Vec<&'l str> {
        let mut names = Vec::new();
        let mut level = self;
        while let Locals::Within(frame) = level {
            match &frame.binding {
                Binding::For { key, name, .. } => {
                    names.extend(key.as_ref().map(|(key, _)| *key));
                    names.push(*name);
                }
                Binding::Iterator { name, .. } => names.push(*name),
                Binding::Item(..) => {}
                Binding::Closed(variables) => names.extend(variables.keys().map(|name| &**name)),
            }
            level = frame.outer;
        }
        names
    }
}
