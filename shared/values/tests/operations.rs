use values::{Marks, Number, OperationError, Type, Value};

fn unknown_between(min: i64, max: i64) -> Value {
    Value::unknown(Type::Number)
        .refine()
        .not_null()
        .number_min(&Number::from(min), true)
        .number_max(&Number::from(max), true)
        .finish()
}

#[test]
fn arithmetic() {
    let (one, zero) = (Value::number(1i64), Value::number(0i64));
    assert_eq!(one.add(&one).unwrap(), Value::number(2i64));
    assert_eq!(zero.div(&zero), Err(OperationError::UndefinedQuotient));
    assert_eq!(one.add(&Value::null(Type::Number)), Err(OperationError::Null));
    assert!(one.add(&Value::string("1")).is_err());
    // An unknown operand hides the other one, even a zero.
    assert_eq!(zero.mul(&unknown_between(1, 2)).unwrap(), Value::unknown_not_null(Type::Number));
    assert_eq!(one.sensitive().add(&Value::dynamic()).unwrap().marks(), Marks::SENSITIVE);
}

#[test]
fn ranges_decide_comparisons() {
    let length = unknown_between(1, 2);
    let zero = Value::number(0i64);
    assert_eq!(length.gt(&zero).unwrap(), Value::bool(true));
    assert_eq!(length.lt(&zero).unwrap(), Value::bool(false));
    assert_eq!(length.ge(&Value::number(5i64)).unwrap(), Value::bool(false));
    assert_eq!(length.ge(&Value::number(2i64)).unwrap(), Value::unknown_not_null(Type::Bool));
    assert_eq!(length.equals(&Value::number(5i64)), Value::bool(false));
}

#[test]
fn equality() {
    let open = Value::unknown_not_null(Type::Bool);
    let unknown = Value::unknown(Type::String);
    assert_eq!(unknown.equals(&Value::string("a")), open);
    assert_eq!(unknown.equals(&Value::number(1i64)), Value::bool(false));
    assert_eq!(unknown.equals(&Value::null(Type::String)), open);
    assert_eq!(unknown.refine_not_null().equals(&Value::dynamic_null()), Value::bool(false));
    assert_eq!(Value::null(Type::String).equals(&Value::null(Type::Bool)), Value::bool(true));
    assert_eq!(Value::number(1i64).equals(&Value::string("1")), Value::bool(false));
    let prefixed = unknown.refine().string_prefix("ami-").finish();
    assert_eq!(prefixed.equals(&Value::string("i-1")), Value::bool(false));
    let object = |v: Value| Value::object([("a", v), ("b", Value::number(1i64))]);
    let null = object(Value::dynamic_null());
    assert_eq!(null.equals(&null), Value::bool(true));
    assert_eq!(object(unknown.clone()).equals(&object(Value::string("x"))), open);
    let secret = object(Value::string("x").sensitive());
    assert_eq!(secret.equals(&secret), Value::bool(true).sensitive());
    assert_eq!(secret.not_equals(&secret), Value::bool(false).sensitive());
}

#[test]
fn lengths() {
    let list = Value::list(Type::Bool, vec![Value::bool(true)]).sensitive();
    assert_eq!(list.length(), Some(Value::number(1i64).sensitive()));
    let unknown = Value::unknown(Type::String);
    let set = Value::set(Type::String, vec![unknown.clone(), Value::string("b")]);
    assert_eq!(set.length(), Some(unknown_between(1, 2)));
    assert_eq!(unknown.length(), None);
    let open = Value::unknown(Type::list(Type::Bool)).length().unwrap();
    assert_eq!(open.ge(&Value::number(0i64)).unwrap(), Value::unknown_not_null(Type::Bool));
    assert_eq!(open.lt(&Value::number(-1i64)).unwrap(), Value::bool(false));
}

#[test]
fn indexes() {
    let map = Value::map(Type::Bool, [("a", Value::bool(true))]).sensitive();
    assert_eq!(map.index(&Value::string("a")), Some(Value::bool(true).sensitive()));
    assert_eq!(map.index(&Value::string("b")), None);
    assert_eq!(map.has_index(&Value::string("b")), Value::bool(false).sensitive());
    let list = Value::list(Type::Bool, vec![Value::bool(true)]);
    assert_eq!(list.index(&Value::number(0i64)), Some(Value::bool(true)));
    assert_eq!(list.index(&Value::number(Number::parse("0.5").unwrap())), None);
    assert_eq!(list.index(&Value::unknown(Type::Number)), Some(Value::unknown(Type::Bool)));
    assert_eq!(
        Value::unknown(list.ty()).index(&Value::number(7i64)),
        Some(Value::unknown(Type::Bool))
    );
}

#[test]
fn narrowing_down_to_one_value() {
    assert_eq!(unknown_between(3, 3), Value::number(3i64));
    let none = Value::unknown(Type::list(Type::Bool)).refine().not_null().length(0).finish();
    assert_eq!(none, Value::list(Type::Bool, vec![]));
    let two = Value::unknown(Type::list(Type::Bool)).refine().not_null().length(2).finish();
    assert_eq!(two.as_slice().unwrap().len(), 2);
    let one = Number::from(1i64);
    let contradiction = Value::unknown(Type::Number).refine().number_min(&one, false);
    assert!(
        contradiction.number_max(&one, false).number_max(&Number::ZERO, true).try_finish().is_err()
    );
    let prefix = Value::unknown(Type::String).refine().string_prefix("ami").finish();
    assert_eq!(prefix.refinement().unwrap().string_prefix.as_deref(), Some("am"));
}
