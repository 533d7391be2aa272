use super::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use crate::convert::{ConversionError, convert, settle_elements};
use crate::quote::quoted;
use crate::{Kind, ObjectType, Path, PathStep, Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, ConversionError>;

fn fail<T>(path: &[PathStep], message: impl Into<String>) -> Result<T> {
    Err(ConversionError { path: Path(path.to_vec()), message: message.into() })
}

impl Attribute {
    /// The type with attributes that may be left out marked optional: what given values convert to.
    fn constraint(&self) -> Type {
        match &self.ty {
            AttributeType::Plain(t) => t.clone(),
            AttributeType::Nested(n) => n.nesting.collect_type(n.object_constraint()),
        }
    }
}

impl NestedAttributes {
    fn object_constraint(&self) -> Type {
        let attributes = self.attributes.iter().map(|(k, a)| (k.clone(), a.constraint())).collect();
        let optional = self
            .attributes
            .iter()
            .filter(|(_, a)| a.optional || a.computed)
            .map(|(k, _)| k.clone())
            .collect();
        Type::Object(Arc::new(ObjectType { attributes, optional }))
    }
}

impl Block {
    /// Brings an object into this block's type: attributes that may be absent become null, absent
    /// blocks empty collections, the others are converted. Marks are kept.
    ///
    /// # Errors
    /// Where a required attribute is absent, one is not of the block, or does not convert.
    pub fn coerce_value(&self, value: &Value) -> Result<Value> {
        if value.ty() == self.implied_type() && value.is_known() && !value.is_null() {
            return Ok(value.clone());
        }
        self.coerce(value, &mut Vec::new())
    }

    fn coerce(&self, value: &Value, path: &mut Vec<PathStep>) -> Result<Value> {
        let marks = value.marks();
        let given = match value.kind() {
            Kind::Null(_) => return Ok(Value::null(self.implied_type()).with_marks(marks)),
            Kind::Unknown(..) => return Ok(Value::unknown(self.implied_type()).with_marks(marks)),
            Kind::Object(given) => given,
            _ => return fail(path, "an object is required"),
        };
        let known = |name| self.attributes.contains_key(name) || self.blocks.contains_key(name);
        if let Some(name) = given.keys().find(|name| !known(*name)) {
            return fail(path, format!("unexpected attribute {}", quoted(name)));
        }
        let mut out: Vec<(Arc<str>, Value)> = Vec::new();
        for (name, attribute) in &self.attributes {
            let value = match given.get(name) {
                Some(v) => convert(v, &attribute.constraint()).map_err(|e| {
                    let mut steps = path.clone();
                    steps.push(PathStep::Attribute(name.clone()));
                    steps.extend(e.path.0);
                    ConversionError { path: Path(steps), message: e.message }
                })?,
                None if attribute.optional || attribute.computed => {
                    Value::null(attribute.implied_type())
                }
                None => return fail(path, format!("attribute {} is required", quoted(name))),
            };
            out.push((name.clone(), value));
        }
        for (name, block) in &self.blocks {
            let value = match given.get(name) {
                None => block.empty_value(),
                Some(v) => {
                    path.push(PathStep::Attribute(name.clone()));
                    let value = block.coerce(v, path)?;
                    path.pop();
                    value
                }
            };
            out.push((name.clone(), value));
        }
        Ok(Value::object(out).with_marks(marks))
    }
}

impl NestedBlock {
    fn coerce(&self, value: &Value, path: &mut Vec<PathStep>) -> Result<Value> {
        let marks = value.marks();
        if let Nesting::Single | Nesting::Group = self.nesting {
            return self.block.coerce(value, path);
        }
        let what = match self.nesting {
            Nesting::Map => "must be a map",
            Nesting::Set => "must be a set",
            _ => "must be a list",
        };
        match value.kind() {
            Kind::Unknown(..) => Ok(Value::unknown(self.implied_type()).with_marks(marks)),
            Kind::Null(_) => Ok(self.empty_value().with_marks(marks)),
            Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) if self.nesting != Nesting::Map => {
                let mut items = Vec::with_capacity(e.len());
                for (i, item) in e.iter().enumerate() {
                    path.push(PathStep::Index(i));
                    items.push(self.block.coerce(item, path)?);
                    path.pop();
                }
                Ok(self.sequence(items).with_marks(marks))
            }
            Kind::Map(_, e) | Kind::Object(e) if self.nesting == Nesting::Map => {
                let mut items = BTreeMap::new();
                for (key, item) in e.iter() {
                    path.push(PathStep::Key(key.clone()));
                    items.insert(key.clone(), self.block.coerce(item, path)?);
                    path.pop();
                }
                Ok(self.mapping(items).with_marks(marks))
            }
            _ => fail(path, what),
        }
    }

    fn sequence(&self, mut items: Vec<Value>) -> Value {
        let element = self.block.implied_type();
        if self.nesting == Nesting::Set {
            let element = settle_elements(&element, items.iter_mut()).unwrap_or(element);
            return Value::set(element, items);
        }
        match element.has_dynamic() {
            true => Value::tuple(items),
            false => Value::list(element, items),
        }
    }

    fn mapping(&self, items: BTreeMap<Arc<str>, Value>) -> Value {
        let element = self.block.implied_type();
        match element.has_dynamic() {
            true => Value::object(items),
            false => Value::map(element, items),
        }
    }
}
