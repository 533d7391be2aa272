//! Bodies decoded by schema.

use language::decode::references_in_body;
use language::evaluate::Evaluation;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use values::{Type, Value};

use super::Constants;

fn nested(nesting: Nesting, block: Block) -> NestedBlock {
    NestedBlock { nesting, min_items: 0, max_items: 0, block }
}

fn rule() -> Block {
    Block {
        attributes: [
            ("port".into(), Attribute::plain(Type::Number).required()),
            ("name".into(), Attribute::plain(Type::String).optional()),
        ]
        .into(),
        ..Block::default()
    }
}

fn schema() -> Block {
    let settings = NestedAttributes {
        nesting: Nesting::List,
        attributes: [
            ("key".into(), Attribute::plain(Type::String).required()),
            ("size".into(), Attribute::plain(Type::Number).optional()),
        ]
        .into(),
    };
    let mut limited = nested(Nesting::List, rule());
    (limited.min_items, limited.max_items) = (1, 2);
    Block {
        attributes: [
            ("ami".into(), Attribute::plain(Type::String).required()),
            ("tags".into(), Attribute::plain(Type::map(Type::String)).optional()),
            ("id".into(), Attribute::plain(Type::String).computed()),
            (
                "settings".into(),
                Attribute {
                    ty: AttributeType::Nested(settings),
                    ..Attribute::plain(Type::Dynamic).optional()
                },
            ),
        ]
        .into(),
        blocks: [
            ("rule".into(), nested(Nesting::List, rule())),
            ("rules".into(), nested(Nesting::Set, rule())),
            ("keyed".into(), nested(Nesting::Map, rule())),
            ("one".into(), nested(Nesting::Single, rule())),
            ("limited".into(), limited),
        ]
        .into(),
        ..Block::default()
    }
}

const REQUIRED: &str = "ami = \"x\"\nlimited {\n  port = 1\n}\n";

fn decode_by(schema: &Block, text: &str) -> (Value, String) {
    let scope = Constants::new();
    let body = scope.parse_body(text);
    let mut evaluation = Evaluation::new(&scope);
    let value = evaluation.body(&body, schema);
    (value, scope.errors(&evaluation.diagnostics))
}

fn decode(text: &str) -> Value {
    let (value, errors) = decode_by(&schema(), &format!("{REQUIRED}{text}"));
    assert_eq!(errors, "", "{text}");
    assert_eq!(value.ty(), schema().implied_type(), "{text}");
    value
}

fn shown(text: &str, attribute: &str) -> String {
    format!("{:?}", decode(text).attribute(attribute).unwrap_or_else(Value::dynamic))
}

fn refused(text: &str) -> String {
    decode_by(&schema(), &format!("{REQUIRED}{text}")).1
}

#[test]
fn attributes_are_converted() {
    assert_eq!(shown("", "ami"), "\"x\"");
    assert_eq!(shown("", "id"), "null(string)");
    assert_eq!(shown("tags = { a = 1 }", "tags"), "map{\"a\": \"1\"}");
    assert_eq!(
        shown("settings = [{ key = 1 }]", "settings"),
        "[{\"key\": \"1\", \"size\": null(number)}]"
    );
}

