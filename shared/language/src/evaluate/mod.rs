//! Evaluates expressions.
//!
//! [`Evaluation`] is the way in. Evaluation never stops at an error: what failed gives an unknown
//! value of any type, so that one pass finds all that is wrong.

mod allowance;
mod call;
mod conditional;
mod for_expression;
mod index;
mod locals;
mod object;
mod operators;
mod provider_call;
mod snapshot;
mod splat;
mod template;
mod template_functions;
mod traversal;
mod type_function;

use values::convert::convert;
use values::{Number, Type, Value};

use crate::diagnostics::{Cause, Diagnostic, Diagnostics};
use crate::reads::{OpenRead, PartReads, ReadLog};
use crate::reference::{Reference, Visit, visit_traversals};
use crate::scope::Scope;
use crate::syntax::JsonString;
use crate::syntax::ast::{Body, Expression, ExpressionKind, Literal, with_stack};

pub(crate) use for_expression::elements;
pub(crate) use locals::{Binding, Frame, Locals, Origin};
pub use traversal::follow;
pub use type_function::{ConsoleResult, type_text};

/// A run of evaluations in one scope, and what it found.
pub struct Evaluation<'a> {
    scope: &'a dyn Scope,
    /// What was looked at.
    pub reads: ReadLog,
    /// What went wrong.
    pub diagnostics: Diagnostics,
}

impl<'a> Evaluation<'a> {
    /// Nothing evaluated yet.
    pub fn new(scope: &'a dyn Scope) -> Self {
        Self { scope, reads: ReadLog::new(), diagnostics: Diagnostics::new() }
    }

    /// The value of an expression; unknown of any type after an error.
    pub fn expression(&mut self, expression: &Expression) -> Value {
        self.expression_as(expression, &Type::Dynamic)
    }

    /// The value of an expression converted to a type constraint; unknown of that type after an
    /// error.
    pub fn expression_as(&mut self, expression: &Expression, ty: &Type) -> Value {
        let mut evaluator = Evaluator::new(Some(self.scope));
        evaluator.check_references(expression);
        if evaluator.refused.is_empty() {
            let value = evaluator.evaluate(expression, Locals::Outermost);
            let value = evaluator.converted(value, expression, ty);
            let failed = !evaluator.refused.is_empty();
            self.take(evaluator);
            return if failed { Value::unknown(ty.without_optional()) } else { value };
        }
        self.take(evaluator);
        Value::unknown(ty.without_optional())
    }

    /// The value of an expression, and what it looked at by the parts of the value; not in
    /// [`Evaluation::reads`] then.
    pub fn expression_in_parts(&mut self, expression: &Expression) -> (Value, PartReads) {
        let mut evaluator = Evaluator::new(Some(self.scope));
        evaluator.check_references(expression);
        if !evaluator.refused.is_empty() {
            self.take(evaluator);
            return (Value::dynamic(), PartReads::default());
        }
        let (value, parts, alias) = match &expression.without_parentheses().kind {
            ExpressionKind::Object(items) => {
                let (value, parts) = evaluator.object_in_parts(items, Locals::Outermost);
                (value, parts, None)
            }
            _ => {
                let tracked = evaluator.evaluate_tracked(expression, Locals::Outermost);
                (tracked.value, None, tracked.open)
            }
        };
        let failed = !evaluator.refused.is_empty();
        let reads = std::mem::take(&mut evaluator.reads).into_parts(parts, alias);
        self.take(evaluator);
        (if failed { Value::dynamic() } else { value }, reads)
    }

    /// The object that a body gives by a schema, dynamic blocks expanded; unknown of the schema's
    /// type where a reference in it is refused.
    pub fn body(&mut self, body: &Body, schema: &values::schema::Block) -> Value {
        let mut evaluator = Evaluator::new(Some(self.scope));
        let value = crate::decode::body(&mut evaluator, body, schema);
        self.take(evaluator);
        value
    }

