use super::exists::{equal_without_optional, exists, structural_element};
use super::unify::unify_with;
use super::unknown::{convert_unknown, resolve_dynamic};
use super::{ConversionError, Safety, mismatch_message};
use crate::stack::deep;
use crate::{Kind, Number, ObjectType, PathStep, Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, ConversionError>;
type Steps = Vec<PathStep>;

/// Converts, having asked first whether a conversion exists.
pub(super) fn convert_at(value: &Value, want: &Type, path: &mut Steps) -> Result<Value> {
    let ty = value.ty();
    if equal_without_optional(&ty, want) {
        return Ok(value.clone());
    }
    if !exists(&ty, want, Safety::Unsafe) {
        return Err(ConversionError::new(path, mismatch_message(&ty, want)));
    }
    apply(value, want, path)
}

/// Converts along a conversion that exists between the types.
fn apply(value: &Value, want: &Type, path: &mut Steps) -> Result<Value> {
    let marks = value.marks();
    if *want == Type::Dynamic {
        return Ok(value.clone());
    }
    deep(|| {
        Ok(match value.kind() {
            Kind::Unknown(ty, _) => convert_unknown(value, resolve_dynamic(ty, want)),
            Kind::Null(ty) => Value::null(resolve_dynamic(ty, want)),
            _ => known(value, want, path)?,
        }
        .with_marks(marks))
    })
}

/// As [`apply`]; equal types are left alone.
fn element(value: &Value, want: &Type, step: PathStep, path: &mut Steps) -> Result<Value> {
    let ty = value.ty();
    if equal_without_optional(&ty, want) {
        return Ok(value.clone());
    }
    path.push(step);
    // Below a dynamic element type, the value's own type has not been asked about yet.
    let result = match exists(&ty, want, Safety::Unsafe) {
        true => apply(value, want, path),
        false => Err(ConversionError::new(path, mismatch_message(&ty, want))),
    };
    path.pop();
    result
}

fn known(value: &Value, want: &Type, path: &mut Steps) -> Result<Value> {
    let mismatch =
        |path: &Steps| Err(ConversionError::new(path, mismatch_message(&value.ty(), want)));
    match (value.kind(), want) {
        (Kind::Number(n), Type::String) => Ok(Value::string(n.to_string())),
        (Kind::Bool(b), Type::String) => Ok(Value::string(if *b { "true" } else { "false" })),
        (Kind::String(s), Type::Number) => match Number::parse(s) {
            Some(n) => Ok(Value::number(n)),
            None => Err(ConversionError::new(path, "a number is required")),
        },
        (Kind::String(s), Type::Bool) => to_bool(s, path),
        (Kind::Object(items), Type::Object(o)) => object_to_object(items, o, path),
        (Kind::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            let items = items.iter().zip(types.iter()).enumerate();
            let converted: Result<Vec<Value>> =
                items.map(|(i, (v, t))| element(v, t, PathStep::Index(i), path)).collect();
            Ok(Value::tuple(converted?))
        }
        (Kind::List(ty, items), Type::List(e)) => sequence(items, ty, e, path, Sequence::List),
        (Kind::Set(ty, items), Type::List(e)) => {
            // How many elements there are is open while some may turn out to be the same.
            if items.len() > 1 && !value.is_wholly_known() {
                let element = super::unknown::resolve_dynamic(ty, e);
                return Ok(Value::unknown(Type::list(element)));
            }
            sequence(items, ty, e, path, Sequence::List)
        }
        (Kind::List(ty, items) | Kind::Set(ty, items), Type::Set(e)) => {
            sequence(items, ty, e, path, Sequence::Set)
        }
        (Kind::Tuple(items), Type::List(e)) => tuple(items, e, path, Sequence::List),
        (Kind::Tuple(items), Type::Set(e)) => tuple(items, e, path, Sequence::Set),
        (Kind::Map(ty, items), Type::Map(e)) => {
            if items.is_empty() {
                return Ok(empty_map(match **e {
                    Type::Dynamic => ty.clone(),
                    _ => e.without_optional(),
                }));
            }
            to_map(items, e, path)
        }
        (Kind::Object(items), Type::Map(e)) => {
            if items.is_empty() {
                return Ok(empty_map(e.without_optional()));
            }
            let ty = value.ty();
            let types: Vec<&Type> = ty.attributes().into_iter().flat_map(|a| a.values()).collect();
            match structural_element(&types, e, Safety::Unsafe, false) {
                Some(e) => to_map(items, &e, path),
                None => mismatch(path),
            }
        }
        (Kind::Map(_, items), Type::Object(o)) => map_to_object(items, o, path),
        _ => mismatch(path),
    }
}

fn to_bool(s: &str, path: &Steps) -> Result<Value> {
    let message = match s {
        "true" | "1" => return Ok(Value::bool(true)),
        "false" | "0" => return Ok(Value::bool(false)),
        s if s.eq_ignore_ascii_case("true") => {
            "a bool is required; to convert from string, use lowercase \"true\""
        }
        s if s.eq_ignore_ascii_case("false") => {
            "a bool is required; to convert from string, use lowercase \"false\""
        }
        _ => "a bool is required",
    };
    Err(ConversionError::new(path, message))
}

fn empty_map(element: Type) -> Value {
    Value::map(element, std::iter::empty::<(Arc<str>, Value)>())
}

#[derive(Clone, Copy)]
enum Sequence {
    List,
    Set,
}

impl Sequence {
    fn build(self, element: Type, items: Vec<Value>) -> Value {
        match self {
            Sequence::List => Value::list(element, items),
            Sequence::Set => Value::set(element, items),
        }
    }
    fn name(self) -> &'static str {
        match self {
            Sequence::List => "list",
            Sequence::Set => "set",
        }
    }
}

