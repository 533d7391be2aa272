//! Templates: literal text, interpolations and directives.

use values::convert::convert;
use values::{Kind, Marks, Type, Value};

use super::for_expression::Loop;
use super::{Evaluator, Locals};
use crate::diagnostics::Diagnostic;
use crate::syntax::ast::{Expression, Template, TemplateFor, TemplatePart};

/// The longest prefix that is kept of a text whose end is unknown.
const LONGEST_PREFIX: usize = 128;

impl Evaluator<'_> {
    pub(super) fn template(
        &mut self,
        template: &Template,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let start = self.diagnostics.len();
        let mut text = String::new();
        let mut known = true;
        let mut marks = Marks::NONE;
        for part in template.parts.iter() {
            let value = match part {
                TemplatePart::Literal { text: literal, .. } => {
                    if known {
                        text.push_str(literal);
                    }
                    continue;
                }
                TemplatePart::Interpolation(inner) => self.evaluate(inner, locals),
                TemplatePart::If(directive) => self.template_if(directive, locals),
                TemplatePart::For(directive) => self.template_for(directive, locals),
            };
            if value.is_null() {
                let detail = "The expression result is null. Cannot include a null value in a string template.";
                self.refuse_part(part, detail.into(), expression, locals);
                continue;
            }
            marks = marks | value.marks();
            if !value.is_known() {
                known = false;
                continue;
            }
            match convert(&value, &Type::String) {
                Ok(value) => {
                    if let (true, Kind::String(piece)) = (known, value.kind()) {
                        if !self.may_add_text(text.len(), piece.len(), expression.span) {
                            return Value::dynamic();
                        }
                        text.push_str(piece);
                    }
                }
                Err(error) => {
                    let detail =
                        format!("Cannot include the given value in a string template: {error}.");
                    self.refuse_part(part, detail, expression, locals);
                }
            }
        }
        let failed = self.has_failed_since(start);
        if known {
            return Value::string(text).with_marks(marks);
        }
        let mut unknown = Value::unknown(Type::String).refine().not_null();
        if !failed {
            let mut end = text.len().min(LONGEST_PREFIX);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            unknown = unknown.string_prefix(&text[..end]);
        }
        unknown.finish().with_marks(marks)
    }

    fn refuse_part(
        &mut self,
        part: &TemplatePart,
        detail: String,
        template: &Expression,
        locals: Locals<'_>,
    ) {
        let error = Diagnostic::error("Invalid template interpolation value", detail)
            .at(part.span())
            .within(template.span);
        match part {
            TemplatePart::Interpolation(about) => self.fail(error, about, locals),
            _ => self.diagnostics.push(error),
        }
    }

    fn template_for(&mut self, directive: &TemplateFor, locals: Locals<'_>) -> Value {
        let head = Loop {
            key_variable: directive.key_variable.as_deref(),
            value_variable: &directive.value_variable,
            collection: &directive.collection,
            condition: None,
            span: directive.span,
        };
        let pieces = self.tuple_loop(&head, &directive.body, locals);
        let Some(items) = pieces.as_slice() else { return Value::unknown(Type::String) };
        let mut text = String::new();
        let mut marks = pieces.marks();
        for item in items {
            let Kind::String(piece) = item.kind() else {
                return Value::unknown(Type::String).with_marks(pieces.marks());
            };
            marks = marks | item.marks();
            if !self.may_add_text(text.len(), piece.len(), directive.span) {
                return Value::dynamic();
            }
            text.push_str(piece);
        }
        Value::string(text).with_marks(marks)
    }
}
