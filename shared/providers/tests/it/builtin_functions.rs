//! Values and their text; expected texts are what Terraform 1.11.4 gives.

use language::evaluate::constant;
use language::functions::Random;
use language::source::Sources;
use language::syntax::parse_expression;
use providers::builtin::BuiltinProvider;
use providers::{CallFunctionRequest, FunctionError, Provider, ProviderError};
use std::sync::Arc;
use values::{Refinement, Type, Value};

struct Zeros;

impl Random for Zeros {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}

async fn call(name: &str, argument: Value) -> Result<Value, FunctionError> {
    let provider = BuiltinProvider::new(Arc::new(Zeros), None);
    let request = CallFunctionRequest { name: name.into(), arguments: vec![argument] };
    provider.call_function(request).await.unwrap()
}

fn value(text: &str) -> Value {
    let sources = Sources::new();
    let file = sources.add("test", text.as_bytes());
    let (expression, diagnostics) = parse_expression(&sources, file, text.as_bytes(), 0);
    assert!(!diagnostics.has_errors(), "{text}: {diagnostics:?}");
    constant(&expression).0
}

async fn encoded(name: &str, text: &str) -> String {
    call(name, value(text)).await.unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn expressions_of_values() {
    let cases = [
        ("1", "1"),
        ("\"a\\nb\\\"$${x}\"", "\"a\\nb\\\"$${x}\""),
        ("\"a %%{if} \\\\ \\t \\u00e9 \\u0007\"", "\"a %%{if} \\\\ \\t é \\u0007\""),
        ("[1, 2, \"x\"]", "[1, 2, \"x\"]"),
        ("[null]", "[null]"),
        ("[]", "[]"),
        ("{}", "{}"),
        ("1.5e50", "150000000000000000000000000000000000000000000000000"),
        ("0.1", "0.1"),
        ("-12345678901234567890123", "-12345678901234567890123"),
        ("1e-7", "0.0000001"),
        ("true", "true"),
        (
            "{ a = 1, \"b c\" = { x = [1] }, \"1\" = 2 }",
            "{\n  \"1\" = 2\n  a   = 1\n  \"b c\" = {\n    x = [1]\n  }\n}",
        ),
        ("[{ a = 1 }, { b = [[], {}] }]", "[{\n  a = 1\n  }, {\n  b = [[], {}]\n}]"),
        (
            "{ true = 1, null = 1, for = 1, a-b = 1, \"é\" = 1, _x = 1, \"\" = 1, \".\" = 1, \"a.b\" = 1 }",
            "{\n  \"\"    = 1\n  \".\"   = 1\n  _x    = 1\n  a-b   = 1\n  \"a.b\" = 1\n  for   = 1\n  null  = 1\n  true  = 1\n  é     = 1\n}",
        ),
    ];
    for (given, expected) in cases {
        assert_eq!(encoded("encode_expr", given).await, expected, "{given}");
    }
    let set = Value::set(Type::String, vec![Value::string("b"), Value::string("a")]);
    assert_eq!(call("encode_expr", set).await.unwrap(), Value::string("[\"a\", \"b\"]"));
}

#[tokio::test]
async fn an_expressions_beginning_is_known_before_its_value() {
    let id = Value::unknown_refined(Type::String, Refinement::not_null());
    let cases = [
        (Value::tuple(vec![Value::unknown(Type::String)]), Some("[")),
        (Value::object([("a", Value::unknown(Type::String))]), Some("{")),
        (id, Some("\"")),
        (Value::unknown(Type::String), None),
        (Value::dynamic(), None),
    ];
    for (given, prefix) in cases {
        let found = call("encode_expr", given.clone()).await.unwrap();
        assert!(!found.is_known());
        let refinement = found.refinement().unwrap();
        assert_eq!(refinement.string_prefix.as_deref(), prefix, "{given:?}");
    }
}

#[tokio::test]
async fn files_of_values() {
    let cases = [
        ("{}", ""),
        (
            "{ a = 1, b = \"x\\n$${y}\", c = [1, 2, { x = true }], d = { \"k k\" = null, z = [] }, e = null }",
            "a = 1\nb = \"x\\n$${y}\"\nc = [1, 2, {\n  x = true\n}]\nd = {\n  \"k k\" = null\n  z     = []\n}\ne = null\n",
        ),
        ("{ true = 1, null = 2, for = 3 }", "for  = 3\nnull = 2\ntrue = 1\n"),
        ("{ a = \"multi\\nline\\n\", abc = 2 }", "a   = \"multi\\nline\\n\"\nabc = 2\n"),
    ];
    for (given, expected) in cases {
        let text = encoded("encode_tfvars", given).await;
        assert_eq!(text, expected, "{given}");
        assert_eq!(call("decode_tfvars", Value::string(&text)).await.unwrap(), value(given));
    }
    let map = Value::map(Type::String, [("b", Value::string("1")), ("a", Value::string("2"))]);
    assert_eq!(call("encode_tfvars", map).await.unwrap(), Value::string("a = \"2\"\nb = \"1\"\n"));
}

#[tokio::test]
async fn what_is_no_file_of_values() {
    let refused = [
        (
            "encode_tfvars",
            "[1]",
            "invalid value to encode: must be an object whose attribute names will become the encoded variable names",
        ),
        (
            "encode_tfvars",
            "{ \"a b\" = 1 }",
            "invalid variable name \"a b\": must be a valid identifier, per Terraform's rules for input variable declarations",
        ),
        (
            "decode_tfvars",
            "\"a=1 b=2\"",
            "invalid tfvars syntax: <decode_tfvars argument>:1,5-6: Missing newline after argument; An argument definition must end with a newline.",
        ),
        (
            "decode_tfvars",
            "\"a=upper(\\\"x\\\")\"",
            "invalid expression for variable \"a\": <decode_tfvars argument>:1,3-13: Function calls not allowed; Functions may not be called here.",
        ),
        (
            "decode_tfvars",
            "\"a=b\"",
            "invalid expression for variable \"a\": <decode_tfvars argument>:1,3-4: Variables not allowed; Variables may not be used here.",
        ),
        (
            "decode_tfvars",
            "\"a {\\n}\\n\"",
            "invalid tfvars content: <decode_tfvars argument>:1,1-2: Unexpected \"a\" block; Blocks are not allowed here.",
        ),
        (
            "decode_tfvars",
            "\"a=1\\na=2\"",
            "invalid tfvars syntax: <decode_tfvars argument>:2,1-2: Attribute redefined; The argument \"a\" was already set at <decode_tfvars argument>:1,1-2. Each argument may be set only once.",
        ),
        (
            "decode_tfvars",
            "\"a={\\n\"",
            "invalid tfvars syntax: <decode_tfvars argument>:2,1-1: Missing expression; Expected the start of an expression, but found the end of the file.",
        ),
    ];
    for (name, given, expected) in refused {
        assert_eq!(call(name, value(given)).await.unwrap_err().text, expected, "{given}");
    }
    let provider = BuiltinProvider::new(Arc::new(Zeros), None);
    let request = CallFunctionRequest { name: "nothing".into(), arguments: vec![value("1")] };
    let unknown = provider.call_function(request).await;
    assert!(matches!(unknown, Err(ProviderError::UnknownName { .. })));
}

#[tokio::test]
async fn deep_values_have_a_text() {
    let mut deep = Value::number(1_i64);
    for _ in 0..10_000 {
        deep = Value::tuple(vec![deep]);
    }
    let text = call("encode_expr", deep).await.unwrap();
    assert!(text.as_str().unwrap().starts_with("[[["));
}
