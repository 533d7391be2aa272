use crate::samples::{typed, types};
use proptest::prelude::*;
use values::json::{self, from_json, to_json};
use values::msgpack::{from_msgpack, to_msgpack};
use values::{Number, Type, Value};

#[test]
fn json_text() {
    let value = Value::object([
        ("b", Value::number(Number::parse("1.50").unwrap())),
        ("a", Value::string("<&>\u{8}\u{2028}\u{1}é")),
        ("c", Value::dynamic_null()),
    ]);
    let text = r#"{"a":"\u003c\u0026\u003e\b\u2028\u0001é","b":1.5,"c":null}"#;
    assert_eq!(json::encode(&value).unwrap(), text);
    assert_eq!(json::decode(text.as_bytes()).unwrap(), value);
    assert_eq!(
        to_json(&Value::tuple([Value::bool(true)]), &Type::Dynamic).unwrap(),
        r#"{"value":[true],"type":["tuple",["bool"]]}"#
    );
    assert!(json::encode(&Value::dynamic()).is_err());
    assert!(json::encode(&Value::number(Number::infinity(false))).is_err());
}

#[test]
fn json_errors_are_in_terraforms_words() {
    for (text, message) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("[1,", "EOF"),
        ("nul", "unexpected EOF"),
        ("[1] x", "extraneous data after JSON object"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{\"a\" 1}", "invalid character '1' after object key"),
        ("\"a", "unexpected EOF"),
        ("\"\\x\"", "invalid character 'x' in string escape code"),
        ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("{\"a\":nulx}", "invalid character 'x' in literal null (expecting 'l')"),
        ("{\"a\":1 ]", "invalid character ']' after object key:value pair"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("[\"a\nb\"]", "invalid character '\\n' in string literal"),
        ("1.", "unexpected EOF"),
    ] {
        assert_eq!(json::decode(text.as_bytes()).unwrap_err().0, message, "{text}");
    }
}

#[test]
fn typed_json_says_where() {
    let ty = Type::object([("a", Type::list(Type::Number))]);
    let error = from_json(br#"{"a":[1,true]}"#, &ty).unwrap_err();
    assert_eq!(error.0, ".a[1]: number is required");
    assert_eq!(from_json(br#"{"b":1}"#, &ty).unwrap_err().0, "unsupported attribute \"b\"");
    assert_eq!(
        from_json(b"{}", &ty).unwrap(),
        Value::object([("a", Value::null(Type::list(Type::Number)))])
    );
}

#[test]
fn plan_views() {
    let value = Value::object([
        ("known", Value::number(1i64)),
        ("unknown", Value::unknown(Type::list(Type::String))),
        (
            "list",
            Value::list(
                Type::String,
                vec![Value::string("a").sensitive(), Value::unknown(Type::String)],
            ),
        ),
    ]);
    let text = |v: &Value| json::encode(v).unwrap();
    assert_eq!(text(&json::unknown_as_bool(&value)), r#"{"list":[false,true],"unknown":true}"#);
    assert_eq!(text(&json::sensitive_as_bool(&value)), r#"{"list":[true,false],"unknown":[]}"#);
    assert_eq!(text(&json::known_part(&value).unwrap()), r#"{"known":1,"list":["a",null]}"#);
    assert_eq!(json::known_part(&Value::dynamic()), None);
}

#[test]
fn msgpack_bytes() {
    let bytes = |v: &Value| to_msgpack(v, &v.ty()).unwrap();
    assert_eq!(bytes(&Value::unknown(Type::String)), [0xd4, 0, 0]);
    assert_eq!(bytes(&Value::unknown_not_null(Type::String)), [0xc7, 3, 12, 0x81, 1, 0xc2]);
    assert_eq!(
        bytes(&Value::number(Number::parse("1.5").unwrap())),
        [0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(bytes(&Value::number(Number::parse("0.1").unwrap())), [0xa3, b'0', b'.', b'1']);
    assert_eq!(bytes(&Value::number(-1i64)), [0xff]);
    let dynamic = to_msgpack(&Value::bool(true), &Type::Dynamic).unwrap();
    assert_eq!(dynamic, [&[0x92, 0xc4, 6][..], b"\"bool\"", &[0xc3]].concat());
}

#[test]
fn refined_unknowns_travel() {
    let number = Value::unknown(Type::Number)
        .refine()
        .not_null()
        .number_min(&Number::from(1i64), true)
        .number_max(&Number::parse("2.25").unwrap(), false)
        .finish();
    let text = Value::unknown(Type::String).refine().string_prefix("https://").finish();
    let map = Value::unknown(Type::map(Type::Bool)).refine().length_min(1).length_max(300).finish();
    for value in [number, text, map] {
        assert!(value.refinement().is_some());
        let bytes = to_msgpack(&value, &value.ty()).unwrap();
        assert_eq!(from_msgpack(&bytes, &value.ty()).unwrap(), value);
    }
}

/// Whoever reads takes only so much of a refinement.
#[test]
fn bounds_with_very_many_digits_are_not_sent() {
    let number = Number::parse("1e2000").unwrap();
    let value = Value::unknown(Type::Number).refine().not_null().number_max(&number, true).finish();
    let bytes = to_msgpack(&value, &Type::Number).unwrap();
    assert_eq!(from_msgpack(&bytes, &Type::Number).unwrap(), Value::unknown_not_null(Type::Number));
}

#[test]
fn hostile_bytes_are_refused() {
    let list = Type::list(Type::String);
    for (bytes, ty) in [
        (&[0xdd, 0xff, 0xff, 0xff, 0xff][..], &list),
        (&[0xdb, 0xff, 0xff, 0xff, 0xff], &Type::String),
        (&[0xc9, 0xff, 0xff, 0xff, 0xff, 12], &Type::String),
        (&[0xc7, 3, 12, 0x81, 3, 0xc2], &Type::Number),
        (&[0xc7, 3, 12, 0x81, 5, 1], &Type::Number),
        (&[0xc7, 5, 12, 0x82, 5, 2, 6, 1], &list),
        (&[0x92, 0xc4, 1, b'x', 0xc0], &Type::Dynamic),
        (&[], &Type::Bool),
        (&[0xff], &Type::Bool),
    ] {
        assert!(from_msgpack(bytes, ty).is_err(), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn json_round_trip((ty, value) in typed(false)) {
        let text = to_json(&value, &ty).unwrap();
        prop_assert_eq!(from_json(text.as_bytes(), &ty).unwrap(), value.clone());
        let text = to_json(&value, &Type::Dynamic).unwrap();
        prop_assert_eq!(from_json(text.as_bytes(), &Type::Dynamic).unwrap(), value);
        let tree: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert!(tree.is_object());
    }

    #[test]
    fn msgpack_round_trip((ty, value) in typed(true)) {
        let bytes = to_msgpack(&value, &ty).unwrap();
        prop_assert_eq!(from_msgpack(&bytes, &ty).unwrap(), value.clone());
        let bytes = to_msgpack(&value, &Type::Dynamic).unwrap();
        prop_assert_eq!(from_msgpack(&bytes, &Type::Dynamic).unwrap(), value);
    }

    #[test]
    fn types_round_trip(ty in types()) {
        prop_assert_eq!(json::type_from_json(json::type_to_json(&ty).as_bytes()).unwrap(), ty);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40), ty in types()) {
        let _ = from_msgpack(&bytes, &ty);
        let _ = from_msgpack(&bytes, &Type::Dynamic);
        let _ = from_json(&bytes, &ty);
        let _ = json::decode(&bytes);
        let _ = json::type_from_json(&bytes);
    }
}
