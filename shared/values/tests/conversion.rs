use crate::samples::{typed, types};
use proptest::prelude::*;
use values::convert::{Safety, conversion_exists, convert, unify};
use values::{Marks, Type, Value, json};

fn ty(text: &str) -> Type {
    json::type_from_json(text.as_bytes()).unwrap()
}
fn value(text: &str) -> Value {
    json::decode(text.as_bytes()).unwrap()
}

/// Each line: constraint, value, message.
#[test]
fn errors_are_in_terraforms_words() {
    for line in include_str!("facts/conversion_errors.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let error = convert(&value(fields[1]), &ty(fields[0])).unwrap_err();
        assert_eq!(error.with_path(), fields[2], "{line}");
    }
}

/// Each line: constraint, value, type of the result, result.
#[test]
fn conversions() {
    for line in include_str!("facts/conversions.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let converted = convert(&value(fields[1]), &ty(fields[0])).unwrap();
        assert_eq!(json::type_to_json(&converted.ty()), fields[2], "{line}");
        assert_eq!(json::encode(&converted).unwrap(), fields[3], "{line}");
    }
}

#[test]
fn sets_are_in_terraforms_order() {
    for (element, given, ordered) in [
        (r#""string""#, r#"["b","10","9",null]"#, r#"["10","9","b",null]"#),
        (r#""number""#, "[10,9,1]", "[1,9,10]"),
        (
            r#"["object",{"a":"number"}]"#,
            r#"[{"a":1},{"a":2},{"a":10}]"#,
            r#"[{"a":10},{"a":1},{"a":2}]"#,
        ),
        (r#"["list","number"]"#, "[[1],[10],[9],[1]]", "[[10],[1],[9]]"),
    ] {
        let set = convert(&value(given), &Type::set(ty(element))).unwrap();
        assert_eq!(json::encode(&set).unwrap(), ordered);
    }
}

#[test]
fn unknown_elements_of_sets_stay_apart() {
    let set = Value::set(
        Type::String,
        vec![Value::unknown(Type::String), Value::string("a"), Value::unknown(Type::String)],
    );
    assert_eq!(set.as_slice().unwrap().len(), 3);
    assert!(set.as_slice().unwrap()[0].is_known());
}

#[test]
fn unknowns_keep_what_is_known_of_them() {
    let tuple = Value::unknown_not_null(Type::tuple([Type::String, Type::String]));
    let list = convert(&tuple, &Type::list(Type::Dynamic)).unwrap();
    // A list of known length is known; only its elements are not.
    assert_eq!(list.as_slice().unwrap().len(), 2);
    let null = convert(&Value::null(Type::String), &Type::Number).unwrap();
    assert_eq!(null, Value::null(Type::Number));
    let dynamic = convert(&Value::dynamic(), &Type::list(Type::Dynamic)).unwrap();
    assert_eq!(dynamic.ty(), Type::list(Type::Dynamic));
}

#[test]
fn marks_are_kept() {
    let list = Value::tuple([Value::string("1").sensitive(), Value::string("2")]);
    let converted = convert(&list, &Type::list(Type::Number)).unwrap();
    assert_eq!(converted.marks(), Marks::NONE);
    assert!(converted.as_slice().unwrap()[0].marks().is_sensitive());
    let set = convert(&list, &Type::set(Type::Number)).unwrap();
    assert!(set.marks().is_sensitive());
}

#[test]
fn common_types() {
    for (types, common) in [
        (vec![r#""number""#, r#""string""#], Some(r#""string""#)),
        (vec![r#""bool""#, r#""number""#], None),
        (
            vec![r#"["tuple",["number"]]"#, r#"["tuple",["string","string"]]"#],
            Some(r#"["list","string"]"#),
        ),
        (
            vec![r#"["object",{"a":"number"}]"#, r#"["object",{"b":"string"}]"#],
            Some(r#"["map","string"]"#),
        ),
        (
            vec![r#"["object",{"a":"number"}]"#, r#"["object",{"a":"string"}]"#],
            Some(r#"["object",{"a":"string"}]"#),
        ),
        (vec![r#"["list","number"]"#, r#"["tuple",["string"]]"#], Some(r#"["list","string"]"#)),
        (vec![r#"["map","number"]"#, r#"["object",{"a":"string"}]"#], Some(r#"["map","string"]"#)),
        (vec![r#"["set","string"]"#, r#"["list","string"]"#], Some(r#"["list","string"]"#)),
        (vec![r#""number""#, r#"["tuple",["number"]]"#], None),
        (vec![r#"["object",{}]"#, r#"["tuple",[]]"#], None),
        (vec![r#"["list","number"]"#, r#""dynamic""#], Some(r#""dynamic""#)),
    ] {
        let types: Vec<Type> = types.into_iter().map(ty).collect();
        assert_eq!(unify(&types), common.map(ty), "{types:?}");
    }
}

#[test]
fn a_set_of_open_size_becomes_an_unknown_list_of_the_wanted_type() {
    let element = Type::empty_object();
    let items = vec![Value::empty_object(), Value::unknown(element.clone())];
    let want = Type::list(Type::map(Type::String));
    let list = convert(&Value::set(element, items), &want).unwrap();
    assert!(!list.is_known());
    assert_eq!(list.ty(), want);
}

proptest! {
    #[test]
    fn conforming_values_are_returned_as_they_are((ty, value) in typed(true)) {
        prop_assert_eq!(convert(&value, &ty).unwrap(), value);
    }

    #[test]
    fn conversion_is_idempotent((_, value) in typed(true), want in types()) {
        if let Ok(once) = convert(&value, &want) {
            prop_assert_eq!(once.ty(), want.clone());
            prop_assert_eq!(convert(&once, &want).unwrap(), once);
        }
    }

    #[test]
    fn a_conversion_that_cannot_exist_fails((ty, value) in typed(false), want in types()) {
        if !conversion_exists(&ty, &want, Safety::Unsafe) {
            prop_assert!(convert(&value, &want).is_err());
        } else if conversion_exists(&ty, &want, Safety::Safe) {
            prop_assert!(convert(&value, &want).is_ok());
        }
    }

    #[test]
    fn what_unifies_converts((a, x) in typed(false), b in types()) {
        if let Some(common) = unify(&[a.clone(), b.clone()]) {
            prop_assert!(conversion_exists(&a, &common, Safety::Unsafe));
            prop_assert!(conversion_exists(&b, &common, Safety::Unsafe));
            if conversion_exists(&a, &common, Safety::Safe) {
                prop_assert_eq!(convert(&x, &common).unwrap().ty(), common);
            }
        }
        prop_assert_eq!(unify(&[a.clone(), b.clone()]).is_some(), unify(&[b, a]).is_some());
    }
}
