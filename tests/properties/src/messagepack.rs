use values::msgpack::{from_msgpack, to_msgpack};
use values::{Type, Value, json};

/// MessagePack of the plugin protocol: a type as JSON up to the first newline, and bytes of it. What was read can be
/// written, and is then read as the same; also as JSON, where it is known.
///
/// # Panics
/// Where that does not hold.
pub fn messagepack(input: &[u8]) {
    let (ty, bytes) = divided(input);
    let Ok(value) = from_msgpack(bytes, &ty) else { return };
    let settled = again(&value, &ty);
    // Floats are written with the fewest digits that tell them from other floats, and of what is not known less may be
    // told. Whatever was written once stays the same.
    if value.is_wholly_known() && !holds_a_number(&value) {
        assert_eq!(settled, value, "of {ty:?}");
    }
    assert_eq!(again(&settled, &ty), settled, "of {ty:?}");
    if let Some(settled) = again_from_json(&value, &ty) {
        assert_eq!(again_from_json(&settled, &ty), Some(settled), "of {ty:?}");
    }
}

/// The type, and the bytes of the value; any type where none is said.
fn divided(input: &[u8]) -> (Type, &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n');
    let said = end.and_then(|end| Some((json::type_from_json(input.get(..end)?).ok()?, end)));
    match said {
        Some((ty, end)) => (ty.without_optional(), input.get(end + 1..).unwrap_or_default()),
        None => (Type::Dynamic, input),
    }
}

fn again(value: &Value, ty: &Type) -> Value {
    let written = match to_msgpack(value, ty) {
        Ok(written) => written,
        Err(error) => panic!("{value:?} of {ty:?} cannot be written: {error}"),
    };
    match from_msgpack(&written, ty) {
        Ok(again) => again,
        Err(error) => panic!("{value:?} of {ty:?} cannot be read again: {error}"),
    }
}

/// Nothing where a part is not known, or infinite.
fn again_from_json(value: &Value, ty: &Type) -> Option<Value> {
    let text = json::to_json(value, ty).ok()?;
    match json::from_json(text.as_bytes(), ty) {
        Ok(again) => Some(again),
        Err(error) => panic!("{text} of {ty:?} cannot be read again: {error}"),
    }
}

fn holds_a_number(value: &Value) -> bool {
    let mut pending = vec![value.clone()];
    while let Some(value) = pending.pop() {
        if value.as_number().is_some() {
            return true;
        }
        value.for_each_child(|_, child| pending.push(child.clone()));
    }
    false
}
