//! Expressions but for templates and traversals.

use super::{RelativeTraversal, Template, TemplatePart, Traversal, with_stack};
use crate::source::Span;
use crate::syntax::json::JsonString;
use crate::syntax::parser::is_identifier;
use std::sync::Arc;

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number, `true`, `false` or `null`.
    Literal(Literal),
    /// A quoted string, heredoc or bare template that gives a string.
    Template(Template),
    /// A string of the JSON syntax.
    JsonString(Arc<JsonString>),
    /// A template that is one interpolation alone, `"${x}"`: the value keeps its type.
    TemplateWrap(Arc<Expression>),
    /// `root.step[0]`
    ScopeTraversal(Arc<Traversal>),
    /// Static steps from another expression: `f().step[0]`
    RelativeTraversal(Arc<RelativeTraversal>),
    /// `collection[key]` with a computed key.
    Index(Arc<Index>),
    /// `source[*]…` or `source.*…`
    Splat(Arc<Splat>),
    /// Inside a splat's `each`: the current item of the nearest splat whose `each` contains this.
    SplatItem,
    /// `condition ? a : b`
    Conditional(Arc<Conditional>),
    /// Two operands and an operator.
    Binary(Arc<Binary>),
    /// `-a`, `!a`
    Unary(Arc<Unary>),
    /// `name(arguments)`
    FunctionCall(Arc<FunctionCall>),
    /// `[a, b]`
    Tuple(Arc<[Expression]>),
    /// `{ a = b }`
    Object(Arc<[ObjectItem]>),
    /// `[for … : value]`
    ForTuple(Arc<ForTuple>),
    /// `{for … : key => value}`
    ForObject(Arc<ForObject>),
    /// `(a)`
    Parentheses(Arc<Expression>),
    /// Stands where a syntax error was reported. Its value is unknown, of any type.
    Invalid,
}

impl Expression {
    /// The expression without the parentheses around it.
    pub fn without_parentheses(&self) -> &Expression {
        let mut inner = self;
        while let ExpressionKind::Parentheses(wrapped) = &inner.kind {
            inner = wrapped;
        }
        inner
    }

    /// The text of a template that is one literal: `"abc"`.
    pub fn as_string_literal(&self) -> Option<&Arc<str>> {
        match &self.kind {
            ExpressionKind::Template(template) => template.as_literal(),
            _ => None,
        }
    }

    /// The text of a string that is written out, in either syntax. In the JSON syntax a template is
    /// taken as text.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match &self.kind {
            ExpressionKind::JsonString(string) => Some(&string.text),
            _ => self.as_string_literal(),
        }
    }

    /// The traversal, if the expression is one from a root name.
    pub fn as_traversal(&self) -> Option<&Arc<Traversal>> {
        match &self.kind {
            ExpressionKind::ScopeTraversal(traversal) => Some(traversal),
            _ => None,
        }
    }

    /// The word, if the expression is one alone: a root name such as `string` or `all`, or `true`,
    /// `false` or `null`.
    pub fn as_keyword(&self) -> Option<&str> {
        match &self.kind {
            ExpressionKind::ScopeTraversal(traversal) if traversal.steps.is_empty() => {
                Some(&traversal.root)
            }
            ExpressionKind::JsonString(string) if is_identifier(&string.text) => Some(&string.text),
            ExpressionKind::Literal(Literal::Bool(true)) => Some("true"),
            ExpressionKind::Literal(Literal::Bool(false)) => Some("false"),
            ExpressionKind::Literal(Literal::Null) => Some("null"),
            _ => None,
        }
    }

    /// The part of the expression that evaluation errors about its operation point to: what the
    /// reference implementation calls the start range.
    pub fn start_span(&self) -> Span {
        with_stack(|| match &self.kind {
            ExpressionKind::Index(index) => index.open_span,
            ExpressionKind::Splat(splat) => splat.marker_span,
            ExpressionKind::Conditional(conditional) => conditional.condition.start_span(),
            ExpressionKind::Binary(binary) => binary.left.start_span(),
            ExpressionKind::Unary(unary) => unary.symbol_span,
            ExpressionKind::FunctionCall(call) => call.name_span.to(call.open_span),
            ExpressionKind::Template(template) => match template.parts.first() {
                None => self.span,
                Some(TemplatePart::Literal { span, .. }) => *span,
                Some(TemplatePart::Interpolation(expression)) => expression.start_span(),
                Some(TemplatePart::If(directive)) => directive.condition.start_span(),
                Some(TemplatePart::For(directive)) => directive.open_span,
            },
            ExpressionKind::Tuple(_) | ExpressionKind::Object(_) => {
                Span { end: (self.span.start + 1).min(self.span.end), ..self.span }
            }
            ExpressionKind::Parentheses(inner) => inner.start_span(),
            ExpressionKind::ForTuple(expression) => expression.open_span,
            ExpressionKind::ForObject(expression) => expression.open_span,
            ExpressionKind::Literal(_)
            | ExpressionKind::ScopeTraversal(_)
            | ExpressionKind::RelativeTraversal(_)
            | ExpressionKind::TemplateWrap(_)
            | ExpressionKind::JsonString(_)
            | ExpressionKind::SplatItem
            | ExpressionKind::Invalid => self.span,
        })
    }
}

