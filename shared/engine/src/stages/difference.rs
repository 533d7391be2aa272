//! Where two reads of one object differ, as its schema sees it.

use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::{Attribute, AttributeType, Block, Nesting};
use values::{Kind, Path, PathStep, Value};

const RED_ZONE: usize = 64 * 1024;
const STACK: usize = 1024 * 1024;
/// What is shown of a value, in characters.
const SHOWN: usize = 120;

/// One difference.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) path: Path,
    pub(super) planned: String,
    pub(super) actual: String,
    /// A computed attribute that was absent and is filled now.
    pub(super) newly_filled: bool,
}

/// What the schema says of the value at hand.
#[derive(Clone, Copy)]
enum Shape<'a> {
    Block(&'a Block),
    Blocks(&'a Block, Nesting),
    Attributes(&'a BTreeMap<Arc<str>, Attribute>),
    Nested(&'a BTreeMap<Arc<str>, Attribute>, Nesting),
    Plain,
}

struct Comparison<'a> {
    ignored: &'a [Path],
    found: Vec<Difference>,
}

#[derive(Clone, Copy, Default)]
struct Context {
    sensitive: bool,
    computed: bool,
}

/// All differences between two values of one schema. Write-only attributes and `ignored` paths are
/// left out.
pub(super) fn differences(
    block: Option<&Block>,
    planned: &Value,
    actual: &Value,
    ignored: &[Path],
) -> Vec<Difference> {
    let mut comparison = Comparison { ignored, found: Vec::new() };
    let shape = block.map_or(Shape::Plain, Shape::Block);
    comparison.compare(shape, planned, actual, &Path::root(), Context::default());
    comparison.found
}

impl Comparison<'_> {
    fn compare(
        &mut self,
        shape: Shape<'_>,
        planned: &Value,
        actual: &Value,
        path: &Path,
        mut context: Context,
    ) {
        context.sensitive |= planned.marks().is_sensitive() || actual.marks().is_sensitive();
        let (planned, actual) = (planned.unmark(), actual.unmark());
        if planned.kind() == actual.kind() || self.ignored.iter().any(|i| path.starts_with(i)) {
            return;
        }
        stacker::maybe_grow(RED_ZONE, STACK, || match (planned.kind(), actual.kind()) {
            (Kind::Object(a), Kind::Object(b)) => {
                self.members(shape, a, b, path, context, PathStep::Attribute)
            }
            (Kind::Map(_, a), Kind::Map(_, b)) => {
                self.members(shape, a, b, path, context, PathStep::Key)
            }
            (Kind::List(_, a) | Kind::Tuple(a), Kind::List(_, b) | Kind::Tuple(b))
                if a.len() == b.len() =>
            {
                for (index, (a, b)) in a.iter().zip(b.iter()).enumerate() {
                    let path = path.child(PathStep::Index(index));
                    self.compare(shape.element(), a, b, &path, context);
                }
            }
            (Kind::Set(_, a), Kind::Set(_, b)) => {
                self.sets(shape.element(), a, b, &planned, &actual, path, context);
            }
            _ => self.report(&planned, &actual, path, context),
        });
    }

    fn members(
        &mut self,
        shape: Shape<'_>,
        planned: &BTreeMap<Arc<str>, Value>,
        actual: &BTreeMap<Arc<str>, Value>,
        path: &Path,
        context: Context,
        step: fn(Arc<str>) -> PathStep,
    ) {
        let mut names: Vec<&Arc<str>> = planned.keys().chain(actual.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Some((shape, context)) = shape.member(name, context) else { continue };
            let path = path.child(step(name.clone()));
            match (planned.get(name), actual.get(name)) {
                (Some(a), Some(b)) => self.compare(shape, a, b, &path, context),
                (Some(a), None) => self.appeared_or_gone(Some(a), None, &path, context),
                (None, Some(b)) => self.appeared_or_gone(None, Some(b), &path, context),
                (None, None) => {}
            }
        }
    }

    fn appeared_or_gone(
        &mut self,
        planned: Option<&Value>,
        actual: Option<&Value>,
        path: &Path,
        mut context: Context,
    ) {
        if self.ignored.iter().any(|i| path.starts_with(i)) {
            return;
        }
        let marked = |v: Option<&Value>| v.is_some_and(|v| v.deep_marks().is_sensitive());
        context.sensitive |= marked(planned) || marked(actual);
        let text = |v: Option<&Value>| v.map_or_else(|| "absent".into(), |v| show(v, context));
        self.found.push(Difference {
            path: path.clone(),
            planned: text(planned),
            actual: text(actual),
            newly_filled: false,
        });
    }

    /// Sets have no order, and their elements no names: elements are equal or not, write-only
    /// attributes aside.
    #[expect(clippy::too_many_arguments, reason = "both the sets and what they are shown as")]
    fn sets(
        &mut self,
        element: Shape<'_>,
        planned: &[Value],
        actual: &[Value],
        planned_set: &Value,
        actual_set: &Value,
        path: &Path,
        context: Context,
    ) {
        let strip = |items: &[Value]| {
            let mut items: Vec<Value> = items.iter().map(|v| element.comparable(v)).collect();
            items.sort_unstable();
            items.dedup();
            items
        };
        let (a, b) = (strip(planned), strip(actual));
        if a == b {
            return;
        }
        if context.sensitive {
            return self.report(planned_set, actual_set, path, context);
        }
        let missing = |from: &[Value], of: &[Value]| {
            let only: Vec<String> = of
                .iter()
                .filter(|v| from.binary_search(v).is_err())
                .map(|v| show(v, context))
                .collect();
            match only.is_empty() {
                true => "nothing else".to_owned(),
                false => shorten(only.join(", ")),
            }
        };
        self.found.push(Difference {
            path: path.clone(),
            planned: missing(&b, &a),
            actual: missing(&a, &b),
            newly_filled: false,
        });
    }

    fn report(&mut self, planned: &Value, actual: &Value, path: &Path, mut context: Context) {
        context.sensitive |=
            planned.deep_marks().is_sensitive() || actual.deep_marks().is_sensitive();
        self.found.push(Difference {
            path: path.clone(),
            planned: show(planned, context),
            actual: show(actual, context),
            newly_filled: context.computed && planned.is_null(),
        });
    }
}

impl<'a> Shape<'a> {
    /// The shape of an element of a collection.
    fn element(self) -> Shape<'a> {
        match self {
            Shape::Blocks(block, _) => Shape::Block(block),
            Shape::Nested(attributes, _) => Shape::Attributes(attributes),
            other => other,
        }
    }
    /// The shape of an attribute or element by name; `None` where it is write-only.
    fn member(self, name: &str, context: Context) -> Option<(Shape<'a>, Context)> {
        let attribute = |attribute: &'a Attribute| {
            let context = Context {
                sensitive: context.sensitive || attribute.sensitive,
                computed: attribute.computed,
            };
            let shape = match &attribute.ty {
                AttributeType::Plain(_) => Shape::Plain,
                AttributeType::Nested(n) => Shape::Nested(&n.attributes, n.nesting),
            };
            (!attribute.write_only).then_some((shape, context))
        };
        match self {
            Shape::Block(block) | Shape::Blocks(block, Nesting::Single | Nesting::Group) => {
                match (block.attributes.get(name), block.blocks.get(name)) {
                    (Some(a), _) => attribute(a),
                    (None, Some(nested)) => {
                        let shape = Shape::Blocks(&nested.block, nested.nesting);
                        Some((shape, Context { computed: false, ..context }))
                    }
                    (None, None) => Some((Shape::Plain, context)),
                }
            }
            Shape::Attributes(attributes)
            | Shape::Nested(attributes, Nesting::Single | Nesting::Group) => {
                attributes.get(name).map_or(Some((Shape::Plain, context)), attribute)
            }
            // Under a name in a map stands an element.
            Shape::Blocks(..) | Shape::Nested(..) => Some((self.element(), context)),
            Shape::Plain => Some((Shape::Plain, context)),
        }
    }
    /// A value without what is not compared.
    fn comparable(self, value: &Value) -> Value {
        let plain = value.unmark_deep();
        match (self, plain.kind()) {
            (Shape::Plain, _) => plain,
            (_, Kind::Object(members)) => {
                let kept = members.iter().filter_map(|(name, value)| {
                    let (shape, _) = self.member(name, Context::default())?;
                    Some((name.clone(), shape.comparable(value)))
                });
                Value::object(kept.collect::<Vec<_>>())
            }
            (_, Kind::List(_, items) | Kind::Set(_, items) | Kind::Tuple(items)) => {
                Value::tuple(items.iter().map(|v| self.element().comparable(v)).collect::<Vec<_>>())
            }
            (_, Kind::Map(_, members)) => Value::object(
                members
                    .iter()
                    .map(|(k, v)| (k.clone(), self.element().comparable(v)))
                    .collect::<Vec<_>>(),
            ),
            _ => plain,
        }
    }
}

fn show(value: &Value, context: Context) -> String {
    if context.sensitive || value.deep_marks().is_sensitive() {
        return "(sensitive value)".into();
    }
    match value.kind() {
        Kind::Null(_) => "null".into(),
        Kind::Unknown(..) => "(known after apply)".into(),
        // The programmer's form is close enough to the language's, and masks marks.
        _ => shorten(format!("{value:?}")),
    }
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
