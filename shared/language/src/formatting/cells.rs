//! Equals signs and comments of neighbouring lines stand below each other.

use super::lines::Line;
use super::pieces::{Piece, columns};
use std::ops::Range;

/// Aligns the equals signs first, since comments move with them.
pub(super) fn align(pieces: &mut [Piece<'_>], lines: &[Line]) {
    align_one(pieces, lines, |line| (line.lead.start..line.lead.end, line.assign.clone()));
    align_one(pieces, lines, |line| (line.lead.start..line.assign.end, line.comment.clone()));
}

/// Puts a cell one space behind the longest of what stands before it in a run of lines that all
/// have it.
fn align_one(
    pieces: &mut [Piece<'_>],
    lines: &[Line],
    split: impl Fn(&Line) -> (Range<usize>, Range<usize>),
) {
    for run in lines.split(|line| split(line).1.is_empty()).filter(|run| !run.is_empty()) {
        let widths: Vec<(usize, usize)> = run
            .iter()
            .map(|line| {
                let (before, cell) = split(line);
                (columns(&pieces[before]), cell.start)
            })
            .collect();
        let widest = widths.iter().map(|(width, _)| *width).max().unwrap_or(0);
        for (width, first) in widths {
            pieces[first].spaces = widest - width + 1;
        }
    }
}
