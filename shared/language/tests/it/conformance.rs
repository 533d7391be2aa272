//! The cases of `tests/conformance` that need nothing but the language: what Terraform printed for
//! them, and what we say.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::evaluate::functions_over;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::evaluate::Evaluation;
use language::files::Memory;
use language::formatting;
use language::functions::FunctionContext;
use language::module::{Available, Configuration, LoadOptions, load};
use language::reference::{PathAttribute, Reference, Subject, TerraformAttribute};
use language::rendering::console_text;
use language::scope::Scope;
use language::source::Sources;
use language::syntax::parse_expression;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;
use values::{Marks, Value};

/// What Terraform made of an expression in a console without configuration.
#[derive(Deserialize)]
struct ExpressionCase {
    expression: String,
    /// What it printed; absent where it failed.
    result: Option<String>,
    /// The summaries of its errors.
    #[serde(default)]
    errors: Vec<String>,
}

/// What Terraform made of a file's layout.
#[derive(Deserialize)]
struct FormattingCase {
    name: String,
    input: String,
    /// Absent where it refused the file.
    output: Option<String>,
}

fn cases<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn expressions_give_what_terraform_prints() {
    let console = EmptyConsole::new();
    let all: Vec<ExpressionCase> = cases("expressions.jsonl");
    let mut wrong = String::new();
    for case in &all {
        let expected = case.result.clone().map_or_else(|| Err(case.errors.clone()), Ok);
        let found = console.line(&case.expression);
        if found != expected {
            wrong.push_str(&format!("{}\n  {expected:?}\n  {found:?}\n", case.expression));
        }
    }
    assert!(wrong.is_empty(), "of {}:\n{wrong}", all.len());
}

#[test]
fn files_are_laid_out_as_terraform_does() {
    let all: Vec<FormattingCase> = cases("formatting.jsonl");
    for case in &all {
        let sources = Sources::new();
        let file = sources.add("main.tf", case.input.as_bytes());
        let output = formatting::format(&sources, file).ok();
        let output = output.map(|text| String::from_utf8(text).unwrap());
        assert_eq!(output, case.output, "{}", case.name);
    }
}

/// A console where nothing is configured.
struct EmptyConsole {
    configuration: Configuration,
    files: Memory,
}

impl EmptyConsole {
    fn new() -> EmptyConsole {
        let files = Memory::from_iter([("main.tf", "")]);
        let sources = Arc::new(Sources::new());
        let (configuration, _) = load(&files, Path::new("."), sources, LoadOptions::default());
        EmptyConsole { configuration, files }
    }

    /// What is printed, or the summaries of the errors.
    fn line(&self, line: &str) -> Result<String, Vec<String>> {
        let summaries = |found: &Diagnostics| {
            let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
            errors.map(|diagnostic| diagnostic.summary.clone()).collect::<Vec<_>>()
        };
        let file = self.sources().add("<console-input>", line.as_bytes());
        let (expression, errors) = parse_expression(self.sources(), file, line.as_bytes(), 0);
        if errors.has_errors() {
            return Err(summaries(&errors));
        }
        let mut evaluation = Evaluation::new(self);
        let result = evaluation.console(&expression);
        match result {
            Some(result) => Ok(console_text(&result) + "\n"),
            None => Err(summaries(&evaluation.diagnostics)),
        }
    }
}

impl Scope for EmptyConsole {
    fn check(&self, reference: &Reference) -> Diagnostics {
        let found = self.configuration.root.check_reference(reference, Available::default());
        found.into_iter().collect()
    }

    fn value(&self, reference: &Reference) -> Result<Value, Diagnostics> {
        match &reference.subject {
            Subject::Path(PathAttribute::Module | PathAttribute::Root) => Ok(Value::string(".")),
            Subject::Terraform(TerraformAttribute::Workspace) => Ok(Value::string("default")),
            Subject::Terraform(TerraformAttribute::Applying) => {
                Ok(Value::bool(false).with_marks(Marks::EPHEMERAL))
            }
            other => Err(Diagnostic::error("Not there", other.to_string()).into()),
        }
    }

    fn function_context(&self) -> FunctionContext<'_> {
        functions_over(&self.files)
    }

    fn sources(&self) -> &Sources {
        &self.configuration.sources
    }
}
