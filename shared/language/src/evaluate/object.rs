//! `{ key = value }`

use std::collections::BTreeMap;
use std::sync::Arc;

use values::convert::convert;
use values::{Kind, Marks, Type, Value};

use super::{Evaluator, Locals, Tracked};
use crate::diagnostics::Diagnostic;
use crate::reads::AttributeReads;
use crate::syntax::ast::{ExpressionKind, ObjectItem, ObjectKey};

impl Evaluator<'_> {
    pub(super) fn object(&mut self, items: &[ObjectItem], locals: Locals<'_>) -> Value {
        self.object_in_parts(items, locals).0
    }

    /// Beside the value, where the reads of each attribute are in the log; `None` where it is not known
    /// which attributes there are.
    pub(super) fn object_in_parts(
        &mut self,
        items: &[ObjectItem],
        locals: Locals<'_>,
    ) -> (Value, Option<Vec<AttributeReads>>) {
        let mut parts = Vec::with_capacity(items.len());
        let mut known = true;
        let mut marks = Marks::NONE;
        let mut attributes = BTreeMap::new();
        for item in items {
            let start = self.diagnostics.len();
            let key = self.key(&item.key, locals);
            let failed = self.has_failed_since(start);
            let from = self.reads.mark();
            let Tracked { value, open: alias } = self.evaluate_tracked(&item.value, locals);
            let to = self.reads.mark();
            let key = match key {
                Some(key) if !failed => key,
                _ => {
                    known = false;
                    continue;
                }
            };
            match self.key_text(&key, item, locals) {
                Some(text) => {
                    marks = marks | key.marks();
                    if is_json(item) && attributes.contains_key(&text) {
                        self.refuse_duplicate(&text, items, item);
                        continue;
                    }
                    parts.push(AttributeReads { name: text.clone(), from, to, alias });
                    attributes.insert(text, value);
                }
                None => {
                    if !key.is_null() {
                        marks = marks | key.marks();
                    }
                    known = false;
                }
            }
        }
        match known {
            true => (Value::object(attributes).with_marks(marks), Some(parts)),
            false => (Value::dynamic(), None),
        }
    }

    /// Of two members with one name JSON takes neither.
    fn refuse_duplicate(&mut self, name: &str, items: &[ObjectItem], item: &ObjectItem) {
        let first = items
            .iter()
            .find(|first| first.key.expression.as_text().is_some_and(|text| &**text == name));
        let first = first.unwrap_or(item).key.expression.span;
        let place = self
            .scope
            .map_or_else(String::new, |scope| format!(" at {}", scope.sources().range(first)));
        let detail = format!("An attribute named {name:?} was already defined{place}.");
        let error = Diagnostic::error("Duplicate object attribute", detail);
        self.diagnostics.push(error.at(item.key.expression.span));
    }

    fn key(&mut self, key: &ObjectKey, locals: Locals<'_>) -> Option<Value> {
        if let Some(name) = key.literal_name() {
            return Some(Value::string(name));
        }
        if !key.force_expression
            && key.expression.as_traversal().is_some_and(|traversal| !traversal.steps.is_empty())
        {
            self.diagnostics.push(
                Diagnostic::error(
                    "Ambiguous attribute key",
                    "If this expression is intended to be a reference, wrap it in parentheses. If it's instead intended as a literal name containing periods, wrap it in quotes to create a string literal.",
                )
                .at(key.expression.span),
            );
            return None;
        }
        Some(self.evaluate(&key.expression, locals))
    }

    fn key_text(&mut self, key: &Value, item: &ObjectItem, locals: Locals<'_>) -> Option<Arc<str>> {
        let about = &item.key.expression;
        let json = is_json(item);
        if key.is_null() {
            let error = match json {
                false => Diagnostic::error("Null value as key", "Can't use a null value as a key.")
                    .at(item.value.span),
                true => Diagnostic::error(
                    "Invalid object key expression",
                    "Cannot use null value as an object key.",
                )
                .at(about.span),
            };
            self.fail(error, about, locals);
            return None;
        }
        match convert(key, &Type::String) {
            Ok(key) => match key.kind() {
                Kind::String(text) => Some(text.clone()),
                _ => None,
            },
            Err(error) => {
                let (summary, detail) = match json {
                    false => {
                        ("Incorrect key type", format!("Can't use this value as a key: {error}."))
                    }
                    true => (
                        "Invalid object key expression",
                        format!("Cannot use this expression as an object key: {error}."),
                    ),
                };
                self.fail(Diagnostic::error(summary, detail).at(about.span), about, locals);
                None
            }
        }
    }
}

fn is_json(item: &ObjectItem) -> bool {
    matches!(item.key.expression.kind, ExpressionKind::JsonString(_))
}
