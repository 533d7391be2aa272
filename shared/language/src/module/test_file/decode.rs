//! The blocks of a test file.

use std::sync::Arc;

use indexmap::IndexMap;

use super::super::decoder::{BlockSchema, BlockType, Decoder, block, labelled, optional};
use super::mocks::{Kind, MockBlock};
use super::{Command, Run, RunModule, TestFile, TestProvider};
use crate::source::Span;
use crate::syntax::ast::{Block, Body, Expression};

const FILE: BlockSchema = BlockSchema {
    attributes: &[],
    blocks: &[
        labelled("run", &["name"]),
        labelled("provider", &["name"]),
        labelled("mock_provider", &["name"]),
        block("variables"),
        block("override_resource"),
        block("override_data"),
        block("override_module"),
    ],
};

const RUN_BLOCKS: &[BlockType] = &[
    block("plan_options"),
    block("assert"),
    block("variables"),
    block("module"),
    block("override_resource"),
    block("override_data"),
    block("override_module"),
];

const RUN: BlockSchema = BlockSchema {
    attributes: &[
        optional("command"),
        optional("providers"),
        optional("expect_failures"),
        optional("state_key"),
    ],
    blocks: RUN_BLOCKS,
};

const MODULE: BlockSchema =
    BlockSchema { attributes: &[optional("source"), optional("version")], blocks: &[] };

/// A file as far as it can be decoded without reading another.
pub(super) struct Decoded {
    pub(super) file: TestFile,
    /// Mocks of which more is to be read, by their place among the providers.
    pub(super) sources: Vec<MockSource>,
}

/// More of a mock is in a directory.
pub(super) struct MockSource {
    pub(super) provider: super::LocalProviderConfig,
    pub(super) directory: Arc<str>,
    pub(super) known_in_plan: bool,
}

