//! Old spellings and their replacements.

use super::pieces::Piece;
use crate::source::Span;
use crate::syntax::ast::{Block, Body, with_stack};
use crate::syntax::escape_literal;
use crate::syntax::token::TokenKind;
use std::sync::Arc;

/// One part of a file that may be spelled anew.
#[derive(Debug)]
pub(super) struct Rewrite {
    /// The tokens that begin in it.
    span: Span,
    to: Spelling,
}

#[derive(Debug)]
enum Spelling {
    /// Labels in quotes, without comments between them.
    Labels(Vec<Arc<str>>),
    /// The type of a variable.
    Type,
    /// An argument's value.
    Value,
}

/// What there may be to rewrite, in source order.
pub(super) fn of(body: &Body) -> Vec<Rewrite> {
    let mut rewrites = Vec::new();
    collect(body, &[], &mut rewrites);
    rewrites.sort_by_key(|rewrite| rewrite.span.start);
    rewrites
}

/// `within` are the types of the blocks around the body, as far as they matter.
fn collect(body: &Body, within: &[&str], rewrites: &mut Vec<Rewrite>) {
    for attribute in &body.attributes {
        let to = match within == ["variable"] && &*attribute.name == "type" {
            true => Spelling::Type,
            false => Spelling::Value,
        };
        rewrites.push(Rewrite { span: attribute.expression.span, to });
    }
    for block in &body.blocks {
        rewrites.extend(labels(block));
        let inside: &[&str] = match within {
            [] => &[&block.type_name],
            _ => &["", ""],
        };
        with_stack(|| collect(&block.body, inside, rewrites));
    }
}

fn labels(block: &Block) -> Option<Rewrite> {
    let last = block.labels.last()?;
    let span = Span { end: last.span.end, ..block.type_span.end_point() };
    let texts = block.labels.iter().map(|label| label.text.clone()).collect();
    Some(Rewrite { span, to: Spelling::Labels(texts) })
}

/// The pieces with all rewrites done; `None` where there is nothing to do.
pub(super) fn apply<'t>(pieces: &[Piece<'t>], rewrites: &[Rewrite]) -> Option<Vec<Piece<'t>>> {
    // Pieces are contiguous but for the spaces before them, so that their places follow.
    let mut starts = Vec::with_capacity(pieces.len());
    let mut at = 0;
    for piece in pieces {
        starts.push(at + piece.spaces);
        at += piece.spaces + piece.text.len();
    }
    let mut result: Option<Vec<Piece<'t>>> = None;
    let mut done = 0;
    for rewrite in rewrites {
        let first = starts.partition_point(|start| *start < rewrite.span.start as usize);
        let end = starts.partition_point(|start| *start < rewrite.span.end as usize);
        let old = &pieces[first.min(end)..end];
        let new = match &rewrite.to {
            Spelling::Labels(texts) => quoted_labels(old, texts),
            Spelling::Type => whole_type(old),
            Spelling::Value => unwrapped(old),
        };
        if let Some(new) = new
            && first >= done
        {
            let result = result.get_or_insert_with(|| Vec::with_capacity(pieces.len()));
            result.extend_from_slice(&pieces[done..first]);
            result.extend(new);
            done = end;
        }
    }
    result.map(|mut result| {
        result.extend_from_slice(&pieces[done..]);
        result
    })
}

fn quoted_labels<'t>(old: &[Piece<'t>], texts: &[Arc<str>]) -> Option<Vec<Piece<'t>>> {
    let mut new = Vec::with_capacity(texts.len() * 3);
    for text in texts {
        new.push(Piece::new(TokenKind::OpenQuote, b"\"".as_slice()));
        if !text.is_empty() {
            new.push(Piece::new(TokenKind::QuotedLiteral, escape_literal(text).into_bytes()));
        }
        new.push(Piece::new(TokenKind::CloseQuote, b"\"".as_slice()));
    }
    let same =
        old.len() == new.len() && old.iter().zip(&new).all(|(old, new)| old.text == new.text);
    (!same).then_some(new)
}

/// A type without its element type, or in quotes, as configuration of long ago has it.
fn whole_type<'t>(old: &[Piece<'t>]) -> Option<Vec<Piece<'t>>> {
    use TokenKind::*;
    let (word, element) = match old {
        [word] if word.kind == Identifier => (word, "any"),
        [open, word, close]
            if (open.kind, word.kind, close.kind) == (OpenQuote, QuotedLiteral, CloseQuote) =>
        {
            (word, "string")
        }
        _ => return None,
    };
    let name = Piece::new(Identifier, word.text.clone());
    match (&*word.text, element) {
        (b"string", "string") => Some(vec![name]),
        (b"list" | b"map", _) | (b"set", "any") => Some(vec![
            name,
            Piece::new(OpenParen, b"(".as_slice()),
            Piece::new(Identifier, element.as_bytes()),
            Piece::new(CloseParen, b")".as_slice()),
        ]),
        _ => None,
    }
}

/// What `"${…}"` holds, where that is an expression alone.
fn unwrapped<'t>(old: &[Piece<'t>]) -> Option<Vec<Piece<'t>>> {
    use TokenKind::*;
    let [open, start, inside @ .., end, close] = old else { return None };
    let kinds = (open.kind, start.kind, end.kind, close.kind);
    if kinds != (OpenQuote, Interpolation, SequenceEnd, CloseQuote)
        || inside.is_empty()
        || !is_one_sequence(inside)
    {
        return None;
    }
    let is_newline = |piece: &Piece<'_>| piece.kind == Newline;
    let first = inside.iter().position(|piece| !is_newline(piece)).unwrap_or(0);
    let last = inside.iter().rposition(|piece| !is_newline(piece)).map_or(0, |last| last + 1);
    let inside = inside.get(first..last).unwrap_or_default();
    let in_parentheses =
        matches!(inside, [open, .., close] if open.kind == OpenParen && close.kind == CloseParen);
    if in_parentheses || !inside.iter().any(is_newline) {
        return Some(inside.to_vec());
    }
    let mut wrapped = vec![Piece::new(OpenParen, b"(".as_slice())];
    wrapped.extend_from_slice(inside);
    wrapped.push(Piece::new(CloseParen, b")".as_slice()));
    Some(wrapped)
}

/// Whether what stands between the first opening and the last closing of a sequence belongs to
/// one. Strings within may hold anything.
fn is_one_sequence(inside: &[Piece<'_>]) -> bool {
    let mut quotes = 0_isize;
    inside.iter().all(|piece| {
        match piece.kind {
            TokenKind::OpenQuote => quotes += 1,
            TokenKind::CloseQuote => quotes -= 1,
            TokenKind::Interpolation | TokenKind::SequenceEnd | TokenKind::QuotedLiteral => {
                return quotes > 0;
            }
            _ => {}
        }
        true
    })
}
