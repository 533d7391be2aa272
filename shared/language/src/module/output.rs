//! `output` blocks and `locals`.

use std::sync::Arc;

use super::decoder::{BlockSchema, Decoder, block, optional, required};
use super::{CheckRule, DependsOn};
use crate::source::Span;
use crate::syntax::ast::{Block, Expression, ExpressionKind};

/// An output value.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub expression: Expression,
    /// Whether the value may be hidden.
    pub sensitive: bool,
    /// Whether the value is never stored.
    pub ephemeral: bool,
    /// What must be done before the value is taken.
    pub depends_on: DependsOn,
    /// Conditions that must hold before the value is taken.
    pub preconditions: Vec<CheckRule>,
    /// Text for people.
    pub description: Option<Arc<str>>,
    /// The block's header.
    pub span: Span,
}

/// A local value.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub expression: Expression,
    /// From the name to the end of the value.
    pub span: Span,
}

const SCHEMA: BlockSchema = BlockSchema {
    attributes: &[
        optional("description"),
        required("value"),
        optional("depends_on"),
        optional("sensitive"),
        optional("ephemeral"),
    ],
    blocks: &[block("precondition"), block("postcondition")],
};

/// What one block says; an override file may leave out anything.
pub(super) struct OutputBlock {
    pub(super) name: Arc<str>,
    expression: Option<Expression>,
    sensitive: Option<bool>,
    ephemeral: Option<bool>,
    depends_on: DependsOn,
    preconditions: Vec<CheckRule>,
    description: Option<Arc<str>>,
    pub(super) span: Span,
}

impl Decoder<'_> {
    pub(super) fn output_block(&mut self, block: Block) -> Option<OutputBlock> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let relaxed = self.overriding;
        let mut content = match relaxed {
            false => self.content(block.body, &SCHEMA),
            true => self.relaxed_content(block.body, &SCHEMA),
        };
        self.check_identifier(&label.text, "Invalid output name", label.span);
        let description = content.take("description");
        let description = description.and_then(|a| self.literal_string(&a.expression));
        let expression = content.take("value").map(|attribute| attribute.expression);
        let mut flag = |decoder: &mut Self, name| {
            let attribute = content.take(name)?;
            Some(decoder.literal_bool(&attribute.expression).unwrap_or(false))
        };
        let sensitive = flag(self, "sensitive");
        let ephemeral = flag(self, "ephemeral");
        let depends_on =
            content.take("depends_on").map(|a| self.depends_on(&a.expression)).unwrap_or_default();
        let mut preconditions = Vec::new();
        for inner in content.blocks {
            match &*inner.type_name {
                "precondition" => preconditions.extend(self.check_rule(inner)),
                _ => self.error(
                    "Postconditions are not allowed",
                    "Output values can only have preconditions, not postconditions.",
                    inner.type_span,
                ),
            }
        }
        Some(OutputBlock {
            name: label.text,
            expression,
            sensitive,
            ephemeral,
            depends_on,
            preconditions,
            description,
            span,
        })
    }

    pub(super) fn locals_block(&mut self, block: Block) -> Vec<Local> {
        let (attributes, _) = self.only_attributes(block.body);
        attributes
            .into_iter()
            .map(|attribute| {
                self.check_identifier(
                    &attribute.name,
                    "Invalid local value name",
                    attribute.name_span,
                );
                Local {
                    name: attribute.name,
                    expression: attribute.expression,
                    span: attribute.span,
                }
            })
            .collect()
    }
}

impl From<OutputBlock> for Output {
    fn from(block: OutputBlock) -> Self {
        let invalid = || Expression { kind: ExpressionKind::Invalid, span: block.span };
        Output {
            expression: block.expression.unwrap_or_else(invalid),
            name: block.name,
            sensitive: block.sensitive.unwrap_or(false),
            ephemeral: block.ephemeral.unwrap_or(false),
            depends_on: block.depends_on,
            preconditions: block.preconditions,
            description: block.description,
            span: block.span,
        }
    }
}

impl Output {
    /// Takes over what an override file says.
    pub(super) fn merge(&mut self, overriding: OutputBlock, decoder: &mut Decoder<'_>) {
        if let Some(description) = overriding.description.filter(|text| !text.is_empty()) {
            self.description = Some(description);
        }
        if let Some(expression) = overriding.expression {
            self.expression = expression;
        }
        self.sensitive = overriding.sensitive.unwrap_or(self.sensitive);
        self.ephemeral = overriding.ephemeral.unwrap_or(self.ephemeral);
        decoder.refuse_depends_on_override(&overriding.depends_on);
    }
}
