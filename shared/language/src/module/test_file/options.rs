//! `plan_options`.

use std::sync::Arc;

use super::super::decoder::{BlockSchema, Decoder, optional};
use crate::source::Span;
use crate::syntax::ast::{Block, Traversal};

/// How a run is planned.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// What kind of plan.
    pub mode: PlanMode,
    /// Whether the world is read first.
    pub refresh: bool,
    /// Instances that are replaced in any case, not parsed yet.
    pub replace: Vec<Arc<Traversal>>,
    /// What alone is planned, not parsed yet.
    pub target: Vec<Arc<Traversal>>,
    /// The block's header, where there is a block.
    pub span: Option<Span>,
}

/// What kind of plan a run makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanMode {
    /// As `plan` does.
    #[default]
    Normal,
    /// As `plan -refresh-only` does.
    RefreshOnly,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            mode: PlanMode::Normal,
            refresh: true,
            replace: Vec::new(),
            target: Vec::new(),
            span: None,
        }
    }
}

const SCHEMA: BlockSchema = BlockSchema {
    attributes: &[optional("mode"), optional("refresh"), optional("replace"), optional("target")],
    blocks: &[],
};

impl Decoder<'_> {
    pub(super) fn plan_options(&mut self, block: Block) -> PlanOptions {
        let mut options = PlanOptions { span: Some(block.header_span()), ..PlanOptions::default() };
        let mut content = self.content(block.body, &SCHEMA);
        if let Some(attribute) = content.take("mode") {
            match attribute.expression.as_keyword() {
                Some("normal") => {}
                Some("refresh-only") => options.mode = PlanMode::RefreshOnly,
                _ => self.error(
                    "Invalid \"mode\" keyword",
                    "The \"mode\" argument requires one of the following keywords without quotes: normal or refresh-only",
                    attribute.expression.span,
                ),
            }
        }
        let refresh = content.take("refresh");
        if let Some(attribute) = &refresh {
            options.refresh = self.literal_bool(&attribute.expression).unwrap_or(true);
        }
        for (name, list) in [("replace", &mut options.replace), ("target", &mut options.target)] {
            if let Some(attribute) = content.take(name) {
                *list = self.depends_on(&attribute.expression);
            }
        }
        if let Some(attribute) = refresh
            && !options.refresh
            && options.mode == PlanMode::RefreshOnly
        {
            self.error(
                "Incompatible plan options",
                "The \"refresh\" option cannot be set to false when running a test in \"refresh-only\" mode.",
                attribute.span,
            );
        }
        options
    }
}
