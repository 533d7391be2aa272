//! Defaults of optional attributes.

use std::collections::BTreeMap;
use std::sync::Arc;

use values::convert::{convert, unify};
use values::{Kind, Type, Value};

use crate::syntax::ast::with_stack;

/// What absent attributes become, at any depth of a type constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum Defaults {
    /// Of each element of a list, set or map.
    Elements(Box<Defaults>),
    /// Of some elements of a tuple.
    Tuple(BTreeMap<usize, Defaults>),
    /// Of an object.
    Object {
        /// Values of its own attributes, converted to their types.
        values: BTreeMap<Arc<str>, Value>,
        /// Defaults within its attributes.
        children: BTreeMap<Arc<str>, Defaults>,
    },
}

impl Defaults {
    /// The value with defaults in the place of attributes that are absent or null. The result may
    /// be of another type than the value and still has to be converted.
    #[must_use]
    pub fn apply(&self, value: &Value) -> Value {
        with_stack(|| self.apply_known(value))
    }

    fn apply_known(&self, value: &Value) -> Value {
        let marks = value.marks();
        match value.kind() {
            Kind::List(element, items) => {
                let items = self.apply_items(items);
                match together(&items) {
                    _ if items.is_empty() => Value::list(element.clone(), items),
                    Some((element, items)) => Value::list(element, items),
                    None => Value::tuple(items),
                }
            }
            Kind::Set(element, items) => {
                let items = self.apply_items(items);
                match together(&items) {
                    _ if items.is_empty() => Value::set(element.clone(), items),
                    Some((element, items)) => Value::set(element, items),
                    None => Value::tuple(items),
                }
            }
            Kind::Tuple(items) => Value::tuple(self.apply_items(items)),
            Kind::Map(element, items) => {
                let items = self.apply_attributes(items);
                let values: Vec<Value> = items.values().cloned().collect();
                match together(&values) {
                    _ if items.is_empty() => Value::map(element.clone(), items),
                    Some((element, values)) => Value::map(element, items.into_keys().zip(values)),
                    None => Value::object(items),
                }
            }
            Kind::Object(items) => Value::object(self.apply_attributes(items)),
            _ => return value.clone(),
        }
        .with_marks(marks)
    }

    fn apply_items(&self, items: &[Value]) -> Vec<Value> {
        let child = |at: usize| match self {
            Defaults::Elements(child) => Some(&**child),
            Defaults::Tuple(children) => children.get(&at),
            Defaults::Object { .. } => None,
        };
        items
            .iter()
            .enumerate()
            .map(|(at, item)| child(at).map_or_else(|| item.clone(), |child| child.apply(item)))
            .collect()
    }

    fn apply_attributes(&self, items: &BTreeMap<Arc<str>, Value>) -> BTreeMap<Arc<str>, Value> {
        let child = |name: &str| match self {
            Defaults::Elements(child) => Some(&**child),
            Defaults::Tuple(_) => None,
            Defaults::Object { children, .. } => children.get(name),
        };
        let mut result: BTreeMap<Arc<str>, Value> = items
            .iter()
            .map(|(name, item)| {
                let item = child(name).map_or_else(|| item.clone(), |child| child.apply(item));
                (name.clone(), item)
            })
            .collect();
        let Defaults::Object { values, .. } = self else { return result };
        for (name, default) in values {
            match result.get_mut(name) {
                Some(item) if !item.is_null() => {
                    if default.is_definitely_not_null() && item.ty() != Type::Dynamic {
                        *item = item.refine_not_null();
                    }
                }
                _ => {
                    let default =
                        child(name).map_or_else(|| default.clone(), |child| child.apply(default));
                    result.insert(name.clone(), default);
                }
            }
        }
        result
    }
}

/// The values in one type, if there is one for all.
fn together(values: &[Value]) -> Option<(Type, Vec<Value>)> {
    let types: Vec<Type> = values.iter().map(Value::ty).collect();
    let ty = unify(&types)?;
    let values = values.iter().map(|value| convert(value, &ty)).collect::<Result<_, _>>().ok()?;
    Some((ty, values))
}
