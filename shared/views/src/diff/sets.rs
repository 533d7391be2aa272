//! Pairs the elements of two sets.

use super::change::Change;
use super::paths::Paths;
use crate::json::Json;

/// Above this many comparisons, equal elements are looked for in the same order on both sides.
const MANY: usize = 4_000_000;

/// The changes of a set's elements: those of before, each with its equal after if there is one, and
/// then those that are new.
pub(super) fn pair_up(change: &Change) -> Vec<Change> {
    let length = |json: &Json| json.as_array().map_or(0, <[Json]>::len);
    let (before, after) = (length(&change.before), length(&change.after));
    let mut taken = vec![false; after];
    let mut from = 0;
    let ordered = before.saturating_mul(after) > MANY;
    let mut pairs = Vec::with_capacity(before.max(after));
    for b in 0..before {
        let matches = |a: usize| is_same(change, b, a);
        let partner = (from..after).find(|a| !taken[*a] && matches(*a));
        if let Some(a) = partner {
            taken[a] = true;
            if ordered {
                from = a + 1;
            }
        }
        pairs.push((Some(b), partner));
    }
    pairs.extend((0..after).filter(|a| !taken[*a]).map(|a| (None, Some(a))));
    let child = |(b, a)| Change { relevant: Paths::All, ..change.elements(b, a) };
    pairs.into_iter().map(child).collect()
}

fn is_same(change: &Change, before: usize, after: usize) -> bool {
    let at = |json: &Json, i: usize| json.as_array().and_then(|a| a.get(i)).cloned();
    at(&change.before, before) == at(&change.after, after)
        && !at(&change.unknown, after).is_some_and(|u| u.is_true())
        && at(&change.before_sensitive, before).is_some_and(|s| s.is_true())
            == at(&change.after_sensitive, after).is_some_and(|s| s.is_true())
}
