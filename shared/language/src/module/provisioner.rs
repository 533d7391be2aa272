//! `provisioner` blocks.

use std::sync::Arc;

use super::Connection;
use super::decoder::{BlockSchema, Decoder, block, optional};
use crate::reference::traversals_in;
use crate::source::Span;
use crate::syntax::ast::{Block, Body, TraversalStep};

/// A command that runs when a resource was created or is destroyed.
#[derive(Clone, Debug)]
pub struct Provisioner {
    /// The kind, for example `local-exec`.
    pub kind: Arc<str>,
    /// Its arguments.
    pub config: Arc<Body>,
    /// Its own `connection` block.
    pub connection: Option<Connection>,
    /// When it runs.
    pub when: ProvisionerWhen,
    /// What a failure means.
    pub on_failure: ProvisionerOnFailure,
    /// The block's header.
    pub span: Span,
    /// Where the kind stands.
    pub kind_span: Span,
}

/// When a provisioner runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProvisionerWhen {
    /// After the resource was created.
    #[default]
    Create,
    /// Before the resource is destroyed.
    Destroy,
}

/// What a provisioner's failure means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProvisionerOnFailure {
    /// The resource is tainted and the apply fails.
    #[default]
    Fail,
    /// It is reported and ignored.
    Continue,
}

impl Provisioner {
    /// The arguments of its connection: its own, with those of the block around it where it has none.
    pub fn connection_within(&self, around: Option<&Connection>) -> Option<Arc<Body>> {
        let (own, around) = match (&self.connection, around) {
            (Some(own), Some(around)) => (&own.config, &around.config),
            (Some(only), None) | (None, Some(only)) => return Some(only.config.clone()),
            (None, None) => return None,
        };
        let mut merged = Body::clone(around);
        merged.attributes.retain(|attribute| own.attribute(&attribute.name).is_none());
        merged.attributes.extend(own.attributes.iter().cloned());
        merged.blocks.extend(own.blocks.iter().cloned());
        Some(Arc::new(merged))
    }
}

const SCHEMA: BlockSchema = BlockSchema {
    attributes: &[optional("when"), optional("on_failure")],
    blocks: &[block("_"), block("connection"), block("lifecycle")],
};

impl Decoder<'_> {
    pub(super) fn provisioner(&mut self, block: Block) -> Option<Provisioner> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let (mut content, mut rest) = self.partial_content(block.body, &SCHEMA, false);
        if ["chef", "habitat", "puppet", "salt-masterless"].contains(&&*label.text) {
            self.error(
                format!("The \"{}\" provisioner has been removed", label.text),
                format!(
                    "The \"{}\" provisioner was deprecated in Terraform 0.13.4 has been removed from Terraform. Visit https://learn.hashicorp.com/collections/terraform/provision for alternatives to using provisioners that are a better fit for the Terraform workflow.",
                    label.text
                ),
                label.span,
            );
            return None;
        }
        let mut when = ProvisionerWhen::Create;
        if let Some(attribute) = content.take("when") {
            match self.keyword(&attribute.expression).as_deref() {
                Some("create") => {}
                Some("destroy") => when = ProvisionerWhen::Destroy,
                _ => self.error(
                    "Invalid \"when\" keyword",
                    "The \"when\" argument requires one of the following keywords: create or destroy.",
                    attribute.expression.span,
                ),
            }
        }
        if when == ProvisionerWhen::Destroy {
            self.only_own_references(&rest);
        }
        let mut on_failure = ProvisionerOnFailure::Fail;
        if let Some(attribute) = content.take("on_failure") {
            match self.keyword(&attribute.expression).as_deref() {
                Some("continue") => on_failure = ProvisionerOnFailure::Continue,
                Some("fail") => {}
                _ => self.error(
                    "Invalid \"on_failure\" keyword",
                    "The \"on_failure\" argument requires one of the following keywords: continue or fail.",
                    attribute.expression.span,
                ),
            }
        }
        let mut connection: Option<Connection> = None;
        let mut escape = None;
        for inner in content.blocks {
            let inner_span = inner.header_span();
            match &*inner.type_name {
                // Terraform's own spelling, which tools may match.
                "_" => self.escaping_block(
                    &mut escape,
                    inner,
                    &mut rest,
                    "provisioner-typpe-specific",
                    "provisioner",
                ),
                "connection" => {
                    if let Some(first) = &connection {
                        let place = self.place(first.span);
                        self.error(
                            "Duplicate connection block",
                            format!("This provisioner already has a connection block at {place}."),
                            inner_span,
                        );
                        continue;
                    }
                    if when == ProvisionerWhen::Destroy {
                        self.only_own_references(&inner.body);
                    }
                    connection = Some(Connection::new(inner));
                }
                other => self.reserved_block(other, "provisioner", inner.type_span),
            }
        }
        Some(Provisioner {
            kind: label.text,
            config: Arc::new(rest),
            connection,
            when,
            on_failure,
            span,
            kind_span: label.span,
        })
    }

    /// What runs while a resource is destroyed may look at nothing but the resource itself.
    pub(super) fn only_own_references(&mut self, body: &Body) {
        for attribute in &body.attributes {
            for traversal in traversals_in(&attribute.expression) {
                let only_step = match traversal.steps.as_slice() {
                    [TraversalStep::Attribute { name, .. }] => Some(&**name),
                    _ => None,
                };
                let allowed = match (&*traversal.root, only_step) {
                    ("self" | "path" | "terraform", _) => true,
                    ("count", step) => step == Some("index"),
                    ("each", step) => step == Some("key"),
                    _ => false,
                };
                if !allowed {
                    self.error(
                        "Invalid reference from destroy provisioner",
                        "Destroy-time provisioners and their connection configurations may only reference attributes of the related resource, via 'self', 'count.index', or 'each.key'.\n\nReferences to other resources during the destroy phase can cause dependency cycles and interact poorly with create_before_destroy.",
                        attribute.expression.span,
                    );
                }
            }
        }
    }
}
