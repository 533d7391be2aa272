//! Schemas: what a provider says of its resource types, and what follows for types and values.

mod coerce;
mod paths;

use crate::{Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Schema of a resource type, data source or provider configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Version of stored objects; an object of a lower version is upgraded by its provider.
    pub version: u64,
    /// The configuration block.
    pub block: Block,
}

/// A configuration block: its attributes and the blocks nested in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Attributes by name.
    pub attributes: BTreeMap<Arc<str>, Attribute>,
    /// Nested blocks by name.
    pub blocks: BTreeMap<Arc<str>, NestedBlock>,
    /// Text for people.
    pub description: Option<Description>,
    /// Whether use of it earns a warning.
    pub deprecated: bool,
}

/// Text for people.
#[derive(Clone, Debug, PartialEq)]
pub enum Description {
    /// Plain text.
    Plain(Arc<str>),
    /// Markdown.
    Markdown(Arc<str>),
}

/// An attribute of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its type.
    pub ty: AttributeType,
    /// Must be set.
    pub required: bool,
    /// May be set.
    pub optional: bool,
    /// May be filled in by the provider.
    pub computed: bool,
    /// Its value is not shown.
    pub sensitive: bool,
    /// Is sent to the provider and never stored.
    pub write_only: bool,
    /// Use of it earns a warning.
    pub deprecated: bool,
    /// Text for people.
    pub description: Option<Description>,
}

/// Type of an attribute: plain, or with a schema of its own (protocol 6).
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeType {
    /// A plain type.
    Plain(Type),
    /// Attributes of their own.
    Nested(NestedAttributes),
}

/// The attributes nested in an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedAttributes {
    /// How the objects are collected.
    pub nesting: Nesting,
    /// The attributes of one object.
    pub attributes: BTreeMap<Arc<str>, Attribute>,
}

/// A block nested in another.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    /// How the blocks are collected.
    pub nesting: Nesting,
    /// Fewest blocks.
    pub min_items: u64,
    /// Most blocks; 0 is no bound.
    pub max_items: u64,
    /// The block itself.
    pub block: Block,
}

/// How nested blocks or objects are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// One object, or null.
    Single,
    /// One object, never null (blocks only).
    Group,
    /// A list (a tuple where the element type has a dynamic part).
    List,
    /// A set.
    Set,
    /// A map (an object where the element type has a dynamic part).
    Map,
}

impl Attribute {
    /// An attribute of a plain type with no property set.
    pub fn plain(ty: Type) -> Attribute {
        Attribute {
            ty: AttributeType::Plain(ty),
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecated: false,
            description: None,
        }
    }
    /// Required.
    #[must_use]
    pub fn required(mut self) -> Attribute {
        self.required = true;
        self
    }
    /// Optional.
    #[must_use]
    pub fn optional(mut self) -> Attribute {
        self.optional = true;
        self
    }
    /// Computed.
    #[must_use]
    pub fn computed(mut self) -> Attribute {
        self.computed = true;
        self
    }
    /// The type of the attribute's value.
    pub fn implied_type(&self) -> Type {
        match &self.ty {
            AttributeType::Plain(t) => t.clone(),
            AttributeType::Nested(n) => n.implied_type(),
        }
    }
}

impl NestedAttributes {
    /// The type of one object.
    pub fn object_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(k, a)| (k.clone(), a.implied_type())))
    }
    /// The type of the whole attribute.
    pub fn implied_type(&self) -> Type {
        self.nesting.collect_type(self.object_type())
    }
}

impl Nesting {
    fn collect_type(self, element: Type) -> Type {
        let dynamic = element.has_dynamic();
        match self {
            Nesting::Single | Nesting::Group => element,
            Nesting::List | Nesting::Map if dynamic => Type::Dynamic,
            Nesting::List => Type::list(element),
            Nesting::Set => Type::set(element),
            Nesting::Map => Type::map(element),
        }
    }
}

impl Block {
    /// The type of objects that conform to this block.
    pub fn implied_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(k, a)| (k.clone(), a.implied_type()));
        let blocks = self.blocks.iter().map(|(k, b)| (k.clone(), b.implied_type()));
        Type::object(attributes.chain(blocks))
    }
    /// What decoding an empty body gives: null attributes, empty collections of blocks.
    pub fn empty_value(&self) -> Value {
        let attributes =
            self.attributes.iter().map(|(k, a)| (k.clone(), Value::null(a.implied_type())));
        let blocks = self.blocks.iter().map(|(k, b)| (k.clone(), b.empty_value()));
        Value::object(attributes.chain(blocks))
    }
}

impl NestedBlock {
    /// The type of all blocks of this name together.
    pub fn implied_type(&self) -> Type {
        self.nesting.collect_type(self.block.implied_type())
    }
    /// What no block of this name gives.
    pub fn empty_value(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::null(self.block.implied_type()),
            Nesting::Group => self.block.empty_value(),
            Nesting::List if self.block.implied_type().has_dynamic() => Value::tuple([]),
            Nesting::Map if self.block.implied_type().has_dynamic() => {
                Value::object(std::iter::empty::<(Arc<str>, Value)>())
            }
            Nesting::List => Value::list(self.block.implied_type(), Vec::new()),
            Nesting::Set => Value::set(self.block.implied_type(), Vec::new()),
            Nesting::Map => {
                Value::map(self.block.implied_type(), std::iter::empty::<(Arc<str>, Value)>())
            }
        }
    }
}
