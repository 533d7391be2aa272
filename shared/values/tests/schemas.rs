use std::collections::BTreeMap;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use values::{Marks, Type, Value, json};

fn block() -> Block {
    let secret = Attribute { sensitive: true, ..Attribute::plain(Type::String).optional() };
    let inner = Block {
        attributes: BTreeMap::from([("secret".into(), secret.clone())]),
        ..Block::default()
    };
    let nested = Attribute {
        ty: AttributeType::Nested(NestedAttributes {
            nesting: Nesting::Map,
            attributes: BTreeMap::from([("secret".into(), secret)]),
        }),
        ..Attribute::plain(Type::Dynamic).optional()
    };
    Block {
        attributes: BTreeMap::from([
            ("id".into(), Attribute::plain(Type::String).computed()),
            ("size".into(), Attribute::plain(Type::Number).required()),
            ("nested".into(), nested),
        ]),
        blocks: BTreeMap::from([(
            "disk".into(),
            NestedBlock { nesting: Nesting::List, min_items: 0, max_items: 0, block: inner },
        )]),
        ..Block::default()
    }
}

fn value(text: &str) -> Value {
    json::decode(text.as_bytes()).unwrap()
}

#[test]
fn objects_are_brought_into_the_blocks_type() {
    let block = block();
    let coerced = block
        .coerce_value(&value(r#"{"size":"5","disk":[{"secret":"x"}],"nested":{"k":{}}}"#))
        .unwrap();
    assert_eq!(coerced.ty(), block.implied_type());
    assert_eq!(
        json::encode(&coerced).unwrap(),
        r#"{"disk":[{"secret":"x"}],"id":null,"nested":{"k":{"secret":null}},"size":5}"#
    );
    assert_eq!(block.coerce_value(&coerced).unwrap(), coerced);
    for (text, message) in [
        (r#"{}"#, "attribute \"size\" is required"),
        (r#"{"size":1,"x":1}"#, "unexpected attribute \"x\""),
        (r#"{"size":"x"}"#, ".size: a number is required"),
        (r#"{"size":1,"disk":1}"#, ".disk: must be a list"),
        (r#"{"size":1,"disk":[1]}"#, ".disk[0]: an object is required"),
        (r#"[]"#, "an object is required"),
    ] {
        assert_eq!(block.coerce_value(&value(text)).unwrap_err().with_path(), message);
    }
}

#[test]
fn sensitive_paths_reach_into_blocks_and_nested_attributes() {
    let block = block();
    let value = block
        .coerce_value(&value(r#"{"size":1,"disk":[{"secret":"x"}],"nested":{"k":{}}}"#))
        .unwrap();
    let paths: Vec<String> = block.sensitive_paths(&value).iter().map(|p| p.to_string()).collect();
    assert_eq!(paths, [".nested[\"k\"].secret", ".disk[0].secret"]);
    assert_eq!(block.mark_sensitive(&value).deep_marks(), Marks::SENSITIVE);
    assert!(block.write_only_paths(&value).is_empty());
}
