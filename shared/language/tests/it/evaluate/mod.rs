//! Evaluation: expressions, what they read, references, bodies and type constraints.

mod bodies;
mod expressions;
mod json_bodies;
mod limits;
mod reads;
mod references;
mod types;
mod unknowns;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use language::diagnostics::{Diagnostic, Diagnostics};
use language::evaluate::Evaluation;
use language::files::Memory;
use language::functions::{FunctionContext, Random};
use language::reads::{PartReads, ReadLog};
use language::reference::Reference;
use language::scope::Scope;
use language::source::Sources;
use language::syntax::ast::{Body, Expression};
use language::syntax::{parse_body, parse_expression};
use values::{Type, Value};

/// A scope of constants.
pub(super) struct Constants {
    sources: Sources,
    values: BTreeMap<String, Value>,
    files: Memory,
}

struct NoRandom;

impl Random for NoRandom {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}

/// Functions that read these files, at a time that stands still and without randomness.
pub(crate) fn functions_over(files: &Memory) -> FunctionContext<'_> {
    FunctionContext {
        files,
        base_directory: Path::new("."),
        working_directory: Path::new("/work"),
        home_directory: None,
        pure_only: false,
        now: jiff::Timestamp::UNIX_EPOCH,
        plan_timestamp: None,
        random: &NoRandom,
    }
}

impl Scope for Constants {
    fn check(&self, reference: &Reference) -> Diagnostics {
        match self.values.contains_key(&reference.subject.to_string()) {
            true => Diagnostics::new(),
            false => Diagnostic::error("Undeclared", reference.subject.to_string())
                .at(reference.span)
                .into(),
        }
    }

    fn value(&self, reference: &Reference) -> Result<Value, Diagnostics> {
        Ok(self.values[&reference.subject.to_string()].clone())
    }

    fn function_context(&self) -> FunctionContext<'_> {
        functions_over(&self.files)
    }

    fn sources(&self) -> &Sources {
        &self.sources
    }
}

impl Constants {
    pub(super) fn new() -> Self {
        let texts = |items: &[&str]| items.iter().map(Value::string).collect();
        let instance = |id: &str| Value::object([("id", Value::string(id)), ("tags", texts_map())]);
        let values = [
            ("var.s", Value::string("abc")),
            ("var.n", Value::from(3)),
            ("var.flag", Value::bool(true)),
            ("var.list", Value::list(Type::String, texts(&["a", "b"]))),
            ("var.set", Value::set(Type::String, texts(&["b", "a"]))),
            ("var.map", texts_map()),
            ("var.secret", Value::string("hidden").sensitive()),
            ("var.flag_secret", Value::bool(true).sensitive()),
            ("var.none", Value::null(Type::String)),
            ("var.no_list", Value::null(Type::list(Type::String))),
            ("local.object", Value::object([("a", Value::from(1)), ("b", Value::string("x"))])),
            ("local.template", Value::string("Hi ${name}")),
            ("local.dynamic", Value::dynamic()),
            ("local.string", Value::unknown_not_null(Type::String)),
            ("local.number", Value::unknown_not_null(Type::Number)),
            ("local.bool", Value::unknown(Type::Bool)),
            ("local.maybe", Value::unknown(Type::String)),
            ("local.strings", Value::unknown_not_null(Type::list(Type::String))),
            ("count.index", Value::from(1)),
            ("aws_instance.web", Value::tuple(vec![instance("i-0"), instance("i-1")])),
            ("aws_instance.one", instance("i-9")),
            ("path.module", Value::string(".")),
        ];
        let files = Memory::from_iter([
            ("hello.tmpl", "Hello ${name}!"),
            ("loop.tmpl", "%{ for x in items ~}\n<${x}>\n%{ endfor ~}\n"),
            ("nested.tmpl", "${templatefile(\"hello.tmpl\", {name = 1})}"),
        ]);
        Constants {
            sources: Sources::new(),
            values: values.map(|(name, value)| (name.to_owned(), value)).into(),
            files,
        }
    }

    pub(super) fn parse(&self, text: &str) -> Expression {
        let text: Arc<[u8]> = text.as_bytes().into();
        let file = self.sources.add("test.tf", text.clone());
        let (expression, errors) = parse_expression(&self.sources, file, &text, 0);
        assert!(!errors.has_errors(), "{errors:?}");
        expression
    }

    pub(super) fn parse_body(&self, text: &str) -> Body {
        let file = self.sources.add("test.tf", text.as_bytes());
        let (body, errors) = parse_body(&self.sources, file);
        assert!(!errors.has_errors(), "{errors:?}");
        body
    }

    pub(super) fn evaluate(&self, text: &str) -> (Value, Diagnostics, ReadLog) {
        let expression = self.parse(text);
        let mut evaluation = Evaluation::new(self);
        let value = evaluation.expression(&expression);
        (value, evaluation.diagnostics, evaluation.reads)
    }

    pub(super) fn evaluate_in_parts(&self, text: &str) -> PartReads {
        let expression = self.parse(text);
        let mut evaluation = Evaluation::new(self);
        let (value, reads) = evaluation.expression_in_parts(&expression);
        assert_eq!(value, self.evaluate(text).0, "{text}");
        reads
    }

    /// Each error as `line,columns: summary: detail`.
    pub(super) fn errors(&self, errors: &Diagnostics) -> String {
        let lines: Vec<String> = errors
            .iter()
            .map(|error| {
                let place = error.subject.map(|span| self.sources.range(span).to_string());
                let place = place.unwrap_or_default().replace("test.tf:", "");
                format!("{place}: {}: {}", error.summary, error.detail)
            })
            .collect();
        lines.join("\n")
    }
}

fn texts_map() -> Value {
    Value::map(Type::String, [("env", Value::string("prod")), ("a b", Value::string("space"))])
}

/// Asserts the value of each expression, in the form of its `Debug`.
pub(super) fn assert_values(cases: &[(&str, &str)]) {
    let scope = Constants::new();
    for (text, expected) in cases {
        let (value, errors, _) = scope.evaluate(text);
        assert!(errors.is_empty(), "{text}: {}", scope.errors(&errors));
        assert_eq!(format!("{value:?}"), *expected, "{text}");
    }
}

/// Asserts the errors of each expression.
pub(super) fn assert_errors(cases: &[(&str, &str)]) {
    let scope = Constants::new();
    for (text, expected) in cases {
        let (_, errors, _) = scope.evaluate(text);
        assert_eq!(scope.errors(&errors), *expected, "{text}");
    }
}
