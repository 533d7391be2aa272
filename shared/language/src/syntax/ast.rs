//! Abstract syntax.
//!
//! Spans are those that diagnostics show, so they follow the reference parser: a template includes
//! its quotes, a binary operation runs from its left to its right operand. Expressions are cheap to
//! clone (children are shared). Trees may be deep: the parser admits [`MAX_NESTING`] levels, and
//! chains of operators or indexes nest to the left without limit, so whoever walks a tree
//! recursively grows the stack with [`with_stack`].

use std::sync::Arc;

use super::json::JsonString;
use super::parser::is_identifier;
use crate::source::Span;

/// How deep brackets, templates, operands and blocks may nest.
pub const MAX_NESTING: u32 = 20_000;

/// Runs `f` with enough stack for one more level of recursion.
pub fn with_stack<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, f)
}

/// The syntax that a part of the configuration is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The native syntax.
    Native,
    /// JSON.
    Json,
}

/// The content of a file or block.
///
/// In the JSON syntax blocks look like arguments: they are among the attributes until
/// [`interpreted`](crate::decode::interpreted) by a schema.
#[derive(Debug)]
pub struct Body {
    /// In source order; of two with the same name the first.
    pub attributes: Vec<Attribute>,
    /// In source order.
    pub blocks: Vec<Block>,
    /// What it is written in.
    pub syntax: Syntax,
    /// From the opening to the closing brace, or the whole file.
    pub span: Span,
    /// The empty range at the end; in JSON the closing brace.
    pub end_span: Span,
}

impl Body {
    /// The attribute with that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| &*attribute.name == name)
    }

    /// Where it is reported that something is missing.
    pub fn missing_item_span(&self) -> Span {
        match self.syntax {
            Syntax::Native => self.span.start_point(),
            Syntax::Json => self.end_span,
        }
    }
}

impl Clone for Body {
    fn clone(&self) -> Self {
        with_stack(|| Self {
            attributes: self.attributes.clone(),
            blocks: self.blocks.clone(),
            syntax: self.syntax,
            span: self.span,
            end_span: self.end_span,
        })
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if !self.blocks.is_empty() {
            let blocks = std::mem::take(&mut self.blocks);
            with_stack(|| drop(blocks));
        }
    }
}

/// `name = expression`
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Arc<str>,
    /// Where the name stands.
    pub name_span: Span,
    /// Where the equals sign stands.
    pub equals_span: Span,
    /// The value.
    pub expression: Expression,
    /// What it is written in. In JSON it may be a block, or many.
    pub syntax: Syntax,
    /// From the name to the end of the value.
    pub span: Span,
}

/// `type "label" { … }`
#[derive(Clone, Debug)]
pub struct Block {
    /// The block type.
    pub type_name: Arc<str>,
    /// Where the type stands.
    pub type_span: Span,
    /// Labels in source order.
    pub labels: Vec<Label>,
    /// Where the opening brace stands; the type's place if there is none.
    pub open_brace_span: Span,
    /// Where the closing brace stands; the type's place if there is none.
    pub close_brace_span: Span,
    /// The content.
    pub body: Body,
}

impl Block {
    /// The header: type and labels; in JSON, where they may stand far apart, the opening brace or
    /// bracket.
    pub fn header_span(&self) -> Span {
        if self.body.syntax == Syntax::Json {
            return self.open_brace_span;
        }
        self.labels.last().map_or(self.type_span, |label| self.type_span.to(label.span))
    }

    /// From the type to the closing brace.
    pub fn span(&self) -> Span {
        self.type_span.to(self.close_brace_span)
    }
}

/// One label of a block.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its text, escapes resolved.
    pub text: Arc<str>,
    /// Where it stands, with quotes.
    pub span: Span,
    /// Whether it is quoted.
    pub quoted: bool,
}

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

/// Literal text, interpolations and directives. The common indentation of a flush heredoc is gone
/// from its literals already.
#[derive(Clone, Debug)]
pub struct Template {
    /// At least one part; the empty string is one empty literal. Adjacent literals are one.
    pub parts: Arc<[TemplatePart]>,
}

