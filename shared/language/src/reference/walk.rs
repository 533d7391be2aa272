//! Finds the references in an expression without evaluating it.

use std::sync::Arc;

use super::Reference;
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{
    Expression, ExpressionKind, FunctionCall, ObjectKey, Template, TemplatePart, Traversal,
    with_stack,
};

/// What a walk over an expression finds.
pub(crate) enum Visit<'e> {
    /// A traversal from a name that is not bound within the expression.
    Traversal(&'e Arc<Traversal>),
    /// A call, before its arguments.
    Call(&'e FunctionCall),
}

/// Names that are bound around an expression: by `for`, or by a dynamic block's iterator.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'n> {
    names: [Option<&'n str>; 2],
    outer: Option<&'n Bound<'n>>,
}

impl<'n> Bound<'n> {
    pub(crate) fn new(
        key: Option<&'n str>,
        value: &'n str,
        outer: Option<&'n Bound<'n>>,
    ) -> Bound<'n> {
        Bound { names: [key, Some(value)], outer }
    }

    fn contains(&self, name: &str) -> bool {
        let mut level = Some(self);
        while let Some(bound) = level {
            if bound.names.contains(&Some(name)) {
                return true;
            }
            level = bound.outer;
        }
        false
    }
}

/// Every reference in an expression, but for the names that it binds itself, in the order of
/// evaluation; whether or not evaluation would look at it.
pub fn references_in(expression: &Expression) -> Vec<Result<Reference, Box<Diagnostic>>> {
    traversals_in(expression).iter().map(Reference::parse).collect()
}

/// Every traversal in an expression whose root the expression does not bind itself.
pub fn traversals_in(expression: &Expression) -> Vec<Arc<Traversal>> {
    let mut found = Vec::new();
    visit_traversals(expression, None, &mut |visit| {
        if let Visit::Traversal(traversal) = visit {
            found.push(traversal.clone());
        }
    });
    found
}

/// Calls `visit` for what stands in the expression, in the order of evaluation.
pub(crate) fn visit_traversals<'e>(
    expression: &'e Expression,
    bound: Option<&Bound<'_>>,
    visit: &mut dyn FnMut(Visit<'e>),
) {
    let kind = &expression.kind;
    match kind {
        ExpressionKind::Literal(_) | ExpressionKind::SplatItem | ExpressionKind::Invalid => {}
        ExpressionKind::ScopeTraversal(traversal) => {
            if !bound.is_some_and(|bound| bound.contains(&traversal.root)) {
                visit(Visit::Traversal(traversal));
            }
        }
        ExpressionKind::Template(template) if template.as_literal().is_some() => {}
        ExpressionKind::JsonString(string) if string.errors.has_errors() => {}
        ExpressionKind::JsonString(string) => visit_traversals(&string.template, bound, visit),
        _ => with_stack(|| visit_children(kind, bound, visit)),
    }
}

fn visit_children<'e>(
    kind: &'e ExpressionKind,
    bound: Option<&Bound<'_>>,
    visit: &mut dyn FnMut(Visit<'e>),
) {
    match kind {
        ExpressionKind::Literal(_)
        | ExpressionKind::SplatItem
        | ExpressionKind::Invalid
        | ExpressionKind::JsonString(_)
        | ExpressionKind::ScopeTraversal(_) => {}
        ExpressionKind::Template(template) => visit_template(template, bound, visit),
        ExpressionKind::TemplateWrap(inner) | ExpressionKind::Parentheses(inner) => {
            visit_traversals(inner, bound, visit);
        }
        ExpressionKind::RelativeTraversal(relative) => {
            visit_traversals(&relative.source, bound, visit);
        }
        ExpressionKind::Index(index) => {
            visit_traversals(&index.collection, bound, visit);
            visit_traversals(&index.key, bound, visit);
        }
        ExpressionKind::Splat(splat) => {
            visit_traversals(&splat.source, bound, visit);
            visit_traversals(&splat.each, bound, visit);
        }
        ExpressionKind::Conditional(conditional) => {
            visit_traversals(&conditional.condition, bound, visit);
            visit_traversals(&conditional.then, bound, visit);
            visit_traversals(&conditional.otherwise, bound, visit);
        }
        ExpressionKind::Binary(binary) => {
            visit_traversals(&binary.left, bound, visit);
            visit_traversals(&binary.right, bound, visit);
        }
        ExpressionKind::Unary(unary) => visit_traversals(&unary.operand, bound, visit),
        ExpressionKind::FunctionCall(call) => {
            visit(Visit::Call(call));
            for argument in &call.arguments {
                visit_traversals(argument, bound, visit);
            }
        }
        ExpressionKind::Tuple(items) => {
            items.iter().for_each(|item| visit_traversals(item, bound, visit));
        }
        ExpressionKind::Object(items) => {
            for item in items.iter() {
                visit_key(&item.key, bound, visit);
                visit_traversals(&item.value, bound, visit);
            }
        }
        ExpressionKind::ForTuple(expression) => {
            visit_traversals(&expression.collection, bound, visit);
            let inner =
                Bound::new(expression.key_variable.as_deref(), &expression.value_variable, bound);
            visit_traversals(&expression.value, Some(&inner), visit);
            if let Some(condition) = &expression.condition {
                visit_traversals(condition, Some(&inner), visit);
            }
        }
        ExpressionKind::ForObject(expression) => {
            visit_traversals(&expression.collection, bound, visit);
            let inner =
                Bound::new(expression.key_variable.as_deref(), &expression.value_variable, bound);
            visit_traversals(&expression.key, Some(&inner), visit);
            visit_traversals(&expression.value, Some(&inner), visit);
            if let Some(condition) = &expression.condition {
                visit_traversals(condition, Some(&inner), visit);
            }
        }
    }
}

fn visit_key<'e>(key: &'e ObjectKey, bound: Option<&Bound<'_>>, visit: &mut dyn FnMut(Visit<'e>)) {
    if key.literal_name().is_none() {
        visit_traversals(&key.expression, bound, visit);
    }
}

fn visit_template<'e>(
    template: &'e Template,
    bound: Option<&Bound<'_>>,
    visit: &mut dyn FnMut(Visit<'e>),
) {
    for part in template.parts.iter() {
        match part {
            TemplatePart::Literal { .. } => {}
            TemplatePart::Interpolation(expression) => visit_traversals(expression, bound, visit),
            TemplatePart::If(directive) => {
                visit_traversals(&directive.condition, bound, visit);
                visit_traversals(&directive.then, bound, visit);
                visit_traversals(&directive.otherwise, bound, visit);
            }
            TemplatePart::For(directive) => {
                visit_traversals(&directive.collection, bound, visit);
                let inner =
                    Bound::new(directive.key_variable.as_deref(), &directive.value_variable, bound);
                visit_traversals(&directive.body, Some(&inner), visit);
            }
        }
    }
}