fn convert_items(items: &[Value], want: &Type, path: &mut Steps) -> Result<Vec<Value>> {
    items.iter().enumerate().map(|(i, v)| element(v, want, PathStep::Index(i), path)).collect()
}

fn sequence(
    items: &[Value],
    have: &Type,
    want: &Type,
    path: &mut Steps,
    kind: Sequence,
) -> Result<Value> {
    if items.is_empty() {
        let element = if *want == Type::Dynamic { have.clone() } else { want.without_optional() };
        return Ok(kind.build(element, Vec::new()));
    }
    let converted = convert_items(items, want, path)?;
    collect(converted, path, kind)
}

fn tuple(items: &[Value], want: &Type, path: &mut Steps, kind: Sequence) -> Result<Value> {
    if items.is_empty() {
        return Ok(kind.build(want.without_optional(), Vec::new()));
    }
    let types: Vec<Type> = items.iter().map(Value::ty).collect();
    let types: Vec<&Type> = types.iter().collect();
    let Some(want) = structural_element(&types, want, Safety::Unsafe, true) else {
        return Err(ConversionError::new(
            path,
            format!("all {} elements must have the same type", kind.name()),
        ));
    };
    let mut converted = convert_items(items, &want, path)?;
    if let Sequence::List = kind {
        converted = same_types(converted, |i, _| PathStep::Index(i), path)?;
    }
    collect(converted, path, kind)
}

/// Elements that differ in type still (where the constraint was open inside) are brought together.
fn same_types(
    mut items: Vec<Value>,
    step: impl Fn(usize, &Value) -> PathStep,
    path: &mut Steps,
) -> Result<Vec<Value>> {
    let types: Vec<Type> = items.iter().map(Value::ty).collect();
    let Some(unified) = unify_with(&types, Safety::Unsafe) else {
        return Err(ConversionError::new(path, "cannot find a common base type for all elements"));
    };
    for (i, (item, ty)) in items.iter_mut().zip(&types).enumerate() {
        if *ty != unified.ty {
            *item = element(item, &unified.ty, step(i, item), path)?;
        }
    }
    Ok(items)
}

/// The type that all elements have, those of unknown type aside.
fn common_type<'a>(items: impl Iterator<Item = &'a Value>) -> Option<Type> {
    let mut common = Type::Dynamic;
    for item in items {
        let ty = item.ty();
        if common == Type::Dynamic {
            common = ty;
        } else if ty != Type::Dynamic && ty != common {
            return None;
        }
    }
    Some(common)
}

