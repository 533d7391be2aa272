//! Expressions: operators, terms and constructors.

use std::sync::Arc;

use super::Parser;
use crate::source::Span;
use crate::syntax::ast::{
    Binary, BinaryOperator, Conditional, Expression, ExpressionKind, ForObject, ForTuple,
    FunctionCall, Literal, ObjectItem, ObjectKey, Traversal, Unary, UnaryOperator,
};
use crate::syntax::literal::is_number;
use crate::syntax::token::{Token, TokenKind};

/// The loosest level of binary operators; higher levels bind tighter.
const LOOSEST: u8 = 1;

/// Numbers of so few digits are often repeated, so that their text is shared.
const SHARED_DIGITS: usize = 3;

/// The operator that a token stands for, and its level.
fn binary_operator(kind: TokenKind) -> Option<(BinaryOperator, u8)> {
    use BinaryOperator as Op;
    Some(match kind {
        TokenKind::Or => (Op::Or, 1),
        TokenKind::And => (Op::And, 2),
        TokenKind::EqualEqual => (Op::Equal, 3),
        TokenKind::NotEqual => (Op::NotEqual, 3),
        TokenKind::Greater => (Op::Greater, 4),
        TokenKind::GreaterOrEqual => (Op::GreaterOrEqual, 4),
        TokenKind::Less => (Op::Less, 4),
        TokenKind::LessOrEqual => (Op::LessOrEqual, 4),
        TokenKind::Plus => (Op::Add, 5),
        TokenKind::Minus => (Op::Subtract, 5),
        TokenKind::Star => (Op::Multiply, 6),
        TokenKind::Slash => (Op::Divide, 6),
        TokenKind::Percent => (Op::Modulo, 6),
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Expression {
        self.nested(Self::refused_expression, Self::conditional)
    }

    fn refused_expression(&mut self) -> Expression {
        let next = self.peek();
        self.invalid(self.span(next))
    }

    fn conditional(&mut self) -> Expression {
        let start = self.peek();
        let (condition, failed) = self.attempt(|parser| parser.binary(LOOSEST));
        if failed || self.eat(TokenKind::Question).is_none() {
            return condition;
        }
        let (then, failed) = self.attempt(Self::expression);
        if failed {
            return condition;
        }
        if self.eat(TokenKind::Colon).is_none() {
            let next = self.peek();
            let detail = "The conditional operator (...?...:...) requires a false expression, delimited by a colon.";
            self.report_from(start, "Missing false expression in conditional", detail, next);
            return condition;
        }
        let (otherwise, failed) = self.attempt(Self::expression);
        if failed {
            return condition;
        }
        let span = self.span(start).to(otherwise.span);
        let conditional = Conditional { condition, then, otherwise };
        Expression { kind: ExpressionKind::Conditional(Arc::new(conditional)), span }
    }

    /// Operands and operators that bind at least as tightly as `loosest`. Operators of one level
    /// group to the left.
    fn binary(&mut self, loosest: u8) -> Expression {
        let (mut left, failed) = self.attempt(Self::operand);
        if failed {
            return left;
        }
        loop {
            let next = self.peek();
            let Some((operator, level)) = binary_operator(next.kind) else { return left };
            if level < loosest {
                return left;
            }
            self.read();
            let (right, failed) = self.attempt(|parser| parser.binary(level + 1));
            if failed {
                return left;
            }
            let span = left.span.to(right.span);
            let operator_span = self.span(next);
            let binary = Binary { operator, left, right, operator_span };
            left = Expression { kind: ExpressionKind::Binary(Arc::new(binary)), span };
        }
    }

    fn operand(&mut self) -> Expression {
        let term = self.term();
        self.postfix(term)
    }

    fn term(&mut self) -> Expression {
        let start = self.peek();
        let span = self.span(start);
        match start.kind {
            TokenKind::OpenParen => self.parentheses(start),
            TokenKind::Number => {
                self.read();
                let kind = match self.number(start) {
                    Some(text) => ExpressionKind::Literal(Literal::Number(text)),
                    None => ExpressionKind::Invalid,
                };
                Expression { kind, span }
            }
            TokenKind::Identifier => {
                self.read();
                if matches!(self.peek_kind(), TokenKind::OpenParen | TokenKind::DoubleColon) {
                    return self.function_call(start);
                }
                let kind = match self.bytes(start) {
                    b"true" => ExpressionKind::Literal(Literal::Bool(true)),
                    b"false" => ExpressionKind::Literal(Literal::Bool(false)),
                    b"null" => ExpressionKind::Literal(Literal::Null),
                    _ => {
                        let root = self.name(start);
                        let traversal = Traversal { root, root_span: span, steps: Vec::new() };
                        ExpressionKind::ScopeTraversal(Arc::new(traversal))
                    }
                };
                Expression { kind, span }
            }
            TokenKind::OpenQuote | TokenKind::OpenHeredoc => self.delimited_template(),
            TokenKind::Minus => self.unary(UnaryOperator::Negate),
            TokenKind::Not => self.unary(UnaryOperator::Not),
            TokenKind::OpenBracket => self.tuple(),
            TokenKind::OpenBrace => self.object(),
            _ => {
                if !self.recovering {
                    if start.kind == TokenKind::EndOfFile {
                        let detail =
                            "Expected the start of an expression, but found the end of the file.";
                        self.report("Missing expression", detail, start);
                    } else {
                        let detail = "Expected the start of an expression, but found an invalid expression token.";
                        self.report("Invalid expression", detail, start);
                    }
                }
                self.recovering = true;
                self.invalid(span)
            }
        }
    }

    fn parentheses(&mut self, open: Token) -> Expression {
        self.read();
        self.ignoring_newlines(|parser| {
            let before = parser.diagnostics.len();
            let inner = parser.expression();
            if parser.diagnostics.len() > before {
                parser.recover(TokenKind::CloseParen);
                return inner;
            }
            let next = parser.peek();
            if next.kind != TokenKind::CloseParen {
                let detail = "Expected a closing parenthesis to terminate the expression.";
                parser.report_from(open, "Unbalanced parentheses", detail, next);
                parser.recovering = true;
            }
            let close = parser.read();
            let span = parser.span_between(open, close);
            Expression { kind: ExpressionKind::Parentheses(Arc::new(inner)), span }
        })
    }

    /// The digits of a number, if they are one.
    pub(super) fn number(&mut self, token: Token) -> Option<Arc<str>> {
        let text = self.str(token);
        if is_number(text) {
            return Some(if text.len() <= SHARED_DIGITS { self.name(token) } else { text.into() });
        }
        let detail = "Failed to recognize the value of this number literal.";
        self.report("Invalid number literal", detail, token);
        None
    }

    /// An operator binds its operand before any binary operator does: `-4 + 5` is `(-4) + 5`.
    fn unary(&mut self, operator: UnaryOperator) -> Expression {
        let symbol = self.read();
        let operand = self.nested(Self::refused_expression, Self::operand);
        let symbol_span = self.span(symbol);
        let span = symbol_span.to(operand.span);
        let unary = Unary { operator, operand, symbol_span };
        Expression { kind: ExpressionKind::Unary(Arc::new(unary)), span }
    }

    /// The rest of a call, from the opening parenthesis or the first `::` on.
    fn function_call(&mut self, name: Token) -> Expression {
        let mut open = self.read();
        let mut last_name = name;
        let mut qualified = None;
        while open.kind == TokenKind::DoubleColon {
            let next = self.read();
            if next.kind != TokenKind::Identifier {
                let detail = "Function scope resolution symbol :: must be followed by a function name in this scope.";
                self.report_from(name, "Missing function name", detail, next);
                self.recover_over(TokenKind::OpenParen);
                return self.invalid(self.span_between(name, next));
            }
            let whole = qualified.get_or_insert_with(|| self.str(name).to_owned());
            whole.push_str("::");
            whole.push_str(self.str(next));
            last_name = next;
            open = self.read();
        }
        if open.kind != TokenKind::OpenParen {
            let detail = "Function selector must be followed by an open parenthesis to begin the function call.";
            self.report_from(name, "Missing open parenthesis", detail, open);
            self.recover_over(TokenKind::OpenParen);
            return self.invalid(self.span_between(name, open));
        }
        let (mut arguments, expand_final, close) =
            self.ignoring_newlines(|parser| parser.arguments(name, open));
        arguments.shrink_to_fit();
        let name_span = self.span_between(name, last_name);
        let call = FunctionCall {
            name: qualified.map_or_else(|| self.name(name), Arc::from),
            name_span,
            arguments,
            expand_final,
            open_span: self.span(open),
            close_span: self.span(close),
        };
        let span = name_span.to(call.close_span);
        Expression { kind: ExpressionKind::FunctionCall(Arc::new(call)), span }
    }

    fn arguments(&mut self, name: Token, open: Token) -> (Vec<Expression>, bool, Token) {
        let mut arguments = Vec::new();
        loop {
            if let Some(close) = self.eat(TokenKind::CloseParen) {
                return (arguments, false, close);
            }
            let (argument, failed) = self.attempt(Self::expression);
            arguments.push(argument);
            if failed {
                return (arguments, false, self.recover(TokenKind::CloseParen));
            }
            let separator = self.read();
            match separator.kind {
                TokenKind::CloseParen => return (arguments, false, separator),
                TokenKind::Comma => {}
                TokenKind::Ellipsis => {
                    if let Some(close) = self.eat(TokenKind::CloseParen) {
                        return (arguments, true, close);
                    }
                    if !self.recovering {
                        let detail = "An expanded function argument (with ...) must be immediately followed by closing parentheses.";
                        self.report_from(name, "Missing closing parenthesis", detail, separator);
                    }
                    return (arguments, true, self.recover(TokenKind::CloseParen));
                }
                TokenKind::EndOfFile => {
                    let detail = "There is no closing parenthesis for this function call before the end of the file. This may be caused by incorrect parenthesis nesting elsewhere in this file.";
                    let place = self.span_between(name, open);
                    self.report_at("Unterminated function call", detail, place);
                    return (arguments, false, self.recover(TokenKind::CloseParen));
                }
                _ => {
                    let detail =
                        "A comma is required to separate each function argument from the next.";
                    self.report_from(name, "Missing argument separator", detail, separator);
                    return (arguments, false, self.recover(TokenKind::CloseParen));
                }
            }
        }
    }

    fn tuple(&mut self) -> Expression {
        let open = self.read();
        self.ignoring_newlines(|parser| {
            if parser.is_keyword("for") {
                return parser.for_expression(open);
            }
            let mut items = Vec::new();
            let close = loop {
                if let Some(close) = parser.eat(TokenKind::CloseBracket) {
                    break close;
                }
                let (item, failed) = parser.attempt(Self::expression);
                items.push(item);
                if failed {
                    break parser.recover(TokenKind::CloseBracket);
                }
                let next = parser.peek();
                match next.kind {
                    TokenKind::CloseBracket => {}
                    TokenKind::Comma => {
                        parser.read();
                    }
                    _ => {
                        parser.report_tuple_separator(open, next);
                        break parser.recover(TokenKind::CloseBracket);
                    }
                }
            };
            let span = parser.span_between(open, close);
            Expression { kind: ExpressionKind::Tuple(items.into()), span }
        })
    }

    fn report_tuple_separator(&mut self, open: Token, next: Token) {
        if self.recovering {
            return;
        }
        if next.kind == TokenKind::EndOfFile {
            let detail = "There is no corresponding closing bracket before the end of the file. This may be caused by incorrect bracket nesting elsewhere in this file.";
            self.report("Unterminated tuple constructor expression", detail, open);
        } else {
            let detail = "Expected a comma to mark the beginning of the next item.";
            self.report_from(open, "Missing item separator", detail, next);
        }
    }

    fn object(&mut self) -> Expression {
        let open = self.read();
        // A newline may stand before `for`, although newlines separate items otherwise.
        if self.ignoring_newlines(|parser| parser.is_keyword("for")) {
            return self.for_expression(open);
        }
        self.with_newlines(true, |parser| {
            let mut items = Vec::new();
            let close = loop {
                let next = parser.peek();
                match next.kind {
                    TokenKind::Newline => {
                        parser.read();
                        continue;
                    }
                    TokenKind::CloseBrace => break parser.read(),
                    _ => {}
                }
                let force_expression = next.kind == TokenKind::OpenParen;
                let (key, failed) = parser.attempt(Self::expression);
                if failed {
                    break parser.recover(TokenKind::CloseBrace);
                }
                let next = parser.peek();
                if !matches!(next.kind, TokenKind::Equal | TokenKind::Colon) {
                    parser.report_key_separator(open, next);
                    break parser.recover(TokenKind::CloseBrace);
                }
                parser.read();
                let (value, failed) = parser.attempt(Self::expression);
                if failed {
                    break parser.recover(TokenKind::CloseBrace);
                }
                let key = ObjectKey { expression: key, force_expression };
                items.push(ObjectItem { key, value });
                let next = parser.peek();
                match next.kind {
                    TokenKind::CloseBrace => {}
                    TokenKind::Comma | TokenKind::Newline => {
                        parser.read();
                    }
                    _ => {
                        parser.report_item_separator(open, next);
                        break parser.recover(TokenKind::CloseBrace);
                    }
                }
            };
            let span = parser.span_between(open, close);
            Expression { kind: ExpressionKind::Object(items.into()), span }
        })
    }

    fn report_key_separator(&mut self, open: Token, next: Token) {
        if self.recovering {
            return;
        }
        let (summary, detail) = match next.kind {
            TokenKind::Newline | TokenKind::Comma => (
                "Missing attribute value",
                "Expected an attribute value, introduced by an equals sign (\"=\").",
            ),
            TokenKind::Identifier => (
                "Missing key/value separator",
                "Expected an equals sign (\"=\") to mark the beginning of the attribute value. If you intended to given an attribute name containing periods or spaces, write the name in quotes to create a string literal.",
            ),
            TokenKind::EndOfFile => return self.report_unterminated_object(open),
            _ => (
                "Missing key/value separator",
                "Expected an equals sign (\"=\") to mark the beginning of the attribute value.",
            ),
        };
        self.report_from(open, summary, detail, next);
    }

    fn report_item_separator(&mut self, open: Token, next: Token) {
        if self.recovering {
            return;
        }
        if next.kind == TokenKind::EndOfFile {
            return self.report_unterminated_object(open);
        }
        let detail = "Expected a newline or comma to mark the beginning of the next attribute.";
        self.report_from(open, "Missing attribute separator", detail, next);
    }

    fn report_unterminated_object(&mut self, open: Token) {
        let detail = "There is no corresponding closing brace before the end of the file. This may be caused by incorrect brace nesting elsewhere in this file.";
        self.report("Unterminated object constructor expression", detail, open);
    }

    /// The rest of a `for` expression, from the keyword on.
    fn for_expression(&mut self, open: Token) -> Expression {
        self.ignoring_newlines(|parser| match parser.for_parts(open) {
            Ok(expression) => expression,
            Err(ForError { reported }) => {
                if let Some((detail, subject)) = reported
                    && !parser.recovering
                {
                    parser.report_from(open, FOR_SUMMARY, detail, subject);
                }
                let close = parser.recover(parser.for_close(open));
                parser.invalid(parser.span_between(open, close))
            }
        })
    }

    fn for_close(&self, open: Token) -> TokenKind {
        open.kind.opposite().unwrap_or(TokenKind::CloseBracket)
    }

    fn for_parts(&mut self, open: Token) -> Result<Expression, ForError> {
        self.read();
        let variables = self.for_variables(
            "For expression requires variable name after 'for'.",
            "For expression requires value variable name after comma.",
            "For expression requires the 'in' keyword after its name declarations.",
        );
        let (key_variable, value_variable) = variables.map_err(ForError::at)?;
        let collection = self.for_operand()?;
        if self.eat(TokenKind::Colon).is_none() {
            let detail = "For expression requires a colon after the collection expression.";
            return Err(ForError::at((detail, self.peek())));
        }
        let before = self.diagnostics.len();
        let mut value = self.expression();
        let mut key = None;
        if self.eat(TokenKind::FatArrow).is_some() {
            key = Some(std::mem::replace(&mut value, self.invalid(Span::new(self.file, 0, 0))));
            value = self.expression();
        }
        if self.recovering && self.diagnostics.len() > before {
            return Err(ForError { reported: None });
        }
        let ellipsis = self.eat(TokenKind::Ellipsis);
        let mut condition = None;
        if self.is_keyword("if") {
            self.read();
            condition = Some(self.for_operand()?);
        }
        let close = match self.eat(self.for_close(open)) {
            Some(close) => close,
            None => {
                if !self.recovering {
                    let next = self.peek();
                    let detail = "Extra characters after the end of the 'for' expression.";
                    self.report_from(open, FOR_SUMMARY, detail, next);
                }
                self.recover(self.for_close(open))
            }
        };
        let span = self.span_between(open, close);
        let (open_span, close_span) = (self.span(open), self.span(close));
        if open.kind == TokenKind::OpenBracket {
            if let Some(key) = &key {
                let detail = "Key expression is not valid when building a tuple.";
                self.report_within(FOR_SUMMARY, detail, key.span, span);
            }
            if let Some(ellipsis) = ellipsis {
                let detail = "Grouping ellipsis (...) cannot be used when building a tuple.";
                self.report_within(FOR_SUMMARY, detail, self.span(ellipsis), span);
            }
            let parts = ForTuple {
                key_variable,
                value_variable,
                collection,
                value,
                condition,
                open_span,
                close_span,
            };
            return Ok(Expression { kind: ExpressionKind::ForTuple(Arc::new(parts)), span });
        }
        let key = key.unwrap_or_else(|| {
            let detail = "Key expression is required when building an object.";
            self.report_within(FOR_SUMMARY, detail, value.span, span);
            self.invalid(value.span)
        });
        let parts = ForObject {
            key_variable,
            value_variable,
            collection,
            key,
            value,
            condition,
            grouping: ellipsis.is_some(),
            open_span,
            close_span,
        };
        Ok(Expression { kind: ExpressionKind::ForObject(Arc::new(parts)), span })
    }

    fn for_operand(&mut self) -> Result<Expression, ForError> {
        match self.attempt(Self::expression) {
            (_, true) => Err(ForError { reported: None }),
            (operand, false) => Ok(operand),
        }
    }

    /// `value in` or `key, value in`. An error is one of the given details and its place.
    pub(super) fn for_variables(
        &mut self,
        no_name: &'static str,
        no_value_name: &'static str,
        no_in: &'static str,
    ) -> Result<ForVariables, (&'static str, Token)> {
        let first = self.eat(TokenKind::Identifier).ok_or_else(|| (no_name, self.peek()))?;
        let mut value = self.name(first);
        let mut key = None;
        if self.eat(TokenKind::Comma).is_some() {
            let second =
                self.eat(TokenKind::Identifier).ok_or_else(|| (no_value_name, self.peek()))?;
            key = Some(std::mem::replace(&mut value, self.name(second)));
        }
        if !self.is_keyword("in") {
            return Err((no_in, self.peek()));
        }
        self.read();
        Ok((key, value))
    }
}

/// The names for keys and values.
pub(super) type ForVariables = (Option<Arc<str>>, Arc<str>);

const FOR_SUMMARY: &str = "Invalid 'for' expression";

/// A `for` expression that cannot be parsed further.
struct ForError {
    /// What is still to be reported, unless an earlier error is being recovered from.
    reported: Option<(&'static str, Token)>,
}

impl ForError {
    fn at(reported: (&'static str, Token)) -> Self {
        Self { reported: Some(reported) }
    }
}
