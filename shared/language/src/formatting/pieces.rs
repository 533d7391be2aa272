//! Tokens with the blanks before them: what layout works on.

use crate::source::graphemes;
use crate::syntax::token::{Token, TokenKind};
use std::borrow::Cow;

/// A token's text and the number of spaces before it.
#[derive(Clone, Debug)]
pub(super) struct Piece<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: Cow<'t, [u8]>,
    pub(super) spaces: usize,
}

impl<'t> Piece<'t> {
    pub(super) fn new(kind: TokenKind, text: impl Into<Cow<'t, [u8]>>) -> Piece<'t> {
        Piece { kind, text: text.into(), spaces: 0 }
    }

    /// Whether a line ends with it.
    pub(super) fn ends_line(&self) -> bool {
        match self.kind {
            TokenKind::Newline => true,
            TokenKind::Comment => self.text.ends_with(b"\n"),
            _ => false,
        }
    }

    /// How many more brackets are open after it than before it.
    pub(super) fn bracket_change(&self) -> isize {
        use TokenKind::*;
        match self.kind {
            OpenBrace | OpenBracket | OpenParen | Interpolation | Directive => 1,
            CloseBrace | CloseBracket | CloseParen | SequenceEnd => -1,
            _ => 0,
        }
    }
}

/// One piece for each token; what stands between two tokens, tabs too, counts as spaces.
pub(super) fn of<'t>(text: &'t [u8], tokens: &[Token]) -> Vec<Piece<'t>> {
    let mut before = 0;
    let piece = |token: &Token| {
        let (start, end) = (token.start as usize, token.end as usize);
        let spaces = start.saturating_sub(before);
        before = end;
        let text = Cow::Borrowed(text.get(start..end).unwrap_or_default());
        Piece { kind: token.kind, text, spaces }
    };
    tokens.iter().map(piece).collect()
}

/// How wide pieces are on one line, with the spaces before them.
pub(super) fn columns(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|piece| piece.spaces + graphemes(&piece.text)).sum()
}

pub(super) fn write(pieces: &[Piece<'_>]) -> Vec<u8> {
    let length = pieces.iter().map(|piece| piece.spaces + piece.text.len()).sum();
    let mut out = Vec::with_capacity(length);
    for piece in pieces {
        out.resize(out.len() + piece.spaces, b' ');
        out.extend_from_slice(&piece.text);
    }
    out
}