fn typed(item: Value, ty: &Type) -> Value {
    let marks = item.marks();
    match item.kind() {
        Kind::Unknown(Type::Dynamic, _) => Value::unknown(ty.clone()).with_marks(marks),
        Kind::Null(Type::Dynamic) => Value::null(ty.clone()).with_marks(marks),
        _ => item,
    }
}

fn collect(items: Vec<Value>, path: &Steps, kind: Sequence) -> Result<Value> {
    let Some(ty) = common_type(items.iter()) else {
        return Err(ConversionError::new(
            path,
            format!("element types must all match for conversion to {}", kind.name()),
        ));
    };
    let items = items.into_iter().map(|v| typed(v, &ty)).collect();
    Ok(kind.build(ty, items))
}

fn to_map(items: &BTreeMap<Arc<str>, Value>, want: &Type, path: &mut Steps) -> Result<Value> {
    let keys: Vec<&Arc<str>> = items.keys().collect();
    let mut values = Vec::with_capacity(items.len());
    for (key, value) in items {
        values.push(element(value, want, PathStep::Key(key.clone()), path)?);
    }
    if want.is_collection() || matches!(want, Type::Object(_)) {
        values = same_types(values, |i, _| PathStep::Key(keys[i].clone()), path)?;
    }
    let Some(ty) = common_type(values.iter()) else {
        return Err(ConversionError::new(
            path,
            "element types must all match for conversion to map",
        ));
    };
    let items = keys.into_iter().cloned().zip(values.into_iter().map(|v| typed(v, &ty)));
    Ok(Value::map(ty.clone(), items.collect::<Vec<_>>()))
}

fn object_to_object(
    items: &BTreeMap<Arc<str>, Value>,
    want: &ObjectType,
    path: &mut Steps,
) -> Result<Value> {
    let mut out = Vec::with_capacity(want.attributes.len());
    for (name, ty) in &want.attributes {
        let value = match items.get(name) {
            Some(v) => element(v, ty, PathStep::Attribute(name.clone()), path)?,
            None => Value::null(ty.without_optional()),
        };
        out.push((name.clone(), value));
    }
    Ok(Value::object(out))
}

fn map_to_object(
    items: &BTreeMap<Arc<str>, Value>,
    want: &ObjectType,
    path: &mut Steps,
) -> Result<Value> {
    let mut out = Vec::with_capacity(want.attributes.len());
    for (name, ty) in &want.attributes {
        let value = match items.get(name) {
            Some(v) => {
                let have = v.ty();
                if !equal_without_optional(&have, ty) && !exists(&have, ty, Safety::Unsafe) {
                    return Err(ConversionError::new(
                        path,
                        format!(
                            "map element type is incompatible with attribute {}: {}",
                            crate::quote::quoted(name),
                            mismatch_message(&have, ty)
                        ),
                    ));
                }
                element(v, ty, PathStep::Key(name.clone()), path)?
            }
            None if want.optional.contains(name) => Value::null(ty.without_optional()),
            None => {
                return Err(ConversionError::new(
                    path,
                    format!(
                        "map has no element for required attribute {}",
                        crate::quote::quoted(name)
                    ),
                ));
            }
        };
        out.push((name.clone(), value));
    }
    Ok(Value::object(out))
}

/// Elements that were read for a collection whose element type is open (in part): their common type,
/// and the elements as that; `None` where they have none.
pub(crate) fn settle_elements<'a>(
    declared: &Type,
    items: impl Iterator<Item = &'a mut Value>,
) -> Option<Type> {
    if !declared.has_dynamic() {
        return Some(declared.without_optional());
    }
    let mut items: Vec<&mut Value> = items.collect();
    if items.is_empty() {
        return Some(declared.without_optional());
    }
    let common = common_type(items.iter().map(|v| &**v))?;
    for item in &mut items {
        **item = typed((**item).clone(), &common);
    }
    Some(common)
}
