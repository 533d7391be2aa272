//! `mock_provider` and `override_…` blocks, and files of mock data.

use std::sync::Arc;

use indexmap::IndexMap;
use values::Value;
use values::address::ResourceMode;

use super::super::address::{AddressOf, Target, parse_target};
use super::super::decoder::{BAD_IDENTIFIER, BlockSchema, Decoder, block, labelled, optional};
use super::super::provider::ProviderConfig;
use super::{Mock, Override, OverrideTarget, TestProvider, Values};
use crate::source::Span;
use crate::syntax::ast::{Attribute, Block, Body};
use crate::syntax::is_identifier;

const PROVIDER: BlockSchema = BlockSchema {
    attributes: &[optional("alias"), optional("source"), optional("override_during")],
    blocks: MOCKS,
};

/// A file of mock data.
const FILE: BlockSchema = BlockSchema { attributes: &[], blocks: MOCKS };

const MOCKS: &[super::super::decoder::BlockType] = &[
    labelled("mock_resource", &["type"]),
    labelled("mock_data", &["type"]),
    block("override_resource"),
    block("override_data"),
];

const DEFAULTS: BlockSchema =
    BlockSchema { attributes: &[optional("defaults"), optional("override_during")], blocks: &[] };

const RESOURCE: BlockSchema = BlockSchema {
    attributes: &[optional("target"), optional("values"), optional("override_during")],
    blocks: &[],
};

const MODULE: BlockSchema = BlockSchema {
    attributes: &[optional("target"), optional("outputs"), optional("override_during")],
    blocks: &[],
};

/// A mock, and the directory that more of it is read from.
pub(super) struct MockBlock {
    pub(super) provider: TestProvider,
    pub(super) source: Option<Arc<str>>,
    pub(super) known_in_plan: bool,
}

/// What an override block may replace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Resource,
    Data,
    Module,
}

impl Kind {
    pub(super) fn of(block: &str) -> Option<Kind> {
        match block {
            "override_resource" => Some(Kind::Resource),
            "override_data" => Some(Kind::Data),
            "override_module" => Some(Kind::Module),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Resource => "override_resource",
            Kind::Data => "override_data",
            Kind::Module => "override_module",
        }
    }

    fn targets(self) -> &'static str {
        match self {
            Kind::Resource => "resources",
            Kind::Data => "data sources",
            Kind::Module => "modules",
        }
    }

    fn takes(self, target: &OverrideTarget) -> bool {
        match target {
            OverrideTarget::Module(_) => self == Kind::Module,
            OverrideTarget::Resource(address) => match address.resource.mode {
                ResourceMode::Managed => self == Kind::Resource,
                ResourceMode::Data => self == Kind::Data,
                ResourceMode::Ephemeral => false,
            },
        }
    }
}

/// What a file of mock data holds.
#[derive(Default)]
pub(super) struct MockData {
    pub(super) mock: Mock,
}