#[test]
fn blocks_are_collected() {
    let blocks = |kind: &str| format!("{kind} {{\n  port = 2\n}}\n{kind} {{\n  port = 1\n}}\n");
    assert_eq!(
        shown(&blocks("rule"), "rule"),
        "[{\"name\": null(string), \"port\": 2}, {\"name\": null(string), \"port\": 1}]"
    );
    assert_eq!(
        shown(&blocks("rules"), "rules"),
        "set[{\"name\": null(string), \"port\": 1}, {\"name\": null(string), \"port\": 2}]"
    );
    assert_eq!(
        shown("keyed \"k\" {\n  port = 1\n}", "keyed"),
        "map{\"k\": {\"name\": null(string), \"port\": 1}}"
    );
    assert_eq!(shown("one {\n  port = \"8\"\n}", "one"), "{\"name\": null(string), \"port\": 8}");
    assert_eq!(shown("", "one"), "null(object({name=string, port=number}))");
    assert_eq!(shown("", "rule"), "[]");
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(
        decode_by(&schema(), "").1,
        "1,1-1: Missing required argument: The argument \"ami\" is required, but no definition was found.\n1,1-1: Insufficient limited blocks: At least 1 \"limited\" blocks are required."
    );
    for (text, expected) in [
        (
            "tagz = {}",
            "5,1-5: Unsupported argument: An argument named \"tagz\" is not expected here. Did you mean \"tags\"?",
        ),
        (
            "rule = 1",
            "5,1-5: Unsupported argument: An argument named \"rule\" is not expected here. Did you mean to define a block of type \"rule\"?",
        ),
        (
            "tags {\n}",
            "5,1-5: Unsupported block type: Blocks of type \"tags\" are not expected here. Did you mean to define argument \"tags\"? If so, use the equals sign to assign it a value.",
        ),
        (
            "rulez {\n}",
            "5,1-6: Unsupported block type: Blocks of type \"rulez\" are not expected here. Did you mean \"rule\"?",
        ),
        (
            "rule \"x\" {\n  port = 1\n}",
            "5,6-9: Extraneous label for rule: No labels are expected for rule blocks.",
        ),
        (
            "keyed {\n  port = 1\n}",
            "5,7-8: Missing key for keyed: All keyed blocks must have 1 labels (key).",
        ),
        (
            "tags = 1",
            "5,8-9: Incorrect attribute value type: Inappropriate value for attribute \"tags\": map of string required.",
        ),
        (
            "settings = [{}]",
            "5,12-16: Incorrect attribute value type: Inappropriate value for attribute \"settings\": element 0: attribute \"key\" is required.",
        ),
        (
            "rule {\n}",
            "5,6-6: Missing required argument: The argument \"port\" is required, but no definition was found.",
        ),
        (
            "one {\n  port = 1\n}\none {\n  port = 1\n}",
            "8,1-4: Duplicate one block: Only one block of type \"one\" is allowed. Previous definition was at test.tf:5,1-4.",
        ),
        (
            "keyed \"a\" {\n  port = 1\n}\nkeyed \"a\" {\n  port = 1\n}",
            "8,1-10: Duplicate keyed block: A block for keyed \"a\" was already defined. The keyed labels must be unique.",
        ),
        (
            "limited {\n  port = 1\n}\nlimited {\n  port = 1\n}",
            "8,9-9: Too many limited blocks: No more than 2 \"limited\" blocks are allowed",
        ),
        // A reference that is refused hides what follows from it.
        ("tags = var.nope\nfoo = 1", "5,8-16: Undeclared: var.nope"),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
}

#[test]
fn dynamic_blocks() {
    let dynamic = |attributes: &str, content: &str| {
        format!("dynamic \"rule\" {{\n{attributes}\ncontent {{\n{content}\n}}\n}}\n")
    };
    assert_eq!(
        shown(&dynamic("for_each = [80, 443]", "port = rule.value\nname = rule.key"), "rule"),
        "[{\"name\": \"0\", \"port\": 80}, {\"name\": \"1\", \"port\": 443}]"
    );
    assert_eq!(
        shown(&dynamic("for_each = var.set\niterator = it", "port = 1\nname = it.key"), "rule"),
        "[{\"name\": \"a\", \"port\": 1}, {\"name\": \"b\", \"port\": 1}]"
    );
    assert_eq!(shown(&dynamic("for_each = []", "port = 1"), "rule"), "[]");
    assert_eq!(
        shown(&dynamic("for_each = local.strings", "port = 1"), "rule"),
        "unknown(list(object({name=string, port=number})))"
    );
    assert_eq!(
        shown(
            "dynamic \"keyed\" {\n  for_each = { a = 1 }\n  labels = [\"${keyed.key}x\"]\n  content {\n    port = keyed.value\n  }\n}",
            "keyed"
        ),
        "map{\"ax\": {\"name\": null(string), \"port\": 1}}"
    );
    let secret = dynamic("for_each = [var.secret]", "port = 1\nname = rule.value");
    assert!(decode(&secret).deep_marks().is_sensitive());
    let value = "Invalid dynamic for_each value:";
    for (text, expected) in [
        (dynamic("for_each = 1", "port = 1"), format!("6,12-13: {value} Cannot use a number value in for_each. An iterable collection is required.")),
        (dynamic("for_each = null", "port = 1"), format!("6,12-16: {value} Cannot use a null value in for_each.")),
        (dynamic("", "port = 1"), "5,16-16: Missing required argument: The argument \"for_each\" is required, but no definition was found.".into()),
        (dynamic("for_each = []\nfoo = 1", "port = 1"), "7,1-4: Unsupported argument: An argument named \"foo\" is not expected here.".into()),
        ("dynamic \"rule\" {\n  for_each = []\n}".into(), "5,16-16: Missing dynamic content block: A dynamic block must have a nested block of type \"content\" to describe the body of each generated block.".into()),
        ("dynamic \"foo\" {\n}".into(), "5,9-14: Unsupported block type: Blocks of type \"foo\" are not expected here.".into()),
    ] {
        assert_eq!(refused(&text), expected, "{text}");
    }
}

#[test]
fn dynamic_blocks_nest() {
    let inner = nested(Nesting::List, rule());
    let outer = Block { blocks: [("inner".into(), inner)].into(), ..Block::default() };
    let schema = Block {
        blocks: [("outer".into(), nested(Nesting::List, outer))].into(),
        ..Block::default()
    };
    let text = "dynamic \"outer\" {\n  for_each = { a = [1, 2], b = [] }\n  content {\n    dynamic \"inner\" {\n      for_each = outer.value\n      content {\n        port = inner.value\n        name = outer.key\n      }\n    }\n  }\n}\n";
    let (value, errors) = decode_by(&schema, text);
    assert_eq!(errors, "");
    assert_eq!(
        format!("{value:?}"),
        "{\"outer\": [{\"inner\": [{\"name\": \"a\", \"port\": 1}, {\"name\": \"a\", \"port\": 2}]}, {\"inner\": []}]}"
    );
    let scope = Constants::new();
    let found = references_in_body(&scope.parse_body(&text.replace("[1, 2]", "var.list")), &schema);
    let found: Vec<String> = found.into_iter().map(|it| it.unwrap().to_string()).collect();
    assert_eq!(found, ["var.list"]);
}

#[test]
fn attributes_may_be_written_as_blocks() {
    let element = Type::object([("port", Type::Number), ("name", Type::String)]);
    let schema = Block {
        attributes: [("ingress".into(), Attribute::plain(Type::set(element)).optional())].into(),
        ..Block::default()
    };
    let decode = |text: &str| {
        let (value, errors) = decode_by(&schema, text);
        assert_eq!(errors, "", "{text}");
        format!("{:?}", value.attribute("ingress").unwrap())
    };
    let written = "set[{\"name\": \"x\", \"port\": 2}, {\"name\": null(string), \"port\": 1}]";
    assert_eq!(
        decode("ingress {\n  port = 2\n  name = \"x\"\n}\ningress {\n  port = 1\n}"),
        written
    );
    assert_eq!(
        decode("ingress = [{ port = 2, name = \"x\" }, { port = 1, name = null }]"),
        written
    );
    assert_eq!(
        decode(
            "dynamic \"ingress\" {\n  for_each = [1]\n  content {\n    port = ingress.value\n  }\n}"
        ),
        "set[{\"name\": null(string), \"port\": 1}]"
    );
    assert_eq!(decode("ingress = []"), "set[]");
    assert_eq!(decode(""), "null(set(object({name=string, port=number})))");
    let (_, errors) = decode_by(&schema, "ingress {\n  prt = 1\n}");
    assert!(errors.contains("Did you mean \"port\"?"), "{errors}");
}

#[test]
fn many_blocks_are_cheap() {
    let text: String =
        (0..2000).map(|at| format!("rule {{\n  port = {at} + var.n\n}}\n")).collect();
    let start = std::time::Instant::now();
    let value = decode(&text);
    assert_eq!(value.attribute("rule").unwrap().as_slice().unwrap().len(), 2000);
    assert!(start.elapsed().as_secs() < 5);
}
