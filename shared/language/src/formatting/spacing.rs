//! The space between two tokens of a cell: one or none.

use super::lines::Line;
use super::pieces::Piece;
use crate::syntax::token::TokenKind;
use std::ops::Range;

pub(super) fn set(pieces: &mut [Piece<'_>], lines: &[Line]) {
    for line in lines {
        within(pieces, line.lead.clone());
        within(pieces, line.assign.clone());
    }
}

fn within(pieces: &mut [Piece<'_>], cell: Range<usize>) {
    let mut before = None;
    for at in cell.start + 1..cell.end {
        let subject = &pieces[at - 1];
        let space = is_wanted(before, subject, &pieces[at]);
        before = Some(subject.kind);
        pieces[at].spaces = usize::from(space);
    }
}

/// Whether there is a space between `subject` and `after`; `before` is what stands before the two.
fn is_wanted(before: Option<TokenKind>, subject: &Piece<'_>, after: &Piece<'_>) -> bool {
    use TokenKind::*;
    let is_text = |kind| matches!(kind, QuotedLiteral | StringLiteral);
    match (subject.kind, after.kind) {
        (_, Newline) => false,
        // Calls, namespaces and attributes.
        (Identifier, OpenParen | DoubleColon) | (DoubleColon, Identifier) => false,
        (Dot, _) if before == Some(Number) && continues_number(&after.text) => true,
        (Dot, _) | (_, Dot) => false,
        (_, Comma | Ellipsis) => false,
        (Comma, _) => true,
        // Templates are as they are.
        (OpenQuote | OpenHeredoc, _) | (_, CloseQuote | CloseHeredoc) => false,
        (subject, after) if is_text(subject) || is_text(after) => false,
        // `for x in [a]`: not an index of something called "in".
        (Identifier, _) if &*subject.text == b"in" && before == Some(Identifier) => true,
        (
            Identifier | Number | CloseBrace | CloseBracket | CloseParen | SequenceEnd,
            OpenBracket,
        ) => false,
        (Not, _) => false,
        (Minus, _) => !before.is_none_or(expects_operand),
        (OpenBrace, CloseBrace) => false,
        (OpenBrace, _) | (_, CloseBrace) => true,
        // An object alone in an interpolation: `${ {a = 1} }`.
        (Interpolation | Directive, OpenBrace) | (CloseBrace, SequenceEnd) => true,
        (SequenceEnd, Interpolation | Directive) => false,
        _ => subject.bracket_change() <= 0 && after.bracket_change() >= 0,
    }
}

/// Whether a number and a dot before it would become one number with it: `a.0. 1`, `a.0. e5`.
fn continues_number(text: &[u8]) -> bool {
    matches!(
        text,
        [b'0'..=b'9', ..] | [b'e' | b'E', b'0'..=b'9', ..] | [b'e' | b'E', b'-', b'0'..=b'9', ..]
    )
}

/// Whether a minus after it is a sign and not an operator.
fn expects_operand(before: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        before,
        OpenParen
            | OpenBrace
            | OpenBracket
            | Equal
            | Colon
            | Comma
            | Question
            | Plus
            | Star
            | Slash
            | Percent
            | Minus
            | EqualEqual
            | NotEqual
            | Greater
            | GreaterOrEqual
            | Less
            | LessOrEqual
            | And
            | Or
            | Not
    )
}
