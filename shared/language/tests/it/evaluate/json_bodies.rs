//! Bodies of the JSON syntax: what is an argument and what a block, by schema.

use language::decode::references_in_body;
use language::evaluate::{Evaluation, constant};
use language::files::Memory;
use language::module::{LoadOptions, load};
use language::source::Sources;
use language::syntax::ast::Body;
use language::syntax::parse_json_body;
use std::path::Path;
use std::sync::Arc;
use values::schema::{Attribute, Block, NestedBlock, Nesting};
use values::{Type, Value};

use super::Constants;

fn schema() -> Block {
    let rule = || Block {
        attributes: [
            ("port".into(), Attribute::plain(Type::Number).required()),
            ("name".into(), Attribute::plain(Type::String).optional()),
        ]
        .into(),
        ..Block::default()
    };
    let nested = |nesting| NestedBlock { nesting, min_items: 0, max_items: 0, block: rule() };
    let pairs = Type::list(Type::object([("a", Type::String)]));
    Block {
        attributes: [
            ("any".into(), Attribute::plain(Type::Dynamic).optional()),
            ("tags".into(), Attribute::plain(Type::map(Type::String)).optional()),
            ("pairs".into(), Attribute::plain(pairs).optional()),
        ]
        .into(),
        blocks: [
            ("rule".into(), nested(Nesting::List)),
            ("keyed".into(), nested(Nesting::Map)),
            ("one".into(), nested(Nesting::Single)),
        ]
        .into(),
        ..Block::default()
    }
}

fn parse(scope: &Constants, text: &str) -> Body {
    let file = scope.sources.add("test.tf.json", text.as_bytes());
    let (body, errors) = parse_json_body(&scope.sources, file);
    assert!(!errors.has_errors(), "{errors:?}");
    body
}

fn decode(text: &str) -> (Value, String) {
    let scope = Constants::new();
    let body = parse(&scope, text);
    let mut evaluation = Evaluation::new(&scope);
    let value = evaluation.body(&body, &schema());
    (value, scope.errors(&evaluation.diagnostics))
}

fn shown(text: &str, attribute: &str) -> String {
    let (value, errors) = decode(text);
    assert_eq!(errors, "", "{text}");
    format!("{:?}", value.attribute(attribute).unwrap_or_else(Value::dynamic))
}

