//! Differences of blocks, along their schema.

use super::attributes::{
    all_unknown, of_attribute, of_map, of_positions, of_set, sensitive_inner, unknown,
};
use super::change::Change;
use super::tree::{BlockItems, Blocks, Diff, DiffKind, combine};
use crate::json::{Json, deep};
use engine::changes::Action;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::{Attribute, Block, NestedBlock, Nesting};

/// The difference of a block.
pub(crate) fn of_block(change: &Change, block: &Block) -> Diff {
    deep(|| {
        sensitive_block(change, block)
            .or_else(|| unknown_block(change, block))
            .unwrap_or_else(|| of_known_block(change, block))
    })
}

fn sensitive_block(change: &Change, block: &Block) -> Option<Diff> {
    let (inner, action) = sensitive_inner(change, |bare| of_block(bare, block))?;
    let (before, after) = (change.is_before_sensitive(), change.is_after_sensitive());
    let kind = DiffKind::SensitiveBlock { inner: inner.action, before, after };
    Some(Diff::new(kind, action, change.replace.matches()))
}

fn unknown_block(change: &Change, block: &Block) -> Option<Diff> {
    unknown(change, all_unknown(block.attributes.keys()), |before| of_block(before, block))
}

fn of_known_block(change: &Change, block: &Block) -> Diff {
    let mut action = change.initial_action();
    let mut attributes = BTreeMap::new();
    // Write-only attributes are shown with what happens to the block, so they come last.
    let (write_only, stored): (Vec<_>, Vec<_>) =
        block.attributes.iter().partition(|(_, attribute)| attribute.write_only);
    for (name, attribute) in stored.into_iter().chain(write_only) {
        if let Some(diff) = attribute_diff(change.key(name), attribute, action) {
            action = combine(action, diff.action);
            attributes.insert(name.clone(), diff);
        }
    }
    let mut blocks = BTreeMap::<Arc<str>, Blocks>::new();
    for (name, nested) in &block.blocks {
        let child = change.key(name).unless_irrelevant();
        let (items, child_action, known) = blocks_diff(&child, nested);
        if child_action == Action::NoOp && child.is_null() {
            continue;
        }
        // What an unknown block does shows on the block alone.
        if known {
            action = combine(action, child_action);
        }
        blocks.insert(
            name.clone(),
            Blocks {
                items,
                replace: child.replace.matches(),
                before_sensitive: child.is_before_sensitive(),
                after_sensitive: child.is_after_sensitive(),
            },
        );
    }
    Diff::new(DiffKind::Block { attributes, blocks }, action, change.replace.matches())
}

fn attribute_diff(change: Change, attribute: &Attribute, parent: Action) -> Option<Diff> {
    let mut change = change.unless_irrelevant().implicit();
    // Older providers cannot say null for a string and say "" instead.
    for side in [&mut change.before, &mut change.after] {
        if side.as_str() == Some("") {
            *side = Json::Null;
        }
    }
    let diff = of_attribute(&change, attribute, parent);
    let nothing = diff.action == Action::NoOp && change.is_null() && !attribute.write_only;
    (!nothing).then_some(diff)
}

/// The blocks of one name, what happens to them, and whether they are known.
fn blocks_diff(change: &Change, nested: &NestedBlock) -> (BlockItems, Action, bool) {
    if let Some(diff) = unknown_block(change, &nested.block) {
        let action = diff.action;
        return (BlockItems::Single(Box::new(diff)), action, false);
    }
    let one = |change: &Change| of_block(change, &nested.block);
    let (items, action) = match nested.nesting {
        Nesting::Single | Nesting::Group => {
            let diff = one(change);
            let action = diff.action;
            (BlockItems::Single(Box::new(diff)), action)
        }
        Nesting::List => {
            let (items, action) = of_positions(change, one);
            (BlockItems::List(items), action)
        }
        Nesting::Set => {
            let (items, action) = of_set(change, one);
            (BlockItems::Set(items), action)
        }
        Nesting::Map => {
            let (items, action) = of_map(change, change.explicit_keys(), one);
            (BlockItems::Map(items), action)
        }
    };
    (items, action, true)
}
