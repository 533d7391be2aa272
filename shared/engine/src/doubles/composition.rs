//! Objects put together from what is configured, what a test gives, and what is made up.

use super::DoubleValues;
use providers::ProviderDiagnostic;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::convert::convert;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use values::{Type, Value};

/// What strings are made up of, and how long they are.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const LENGTH: usize = 8;

/// What is missing while an object is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Computed attributes that are null, as in a configuration.
    Null,
    /// Computed attributes that are unknown, as in a plan.
    Unknown,
}

/// Puts one object together.
pub(super) struct Composition<'a> {
    pub(super) given: Option<&'a DoubleValues>,
    pub(super) missing: Missing,
    /// Whether what is missing becomes known; else it becomes unknown.
    pub(super) known: bool,
    /// What everything that is made up follows from.
    pub(super) origin: String,
    pub(super) problems: Vec<ProviderDiagnostic>,
    path: Vec<String>,
}

impl<'a> Composition<'a> {
    pub(super) fn new(
        given: Option<&'a DoubleValues>,
        missing: Missing,
        known: bool,
        origin: String,
    ) -> Composition<'a> {
        Composition { given, missing, known, origin, problems: Vec::new(), path: Vec::new() }
    }

    /// The object, with all that is missing.
    pub(super) fn object(&mut self, schema: &Block, object: &Value) -> Value {
        let given = self.given.map(|given| given.values.clone());
        self.block(schema, object, given.as_ref())
    }

    fn block(&mut self, schema: &Block, object: &Value, given: Option<&Value>) -> Value {
        if object.is_null() || !object.is_known() {
            return object.clone();
        }
        let mut all = self.attributes(&schema.attributes, object, given);
        for (name, nested) in &schema.blocks {
            let Some(value) = object.attribute(name) else { continue };
            let value = self.within(name, |this| {
                this.nested_block(nested, &value, member(given, name).as_ref())
            });
            all.insert(name.clone(), value);
        }
        Value::object(all)
    }

    fn attributes(
        &mut self,
        schemas: &BTreeMap<Arc<str>, Attribute>,
        object: &Value,
        given: Option<&Value>,
    ) -> BTreeMap<Arc<str>, Value> {
        let attribute = |(name, schema): (&Arc<str>, &Attribute)| {
            let value = object.attribute(name);
            let value = value.unwrap_or_else(|| Value::null(schema.implied_type()));
            let given = member(given, name);
            let value = self.within(name, |this| this.attribute(schema, value, given.as_ref()));
            (name.clone(), value)
        };
        schemas.iter().map(attribute).collect()
    }

    fn attribute(&mut self, schema: &Attribute, value: Value, given: Option<&Value>) -> Value {
        if schema.write_only {
            return Value::null(schema.implied_type());
        }
        let missing = match self.missing {
            Missing::Null => value.is_null(),
            Missing::Unknown => !value.is_known(),
        };
        if schema.computed && missing {
            return match (self.known, given) {
                (false, _) => Value::unknown(schema.implied_type()),
                (true, Some(given)) => self.filled(given, &schema.implied_type()),
                (true, None) => self.made_up(&schema.implied_type()),
            };
        }
        match &schema.ty {
            AttributeType::Plain(_) => value,
            AttributeType::Nested(nested) => self.nested_attributes(nested, &value, given),
        }
    }

    fn nested_attributes(
        &mut self,
        schema: &NestedAttributes,
        value: &Value,
        given: Option<&Value>,
    ) -> Value {
        if value.is_null() || !value.is_known() {
            return value.clone();
        }
        let each = |this: &mut Self, element: &Value| {
            if element.is_null() || !element.is_known() {
                return element.clone();
            }
            Value::object(this.attributes(&schema.attributes, element, given))
        };
        self.elements(schema.nesting, value, each)
    }

    fn nested_block(
        &mut self,
        schema: &NestedBlock,
        value: &Value,
        given: Option<&Value>,
    ) -> Value {
        if value.is_null() || !value.is_known() {
            return value.clone();
        }
        self.elements(schema.nesting, value, |this, element| {
            this.block(&schema.block, element, given)
        })
    }

    /// What is given for a nested object goes into each of its kind.
    fn elements(
        &mut self,
        nesting: Nesting,
        value: &Value,
        mut each: impl FnMut(&mut Self, &Value) -> Value,
    ) -> Value {
        if matches!(nesting, Nesting::Single | Nesting::Group) {
            return each(self, value);
        }
        let ty = value.ty();
        let elements: Vec<Value> = match (value.as_slice(), value.as_map()) {
            (Some(elements), _) => {
                let numbered = elements.iter().enumerate();
                numbered
                    .map(|(at, element)| self.within(&at.to_string(), |this| each(this, element)))
                    .collect()
            }
            (None, Some(map)) => {
                let named = map.iter().map(|(name, element)| {
                    (name.clone(), self.within(name, |this| each(this, element)))
                });
                let named: Vec<(Arc<str>, Value)> = named.collect();
                return match ty {
                    Type::Map(element) => Value::map((*element).clone(), named),
                    _ => Value::object(named),
                };
            }
            (None, None) => return value.clone(),
        };
        match ty {
            Type::List(element) => Value::list((*element).clone(), elements),
            Type::Set(element) => Value::set((*element).clone(), elements),
            _ => Value::tuple(elements),
        }
    }

    /// What is given as a value of a type; attributes that objects lack are made up.
    fn filled(&mut self, given: &Value, ty: &Type) -> Value {
        if let (Type::Object(object), Some(map)) = (ty, given.as_map()) {
            let attributes = object.attributes.iter().map(|(name, ty)| {
                let value = self.within(name, |this| match map.get(name) {
                    Some(given) => this.filled(given, ty),
                    None => this.made_up(ty),
                });
                (name.clone(), value)
            });
            return Value::object(attributes.collect::<Vec<_>>());
        }
        let element = match ty {
            Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element.clone()),
            _ => None,
        };
        if let Some(element) = element {
            let one = |this: &mut Self, given: &Value| this.filled(given, &element);
            match (ty, given.as_slice(), given.as_map()) {
                (Type::List(_), Some(items), _) => {
                    let items = items.iter().map(|item| one(self, item)).collect();
                    return Value::list((*element).clone(), items);
                }
                (Type::Set(_), Some(items), _) => {
                    let items = items.iter().map(|item| one(self, item)).collect();
                    return Value::set((*element).clone(), items);
                }
                (Type::Map(_), _, Some(map)) => {
                    let items: Vec<(Arc<str>, Value)> =
                        map.iter().map(|(name, item)| (name.clone(), one(self, item))).collect();
                    return Value::map((*element).clone(), items);
                }
                _ => {}
            }
        }
        match convert(given, ty) {
            Ok(value) => value,
            Err(error) => {
                let place = self.given.map(|given| given.place.clone()).unwrap_or_default();
                self.problems.push(ProviderDiagnostic::error(
                    "Failed to compute attribute",
                    format!(
                        "Terraform could not compute a value for the target type {} with the mocked data defined at {place} with the attribute \"{}\": {}.",
                        ty.friendly_name(),
                        self.path.join("."),
                        error.message
                    ),
                ));
                Value::unknown(ty.clone())
            }
        }
    }

    /// A value of a type that nothing is said of.
    fn made_up(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Dynamic => Value::dynamic_null(),
            Type::Bool => Value::bool(false),
            Type::Number => Value::number(0_i64),
            Type::String => Value::string(self.text()),
            Type::List(element) => Value::list((**element).clone(), Vec::new()),
            Type::Set(element) => Value::set((**element).clone(), Vec::new()),
            Type::Map(element) => {
                Value::map((**element).clone(), std::iter::empty::<(Arc<str>, Value)>())
            }
            Type::Tuple(items) => {
                let items = items.iter().enumerate();
                let items =
                    items.map(|(at, ty)| self.within(&at.to_string(), |this| this.made_up(ty)));
                Value::tuple(items.collect::<Vec<_>>())
            }
            Type::Object(object) => {
                let attributes = object.attributes.iter();
                let attributes = attributes
                    .map(|(name, ty)| (name.clone(), self.within(name, |this| this.made_up(ty))));
                Value::object(attributes.collect::<Vec<_>>())
            }
        }
    }

    fn text(&self) -> String {
        let hash = Sha256::digest(format!("{}\n{}", self.origin, self.path.join("\n")));
        let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
        hash.iter().take(LENGTH).map(letter).collect()
    }

    fn within<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.to_owned());
        let result = work(self);
        self.path.pop();
        result
    }
}

fn member(given: Option<&Value>, name: &str) -> Option<Value> {
    given?.attribute(name).filter(|value| !value.is_null())
}
