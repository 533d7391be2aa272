//! Differences between two values, as a tree that is rendered for people.
//!
//! A [`Change`] is taken apart along a schema, a type, or (where neither is known) the values
//! themselves, and gives a [`Diff`].

mod attributes;
mod blocks;
mod change;
mod dynamic;
mod paths;
mod render;
mod render_block;
mod render_collection;
mod render_string;
mod row;
mod rows;
mod sequence;
mod sets;
mod tree;

pub(crate) use attributes::of_type;
pub(crate) use blocks::of_block;
pub(crate) use change::Change;
pub(crate) use dynamic::of_dynamic;
pub(crate) use paths::Paths;
pub(crate) use render::{Style, action_symbol, attribute_name, quoted};
pub use row::{DiffRow, Mark, Part, RowValue};
pub(crate) use tree::Diff;
