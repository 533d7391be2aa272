//! `[for …]` and `{for …}`

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use values::convert::convert;
use values::{Kind, Marks, Type, Value};

use super::{Binding, Evaluator, Frame, Locals, Origin, Tracked};
use crate::diagnostics::Diagnostic;
use crate::reads::OpenRead;
use crate::source::Span;
use crate::syntax::ast::{Expression, ForObject, ForTuple};

/// What the forms of `for` have in common.
pub(super) struct Loop<'e> {
    pub(super) key_variable: Option<&'e str>,
    pub(super) value_variable: &'e str,
    pub(super) collection: &'e Expression,
    pub(super) condition: Option<&'e Expression>,
    pub(super) span: Span,
}

/// What the beginning of a loop came to.
enum Begun {
    /// The result, without iterating.
    Ended(Value),
    Elements(Vec<(Value, Value, Option<Origin>)>, Marks),
}

/// How many reads a loop may add before repetitions are dropped.
const READS_KEPT: usize = 256;
/// Of how many elements each is read on its own.
const ELEMENTS_READ: usize = 64;

impl Evaluator<'_> {
    pub(super) fn for_tuple(
        &mut self,
        node: &ForTuple,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let head = Loop {
            key_variable: node.key_variable.as_deref(),
            value_variable: &node.value_variable,
            collection: &node.collection,
            condition: node.condition.as_ref(),
            span: expression.span,
        };
        self.tuple_loop(&head, &node.value, locals)
    }

    pub(super) fn tuple_loop(
        &mut self,
        head: &Loop<'_>,
        value: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let (elements, mut marks) = match self.begin(head, locals) {
            Begun::Ended(value) => return value,
            Begun::Elements(elements, marks) => (elements, marks),
        };
        let reads = self.reads.mark();
        let mut limit = READS_KEPT;
        let mut known = true;
        let mut items = Vec::with_capacity(elements.len());
        for (key, element, origin) in elements {
            if !self.may_add_element(head.span) {
                return Value::dynamic();
            }
            let frame = head.frame(key, element, origin, locals);
            let inner = Locals::Within(&frame);
            match self.includes(head, known, &mut marks, inner) {
                Inclusion::Unknown => known = false,
                Inclusion::No => {}
                Inclusion::Yes => items.push(self.evaluate(value, inner)),
            }
            limit = self.reads.distinct_since(reads, limit);
        }
        self.reads.distinct_since(reads, 1);
        match known {
            true => Value::tuple(items).with_marks(marks),
            false => Value::dynamic().with_marks(marks),
        }
    }

    pub(super) fn for_object(
        &mut self,
        node: &ForObject,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let head = Loop {
            key_variable: node.key_variable.as_deref(),
            value_variable: &node.value_variable,
            collection: &node.collection,
            condition: node.condition.as_ref(),
            span: expression.span,
        };
        let (elements, mut marks) = match self.begin(&head, locals) {
            Begun::Ended(value) => return value,
            Begun::Elements(elements, marks) => (elements, marks),
        };
        let reads = self.reads.mark();
        let mut limit = READS_KEPT;
        let mut known = true;
        let mut items: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        let mut groups: BTreeMap<Arc<str>, Vec<Value>> = BTreeMap::new();
        for (key, element, origin) in elements {
            if !self.may_add_element(head.span) {
                return Value::dynamic();
            }
            let frame = head.frame(key, element, origin, locals);
            let inner = Locals::Within(&frame);
            match self.includes(&head, known, &mut marks, inner) {
                Inclusion::Unknown => {
                    known = false;
                    continue;
                }
                Inclusion::No => continue,
                Inclusion::Yes => {}
            }
            let Some(key) = self.object_key(node, &head, known, &mut marks, inner) else {
                known = false;
                continue;
            };
            let value = self.evaluate(&node.value, inner);
            if node.grouping {
                groups.entry(key).or_default().push(value);
            } else {
                match items.entry(key) {
                    Entry::Vacant(entry) => {
                        entry.insert(value);
                    }
                    Entry::Occupied(entry) => {
                        let detail = format!(
                            "Two different items produced the key {:?} in this 'for' expression. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key.",
                            entry.key()
                        );
                        let error = Diagnostic::error("Duplicate object key", detail)
                            .at(node.key.span)
                            .within(head.span);
                        self.fail(error, &node.key, inner);
                    }
                }
            }
            limit = self.reads.distinct_since(reads, limit);
        }
        self.reads.distinct_since(reads, 1);
        if !known {
            return Value::dynamic().with_marks(marks);
        }
        items.extend(groups.into_iter().map(|(key, values)| (key, Value::tuple(values))));
        Value::object(items).with_marks(marks)
    }

    fn object_key(
        &mut self,
        node: &ForObject,
        head: &Loop<'_>,
        report: bool,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Option<Arc<str>> {
        let key = self.evaluate(&node.key, locals);
        let refused = |detail: String| {
            Diagnostic::error("Invalid object key", detail).at(node.key.span).within(head.span)
        };
        if key.is_null() {
            if report {
                let detail = "Key expression in 'for' expression must not produce a null value.";
                self.fail(refused(detail.into()), &node.key, locals);
            }
            return None;
        }
        *marks = *marks | key.marks();
        if !key.is_known() {
            return None;
        }
        match convert(&key, &Type::String) {
            Ok(key) => match key.kind() {
                Kind::String(text) => Some(text.clone()),
                _ => None,
            },
            Err(error) => {
                if report {
                    let detail = format!("The key expression produced an invalid result: {error}.");
                    self.fail(refused(detail), &node.key, locals);
                }
                None
            }
        }
    }

    fn begin(&mut self, head: &Loop<'_>, locals: Locals<'_>) -> Begun {
        let Tracked { value: collection, open } = self.evaluate_tracked(head.collection, locals);
        let about = head.collection;
        let refused = |summary: &str, detail: String| {
            Diagnostic::error(summary, detail).at(about.span).within(head.span)
        };
        if collection.is_null() {
            let detail = "A null value cannot be used as the collection in a 'for' expression.";
            self.fail(refused("Iteration over null value", detail.into()), about, locals);
            return Begun::Ended(Value::dynamic());
        }
        let ty = collection.ty();
        if ty == Type::Dynamic {
            return Begun::Ended(Value::dynamic());
        }
        if ty.is_primitive() {
            let detail = format!(
                "A value of type {} cannot be used as the collection in a 'for' expression.",
                ty.friendly_name()
            );
            self.fail(refused("Iteration over non-iterable value", detail), about, locals);
            return Begun::Ended(Value::dynamic());
        }
        let mut condition_marks = Marks::NONE;
        if let Some(condition) = head.condition {
            match self.check_condition(head, condition, locals) {
                Some(marks) => condition_marks = marks,
                None => return Begun::Ended(Value::dynamic()),
            }
        }
        match elements(&collection) {
            Some(elements) => {
                let elements = self.with_origins(elements, &collection, open);
                Begun::Elements(elements, collection.marks())
            }
            None => Begun::Ended(Value::dynamic().with_marks(collection.marks() | condition_marks)),
        }
    }

    /// Where the elements of a collection come from, so that of each only what is used is read. Not of
    /// many, which are read as a whole: logs stay small.
    pub(super) fn with_origins(
        &mut self,
        elements: Vec<(Value, Value)>,
        collection: &Value,
        open: Option<OpenRead>,
    ) -> Vec<(Value, Value, Option<Origin>)> {
        let named = !matches!(collection.ty(), Type::Set(_)) && elements.len() <= ELEMENTS_READ;
        let read = open.filter(|_| named).and_then(|open| self.reads.keys_alone(open));
        let origin = |key: &Value| read.and_then(|read| Origin::element(read, key));
        elements
            .into_iter()
            .map(|(key, element)| {
                let origin = origin(&key);
                (key, element, origin)
            })
            .collect()
    }

    /// Finds a condition that cannot be one, once instead of for each element.
    fn check_condition(
        &mut self,
        head: &Loop<'_>,
        condition: &Expression,
        locals: Locals<'_>,
    ) -> Option<Marks> {
        let start = self.diagnostics.len();
        let frame = head.frame(Value::dynamic(), Value::dynamic(), None, locals);
        let result = self.evaluate(condition, Locals::Within(&frame));
        if result.is_null() {
            self.fail(
                Diagnostic::error(
                    "Condition is null",
                    "The value of the 'if' clause must not be null.",
                )
                .at(condition.span)
                .within(head.span),
                condition,
                locals,
            );
            return None;
        }
        if let Err(error) = convert(&result, &Type::Bool) {
            let detail = format!("The 'if' clause value is invalid: {error}.");
            let error = Diagnostic::error("Invalid 'for' condition", detail);
            self.fail(error.at(condition.span).within(head.span), condition, locals);
            return None;
        }
        (!self.has_failed_since(start)).then(|| result.marks())
    }

    fn includes(
        &mut self,
        head: &Loop<'_>,
        report: bool,
        marks: &mut Marks,
        locals: Locals<'_>,
    ) -> Inclusion {
        let Some(condition) = head.condition else { return Inclusion::Yes };
        let result = self.evaluate(condition, locals);
        let refused = |detail: String| {
            Diagnostic::error("Invalid 'for' condition", detail)
                .at(condition.span)
                .within(head.span)
        };
        if result.is_null() {
            if report {
                let detail = "The value of the 'if' clause must not be null.";
                self.fail(refused(detail.into()), condition, locals);
            }
            return Inclusion::Unknown;
        }
        *marks = *marks | result.marks();
        match convert(&result, &Type::Bool) {
            Ok(converted) => match converted.as_bool() {
                Some(true) => Inclusion::Yes,
                Some(false) => Inclusion::No,
                None => Inclusion::Unknown,
            },
            Err(error) => {
                if report {
                    let detail = format!("The 'if' clause value is invalid: {error}.");
                    self.fail(refused(detail), condition, locals);
                }
                Inclusion::Unknown
            }
        }
    }
}

enum Inclusion {
    Yes,
    No,
    Unknown,
}

impl<'e> Loop<'e> {
    fn frame<'l>(
        &self,
        key: Value,
        value: Value,
        origin: Option<Origin>,
        outer: Locals<'l>,
    ) -> Frame<'l>
    where
        'e: 'l,
    {
        let key = self.key_variable.map(|name| (name, key));
        Frame::new(Binding::For { key, name: self.value_variable, value, origin }, outer)
    }
}

/// Keys and values in order; `None` where they are not known.
pub(crate) fn elements(collection: &Value) -> Option<Vec<(Value, Value)>> {
    match collection.kind() {
        Kind::List(_, items) | Kind::Tuple(items) => Some(
            items.iter().enumerate().map(|(at, item)| (Value::number(at), item.clone())).collect(),
        ),
        Kind::Set(_, items) => {
            Some(items.iter().map(|item| (item.clone(), item.clone())).collect())
        }
        Kind::Map(_, items) | Kind::Object(items) => Some(
            items
                .iter()
                .map(|(key, item)| (Value::shared_string(key.clone()), item.clone()))
                .collect(),
        ),
        _ => None,
    }
}