impl Decoder<'_> {
    pub(super) fn test_file(&mut self, body: Body) -> Decoded {
        let mut file = TestFile::default();
        let mut sources = Vec::new();
        let mut variables = None;
        let mut runs: IndexMap<Arc<str>, Span> = IndexMap::new();
        let content = self.content(body, &FILE);
        for block in content.blocks {
            match &*block.type_name.clone() {
                "run" => {
                    let Some(run) = self.run_block(block) else { continue };
                    if let Some(first) = runs.get(&run.name) {
                        let place = self.place(*first);
                        self.error(
                            "Duplicate \"run\" block names",
                            format!(
                                "This test file already has a run named {} block defined at {place}.",
                                run.name
                            ),
                            run.span,
                        );
                        continue;
                    }
                    runs.insert(run.name.clone(), run.span);
                    file.runs.push(run);
                }
                "variables" => {
                    if let Some(found) = self.variables_block(block, &mut variables, "test file") {
                        file.variables = found;
                    }
                }
                "provider" => {
                    if let Some(config) = self.provider_block(block) {
                        self.add_provider(&mut file, TestProvider { config, mock: None });
                    }
                }
                "mock_provider" => {
                    let Some(found) = self.mock_provider(block) else { continue };
                    let MockBlock { provider, source, known_in_plan } = found;
                    let address = provider.config.address();
                    if self.add_provider(&mut file, provider)
                        && let Some(directory) = source
                    {
                        let provider = address;
                        sources.push(MockSource { provider, directory, known_in_plan });
                    }
                }
                name => {
                    let Some(kind) = Kind::of(name) else { continue };
                    let found = self.override_block(block, kind, false);
                    self.add_override(&mut file.overrides, found, kind);
                }
            }
        }
        Decoded { file, sources }
    }

    /// Whether there was none of the name.
    fn add_provider(&mut self, file: &mut TestFile, provider: TestProvider) -> bool {
        let address = provider.config.address();
        if let Some(first) = file.providers.get(&address) {
            let place = self.place(first.config.name_span);
            self.error(
                "Duplicate provider block",
                format!("A provider for {address} is already defined at {place}."),
                provider.config.span,
            );
            return false;
        }
        file.providers.insert(address, provider);
        true
    }

    fn run_block(&mut self, block: Block) -> Option<Run> {
        let span = block.header_span();
        let label = block.labels.first()?.clone();
        let mut content = self.content(block.body, &RUN);
        self.check_identifier(&label.text, "Invalid run block name", label.span);
        let mut run = Run {
            name: label.text,
            command: Command::Apply,
            options: super::PlanOptions::default(),
            variables: IndexMap::new(),
            providers: Vec::new(),
            asserts: Vec::new(),
            expect_failures: Vec::new(),
            module: None,
            state_key: None,
            overrides: Vec::new(),
            span,
        };
        let mut variables = None;
        for block in std::mem::take(&mut content.blocks) {
            match &*block.type_name.clone() {
                "assert" => run.asserts.extend(self.check_rule(block)),
                "plan_options" => {
                    if let Some(first) = run.options.span {
                        self.repeated("plan_options", "run block", first, block.header_span());
                    } else {
                        run.options = self.plan_options(block);
                    }
                }
                "variables" => {
                    if let Some(found) = self.variables_block(block, &mut variables, "run block") {
                        run.variables = found;
                    }
                }
                "module" => {
                    if let Some(first) = &run.module {
                        self.repeated("module", "run block", first.span, block.header_span());
                    } else {
                        run.module = self.run_module(block);
                    }
                }
                name => {
                    let Some(kind) = Kind::of(name) else { continue };
                    let found = self.override_block(block, kind, false);
                    self.add_override(&mut run.overrides, found, kind);
                }
            }
        }
        if let Some(attribute) = content.take("command") {
            run.command = match attribute.expression.as_keyword() {
                Some("plan") => Command::Plan,
                Some("apply") => Command::Apply,
                _ => {
                    self.error(
                        "Invalid \"command\" keyword",
                        "The \"command\" argument requires one of the following keywords without quotes: apply or plan.",
                        attribute.expression.span,
                    );
                    Command::Apply
                }
            };
        }
        if let Some(attribute) = content.take("providers") {
            run.providers = self.passed_providers(&attribute.expression);
        }
        if let Some(attribute) = content.take("expect_failures") {
            run.expect_failures = self.depends_on(&attribute.expression);
        }
        if let Some(attribute) = content.take("state_key") {
            run.state_key = self.literal_string(&attribute.expression);
        }
        Some(run)
    }

    fn repeated(&mut self, name: &str, within: &str, first: Span, at: Span) {
        let place = self.place(first);
        self.error(
            format!("Multiple \"{name}\" blocks"),
            format!("This {within} already has a {name} block defined at {place}."),
            at,
        );
    }

    /// The expressions of a `variables` block, of which there may be one.
    fn variables_block(
        &mut self,
        block: Block,
        first: &mut Option<Span>,
        within: &str,
    ) -> Option<IndexMap<Arc<str>, Expression>> {
        let span = block.header_span();
        if let Some(first) = *first {
            self.repeated("variables", within, first, span);
            return None;
        }
        *first = Some(span);
        let (attributes, _) = self.only_attributes(block.body);
        Some(attributes.into_iter().map(|a| (a.name.clone(), a.expression)).collect())
    }

    fn run_module(&mut self, block: Block) -> Option<RunModule> {
        let span = block.header_span();
        let mut content = self.content(block.body, &MODULE);
        let version = content.take("version");
        let Some(attribute) = content.take("source") else {
            self.error(
                "Missing \"source\" attribute for module block",
                "You must specify a source attribute when executing alternate modules during test executions.",
                span,
            );
            return None;
        };
        let at = attribute.expression.span;
        let written = self.literal_string(&attribute.expression)?;
        let source = self.module_source(&written, at, version.is_some());
        Some(RunModule { source, written, span })
    }
}