#[test]
fn strings_are_templates() {
    assert_eq!(shown(r#"{"any": "a-${var.n}"}"#, "any"), "\"a-3\"");
    assert_eq!(shown(r#"{"any": "${var.list}"}"#, "any"), "[\"a\", \"b\"]");
    assert_eq!(shown(r#"{"any": "$${x}"}"#, "any"), "\"${x}\"");
    assert_eq!(
        shown(r#"{"any": [1, true, null, -2.5e1]}"#, "any").replace("dynamic", "any"),
        shown(r#"{"any": "${[1, true, null, -25]}"}"#, "any").replace("dynamic", "any")
    );
    assert_eq!(
        shown(r#"{"any": {"k ${var.n}": "\u0041\ud83d\ude00"}}"#, "any"),
        "{\"k 3\": \"A😀\"}"
    );
}

#[test]
fn a_member_of_a_value_is_no_comment() {
    assert_eq!(
        shown(r#"{"//": "${nonsense}", "tags": {"//": "x"}}"#, "tags"),
        "map{\"//\": \"x\"}"
    );
}

#[test]
fn one_block_or_many() {
    let two = "[{\"name\": null(string), \"port\": 1}, {\"name\": \"x\", \"port\": 2}]";
    assert_eq!(shown(r#"{"rule": [{"port": 1}, {"port": 2, "name": "x"}]}"#, "rule"), two);
    assert_eq!(shown(r#"{"rule": {"port": 1}, "rule": {"port": 2, "name": "x"}}"#, "rule"), two);
    assert_eq!(shown(r#"{"rule": null}"#, "rule"), shown("{}", "rule"));
    assert_eq!(
        shown(r#"{"one": {"//": "c", "port": "${var.n}"}}"#, "one"),
        "{\"name\": null(string), \"port\": 3}"
    );
    assert_eq!(
        shown(r#"{"keyed": {"k": {"port": 1}}}"#, "keyed"),
        "map{\"k\": {\"name\": null(string), \"port\": 1}}"
    );
}

#[test]
fn objects_are_an_attribute_where_the_schema_has_one() {
    assert_eq!(shown(r#"{"pairs": [{"a": 1}]}"#, "pairs"), "[{\"a\": \"1\"}]");
}

#[test]
fn dynamic_blocks() {
    let text = r#"{"dynamic": {"rule": {
        "for_each": "${var.list}", "iterator": "it",
        "content": {"port": "${it.key}", "name": "${it.value}"}}}}"#;
    assert_eq!(
        shown(text, "rule"),
        "[{\"name\": \"a\", \"port\": 0}, {\"name\": \"b\", \"port\": 1}]"
    );
    let scope = Constants::new();
    let references = references_in_body(&parse(&scope, text), &schema());
    let names: Vec<String> = references.into_iter().flatten().map(|it| it.to_string()).collect();
    assert_eq!(names, ["var.list"]);
    let unexpected =
        r#"{"dynamic": {"rule": {"for_each": [], "contents": {}, "content": {"prot": 1}}}}"#;
    let (_, errors) = decode(unexpected);
    assert!(
        errors
            .contains("No argument or block type is named \"contents\". Did you mean \"content\"?"),
        "{errors}"
    );
    assert!(
        errors.contains("No argument or block type is named \"prot\". Did you mean \"port\"?"),
        "{errors}"
    );
}

#[test]
fn what_the_schema_has_no_place_for() {
    let (_, errors) = decode(r#"{"tagz": 1, "rule": 1, "one": {}, "tags": {}, "tags": {}}"#);
    for expected in [
        "No argument or block type is named \"tagz\".",
        "Either a JSON object or a JSON array is required, representing the contents of one or more \"rule\" blocks.",
        "The argument \"port\" is required, but no definition was found.",
        "The argument \"tags\" was already set at test.tf.json:1,",
    ] {
        assert!(errors.contains(expected), "{expected}\n{errors}");
    }
}

#[test]
fn values_that_are_refused() {
    let (_, errors) = decode(r#"{"any": {"a": 1, "a": 2}}"#);
    let expected = "An attribute named \"a\" was already defined at test.tf.json:1,10-13.";
    assert!(errors.contains(expected), "{errors}");
    let (_, errors) = decode(r#"{"any": "${1 +}"}"#);
    assert!(errors.contains("Expected the start of an expression"), "{errors}");
    let (_, errors) = decode(r#"{"any": {"${null}": 1}}"#);
    assert!(errors.contains("Cannot use null value as an object key."), "{errors}");
}

#[test]
fn where_constants_are_wanted_strings_are_texts() {
    let scope = Constants::new();
    let body = parse(&scope, r#"{"a": "${var.n}"}"#);
    let (value, errors) = constant(&body.attributes[0].expression);
    assert_eq!((value, errors.has_errors()), (Value::string("${var.n}"), false));
}

/// The rules of a resource after an override.
fn overridden(file: (&str, &str), override_file: (&str, &str)) -> String {
    let files: Memory = [file, override_file].into_iter().collect();
    let (configuration, diagnostics) =
        load(&files, Path::new("."), Arc::new(Sources::new()), LoadOptions::default());
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let scope = Constants::new();
    let mut evaluation = Evaluation::new(&scope);
    let block = configuration.root.module.resources.values().next().expect("it is declared");
    let value = evaluation.body(&block.config, &schema());
    assert!(!evaluation.diagnostics.has_errors(), "{:?}", evaluation.diagnostics);
    ["any", "rule"].map(|name| format!("{:?}", value.attribute(name).expect(name))).join(" ")
}

#[test]
fn an_override_replaces_arguments_and_blocks_across_syntaxes() {
    const NATIVE: &str = "resource \"x\" \"a\" {\n any = 1\n rule {\n port = 1\n }\n}\n";
    const JSON: &str =
        r#"{"resource": {"x": {"a": {"any": 2, "rule": [{"port": 2}, {"port": 3}]}}}}"#;
    let one = "1 [{\"name\": null(string), \"port\": 1}]";
    let two = "2 [{\"name\": null(string), \"port\": 2}, {\"name\": null(string), \"port\": 3}]";
    assert_eq!(overridden(("main.tf", NATIVE), ("override.tf.json", JSON)), two);
    assert_eq!(overridden(("main.tf.json", JSON), ("override.tf", NATIVE)), one);
    assert_eq!(overridden(("main.tf.json", JSON), ("x_override.tf.json", JSON)), two);
}
