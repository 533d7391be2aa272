//! Differences of blocks, along their schema.

use super::attributes::{
    all_unknown, of_attribute, of_map, of_positions, of_set, sensitive_inner, unknown,
};
use super::change::Change;
use super::tree::{BlockItems, Blocks, Diff, DiffKind, combine};
use crate::json::deep;
use engine::changes::Action;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Type;
use values::schema::{Attribute, AttributeType, Block, NestedBlock, Nesting};

/// The difference of a block.
pub(crate) fn of_block(change: &Change, block: &Block) -> Diff {
    let change = &Change { legacy: change.legacy && !is_modern(block), ..change.clone() };
    deep(|| {
        sensitive_block(change, block)
            .or_else(|| unknown_block(change, block))
            .unwrap_or_else(|| of_known_block(change, block))
    })
}

/// Whether a block has what the older way of writing providers could not express. Such providers
/// mean what they say where they give an empty string.
fn is_modern(block: &Block) -> bool {
    let modern = |ty: &AttributeType| match ty {
        AttributeType::Nested(_) => true,
        AttributeType::Plain(ty) => {
            ty.has_dynamic() || matches!(ty, Type::Tuple(_) | Type::Object(_))
        }
    };
    block.blocks.values().any(|b| matches!(b.nesting, Nesting::Map | Nesting::Group))
        || block.attributes.values().any(|a| modern(&a.ty))
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
        let unknown = child.is_unknown().then(|| Box::new(coming_blocks(&child)));
        // What is not known yet takes the place of what is there.
        let was = if unknown.is_some() { child.as_delete() } else { child.clone() };
        let (items, child_action) = blocks_diff(&was, nested);
        if child_action == Action::NoOp && child.is_null() && unknown.is_none() {
            continue;
        }
        // What an unknown block does shows on the block alone.
        if unknown.is_none() {
            action = combine(action, child_action);
        }
        blocks.insert(
            name.clone(),
            Blocks {
                unknown,
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
    let change = change.unless_irrelevant().implicit();
    let diff = of_attribute(&change, attribute, parent);
    let nothing = diff.action == Action::NoOp && change.is_null() && !attribute.write_only;
    (!nothing).then_some(diff)
}

/// Blocks of which nothing is known.
fn coming_blocks(change: &Change) -> Diff {
    let coming = Change { after_explicit: true, ..change.clone() };
    Diff::new(DiffKind::Unknown { before: None }, coming.action(), false)
}

/// The blocks of one name, and what happens to them.
fn blocks_diff(change: &Change, nested: &NestedBlock) -> (BlockItems, Action) {
    let one = |change: &Change| of_block(change, &nested.block);
    match nested.nesting {
        Nesting::Single | Nesting::Group if change.is_null() => {
            (BlockItems::List(Vec::new()), Action::NoOp)
        }
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
    }
}
