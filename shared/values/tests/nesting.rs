use std::sync::Arc;
use values::convert::convert;
use values::{Type, Value, json, msgpack};

const DEEP: usize = 9_000;

fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(f).unwrap().join().unwrap();
}

#[test]
fn deep_values_do_not_overflow_the_stack() {
    on_a_small_stack(|| {
        let text = format!("{}1{}", "[".repeat(DEEP), "]".repeat(DEEP));
        let value = json::decode(text.as_bytes()).unwrap();
        assert_eq!(json::encode(&value).unwrap(), text);
        let marked = value.clone().sensitive();
        assert!(marked == marked.clone());
        assert_eq!(json::encode(&json::unknown_as_bool(&value)).unwrap().len(), text.len() + 4);
        assert!(convert(&value, &Type::list(Type::String)).is_err());
        let ty = value.ty();
        let bytes = msgpack::to_msgpack(&value, &ty).unwrap();
        assert_eq!(msgpack::from_msgpack(&bytes, &ty).unwrap(), value);
        assert!(value.equals(&value.clone()) == Value::bool(true));
    });
}

#[test]
fn too_deep_is_refused() {
    on_a_small_stack(|| {
        let text = "[".repeat(json::MAX_DEPTH + 1);
        assert_eq!(json::decode(text.as_bytes()).unwrap_err().0, "exceeded max depth");
    });
}

/// A copy at each level of a deep type would take memory that grows with its square.
#[test]
fn types_without_optional_attributes_are_shared() {
    let ty = Type::list(Type::list(Type::Bool));
    let (Type::List(declared), Type::List(shared)) = (&ty, ty.without_optional()) else {
        unreachable!()
    };
    assert!(Arc::ptr_eq(declared, &shared));
}
