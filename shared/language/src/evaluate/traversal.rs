//! Static steps, from a name or from another expression.

use std::sync::Arc;

use values::{Number, Type, Value};

use super::locals::Found;
use super::{Evaluator, Locals, Tracked, index};
use crate::diagnostics::Diagnostic;
use crate::reads::{Extent, OpenRead, Read, ReadStep};
use crate::reference::did_you_mean;
use crate::source::Span;
use crate::syntax::ast::{Expression, IndexKey, RelativeTraversal, Traversal, TraversalStep};

/// What static steps lead to from a value.
///
/// # Errors
/// Where a step leads nowhere.
pub fn follow(value: &Value, steps: &[TraversalStep]) -> Result<Value, Box<Diagnostic>> {
    steps.iter().try_fold(value.clone(), |value, step| match step {
        TraversalStep::Attribute { name, span } => index::attribute(&value, name, *span),
        TraversalStep::Index { key, span } => index::index(&value, &key_value(key), *span),
        TraversalStep::Splat { span } => Err(not_evaluated(*span)),
    })
}

impl Evaluator<'_> {
    pub(super) fn scope_traversal(
        &mut self,
        traversal: &Arc<Traversal>,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Tracked {
        match (locals.find(&traversal.root), self.scope) {
            (Found::Local(value, origin), _) => {
                let start = self.local(value, origin);
                self.steps(start, &traversal.steps, expression, locals)
            }
            (Found::Nowhere, _) => {
                let names = locals.names();
                let hint = did_you_mean(&traversal.root, names);
                self.fail(
                    Diagnostic::error(
                        "Unknown variable",
                        format!("There is no variable named {:?}.{hint}", traversal.root),
                    )
                    .at(traversal.root_span),
                    expression,
                    locals,
                );
                Value::dynamic().into()
            }
            (Found::Outside, None) => {
                self.diagnostics.push(
                    Diagnostic::error("Variables not allowed", "Variables may not be used here.")
                        .at(traversal.root_span),
                );
                Value::dynamic().into()
            }
            (Found::Outside, Some(scope)) => match scope.parse(traversal) {
                Err(error) => {
                    self.refused.push(*error);
                    Value::dynamic().into()
                }
                Ok(reference) => match scope.value(&reference) {
                    Err(errors) => {
                        self.refused.extend(errors);
                        Value::dynamic().into()
                    }
                    Ok(value) => {
                        let steps = reference.remaining();
                        let open = self.reads.open(Read {
                            subject: reference.subject.clone(),
                            path: Vec::with_capacity(steps.len()),
                            extent: Extent::Value,
                            span: reference.span,
                        });
                        let start = Tracked { value, open: Some(open) };
                        self.steps(start, steps, expression, locals)
                    }
                },
            },
        }
    }

    pub(super) fn relative_traversal(
        &mut self,
        relative: &RelativeTraversal,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Tracked {
        let start = self.evaluate_tracked(&relative.source, locals);
        self.steps(start, &relative.steps, expression, locals)
    }

    fn steps(
        &mut self,
        start: Tracked,
        steps: &[TraversalStep],
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Tracked {
        let Tracked { mut value, open } = start;
        for step in steps {
            let next = match step {
                TraversalStep::Attribute { name, span } => {
                    let next = index::attribute(&value, name, *span);
                    self.narrow(open, || ReadStep::Name(name.clone()));
                    next
                }
                TraversalStep::Index { key, span } => {
                    let key = key_value(key);
                    let next = index::index(&value, &key, *span);
                    self.narrow_by_key(open, &key);
                    next
                }
                TraversalStep::Splat { span } => Err(not_evaluated(*span)),
            };
            match next {
                Ok(next) => value = next,
                Err(error) => {
                    self.fail(*error, expression, locals);
                    return Tracked { value: Value::dynamic(), open: None };
                }
            }
        }
        Tracked { value, open }
    }

    fn narrow(&mut self, open: Option<OpenRead>, step: impl FnOnce() -> ReadStep) {
        if let Some(open) = open {
            self.reads.narrow(open, step());
        }
    }

    /// Narrows a read by a computed key. Returns whether that was possible.
    pub(super) fn narrow_by_key(&mut self, open: Option<OpenRead>, key: &Value) -> bool {
        let step = match key.as_str() {
            Some(text) => Some(ReadStep::Name(text.into())),
            None => key.as_number().and_then(Number::to_u64).map(ReadStep::Index),
        };
        match (open, step) {
            (Some(open), Some(step)) => {
                self.reads.narrow(open, step);
                true
            }
            _ => false,
        }
    }
}

fn not_evaluated(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(
            "Invalid expression",
            "A splat cannot be evaluated here: it only names a set of objects.",
        )
        .at(span),
    )
}

pub(super) fn key_value(key: &IndexKey) -> Value {
    match key {
        IndexKey::Number(digits) => {
            Number::parse(digits).map_or_else(|| Value::unknown(Type::Number), Value::number)
        }
        IndexKey::String(text) => Value::shared_string(text.clone()),
        IndexKey::Bool(value) => Value::bool(*value),
        IndexKey::Null => Value::dynamic_null(),
        IndexKey::Invalid => Value::dynamic(),
    }
}
