//! `condition ? a : b`

use values::convert::{convert, unify};
use values::{Bound, Kind, Refinement, Type, Value};

use super::{Evaluator, Locals};
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Conditional, Expression, TemplateIf};

impl Evaluator<'_> {
    pub(super) fn conditional(
        &mut self,
        node: &Conditional,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let branches = Branches {
            condition: &node.condition,
            then: &node.then,
            otherwise: &node.otherwise,
            span: expression.span,
        };
        self.branches(&branches, Some(expression), locals)
    }

    pub(super) fn template_if(&mut self, node: &TemplateIf, locals: Locals<'_>) -> Value {
        let branches = Branches {
            condition: &node.condition,
            then: &node.then,
            otherwise: &node.otherwise,
            span: node.span,
        };
        self.branches(&branches, None, locals)
    }

    fn branches(
        &mut self,
        node: &Branches<'_>,
        whole: Option<&Expression>,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.diagnostics.len();
        let reads_start = self.reads.mark();
        let then = self.evaluate(node.then, locals);
        let then_errors = self.diagnostics.split_off(start);
        let then_end = self.reads.mark();
        let otherwise = self.evaluate(node.otherwise, locals);
        let otherwise_errors = self.diagnostics.split_off(start);
        let otherwise_end = self.reads.mark();

        let Some(result_type) = result_type(&then, &otherwise) else {
            let detail = format!(
                "The true and false result expressions must have consistent types. {}.",
                describe_mismatch(&then.ty(), &otherwise.ty())
            );
            let error = Diagnostic::error("Inconsistent conditional result types", detail)
                .at(node.then.span.to(node.otherwise.span))
                .within(node.span);
            match whole {
                Some(whole) => self.fail(error, whole, locals),
                None => self.diagnostics.push(error),
            }
            return Value::dynamic();
        };

        let condition = self.evaluate(node.condition, locals);
        if condition.is_null() {
            self.fail(
                Diagnostic::error(
                    "Null condition",
                    "The condition value is null. Conditions must either be true or false.",
                )
                .at(node.condition.span)
                .within(node.span),
                node.condition,
                locals,
            );
            return Value::unknown(result_type);
        }
        let marks = condition.marks() | then.marks() | otherwise.marks();
        if !condition.is_known() {
            return either(&then, &otherwise, result_type).with_marks(marks);
        }
        let holds = match convert(&condition, &Type::Bool).map(|value| value.as_bool()) {
            Ok(Some(holds)) => holds,
            _ => {
                self.fail(
                    Diagnostic::error(
                        "Incorrect condition type",
                        "The condition expression must be of type bool.",
                    )
                    .at(node.condition.span)
                    .within(node.span),
                    node.condition,
                    locals,
                );
                return Value::unknown(result_type);
            }
        };
        let (value, branch, errors, which) = if holds {
            self.reads.remove(then_end, otherwise_end);
            (then, node.then, then_errors, "true")
        } else {
            self.reads.remove(reads_start, then_end);
            (otherwise, node.otherwise, otherwise_errors, "false")
        };
        self.diagnostics.extend(errors);
        let value = match result_type {
            Type::Dynamic => value,
            ty => convert(&value, &ty).unwrap_or_else(|error| {
                self.fail(
                    Diagnostic::error(
                        "Inconsistent conditional result types",
                        format!("The {which} result value has the wrong type: {error}."),
                    )
                    .at(branch.span)
                    .within(node.span),
                    branch,
                    locals,
                );
                Value::unknown(ty)
            }),
        };
        value.with_marks(marks)
    }
}

struct Branches<'e> {
    condition: &'e Expression,
    then: &'e Expression,
    otherwise: &'e Expression,
    span: Span,
}

fn result_type(then: &Value, otherwise: &Value) -> Option<Type> {
    let untyped_null = |value: &Value| {
        matches!(value.kind(), Kind::Null(Type::Dynamic)) && value.marks().is_empty()
    };
    let (then_type, otherwise_type) = (then.ty(), otherwise.ty());
    if untyped_null(then) || then_type == otherwise_type {
        Some(otherwise_type)
    } else if untyped_null(otherwise) {
        Some(then_type)
    } else if then_type == Type::Dynamic || otherwise_type == Type::Dynamic {
        Some(Type::Dynamic)
    } else {
        unify(&[then_type, otherwise_type])
    }
}

/// What is known of a value that is one of two.
fn either(then: &Value, otherwise: &Value, ty: Type) -> Value {
    if then.is_null() && otherwise.is_null() {
        return Value::null(ty);
    }
    let not_null = then.is_definitely_not_null() && otherwise.is_definitely_not_null();
    let (a, b) = (Range::of(then), Range::of(otherwise));
    let mut refinement = Refinement { not_null, ..Refinement::default() };
    if then.ty() == Type::Number && otherwise.ty() == Type::Number {
        refinement.number_min = both(a.min, b.min, |a, b| match a.value.cmp(&b.value) {
            std::cmp::Ordering::Less => a,
            std::cmp::Ordering::Greater => b,
            std::cmp::Ordering::Equal => Bound { inclusive: a.inclusive || b.inclusive, ..a },
        });
        refinement.number_max = both(a.max, b.max, |a, b| match a.value.cmp(&b.value) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal => Bound { inclusive: a.inclusive || b.inclusive, ..a },
        });
    } else if then.ty().is_collection() && then.ty() == otherwise.ty() {
        refinement.length_min = both(a.length_min, b.length_min, std::cmp::min);
        refinement.length_max = both(a.length_max, b.length_max, std::cmp::max);
    }
    refined(ty, refinement)
}

