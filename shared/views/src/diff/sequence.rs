//! Pairs the elements of two sequences along a longest common subsequence.

use crate::json::Json;
use std::collections::VecDeque;

/// Above this many cells, the ends that agree are cut off before the table is made.
const LARGE_TABLE: usize = 4_000_000;

/// As [`align`], for the elements of a list. Where as many elements come as go, each takes the place
/// of the one that was there. A null may stand for something unknown and says nothing of its place.
pub(super) fn align_elements(
    before: &[Json],
    after: &[Json],
    is_object: impl Fn(&Json) -> bool,
    mut pair: impl FnMut(Option<usize>, Option<usize>),
) {
    let placed = before.len() == after.len() && !before.iter().chain(after).any(Json::is_null);
    match placed {
        true => (0..before.len()).for_each(|i| pair(Some(i), Some(i))),
        false => align(before, after, is_object, pair),
    }
}

/// Tells `pair`, in the order in which they are shown, which element before belongs to which
/// after. Elements that `is_object` holds of on both sides are compared with each other rather
/// than shown as removed and added.
pub(super) fn align<T: PartialEq>(
    before: &[T],
    after: &[T],
    is_object: impl Fn(&T) -> bool,
    mut pair: impl FnMut(Option<usize>, Option<usize>),
) {
    let mut common = common(before, after).into_iter().peekable();
    let (mut b, mut a) = (0, 0);
    while b < before.len() || a < after.len() || common.peek().is_some() {
        let next = common.peek().map(|i| &before[*i]);
        while b < before.len() && next != Some(&before[b]) {
            let compared = is_object(&before[b])
                && after.get(a).is_some_and(|after| is_object(after) && next != Some(after));
            if compared {
                pair(Some(b), Some(a));
                a += 1;
            } else {
                pair(Some(b), None);
            }
            b += 1;
        }
        while a < after.len() && next != Some(&after[a]) {
            pair(None, Some(a));
            a += 1;
        }
        if common.next().is_some() {
            pair(Some(b), Some(a));
            b += 1;
            a += 1;
        }
    }
}

/// Indexes into `before` of a longest common subsequence.
fn common<T: PartialEq>(before: &[T], after: &[T]) -> Vec<usize> {
    if before.len().saturating_mul(after.len()) <= LARGE_TABLE {
        return common_by_table(before, after).into();
    }
    let head = before.iter().zip(after).take_while(|(b, a)| b == a).count();
    let (inner_before, inner_after) = (&before[head..], &after[head..]);
    let tail =
        inner_before.iter().rev().zip(inner_after.iter().rev()).take_while(|(b, a)| b == a).count();
    let inner_before = &inner_before[..inner_before.len() - tail];
    let inner_after = &inner_after[..inner_after.len() - tail];
    // What remains too large is shown as removed and added: exact, only longer.
    let inner = match inner_before.len().saturating_mul(inner_after.len()) <= LARGE_TABLE {
        true => common_by_table(inner_before, inner_after),
        false => VecDeque::new(),
    };
    let tail = before.len() - tail..before.len();
    (0..head).chain(inner.into_iter().map(|i| i + head)).chain(tail).collect()
}

fn common_by_table<T: PartialEq>(before: &[T], after: &[T]) -> VecDeque<usize> {
    let width = before.len();
    let mut longest = vec![0u32; width * after.len()];
    let mut equal = vec![false; longest.len()];
    for (y, new) in after.iter().enumerate() {
        for (x, old) in before.iter().enumerate() {
            let cell = width * y + x;
            let left = if x > 0 { longest[cell - 1] } else { 0 };
            let up = if y > 0 { longest[cell - width] } else { 0 };
            equal[cell] = old == new;
            longest[cell] = match equal[cell] {
                true if x > 0 && y > 0 => longest[cell - width - 1] + 1,
                true => 1,
                false => left.max(up),
            };
        }
    }
    let mut found = VecDeque::new();
    let (mut x, mut y) = (width, after.len());
    while x > 0 && y > 0 {
        let cell = width * (y - 1) + (x - 1);
        if equal[cell] {
            found.push_front(x - 1);
            x -= 1;
            y -= 1;
            continue;
        }
        let left = if x > 1 { longest[cell - 1] } else { 0 };
        let up = if y > 1 { longest[cell - width] } else { 0 };
        match left > up {
            true => x -= 1,
            false => y -= 1,
        }
    }
    found
}