impl Template {
    /// The text, if the template is one literal.
    pub fn as_literal(&self) -> Option<&Arc<str>> {
        match &*self.parts {
            [TemplatePart::Literal { text, .. }] => Some(text),
            _ => None,
        }
    }
}

/// One part of a template.
#[derive(Clone, Debug)]
pub enum TemplatePart {
    /// Text with escapes resolved, trim markers applied and Unicode in normal form C.
    Literal {
        /// The text.
        text: Arc<str>,
        /// Where it stands.
        span: Span,
    },
    /// `${expression}`
    Interpolation(Expression),
    /// `%{if}…%{else}…%{endif}`
    If(Arc<TemplateIf>),
    /// `%{for}…%{endfor}`
    For(Arc<TemplateFor>),
}

impl TemplatePart {
    /// Where it stands; for an interpolation the expression alone.
    pub fn span(&self) -> Span {
        match self {
            TemplatePart::Literal { span, .. } => *span,
            TemplatePart::Interpolation(expression) => expression.span,
            TemplatePart::If(directive) => directive.span,
            TemplatePart::For(directive) => directive.span,
        }
    }
}

/// `%{if}…%{else}…%{endif}`
#[derive(Debug)]
pub struct TemplateIf {
    /// The condition.
    pub condition: Expression,
    /// A [`Template`]; a missing branch is the empty string.
    pub then: Expression,
    /// A [`Template`]; a missing branch is the empty string.
    pub otherwise: Expression,
    /// From `%{if` to the end of `%{endif}`.
    pub span: Span,
}

/// `%{for}…%{endfor}`
#[derive(Debug)]
pub struct TemplateFor {
    /// The name for keys.
    pub key_variable: Option<Arc<str>>,
    /// The name for values.
    pub value_variable: Arc<str>,
    /// What is iterated over.
    pub collection: Expression,
    /// A [`Template`], evaluated for each element.
    pub body: Expression,
    /// The opening directive.
    pub open_span: Span,
    /// The closing directive.
    pub close_span: Span,
    /// From `%{for` to the end of `%{endfor}`.
    pub span: Span,
}

/// A root name and static steps from it.
#[derive(Clone, Debug)]
pub struct Traversal {
    /// The root name.
    pub root: Arc<str>,
    /// Where the root name stands.
    pub root_span: Span,
    /// Steps in order.
    pub steps: Vec<TraversalStep>,
}

impl Traversal {
    /// From the root name to the last step.
    pub fn span(&self) -> Span {
        self.steps.last().map_or(self.root_span, |step| self.root_span.to(step.span()))
    }
}

/// One static step.
#[derive(Clone, Debug)]
pub enum TraversalStep {
    /// `.name`
    Attribute {
        /// The name.
        name: Arc<str>,
        /// With the dot.
        span: Span,
    },
    /// `[0]`, `["key"]`, `.0`
    Index {
        /// The key.
        key: IndexKey,
        /// With the brackets or dot.
        span: Span,
    },
    /// `[*]`, only in traversals that are not evaluated.
    Splat {
        /// With the brackets.
        span: Span,
    },
}

impl TraversalStep {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            TraversalStep::Attribute { span, .. }
            | TraversalStep::Index { span, .. }
            | TraversalStep::Splat { span } => *span,
        }
    }
}

/// A key that is a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexKey {
    /// The digits as written.
    Number(Arc<str>),
    /// The text, escapes resolved.
    String(Arc<str>),
    /// Refused when evaluated, as the reference does.
    Bool(bool),
    /// Refused when evaluated.
    Null,
    /// Stands where a syntax error was reported; unknown.
    Invalid,
}

/// Static steps from another expression.
#[derive(Debug)]
pub struct RelativeTraversal {
    /// Where the steps start from.
    pub source: Expression,
    /// Steps in order.
    pub steps: Vec<TraversalStep>,
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
