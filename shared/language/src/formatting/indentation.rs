//! The spaces at the beginning of lines.

use super::lines::{Line, change};
use super::pieces::Piece;
use crate::syntax::token::TokenKind;

const STEP: usize = 2;

/// Indents by brackets. A line that opens several opens one level, which ends when as many are
/// closed again.
pub(super) fn set(pieces: &mut [Piece<'_>], lines: &[Line]) {
    let mut levels: Vec<usize> = Vec::new();
    for line in lines {
        let Some(first) = pieces[line.lead.clone()].first() else { continue };
        if first.kind == TokenKind::Newline {
            pieces[line.lead.start].spaces = 0;
            continue;
        }
        // What a heredoc holds is not laid out.
        let lead = &pieces[line.lead.clone()];
        let heredoc = lead.iter().position(|piece| piece.kind == TokenKind::OpenHeredoc);
        let net =
            change(&lead[..heredoc.unwrap_or(lead.len())]) + change(&pieces[line.assign.clone()]);
        if net < 0 {
            close(&mut levels, net.unsigned_abs());
        }
        pieces[line.lead.start].spaces = STEP * levels.len();
        if net > 0 {
            levels.push(net.unsigned_abs());
        }
    }
}

fn close(levels: &mut Vec<usize>, mut closed: usize) {
    while closed > 0
        && let Some(open) = levels.last_mut()
    {
        if closed < *open {
            *open -= closed;
            return;
        }
        closed -= *open;
        levels.pop();
    }
}
