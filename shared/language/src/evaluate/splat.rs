//! `source[*]…` and `source.*…`

use values::{Refinement, Type, Value};

use super::conditional::{Range, refined};
use super::{Binding, Evaluator, Frame, Locals, Origin, Tracked};
use crate::diagnostics::Diagnostic;
use crate::reads::{Extent, Read};
use crate::syntax::ast::{Expression, Splat};

impl Evaluator<'_> {
    pub(super) fn splat(
        &mut self,
        node: &Splat,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.diagnostics.len();
        let Tracked { value: source, open } = self.evaluate_tracked(&node.source, locals);
        if self.has_failed_since(start) {
            return Value::dynamic();
        }
        let is_sequence = matches!(source.ty(), Type::Tuple(_) | Type::List(_) | Type::Set(_));
        if source.is_null() {
            if !is_sequence {
                return Value::tuple([]).with_marks(source.marks());
            }
            self.fail(
                Diagnostic::error(
                    "Splat of null value",
                    "Splat expressions (with the * symbol) cannot be applied to null sequences.",
                )
                .at(node.source.span)
                .within(node.source.span.to(node.marker_span)),
                &node.source,
                locals,
            );
            return Value::dynamic();
        }
        if source.ty() == Type::Dynamic {
            return Value::dynamic().with_marks(source.marks());
        }
        let marks = source.marks();
        // One value alone counts as a sequence of one; if it may be null, it is not known of how
        // many.
        let maybe_absent = !is_sequence && !source.is_known() && !source.is_definitely_not_null();
        // Of a value alone the steps after the sign go on where it was read.
        let alone = open.filter(|_| !is_sequence && source.is_known());
        let alone = alone.and_then(|open| self.reads.keys_alone(open).cloned());
        let alone = alone.map(|read| Origin(Read { extent: Extent::Value, ..read }));
        let source = match is_sequence {
            true => source,
            false => Value::tuple([source]).with_marks(marks),
        };
        let ty = source.ty();
        let Some(items) = source.as_slice() else {
            let result = self.splat_type(node, &ty, locals);
            let mut refinement = Refinement::not_null();
            if matches!(result, Type::List(_)) && ty.is_collection() {
                let range = Range::of(&source.unmark());
                refinement.length_min = range.length_min.filter(|min| *min > 0);
                refinement.length_max = range.length_max;
            }
            return refined(result, refinement).with_marks(marks);
        };
        let mut results = Vec::with_capacity(items.len());
        let reads = self.reads.mark();
        let start = self.diagnostics.len();
        let elements = items.iter().enumerate();
        let elements = elements.map(|(at, item)| (Value::number(at), item.clone())).collect();
        let open = open.filter(|_| is_sequence);
        for (_, item, origin) in self.with_origins(elements, &source, open) {
            if !self.may_add_element(expression.span) {
                return Value::dynamic();
            }
            results.push(self.splat_item(node, item, origin.or_else(|| alone.clone()), locals));
        }
        self.reads.distinct_since(reads, 1);
        if maybe_absent {
            return Value::dynamic().with_marks(marks);
        }
        if self.has_failed_since(start) {
            let start = self.diagnostics.len();
            let result = self.splat_type(node, &ty, locals);
            self.diagnostics.truncate(start);
            return Value::unknown(result).with_marks(marks);
        }
        if matches!(ty, Type::Tuple(_)) {
            return Value::tuple(results).with_marks(marks);
        }
        let element = results.iter().map(Value::ty).find(|ty| *ty != Type::Dynamic);
        let Some(element) = element.or((!results.is_empty()).then_some(Type::Dynamic)) else {
            let element = match self.splat_type(node, &ty, locals) {
                Type::List(element) => (*element).clone(),
                _ => Type::Dynamic,
            };
            return Value::list(element, Vec::new()).with_marks(marks);
        };
        if results.iter().any(|item| item.ty() != Type::Dynamic && item.ty() != element) {
            self.diagnostics.push(
                Diagnostic::error(
                    "Invalid nested splat expressions",
                    "The second level of splat expression produced elements of different types, so it isn't possible to construct a valid list to represent the top-level result.\n\nConsider using a for expression instead, to produce a tuple-typed result which can therefore have non-homogenous element types.",
                )
                .at(node.each.span)
                .within(expression.span),
            );
            return Value::dynamic();
        }
        let results = results.into_iter().map(|item| of_type(item, &element)).collect();
        Value::list(element, results).with_marks(marks)
    }

    fn splat_item(
        &mut self,
        node: &Splat,
        item: Value,
        origin: Option<Origin>,
        locals: Locals<'_>,
    ) -> Value {
        let frame = Frame::new(Binding::Item(item, origin), locals);
        self.evaluate(&node.each, Locals::Within(&frame))
    }

    /// The type of the result, from the type of the source alone.
    fn splat_type(&mut self, node: &Splat, source: &Type, locals: Locals<'_>) -> Type {
        match source {
            Type::List(element) | Type::Set(element) => {
                let unknown = Value::unknown((**element).clone());
                Type::list(self.splat_item(node, unknown, None, locals).ty())
            }
            Type::Tuple(elements) => Type::tuple(
                elements
                    .iter()
                    .map(|element| {
                        self.splat_item(node, Value::unknown(element.clone()), None, locals).ty()
                    })
                    .collect::<Vec<_>>(),
            ),
            _ => Type::Dynamic,
        }
    }
}

fn of_type(item: Value, ty: &Type) -> Value {
    match item.is_known() || item.ty() != Type::Dynamic {
        true => item,
        false => Value::unknown(ty.clone()).with_marks(item.marks()),
    }
}