    /// What the console says of an expression: a value, or the text that `type` gives.
    pub fn console(&mut self, expression: &Expression) -> Option<ConsoleResult> {
        let mut evaluator = Evaluator::new(Some(self.scope));
        let result = type_function::console(&mut evaluator, expression);
        self.take(evaluator);
        result
    }

    /// The values that an expression sees, as prepared statements for a diagnostic about it.
    /// `cause` says which property of a value is at fault, so that it is worth mentioning.
    pub fn describe(&self, expression: &Expression, cause: Option<Cause>) -> Vec<(String, String)> {
        snapshot::describe(Some(self.scope), expression, Locals::Outermost, cause)
    }

    /// The scope.
    pub fn scope(&self) -> &'a dyn Scope {
        self.scope
    }

    fn take(&mut self, evaluator: Evaluator<'a>) {
        self.reads.append(evaluator.reads);
        if evaluator.refused.is_empty() {
            self.diagnostics.extend(evaluator.diagnostics);
        } else {
            // What else failed may be a consequence.
            self.diagnostics.extend(evaluator.refused);
        }
    }
}

/// The value of an expression that may use neither references nor functions.
pub fn constant(expression: &Expression) -> (Value, Diagnostics) {
    let mut evaluator = Evaluator::new(None);
    let value = evaluator.evaluate(expression, Locals::Outermost);
    (value, evaluator.diagnostics.into_iter().collect())
}

/// The state of one evaluation.
pub(crate) struct Evaluator<'a> {
    pub(crate) scope: Option<&'a dyn Scope>,
    pub(crate) reads: ReadLog,
    /// All are errors, so that their number says whether something failed meanwhile.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Errors about references themselves: not caught by `try`, and hiding all others.
    pub(crate) refused: Vec<Diagnostic>,
    /// Within how many calls of `try` and `can`: diagnostics are not worth describing there.
    attempts: u32,
    template_depth: u32,
    allowance: allowance::Allowance,
    console: bool,
}

/// A value, and the read that it came from where further steps may still narrow that.
pub(crate) struct Tracked {
    value: Value,
    open: Option<OpenRead>,
}

