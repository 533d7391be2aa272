mod structure;

use crate::stack::deep;
use crate::{Marks, Number, Path, PathStep, Type};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A value of the Terraform language.
///
/// Equality, order and hash are structural: type, content, refinements and marks. The language's own
/// `==`, which may be unknown, is [`Value::equals`].
#[derive(Clone)]
pub struct Value {
    kind: Kind,
    marks: Marks,
}

/// What a value is, without its own marks.
#[derive(Clone)]
pub enum Kind {
    /// Null of a type.
    Null(Type),
    /// Not known yet, with what is known of it all the same.
    Unknown(Type, Option<Arc<Refinement>>),
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string, in Unicode normal form C.
    String(Arc<str>),
    /// A list and the type of its elements.
    List(Type, Arc<Elements<Vec<Value>>>),
    /// A set and the type of its elements: distinct and in Terraform's order. Elements carry no
    /// marks; the set carries theirs.
    Set(Type, Arc<Elements<Vec<Value>>>),
    /// A map and the type of its elements.
    Map(Type, Arc<Elements<BTreeMap<Arc<str>, Value>>>),
    /// A tuple.
    Tuple(Arc<Elements<Vec<Value>>>),
    /// An object.
    Object(Arc<Elements<BTreeMap<Arc<str>, Value>>>),
}

/// The elements of a collection, with a summary of what they hold.
pub struct Elements<C: Default> {
    items: C,
    wholly_known: bool,
    marks: Marks,
    ty: OnceLock<Type>,
}

/// Gives up what it holds one level at a time, whatever the depth.
impl<C: Default> Drop for Elements<C> {
    fn drop(&mut self) {
        // The type first: while the elements still share the types inside it, giving it up goes one
        // level down and no further.
        self.ty.take();
        deep(|| drop(std::mem::take(&mut self.items)));
    }
}

impl<C: Default> Deref for Elements<C> {
    type Target = C;
    fn deref(&self) -> &C {
        &self.items
    }
}

impl Elements<Vec<Value>> {
    fn new(items: Vec<Value>) -> Arc<Self> {
        let wholly_known = items.iter().all(Value::is_wholly_known);
        let marks = items.iter().fold(Marks::NONE, |m, v| m | v.deep_marks());
        Arc::new(Elements { items, wholly_known, marks, ty: OnceLock::new() })
    }
}

impl Elements<BTreeMap<Arc<str>, Value>> {
    fn new(items: BTreeMap<Arc<str>, Value>) -> Arc<Self> {
        let wholly_known = items.values().all(Value::is_wholly_known);
        let marks = items.values().fold(Marks::NONE, |m, v| m | v.deep_marks());
        Arc::new(Elements { items, wholly_known, marks, ty: OnceLock::new() })
    }
}

/// What is known of an unknown value.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Refinement {
    /// It is not null.
    pub not_null: bool,
    /// A string that starts with this.
    pub string_prefix: Option<Arc<str>>,
    /// A number not below this.
    pub number_min: Option<Bound>,
    /// A number not above this.
    pub number_max: Option<Bound>,
    /// A collection of at least so many elements.
    pub length_min: Option<u64>,
    /// A collection of at most so many elements.
    pub length_max: Option<u64>,
}

/// One end of the range of an unknown number.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bound {
    /// The end.
    pub value: Number,
    /// Whether the end itself is in the range.
    pub inclusive: bool,
}

impl Refinement {
    /// Known not to be null, and nothing else.
    pub fn not_null() -> Refinement {
        Refinement { not_null: true, ..Refinement::default() }
    }
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Refinement::default()
    }
}

