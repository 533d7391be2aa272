//! Lines and their cells.

use super::pieces::Piece;
use crate::syntax::token::TokenKind;
use std::ops::Range;

/// A line, as ranges of pieces. A heredoc belongs to the line that it begins on.
#[derive(Debug)]
pub(super) struct Line {
    /// All that belongs to no other cell.
    pub(super) lead: Range<usize>,
    /// From an equals sign on, where brackets that open behind it are closed on the same line.
    pub(super) assign: Range<usize>,
    /// A comment at the end of a line that has something before it.
    pub(super) comment: Range<usize>,
}

/// The lines of a file; the end of the file belongs to none.
pub(super) fn of(pieces: &[Piece<'_>]) -> Vec<Line> {
    let end = match pieces.last() {
        Some(last) if last.kind == TokenKind::EndOfFile => pieces.len() - 1,
        _ => pieces.len(),
    };
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, piece) in pieces[..end].iter().enumerate() {
        if piece.ends_line() {
            lines.push(line(pieces, start..at + 1));
            start = at + 1;
        }
    }
    lines.push(line(pieces, start..end));
    lines
}

fn line(pieces: &[Piece<'_>], whole: Range<usize>) -> Line {
    let ends_in_comment = whole.len() > 1 && pieces[whole.end - 1].kind == TokenKind::Comment;
    let comment = whole.end - usize::from(ends_in_comment)..whole.end;
    let equals = (whole.start + 1..comment.start).find(|at| pieces[*at].kind == TokenKind::Equal);
    let assign = match equals {
        Some(at) if change(&pieces[at..comment.start]) == 0 => at..comment.start,
        _ => comment.start..comment.start,
    };
    Line { lead: whole.start..assign.start, assign, comment }
}

/// How many more brackets are open at the end than at the beginning.
pub(super) fn change(pieces: &[Piece<'_>]) -> isize {
    pieces.iter().map(Piece::bracket_change).sum()
}
