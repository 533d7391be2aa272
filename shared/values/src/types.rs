use crate::stack::deep;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A type of the Terraform language, or a type constraint (which may contain [`Type::Dynamic`] and
/// optional object attributes).
#[derive(Clone)]
pub enum Type {
    /// `any`: a type not known yet, or any type where it stands in a constraint.
    Dynamic,
    /// `bool`
    Bool,
    /// `number`
    Number,
    /// `string`
    String,
    /// `list(T)`
    List(Arc<Type>),
    /// `set(T)`
    Set(Arc<Type>),
    /// `map(T)`
    Map(Arc<Type>),
    /// `tuple([...])`
    Tuple(Arc<[Type]>),
    /// `object({...})`
    Object(Arc<ObjectType>),
}

/// The attributes of an object type.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
pub struct ObjectType {
    /// Type of each attribute, by name.
    pub attributes: BTreeMap<Arc<str>, Type>,
    /// Attributes that may be absent: only in constraints, never in the type of a value.
    pub optional: BTreeSet<Arc<str>>,
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::List(a), Type::List(b))
            | (Type::Set(a), Type::Set(b))
            | (Type::Map(a), Type::Map(b)) => Arc::ptr_eq(a, b) || deep(|| **a == **b),
            (Type::Tuple(a), Type::Tuple(b)) => Arc::ptr_eq(a, b) || deep(|| **a == **b),
            (Type::Object(a), Type::Object(b)) => Arc::ptr_eq(a, b) || deep(|| **a == **b),
            _ => self.rank() == other.rank() && self.rank() < FIRST_COMPOUND,
        }
    }
}
impl Eq for Type {}
impl PartialOrd for Type {
    fn partial_cmp(&self, other: &Type) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Type {
    fn cmp(&self, other: &Type) -> Ordering {
        match (self, other) {
            (Type::List(a), Type::List(b))
            | (Type::Set(a), Type::Set(b))
            | (Type::Map(a), Type::Map(b)) => deep(|| a.cmp(b)),
            (Type::Tuple(a), Type::Tuple(b)) => deep(|| a.cmp(b)),
            (Type::Object(a), Type::Object(b)) => deep(|| a.cmp(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}
impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => {}
            Type::List(t) | Type::Set(t) | Type::Map(t) => deep(|| t.hash(state)),
            Type::Tuple(ts) => deep(|| ts.hash(state)),
            Type::Object(o) => deep(|| o.hash(state)),
        }
    }
}

/// Rank of the first type that is made of others.
const FIRST_COMPOUND: u8 = 4;

impl Type {
    fn rank(&self) -> u8 {
        match self {
            Type::Dynamic => 0,
            Type::Bool => 1,
            Type::Number => 2,
            Type::String => 3,
            Type::List(_) => FIRST_COMPOUND,
            Type::Set(_) => 5,
            Type::Map(_) => 6,
            Type::Tuple(_) => 7,
            Type::Object(_) => 8,
        }
    }
    /// `list(element)`
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }
    /// `set(element)`
    pub fn set(element: Type) -> Type {
        Type::Set(Arc::new(element))
    }
    /// `map(element)`
    pub fn map(element: Type) -> Type {
        Type::Map(Arc::new(element))
    }
    /// `tuple(elements)`
    pub fn tuple(elements: impl Into<Arc<[Type]>>) -> Type {
        Type::Tuple(elements.into())
    }
    /// `object({...})` without optional attributes.
    pub fn object<K: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (K, Type)>) -> Type {
        Type::Object(Arc::new(ObjectType {
            attributes: attributes.into_iter().map(|(k, t)| (k.into(), t)).collect(),
            optional: BTreeSet::new(),
        }))
    }
    /// The object type without attributes.
    pub fn empty_object() -> Type {
        Type::Object(Arc::new(ObjectType::default()))
    }
    /// The tuple type without elements.
    pub fn empty_tuple() -> Type {
        Type::Tuple(Arc::from([]))
    }