impl Value {
    const fn of(kind: Kind) -> Value {
        Value { kind, marks: Marks::NONE }
    }
    /// Null of a type. Optional attributes in the type are dropped.
    pub fn null(ty: Type) -> Value {
        Value::of(Kind::Null(ty))
    }
    /// Unknown of a type.
    pub fn unknown(ty: Type) -> Value {
        Value::of(Kind::Unknown(ty, None))
    }
    /// Unknown of a type not known either.
    pub const fn dynamic() -> Value {
        Value::of(Kind::Unknown(Type::Dynamic, None))
    }
    /// Null of a type not known.
    pub const fn dynamic_null() -> Value {
        Value::of(Kind::Null(Type::Dynamic))
    }
    /// Unknown, with what is known of it. [`Type::Dynamic`] takes no refinement.
    pub fn unknown_refined(ty: Type, refinement: Refinement) -> Value {
        let refinement = match ty {
            Type::Dynamic => None,
            _ if refinement.is_empty() => None,
            _ => Some(Arc::new(refinement)),
        };
        Value::of(Kind::Unknown(ty, refinement))
    }
    /// Unknown but not null.
    pub fn unknown_not_null(ty: Type) -> Value {
        Value::unknown_refined(ty, Refinement::not_null())
    }
    /// A boolean.
    pub const fn bool(b: bool) -> Value {
        Value::of(Kind::Bool(b))
    }
    /// A number.
    pub fn number(n: impl Into<Number>) -> Value {
        Value::of(Kind::Number(n.into()))
    }
    /// A string; brought into Unicode normal form C.
    pub fn string(s: impl AsRef<str>) -> Value {
        let s = s.as_ref();
        if s.is_ascii() || unicode_normalization::is_nfc(s) {
            return Value::of(Kind::String(Arc::from(s)));
        }
        use unicode_normalization::UnicodeNormalization;
        Value::of(Kind::String(Arc::from(s.nfc().collect::<String>())))
    }
    /// A string known to be in normal form C already: shares the text.
    pub fn shared_string(s: Arc<str>) -> Value {
        Value::of(Kind::String(s))
    }
    /// A list. Every element must be of the element type (or the element type dynamic).
    pub fn list(element: Type, items: Vec<Value>) -> Value {
        Value::of(Kind::List(element, Elements::<Vec<Value>>::new(items)))
    }
    /// A set: sorted, without repetitions; marks inside move to the set itself.
    pub fn set(element: Type, items: Vec<Value>) -> Value {
        let marks = items.iter().fold(Marks::NONE, |m, v| m | v.deep_marks());
        let items = match marks.is_empty() {
            true => items,
            false => items.iter().map(Value::unmark_deep).collect(),
        };
        let items = crate::convert::set_order::sort_and_dedup(items);
        Value { kind: Kind::Set(element, Elements::<Vec<Value>>::new(items)), marks }
    }
    /// A map. Every element must be of the element type.
    pub fn map<K: Into<Arc<str>>>(
        element: Type,
        items: impl IntoIterator<Item = (K, Value)>,
    ) -> Value {
        let items: BTreeMap<Arc<str>, Value> =
            items.into_iter().map(|(k, v)| (k.into(), v)).collect();
        Value::of(Kind::Map(element, Elements::<BTreeMap<Arc<str>, Value>>::new(items)))
    }
    /// A tuple.
    pub fn tuple(items: impl Into<Vec<Value>>) -> Value {
        Value::of(Kind::Tuple(Elements::<Vec<Value>>::new(items.into())))
    }
    /// An object.
    pub fn object<K: Into<Arc<str>>>(items: impl IntoIterator<Item = (K, Value)>) -> Value {
        let items: BTreeMap<Arc<str>, Value> =
            items.into_iter().map(|(k, v)| (k.into(), v)).collect();
        Value::of(Kind::Object(Elements::<BTreeMap<Arc<str>, Value>>::new(items)))
    }
    /// The object without attributes.
    pub fn empty_object() -> Value {
        Value::object(std::iter::empty::<(Arc<str>, Value)>())
    }

