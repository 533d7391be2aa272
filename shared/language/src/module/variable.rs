//! `variable` blocks.

use std::sync::Arc;

use values::convert::ConversionError;
use values::{Type, Value};

use super::CheckRule;
use super::decoder::{BlockSchema, Decoder, block, optional};
use crate::source::Span;
use crate::syntax::ast::{Block, Expression, ExpressionKind};
use crate::typeexpr::{TypeConstraint, type_constraint};

/// An input variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// What values are converted to; `any` where the block has no `type`.
    pub constraint: TypeConstraint,
    /// The value where none is given, converted to the constraint. Without it the variable is
    /// required.
    pub default: Option<Value>,
    /// Whether null is a value. Where it is not, null stands for the default.
    pub nullable: bool,
    /// Whether the value is hidden.
    pub sensitive: bool,
    /// Whether the value is never stored.
    pub ephemeral: bool,
    /// Text for people.
    pub description: Option<Arc<str>>,
    /// Conditions on the value.
    pub validations: Vec<CheckRule>,
    /// How a value given as text (in the environment, on the command line) is read.
    pub text_form: TextForm,
    /// Where the `default` expression stands.
    pub default_span: Option<Span>,
    /// The block's header.
    pub span: Span,
}

/// How text becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// The text is the value, a string that is converted.
    Literal,
    /// The text is an expression.
    Expression,
}

impl Variable {
    /// Whether a value must be given.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }
}

const SCHEMA: BlockSchema = BlockSchema {
    attributes: &[
        optional("description"),
        optional("default"),
        optional("type"),
        optional("sensitive"),
        optional("ephemeral"),
        optional("nullable"),
    ],
    blocks: &[block("validation")],
};

/// Names that a `module` block gives a meaning of its own.
const RESERVED: [&str; 10] = [
    "source",
    "version",
    "count",
    "for_each",
    "depends_on",
    "providers",
    "_",
    "lifecycle",
    "locals",
    "provider",
];

/// What one block says; an override file may leave out anything.
pub(super) struct VariableBlock {
    pub(super) name: Arc<str>,
    constraint: Option<(TypeConstraint, TextForm)>,
    default: Option<(Value, Span)>,
    nullable: Option<bool>,
    sensitive: Option<bool>,
    ephemeral: Option<bool>,
    description: Option<Arc<str>>,
    validations: Vec<CheckRule>,
    pub(super) span: Span,
}

impl Decoder<'_> {
    pub(super) fn variable_block(&mut self, block: Block) -> Option<VariableBlock> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let name = label.text;
        let mut content = self.content(block.body, &SCHEMA);
        self.check_identifier(&name, "Invalid variable name", label.span);
        if RESERVED.contains(&&*name) {
            self.error(
                "Invalid variable name",
                format!(
                    "The variable name \"{name}\" is reserved due to its special meaning inside module blocks."
                ),
                label.span,
            );
        }
        let description = content.take("description");
        let description = description.and_then(|a| self.literal_string(&a.expression));
        let constraint = content.take("type").map(|a| self.variable_type(&a.expression));
        let mut flag = |decoder: &mut Self, name| {
            let attribute = content.take(name)?;
            Some(decoder.literal_bool(&attribute.expression).unwrap_or(false))
        };
        let sensitive = flag(self, "sensitive");
        let ephemeral = flag(self, "ephemeral");
        let nullable = flag(self, "nullable");
        let default = content.take("default").map(|attribute| {
            let expression = &attribute.expression;
            let value = self.constant(expression).unwrap_or_else(Value::dynamic);
            let value = match (&constraint, self.overriding) {
                (Some((constraint, _)), _) => {
                    self.default_value(constraint, value, expression.span)
                }
                (None, _) => value,
            };
            if nullable == Some(false) && value.is_null() {
                self.error(DEFAULT_SUMMARY, NULL_DEFAULT, expression.span);
            }
            (value, expression.span)
        });
        let validations = content
            .blocks
            .into_iter()
            .filter_map(|block| self.validation_rule(block, &name))
            .collect();
        Some(VariableBlock {
            name,
            constraint,
            default,
            nullable,
            sensitive,
            ephemeral,
            description,
            validations,
            span,
        })
    }

    fn default_value(&mut self, constraint: &TypeConstraint, value: Value, at: Span) -> Value {
        match constraint.apply(&value) {
            Ok(value) => value,
            Err(error) => {
                self.error(
                    DEFAULT_SUMMARY,
                    format!(
                        "This default value is not compatible with the variable's type constraint: {}.",
                        conversion_text(&error)
                    ),
                    at,
                );
                Value::dynamic()
            }
        }
    }

    fn variable_type(&mut self, expression: &Expression) -> (TypeConstraint, TextForm) {
        let any = TypeConstraint::any;
        if let Some(quoted) = expression.as_string_literal() {
            let hint = match &**quoted {
                "string" => Some(""),
                "list" => Some(
                    " and write list(string) instead to explicitly indicate that the list elements are strings",
                ),
                "map" => Some(
                    " and write map(string) instead to explicitly indicate that the map elements are strings",
                ),
                _ => None,
            };
            match hint {
                Some(hint) => self.error(
                    "Invalid quoted type constraints",
                    format!(
                        "Terraform 0.11 and earlier required type constraints to be given in quotes, but that form is now deprecated and will be removed in a future version of Terraform. Remove the quotes around \"{quoted}\"{hint}."
                    ),
                    expression.span,
                ),
                None => self.error(
                    "Invalid legacy variable type hint",
                    "To provide a full type expression, remove the surrounding quotes and give the type expression directly.",
                    expression.span,
                ),
            }
            return (any(), TextForm::Literal);
        }
        let unquoted;
        let expression = match &expression.kind {
            ExpressionKind::JsonString(text) => {
                let (inner, diagnostics) = text.expression(self.sources);
                let kind = match diagnostics.has_errors() {
                    false => inner.kind.clone(),
                    true => ExpressionKind::Invalid,
                };
                // What is wrong with it as a whole is shown at the string.
                unquoted = Expression { kind, span: expression.span };
                &unquoted
            }
            _ => expression,
        };
        // Before element types could be said, these meant elements of any one type.
        match expression.as_keyword() {
            Some("list") => return (plain(Type::list(Type::Dynamic)), TextForm::Expression),
            Some("map") => return (plain(Type::map(Type::Dynamic)), TextForm::Expression),
            _ => {}
        }
        let (constraint, diagnostics) = type_constraint(expression);
        let failed = diagnostics.has_errors();
        self.diagnostics.extend(diagnostics);
        if failed {
            return (any(), TextForm::Expression);
        }
        let form = match constraint.ty.is_primitive() {
            true => TextForm::Literal,
            false => TextForm::Expression,
        };
        (constraint, form)
    }
}

