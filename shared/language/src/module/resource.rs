//! `resource`, `data` and `ephemeral` blocks.

use std::sync::Arc;

use values::address::{Resource, ResourceMode};

use super::decoder::{
    Argument, BlockSchema, Content, Decoder, block, labelled, merge_override, optional, take_body,
};
use super::provider::{LocalProviderConfig, ProviderReference};
use super::{CheckRule, DependsOn, Provisioner, ProvisionerWhen, Repetition};
use crate::diagnostics::Diagnostic;
use crate::reference::{Subject, references_in};
use crate::source::Span;
use crate::syntax::ast::{Attribute, Block, Body, Expression, TraversalStep};

/// A resource, data source or ephemeral resource.
#[derive(Clone, Debug)]
pub struct ResourceBlock {
    /// Its address in the module; the mode says which kind of block it is.
    pub address: Resource,
    /// What the provider's schema describes: the body without meta-arguments.
    pub config: Arc<Body>,
    /// `count` or `for_each`.
    pub repetition: Repetition,
    /// `provider`, where it is given.
    pub provider: Option<ProviderReference>,
    /// What must be done before.
    pub depends_on: DependsOn,
    /// The `lifecycle` block.
    pub lifecycle: Lifecycle,
    /// The `connection` block.
    pub connection: Option<Connection>,
    /// The `provisioner` blocks.
    pub provisioners: Vec<Provisioner>,
    /// The check block that a data source belongs to; its failure is a warning then.
    pub check: Option<Arc<str>>,
    /// The block's header.
    pub span: Span,
    /// Where the type's label stands.
    pub type_span: Span,
}

impl ResourceBlock {
    /// The provider configuration that the block names or implies, in the module's own words.
    pub fn provider_config(&self) -> LocalProviderConfig {
        match &self.provider {
            Some(reference) => reference.config.clone(),
            None => LocalProviderConfig {
                local_name: self.address.implied_provider().into(),
                alias: None,
            },
        }
    }

    /// `count`, if the block has it.
    pub fn count(&self) -> Option<&Expression> {
        self.repetition.count()
    }

    /// `for_each`, if the block has it.
    pub fn for_each(&self) -> Option<&Expression> {
        self.repetition.for_each()
    }
}

/// The `lifecycle` block.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Whether a replacement is created first; unset, what depends on the resource decides.
    pub create_before_destroy: Option<bool>,
    /// Whether a plan that destroys the resource is refused.
    pub prevent_destroy: Option<bool>,
    /// Differences that are not acted upon.
    pub ignore_changes: IgnoreChanges,
    /// References whose change replaces the resource.
    pub replace_triggered_by: Vec<Expression>,
    /// Conditions that must hold before the resource is planned.
    pub preconditions: Vec<CheckRule>,
    /// Conditions that must hold of the result.
    pub postconditions: Vec<CheckRule>,
}

/// Differences that are not acted upon.
#[derive(Clone, Debug, Default)]
pub enum IgnoreChanges {
    /// All are acted upon.
    #[default]
    None,
    /// None is acted upon.
    All,
    /// Those under these paths are not.
    Paths(Vec<IgnoredPath>),
}

/// A path of `ignore_changes`, relative to the resource: `tags["Name"]`.
#[derive(Clone, Debug)]
pub struct IgnoredPath {
    /// At least one step; the first is an attribute.
    pub steps: Vec<TraversalStep>,
    /// Where the path stands.
    pub span: Span,
}

/// A `connection` block.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its arguments.
    pub config: Arc<Body>,
    /// The block's header.
    pub span: Span,
}

const ARGUMENTS: &[Argument] =
    &[optional("count"), optional("for_each"), optional("provider"), optional("depends_on")];

const RESOURCE: BlockSchema = BlockSchema {
    attributes: ARGUMENTS,
    blocks: &[
        block("locals"),
        block("lifecycle"),
        block("connection"),
        labelled("provisioner", &["type"]),
        block("_"),
    ],
};