impl Drop for Expression {
    fn drop(&mut self) {
        if self.kind.is_leaf() {
            return;
        }
        let kind = std::mem::replace(&mut self.kind, ExpressionKind::Invalid);
        with_stack(|| drop(kind));
    }
}

impl ExpressionKind {
    fn is_leaf(&self) -> bool {
        match self {
            ExpressionKind::Literal(_)
            | ExpressionKind::ScopeTraversal(_)
            | ExpressionKind::SplatItem
            | ExpressionKind::Invalid => true,
            ExpressionKind::Template(template) => template.as_literal().is_some(),
            _ => false,
        }
    }
}

/// A value written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// The digits as written; the number is exact, whatever its size.
    Number(Arc<str>),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}

/// `collection[key]`
#[derive(Debug)]
pub struct Index {
    /// What is indexed.
    pub collection: Expression,
    /// The key.
    pub key: Expression,
    /// The opening bracket.
    pub open_span: Span,
    /// From the opening to the closing bracket.
    pub bracket_span: Span,
}

/// `source[*]…` or `source.*…`
#[derive(Debug)]
pub struct Splat {
    /// What is iterated over.
    pub source: Expression,
    /// Evaluated for each item, which [`ExpressionKind::SplatItem`] stands for.
    pub each: Expression,
    /// `[*]` or `.*`
    pub marker_span: Span,
    /// Which of the two forms.
    pub form: SplatForm,
}

/// The two forms of splat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplatForm {
    /// `[*]`: all steps after it apply to each item.
    Full,
    /// `.*`: the attribute steps after it apply to each item, an index to the result.
    AttributeOnly,
}

/// `condition ? a : b`
#[derive(Debug)]
pub struct Conditional {
    /// The condition.
    pub condition: Expression,
    /// The result where it holds.
    pub then: Expression,
    /// The result where it does not.
    pub otherwise: Expression,
}

/// Two operands and an operator.
#[derive(Debug)]
pub struct Binary {
    /// The operator.
    pub operator: BinaryOperator,
    /// The left operand.
    pub left: Expression,
    /// The right operand.
    pub right: Expression,
    /// Where the operator stands.
    pub operator_span: Span,
}

/// Operators between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl BinaryOperator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Or => "||",
            BinaryOperator::And => "&&",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
        }
    }
}

/// An operator before its operand.
#[derive(Debug)]
pub struct Unary {
    /// The operator.
    pub operator: UnaryOperator,
    /// The operand.
    pub operand: Expression,
    /// Where the operator stands.
    pub symbol_span: Span,
}

/// Operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// `name(arguments)`
#[derive(Debug)]
pub struct FunctionCall {
    /// The name with its namespaces: `provider::aws::arn_parse`.
    pub name: Arc<str>,
    /// Where the whole name stands.
    pub name_span: Span,
    /// Arguments in order.
    pub arguments: Vec<Expression>,
    /// Whether the last argument is expanded with `...`.
    pub expand_final: bool,
    /// The opening parenthesis.
    pub open_span: Span,
    /// The closing parenthesis.
    pub close_span: Span,
}

/// `key = value` of an object.
#[derive(Debug)]
pub struct ObjectItem {
    /// The key.
    pub key: ObjectKey,
    /// The value.
    pub value: Expression,
}

/// The key of an object's item. A name alone is a string, not a reference.
#[derive(Debug)]
pub struct ObjectKey {
    /// The key as it was parsed.
    pub expression: Expression,
    /// Whether it starts with a parenthesis, so that a name in it is a reference.
    pub force_expression: bool,
}

impl ObjectKey {
    /// The name, where the key is one.
    pub fn literal_name(&self) -> Option<&str> {
        if self.force_expression { None } else { self.expression.as_keyword() }
    }
}

/// `[for … : value]`
#[derive(Debug)]
pub struct ForTuple {
    /// The name for keys.
    pub key_variable: Option<Arc<str>>,
    /// The name for values.
    pub value_variable: Arc<str>,
    /// What is iterated over.
    pub collection: Expression,
    /// Evaluated for each element.
    pub value: Expression,
    /// Leaves an element out where it does not hold.
    pub condition: Option<Expression>,
    /// The opening bracket.
    pub open_span: Span,
    /// The closing bracket.
    pub close_span: Span,
}

/// `{for … : key => value}`
#[derive(Debug)]
pub struct ForObject {
    /// The name for keys.
    pub key_variable: Option<Arc<str>>,
    /// The name for values.
    pub value_variable: Arc<str>,
    /// What is iterated over.
    pub collection: Expression,
    /// The key for each element.
    pub key: Expression,
    /// The value for each element.
    pub value: Expression,
    /// Leaves an element out where it does not hold.
    pub condition: Option<Expression>,
    /// Whether values with the same key are gathered into a list (`...`).
    pub grouping: bool,
    /// The opening brace.
    pub open_span: Span,
    /// The closing brace.
    pub close_span: Span,
}