const DEFAULT_SUMMARY: &str = "Invalid default value for variable";
const NULL_DEFAULT: &str = "A null default value is not valid when nullable=false.";

fn plain(ty: Type) -> TypeConstraint {
    TypeConstraint { ty, defaults: None }
}

/// A conversion error as messages about configuration have it: `["b"].a: a number is required`.
pub(crate) fn conversion_text(error: &ConversionError) -> String {
    match error.path.is_root() {
        true => error.message.clone(),
        false => format!("{}: {}", error.path, error.message),
    }
}

impl From<VariableBlock> for Variable {
    fn from(block: VariableBlock) -> Self {
        let (constraint, text_form) =
            block.constraint.unwrap_or_else(|| (TypeConstraint::any(), TextForm::Literal));
        Variable {
            name: block.name,
            constraint,
            default_span: block.default.as_ref().map(|(_, span)| *span),
            default: block.default.map(|(value, _)| value),
            nullable: block.nullable.unwrap_or(true),
            sensitive: block.sensitive.unwrap_or(false),
            ephemeral: block.ephemeral.unwrap_or(false),
            description: block.description,
            validations: block.validations,
            text_form,
            span: block.span,
        }
    }
}

impl Variable {
    /// Takes over what an override file says.
    pub(super) fn merge(&mut self, overriding: VariableBlock, decoder: &mut Decoder<'_>) {
        if let Some(description) = overriding.description {
            self.description = Some(description);
        }
        self.sensitive = overriding.sensitive.unwrap_or(self.sensitive);
        self.ephemeral = overriding.ephemeral.unwrap_or(self.ephemeral);
        self.nullable = overriding.nullable.unwrap_or(self.nullable);
        let (new_type, new_default) =
            (overriding.constraint.is_some(), overriding.default.is_some());
        if let Some((constraint, text_form)) = overriding.constraint {
            self.constraint = constraint;
            self.text_form = text_form;
        }
        if let Some((value, span)) = overriding.default {
            self.default = Some(value);
            self.default_span = Some(span);
        }
        let Some(default) = &self.default else { return };
        match self.constraint.apply(default) {
            Ok(value) => self.default = Some(value),
            Err(error) => {
                let reason = conversion_text(&error);
                let detail = match (new_type, new_default) {
                    (true, false) => format!(
                        "Overriding this variable's type constraint has made its default value invalid: {reason}."
                    ),
                    (false, true) => format!(
                        "The overridden default value for this variable is not compatible with the variable's type constraint: {reason}."
                    ),
                    _ => format!(
                        "This variable's default value is not compatible with its type constraint: {reason}."
                    ),
                };
                decoder.error(DEFAULT_SUMMARY, detail, overriding.span);
            }
        }
        if !self.nullable && self.default.as_ref().is_some_and(Value::is_null) {
            decoder.error(DEFAULT_SUMMARY, NULL_DEFAULT, overriding.span);
        }
    }
}
