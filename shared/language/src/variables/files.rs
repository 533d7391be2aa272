//! Gathers what is said about variables: environment, files, command line.

use std::io;
use std::path::{Path, PathBuf};

use super::{Content, GivenValue, RootValues, ValueSource, VariableArgument, VariableInputs};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::files::{FileKind, FileSystem};
use crate::source::{FileId, Sources};
use crate::syntax::ast::{Attribute, Block};
use crate::syntax::{parse_body, parse_json_arguments};

const PREFIX: &str = "TF_VAR_";

/// Gathers all values that are given for the root module in `directory`. Later ones replace
/// earlier ones: the environment, `terraform.tfvars`, `terraform.tfvars.json`, `*.auto.tfvars` and
/// `*.auto.tfvars.json` in the order of their names, then the command line from left to right.
pub fn given_values(
    files: &dyn FileSystem,
    directory: &Path,
    inputs: &VariableInputs,
    sources: &Sources,
) -> (RootValues, Diagnostics) {
    let mut gathering = Gathering {
        files,
        sources,
        values: RootValues::default(),
        diagnostics: Diagnostics::new(),
    };
    for (name, text) in &inputs.environment {
        if let Some(name) = name.strip_prefix(PREFIX) {
            gathering.text(name, text, ValueSource::Environment);
        }
    }
    for name in automatic_files(files, directory) {
        gathering.file(&directory.join(name));
    }
    for argument in &inputs.arguments {
        match argument {
            VariableArgument::Assignment(text) => gathering.assignment(text),
            VariableArgument::File(path) => gathering.file(path),
        }
    }
    (gathering.values, gathering.diagnostics)
}

fn automatic_files(files: &dyn FileSystem, directory: &Path) -> Vec<String> {
    let shown = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let mut names: Vec<String> = ["terraform.tfvars", "terraform.tfvars.json"]
        .into_iter()
        .filter(|name| matches!(files.kind(&directory.join(name)), Ok(FileKind::File)))
        .map(str::to_owned)
        .collect();
    let mut automatic: Vec<String> = files
        .read_directory(shown)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|entry| entry.name.into_string().ok())
        .filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json"))
        .collect();
    automatic.sort();
    names.append(&mut automatic);
    names
}

struct Gathering<'a> {
    files: &'a dyn FileSystem,
    sources: &'a Sources,
    values: RootValues,
    diagnostics: Diagnostics,
}

impl Gathering<'_> {
    fn text(&mut self, name: &str, text: &str, source: ValueSource) {
        let content = Content::Text(text.to_owned());
        self.values.0.insert(name.into(), GivenValue { content, source });
    }

    fn assignment(&mut self, text: &str) {
        const SUMMARY: &str = "Invalid -var option";
        let Some((name, value)) = text.split_once('=') else {
            self.diagnostics.push(Diagnostic::error(
                SUMMARY,
                format!(
                    "The given -var option \"{text}\" is not correctly specified. Must be a variable name and value separated by an equals sign, like -var=\"key=value\"."
                ),
            ));
            return;
        };
        if name.ends_with(' ') {
            self.diagnostics.push(Diagnostic::error(
                SUMMARY,
                format!(
                    "Variable name \"{name}\" is invalid due to trailing space. Did you mean -var=\"{}={}\"?",
                    name.trim_end(),
                    value.trim_start()
                ),
            ));
            return;
        }
        self.text(name, value, ValueSource::CommandLine);
    }

    fn file(&mut self, path: &Path) {
        let shown = shown(path);
        let text = match self.files.read(path) {
            Ok(text) => text,
            Err(error) => {
                let detail = match error.kind() {
                    io::ErrorKind::NotFound => {
                        format!("Given variables file {shown} does not exist.")
                    }
                    _ => format!("Error while reading {shown}: {error}."),
                };
                self.diagnostics.push(Diagnostic::error("Failed to read variables file", detail));
                return;
            }
        };
        let file = self.sources.add(shown.clone(), text);
        let before = self.diagnostics.len();
        let arguments = match shown.ends_with(".json") {
            true => {
                let (arguments, diagnostics) = parse_json_arguments(self.sources, file);
                self.diagnostics.extend(diagnostics);
                arguments
            }
            false => self.native_arguments(file, &shown),
        };
        if self.diagnostics.len() > before {
            return;
        }
        for argument in arguments {
            let source = ValueSource::File(argument.expression.span);
            let content = Content::Expression(argument.expression);
            self.values.0.insert(argument.name, GivenValue { content, source });
        }
    }

    fn native_arguments(&mut self, file: FileId, shown: &str) -> Vec<Attribute> {
        let (mut body, diagnostics) = parse_body(self.sources, file);
        let failed = diagnostics.has_errors();
        self.diagnostics.extend(diagnostics);
        if !failed {
            self.refuse_blocks(&body.blocks, shown);
        }
        std::mem::take(&mut body.attributes)
    }

    fn refuse_blocks(&mut self, blocks: &[Block], file: &str) {
        let declarations = blocks.iter().filter(|block| &*block.type_name == "variable");
        let before = self.diagnostics.len();
        for block in declarations {
            let Some(label) = block.labels.first() else { continue };
            let name = &label.text;
            self.diagnostics.push(
                Diagnostic::error(
                    "Variable declaration in .tfvars file",
                    format!(
                        "A .tfvars file is used to assign values to variables that have already been declared in .tf files, not to declare new variables. To declare variable \"{name}\", place this block in one of your .tf files, such as variables.tf.\n\nTo set a value for this variable in {file}, use the definition syntax instead:\n    {name} = <value>"
                    ),
                )
                .at(block.type_span),
            );
        }
        if self.diagnostics.len() == before
            && let Some(block) = blocks.first()
        {
            self.diagnostics.push(
                Diagnostic::error(
                    format!("Unexpected \"{}\" block", block.type_name),
                    "Blocks are not allowed here.",
                )
                .at(block.type_span),
            );
        }
    }
}

fn shown(path: &Path) -> String {
    let clean: PathBuf = path.strip_prefix(".").unwrap_or(path).into();
    clean.to_string_lossy().replace('\\', "/")
}
