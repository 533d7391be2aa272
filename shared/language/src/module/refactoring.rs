//! `moved`, `removed`, `import` and `check` blocks.

use std::sync::Arc;

use values::address::{
    AbsoluteResource, ConfigResource, InstanceKey, ModuleInstance, ModulePath, Resource,
    ResourceInstance, ResourceMode,
};

use super::address::{AddressOf, ParsedTarget, Target, parse_target};
use super::decoder::{BlockSchema, Decoder, block, labelled, optional, required, static_traversal};
use super::provider::ProviderReference;
use super::{CheckRule, Provisioner, ProvisionerWhen, ResourceBlock};
use crate::source::Span;
use crate::syntax::ast::{
    Attribute, Block, Expression, ExpressionKind, IndexKey, Traversal, TraversalStep,
};

/// A `moved` block.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The old address, relative to the module of the block.
    pub from: MoveEndpoint,
    /// The new address, relative to the module of the block.
    pub to: MoveEndpoint,
    /// The block's header.
    pub span: Span,
}

/// One end of a move. Without keys it means all instances or the one without key, which only the
/// records tell apart.
#[derive(Clone, Debug)]
pub struct MoveEndpoint {
    /// What is moved.
    pub subject: MoveSubject,
    /// Where the address stands.
    pub span: Span,
}

/// What is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveSubject {
    /// A module call with or without key: the last step says which.
    Module(ModuleInstance),
    /// A resource.
    Resource(AbsoluteResource),
    /// One instance of a resource.
    Instance(ResourceInstance),
}

/// A `removed` block.
#[derive(Clone, Debug)]
pub struct Removed {
    /// What is no longer declared, relative to the module of the block.
    pub from: RemovedSubject,
    /// Where the address stands.
    pub from_span: Span,
    /// Whether it is destroyed; if not, it is only forgotten.
    pub destroy: bool,
    /// Provisioners that run when it is destroyed.
    pub provisioners: Vec<Provisioner>,
    /// The block's header.
    pub span: Span,
}

/// What is no longer declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovedSubject {
    /// A module with all that it holds.
    Module(ModulePath),
    /// A resource.
    Resource(ConfigResource),
}

/// An `import` block.
#[derive(Clone, Debug)]
pub struct Import {
    /// The address that the object gets; may have computed keys.
    pub to: Expression,
    /// The resource that the address belongs to.
    pub target: ConfigResource,
    /// How the provider calls the object.
    pub id: Expression,
    /// Imports one object for each element.
    pub for_each: Option<Expression>,
    /// `provider`, for objects whose configuration is still to be generated.
    pub provider: Option<ProviderReference>,
    /// Where `provider` stands.
    pub(crate) provider_span: Option<Span>,
    /// The block's header.
    pub span: Span,
}

/// A `check` block.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: Arc<str>,
    /// The data source inside; it is among the module's resources too.
    pub data: Option<Resource>,
    /// Its conditions.
    pub asserts: Vec<CheckRule>,
    /// The block's header.
    pub span: Span,
}

const MOVED: BlockSchema =
    BlockSchema { attributes: &[required("from"), required("to")], blocks: &[] };

const REMOVED: BlockSchema = BlockSchema {
    attributes: &[required("from")],
    blocks: &[block("lifecycle"), block("connection"), labelled("provisioner", &["type"])],
};

const REMOVED_LIFECYCLE: BlockSchema =
    BlockSchema { attributes: &[optional("destroy")], blocks: &[] };

const IMPORT: BlockSchema = BlockSchema {
    attributes: &[optional("provider"), required("id"), required("to"), optional("for_each")],
    blocks: &[],
};

const CHECK: BlockSchema = BlockSchema {
    attributes: &[],
    blocks: &[labelled("data", &["type", "name"]), block("assert")],
};