fn both<T>(a: Option<T>, b: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    a.zip(b).map(|(a, b)| merge(a, b))
}

/// The value of a refinement: known, where the refinement leaves one possibility.
pub(super) fn refined(ty: Type, known: Refinement) -> Value {
    let mut refiner = Value::unknown(ty).refine();
    if known.not_null {
        refiner = refiner.not_null();
    }
    if let Some(min) = known.number_min {
        refiner = refiner.number_min(&min.value, min.inclusive);
    }
    if let Some(max) = known.number_max {
        refiner = refiner.number_max(&max.value, max.inclusive);
    }
    if let Some(min) = known.length_min {
        refiner = refiner.length_min(min);
    }
    if let Some(max) = known.length_max {
        refiner = refiner.length_max(max);
    }
    refiner.finish()
}

/// The bounds of a value, known or not.
#[derive(Default)]
pub(super) struct Range {
    min: Option<Bound>,
    max: Option<Bound>,
    pub(super) length_min: Option<u64>,
    pub(super) length_max: Option<u64>,
}

impl Range {
    pub(super) fn of(value: &Value) -> Range {
        let lengths = |min: usize, max: usize| Range {
            length_min: Some(min as u64),
            length_max: Some(max as u64),
            ..Range::default()
        };
        match value.kind() {
            Kind::Unknown(_, refinement) => {
                let known = refinement.as_deref().cloned().unwrap_or_default();
                Range {
                    min: known.number_min,
                    max: known.number_max,
                    length_min: Some(known.length_min.unwrap_or(0)),
                    length_max: known.length_max,
                }
            }
            Kind::Number(number) => {
                let bound = || Some(Bound { value: number.clone(), inclusive: true });
                Range { min: bound(), max: bound(), ..Range::default() }
            }
            Kind::List(_, items) => lengths(items.len(), items.len()),
            Kind::Map(_, items) => lengths(items.len(), items.len()),
            // Unknown elements of a set may turn out to be equal.
            Kind::Set(_, items) if !value.is_wholly_known() => {
                lengths(usize::from(!items.is_empty()), items.len())
            }
            Kind::Set(_, items) => lengths(items.len(), items.len()),
            Kind::Null(_) => Range { length_min: Some(0), ..Range::default() },
            _ => Range::default(),
        }
    }
}

/// Where two types differ, in words for the person who has to make them agree.
fn describe_mismatch(then: &Type, otherwise: &Type) -> String {
    match (then, otherwise) {
        (Type::Object(a), Type::Object(b)) => {
            for (name, ty) in &a.attributes {
                match b.attributes.get(name) {
                    None => {
                        return format!(
                            "The 'true' value includes object attribute {name:?}, which is absent in the 'false' value"
                        );
                    }
                    Some(other) if other != ty => {
                        return format!(
                            "Type mismatch for object attribute {name:?}: {}",
                            describe_mismatch(ty, other)
                        );
                    }
                    Some(_) => {}
                }
            }
            if let Some(name) = b.attributes.keys().find(|name| !a.attributes.contains_key(*name)) {
                return format!(
                    "The 'false' value includes object attribute {name:?}, which is absent in the 'true' value"
                );
            }
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            if a.len() != b.len() {
                return format!(
                    "The 'true' tuple has length {}, but the 'false' tuple has length {}",
                    a.len(),
                    b.len()
                );
            }
            for (at, (a, b)) in a.iter().zip(b.iter()).enumerate() {
                if a != b {
                    return format!(
                        "Type mismatch for tuple element {at}: {}",
                        describe_mismatch(a, b)
                    );
                }
            }
        }
        (Type::List(a), Type::List(b)) if both_structural(a, b) => {
            return format!("Mismatched list element types: {}", describe_mismatch(a, b));
        }
        (Type::Set(a), Type::Set(b)) if both_structural(a, b) => {
            return format!("Mismatched set element types: {}", describe_mismatch(a, b));
        }
        (Type::Map(a), Type::Map(b)) if both_structural(a, b) => {
            return format!("Mismatched map element types: {}", describe_mismatch(a, b));
        }
        _ => {}
    }
    let (then, otherwise) = (then.friendly_name(), otherwise.friendly_name());
    if then == otherwise {
        return "At least one deeply-nested attribute or element is not compatible across both the 'true' and the 'false' value".into();
    }
    format!("The 'true' value is {then}, but the 'false' value is {otherwise}")
}

fn both_structural(a: &Type, b: &Type) -> bool {
    matches!((a, b), (Type::Object(_), Type::Object(_)) | (Type::Tuple(_), Type::Tuple(_)))
}