impl From<Value> for Tracked {
    fn from(value: Value) -> Self {
        Tracked { value, open: None }
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(scope: Option<&'a dyn Scope>) -> Self {
        Evaluator {
            scope,
            reads: ReadLog::new(),
            diagnostics: Vec::new(),
            refused: Vec::new(),
            attempts: 0,
            template_depth: 0,
            allowance: allowance::Allowance::default(),
            console: false,
        }
    }

    /// Refuses references that cannot be resolved, whichever way evaluation would go.
    fn check_references(&mut self, expression: &Expression) {
        visit_traversals(expression, None, &mut |visit| {
            if let Visit::Traversal(traversal) = visit {
                self.check_reference(traversal);
            }
        });
    }

    pub(crate) fn check_reference(
        &mut self,
        traversal: &std::sync::Arc<crate::syntax::ast::Traversal>,
    ) {
        let parsed = match self.scope {
            Some(scope) => scope.parse(traversal),
            None => Reference::parse(traversal),
        };
        match (parsed, self.scope) {
            (Err(error), _) => self.refused.push(*error),
            (Ok(reference), Some(scope)) => self.refused.extend(scope.check(&reference)),
            (Ok(_), None) => {}
        }
    }

    fn converted(&mut self, value: Value, expression: &Expression, ty: &Type) -> Value {
        if *ty == Type::Dynamic {
            return value;
        }
        convert(&value, ty).unwrap_or_else(|error| {
            self.fail(
                Diagnostic::error(
                    "Incorrect value type",
                    format!("Invalid expression value: {error}."),
                )
                .at(expression.span),
                expression,
                Locals::Outermost,
            );
            Value::unknown(ty.without_optional())
        })
    }

    /// Evaluates an expression.
    pub(crate) fn evaluate(&mut self, expression: &Expression, locals: Locals<'_>) -> Value {
        self.evaluate_tracked(expression, locals).value
    }

    fn evaluate_tracked(&mut self, expression: &Expression, locals: Locals<'_>) -> Tracked {
        match &expression.kind {
            ExpressionKind::Literal(literal) => literal_value(literal).into(),
            ExpressionKind::ScopeTraversal(traversal) => {
                self.scope_traversal(traversal, expression, locals)
            }
            ExpressionKind::SplatItem => match locals.item() {
                Some((value, origin)) => self.local(value, origin),
                None => Value::dynamic().into(),
            },
            ExpressionKind::Invalid => Value::dynamic().into(),
            ExpressionKind::Template(template) => match template.as_literal() {
                Some(text) => Value::shared_string(text.clone()).into(),
                None => with_stack(|| self.template(template, expression, locals)).into(),
            },
            ExpressionKind::JsonString(string) => self.json_string(string, locals),
            _ => with_stack(|| self.evaluate_deep(expression, locals)),
        }
    }

    /// A name of the expression's own; a read, where it stands for a part of something.
    fn local(&mut self, value: &Value, origin: Option<&Origin>) -> Tracked {
        let open = origin.map(|origin| self.reads.open(origin.0.clone()));
        Tracked { value: value.clone(), open }
    }

    fn evaluate_deep(&mut self, expression: &Expression, locals: Locals<'_>) -> Tracked {
        match &expression.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::ScopeTraversal(_)
            | ExpressionKind::SplatItem
            | ExpressionKind::Invalid
            | ExpressionKind::JsonString(_)
            | ExpressionKind::Template(_) => self.evaluate_tracked(expression, locals),
            ExpressionKind::Parentheses(inner) | ExpressionKind::TemplateWrap(inner) => {
                self.evaluate_tracked(inner, locals)
            }
            ExpressionKind::RelativeTraversal(relative) => {
                self.relative_traversal(relative, expression, locals)
            }
            ExpressionKind::Index(index) => self.index(index, expression, locals),
            ExpressionKind::Splat(splat) => self.splat(splat, expression, locals).into(),
            ExpressionKind::Conditional(conditional) => {
                self.conditional(conditional, expression, locals).into()
            }
            ExpressionKind::Binary(binary) => self.binary(binary, expression, locals).into(),
            ExpressionKind::Unary(unary) => self.unary(unary, expression, locals).into(),
            ExpressionKind::FunctionCall(call) => self.call(call, expression, locals).into(),
            ExpressionKind::Tuple(items) => {
                let items: Vec<Value> =
                    items.iter().map(|item| self.evaluate(item, locals)).collect();
                Value::tuple(items).into()
            }
            ExpressionKind::Object(items) => self.object(items, locals).into(),
            ExpressionKind::ForTuple(for_tuple) => {
                self.for_tuple(for_tuple, expression, locals).into()
            }
            ExpressionKind::ForObject(for_object) => {
                self.for_object(for_object, expression, locals).into()
            }
        }
    }

    /// Where nothing but constants is admitted a string is taken as it is.
    fn json_string(&mut self, string: &JsonString, locals: Locals<'_>) -> Tracked {
        if self.scope.is_none() {
            return Value::string(&string.text).into();
        }
        if string.errors.has_errors() {
            self.diagnostics.extend(string.errors.iter().cloned());
            return Value::dynamic().into();
        }
        self.evaluate_tracked(&string.template, locals)
    }

    /// Reports an error about an expression, with the values that it saw.
    pub(crate) fn fail(&mut self, diagnostic: Diagnostic, about: &Expression, locals: Locals<'_>) {
        let diagnostic = match self.attempts {
            0 => diagnostic.with_values(snapshot::describe(self.scope, about, locals, None)),
            _ => diagnostic,
        };
        self.diagnostics.push(diagnostic);
    }

    pub(crate) fn has_failed_since(&self, mark: usize) -> bool {
        self.diagnostics.len() > mark
    }
}

fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Bool(value) => Value::bool(*value),
        Literal::Null => Value::dynamic_null(),
        Literal::Number(digits) => match Number::parse(digits) {
            Some(number) => Value::number(number),
            None => Value::unknown(Type::Number),
        },
    }
}