impl Decoder<'_> {
    pub(super) fn moved_block(&mut self, block: Block) -> Option<Moved> {
        let span = block.header_span();
        let mut content = self.content(block.body, &MOVED);
        let from = content.take("from").and_then(|a| self.move_endpoint(&a.expression));
        let to = content.take("to").and_then(|a| self.move_endpoint(&a.expression));
        let (from, to) = (from?, to?);
        let is_module =
            |endpoint: &MoveEndpoint| matches!(endpoint.subject, MoveSubject::Module(_));
        if is_module(&from) != is_module(&to) {
            self.error(
                "Invalid \"moved\" addresses",
                "The \"from\" and \"to\" addresses must either both refer to resources or both refer to modules.",
                span,
            );
            return None;
        }
        Some(Moved { from, to, span })
    }

    fn move_endpoint(&mut self, expression: &Expression) -> Option<MoveEndpoint> {
        let traversal = self.traversal(expression)?;
        let parsed = self.target(&traversal, AddressOf::Object)?;
        let subject = match parsed.target {
            Target::Module(module) => MoveSubject::Module(module),
            Target::Resource(resource) if resource.key == InstanceKey::None => {
                MoveSubject::Resource(resource.containing())
            }
            Target::Resource(resource) => MoveSubject::Instance(resource),
        };
        Some(MoveEndpoint { subject, span: traversal.span() })
    }

    fn target(&mut self, traversal: &Traversal, of: AddressOf) -> Option<ParsedTarget> {
        match parse_target(traversal, of) {
            Ok(parsed) => Some(parsed),
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }

    pub(super) fn removed_block(&mut self, block: Block) -> Option<Removed> {
        let span = block.header_span();
        let mut content = self.content(block.body, &REMOVED);
        let from = content.take("from").and_then(|a| self.removed_subject(&a.expression));
        let mut destroy = true;
        let mut provisioners = Vec::new();
        let mut connection = None;
        for inner in content.blocks {
            match &*inner.type_name {
                "provisioner" => {
                    provisioners.extend(self.removed_provisioner(inner, from.as_ref()));
                    continue;
                }
                "connection" => {
                    self.removed_connection(&inner, from.as_ref(), &mut connection);
                    continue;
                }
                _ => {}
            }
            let mut lifecycle = self.content(inner.body, &REMOVED_LIFECYCLE);
            if let Some(attribute) = lifecycle.take("destroy") {
                destroy = self.literal_bool(&attribute.expression).unwrap_or(false);
            }
        }
        let (from, from_span) = from?;
        Some(Removed { from, from_span, destroy, provisioners, span })
    }

    fn removed_subject(&mut self, expression: &Expression) -> Option<(RemovedSubject, Span)> {
        let traversal = self.traversal(expression)?;
        let parsed = self.target(&traversal, AddressOf::Declaration)?;
        if let Some(key) = parsed.module_keys.first() {
            self.error(
                "Module instance keys not allowed",
                "Module address must be a module (e.g. \"module.foo\"), not a module instance (e.g. \"module.foo[1]\").",
                *key,
            );
            return None;
        }
        let span = traversal.span();
        let resource = match parsed.target {
            Target::Module(module) => return Some((RemovedSubject::Module(module.path()), span)),
            Target::Resource(resource) => resource.config(),
        };
        if resource.resource.mode != ResourceMode::Data {
            return Some((RemovedSubject::Resource(resource), span));
        }
        self.error(
            "Data source address not allowed",
            "Data sources are never destroyed, so they are not valid targets of removed blocks. To remove the data source from state, remove the data source block from configuration.",
            span,
        );
        None
    }

    /// Checks a connection, which is for provisioners that are not supported.
    fn removed_connection(
        &mut self,
        block: &Block,
        from: Option<&(RemovedSubject, Span)>,
        first: &mut Option<Span>,
    ) {
        let span = block.header_span();
        if let Some((RemovedSubject::Module(_), _)) = from {
            self.error(
                "Invalid connection block",
                "Provisioner connection configuration is valid only when a removed block targets a managed resource.",
                span,
            );
        } else if let Some(first) = *first {
            let place = self.place(first);
            self.error(
                "Duplicate connection block",
                format!("This \"removed\" block already has a connection block at {place}."),
                span,
            );
        }
        first.get_or_insert(span);
    }

    fn removed_provisioner(
        &mut self,
        block: Block,
        from: Option<&(RemovedSubject, Span)>,
    ) -> Option<Provisioner> {
        const SUMMARY: &str = "Invalid provisioner block";
        let provisioner = self.provisioner(block)?;
        if let Some((RemovedSubject::Module(_), _)) = from {
            self.error(
                SUMMARY,
                "Provisioners are valid only when a removed block targets a managed resource.",
                provisioner.span,
            );
            return None;
        }
        if provisioner.when != ProvisionerWhen::Destroy {
            self.error(
                SUMMARY,
                "Only destroy-time provisioners are valid in \"removed\" blocks. To declare a destroy-time provisioner, use:\n    when = destroy",
                provisioner.span,
            );
            return None;
        }
        Some(provisioner)
    }

    pub(super) fn import_block(&mut self, block: Block) -> Option<Import> {
        let span = block.header_span();
        let mut content = self.content(block.body, &IMPORT);
        let id = content.take("id").map(|attribute| attribute.expression);
        let to = content.take("to").and_then(|attribute| {
            let expression = self.unquoted(&attribute.expression, attribute.syntax)?;
            Some(Attribute { expression, ..attribute })
        });
        let target = to.as_ref().and_then(|attribute| self.import_target(attribute));
        let provider_argument = content.take("provider");
        if let Some(attribute) = &provider_argument
            && target.as_ref().is_some_and(|target| !target.module.is_root())
        {
            self.error(
                "Invalid import provider argument",
                "The provider argument can only be specified in import blocks that will generate configuration.\n\nUse the providers argument within the module block to configure providers for all resources within a module, including imported resources.",
                attribute.span,
            );
        }
        let provider_span = provider_argument.as_ref().map(|attribute| attribute.span);
        let provider =
            provider_argument.and_then(|a| self.provider_reference(&a.expression, "provider"));
        let for_each = content.take("for_each").map(|attribute| attribute.expression);
        Some(Import {
            to: to?.expression,
            target: target?,
            id: id?,
            for_each,
            provider,
            provider_span,
            span,
        })
    }

    fn import_target(&mut self, to: &Attribute) -> Option<ConfigResource> {
        let Some(traversal) = with_computed_keys(&to.expression) else {
            // Says what is wrong with it.
            self.traversal(&to.expression);
            self.refuse_import_target(to.span);
            return None;
        };
        let parsed = self.target(&traversal, AddressOf::Object);
        match parsed.map(|parsed| parsed.target) {
            Some(Target::Resource(resource)) if resource.resource.mode == ResourceMode::Managed => {
                Some(resource.config())
            }
            parsed => {
                if let Some(Target::Module(_)) = parsed {
                    self.error(
                        "Invalid address",
                        "Resource specification must include a resource type and name.",
                        traversal.span(),
                    );
                }
                self.refuse_import_target(to.span);
                None
            }
        }
    }

    fn refuse_import_target(&mut self, at: Span) {
        self.error("Invalid import address", "Only managed resources can be imported.", at);
    }

    /// Decodes a `check` block and the data source in it.
    pub(super) fn check_block(&mut self, block: Block) -> Option<(Check, Option<ResourceBlock>)> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let name = label.text;
        if self.overriding {
            self.error(
                "Can't override check blocks",
                "Override files cannot override check blocks.",
                span,
            );
            return None;
        }
        let content = self.content(block.body, &CHECK);
        self.check_identifier(&name, "Invalid check block name", label.span);
        let mut data: Option<ResourceBlock> = None;
        let mut asserts = Vec::new();
        let mut has_assert = false;
        for inner in content.blocks {
            let before = self.diagnostics.len();
            if &*inner.type_name == "assert" {
                let rule = self.check_rule(inner);
                if self.diagnostics.len() == before {
                    has_assert = true;
                    asserts.extend(rule);
                }
                continue;
            }
            if let Some(first) = &data {
                let place = self.place(first.span);
                self.error(
                    "Multiple data resource blocks",
                    format!("This check block already has a data resource defined at {place}."),
                    inner.header_span(),
                );
                continue;
            }
            let nested = self.resource_block(inner, ResourceMode::Data, Some(&name));
            if self.diagnostics.len() == before {
                data = nested;
            }
        }
        if !has_assert {
            self.error(
                "Zero assert blocks",
                "Check blocks must have at least one assert block.",
                span,
            );
        }
        let address = data.as_ref().map(|data| data.address.clone());
        Some((Check { name, data: address, asserts, span }, data))
    }
}

impl Import {
    /// The address, where no key in it is computed.
    pub(super) fn static_address(&self) -> Option<String> {
        let traversal = static_traversal(&self.to)?;
        match parse_target(&traversal, AddressOf::Object).ok()?.target {
            Target::Resource(resource) => Some(resource.to_string()),
            Target::Module(_) => None,
        }
    }
}

/// A traversal in which computed keys stand as [`IndexKey::Invalid`].
fn with_computed_keys(expression: &Expression) -> Option<Traversal> {
    match &expression.kind {
        ExpressionKind::ScopeTraversal(traversal) => Some(Traversal::clone(traversal)),
        ExpressionKind::RelativeTraversal(relative) => {
            let mut traversal = with_computed_keys(&relative.source)?;
            traversal.steps.extend(relative.steps.iter().cloned());
            Some(traversal)
        }
        ExpressionKind::Index(index) => {
            let mut traversal = with_computed_keys(&index.collection)?;
            let span = index.bracket_span;
            traversal.steps.push(TraversalStep::Index { key: IndexKey::Invalid, span });
            Some(traversal)
        }
        _ => None,
    }
}
