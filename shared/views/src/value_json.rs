//! What a plan's JSON says of a value: what is known, what is unknown, what is sensitive.

use crate::json::{Json, deep};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::InstanceKey;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, Nesting};
use values::{Kind, Type, Value};

/// A key as JSON.
pub(crate) fn index_json(key: &InstanceKey) -> Option<Json> {
    match key {
        InstanceKey::None => None,
        InstanceKey::Int(i) => Some(Json::number(i)),
        InstanceKey::String(s) => Some(Json::String(s.clone())),
    }
}

/// The known part of a value. Unknown attributes and map elements are left out, unknown elements of
/// sequences are null, and so is a value that is unknown as a whole.
pub(crate) fn known(value: &Value) -> Json {
    let items = |e: &[Value]| Json::array(e.iter().map(known).collect());
    let map = |e: &BTreeMap<Arc<str>, Value>| {
        Json::object(e.iter().filter(|(_, v)| v.is_known()).map(|(k, v)| (k.clone(), known(v))))
    };
    deep(|| match value.kind() {
        Kind::Null(_) | Kind::Unknown(..) => Json::Null,
        Kind::Bool(b) => Json::Bool(*b),
        Kind::Number(n) => Json::number(n),
        Kind::String(s) => Json::String(s.clone()),
        Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => items(e),
        Kind::Map(_, e) | Kind::Object(e) => map(e),
    })
}

/// `true` where a value is unknown; known attributes and map elements are left out.
pub(crate) fn unknown(value: &Value) -> Json {
    let items = |e: &[Value]| Json::array(e.iter().map(unknown).collect());
    let map = |e: &BTreeMap<Arc<str>, Value>| {
        Json::object(
            e.iter()
                .map(|(k, v)| (k.clone(), unknown(v)))
                .filter(|(_, unknown)| *unknown != Json::Bool(false)),
        )
    };
    deep(|| match value.kind() {
        Kind::Unknown(..) => Json::Bool(true),
        Kind::Null(_) | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Json::Bool(false),
        Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => items(e),
        Kind::Map(_, e) | Kind::Object(e) => map(e),
    })
}

/// What in a schema says whether a part of a value is sensitive.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'a> {
    /// Nothing: only marks count.
    Plain,
    /// A block's object.
    Block(&'a Block),
    /// All blocks of one name.
    Blocks(Nesting, &'a Block),
    /// An attribute.
    Attribute(&'a Attribute),
    /// One object of an attribute with attributes of its own.
    Nested(&'a NestedAttributes),
}

impl<'a> Shape<'a> {
    fn is_sensitive(self) -> bool {
        matches!(self, Shape::Attribute(a) if a.sensitive)
    }
    fn attribute(self, name: &str) -> Shape<'a> {
        match self {
            Shape::Block(b) => match (b.attributes.get(name), b.blocks.get(name)) {
                (Some(a), _) => Shape::Attribute(a),
                (None, Some(nested)) => Shape::Blocks(nested.nesting, &nested.block),
                (None, None) => Shape::Plain,
            },
            Shape::Nested(n) => n.attributes.get(name).map_or(Shape::Plain, Shape::Attribute),
            _ => Shape::Plain,
        }
    }
    /// What one element of a collection is, or the whole where it is collected singly.
    fn element(self) -> Shape<'a> {
        match self {
            Shape::Blocks(_, block) => Shape::Block(block),
            Shape::Attribute(Attribute { ty: AttributeType::Nested(n), .. }) => Shape::Nested(n),
            _ => Shape::Plain,
        }
    }
    fn collects_singly(self) -> bool {
        match self {
            Shape::Blocks(nesting, _) => matches!(nesting, Nesting::Single | Nesting::Group),
            Shape::Attribute(Attribute { ty: AttributeType::Nested(n), .. }) => {
                matches!(n.nesting, Nesting::Single | Nesting::Group)
            }
            _ => false,
        }
    }
}

/// `true` where a value is sensitive, by mark or by schema; other attributes and map elements are
/// left out. An element of a set makes the whole set sensitive.
pub(crate) fn sensitive(value: &Value, shape: Shape<'_>) -> Json {
    if value.marks().is_sensitive() || shape.is_sensitive() {
        return Json::Bool(true);
    }
    let shape = match shape.collects_singly() {
        true => shape.element(),
        false => shape,
    };
    let map = |e: &BTreeMap<Arc<str>, Value>| {
        let of = |key: &str| match shape {
            Shape::Block(_) | Shape::Nested(_) => shape.attribute(key),
            other => other.element(),
        };
        Json::object(
            e.iter()
                .map(|(k, v)| (k.clone(), sensitive(v, of(k))))
                .filter(|(_, sensitive)| *sensitive != Json::Bool(false)),
        )
    };
    deep(|| match value.kind() {
        Kind::Unknown(t, _) => match t {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => Json::array(Vec::new()),
            Type::Map(_) | Type::Object(_) => Json::object::<Arc<str>>([]),
            _ => Json::Bool(false),
        },
        Kind::Null(_) | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Json::Bool(false),
        Kind::List(_, e) | Kind::Tuple(e) => {
            Json::array(e.iter().map(|v| sensitive(v, shape.element())).collect())
        }
        Kind::Set(_, e) => {
            let items: Vec<Json> = e.iter().map(|v| sensitive(v, shape.element())).collect();
            match items.iter().any(holds_true) {
                true => Json::Bool(true),
                false => Json::array(items),
            }
        }
        Kind::Map(_, e) | Kind::Object(e) => map(e),
    })
}

pub(crate) fn holds_true(json: &Json) -> bool {
    deep(|| match json {
        Json::Bool(b) => *b,
        Json::Array(items) => items.iter().any(holds_true),
        Json::Object(items) => items.values().any(holds_true),
        _ => false,
    })
}

/// A type in the form that Terraform's JSON has it: `"string"`, `["list","string"]`.
pub fn type_json(ty: &Type) -> Json {
    let of = |kind: &str, item: Json| Json::array(vec![Json::string(kind), item]);
    match ty {
        Type::Dynamic => Json::string("dynamic"),
        Type::Bool => Json::string("bool"),
        Type::Number => Json::string("number"),
        Type::String => Json::string("string"),
        Type::List(t) => of("list", type_json(t)),
        Type::Set(t) => of("set", type_json(t)),
        Type::Map(t) => of("map", type_json(t)),
        Type::Tuple(ts) => of("tuple", Json::array(ts.iter().map(type_json).collect())),
        Type::Object(o) => {
            let attributes =
                Json::object(o.attributes.iter().map(|(k, t)| (k.clone(), type_json(t))));
            let mut items = vec![Json::string("object"), attributes];
            if !o.optional.is_empty() {
                items.push(Json::array(o.optional.iter().map(Json::string).collect()));
            }
            Json::array(items)
        }
    }
}