    /// Whether this is bool, number or string.
    pub fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }
    /// Whether this is a list, set or map.
    pub fn is_collection(&self) -> bool {
        matches!(self, Type::List(_) | Type::Set(_) | Type::Map(_))
    }
    /// The element type of a list, set or map.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::List(t) | Type::Set(t) | Type::Map(t) => Some(t),
            _ => None,
        }
    }
    /// The attribute types of an object.
    pub fn attributes(&self) -> Option<&BTreeMap<Arc<str>, Type>> {
        match self {
            Type::Object(o) => Some(&o.attributes),
            _ => None,
        }
    }
    /// Whether [`Type::Dynamic`] stands anywhere inside.
    pub fn has_dynamic(&self) -> bool {
        deep(|| match self {
            Type::Dynamic => true,
            Type::Bool | Type::Number | Type::String => false,
            Type::List(t) | Type::Set(t) | Type::Map(t) => t.has_dynamic(),
            Type::Tuple(ts) => ts.iter().any(Type::has_dynamic),
            Type::Object(o) => o.attributes.values().any(Type::has_dynamic),
        })
    }
    fn has_optional(&self) -> bool {
        deep(|| match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
            Type::List(t) | Type::Set(t) | Type::Map(t) => t.has_optional(),
            Type::Tuple(ts) => ts.iter().any(Type::has_optional),
            Type::Object(o) => {
                !o.optional.is_empty() || o.attributes.values().any(Type::has_optional)
            }
        })
    }
    /// The same type with every object attribute required: the type of values that were converted
    /// to this constraint.
    #[must_use]
    pub fn without_optional(&self) -> Type {
        // Mostly there are none, and a copy at each level of a deep type would take memory that grows with its square.
        if !self.has_optional() {
            return self.clone();
        }
        deep(|| match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => self.clone(),
            Type::List(t) => Type::list(t.without_optional()),
            Type::Set(t) => Type::set(t.without_optional()),
            Type::Map(t) => Type::map(t.without_optional()),
            Type::Tuple(ts) => {
                Type::tuple(ts.iter().map(Type::without_optional).collect::<Vec<_>>())
            }
            Type::Object(o) => {
                Type::object(o.attributes.iter().map(|(k, t)| (k.clone(), t.without_optional())))
            }
        })
    }
    /// The name that Terraform's messages use: "string", "list of string", "object", "tuple",
    /// "dynamic".
    pub fn friendly_name(&self) -> String {
        self.name_with(false)
    }
    /// As [`Type::friendly_name`], where the type is a constraint: "any type" for dynamic.
    pub fn friendly_constraint_name(&self) -> String {
        self.name_with(true)
    }
    fn name_with(&self, constraint: bool) -> String {
        let of = |kind: &str, t: &Type| match (t, constraint) {
            (Type::Dynamic, true) => format!("{kind} of any single type"),
            _ => format!("{kind} of {}", deep(|| t.name_with(constraint))),
        };
        match self {
            Type::Dynamic if constraint => "any type".into(),
            Type::Dynamic => "dynamic".into(),
            Type::Bool => "bool".into(),
            Type::Number => "number".into(),
            Type::String => "string".into(),
            Type::List(t) => of("list", t),
            Type::Set(t) => of("set", t),
            Type::Map(t) => of("map", t),
            Type::Tuple(_) => "tuple".into(),
            Type::Object(_) => "object".into(),
        }
    }
}

/// Terraform's type-constraint syntax, as in `variable` blocks.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| match self {
            Type::Dynamic => f.write_str("any"),
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::List(t) => write!(f, "list({t})"),
            Type::Set(t) => write!(f, "set({t})"),
            Type::Map(t) => write!(f, "map({t})"),
            Type::Tuple(ts) => {
                f.write_str("tuple([")?;
                for (i, t) in ts.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{t}")?;
                }
                f.write_str("])")
            }
            Type::Object(o) => {
                f.write_str("object({")?;
                for (i, (name, t)) in o.attributes.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    match o.optional.contains(name) {
                        true => write!(f, "{name}=optional({t})")?,
                        false => write!(f, "{name}={t}")?,
                    }
                }
                f.write_str("})")
            }
        })
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
