//! Tokens: kinds and places, never text.

/// One token; offsets count in the lexer's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    OpenQuote,
    CloseQuote,
    OpenHeredoc,
    CloseHeredoc,
    /// `${` or `${~`
    Interpolation,
    /// `%{` or `%{~`
    Directive,
    /// `}` or `~}` that ends an interpolation or directive
    SequenceEnd,
    /// A piece of a quoted string, escapes unresolved.
    QuotedLiteral,
    /// A piece of a heredoc or bare template.
    StringLiteral,
    Number,
    Identifier,
    Star,
    Slash,
    Plus,
    Minus,
    Percent,
    Equal,
    EqualEqual,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Not,
    Dot,
    Comma,
    DoubleColon,
    Ellipsis,
    FatArrow,
    Question,
    Colon,
    /// A newline, or the comment that ends with one.
    Newline,
    /// A comment, only where the lexer was told to keep them; one to the end of its line has the newline in it.
    Comment,
    EndOfFile,
    /// What the lexer has reported already.
    Refused,
}

impl TokenKind {
    /// The other end of a bracketing pair. A sequence's end answers its interpolation.
    pub(super) fn opposite(self) -> Option<TokenKind> {
        use TokenKind::*;
        Some(match self {
            OpenBrace => CloseBrace,
            CloseBrace => OpenBrace,
            OpenBracket => CloseBracket,
            CloseBracket => OpenBracket,
            OpenParen => CloseParen,
            CloseParen => OpenParen,
            OpenQuote => CloseQuote,
            CloseQuote => OpenQuote,
            OpenHeredoc => CloseHeredoc,
            CloseHeredoc => OpenHeredoc,
            Interpolation | Directive => SequenceEnd,
            SequenceEnd => Interpolation,
            _ => return None,
        })
    }
}