const DATA: BlockSchema = BlockSchema {
    attributes: ARGUMENTS,
    blocks: &[block("lifecycle"), block("locals"), block("_")],
};

const LIFECYCLE: BlockSchema = BlockSchema {
    attributes: &[
        optional("create_before_destroy"),
        optional("prevent_destroy"),
        optional("ignore_changes"),
        optional("replace_triggered_by"),
    ],
    blocks: &[block("precondition"), block("postcondition")],
};

/// What messages call the kinds of block.
struct Words {
    type_name: &'static str,
    name: &'static str,
    kind: &'static str,
    plural: &'static str,
}

fn words(mode: ResourceMode) -> Words {
    match mode {
        ResourceMode::Managed => Words {
            type_name: "Invalid resource type name",
            name: "Invalid resource name",
            kind: "resource",
            plural: "resources",
        },
        ResourceMode::Data => Words {
            type_name: "Invalid data source name",
            name: "Invalid data resource name",
            kind: "data",
            plural: "data resources",
        },
        ResourceMode::Ephemeral => Words {
            type_name: "Invalid ephemeral resource type",
            name: "Invalid ephemeral resource name",
            kind: "ephemeral",
            plural: "ephemeral resources",
        },
    }
}

impl Decoder<'_> {
    /// Decodes a `resource`, `data` or `ephemeral` block; `check` names the check block around a
    /// data source.
    pub(super) fn resource_block(
        &mut self,
        block: Block,
        mode: ResourceMode,
        check: Option<&Arc<str>>,
    ) -> Option<ResourceBlock> {
        let span = block.header_span();
        let [ty, name] = block.labels.as_slice() else { return None };
        let (ty, name) = (ty.clone(), name.clone());
        let schema = match mode {
            ResourceMode::Managed => &RESOURCE,
            ResourceMode::Data | ResourceMode::Ephemeral => &DATA,
        };
        let words = words(mode);
        let (mut content, mut rest) = self.partial_content(block.body, schema, false);
        self.check_identifier(&ty.text, words.type_name, ty.span);
        self.check_identifier(&name.text, words.name, name.span);
        let address = Resource { mode, ty: ty.text, name: name.text };

        let repetition = match check {
            None => self.repetition(&mut content),
            Some(_) => self.no_repetition(&mut content),
        };
        let provider = content
            .take("provider")
            .and_then(|attribute| self.provider_reference(&attribute.expression, "provider"));
        let depends_on =
            content.take("depends_on").map(|a| self.depends_on(&a.expression)).unwrap_or_default();

        let mut lifecycle = Lifecycle::default();
        let mut lifecycle_span = None;
        let mut connection: Option<Connection> = None;
        let mut provisioners = Vec::new();
        let mut escape = None;
        for inner in content.blocks {
            let inner_span = inner.header_span();
            match &*inner.type_name {
                "lifecycle" => {
                    if check.is_some() {
                        self.error(
                            "Invalid lifecycle block",
                            "Nested data blocks do not support \"lifecycle\" blocks as the lifecycle is managed by the containing block.",
                            inner_span,
                        );
                    }
                    if let Some(first) = lifecycle_span {
                        let place = self.place(first);
                        self.error(
                            "Duplicate lifecycle block",
                            format!("This resource already has a lifecycle block at {place}."),
                            inner_span,
                        );
                        continue;
                    }
                    lifecycle_span = Some(inner_span);
                    lifecycle = self.lifecycle(inner.body, &address);
                }
                "connection" => {
                    if let Some(first) = &connection {
                        let place = self.place(first.span);
                        self.error(
                            "Duplicate connection block",
                            format!("This resource already has a connection block at {place}."),
                            inner_span,
                        );
                        continue;
                    }
                    connection = Some(Connection::new(inner));
                }
                "provisioner" => provisioners.extend(self.provisioner(inner)),
                "_" => self.escaping_block(
                    &mut escape,
                    inner,
                    &mut rest,
                    "resource-type-specific",
                    if mode == ResourceMode::Data { "data" } else { "resource" },
                ),
                other => self.reserved_block(other, words.kind, inner.type_span),
            }
        }
        if let Some(connection) = &connection
            && provisioners.iter().any(|p: &Provisioner| p.when == ProvisionerWhen::Destroy)
        {
            self.only_own_references(&connection.config);
        }
        Some(ResourceBlock {
            address,
            config: Arc::new(rest),
            repetition,
            provider,
            depends_on,
            lifecycle,
            connection,
            provisioners,
            check: check.cloned(),
            span,
            type_span: ty.span,
        })
    }

    /// `count` or `for_each`, of which a block may have one.
    pub(super) fn repetition(&mut self, content: &mut Content) -> Repetition {
        let (count, for_each) = (content.take("count"), content.take("for_each"));
        match (count, for_each) {
            (None, None) => Repetition::Single,
            (Some(count), None) => Repetition::Count(count.expression),
            (None, Some(for_each)) => Repetition::ForEach(for_each.expression),
            (Some(_), Some(for_each)) => {
                self.error(
                    "Invalid combination of \"count\" and \"for_each\"",
                    "The \"count\" and \"for_each\" meta-arguments are mutually-exclusive, only one should be used to be explicit about the number of resources to be created.",
                    for_each.name_span,
                );
                Repetition::ForEach(for_each.expression)
            }
        }
    }

    fn no_repetition(&mut self, content: &mut Content) -> Repetition {
        for name in ["count", "for_each"] {
            if let Some(attribute) = content.take(name) {
                self.error(
                    format!("Invalid \"{name}\" attribute"),
                    "The \"count\" and \"for_each\" meta-arguments are not supported within nested data blocks.",
                    attribute.name_span,
                );
            }
        }
        Repetition::Single
    }

    fn lifecycle(&mut self, body: Body, address: &Resource) -> Lifecycle {
        let mut content = self.content(body, &LIFECYCLE);
        let mut lifecycle = Lifecycle::default();
        if address.mode == ResourceMode::Managed {
            if let Some(attribute) = content.take("create_before_destroy") {
                let value = self.literal_bool(&attribute.expression).unwrap_or(false);
                lifecycle.create_before_destroy = Some(value);
            }
            if let Some(attribute) = content.take("prevent_destroy") {
                let value = self.literal_bool(&attribute.expression).unwrap_or(false);
                lifecycle.prevent_destroy = Some(value);
            }
            if let Some(attribute) = content.take("replace_triggered_by") {
                lifecycle.replace_triggered_by = self.replace_triggered_by(&attribute);
            }
            if let Some(attribute) = content.take("ignore_changes") {
                lifecycle.ignore_changes = self.ignore_changes(&attribute.expression);
            }
        } else {
            let plural = words(address.mode).plural;
            let article = if address.mode == ResourceMode::Data { "data" } else { "ephemeral" };
            for attribute in content.attributes() {
                self.error(
                    format!("Invalid {article} resource lifecycle argument"),
                    format!(
                        "The lifecycle argument \"{}\" is defined only for managed resources (\"resource\" blocks), and is not valid for {plural}.",
                        attribute.name
                    ),
                    attribute.name_span,
                );
            }
        }
        for inner in content.blocks {
            let rules = match &*inner.type_name {
                "precondition" => &mut lifecycle.preconditions,
                _ => &mut lifecycle.postconditions,
            };
            rules.extend(self.resource_rule(inner, address));
        }
        lifecycle
    }

    fn ignore_changes(&mut self, expression: &Expression) -> IgnoreChanges {
        if expression.as_keyword() == Some("all") {
            return IgnoreChanges::All;
        }
        let mut paths = Vec::new();
        let mut star = None;
        for element in self.list(expression) {
            if element.as_text().is_some_and(|text| &**text == "*") {
                star = Some(element.span);
                self.error(
                    "Invalid ignore_changes wildcard",
                    "The [\"*\"] form of ignore_changes wildcard is was deprecated and is now invalid. Use \"ignore_changes = all\" to ignore changes to all attributes.",
                    expression.span,
                );
                continue;
            }
            paths.extend(self.traversal_or_quoted(element).map(|traversal| {
                // Relative to the resource: the first name is a step like the others.
                let first = TraversalStep::Attribute {
                    name: traversal.root.clone(),
                    span: traversal.root_span,
                };
                let steps = std::iter::once(first).chain(traversal.steps.iter().cloned());
                IgnoredPath { steps: steps.collect(), span: traversal.span() }
            }));
        }
        match star {
            Some(star) if !paths.is_empty() => {
                let diagnostic = Diagnostic::error(
                    "Invalid ignore_changes ruleset",
                    "Cannot mix wildcard string \"*\" with non-wildcard references.",
                );
                self.diagnostics.push(diagnostic.at(star).within(expression.span));
                IgnoreChanges::All
            }
            Some(_) => IgnoreChanges::All,
            None if paths.is_empty() => IgnoreChanges::None,
            None => IgnoreChanges::Paths(paths),
        }
    }

    fn replace_triggered_by(&mut self, attribute: &Attribute) -> Vec<Expression> {
        let elements = self.list(&attribute.expression);
        let elements: Vec<Expression> = elements
            .iter()
            .filter_map(|element| self.unquoted(element, attribute.syntax))
            .collect();
        for element in &elements {
            if !self.check_trigger(element) {
                break;
            }
        }
        elements
    }

    /// Whether an element of `replace_triggered_by` names one resource, and nothing computed.
    fn check_trigger(&mut self, element: &Expression) -> bool {
        let mut resources = 0;
        let mut refused = Vec::new();
        for reference in references_in(element) {
            let reference = match reference {
                Ok(reference) => reference,
                Err(diagnostic) => {
                    self.diagnostics.push(diagnostic.at(element.span));
                    return false;
                }
            };
            refused.extend(match &reference.subject {
                Subject::Resource(_) => {
                    resources += 1;
                    None
                }
                Subject::EachKey | Subject::CountIndex => None,
                Subject::EachValue => Some((
                    "Invalid each reference in replace_triggered_by expression",
                    "Only each.key may be used in replace_triggered_by.",
                )),
                _ => Some((
                    "Invalid reference in replace_triggered_by expression",
                    "Only resources, count.index, and each.key may be used in replace_triggered_by.",
                )),
            });
        }
        match resources {
            0 => refused.push((
                "Invalid replace_triggered_by expression",
                "Missing resource reference in replace_triggered_by expression.",
            )),
            1 => {}
            _ => refused.push((
                "Invalid replace_triggered_by expression",
                "Multiple resource references in replace_triggered_by expression.",
            )),
        }
        for (summary, detail) in &refused {
            self.error(*summary, *detail, element.span);
        }
        refused.is_empty()
    }
}

