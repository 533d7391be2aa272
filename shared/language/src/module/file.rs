//! One file: its blocks, decoded but not yet put together with those of other files.

use values::address::ResourceMode;

use super::decoder::{BlockSchema, Decoder, block, labelled};
use super::module_call::ModuleCall;
use super::output::{Local, OutputBlock};
use super::provider::ProviderConfig;
use super::refactoring::{Check, Import, Moved, Removed};
use super::resource::ResourceBlock;
use super::settings::SettingsBlocks;
use super::variable::VariableBlock;
use crate::diagnostics::Diagnostics;
use crate::source::{Sources, Span};
use crate::syntax::ast::Body;

const SCHEMA: BlockSchema = BlockSchema {
    attributes: &[],
    blocks: &[
        block("terraform"),
        // Not valid here; known so that the right place can be named.
        block("required_providers"),
        labelled("provider", &["name"]),
        labelled("variable", &["name"]),
        block("locals"),
        labelled("output", &["name"]),
        labelled("module", &["name"]),
        labelled("resource", &["type", "name"]),
        labelled("data", &["type", "name"]),
        labelled("ephemeral", &["type", "name"]),
        block("moved"),
        block("import"),
        labelled("check", &["name"]),
        block("removed"),
    ],
};

/// The blocks of one file.
#[derive(Default)]
pub(super) struct ModuleFile {
    pub(super) overriding: bool,
    pub(super) settings: SettingsBlocks,
    pub(super) providers: Vec<ProviderConfig>,
    pub(super) variables: Vec<VariableBlock>,
    pub(super) locals: Vec<Local>,
    pub(super) outputs: Vec<OutputBlock>,
    pub(super) module_calls: Vec<ModuleCall>,
    pub(super) resources: Vec<ResourceBlock>,
    pub(super) moved: Vec<Moved>,
    pub(super) removed: Vec<Removed>,
    pub(super) imports: Vec<Import>,
    pub(super) checks: Vec<(Check, Option<ResourceBlock>)>,
    /// `moved` and `import` blocks of an override file, which may have none.
    pub(super) not_overridable: Vec<(&'static str, &'static str, Span)>,
}

impl ModuleFile {
    pub(super) fn decode(body: Body, sources: &Sources, overriding: bool) -> (Self, Diagnostics) {
        let mut decoder = Decoder::new(sources, overriding);
        let mut file = ModuleFile { overriding, ..ModuleFile::default() };
        let content = decoder.content(body, &SCHEMA);
        for block in content.blocks {
            let header = block.header_span();
            match &*block.type_name {
                "terraform" => decoder.terraform_block(block, &mut file.settings),
                "provider" => file.providers.extend(decoder.provider_block(block)),
                "variable" => file.variables.extend(decoder.variable_block(block)),
                "locals" => file.locals.extend(decoder.locals_block(block)),
                "output" => file.outputs.extend(decoder.output_block(block)),
                "module" => file.module_calls.extend(decoder.module_block(block)),
                "resource" => file.resource(&mut decoder, block, ResourceMode::Managed),
                "data" => file.resource(&mut decoder, block, ResourceMode::Data),
                "ephemeral" => file.resource(&mut decoder, block, ResourceMode::Ephemeral),
                "check" => file.checks.extend(decoder.check_block(block)),
                "removed" => file.removed.extend(decoder.removed_block(block)),
                "moved" => {
                    file.moved.extend(decoder.moved_block(block));
                    file.not_overridable.push((
                        "Cannot override 'moved' blocks",
                        "Records of moved objects can appear only in normal files, not in override files.",
                        header,
                    ));
                }
                "import" => {
                    file.imports.extend(decoder.import_block(block));
                    file.not_overridable.push((
                        "Cannot override 'import' blocks",
                        "Import blocks can appear only in normal files, not in override files.",
                        header,
                    ));
                }
                _ => decoder.error(
                    "Invalid required_providers block",
                    "A \"required_providers\" block must be nested inside a \"terraform\" block.",
                    block.type_span,
                ),
            }
        }
        (file, decoder.diagnostics)
    }

    fn resource(
        &mut self,
        decoder: &mut Decoder<'_>,
        block: crate::syntax::ast::Block,
        mode: ResourceMode,
    ) {
        self.resources.extend(decoder.resource_block(block, mode, None));
    }
}