impl Decoder<'_> {
    pub(super) fn mock_provider(&mut self, block: Block) -> Option<MockBlock> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let (syntax, body_span, end_span) =
            (block.body.syntax, block.body.span, block.body.end_span);
        let mut content = self.content(block.body, &PROVIDER);
        if !self.check_provider_name(&label.text, span) {
            return None;
        }
        let mut alias = None;
        if let Some(attribute) = content.take("alias") {
            let given = self.literal_string(&attribute.expression).unwrap_or_default();
            if !is_identifier(&given) {
                self.error(
                    "Invalid provider configuration alias",
                    format!("An alias must be a valid name. {BAD_IDENTIFIER}"),
                    attribute.expression.span,
                );
            }
            alias = Some(given).filter(|alias| !alias.is_empty());
        }
        let known_in_plan = self.override_during(content.take("override_during")).unwrap_or(false);
        let source = content.take("source").and_then(|a| self.literal_string(&a.expression));
        let mock = self.mocks(content.blocks, known_in_plan);
        let empty =
            Body { attributes: Vec::new(), blocks: Vec::new(), syntax, span: body_span, end_span };
        let config = ProviderConfig {
            local_name: label.text,
            alias,
            config: Arc::new(empty),
            version: None,
            name_span: label.span,
            span,
        };
        let provider = TestProvider { config, mock: Some(mock) };
        Some(MockBlock { provider, source, known_in_plan })
    }

    /// The content of a file of mock data.
    pub(super) fn mock_file(&mut self, body: Body, known_in_plan: bool) -> MockData {
        let content = self.content(body, &FILE);
        MockData { mock: self.mocks(content.blocks, known_in_plan) }
    }

    fn mocks(&mut self, blocks: Vec<Block>, known_in_plan: bool) -> Mock {
        let mut mock = Mock::default();
        let mut places: IndexMap<(bool, Arc<str>), Span> = IndexMap::new();
        for block in blocks {
            let name = block.type_name.clone();
            if let Some(kind) = Kind::of(&name) {
                let found = self.override_block(block, kind, known_in_plan);
                self.add_override(&mut mock.overrides, found, kind);
                continue;
            }
            let managed = &*name == "mock_resource";
            let (header, Some(label)) = (block.header_span(), block.labels.first().cloned()) else {
                continue;
            };
            let mut content = self.content(block.body, &DEFAULTS);
            let during = self.override_during(content.take("override_during"));
            let values = self.object(content.take("defaults"), &name, "defaults", header);
            let Some((value, span)) = values else { continue };
            if let Some(first) = places.get(&(managed, label.text.clone())) {
                let place = self.place(*first);
                self.error(
                    format!("Duplicate {name} block"),
                    format!(
                        "A {name} block for {} has already been defined at {place}.",
                        label.text
                    ),
                    header,
                );
                continue;
            }
            places.insert((managed, label.text.clone()), header);
            let known_in_plan = during.unwrap_or(known_in_plan);
            let values = Values { value, known_in_plan, span };
            let into = if managed { &mut mock.resources } else { &mut mock.data };
            into.insert(label.text, values);
        }
        mock
    }

    /// One override; `None` after an error.
    pub(super) fn override_block(
        &mut self,
        block: Block,
        kind: Kind,
        known_in_plan: bool,
    ) -> Option<Override> {
        let header = block.header_span();
        let (schema, argument) = match kind {
            Kind::Module => (&MODULE, "outputs"),
            Kind::Resource | Kind::Data => (&RESOURCE, "values"),
        };
        let mut content = self.content(block.body, schema);
        let target = match content.take("target") {
            Some(attribute) => self.override_target(&attribute, kind),
            None => {
                self.error(
                    "Missing target attribute",
                    format!("{} blocks must specify a target address.", kind.name()),
                    header,
                );
                None
            }
        };
        let during = self.override_during(content.take("override_during"));
        let (value, _) = self.object(content.take(argument), kind.name(), argument, header)?;
        let (target, target_span) = target?;
        let known_in_plan = during.unwrap_or(known_in_plan);
        let values = Values { value, known_in_plan, span: header };
        Some(Override { target, values, target_span })
    }

    fn override_target(
        &mut self,
        attribute: &Attribute,
        kind: Kind,
    ) -> Option<(OverrideTarget, Span)> {
        let traversal = self.traversal(&attribute.expression)?;
        let target = match parse_target(&traversal, AddressOf::Object) {
            Ok(parsed) => match parsed.target {
                Target::Module(module) => OverrideTarget::Module(module),
                Target::Resource(resource) => OverrideTarget::Resource(resource),
            },
            Err(error) => {
                self.diagnostics.push(*error);
                return None;
            }
        };
        if !kind.takes(&target) {
            self.error(
                "Invalid override target",
                format!(
                    "You can only target {} from {} blocks, not {target}.",
                    kind.targets(),
                    kind.name()
                ),
                attribute.span,
            );
            return None;
        }
        Some((target, attribute.span))
    }

    /// Adds an override, of which there may be one for each target.
    pub(super) fn add_override(
        &mut self,
        overrides: &mut Vec<Override>,
        found: Option<Override>,
        kind: Kind,
    ) {
        let Some(found) = found else { return };
        if let Some(first) = overrides.iter().find(|known| known.target == found.target) {
            let place = self.place(first.values.span);
            self.error(
                format!("Duplicate {} block", kind.name()),
                format!(
                    "An {} block targeting {} has already been defined at {place}.",
                    kind.name(),
                    found.target
                ),
                found.values.span,
            );
            return;
        }
        overrides.push(found);
    }

    /// An object that is written out; without the argument an empty one.
    fn object(
        &mut self,
        attribute: Option<Attribute>,
        block: &str,
        argument: &str,
        header: Span,
    ) -> Option<(Value, Span)> {
        let Some(attribute) = attribute else { return Some((Value::empty_object(), header)) };
        let value = self.constant(&attribute.expression)?;
        if value.is_null() || value.as_map().is_none() {
            self.error(
                format!("Invalid {argument} attribute"),
                format!(
                    "{block} blocks must specify {} {argument} attribute that is an object.",
                    article(argument)
                ),
                attribute.span,
            );
            return None;
        }
        Some((value, attribute.span))
    }

    /// Whether values are known while planning already; `None` where nothing is said.
    fn override_during(&mut self, attribute: Option<Attribute>) -> Option<bool> {
        let attribute = attribute?;
        match attribute.expression.as_keyword() {
            Some("plan") => Some(true),
            Some("apply") => Some(false),
            _ => {
                self.error(
                    "Invalid override_during value",
                    "The override_during attribute must be a value of plan or apply.",
                    attribute.span,
                );
                None
            }
        }
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