impl Connection {
    pub(super) fn new(block: Block) -> Self {
        Self { span: block.header_span(), config: Arc::new(block.body) }
    }
}

impl ResourceBlock {
    /// Takes over what an override file says.
    pub(super) fn merge(&mut self, mut overriding: ResourceBlock, decoder: &mut Decoder<'_>) {
        if !matches!(overriding.repetition, Repetition::Single) {
            self.repetition = overriding.repetition;
        }
        if let Some(provider) = overriding.provider {
            self.provider = Some(provider);
        }
        if let Some(connection) = overriding.connection {
            self.connection = Some(connection);
        }
        let lifecycle = overriding.lifecycle;
        if lifecycle.create_before_destroy.is_some() {
            self.lifecycle.create_before_destroy = lifecycle.create_before_destroy;
        }
        if lifecycle.prevent_destroy.is_some() {
            self.lifecycle.prevent_destroy = lifecycle.prevent_destroy;
        }
        if !matches!(lifecycle.ignore_changes, IgnoreChanges::None) {
            self.lifecycle.ignore_changes = lifecycle.ignore_changes;
        }
        if !overriding.provisioners.is_empty() {
            self.provisioners = overriding.provisioners;
        }
        merge_override(&mut self.config, take_body(&mut overriding.config));
        decoder.refuse_depends_on_override(&overriding.depends_on);
    }
}
