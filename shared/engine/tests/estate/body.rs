use crate::support::{address, object};
use engine::object::{ObjectStatus, StoredObject};
use engine::record::body::{
    BodyError, EstateBody, InstanceBody, ObjectBody, OutputBody, RecordKind, TransactionBody,
    decode, encode,
};
use proptest::prelude::*;
use records::Key;
use values::{PathStep, Type, Value};

fn key() -> Key {
    Key::new("state/prod/r/i/x").unwrap()
}

const INSTANCE: &str = r#"{
  "format": 1, "address": "test_thing.a", "kind": "live", "revision": "r1", "write_id": "w1",
  "written_at": 5, "written_by": {"run": "run", "principal": "ada"},
  "object": {"provider": "provider[\"registry.terraform.io/hashicorp/test\"]", "schema_version": 0,
             "values": {"n": 1.10, "deep": [[]]}, "status": "tainted"},
  "claim": {"transaction": "p", "attempt": 1, "object": "current", "action": "update", "state": "claimed"},
  "from_the_future": {"exact": 1.10, "big": 123456789012345678901234567890}
}"#;

#[test]
fn unknown_fields_survive_a_rewrite_digit_for_digit() {
    let body: InstanceBody = decode(&key(), INSTANCE.as_bytes()).unwrap();
    assert_eq!(body.kind, RecordKind::Live);
    let again = String::from_utf8(encode(&key(), &body).unwrap().to_vec()).unwrap();
    assert!(again.contains(r#""exact":1.10"#), "{again}");
    assert!(again.contains("123456789012345678901234567890"), "{again}");
    assert!(again.contains(r#""n": 1.10"#), "{again}");
    assert!(again.contains(r#""claim":{"transaction":"p""#), "{again}");
}

#[test]
fn unknown_formats_are_refused_by_key_even_where_nothing_else_fits() {
    for text in
        [r#"{"format": 2, "kind": "quantum"}"#, &INSTANCE.replace("\"format\": 1", "\"format\": 7")]
    {
        let error = decode::<InstanceBody>(&key(), text.as_bytes()).unwrap_err();
        assert!(matches!(error, BodyError::UnknownFormat { .. }), "{error}");
        assert!(error.to_string().contains("state/prod/r/i/x"), "{error}");
    }
}

#[test]
fn damaged_bodies_give_one_error_that_names_the_key_and_quotes_nothing() {
    let whole = INSTANCE.as_bytes();
    for cut in 0..whole.len() {
        let error = decode::<InstanceBody>(&key(), &whole[..cut]).unwrap_err().to_string();
        assert!(error.contains("state/prod/r/i/x is damaged"), "{error}");
    }
    let wrong = INSTANCE.replace("\"written_at\": 5", "\"written_at\": \"s3cret\"");
    let error = decode::<InstanceBody>(&key(), wrong.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("a field is missing, or not of the kind"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
    assert!(decode::<EstateBody>(&key(), b"\x00\xff\xfe").is_err());
    assert!(decode::<TransactionBody>(&key(), b"[]").is_err());
}

#[test]
fn deeply_nested_attributes_need_no_stack() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let text = INSTANCE.replace("[[]]", &deep);
    let body: InstanceBody = decode(&key(), text.as_bytes()).unwrap();
    let object = body.object.unwrap().into_object(&key()).unwrap();
    assert!(object.attributes.contains(&deep));
}

#[test]
fn objects_come_back_as_they_were() {
    let mut object = object("i-1");
    object.sensitive_paths.push(values::Path(vec![
        PathStep::Attribute("tags".into()),
        PathStep::Key("team".into()),
        PathStep::Index(3),
        PathStep::Element(Value::string("e")),
    ]));
    let body = ObjectBody::from_object(&key(), &object).unwrap();
    let text = serde_json::to_string(&body).unwrap();
    let back: ObjectBody = serde_json::from_str(&text).unwrap();
    assert_eq!(back.into_object(&key()).unwrap(), object);
}

#[test]
fn what_is_no_address_is_damage() {
    let good =
        serde_json::to_string(&ObjectBody::from_object(&key(), &object("i")).unwrap()).unwrap();
    for (from, to) in [
        ("registry.terraform.io/hashicorp/test", "not a provider"),
        ("module.a.test_thing.base", "nonsense[["),
        ("AP8gcHJpdmF0ZQ==", "!!!"),
    ] {
        assert!(good.contains(from), "{good}");
        let bad: ObjectBody = serde_json::from_str(&good.replace(from, to)).unwrap();
        let error = bad.into_object(&key()).unwrap_err();
        assert!(matches!(error, BodyError::Damaged { .. }), "{error}");
    }
}

#[test]
fn outputs_keep_value_type_and_mark_and_refuse_the_ephemeral() {
    let value = Value::object([("a", Value::list(Type::Number, vec![Value::number(1_i64)]))]);
    let (json, ty) = OutputBody::value_and_type(&key(), &value).unwrap();
    assert_eq!(ty.get(), r#"["object",{"a":["list","number"]}]"#);
    assert_eq!(json.get(), r#"{"a":[1]}"#);
    let (json, ty) = OutputBody::value_and_type(&key(), &Value::null(Type::String)).unwrap();
    assert_eq!((json.get(), ty.get()), ("null", r#""string""#));
    let (json, ty) = OutputBody::value_and_type(&key(), &Value::null(Type::Dynamic)).unwrap();
    assert_eq!((json.get(), ty.get()), ("null", r#""dynamic""#), "never known, whatever it was");
    let ephemeral = Value::string("t").with_marks(values::Marks::EPHEMERAL);
    let error = OutputBody::value_and_type(&key(), &ephemeral).unwrap_err();
    assert!(error.to_string().contains("ephemeral"), "{error}");
}

fn stored() -> impl Strategy<Value = StoredObject> {
    (any::<Vec<u8>>(), any::<String>(), any::<u64>(), 0..3u8, any::<bool>(), "[a-z]{1,8}").prop_map(
        |(private, text, version, status, flag, name)| StoredObject {
            attributes: serde_json::json!({ "text": text }).to_string().into(),
            private: private.into(),
            schema_version: version,
            sensitive_paths: vec![values::Path::attribute(text)],
            dependencies: [address(&format!("data.test_thing.{name}")).config()].into(),
            prevent_destroy: flag,
            status: match status {
                0 => ObjectStatus::Ready,
                1 => ObjectStatus::Tainted,
                _ => ObjectStatus::Incomplete,
            },
            ..object("x")
        },
    )
}

proptest! {
    #[test]
    fn any_object_round_trips(object in stored()) {
        let body = ObjectBody::from_object(&key(), &object).unwrap();
        let text = serde_json::to_string(&body).unwrap();
        let back: ObjectBody = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back.into_object(&key()).unwrap(), object);
    }
}