    /// What it is, without its own marks (elements keep theirs).
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
    /// Its own marks, not those of what it holds.
    pub fn marks(&self) -> Marks {
        self.marks
    }
    /// Its marks and those of all that it holds.
    pub fn deep_marks(&self) -> Marks {
        self.marks
            | match &self.kind {
                Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => e.marks,
                Kind::Map(_, e) | Kind::Object(e) => e.marks,
                _ => Marks::NONE,
            }
    }
    /// With these marks in addition.
    #[must_use]
    pub fn with_marks(mut self, marks: Marks) -> Value {
        self.marks = self.marks | marks;
        self
    }
    /// Marked sensitive.
    #[must_use]
    pub fn sensitive(self) -> Value {
        self.with_marks(Marks::SENSITIVE)
    }
    /// Without its own marks.
    #[must_use]
    pub fn unmark(&self) -> Value {
        Value { kind: self.kind.clone(), marks: Marks::NONE }
    }
    /// Without marks on itself or on anything that it holds.
    #[must_use]
    pub fn unmark_deep(&self) -> Value {
        if self.deep_marks().is_empty() {
            return self.clone();
        }
        deep(|| self.map_children(&mut |_, v| v.unmark_deep()).unmark())
    }
    /// Every marked value in it, itself included, with the path to it and its own marks.
    pub fn marked_paths(&self) -> Vec<(Path, Marks)> {
        fn walk(v: &Value, path: &Path, out: &mut Vec<(Path, Marks)>) {
            if v.deep_marks().is_empty() {
                return;
            }
            if !v.marks.is_empty() {
                out.push((path.clone(), v.marks));
            }
            deep(|| v.for_each_child(|step, c| walk(c, &path.child(step), out)));
        }
        let mut out = Vec::new();
        walk(self, &Path::root(), &mut out);
        out
    }
    /// With marks added at paths; paths that lead nowhere are ignored, and marks below a set or an
    /// unknown or null value are put onto that.
    #[must_use]
    pub fn mark_paths<'a>(&self, paths: impl IntoIterator<Item = (&'a Path, Marks)>) -> Value {
        self.mark_all(paths.into_iter().map(|(p, m)| (p.0.as_slice(), m)).collect())
    }
    fn mark_all(&self, paths: Vec<(&[PathStep], Marks)>) -> Value {
        let mut own = Marks::NONE;
        let mut below: BTreeMap<&PathStep, Vec<(&[PathStep], Marks)>> = BTreeMap::new();
        for (path, marks) in paths {
            match (path.split_first(), &self.kind) {
                (None, _) | (_, Kind::Set(..) | Kind::Null(_) | Kind::Unknown(..)) => {
                    own = own | marks;
                }
                (Some((first, rest)), _) => below.entry(first).or_default().push((rest, marks)),
            }
        }
        if below.is_empty() {
            return self.clone().with_marks(own);
        }
        deep(|| {
            self.map_children(&mut |step, v| match below.remove::<PathStep>(&step) {
                Some(paths) => v.mark_all(paths),
                None => v.clone(),
            })
        })
        .with_marks(own)
    }

    /// Its type. Constant time but for the first call on an object or tuple.
    pub fn ty(&self) -> Type {
        match &self.kind {
            Kind::Null(t) | Kind::Unknown(t, _) => t.clone(),
            Kind::Bool(_) => Type::Bool,
            Kind::Number(_) => Type::Number,
            Kind::String(_) => Type::String,
            Kind::List(t, e) => e.ty.get_or_init(|| Type::list(t.clone())).clone(),
            Kind::Set(t, e) => e.ty.get_or_init(|| Type::set(t.clone())).clone(),
            Kind::Map(t, e) => e.ty.get_or_init(|| Type::map(t.clone())).clone(),
            Kind::Tuple(e) => e
                .ty
                .get_or_init(|| deep(|| Type::tuple(e.iter().map(Value::ty).collect::<Vec<_>>())))
                .clone(),
            Kind::Object(e) => e
                .ty
                .get_or_init(|| deep(|| Type::object(e.iter().map(|(k, v)| (k.clone(), v.ty())))))
                .clone(),
        }
    }
    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null(_))
    }
    /// Whether the value itself is known; what it holds may be unknown.
    pub fn is_known(&self) -> bool {
        !matches!(self.kind, Kind::Unknown(..))
    }
    /// Whether it and all that it holds is known.
    pub fn is_wholly_known(&self) -> bool {
        match &self.kind {
            Kind::Unknown(..) => false,
            Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => e.wholly_known,
            Kind::Map(_, e) | Kind::Object(e) => e.wholly_known,
            _ => true,
        }
    }
    /// What is known of an unknown value.
    pub fn refinement(&self) -> Option<&Refinement> {
        match &self.kind {
            Kind::Unknown(_, r) => r.as_deref(),
            _ => None,
        }
    }
    /// Whether it can be said that it is not null.
    pub fn is_definitely_not_null(&self) -> bool {
        match &self.kind {
            Kind::Null(_) => false,
            Kind::Unknown(_, r) => r.as_ref().is_some_and(|r| r.not_null),
            _ => true,
        }
    }
    /// The boolean, if it is a known one.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.kind {
            Kind::Bool(b) => Some(*b),
            _ => None,
        }
    }
    /// The number, if it is a known one.
    pub fn as_number(&self) -> Option<&Number> {
        match &self.kind {
            Kind::Number(n) => Some(n),
            _ => None,
        }
    }
    /// The string, if it is a known one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(s) => Some(s),
            _ => None,
        }
    }
    /// The elements of a known list, set or tuple.
    pub fn as_slice(&self) -> Option<&[Value]> {
        match &self.kind {
            Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => Some(e),
            _ => None,
        }
    }
    /// The elements of a known map or object.
    pub fn as_map(&self) -> Option<&BTreeMap<Arc<str>, Value>> {
        match &self.kind {
            Kind::Map(_, e) | Kind::Object(e) => Some(e),
            _ => None,
        }
    }
    /// An attribute of a known object (or element of a known map), with the marks of the whole. For
    /// null or unknown objects: unknown or null of the attribute's type.
    pub fn attribute(&self, name: &str) -> Option<Value> {
        let found = match &self.kind {
            Kind::Map(_, e) | Kind::Object(e) => e.get(name)?.clone(),
            Kind::Unknown(t, _) => Value::unknown(t.attributes()?.get(name)?.clone()),
            Kind::Null(t) => Value::null(t.attributes()?.get(name)?.clone()),
            _ => return None,
        };
        Some(found.with_marks(self.marks))
    }
    /// How many values are nested in each other at the deepest place; 1 where it holds nothing.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut pending = vec![(self, 1)];
        while let Some((value, depth)) = pending.pop() {
            deepest = deepest.max(depth);
            match value.kind() {
                Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => {
                    pending.extend(e.iter().map(|child| (child, depth + 1)));
                }
                Kind::Map(_, e) | Kind::Object(e) => {
                    pending.extend(e.values().map(|child| (child, depth + 1)));
                }
                _ => {}
            }
        }
        deepest
    }
    /// Whether an infinite number is in it, which has no form in JSON.
    pub fn holds_infinity(&self) -> bool {
        let mut pending = vec![self];
        while let Some(value) = pending.pop() {
            match value.kind() {
                Kind::Number(number) if number.is_infinite() => return true,
                Kind::List(_, e) | Kind::Set(_, e) | Kind::Tuple(e) => pending.extend(e.iter()),
                Kind::Map(_, e) | Kind::Object(e) => pending.extend(e.values()),
                _ => {}
            }
        }
        false
    }
    /// Every direct child with the step that leads to it, in order.
    pub fn for_each_child(&self, mut f: impl FnMut(PathStep, &Value)) {
        match &self.kind {
            Kind::List(_, e) | Kind::Tuple(e) => {
                e.iter().enumerate().for_each(|(i, v)| f(PathStep::Index(i), v));
            }
            Kind::Set(_, e) => e.iter().for_each(|v| f(PathStep::Element(v.clone()), v)),
            Kind::Map(_, e) => e.iter().for_each(|(k, v)| f(PathStep::Key(k.clone()), v)),
            Kind::Object(e) => e.iter().for_each(|(k, v)| f(PathStep::Attribute(k.clone()), v)),
            _ => {}
        }
    }
    /// The same value with each direct child replaced; marks and element types are kept, so the
    /// replacement must be of the same type (or the element type dynamic).
    #[must_use]
    pub fn map_children(&self, f: &mut dyn FnMut(PathStep, &Value) -> Value) -> Value {
        let new = match &self.kind {
            Kind::List(t, e) => Value::list(
                t.clone(),
                e.iter().enumerate().map(|(i, v)| f(PathStep::Index(i), v)).collect(),
            ),
            Kind::Tuple(e) => Value::tuple(
                e.iter().enumerate().map(|(i, v)| f(PathStep::Index(i), v)).collect::<Vec<_>>(),
            ),
            Kind::Set(t, e) => Value::set(
                t.clone(),
                e.iter().map(|v| f(PathStep::Element(v.clone()), v)).collect(),
            ),
            Kind::Map(t, e) => Value::map(
                t.clone(),
                e.iter().map(|(k, v)| (k.clone(), f(PathStep::Key(k.clone()), v))),
            ),
            Kind::Object(e) => Value::object(
                e.iter().map(|(k, v)| (k.clone(), f(PathStep::Attribute(k.clone()), v))),
            ),
            _ => return self.clone(),
        };
        new.with_marks(self.marks)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::bool(b)
    }
}
impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::string(s)
    }
}
impl From<String> for Value {
    fn from(s: String) -> Value {
        Value::string(s)
    }
}
impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::number(n)
    }
}
