//! `{ key = value }`

use std::collections::BTreeMap;
use std::sync::Arc;

use values::convert::convert;
use values::{Kind, Marks, Type, Value};

use super::{Evaluator, Locals};
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{ObjectItem, ObjectKey};

impl Evaluator<'_> {
    pub(super) fn object(&mut self, items: &[ObjectItem], locals: Locals<'_>) -> Value {
        let mut known = true;
        let mut marks = Marks::NONE;
        let mut attributes = BTreeMap::new();
        for item in items {
            let start = self.diagnostics.len();
            let key = self.key(&item.key, locals);
            let failed = self.has_failed_since(start);
            let value = self.evaluate(&item.value, locals);
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
            true => Value::object(attributes).with_marks(marks),
            false => Value::dynamic(),
        }
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
        if key.is_null() {
            self.fail(
                Diagnostic::error("Null value as key", "Can't use a null value as a key.")
                    .at(item.value.span),
                about,
                locals,
            );
            return None;
        }
        match convert(key, &Type::String) {
            Ok(key) => match key.kind() {
                Kind::String(text) => Some(text.clone()),
                _ => None,
            },
            Err(error) => {
                let detail = format!("Can't use this value as a key: {error}.");
                let error = Diagnostic::error("Incorrect key type", detail).at(about.span);
                self.fail(error, about, locals);
                None
            }
        }
    }
}
