//! Expressions have values, which can be written as expressions again.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use language::diagnostics::Diagnostics;
use language::evaluate::{Evaluation, constant};
use language::files::Memory;
use language::functions::{FunctionContext, Random};
use language::reference::Reference;
use language::rendering::expression_text;
use language::scope::Scope;
use language::source::Sources;
use language::syntax::ast::{Body, Expression, with_stack};
use language::syntax::parse_expression;
use values::convert::convert;
use values::schema::{Attribute, Block, NestedBlock, Nesting};
use values::{Type, Value, json};

use crate::diagnostics::can_be_shown;

/// A name with `bcrypt` may ask for hours of work, which is what it is for.
const SLOW: &[u8] = b"bcrypt";

/// Whether what a text asks for ends within seconds.
pub(crate) fn is_quick(text: &[u8]) -> bool {
    !text.windows(SLOW.len()).any(|window| window == SLOW)
}

/// Where every reference has a value, each kind of value has a name, and files are in memory.
pub(crate) struct Surroundings {
    sources: Arc<Sources>,
    files: Memory,
}

struct Zeros;

impl Random for Zeros {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}

impl Surroundings {
    pub(crate) fn new(sources: Arc<Sources>, files: Memory) -> Surroundings {
        Surroundings { sources, files }
    }

    /// Evaluates an expression that parses.
    pub(crate) fn evaluate(&self, expression: &Expression) {
        let mut evaluation = Evaluation::new(self);
        let value = evaluation.expression(expression);
        can_be_shown(&evaluation.diagnostics, &self.sources);
        if evaluation.diagnostics.is_empty() {
            reads_back(&value.unmark_deep());
        }
    }

    /// Evaluates all arguments of a body, and what blocks in it give by a schema.
    pub(crate) fn evaluate_body(&self, body: &Body) {
        for attribute in &body.attributes {
            self.evaluate(&attribute.expression);
        }
        for block in &body.blocks {
            with_stack(|| self.evaluate_body(&block.body));
            self.evaluate_by_schema(&block.body);
        }
    }

    /// The object that a body gives by the schema is of the schema's type.
    pub(crate) fn evaluate_by_schema(&self, body: &Body) {
        let mut evaluation = Evaluation::new(self);
        let value = evaluation.body(body, &SCHEMA);
        can_be_shown(&evaluation.diagnostics, &self.sources);
        if evaluation.diagnostics.is_empty() && value.is_wholly_known() {
            let again = convert(&value, &SCHEMA.implied_type());
            assert!(again.is_ok(), "{value:?} is not of its schema's type: {again:?}");
        }
    }
}

impl Scope for Surroundings {
    fn value(&self, reference: &Reference) -> Result<Value, Diagnostics> {
        let texts = || ["a", "bc", ""].map(Value::string).to_vec();
        Ok(match reference.subject.to_string().as_str() {
            "var.s" => Value::string("a${b}\n\u{e9}"),
            "var.n" => Value::from(3),
            "var.b" => Value::bool(true),
            "var.l" => Value::list(Type::String, texts()),
            "var.e" => Value::set(Type::String, texts()),
            "var.m" => Value::map(Type::String, [("k", Value::string("v"))]),
            "var.o" => Value::object([("a", Value::from(1)), ("b", Value::tuple(texts()))]),
            "var.z" => Value::null(Type::String),
            "var.u" => Value::unknown(Type::String),
            "var.ul" => Value::unknown_not_null(Type::list(Type::Number)),
            "var.x" => Value::string("secret").sensitive(),
            "path.module" | "path.root" | "path.cwd" => Value::string("."),
            "count.index" => Value::from(0),
            "each.key" => Value::string("k"),
            _ => Value::dynamic(),
        })
    }

    fn function_context(&self) -> FunctionContext<'_> {
        FunctionContext {
            files: &self.files,
            base_directory: Path::new("."),
            working_directory: Path::new("/work"),
            home_directory: None,
            pure_only: false,
            now: jiff::Timestamp::UNIX_EPOCH,
            plan_timestamp: None,
            random: &Zeros,
        }
    }

    fn sources(&self) -> &Sources {
        &self.sources
    }
}

/// What blocks are read by: attributes of every kind of type, and nested blocks of each kind.
static SCHEMA: LazyLock<Block> = LazyLock::new(|| {
    let attribute = |name: &str, ty| (Arc::<str>::from(name), Attribute::plain(ty).optional());
    let inner = Block { attributes: [attribute("a", Type::String)].into(), ..Block::default() };
    let nested = |name: &str, nesting| {
        let block = NestedBlock { nesting, min_items: 0, max_items: 0, block: inner.clone() };
        (Arc::<str>::from(name), block)
    };
    Block {
        attributes: [
            attribute("a", Type::String),
            attribute("n", Type::Number),
            attribute("l", Type::list(Type::String)),
            attribute("m", Type::map(Type::Number)),
            attribute("o", Type::object([("a", Type::Bool)])),
            attribute("d", Type::Dynamic),
        ]
        .into(),
        blocks: [
            nested("one", Nesting::Single),
            nested("group", Nesting::Group),
            nested("list", Nesting::List),
            nested("set", Nesting::Set),
        ]
        .into(),
        ..Block::default()
    }
});

/// A value that is wholly known, as an expression, is the same value but for its exact type: the same JSON.
pub(crate) fn reads_back(value: &Value) {
    let Ok(expected) = json::encode(value) else { return };
    let text = expression_text(value);
    let sources = Sources::new();
    let file = sources.add("<value>", text.as_bytes());
    let (expression, errors) = parse_expression(&sources, file, text.as_bytes(), 0);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let (again, errors) = constant(&expression);
    assert!(errors.is_empty(), "{text}: {errors:?}");
    assert_eq!(json::encode(&again), Ok(expected), "{text}");
}
