//! Conditions with an error message: `validation`, `precondition`, `postcondition`, `assert`.

use values::address::Resource;

use super::decoder::{BlockSchema, Decoder, required};
use crate::reference::{Subject, references_in, traversals_in};
use crate::source::Span;
use crate::syntax::ast::{Block, Expression, ExpressionKind};

/// A condition that must hold, and what is said where it does not.
#[derive(Clone, Debug)]
pub struct CheckRule {
    /// Must evaluate to true.
    pub condition: Expression,
    /// What is said where the condition is false.
    pub error_message: Expression,
    /// The block's header.
    pub span: Span,
}

const SCHEMA: BlockSchema =
    BlockSchema { attributes: &[required("condition"), required("error_message")], blocks: &[] };

impl Decoder<'_> {
    /// Decodes a block of any type that has a condition and an error message.
    pub(super) fn check_rule(&mut self, block: Block) -> Option<CheckRule> {
        let span = block.header_span();
        let kind = block.type_name.clone();
        if self.overriding {
            self.error(
                format!("Can't override {kind} blocks"),
                format!("Override files cannot override \"{kind}\" blocks."),
                span,
            );
            return None;
        }
        let mut content = self.content(block.body, &SCHEMA);
        let condition = content.take("condition").map(|attribute| attribute.expression);
        let error_message = content.take("error_message").map(|attribute| attribute.expression);
        if let Some(condition) = &condition
            && traversals_in(condition).is_empty()
        {
            self.error(
                format!("Invalid {kind} expression"),
                "The condition expression must refer to at least one object from elsewhere in the configuration, or else its result would not be checking anything.",
                condition.span,
            );
        }
        // Without one of them there is still something to check references in.
        let missing = || Expression { kind: ExpressionKind::Invalid, span };
        Some(CheckRule {
            condition: condition.unwrap_or_else(missing),
            error_message: error_message.unwrap_or_else(missing),
            span,
        })
    }

    /// A `precondition` or `postcondition` of a resource, which must not name the resource.
    pub(super) fn resource_rule(&mut self, block: Block, address: &Resource) -> Option<CheckRule> {
        let kind = block.type_name.clone();
        let rule = self.check_rule(block)?;
        for expression in [&rule.condition, &rule.error_message] {
            let names_itself = references_in(expression).into_iter().flatten().any(
                |reference| matches!(&reference.subject, Subject::Resource(named) if named == address),
            );
            if names_itself {
                self.error(
                    format!("Invalid reference in {kind}"),
                    format!("Configuration for {address} may not refer to itself."),
                    expression.span,
                );
            }
        }
        Some(rule)
    }

    /// A `validation` of a variable, which must be about the variable.
    pub(super) fn validation_rule(&mut self, block: Block, variable: &str) -> Option<CheckRule> {
        let rule = self.check_rule(block)?;
        let is_given = !matches!(rule.condition.kind, ExpressionKind::Invalid);
        let names_variable = references_in(&rule.condition).into_iter().flatten().any(
            |reference| matches!(&reference.subject, Subject::Variable(name) if &**name == variable),
        );
        if is_given && !names_variable {
            self.error(
                "Invalid variable validation condition",
                format!(
                    "The condition for variable \"{variable}\" must refer to var.{variable} in order to test incoming values."
                ),
                rule.condition.span,
            );
        }
        Some(rule)
    }
}
